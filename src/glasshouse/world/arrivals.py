"""What comes into the world with an event, as it stands at first: a creature, a channel, a wire.

Always holds: the fold and every forecast make a newcomer here, so that what is foreseen is what comes.
"""

from __future__ import annotations

from glasshouse.events.event import Event
from glasshouse.events.payloads import ChannelOpened, CreatureStarted, WireAdded
from glasshouse.world.state import ChannelState, CreatureState, Stay
from glasshouse.world.values import Wire


def creature_arriving(told: CreatureStarted, event: Event, born: int) -> CreatureState:
    """A creature that is born with this event."""
    return CreatureState(
        id=told.creature,
        handle=told.handle,
        graph_id=event.graph_id,
        cast_key=told.cast_key,
        manifest_digest=told.manifest_digest,
        born=born,
        stays=[Stay(event.graph_id, event.lamport)],
        ears={},
        run_id=told.run_id,
        parent=told.parent,
        is_privileged=told.is_privileged,
        is_root=told.is_root,
    )


def channel_arriving(told: ChannelOpened, event: Event, born: int) -> ChannelState:
    """A channel that is opened with this event."""
    return ChannelState(told.channel_id, told.name, told.description, told.history, event.graph_id, born)


def wire_arriving(told: WireAdded) -> Wire:
    """A wire as it is told of."""
    return Wire(told.edge_id, told.source, told.target, told.with_content, told.prompt, told.when)
