"""`glasshouse show`."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from glasshouse.cli.exits import in_words
from glasshouse.cli.options import JsonOption, NumbersOption, RoleName, StoreOption, StoryArgument

EXAMPLES: Final = """\b
Examples:
  glasshouse show last                         the stage as it is now
  glasshouse show last --at 40                 the stage as it was after 40 events
  glasshouse show r-1a2b --as audience         with what everybody thought
  glasshouse show last --ledger                every event, one a line
  glasshouse show last --numbers               with numbers that `glasshouse why` takes
  glasshouse show last --ledger --json         every event, for machines"""


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(epilog=EXAMPLES, short_help="Show the stage of a run at any event, or its ledger.")(show)


def show(
    story: StoryArgument,
    *,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="K", help="How many events to look at, or the last of them by its id. By default: all."
        ),
    ] = None,
    ledger: Annotated[bool, typer.Option("--ledger", help="Print every event instead of the stage.")] = False,
    role: Annotated[
        RoleName, typer.Option("--as", help="Who looks: the audience sees thoughts, a director everything.")
    ] = RoleName.SPECTATOR,
    lines: Annotated[
        int, typer.Option(min=0, max=200, metavar="N", help="How many of the last lines to draw.")
    ] = 20,
    numbers: NumbersOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the stage of a run as it was at any of its events. Folded from the ledger: no model is asked."""
    with in_words():
        from glasshouse.cli.drawing.stage import Sight, draw_stage, tell_stage
        from glasshouse.cli.drawing.stage_ledger import draw_ledger, tell_ledger
        from glasshouse.cli.looking import looked_up, place_in

        found = looked_up(store, lambda lookout: lookout.story(story))
        sight = Sight(found, place_in(found, at), role.value, has_numbers=numbers)
        if ledger:
            (tell_ledger if as_json else draw_ledger)(sight)
        elif as_json:
            tell_stage(sight)
        else:
            draw_stage(sight, lines)
