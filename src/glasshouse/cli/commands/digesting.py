"""`glasshouse digest`."""

from __future__ import annotations

from typing import Final

import typer

from glasshouse.cli.exits import in_words
from glasshouse.cli.options import JsonOption, StoreOption, StoryArgument

EXAMPLES: Final = """\b
Examples:
  glasshouse digest last                       of the run that began last
  glasshouse digest r-1a2b --json              with the run's whole id and the number of its events"""


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(epilog=EXAMPLES, short_help="Print the digest of a run.")(digest)


def digest(story: StoryArgument, *, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Print the digest of a run: equal wherever and whenever the story is the same."""
    with in_words():
        from glasshouse.cli.drawing.screen import print_json
        from glasshouse.cli.looking import looked_up

        found = looked_up(store, lambda lookout: lookout.story(story))
        told = found.digest
        if as_json:
            print_json({**found.ids, "digest": told, "events": len(found.events)})
        else:
            print(told)
