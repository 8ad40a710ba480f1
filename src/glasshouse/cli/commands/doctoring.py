"""`glasshouse doctor`."""

from __future__ import annotations

from typing import Final

import typer

from glasshouse.cli.exits import CHECK_FAILED, in_words
from glasshouse.cli.options import JsonOption, StoreOption

EXAMPLES: Final = """\b
Examples:
  glasshouse doctor                            is everything here as it should be?
  glasshouse doctor --store other.glasshouse   with another store
  glasshouse doctor --json                     one finding a line"""


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(epilog=EXAMPLES, short_help="Look whether everything here is as it should be.")(doctor)


def doctor(*, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Look at Python, packages, settings, store, terminal and worlds. Exit 1 if something is broken."""
    with in_words():
        from glasshouse.cli.commands.health import draw, findings, tell

        found = findings(store)
        (tell if as_json else draw)(found)
        if any(finding.state == "broken" for finding in found):
            raise typer.Exit(CHECK_FAILED)
