"""The command line and its list of commands. Each command is one module of `commands/`, with the name of the command.

Always holds: the module of a command is imported only when that command is asked for, so the list of commands is
printed quickly. What a command raises on purpose becomes a message and an exit code (`exits.py`).
"""

from __future__ import annotations

import sys
from collections import UserDict
from importlib import import_module
from inspect import cleandoc
from io import TextIOWrapper
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup
from typer.main import get_command

from glasshouse.cli import begin_command, begin_to_end
from glasshouse.cli.commands import add_command
from glasshouse.cli.exits import errors_in_words
from glasshouse.cli.program import examples_to_paste
from glasshouse.cli.usage_errors import values_in_words
from glasshouse.cli.watched.watching_options import watched

COMMANDS: Final = {
    "tour": "A short tour: graphs merge, split, fork, are read back.",
    "worlds": "List the worlds that can be played by name.",
    "play": "Play a world, live.",
    "serve": "Show a store in the browser, live.",
    "mcp": "Let an assistant read a store, or play in it.",
    "disturb": "Say something to a run that is being played.",
    "graph": "Change the graph of a show, also while it plays.",
    "runs": "List the runs in a store.",
    "show": "Show the stage of a run at any event, or its ledger.",
    "replay": "Show a recorded run again, or verify it.",
    "search": "Find lines of all runs by their words.",
    "why": "Tell why something was said.",
    "who-knew": "Tell who could see an event.",
    "lineage": "Draw how sessions descend from one another.",
    "tree": "Draw graphs, channels, creatures and wires.",
    "branch": "Branch from any event of a run, with a change.",
    "resume": "Continue a run, also after its world was edited.",
    "compare": "Show where two runs diverge, and what differs.",
    "digest": "Print the digest of a run.",
    "export": "Write a run or session into a file.",
    "import": "Read a session from a file into a store.",
    "copy": "Copy a whole store: a file, or a house in a database.",
    "tournament": "Let models play a world against each other.",
    "grid": "Play many runs: worlds, seeds, models and what-ifs.",
    "rehearse": "Measure how models manage a world, in each form.",
    "leaderboard": "Show who has won how often.",
    "check": "Find everything that is wrong with a world's files.",
    "models": "List which model plays each size, or get one.",
    "tools": "List servers of tools and what they offer, or accept a changed tool.",
    "doctor": "Check whether everything here is as it should be.",
    "new": "Create a world or a creature.",
}
"""Every command with its line in the help, in the order of the help."""

PLAYING: Final = frozenset({"play", "serve", "branch", "resume", "tournament", "grid", "rehearse", "mcp"})
"""The commands that play or serve: they can send telemetry and write logs."""


class CommandModules(UserDict[str, Any]):
    """Every command by its name, imported when it is looked up."""

    def __getitem__(self, name: str) -> Any:
        short_help = self.data[name]
        attribute = {"import": "import_file"}.get(name, name.replace("-", "_"))
        command = getattr(import_module(f"glasshouse.cli.commands.{attribute}"), attribute)
        begin_command()
        if isinstance(command, typer.Typer):
            return get_command(command)
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        add_command(single, name, short_help, watched(command) if name in PLAYING else command)
        return get_command(single)


class Commands(TyperGroup):
    """All commands. What a command raises on purpose becomes a message."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "commands": CommandModules(COMMANDS)})

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 (the signature is the library's)
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """Complete the name of a command without importing any."""
        from typer._click.shell_completion import CompletionItem

        names = [
            CompletionItem(name, help=about)
            for name, about in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return names or super().shell_complete(ctx, incomplete)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        with errors_in_words(), values_in_words():
            return super().invoke(ctx)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        from glasshouse.installation import installed_version

        print(f"glasshouse {installed_version()}")
        raise typer.Exit


_VERSION: Final = typer.Option(
    "--version", is_eager=True, callback=_print_version, help="Print the version and stop."
)


def glasshouse(*, version: Annotated[bool, _VERSION] = False) -> None:
    """Troupes of small language-model agents that live under glass.

    \b
    Start here:
      glasshouse tour                                 what Glasshouse is about, in half a minute
      glasshouse worlds                               what can be played
      glasshouse play WORLD                           play it
      glasshouse serve                                the same in the browser
      glasshouse show last                            look at what was played
    """


app.callback(help=examples_to_paste(cleandoc(glasshouse.__doc__ or "")))(glasshouse)


def main() -> None:
    """Run the command line. What a stream cannot spell is shown as a question mark."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        sys.exit(app(prog_name="glasshouse"))
    finally:
        begin_to_end()
