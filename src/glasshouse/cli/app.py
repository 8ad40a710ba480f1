"""The commands. Each only reads its options and hands them on; what is heavy is imported when it is needed."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from glasshouse.cli.exits import in_words
from glasshouse.cli.pace import Pace

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

TOUR_EXAMPLES = """\b
Examples:
  glasshouse tour                          at the pace of a reader
  glasshouse tour --pace fast              all at once
  glasshouse tour --store my.glasshouse    keep the store that the tour wrote
  glasshouse tour --json | head -n 3       facts for machines, one object a line"""


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
      glasshouse tour
    """


@app.command(epilog=TOUR_EXAMPLES, short_help="A short tour: graphs merge, split, fork, are read back.")
def tour(
    *,
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH", help="Keep the store in this new file. By default it is a temporary one."
        ),
    ] = None,
    pace: Annotated[
        Pace | None,
        typer.Option(help="How fast to go. By default: reading on a terminal, fast in a pipe."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a line instead of drawings.")
    ] = False,
) -> None:
    """Take a short scripted tour: graphs merge, split, fork and are read back.

    It needs no network and no model, and shows the same every time.
    """
    with in_words():
        from glasshouse.cli.tour.showing import take

        take(store, pace, as_json=as_json)


def main() -> None:
    """Run the command line. What a stream cannot spell is shown as a question mark."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    sys.exit(app(prog_name="glasshouse"))
