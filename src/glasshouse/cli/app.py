"""The command line, put together from its commands: each module in `COMMANDS` brings its own.

Always holds: a command's module only reads options and hands them on, and imports what is heavy when it is needed, so that
help is quick. A new command is a new module and a line in `COMMANDS`.
"""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from glasshouse.cli.commands import (
    asking_why,
    branching,
    carrying,
    checking,
    comparing,
    contending,
    digesting,
    disturbing,
    doctoring,
    listing,
    making,
    playing,
    ranking,
    replaying,
    resuming,
    shaping,
    showing,
    tour,
    world_listing,
)

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

COMMANDS = (
    tour,
    world_listing,
    playing,
    disturbing,
    listing,
    showing,
    replaying,
    asking_why,
    shaping,
    branching,
    resuming,
    comparing,
    digesting,
    carrying,
    contending,
    ranking,
    checking,
    making,
    doctoring,
)
"""The modules that bring commands, in the order in which help lists them."""


def _say_version(is_wanted: bool) -> None:
    if is_wanted:
        from importlib.metadata import version

        print(f"glasshouse {version('glasshouse')}")
        raise typer.Exit


@app.callback()
def glasshouse(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_say_version, help="Print the version and stop."),
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


for commands in COMMANDS:
    commands.add_to(app)


def main() -> None:
    """Run the command line. What a stream cannot spell is shown as a question mark."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    sys.exit(app(prog_name="glasshouse"))
