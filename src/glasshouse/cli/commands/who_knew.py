"""`glasshouse who-knew` tells which creatures could see an event, and since when."""

from __future__ import annotations

from glasshouse.cli.options import EventArgument, InRunOption, JsonOption, StoreOption


def who_knew(
    event: EventArgument, *, run: InRunOption = None, store: StoreOption = None, as_json: JsonOption = False
) -> None:
    """Tell which creatures could see an event, how, and since when; those who are gone, too.

    \b
    Examples:
      glasshouse who-knew last                     who could see the last line of the last run
      glasshouse who-knew 34 --json                for machines
    """
    from glasshouse.cli.drawing.causes import draw_knowers, print_knowers
    from glasshouse.cli.store_reader import ask_about, read_store

    named, answer = read_store(
        store, lambda reader: ask_about(reader, event, run, lambda t, name: t.who_knew(name))
    )
    (print_knowers if as_json else draw_knowers)(answer, named)
