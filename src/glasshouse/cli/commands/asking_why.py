"""`glasshouse why` and `glasshouse who-knew`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from glasshouse.cli.exits import in_words
from glasshouse.cli.options import JsonOption, RoleName, StoreOption

if TYPE_CHECKING:
    from glasshouse.cli.looking import Lookout
    from glasshouse.cli.pointing import Pointer
    from glasshouse.views.who_knew import WhoKnew
    from glasshouse.views.why import Why

WHY_EXAMPLES: Final = """\b
Examples:
  glasshouse why last                          the last line of the last run
  glasshouse why 34                            event 34 of the last run
  glasshouse why 34 --run r-1a2b               of another run
  glasshouse why s-1a2b.20 --as director       by its id, with what the model was asked"""

KNEW_EXAMPLES: Final = """\b
Examples:
  glasshouse who-knew last                     who could see the last line of the last run
  glasshouse who-knew 34 --json                for machines"""

EventArgument = Annotated[
    str,
    typer.Argument(
        metavar="EVENT",
        help="An event: its number in the run, its id, the beginning of its id, or `last` for the last line.",
    ),
]
InRunOption = Annotated[
    str | None,
    typer.Option("--run", metavar="RUN", help="The run to count in. By default: the last one."),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command(epilog=WHY_EXAMPLES, short_help="Tell why something was said.")(why)
    app.command("who-knew", epilog=KNEW_EXAMPLES, short_help="Tell who could see an event.")(who_knew)


def why(
    event: EventArgument,
    *,
    run: InRunOption = None,
    role: Annotated[
        RoleName, typer.Option("--as", help="Who asks: the audience sees thoughts, a director everything.")
    ] = RoleName.AUDIENCE,
    lines: Annotated[
        int, typer.Option(min=0, max=256, metavar="N", help="How many lines of each prompt to draw.")
    ] = 12,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell why something was said: the causes back to where it began, each with what was in sight.

    No model is asked and nothing is written.
    """
    with in_words():
        from glasshouse.cli.drawing.why import draw_why, tell_why
        from glasshouse.cli.looking import looked_up

        async def look(lookout: Lookout) -> tuple[Why, Pointer]:
            from glasshouse.cli.pointing import pointed_at

            pointer = await pointed_at(lookout, event, run)
            return await lookout.terrarium.why(pointer.event.id, role=role.value), pointer

        told, pointer = looked_up(store, look)
        if as_json:
            tell_why(told, pointer)
        else:
            draw_why(told, pointer, lines)


def who_knew(
    event: EventArgument, *, run: InRunOption = None, store: StoreOption = None, as_json: JsonOption = False
) -> None:
    """Tell which creatures could see an event, how, and since when; those who are gone, too."""
    with in_words():
        from glasshouse.cli.drawing.why import draw_knowers, tell_knowers
        from glasshouse.cli.looking import looked_up

        async def look(lookout: Lookout) -> tuple[WhoKnew, Pointer]:
            from glasshouse.cli.pointing import pointed_at

            pointer = await pointed_at(lookout, event, run)
            return await lookout.terrarium.who_knew(pointer.event.id), pointer

        told, pointer = looked_up(store, look)
        (tell_knowers if as_json else draw_knowers)(told, pointer)
