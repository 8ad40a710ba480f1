"""`glasshouse tools` lists servers of tools and what they offer; `glasshouse tools accept` accepts a changed tool.

What a server offers is asked in `tools`; here it is only printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

import typer
from rich.text import Text

from glasshouse.assembly import ToolServer, server_tools
from glasshouse.cli import options
from glasshouse.cli.command_line import store_path
from glasshouse.cli.commands.graph import Edit, Names, edit_command
from glasshouse.cli.drawing.screen import Screen, one_line, print_json
from glasshouse.cli.exits import CHECK_FAILED
from glasshouse.cli.program import examples_to_paste
from glasshouse.cli.store_reader import StoreReader, read_store
from glasshouse.cli.tool_servers import listed_by, servers_here, servers_of_world, tool_names
from glasshouse.errors import Refused
from glasshouse.events.described_tool import DescribedTool
from glasshouse.events.event import VISITOR, Json
from glasshouse.manifests.loading import load_world
from glasshouse.runtime.clock import SystemClock
from glasshouse.views.granted_tools import ToolOfRun
from glasshouse.world.decisions.intents import AcceptTool

EXAMPLES: Final = """\b
Examples:
  glasshouse tools                                     the servers of tools.yaml, and what they offer
  glasshouse tools --world worlds/my-world             also those that a world declares
  glasshouse tools --run last                          what a run was granted, and what is withheld
  glasshouse tools accept weather/forecast             let creatures use a tool that has changed"""
NONE: Final = "There is no server. Declare one in a tools.yaml, or name a --world that declares one."

tools = typer.Typer(
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
    epilog=examples_to_paste(EXAMPLES),
)

_WORLD: Final = "A world, by name or folder: list the servers that it declares, too."
_RUN: Final = f"List what a run was granted instead: {options.RUN_NAMES}"


@tools.callback()
def list_tools(
    context: typer.Context,
    *,
    tools_file: options.ToolsOption = None,
    world: Annotated[str | None, typer.Option("--world", metavar="WORLD|PATH", help=_WORLD)] = None,
    run: Annotated[str | None, typer.Option("--run", metavar="RUN", help=_RUN)] = None,
    store: options.StoreOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """List servers of tools, their commands or addresses, and what they offer. Exit 1 if a server is not there.

    Each server is started or asked. Those of a world are used only with GLASSHOUSE_ALLOW_WORLD_CODE=1.
    """
    if context.invoked_subcommand is not None:
        return
    if run is not None:

        async def granted(reader: StoreReader) -> tuple[ToolOfRun, ...]:
            return reader.terrarium.granted_tools(reader.run(run).id)

        _show_granted(read_store(store_path(store), granted), as_json=as_json)
        return
    servers, refused = _servers(servers_here(tools_file), world)
    listed = [*listed_by(servers), *refused]
    if not listed and not as_json:
        Screen().draw(NONE)
    for server, offered in listed:
        if as_json:
            print_json(*_facts(server, offered))
        else:
            Screen().draw(*_lines(server, offered))
    if any(isinstance(offered, Refused) for _, offered in listed):
        raise typer.Exit(CHECK_FAILED)


Offered = Mapping[str, DescribedTool | Refused] | Refused
"""What a server offers, or why it cannot be asked."""


def _servers(
    own: tuple[ToolServer, ...], world: str | None
) -> tuple[list[ToolServer], list[tuple[ToolServer, Offered]]]:
    """The servers to ask, and those of a world that may not be used here."""
    servers = [*own]
    refused = list[tuple[ToolServer, Offered]]()
    if world is None:
        return servers, refused
    loaded = load_world(world, tools=tool_names(own))
    folder = None if loaded.path is None else str(loaded.path)
    plans = servers_of_world(loaded).plans
    for name in [name for name in plans if name not in {server.name for server in own}]:
        try:
            servers.append(server_tools((), None, SystemClock()).server_for(name, plans, folder))
        except Refused as why:
            refused.append((ToolServer(name, plans[name].command, plans[name].url or ""), why))
    return servers, refused


def _lines(server: ToolServer, offered: Offered) -> list[Text]:
    lines = [Text(f"{server.name}: {one_line(server.shown)}", style="bold")]
    if isinstance(offered, Refused):
        return [*lines, Text(f"  {one_line(str(offered))}", style="yellow")]
    for name, tool in offered.items():
        if isinstance(tool, Refused):
            lines.append(Text(f"  {name} cannot be used: {one_line(str(tool))}", style="yellow"))
        else:
            sort = "reads" if tool.is_read_only else "asks first"
            lines.append(Text(f"  {name} ({sort}): {one_line(tool.description)}"))
    return lines


def _facts(server: ToolServer, offered: Offered) -> list[Json]:
    facts: Json = {"type": "server", "name": server.name, "shown": server.shown}
    if isinstance(offered, Refused):
        return [{**facts, "problem": str(offered)}]
    tools: list[Json] = [
        {"type": "tool", "name": name, "problem": str(tool)}
        if isinstance(tool, Refused)
        else _tool_facts(tool)
        for name, tool in offered.items()
    ]
    return [facts, *tools]


def _tool_facts(tool: DescribedTool) -> Json:
    return {
        "type": "tool",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "is_read_only": tool.is_read_only,
        "digest": tool.digest,
    }


def _show_granted(granted: tuple[ToolOfRun, ...], *, as_json: bool) -> None:
    if as_json:
        for grant in granted:
            now = None if grant.now is None else _tool_facts(grant.now)
            print_json({**_tool_facts(grant.tool), "handles": [*grant.handles], "now": now})
        return
    screen = Screen()
    if not granted:
        screen.draw("No creature of this run was granted a tool of a server.")
    for grant in granted:
        more = "" if grant.now is None else f"\n  withheld: it says now: {one_line(grant.now.description)}"
        screen.draw(
            Text(f"{grant.name} ({', '.join(grant.handles)}): {one_line(grant.tool.description)}{more}")
        )


@edit_command(tools, "accept", "Accepted", "Let a run use a tool that has changed.")
async def _accept(
    names: Names, tool: Annotated[str, typer.Argument(metavar="TOOL", help="The tool, as server/tool.")]
) -> Edit:
    """Let the creatures of a run use a tool as its server describes it now. `glasshouse tools --run RUN` shows that.

    \b
    Examples:
      glasshouse tools accept weather/forecast             in the run that is open
      glasshouse tools accept weather/forecast --run last  in the last one
    """
    run_id = names.run_id
    now = [grant.now for grant in names.terrarium.granted_tools(run_id) if grant.name == tool and grant.now]
    digest = now[0].digest if len({described.digest for described in now}) == 1 else ""
    return Edit(AcceptTool(run_id, tool, VISITOR, digest), tool)
