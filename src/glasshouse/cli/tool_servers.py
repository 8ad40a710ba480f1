"""The tool servers of a command: those of a tools.yaml, those of a world, and what is said of them before the first line.

Always holds: whoever plays reads which command a world would start before it is started.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from glasshouse.assembly import ServerTools, ToolServer, server_tools, servers_in, usual_tools
from glasshouse.cli.command_line import checked_settings
from glasshouse.cli.drawing.screen import Screen, one_line, print_json
from glasshouse.cli.interrupts import run_until_interrupted
from glasshouse.errors import Refused
from glasshouse.events.described_tool import SERVER_SEPARATOR, DescribedTool, is_of_server, server_of
from glasshouse.events.event import Json
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.runtime.clock import SystemClock
from glasshouse.settings import tools_file
from glasshouse.turns.moment.playbill import ServerPlan, playbill_of


def servers_here(path: Path | None = None) -> tuple[ToolServer, ...]:
    """The servers of the tools.yaml that the command names, else of the one that holds here."""
    checked_settings()
    path = path or tools_file()
    if path is not None and not path.is_file():
        raise Refused(f"There is no file {path}.", "Name a tools.yaml.")
    return () if path is None else servers_in(path)


def listed_by(
    servers: Iterable[ToolServer],
) -> list[tuple[ToolServer, Mapping[str, DescribedTool | Refused] | Refused]]:
    """What each server says of its tools; a refusal if it is not there. They are started for it, and ended."""

    async def asked() -> list[tuple[ToolServer, Mapping[str, DescribedTool | Refused] | Refused]]:
        tools = server_tools((), None, SystemClock())
        try:
            return [(server, await _tools_of(tools, server)) for server in servers]
        finally:
            await tools.close()

    return run_until_interrupted(asked)


async def _tools_of(
    tools: ServerTools, server: ToolServer
) -> Mapping[str, DescribedTool | Refused] | Refused:
    try:
        return await tools.listed(server)
    except Refused as wrong:
        return wrong


def tool_names(servers: Iterable[ToolServer] = ()) -> frozenset[str]:
    """The tools that a manifest may grant by name. `weather/` stands for every tool of the server `weather`."""
    return usual_tools().names() | {f"{server.name}{SERVER_SEPARATOR}" for server in servers}


class ServersOfWorld(NamedTuple):
    """The servers that a world or a run declares, and those whose tools its creatures are granted."""

    plans: Mapping[str, ServerPlan]
    granted: Collection[str]

    def facts(self, servers: Iterable[ToolServer], *, only_granted: bool = True) -> Iterator[Json]:
        """What is said of each server, as data. Those of the user hold."""
        own = {server.name: server for server in servers}
        for name in self.granted if only_granted else self.plans:
            if name in own:
                yield {"name": name, "shown": own[name].shown, "by": "user", "is_other": name in self.plans}
            elif name in self.plans:
                plan = self.plans[name]
                shown = ToolServer(name, plan.command, plan.url or "").shown
                needs = {"could_use": [*plan.variables]} if plan.variables else {}
                yield {"name": name, "shown": shown, "by": "world", "is_code": bool(plan.command), **needs}

    def say(self, servers: Iterable[ToolServer], *, as_json: bool) -> None:
        """Say which servers will be started or asked."""
        listed = [*self.facts(servers)]
        if listed and as_json:
            print_json({"tool_servers": listed})
        elif listed:
            Screen().draw(*map(in_words, listed), "")


NO_SERVERS: Final = ServersOfWorld({}, ())


def in_words(server: Json) -> str:
    """One line about a server."""
    words = f"Tools of {server['name']}: {one_line(server['shown'])}"
    if server["by"] == "user":
        return f"{words} (your tools.yaml{'; the world declares another' if server['is_other'] else ''})"
    could_use = f"; it gets no {' or '.join(server['could_use'])}" if "could_use" in server else ""
    return f"{words} ({'a command of' if server['is_code'] else 'declared by'} the world{could_use})"


def servers_of_world(world: LoadedWorld) -> ServersOfWorld:
    """Those of a world that is opened."""
    tools = [tool for manifest in world.manifests.values() for tool in manifest.tools]
    return ServersOfWorld(playbill_of(world.scenario.as_json()).tool_servers, servers_named(tools))


def servers_named(tools: Iterable[str]) -> tuple[str, ...]:
    """The servers of these tools, each once."""
    return tuple(dict.fromkeys([server_of(tool) for tool in tools if is_of_server(tool)]))
