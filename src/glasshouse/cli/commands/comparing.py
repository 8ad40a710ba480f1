"""`glasshouse compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from glasshouse.cli.exits import in_words
from glasshouse.cli.options import JsonOption, StoreOption

if TYPE_CHECKING:
    from glasshouse.cli.looking import Lookout, Story

EXAMPLES: Final = """\b
Examples:
  glasshouse compare r-1a2b last               a run, and the one that began last
  glasshouse compare r-1a2b r-3c4d --lines 20  with more of what only one of them has
  glasshouse compare r-1a2b last --json        for machines"""

_NAME: Final = "its id, the beginning of its id, or `last` for the last run."


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(epilog=EXAMPLES, short_help="Tell where two runs part, and what is otherwise.")(compare)


def compare(
    first: Annotated[str, typer.Argument(metavar="A", help=f"A run, or a session: {_NAME}")],
    second: Annotated[str, typer.Argument(metavar="B", help=f"Another: {_NAME}")],
    *,
    lines: Annotated[
        int, typer.Option(min=0, max=400, metavar="N", help="How many lines that only one has to draw.")
    ] = 8,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Lay two runs side by side: where they part, what is otherwise, and what each of them cost."""
    with in_words():
        from glasshouse.cli.drawing.comparison import draw_comparison, tell_comparison
        from glasshouse.cli.looking import looked_up
        from glasshouse.views.comparing import compared

        async def look(lookout: Lookout) -> tuple[Story, Story]:
            return await lookout.story(first), await lookout.story(second)

        one, other = looked_up(store, look)
        found = compared((one.name, one.events), (other.name, other.events), one.skews)
        if as_json:
            tell_comparison(found)
        else:
            draw_comparison(found, lines)
