"""The fold: apply one event to the world.

Always holds: only this module and the modules that it calls (`members`, `carried_over`) change the ledger's world, with
one exception: `Ledger.submit`, on its short path for a public line, sets the `head` of the line's session itself. The
effect of an event depends only on the world and the event, so folding a ledger gives the world that wrote it. The cost
of an event is proportional to what it changes: the fold never walks a graph that does not change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from glasshouse.events import kinds, payloads
from glasshouse.events.described_tool import DescribedTool, GrantedTool, key_of
from glasshouse.events.event import Event
from glasshouse.events.payloads import PAYLOAD_TYPES, RunStarted, payload_of
from glasshouse.world.fold import members
from glasshouse.world.fold.carried_over import take_over
from glasshouse.world.state.state import (
    Ear,
    Grant,
    RunFacts,
    Segment,
    SessionState,
    Standing,
    World,
    manifest_facts,
)
from glasshouse.world.state.topology import BITS, LISTEN, discard
from glasshouse.world.state.values import GOES_ON

version: Final = 19
"""Increased when the fold changes, so that snapshots of the old fold are not used."""


MORE_THAN_LINES: Final = kinds.ENGINE | kinds.OF_RUNS | {kinds.TURN_STARTED}
"""The kinds that change more than the length of their session."""


def begin(world: World, segment: Segment) -> None:
    """Add a session to the world, before its first event."""
    rank = segment.ordinal
    if segment.origin in GOES_ON and len(segment.parents) == 1:
        rank = world.sessions[segment.parents[0].session_id].rank
    session = SessionState(segment, skew=_skew(world, segment), rank=rank)
    world.sessions[segment.id] = session
    if not segment.is_imported:
        world.sessions_begun += 1
        world.roots += segment.origin == "root"
    for parent in segment.parents:
        siblings = world.sessions[parent.session_id]
        if siblings.children is None:
            siblings.children = []
        siblings.children.append(segment.id)
        if siblings.recipes:
            session.recipes += tuple([recipe for recipe in siblings.recipes if recipe not in session.recipes])
        is_of_same_house = siblings.segment.is_imported is segment.is_imported
        if (
            segment.origin not in GOES_ON and is_of_same_house
        ):  # A branch shares the past, but has its own runs.
            session.runs += tuple([run_id for run_id in siblings.runs if run_id not in session.runs])


def _skew(world: World, segment: Segment) -> int:
    """How far a session's times are ahead of the story's: its base, less the latest story time of its parents."""
    ends = [world.sessions[parent.session_id].story_time(parent.upto) for parent in segment.parents]
    return segment.base - max(ends) if ends else 0


def stand(world: World, standing: Standing) -> None:
    """Set the counters of a world to those of the house that it is a part of: others had moved them there. Only for the
    replay of a run that came in a file (ADR 0103)."""
    world.births = standing.births
    world.roots = standing.roots
    world.sessions_begun = standing.sessions_begun
    world.numbers_given.update(standing.numbers_given)


def evolve(world: World, event: Event) -> None:
    """Apply one event."""
    kind = event.kind
    if kind == kinds.TURN_STARTED:
        begin_turn(world, event)
        return
    note_written(world, event)
    if kind in kinds.ENGINE:
        world.shape_cache.clear()
        _FOLDS[kind](world, event, payload_of(event, PAYLOAD_TYPES[kind]))
    elif kind in kinds.OF_RUNS:
        world.shape_cache.clear()
        _run_moved(world, event)


def begin_turn(world: World, event: Event) -> None:
    """Apply a `turn.started`."""
    world.sessions[event.session_id].head = event.seq
    graph = world.graphs.get(event.graph_id)
    if graph is not None:
        graph.turn = event.turn


def note_written(world: World, event: Event) -> None:
    """Note the length of a session and which run wrote in it. Most events change nothing else."""
    session = world.sessions[event.session_id]
    session.head = event.seq
    if event.run_id is not None and event.run_id not in session.writers:
        session.note_writer(event.run_id)


def _run_moved(world: World, event: Event) -> None:
    run = _run(world, event.run_id or "", event.session_id)
    if event.kind != kinds.RUN_STARTED:
        is_paused = event.kind == kinds.RUN_PAUSED
        is_finished = event.kind == kinds.RUN_FINISHED
        run.status = "paused" if is_paused else "finished" if is_finished else "playing"
        if is_finished:
            world.open_runs.pop(run.id, None)
        return
    if not run.is_begun:  # A resumed run is recorded in each of its graphs.
        run.is_begun = True
        run.session_id = event.session_id
    session = world.sessions[event.session_id]
    if session.segment.origin not in GOES_ON:
        session.note_run(run.id)
    recipe = payload_of(event, RunStarted).recipe
    session.recipes += () if recipe is None else (recipe,)


def _run(world: World, run_id: str, session_id: str) -> RunFacts:
    run = world.runs.get(run_id)
    if run is None:
        run = world.runs[run_id] = RunFacts(run_id, session_id)
        world.open_runs[run_id] = None
    return run


def note_imported(world: World, event: Event) -> None:
    """Apply an imported event: note the length of its session, its members and its runs. Imported creatures are not
    live."""
    note_written(world, event)
    session = world.sessions[event.session_id]
    if event.kind == kinds.CREATURE_SESSION_ATTACHED:
        _note_joined(session, payload_of(event, payloads.SessionAttached).creatures, event.seq)
    elif event.kind == kinds.SESSION_FORKED:
        session.began_at = event.created_at
        _note_skew(world, session, payload_of(event, payloads.SessionForked))
    elif event.kind == kinds.RUN_STARTED:
        session.note_run(event.run_id or "")
        recipe = payload_of(event, RunStarted).recipe
        session.recipes += () if recipe is None else (recipe,)
    elif event.kind == kinds.CREATURE_STOPPED:
        payload = payload_of(event, payloads.CreatureStopped)
        if payload.reason == "removed":
            _note_left(session, payload.creature, event.seq)
    elif event.kind == kinds.TOPOLOGY_CHANGED:
        change = payload_of(event, payloads.TopologyChanged)
        if change.kind == "merge":
            session.began_at = event.created_at
        elif change.kind == "split":  # The file may lack the other side, which would say who moved there.
            for name in change.affected_creatures:
                _note_left(session, name, event.seq)


def _note_skew(world: World, session: SessionState, payload: payloads.SessionForked) -> None:
    """Set the skew of a session that restates a past, and of its descendants. They may exist already, because an import
    adds all segments of a file before its events."""
    if not payload.restated:
        return
    session.skew = payload.skew
    waiting = list(session.children or ())
    while waiting:
        grown = world.sessions[waiting.pop()]
        grown.skew = _skew(world, grown.segment)
        waiting += grown.children or ()


def _note_joined(session: SessionState, creatures: list[str], seq: int) -> None:
    if not creatures:  # The event names only those who stay, and they are known from the session before.
        return
    if session.joined is None:
        session.joined = {}
    session.joined.update(dict.fromkeys(creatures, seq))


def _note_left(session: SessionState, creature: str, seq: int) -> None:
    if session.left is None:
        session.left = {}
    session.left[creature] = seq


def _creature_started(world: World, event: Event, payload: payloads.CreatureStarted) -> None:
    there = world.creatures.get(payload.creature)
    if there is not None and there.graph_id == event.graph_id:  # A stopped creature starts again.
        there.is_running = True
        return
    if there is not None:  # The history is of two houses, and each gave this id to a creature of its own.
        _take_out(world, there.id, event)
    if payload.manifest_digest not in world.manifests:
        world.manifests[payload.manifest_digest] = manifest_facts(payload.manifest or {})
    stem, _, number = payload.creature.partition("~")
    world.numbers_given[stem] = max(world.numbers_given.get(stem, 0), int(number or 1))
    graph = world.graphs.get(event.graph_id)
    if graph is None:
        graph = members.graph_arriving(world, event.graph_id, payload.handle, event.session_id)
    born = members.number_at_birth(world, payload.born)
    creature = world.creatures[payload.creature] = members.creature_arriving(payload, event, born)
    if payload.granted:
        creature.grants = {granted.tool.name: _grant(world, granted) for granted in payload.granted}
    if payload.is_root:
        graph.roots[payload.creature] = None
    if payload.run_id is not None:
        run = _run(world, payload.run_id, event.session_id)
        ordinal = payload.ordinal or run.creatures_born + 1
        run.creatures_born = max(run.creatures_born, ordinal)
        run.creatures_living += 1
        creature.ordinal = ordinal  # All creatures of a run share one string.
        creature.run_id = run.id
        session = world.sessions[event.session_id]
        if session.segment.origin == "root" and session.joined is None:
            session.note_run(payload.run_id)  # The graph begins with this creature.
        session.note_writer(payload.run_id)
    members.count_in(world, creature)
    graph.creatures[creature.id] = None
    graph.handles.take(creature.handle, creature.id)
    if payload.parent is not None:
        world.children_of.setdefault(payload.parent, {})[payload.creature] = None


def _creature_stopped(world: World, event: Event, payload: payloads.CreatureStopped) -> None:
    if payload.reason == "stopped":
        world.creatures[payload.creature].is_running = False
        return
    _take_out(world, payload.creature, event)
    _note_left(world.sessions[event.session_id], payload.creature, event.seq)


def _take_out(world: World, name: str, event: Event) -> None:
    creature = world.creatures.pop(name)
    members.count_out(world, creature)
    graph = world.graphs[creature.graph_id]
    del graph.creatures[name]
    graph.roots.pop(name, None)
    graph.handles.release(creature.handle, name)
    world.topology.remove_creature(name)
    world.children_of.pop(name, None)
    if creature.parent is not None:
        discard(world.children_of, creature.parent, name)
    if creature.run_id is not None:
        world.runs[creature.run_id].creatures_living -= 1
    members.depart(world, creature, event)


def _creature_renamed(world: World, _event: Event, payload: payloads.CreatureRenamed) -> None:
    creature = world.creatures[payload.creature]
    world.graphs[creature.graph_id].handles.rename(creature.handle, payload.handle, creature.id)
    creature.handle = payload.handle


def _channel_opened(world: World, event: Event, payload: payloads.ChannelOpened) -> None:
    born = members.number_at_birth(world, payload.born)
    world.channels[payload.channel_id] = members.channel_arriving(payload, event, born)
    world.graphs[event.graph_id].channels.take(payload.name, payload.channel_id)


def _channel_closed(world: World, event: Event, payload: payloads.ChannelClosed) -> None:
    channel = world.channels.pop(payload.channel_id)
    world.graphs[channel.graph_id].channels.release(channel.name, channel.id)
    for member, directions in world.topology.members_of.get(channel.id, {}).items():
        if directions & LISTEN:
            world.creatures[member].ears[channel.id].spans += (event.lamport,)
    world.topology.remove_channel(channel.id)


def _channel_renamed(world: World, _event: Event, payload: payloads.ChannelRenamed) -> None:
    channel = world.channels[payload.channel_id]
    world.graphs[channel.graph_id].channels.rename(channel.name, payload.name, channel.id)
    channel.name = payload.name


def _channel_described(world: World, _event: Event, payload: payloads.ChannelDescribed) -> None:
    world.channels[payload.channel_id].description = payload.description


def _channel_joined(world: World, event: Event, payload: payloads.ChannelEdge) -> None:
    world.topology.join(payload.creature, payload.channel_id, BITS[payload.direction])
    if payload.direction == "listen":
        ears = world.creatures[payload.creature].ears
        ear = ears.get(payload.channel_id)
        if ear is None:
            is_full = world.channels[payload.channel_id].history == "full"
            ears[payload.channel_id] = Ear(is_full, (event.lamport,))
        else:
            ear.spans += (event.lamport,)


def _channel_left(world: World, event: Event, payload: payloads.ChannelEdge) -> None:
    world.topology.leave(payload.creature, payload.channel_id, BITS[payload.direction])
    if payload.direction == "listen":
        world.creatures[payload.creature].ears[payload.channel_id].spans += (event.lamport,)


def _wire_added(world: World, event: Event, payload: payloads.WireAdded) -> None:
    wire = world.wires[payload.edge_id] = members.wire_arriving(payload)
    members.note_wired(world, wire, event.lamport)
    world.wires_of.setdefault(payload.source, {})[payload.edge_id] = None
    world.wires_of.setdefault(payload.target, {})[payload.edge_id] = None


def _wire_removed(world: World, event: Event, payload: payloads.WireRemoved) -> None:
    world.wires.pop(payload.edge_id, None)
    members.note_unwired(world, payload.target, payload.edge_id, event.lamport)
    discard(world.wires_of, payload.source, payload.edge_id)
    discard(world.wires_of, payload.target, payload.edge_id)


def _parent_changed(world: World, _event: Event, payload: payloads.ParentChanged) -> None:
    world.creatures[payload.child].parent = payload.new_parent
    if payload.old_parent is not None:
        discard(world.children_of, payload.old_parent, payload.child)
    if payload.new_parent is not None:
        world.children_of.setdefault(payload.new_parent, {})[payload.child] = None


def _topology_changed(world: World, event: Event, payload: payloads.TopologyChanged) -> None:
    if payload.kind == "merge":
        world.sessions[event.session_id].began_at = event.created_at
        survivor = world.graphs[payload.new_graph_ids[0]]
        survivor.session_id = event.session_id
        for graph_id in payload.old_graph_ids:
            if graph_id != survivor.id:
                members.absorb(world, survivor, world.graphs[graph_id], event.lamport)
    elif not payload.new_graph_ids:
        for graph_id in payload.old_graph_ids:
            for channel_id in world.graphs.pop(graph_id).channels.owners.values():
                del world.channels[channel_id]


def _session_forked(world: World, event: Event, payload: payloads.SessionForked) -> None:
    world.sessions[event.session_id].began_at = event.created_at
    if payload.restated:
        world.sessions[event.session_id].skew = payload.skew
    graph = world.graphs.get(event.graph_id)
    if graph is not None:
        graph.session_id = event.session_id
    elif payload.how == "split":
        parent = world.graphs[world.sessions[payload.parents[0]].segment.graph_id]
        members.graph_arriving(world, event.graph_id, "", event.session_id, parent.turn)


def _session_attached(world: World, event: Event, payload: payloads.SessionAttached) -> None:
    session = world.sessions[event.session_id]
    _note_joined(session, payload.creatures, event.seq)
    graph = world.graphs[event.graph_id]
    for name in payload.creatures:
        creature = world.creatures[name]
        if creature.graph_id != graph.id:
            members.move(world, creature, graph, session.segment.base + 1)


def _privilege_granted(world: World, _event: Event, payload: payloads.PrivilegeGranted) -> None:
    world.creatures[payload.creature].is_privileged = True


def _privilege_revoked(world: World, _event: Event, payload: payloads.PrivilegeRevoked) -> None:
    world.creatures[payload.creature].is_privileged = False


def _grant(world: World, granted: GrantedTool) -> Grant:
    now = None if granted.now is None else _kept_description(world, granted.now)
    return Grant(_kept_description(world, granted.tool), now)


def _kept_description(world: World, tool: DescribedTool) -> str:
    key = key_of(tool)
    world.tools.setdefault(key, tool)
    return key


def _tool_changed(world: World, _event: Event, payload: payloads.ToolChanged) -> None:
    key = _kept_description(world, payload.tool)
    for name in payload.creatures:
        grant = (world.creatures[name].grants or {}).get(payload.tool.name)
        if grant is None:
            continue  # The file was exported without the grant.
        is_as_granted = world.tools[grant.granted].digest == payload.tool.digest
        grant.now = None if is_as_granted else key


def _tool_accepted(world: World, _event: Event, payload: payloads.ToolAccepted) -> None:
    for name in payload.creatures:
        grant = (world.creatures[name].grants or {}).get(payload.tool)
        if grant is not None:
            grant.granted = grant.now or grant.granted
            grant.now = None


_FOLDS: dict[str, Callable[[World, Event, Any], None]] = {
    kinds.CREATURE_STARTED: _creature_started,
    kinds.CREATURE_STOPPED: _creature_stopped,
    kinds.CREATURE_RENAMED: _creature_renamed,
    kinds.CHANNEL_OPENED: _channel_opened,
    kinds.CHANNEL_CLOSED: _channel_closed,
    kinds.CHANNEL_RENAMED: _channel_renamed,
    kinds.CHANNEL_DESCRIBED: _channel_described,
    kinds.CHANNEL_JOINED: _channel_joined,
    kinds.CHANNEL_LEFT: _channel_left,
    kinds.OUTPUT_WIRE_ADDED: _wire_added,
    kinds.OUTPUT_WIRE_REMOVED: _wire_removed,
    kinds.PARENT_LINK_CHANGED: _parent_changed,
    kinds.TOPOLOGY_CHANGED: _topology_changed,
    kinds.SESSION_FORKED: _session_forked,
    kinds.SESSION_RESTATED: take_over,
    kinds.CREATURE_SESSION_ATTACHED: _session_attached,
    kinds.PRIVILEGE_GRANTED: _privilege_granted,
    kinds.PRIVILEGE_REVOKED: _privilege_revoked,
    kinds.TOOL_CHANGED: _tool_changed,
    kinds.TOOL_ACCEPTED: _tool_accepted,
}
