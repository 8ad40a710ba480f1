"""`glasshouse who-knew` tells which creatures could see an event, and since when."""

from __future__ import annotations

from glasshouse.cli import options
from glasshouse.cli.drawing.causes import draw_knowers, print_knowers
from glasshouse.cli.options import EVENT_NAMES, option
from glasshouse.cli.store_reader import NamedEvent, StoreReader, find_event, read_store
from glasshouse.views.who_knew import WhoKnew


def who_knew(
    event: options.EventArgument,
    *,
    at: str | None = option("EVENT", f"As it was after this event: its {EVENT_NAMES} Default: now."),
    run: options.InRunOption = None,
    role: options.RoleOption = options.RoleName.AUDIENCE,
    store: options.StoreOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Tell which creatures could see an event, how, and since when; those who are gone, too.

    \b
    Examples:
      glasshouse who-knew last                     who could see the last line of the last run
      glasshouse who-knew 34 --at 40               who knew event 34 when event 40 had happened
      glasshouse who-knew 34 --json                for machines
    """

    async def asked(reader: StoreReader) -> tuple[NamedEvent, WhoKnew]:
        named = await find_event(reader, event, run)
        counted_in = run if named.story is None else named.story.name
        moment = None if at is None else (await find_event(reader, at, counted_in)).event.id
        return named, await reader.terrarium.who_knew(named.event.id, at=moment)

    named, answer = read_store(store, asked)
    if as_json:
        print_knowers(answer, named)
    else:
        draw_knowers(answer, named, role.value)
