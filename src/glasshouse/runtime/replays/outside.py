"""Changes from outside, told again: from the events that somebody's change left, the intent that brings them forth.

Always holds: only what was asked for is taken from the record: who, where, what name, which manifest. What comes of it is
decided anew by the same rules as then; if that is something else, the replay has parted from the record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

import msgspec

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.events.payloads import (
    ChannelClosed,
    ChannelEdge,
    ChannelOpened,
    CreatureStarted,
    CreatureStopped,
    Direction,
    PrivilegeGranted,
    WireAdded,
    WireRemoved,
    payload_of,
)
from glasshouse.manifests.manifest import Manifest
from glasshouse.world.decide import decide
from glasshouse.world.intents import (
    AddChannel,
    AddCreature,
    AddWire,
    Connect,
    Disconnect,
    GrantPrivilege,
    Intent,
    JoinChannel,
    RemoveChannel,
    RemoveCreature,
    RemoveWire,
    StartCreature,
    StopCreature,
)
from glasshouse.world.state import World
from glasshouse.world.topology import LISTEN, SEND


class Now(msgspec.Struct, frozen=True):
    """What things of the record are called in the replay."""

    creature: Callable[[str], str]
    channel: Callable[[str], str]
    graph: Callable[[str], str]


def intent_behind(world: World, batch: Sequence[Event], now: Now) -> Intent | None:
    """What somebody asked for, who left these events as one batch; none if nothing that can be asked leaves such."""
    found = {event.kind: event for event in reversed(batch)}
    first = batch[0]
    if first.kind == kinds.CREATURE_STARTED:
        return _born(first, now)
    if kinds.CREATURE_STOPPED in found:
        return _stopped(found[kinds.CREATURE_STOPPED], now)
    if kinds.CHANNEL_JOINED in found:
        return _connected(world, batch, now)
    if kinds.CHANNEL_LEFT in found:
        return _disconnected(batch, now)
    if first.kind == kinds.CHANNEL_OPENED:
        opened = payload_of(first, ChannelOpened)
        return AddChannel(now.graph(first.graph_id), opened.name, opened.description, opened.history)
    if first.kind == kinds.CHANNEL_CLOSED:
        return RemoveChannel(now.graph(first.graph_id), payload_of(first, ChannelClosed).name)
    return _of_one_edge(found, now)


def _of_one_edge(found: dict[str, Event], now: Now) -> Intent | None:
    if kinds.OUTPUT_WIRE_ADDED in found:
        wire = payload_of(found[kinds.OUTPUT_WIRE_ADDED], WireAdded)
        ends = now.creature(wire.source), now.creature(wire.target)
        return AddWire(*ends, with_content=wire.with_content, prompt=wire.prompt, when=wire.when)
    if kinds.OUTPUT_WIRE_REMOVED in found:
        gone = payload_of(found[kinds.OUTPUT_WIRE_REMOVED], WireRemoved)
        return RemoveWire(now.creature(gone.source), now.creature(gone.target))
    if kinds.PRIVILEGE_GRANTED in found:
        granted = payload_of(found[kinds.PRIVILEGE_GRANTED], PrivilegeGranted)
        return GrantPrivilege(now.creature(granted.creature), granted.by)
    return None


def _born(event: Event, now: Now) -> Intent:
    told = payload_of(event, CreatureStarted)
    if told.manifest is None:
        return StartCreature(now.creature(told.creature))
    return AddCreature(
        name=told.cast_key,
        manifest=told.manifest,
        manifest_digest=Manifest.model_validate(told.manifest).digest,
        handle=told.handle,
        graph_id=None if event.seq == 1 else now.graph(event.graph_id),
        is_privileged=told.is_privileged,
        parent=None if told.parent is None else now.creature(told.parent),
        run_id=told.run_id,
    )


def _stopped(event: Event, now: Now) -> Intent:
    told = payload_of(event, CreatureStopped)
    name = now.creature(told.creature)
    return StopCreature(name) if told.reason == "stopped" else RemoveCreature(name)


def _edges(batch: Iterable[Event], kind: str, now: Now) -> list[ChannelEdge]:
    edges = [payload_of(event, ChannelEdge) for event in batch if event.kind == kind]
    return [
        ChannelEdge(now.channel(one.channel_id), now.creature(one.creature), one.direction) for one in edges
    ]


def _disconnected(batch: Sequence[Event], now: Now) -> Intent:
    edges = _edges(batch, kinds.CHANNEL_LEFT, now)
    channels = {edge.channel_id: None for edge in edges}
    name = next(iter(channels)) if len(channels) == 1 else None
    source = next((edge.creature for edge in edges if edge.direction == "send"), edges[0].creature)
    target = next((edge.creature for edge in edges if edge.direction == "listen"), edges[0].creature)
    return Disconnect(source, target, name)


def _connected(world: World, batch: Sequence[Event], now: Now) -> Intent:
    """Of all that could have been asked, the first that leaves the very edges: where one end was there already, it does
    not matter who asked for it."""
    opened = next(
        (payload_of(event, ChannelOpened) for event in batch if event.kind == kinds.CHANNEL_OPENED), None
    )
    edges = _edges(batch, kinds.CHANNEL_JOINED, now)
    wanted = [(edge.creature, edge.direction) for edge in edges]
    channel = edges[0].channel_id if opened is None else opened.name
    asked = list(_ways(world, wanted, channel))
    return next((one for one in asked if _leaves(world, one, wanted)), asked[0])


def _ways(world: World, wanted: Sequence[tuple[str, Direction]], channel: str) -> Iterator[Intent]:
    ends = list(dict.fromkeys([creature for creature, _ in wanted]))
    if len(ends) == 1:
        yield JoinChannel(ends[0], channel, tuple([direction for _, direction in wanted]))
        members = world.topology.members_of.get(channel, {})
        ends += [name for name, directions in members.items() if directions & (LISTEN | SEND)]
    for both, source, target in product((False, True), ends, ends):
        if source != target and wanted[0][0] in (source, target):
            yield Connect(source, target, channel, both)


def _leaves(world: World, intent: Intent, wanted: Sequence[tuple[str, Direction]]) -> bool:
    try:
        facts = [fact for write in decide(world, intent).writes for fact in write.facts]
    except Refused:
        return False
    edges = [fact.payload for fact in facts if fact.kind == kinds.CHANNEL_JOINED]
    return [(edge["creature"], edge["direction"]) for edge in edges] == list(wanted)
