"""`glasshouse resume`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from glasshouse.cli.commands.playing import EventsOption, MindsOption, PaceOption, TurnsOption
from glasshouse.cli.exits import in_words
from glasshouse.cli.options import RunOrSessionArgument, StoreOption

EXAMPLES: Final = """\b
Examples:
  glasshouse resume                            go on with the last run
  glasshouse resume r-1a2b --turns 4           another one, four turns of it
  glasshouse resume last --as-was              in the very shape it had, whatever the files say now
  glasshouse resume s-1a2b --world ../mine     a session whose world lies elsewhere now"""


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(epilog=EXAMPLES, short_help="Go on with a run, also after its world was edited.")(resume)


def resume(
    context: typer.Context,
    name: RunOrSessionArgument = "last",
    *,
    as_was: Annotated[
        bool,
        typer.Option("--as-was", help="In the very shape it had, creatures and wires that came later too."),
    ] = False,
    world: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH",
            help="Where the world lies now, if it has moved. Where several scenarios had met, once for each that has.",
        ),
    ] = None,
    turns: TurnsOption = None,
    pace: PaceOption = None,
    minds: MindsOption = False,
    store: StoreOption = None,
    as_json: EventsOption = False,
) -> None:
    """Go on with a run, each creature with the past of its own.

    A run that was cut off goes on in place. If its world was edited since, or if it was over, a child of it is played from
    the scenario as it is on disk now: who is new there starts without a past, who is no longer there is gone. Where several
    scenarios had met in one session, all of them go on.
    """
    with in_words():
        from glasshouse.cli.commands.playing import wish_for
        from glasshouse.cli.commands.resume_choosing import Resuming
        from glasshouse.cli.performing.performance import perform

        opener = Resuming(name, as_was, tuple([str(path) for path in world or ()]))
        wish = wish_for(context, name, store, pace, turns=turns, has_minds=minds, as_json=as_json)
        perform(wish.with_opener(opener.open))
