"""`glasshouse show` shows the stage of a run at any of its events.

Folded from the ledger: no model is asked.
"""

from __future__ import annotations

from glasshouse.cli import options
from glasshouse.cli.drawing.stage import StageThen
from glasshouse.cli.options import flag, option
from glasshouse.cli.store_reader import event_count_at, read_store


def show(
    run: options.RunArgument,
    *,
    at: str | None = option("K", "How many events to look at, or the last of them by its id. Default: all."),
    ledger: bool = flag("--ledger", "Print every event instead of the stage."),
    role: options.RoleOption = options.RoleName.SPECTATOR,
    lines: int = option("N", "How many of the last lines to draw.", 20, min=0, max=200),
    numbers: options.NumbersOption = False,
    store: options.StoreOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Show the stage of a run as it was at any of its events. Folded from the ledger: no model is asked.

    \b
    Examples:
      glasshouse show last                         the stage as it is now
      glasshouse show last --at 40                 the stage as it was after 40 events
      glasshouse show r-1a2b --as audience         with what everybody thought
      glasshouse show last --ledger                every event, one a line
      glasshouse show last --numbers               with numbers that `glasshouse why` takes
      glasshouse show last --ledger --json         every event, for machines
    """
    story = read_store(store, lambda reader: reader.story(run))
    then = StageThen(story, event_count_at(story, at), role.value, has_numbers=numbers)
    if ledger:
        then.print_ledger(as_json=as_json)
    elif as_json:
        then.print_json()
    else:
        then.draw(lines)
