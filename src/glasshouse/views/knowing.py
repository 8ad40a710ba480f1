"""Who knew of an event: which creatures could see it, how, and since when.

Always holds: it asks the same rule of hearing that prompts and the agenda ask, for those who live and for those who are
gone. A creature that learned of an event in several ways is told once, with the first.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from glasshouse.events.event import Event
from glasshouse.world.hearing import visible_to, wire_that_handed
from glasshouse.world.state import CreatureState, World

knowers_max: Final = 1_000

How = Literal["said", "heard", "present", "handed", "joined", "merged"]


class Knower(msgspec.Struct, frozen=True, gc=False):
    """A creature that could see an event."""

    creature: str
    handle: str
    how: How
    """It said it, heard it on its channel, was present in the graph, was handed it by a wire, joined the channel later, or
    came to it by a merge."""
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


def sightings_of(world: World, event: Event) -> list[Sighting]:
    """Everybody who could see an event, the earliest first, then by age."""
    ends = {name: gone.at for name, gone in world.departed.items()}
    everybody = [*world.creatures.values(), *(gone.creature for gone in world.departed.values())]
    found = [
        Sighting(creature, *known, ends.get(creature.id))
        for creature in everybody
        if (known := _known(creature, event)) is not None
    ]
    return sorted(found, key=lambda one: (one.since, one.how != "said", one.creature.born))


def _known(creature: CreatureState, event: Event) -> tuple[How, int] | None:
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
