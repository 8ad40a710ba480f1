"""Hearing: `hearers_of` says who hears an event when it is said, `visible_to` what a creature may see at any later time,
and `wire_that_handed` which wire handed it a line.

The agenda and the page's fold call `hearers_of`, each with the members and edges that it keeps itself. `why`, `who_knew`
and `Played.heard_by` call `visible_to` for each event. A moment must be quicker: it takes whole tables of lines where
its creature hears all of them (`turns.heard.recent_lines`). Property tests compare the three with `visible_to`
(`test_agenda.py`, `test_page_hearing.py`, `test_recent_lines.py`).

Always holds: a creature sees its own acts. It sees what was said on a channel while it listened there, and also what
was said there earlier if the channel's history is full. It sees events without a channel that its graph wrote while
it was a member. A root sees everything said on any channel of its graph while it was a member, even without an edge
to the channel. Only the actor itself sees its thoughts and reflections.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.world.hearing.conditions import holds
from glasshouse.world.hearing.wires import is_carried
from glasshouse.world.state.state import CreatureState, Ear
from glasshouse.world.state.topology import LISTEN
from glasshouse.world.state.values import Wire


def hearers_of(
    event: Event, members: Mapping[str, object], edges: Mapping[str, int], roots: Iterable[str]
) -> Mapping[str, object]:
    """The creatures that hear an event when it is said, including its actor. `members` and `roots` are those of its
    graph, `edges` those of its channel."""
    if event.kind in kinds.INNER:
        return {}
    if event.channel_id is None:
        return members
    listening = [name for name, directions in edges.items() if directions & LISTEN]
    return dict.fromkeys([*listening, *roots])


def visible_to(creature: CreatureState, event: Event) -> bool:
    """Whether the creature may see the event."""
    if event.actor == creature.id:
        return True
    if event.kind in kinds.INNER:
        return False
    if event.channel_id is not None:
        ear = creature.ears.get(event.channel_id)
        if ear is not None and _heard(ear, event.lamport):
            return True
        return creature.is_root and _was_member(creature, event)
    return _was_member(creature, event)


def _was_member(creature: CreatureState, event: Event) -> bool:
    """Whether the creature was in the graph that wrote the event, at that time."""
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
    """The wire that handed a line to a creature, if there was one when the line was said."""
    if not creature.handed or not is_carried(event):
        return None
    for handings in creature.handed.values():
        for handing in handings:
            is_later = handing.until is not None and event.lamport >= handing.until
            is_there = handing.since < event.lamport and not is_later
            if is_there and handing.wire.source == event.actor and holds(handing.wire.when, event):
                return handing.wire
    return None
