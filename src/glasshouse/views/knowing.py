"""Who knew of an event: which creatures could see it, how, and since when.

Always holds: it asks the same rule of hearing that prompts and the agenda ask, for those who live and for those who are
gone. A creature that learned of an event in several ways is told once, with the first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import msgspec

from glasshouse.events.event import Event
from glasshouse.world.hearing import visible_to, wire_that_handed
from glasshouse.world.state import CreatureState, World

knowers_max: Final = 1_000

How = Literal["said", "heard", "present", "handed", "joined", "merged", "reborn"]


class Knower(msgspec.Struct, frozen=True, gc=False):
    """A creature that could see an event."""

    creature: str
    handle: str
    how: How
    """It said it, heard it on its channel, was present in the graph, was handed it by a wire, joined the channel later,
    came to it by a merge, or lives again with the past of one who knew."""
    since: str
    """The event that brought it there: the event itself, or the one by which it joined."""
    until: str | None = None
    """The event that tells of its end; none if it lives and knows still."""


class WhoKnew(msgspec.Struct, frozen=True):
    """The answer to `who_knew`: those who knew first come first."""

    event_id: str
    knowers: tuple[Knower, ...]
    count: int
    """How many there are; the list is cut at a bound."""


class Sighting(msgspec.Struct, frozen=True, gc=False):
    """That a creature could see an event, and since which logical time."""

    creature: CreatureState
    how: How
    since: int
    until: str | None = None


HeardBy = Callable[[CreatureState, Event], Event]
"""An event with the names that a creature knows it by: those of the present, if it lives again with an older past."""


def sightings_of(world: World, event: Event, heard_by: HeardBy | None = None) -> list[Sighting]:
    """Everybody who could see an event, the earliest first, then by age."""
    ends = {name: gone.at for name, gone in world.departed.items()}
    everybody = [*world.creatures.values(), *(gone.creature for gone in world.departed.values())]
    found = [
        Sighting(creature, *known, ends.get(creature.id))
        for creature in everybody
        if (known := _known(world, creature, event, heard_by)) is not None
    ]
    return sorted(found, key=lambda one: (one.since, one.how != "said", one.creature.born))


def _known(
    world: World, creature: CreatureState, event: Event, heard_by: HeardBy | None
) -> tuple[How, int] | None:
    if creature.reborn and heard_by is not None and (heard := heard_by(creature, event)) is not event:
        reborn_at = world.sessions[creature.reborn.rpartition(" ")[2]].segment.base + 1
        return ("reborn", reborn_at) if visible_to(creature, heard) else None
    if event.actor == creature.id:
        return "said", event.lamport
    if not visible_to(creature, event):
        return None if wire_that_handed(creature, event) is None else ("handed", event.lamport)
    if event.channel_id is None:
        return "present", event.lamport
    later = _joined_later(creature, event)
    if later is None:
        return "heard", event.lamport
    return ("joined", later) if wire_that_handed(creature, event) is None else ("handed", event.lamport)


def _joined_later(creature: CreatureState, event: Event) -> int | None:
    """When a creature came to a channel that tells of its past; none if it was there when the event was said."""
    spans = creature.ears[event.channel_id or ""].spans
    for since, until in zip(spans[::2], (*spans[1::2], None), strict=False):
        if since < event.lamport and (until is None or event.lamport < until):
            return None
    return next((since for since in spans[::2] if since > event.lamport), None)
