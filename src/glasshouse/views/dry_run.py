"""The results of dry runs: a creature, channel or wire as it would be after events that were not written (ADR 0041).

Always holds: nothing here changes the world. The events come from the same decision that the real call would make, so
the result is right unless the world changes in between.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.events.payloads import (
    PAYLOAD_TYPES,
    ChannelDescribed,
    ChannelOpened,
    ChannelRenamed,
    CreatureStarted,
    ParentChanged,
    WireAdded,
    payload_of,
)
from glasshouse.views.topology import channel_of
from glasshouse.world.fold.members import channel_arriving, creature_arriving, wire_arriving
from glasshouse.world.state.state import CreatureState, World
from glasshouse.world.state.values import Channel, Wire


def creature_foreseen(world: World, creature_id: str, events: Sequence[Event]) -> CreatureState:
    """The creature after these events: born, started, stopped, given a parent, given or deprived of privilege, or
    unchanged."""
    creature = world.creatures.get(creature_id)
    for event in events:
        if event.kind == kinds.CREATURE_STARTED and creature is None:
            creature = creature_arriving(payload_of(event, CreatureStarted), event, world.births + 1)
        elif creature is not None and event.kind == kinds.PARENT_LINK_CHANGED:
            creature = replace(creature, parent=payload_of(event, ParentChanged).new_parent)
        elif creature is not None and event.kind in _CHANGES:
            creature = replace(creature, **_CHANGES[event.kind])
    assert creature is not None, f"no event brings {creature_id} to life"
    return creature


_CHANGES = {
    kinds.CREATURE_STARTED: {"is_running": True},
    kinds.CREATURE_STOPPED: {"is_running": False},
    kinds.PRIVILEGE_GRANTED: {"is_privileged": True},
    kinds.PRIVILEGE_REVOKED: {"is_privileged": False},
}
"""Kind -> the fields of the creature that an event of this kind changes."""


def channel_foreseen(world: World, channel_id: str, events: Sequence[Event]) -> Channel:
    """The channel after these events: opened without members, renamed, described, or unchanged."""
    channel = world.channels.get(channel_id)
    for event in events:
        payload = payload_of(event, PAYLOAD_TYPES[event.kind])
        match payload:
            case ChannelOpened():
                channel = channel_arriving(payload, event, world.births + 1)
            case ChannelRenamed() if channel is not None:
                channel = replace(channel, name=payload.name)
            case ChannelDescribed() if channel is not None:
                channel = replace(channel, description=payload.description)
            case _:
                pass
    assert channel is not None, f"no event opens {channel_id}"
    return channel_of(world, channel)


def wire_foreseen(world: World, wire_id: str, events: Sequence[Event]) -> Wire:
    """The wire after these events: added, replaced, or unchanged."""
    added = [payload_of(event, WireAdded) for event in events if event.kind == kinds.OUTPUT_WIRE_ADDED]
    return wire_arriving(added[-1]) if added else world.wires[wire_id]
