"""Who knew of an event: which creatures could see it, how, and since when.

Always holds: it uses the same rules of hearing as prompts and the agenda, for living and for removed creatures. A
creature that could see an event in several ways is listed once, with the earliest way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from glasshouse.events.event import Event
from glasshouse.reprs import repr_of
from glasshouse.world.hearing.hearing import visible_to, wire_that_handed
from glasshouse.world.state.state import CreatureState, World

knowers_max: Final = 1_000
"""`who_knew` lists at most this many; it counts all."""

How = Literal["said", "heard", "present", "handed", "joined", "merged", "reborn"]


class Knower(msgspec.Struct, frozen=True, gc=False):
    """A creature that could see an event."""

    __repr__ = repr_of("creature", "how", "since", "until")

    creature: str
    handle: str
    how: How
    """`said`: it is the actor. `heard`: it listened on the channel. `present`: it was in the graph. `handed`: a wire
    delivered it. `joined`: it joined the channel later. `merged`: it came to the channel by a merge. `reborn`: it took
    over the past of a creature that knew."""
    since: str
    """The event since which it knew: the event itself, or the one by which it joined."""
    until: str | None = None
    """The event that removed the creature; none if it still lives."""
    with_content: bool = True
    """Whether it also got the words. A wire may deliver only the fact that something was said."""
    is_elsewhere: bool = False
    """Whether it is a creature of another store, known from an imported file (ADR 0040). Then `handle` is the one it had
    there when it learned of the event, and no `until` means: until the end of the file."""


class WhoKnew(msgspec.Struct, frozen=True):
    """The answer to `who_knew`. Creatures that knew earlier come first."""

    __repr__ = repr_of("event_id", "count", "knowers")

    event_id: str
    knowers: tuple[Knower, ...]
    count: int
    """How many creatures knew; `knowers` is cut at `knowers_max`."""


class Sighting(msgspec.Struct, frozen=True, gc=False):
    """One creature that could see an event, and the lamport time since which it could."""

    creature: CreatureState
    how: How
    since: int
    with_content: bool = True
    until: str | None = None


def handle_then(creature: CreatureState, lamport: int) -> str:
    """The handle that a creature had at a lamport time, in the graph that it was in then."""
    for stay in creature.stays:
        if stay.since <= lamport and (stay.until is None or lamport < stay.until):
            return stay.handle or creature.handle
    return creature.handle


HeardBy = Callable[[CreatureState, Event], Event]
"""Returns the event with the names that a creature knows: the present names, if it took over the past it is from."""


def sightings_of(world: World, event: Event, heard_by: HeardBy | None = None) -> list[Sighting]:
    """All creatures that could see an event, sorted by the time since which they could, then by age."""
    sightings = [_sighting(world, creature, event, heard_by) for creature in world.creatures.values()]
    for gone in world.departed.values():
        seen = _sighting(world, gone.creature, event, heard_by)
        sightings.append(None if seen is None else replace(seen, until=gone.at))
    return sorted(
        filter(None, sightings), key=lambda seen: (seen.since, seen.how != "said", seen.creature.born)
    )


def _sighting(
    world: World, creature: CreatureState, event: Event, heard_by: HeardBy | None
) -> Sighting | None:
    if creature.reborn and heard_by is not None and (heard := heard_by(creature, event)) is not event:
        reborn_at = world.sessions[creature.reborn[-1]].segment.base + 1
        if visible_to(creature, heard):
            return Sighting(creature, "reborn", reborn_at)
        wire = wire_that_handed(creature, heard)
        return None if wire is None else Sighting(creature, "reborn", reborn_at, wire.with_content)
    if event.actor == creature.id:
        return Sighting(creature, "said", event.lamport)
    later = _joined_later(creature, event)
    is_seen = visible_to(creature, event)
    if is_seen and later is None:
        return Sighting(creature, "present" if event.channel_id is None else "heard", event.lamport)
    wire = wire_that_handed(creature, event)
    if wire is not None and (wire.with_content or not is_seen):
        return Sighting(creature, "handed", event.lamport, wire.with_content)
    return Sighting(creature, "joined", later) if is_seen and later is not None else None


def _joined_later(creature: CreatureState, event: Event) -> int | None:
    """When a creature joined the event's channel after the event; none if it listened when the event was said."""
    ear = creature.ears.get(event.channel_id or "")
    is_heard_as_root = creature.is_root and visible_to(replace(creature, ears={}), event)
    if ear is None or is_heard_as_root:
        return None
    for since, until in zip(ear.spans[::2], (*ear.spans[1::2], None), strict=False):
        if since < event.lamport and (until is None or event.lamport < until):
            return None
    return next((since for since in ear.spans[::2] if since > event.lamport), None)
