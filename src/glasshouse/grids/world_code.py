"""Code of worlds: whether what a grid's worlds bring may run on this machine, asked before the first cell is played.

Always holds: nothing is started and nothing is written. What is refused here, each cell would have refused by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from glasshouse.assembly import usual_agent
from glasshouse.errors import Refused
from glasshouse.events.described_tool import is_of_server, server_of
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.runtime.conducting.world_code import check_code_beside
from glasshouse.runtime.minds.code_beside import BUNDLED, is_world_code_allowed


def check_world_code(worlds: Iterable[LoadedWorld], declared: Collection[str]) -> None:
    """Refuse a world whose referee, tools, agents or tool servers may not run here or cannot be loaded. `declared` are the servers
    that somebody has declared here, which need no permission."""
    checked: list[LoadedWorld] = []
    for world in worlds:
        if any(world is other for other in checked):
            continue
        checked.append(world)
        check_code_beside(world)
        for manifest in world.manifests.values():
            usual_agent(manifest)
        _check_servers(world, declared)


def _check_servers(world: LoadedWorld, declared: Collection[str]) -> None:
    is_bundled = world.path is not None and Path(world.path).resolve().is_relative_to(BUNDLED)
    if is_bundled or is_world_code_allowed():
        return
    tools = [tool for manifest in world.manifests.values() for tool in manifest.tools if is_of_server(tool)]
    for name in dict.fromkeys(map(server_of, tools)):
        if name not in declared and name in world.scenario.tool_servers:
            raise Refused(
                f"The tool server {name} of the world {world.scenario.name} would run here, which is not allowed.",
                "Read what it does, and set GLASSHOUSE_ALLOW_WORLD_CODE=1 if you trust it.",
            )
