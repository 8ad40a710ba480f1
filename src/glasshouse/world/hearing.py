"""Hearing: one function says what a creature may see, for prompts, agenda, signals and who-knew alike.

A creature sees its own acts; what was said on a channel while it listened there, and what was said there
earlier if the channel's history is full; and channel-less events that its graph wrote while it was a member.
Thoughts and reflections are nobody's but their own actor's.
"""

from __future__ import annotations

from msgspec.structs import replace

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.world.speaking import ends_its_act
from glasshouse.world.state import CreatureState, Ear, Stay
from glasshouse.world.values import Wire


def visible_to(creature: CreatureState, event: Event) -> bool:
    """Whether the creature may see the event."""
    if event.actor == creature.id:
        return True
    if event.kind in kinds.INNER:
        return False
    if event.channel_id is not None:
        ear = creature.ears.get(event.channel_id)
        return ear is not None and _heard(ear, event.lamport)
    return any(
        stay.graph_id == event.graph_id
        and stay.since <= event.lamport
        and (stay.until is None or event.lamport < stay.until)
        for stay in creature.stays
    )


def _heard(ear: Ear, lamport: int) -> bool:
    spans = ear.spans
    if ear.is_full:
        return ear.is_open or lamport < spans[-1]
    ends = (*spans[1::2], None)
    return any(
        since < lamport and (until is None or lamport < until)
        for since, until in zip(spans[::2], ends, strict=False)
    )


def wire_that_handed(creature: CreatureState, event: Event) -> Wire | None:
    """The wire by which a line was handed to a creature, if one was there when the line was said."""
    if event.kind in kinds.WITHOUT_A_LINE or event.kind in kinds.INNER or not ends_its_act(event):
        return None
    for handings in creature.handed.values():
        for handing in handings:
            is_later = handing.until is not None and event.lamport >= handing.until
            if handing.wire.source == event.actor and handing.since < event.lamport and not is_later:
                return handing.wire
    return None


def as_it_stood(creature: CreatureState, lamport: int) -> CreatureState:
    """The creature with what it had listened on and where it had been up to a time, and nothing later."""
    ears = {
        channel_id: Ear(ear.is_full, spans)
        for channel_id, ear in creature.ears.items()
        if (spans := [at for at in ear.spans if at <= lamport])
    }
    stays = [
        Stay(stay.graph_id, stay.since, stay.until if (stay.until or lamport + 1) <= lamport else None)
        for stay in creature.stays
        if stay.since <= lamport
    ]
    return replace(creature, ears=ears, stays=stays)
