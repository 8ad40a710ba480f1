"""`glasshouse replay`."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from glasshouse.cli.exits import CHECK_FAILED, in_words
from glasshouse.cli.options import JsonOption, NumbersOption, StoreOption, StoryArgument
from glasshouse.cli.performing.pace import Pace

EXAMPLES: Final = """\b
Examples:
  glasshouse replay last                       perform the last run again, at the pace of a reader
  glasshouse replay last --minds --pace fast   all at once, with what everybody thought
  glasshouse replay last --verify              drive the engine again and compare, event by event
  glasshouse replay r-1a2b --json              one line of the play a line, for machines"""


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(epilog=EXAMPLES, short_help="Perform a recorded run again, or verify it.")(replay)


def replay(
    story: StoryArgument,
    *,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Play the run again from its recorded completions; exit 1 if it comes out otherwise.",
        ),
    ] = False,
    pace: Annotated[
        Pace | None,
        typer.Option(help="How fast to go. By default: reading on a terminal, fast in a pipe."),
    ] = None,
    minds: Annotated[bool, typer.Option("--minds", help="Show what everybody thought.")] = False,
    numbers: NumbersOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Perform a recorded run again. Everything comes from the ledger: no model is asked, nothing is written."""
    with in_words():
        if verify:
            from glasshouse.cli.commands.verifying import is_verified

            if not is_verified(store, story, as_json=as_json):
                raise typer.Exit(CHECK_FAILED)
            return

        from glasshouse.cli.looking import looked_up
        from glasshouse.cli.performing.pace import pace_here
        from glasshouse.cli.performing.recital import Recital

        found = looked_up(store, lambda lookout: lookout.story(story))
        recital = Recital(found, has_minds=minds, has_numbers=numbers)
        if as_json:
            recital.tell()
        else:
            recital.perform(pace_here(pace))
