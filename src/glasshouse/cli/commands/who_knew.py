"""`glasshouse who-knew` tells which creatures could see an event, and since when."""

from __future__ import annotations

from glasshouse.cli.drawing.causes import draw_knowers, print_knowers
from glasshouse.cli.options import EventArgument, InRunOption, JsonOption, StoreOption
from glasshouse.cli.store_reader import ask_about


def who_knew(
    event: EventArgument, *, run: InRunOption = None, store: StoreOption = None, as_json: JsonOption = False
) -> None:
    """Tell which creatures could see an event, how, and since when; those who are gone, too.

    \b
    Examples:
      glasshouse who-knew last                     who could see the last line of the last run
      glasshouse who-knew 34 --json                for machines
    """
    named, answer = ask_about(store, event, run, lambda terrarium, name: terrarium.who_knew(name))
    (print_knowers if as_json else draw_knowers)(answer, named)
