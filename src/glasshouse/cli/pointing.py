"""Pointing at an event: by its number in a run, by its id or the beginning of it, or as `last`.

Always holds: numbers count the events of a run from 1, as `show --at` does; so what `show --numbers` prints in front of a
line means that line wherever an event is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable

from glasshouse.cli.looking import Lookout, Story
from glasshouse.cli.naming import LAST, the_one
from glasshouse.errors import Refused, UnknownName
from glasshouse.events import kinds
from glasshouse.events.event import Event, event_id


class Pointer:
    """One event, and the story in which people count it."""

    def __init__(self, event: Event, story: Story | None) -> None:
        self.event = event
        self._numbers = {} if story is None else numbers_of(story.events)
        self.story = story

    def number_of(self, id_of_event: str) -> int | None:
        """The number of an event in the story, if it is part of it."""
        return self._numbers.get(id_of_event)

    def name_of(self, id_of_event: str) -> str:
        """How people name an event: by its number, or by its id where it has none."""
        number = self.number_of(id_of_event)
        return id_of_event if number is None else str(number)


def numbers_of(events: Iterable[Event]) -> dict[str, int]:
    """The number of each event by its id."""
    return {event.id: number for number, event in enumerate(events, start=1)}


async def pointed_at(lookout: Lookout, name: str, run: str | None) -> Pointer:
    """The event that a name means, counted in the run or session named, or else in the last run."""
    if "." in name and not name.isascii():
        raise UnknownName(noun="event", name=name)
    session, dot, seq = name.rpartition(".")
    if dot and seq.isascii() and seq.isdigit():
        session_id = the_one("session", session, await lookout.session_ids())
        event = await lookout.terrarium.event(event_id(session_id, int(seq[:18])))
        return Pointer(event, await _story_of(lookout, event, run))
    if run is None and not lookout.runs():
        raise Refused(
            "Nothing was played in this store yet, so there is no run to count in.",
            "Name an event by its id.",
        )
    story = await lookout.story(run or LAST)
    return Pointer(_found(story, name), story)


async def _story_of(lookout: Lookout, event: Event, run: str | None) -> Story | None:
    """The story to count in: the run's; where that was played in another house, the session's."""
    if run is not None:
        return await lookout.story(run)
    if await lookout.is_imported(event.session_id):
        return await lookout.story(event.session_id)
    known = {one.id for one in lookout.runs()}
    return await lookout.story(event.run_id) if event.run_id in known and event.run_id else None


def _found(story: Story, name: str) -> Event:
    events = story.events
    if name == LAST:
        said = [event for event in events if is_said(event)]
        if not said:
            raise Refused(f"Nothing was said in {story.name} yet.", "Name an event by its number or its id.")
        return said[-1]
    if name.isascii() and name.isdigit():
        number = int(name[:18])
        if not 1 <= number <= len(events):
            raise Refused(
                f"{story.name} has {len(events):,} events.", f"Give a number from 1 to {len(events)}."
            )
        return events[number - 1]
    names = [event.id for event in events]
    return events[names.index(the_one("event", name, names))]


def is_said(event: Event) -> bool:
    """Whether an event is a line: `last` means the last of these."""
    return event.kind not in kinds.WITHOUT_WORDS and not event.is_engine
