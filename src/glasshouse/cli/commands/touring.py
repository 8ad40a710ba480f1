"""`glasshouse tour`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from glasshouse.cli.exits import in_words
from glasshouse.cli.performing.pace import Pace

EXAMPLES: Final = """\b
Examples:
  glasshouse tour                          at the pace of a reader
  glasshouse tour --pace fast              all at once
  glasshouse tour --store my.glasshouse    keep the store that the tour wrote
  glasshouse tour --json | head -n 3       facts for machines, one object a line"""


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(epilog=EXAMPLES, short_help="A short tour: graphs merge, split, fork, are read back.")(tour)


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
