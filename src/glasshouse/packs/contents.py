"""What a shared world brings, as it is shown before it is installed: creatures, tools, code, commands and documents.

Always holds: everything that could run is listed, as the world names it. Nothing of it is executed to find out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.world_files import code_named, files_of


class Contents(NamedTuple):
    """What a world brings."""

    creatures: tuple[str, ...]
    tools: tuple[str, ...]
    """What its creatures are granted, by name."""
    code: tuple[str, ...]
    """Python that it names: referees, tools, and classes that play."""
    commands: tuple[str, ...]
    """Commands and addresses of its tool servers."""
    documents: tuple[str, ...]
    scripts: tuple[str, ...]

    @property
    def has_code(self) -> bool:
        """Whether anything of it would run, or be asked, on this machine."""
        return bool(self.code or self.commands)


def contents_of(world: LoadedWorld) -> Contents:
    """What a loaded world brings. Its files must be there."""
    manifests = world.manifests.values()
    tools = dict.fromkeys(tool for manifest in manifests for tool in manifest.tools)
    files = files_of(world)
    players = (m.played_by for m in manifests if m.played_by not in (None, "visitor"))
    return Contents(
        tuple(world.manifests),
        tuple(tool for tool in tools if ".py:" not in tool),
        tuple(dict.fromkeys([*code_named(world), *map(str, players)])),
        tuple(_commands(world)),
        files.documents,
        files.scripts,
    )


def _commands(world: LoadedWorld) -> Iterator[str]:
    for name, plan in world.scenario.tool_servers.items():
        yield f"{name}: {' '.join(plan.command) if plan.command else plan.url or ''}"
