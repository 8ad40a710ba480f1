"""Events on the command line: by their number in a run, by their id or the beginning of it, or as `last`.

Always holds: numbers count the events of a run from 1, as `show --at` does; so what `show --numbers` prints in front of a
line means that line wherever an event is asked for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from glasshouse.cli.ids import LAST, id_meant
from glasshouse.cli.store_reader import StoreReader, Story
from glasshouse.errors import Refused, UnknownName
from glasshouse.events import kinds
from glasshouse.events.event import Event, event_id
from glasshouse.terrarium import Terrarium

T = TypeVar("T")


@dataclass(frozen=True)
class NamedEvent:
    """One event, and the story in which people count it."""

    event: Event
    story: Story | None

    def number_of(self, id_of_event: str | None) -> int | None:
        """The number of an event in the story, if it is part of it."""
        return None if self.story is None or id_of_event is None else self.story.numbers.get(id_of_event)

    def name_of(self, id_of_event: str) -> str:
        """How people name an event: by its number, or by its id where it has none."""
        return str(self.number_of(id_of_event) or id_of_event)


async def ask_about(
    reader: StoreReader, name: str, run: str | None, ask: Callable[[Terrarium, str], Awaitable[T]]
) -> tuple[NamedEvent, T]:
    """The event that a name means, and what the terrarium answers about it."""
    named = await find_event(reader, name, run)
    return named, await ask(reader.terrarium, named.event.id)


async def find_event(reader: StoreReader, name: str, run: str | None) -> NamedEvent:
    """The event that a name means, counted in the run or session named, or else in the last run."""
    if "." in name and not name.isascii():
        raise UnknownName(noun="event", name=name)
    session, dot, seq = name.rpartition(".")
    if dot and seq.isascii() and seq.isdigit():
        session_id = id_meant("session", session, await reader.session_ids())
        event = await reader.terrarium.event(event_id(session_id, int(seq[:18])))
        counted_in = run or await _counted_in(reader, event)
        return NamedEvent(event, await reader.story(counted_in) if counted_in else None)
    if run is None and not reader.terrarium.runs():
        raise Refused(
            "Nothing was played in this store yet, so there is no run to count in.",
            "Name an event by its id.",
        )
    story = await reader.story(run or LAST)
    return NamedEvent(_event_in(story, name), story)


async def _counted_in(reader: StoreReader, event: Event) -> str | None:
    """The run to count an event in; the session, where the run was played in another house."""
    if await reader.is_imported(event.session_id):
        return event.session_id
    return event.run_id if any(run.id == event.run_id for run in reader.terrarium.runs()) else None


def _event_in(story: Story, name: str) -> Event:
    events = story.events
    if name == LAST:
        lines = [event for event in events if is_line(event)]
        if not lines:
            raise Refused(f"Nothing was said in {story.name} yet.", "Name an event by its number or its id.")
        return lines[-1]
    if name.isascii() and name.isdigit():
        number = int(name[:18])
        if not 1 <= number <= len(events):
            raise Refused(
                f"{story.name} has {len(events):,} events.", f"Give a number from 1 to {len(events)}."
            )
        return events[number - 1]
    return events[story.numbers[id_meant("event", name, list(story.numbers))] - 1]


def is_line(event: Event) -> bool:
    """Whether an event is a line: `last` means the last of these."""
    return event.kind not in kinds.WITHOUT_WORDS and not event.is_engine
