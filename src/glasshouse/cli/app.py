"""The command line and its list of commands. Each command is one module of `commands/`, with the name of the command.

Always holds: a command's module reads options and passes them on. It imports large modules only when it is called, so
that help is quick. What a command raises on purpose becomes a message and an exit code (`exits.py`).
"""

from __future__ import annotations

import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from glasshouse.cli.commands import add_command, new
from glasshouse.cli.exits import errors_in_words

COMMANDS: Final = {
    "tour": "A short tour: graphs merge, split, fork, are read back.",
    "worlds": "List the worlds that can be played by name.",
    "play": "Play a world, live.",
    "disturb": "Say something to a run that is being played.",
    "runs": "List the runs in a store.",
    "show": "Show the stage of a run at any event, or its ledger.",
    "replay": "Perform a recorded run again, or verify it.",
    "why": "Tell why something was said.",
    "who-knew": "Tell who could see an event.",
    "lineage": "Draw how sessions descend from one another.",
    "tree": "Draw graphs, channels, creatures and wires.",
    "branch": "Play on from any event of a run, with something changed.",
    "resume": "Continue a run, also after its world was edited.",
    "compare": "Show where two runs part, and what differs.",
    "digest": "Print the digest of a run.",
    "export": "Write a run or session into a file.",
    "import": "Read in a session from a file.",
    "tournament": "Let models play a world against each other.",
    "leaderboard": "Show who has won how often.",
    "check": "Find everything that is wrong with a world's files.",
    "new": "Begin a world or a creature.",
    "doctor": "Check whether everything here is as it should be.",
}
"""Every command with its line in the help, in the order of the help."""


class Commands(TyperGroup):
    """All commands. What a command raises on purpose becomes a message."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        with errors_in_words():
            return super().invoke(ctx)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        from importlib.metadata import version

        print(f"glasshouse {version('glasshouse')}")
        raise typer.Exit


@app.callback()
def glasshouse(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and stop."),
    ] = False,
) -> None:
    """Troupes of small language-model agents that live under glass.

    \b
    Start here:
      glasshouse tour                                 what Glasshouse is about, in half a minute
      glasshouse worlds                               what can be played
      glasshouse play WORLD                           play it
      glasshouse show last                            look at what was played
    """


for _name, _short_help in COMMANDS.items():
    if _name == "new":
        app.add_typer(new.app, name=_name, short_help=_short_help)
        continue
    _function = {"import": "import_file"}.get(_name, _name.replace("-", "_"))
    _module = import_module(f"glasshouse.cli.commands.{_function}")
    add_command(app, _name, _short_help, getattr(_module, _function))


def main() -> None:
    """Run the command line. What a stream cannot spell is shown as a question mark."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    sys.exit(app(prog_name="glasshouse"))
