"""`glasshouse replay` shows a recorded run again, or verifies it.

No model is asked and nothing is written.
"""

from __future__ import annotations

import typer

from glasshouse.cli.drawing.stage import play_back, print_lines
from glasshouse.cli.drawing.verification import is_verified
from glasshouse.cli.exits import CHECK_FAILED
from glasshouse.cli.options import JsonOption, NumbersOption, PaceOption, RunArgument, StoreOption, flag
from glasshouse.cli.pace import pace_here
from glasshouse.cli.store_reader import read_store


def replay(
    run: RunArgument,
    *,
    verify: bool = flag(
        "--verify", "Drive the engine again from the record and compare; exit 1 if anything differs."
    ),
    pace: PaceOption = None,
    minds: bool = flag("--minds", "Show what everybody thought."),
    numbers: NumbersOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a recorded run again. Everything comes from the ledger: no model is asked, nothing is written.

    \b
    Examples:
      glasshouse replay last                       show the last run again, at the pace of a reader
      glasshouse replay last --minds --pace fast   all at once, with what everybody thought
      glasshouse replay last --verify              drive the engine again and compare, event by event
      glasshouse replay r-1a2b --json              one line of the play a line, for machines
    """
    if verify:
        if not is_verified(store, run, as_json=as_json):
            raise typer.Exit(CHECK_FAILED)
        return
    story = read_store(store, lambda reader: reader.story(run))
    if as_json:
        print_lines(story, has_minds=minds)
    else:
        play_back(story, pace_here(pace), has_minds=minds, has_numbers=numbers)
