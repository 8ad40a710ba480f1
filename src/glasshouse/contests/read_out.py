"""Readings: the lines of one run are said again in another, by one creature, so that an assessor can judge them.

Always holds: only public lines of players are read, in order, and no judge's words. A line cites only lines that were
read before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, zip_longest
from typing import Any, Final

from glasshouse.events import kinds
from glasshouse.events.event import RESERVED_ACTORS, Draft, Event, is_event_id
from glasshouse.events.manifest_fields import fields_of
from glasshouse.events.payloads import CreatureStarted, payload_of
from glasshouse.runtime.conducting.endings import is_public_line
from glasshouse.terrarium import Terrarium

lines_read_max: Final = 120
"""Of each play, the last so many lines are read, so that whoever judges hears all of both."""


async def said_in(terrarium: Terrarium, run_id: str) -> list[Event]:
    """What those who played in a run said, without the judges."""
    events = await terrarium.run_events(run_id)
    births = [payload_of(event, CreatureStarted) for event in events if event.kind == kinds.CREATURE_STARTED]
    judges = {born.creature for born in births if fields_of(born.manifest or {}).role == "judge"}
    spoke = [
        event
        for event in events
        if is_public_line(run_id, event) and event.actor not in RESERVED_ACTORS | judges
    ]
    return spoke[-lines_read_max:]


async def read_out(terrarium: Terrarium, run_id: str, lines: Mapping[str, list[Event]]) -> None:
    """Let the creatures of these handles say these lines, a line of each in turn."""
    readers = {one.handle: one.id for one in terrarium.creatures() if one.run_id == run_id}
    now: dict[str, str] = {}
    in_turn = zip_longest(*[[(readers[name], line) for line in said] for name, said in lines.items()])
    for reader, line in filter(None, chain.from_iterable(in_turn)):
        payload = {
            field: value for field, old in line.payload.items() if (value := _read(old, now)) is not None
        }
        told = await terrarium.append(reader, Draft(kind=line.kind, payload=payload, channel="stage"))
        now[line.id] = told.id


def _read(value: Any, now: Mapping[str, str]) -> Any:
    """A field's value with the ids that its events have now; none if it named an event that was not read."""
    if is_event_id(value):
        return now.get(value)
    if isinstance(value, list):
        return [read for one in value if (read := _read(one, now)) is not None]
    return value
