"""`glasshouse doctor` checks Python, packages, settings, store, terminal and worlds.

Each check is a function in `cli.health`.
"""

from __future__ import annotations

import typer

from glasshouse.cli.drawing.screen import print_json
from glasshouse.cli.exits import CHECK_FAILED
from glasshouse.cli.health import draw, findings
from glasshouse.cli.options import JsonOption, StoreOption


def doctor(*, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Look at Python, packages, settings, store, terminal and worlds. Exit 1 if something is broken.

    \b
    Examples:
      glasshouse doctor                            is everything here as it should be?
      glasshouse doctor --store other.glasshouse   with another store
      glasshouse doctor --json                     one finding a line
    """
    listed = findings(store)
    if as_json:
        print_json(*[finding._asdict() for finding in listed])
    else:
        draw(listed)
    if any(finding.state == "broken" for finding in listed):
        raise typer.Exit(CHECK_FAILED)
