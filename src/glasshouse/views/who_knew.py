"""Who knew of an event: which creatures could see it, how, and since when.

Always holds: it uses the same rule of hearing as prompts and the agenda, for live and removed creatures. A creature
that learned of an event in several ways is listed once, with the first.
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

How = Literal["said", "heard", "present", "handed", "joined", "merged", "reborn"]


class Knower(msgspec.Struct, frozen=True, gc=False):
    """A creature that could see an event."""

    __repr__ = repr_of("creature", "how", "since", "until")

    creature: str
    handle: str
    how: How
    """It said it, heard it on its channel, was present in the graph, was handed it by a wire, joined the channel later,
    came to it by a merge, or lives again with the past of one who knew."""
    since: str
    """The event that brought it there: the event itself, or the one by which it joined."""
    until: str | None = None
    """The event that ended it; none if it still lives."""
    with_content: bool = True
    """Whether it got the words, too; a wire may carry only that something was said."""
    is_elsewhere: bool = False
    """Whether it lives in another house and came in a file: then `handle` is what it was called there when it came to
    know, and no `until` means as far as the file goes."""


class WhoKnew(msgspec.Struct, frozen=True):
    """The answer to `who_knew`: those who knew first come first."""

    __repr__ = repr_of("event_id", "count", "knowers")

    event_id: str
    knowers: tuple[Knower, ...]
    count: int
    """How many there are; the list is cut at a bound."""


class Sighting(msgspec.Struct, frozen=True, gc=False):
    """That a creature could see an event, and since which logical time."""

    creature: CreatureState
    how: How
    since: int
    with_content: bool = True
    until: str | None = None


def handle_then(creature: CreatureState, lamport: int) -> str:
    """What a creature was called at a time: in the graph it was in then."""
    for stay in creature.stays:
        if stay.since <= lamport and (stay.until is None or lamport < stay.until):
            return stay.handle or creature.handle
    return creature.handle


HeardBy = Callable[[CreatureState, Event], Event]
"""An event with the names that a creature knows it by: those of the present, if it lives again with an older past."""


def sightings_of(world: World, event: Event, heard_by: HeardBy | None = None) -> list[Sighting]:
    """Everybody who could see an event, the earliest first, then by age."""
    sightings = [_sighting(world, creature, event, heard_by) for creature in world.creatures.values()]
    for gone in world.departed.values():
        seen = _sighting(world, gone.creature, event, heard_by)
        sightings.append(None if seen is None else replace(seen, until=gone.at))
    seen_by = [sighting for sighting in sightings if sighting is not None]
    return sorted(
        seen_by, key=lambda sighting: (sighting.since, sighting.how != "said", sighting.creature.born)
    )


def _sighting(
    world: World, creature: CreatureState, event: Event, heard_by: HeardBy | None
) -> Sighting | None:
    if creature.reborn and heard_by is not None and (heard := heard_by(creature, event)) is not event:
        reborn_at = world.sessions[creature.reborn.rpartition(" ")[2]].segment.base + 1
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
    """When a creature joined a channel whose past it may read; none if it was there when the event was said."""
    ear = creature.ears.get(event.channel_id or "")
    is_heard_as_root = creature.is_root and visible_to(replace(creature, ears={}), event)
    if ear is None or is_heard_as_root:
        return None
    for since, until in zip(ear.spans[::2], (*ear.spans[1::2], None), strict=False):
        if since < event.lamport and (until is None or event.lamport < until):
            return None
    return next((since for since in ear.spans[::2] if since > event.lamport), None)
