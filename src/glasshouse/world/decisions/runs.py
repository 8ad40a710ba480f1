"""Decisions about runs: a scenario is opened; a run begins, pauses, continues and finishes.

Opening a scenario is one batch (ADR 0027). It holds a root segment with `run.started`, and one session for each graph
of the cast, forked from the root.

Always holds: graphs are derived from channels. Creatures of a troupe begin in one graph if a path of channels joins
them; a troupe without such a path begins as several graphs. One opening is one change with one `topology.changed`. It
is in the root, so the history of every graph has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count

import msgspec
from msgspec.structs import replace

from glasshouse.errors import Refused, UnknownName
from glasshouse.events import payloads
from glasshouse.events.event import CONDUCTOR
from glasshouse.events.recorded_fields import fields_of
from glasshouse.world.decisions import decision
from glasshouse.world.decisions.creatures import birth
from glasshouse.world.decisions.decision import Decision, Fact, Write, engine_fact, fact_of, written_in
from glasshouse.world.decisions.intents import BeginRun, ChannelPlan, Member, MoveRun, OpenRun, Troupe
from glasshouse.world.hearing.wires import check_wire
from glasshouse.world.state import ids
from glasshouse.world.state.state import Parent, Segment, World
from glasshouse.world.state.topology import LISTEN, Topology
from glasshouse.world.state.values import Change

cast_max = 10_000
"""A larger cast cannot be opened at once (`Refused`)."""


class Ensemble(msgspec.Struct):
    """The members and channels that form one graph."""

    members: list[Member]
    channels: list[ChannelPlan]
    opening: str = ""


def run_opened(world: World, intent: OpenRun) -> Decision:
    """Open a scenario, as one batch."""
    _check(world, intent)
    creature_ids = _creature_ids(world, intent)
    root_id = ids.free_session_id(world, "root", (), world.roots)
    ensembles = [(n, part) for n, troupe in enumerate(intent.troupes) for part in ensembles_of(troupe)]
    sessions = [ids.session_id_for("fork", (root_id,), number) for number in range(len(ensembles))]
    graph_ids = [ids.graph_id_for(name) for name in sessions]
    change = Change("nothing", (), tuple(graph_ids), tuple(creature_ids.values()))
    cast = [
        cast_entry(member, creature_ids[n, member.handle])
        for n, troupe in enumerate(intent.troupes)
        for member in troupe.members
    ]
    started = fact_of(replace(intent.started, cast=cast), CONDUCTOR, intent.run_id)
    root = Segment(root_id, ids.graph_id_for(root_id), "root", world.sessions_begun)
    writes = [Write(root_id, root.graph_id, (started, decision.topology_changed(change)), root)]
    ordinals = count(1)
    births = count(world.births + 1)
    for number, (session_id, (troupe, part)) in enumerate(zip(sessions, ensembles, strict=True), start=1):
        graph_id = ids.graph_id_for(session_id)
        parents = (Parent(root_id, 2),)
        at = f"{root_id}.2"
        opens = Segment(session_id, graph_id, "fork", world.sessions_begun + number, 2, parents, at)
        id_of = {member.handle: creature_ids[troupe, member.handle] for member in part.members}
        facts = tuple(_ensemble_facts(intent, part, id_of, opens, ordinals, births))
        writes.append(Write(session_id, opens.graph_id, facts, opens))
    return Decision(tuple(writes), change, intent.run_id)


def _check(world: World, intent: OpenRun) -> None:
    ids.check_run_id(intent.run_id)
    if intent.run_id in world.runs:
        raise Refused(f"Run {intent.run_id} exists already.", "Leave out run_id to get a new one.")
    members = [member for troupe in intent.troupes for member in troupe.members]
    if not members:
        raise Refused("The scenario has no cast.", "Give it at least one creature.")
    if len(members) > cast_max:
        raise Refused(f"The cast has {len(members):,} creatures.", f"Open at most {cast_max:,} at once.")
    for member in members:
        ids.check_name("creature name", member.name)
        ids.check_handle(member.handle)
    for troupe in intent.troupes:
        _check_names(troupe)


def _check_names(troupe: Troupe) -> None:
    """Refuse bad or duplicate names in a troupe, and channels that do not exist."""
    channels = [channel.name for channel in troupe.channels]
    handles = [member.handle for member in troupe.members]
    for name in channels:
        ids.check_channel_name(name)
    for names, what in ((channels, "channels"), (handles, "creatures")):
        for name, times in Counter(names).items():
            if times > 1:
                raise Refused(f"Two {what} are called {name!r}.", "Give one of them another name.")
    for member in troupe.members:
        for name in (*member.listens, *member.sends):
            if name not in channels:
                raise UnknownName(noun="channel", name=name, known=channels, where=member.handle)


def _creature_ids(world: World, intent: OpenRun) -> dict[tuple[int, str], str]:
    """Ids by troupe and handle: the creature's name if it was never used in the terrarium, else with the next number."""
    given = dict(world.numbers_given)
    return {
        (number, member.handle): ids.next_creature_id(given, member.name)
        for number, troupe in enumerate(intent.troupes)
        for member in troupe.members
    }


def cast_entry(member: Member, creature: str) -> payloads.CastEntry:
    """A creature's entry in the cast of `run.started`."""
    profile = fields_of(member.manifest).model_profile
    model = (profile, member.model, member.is_bound)
    known = (member.was, member.model_digest, member.model_size)
    return payloads.CastEntry(creature, member.handle, member.name, *model, *known)


def ensembles_of(troupe: Troupe) -> list[Ensemble]:
    """The graphs that a troupe's channels form, in the order of its cast. Channels without members go to the first."""
    topology = Topology()
    for member in troupe.members:
        for channel in (*member.listens, *member.sends):
            topology.join(member.handle, channel, LISTEN)
    parts: dict[str, Ensemble] = {}
    for member in troupe.members:
        if member.handle not in parts:
            part = Ensemble([], [], troupe.opening)
            parts.update(dict.fromkeys(topology.component(member.handle), part))
        parts[member.handle].members.append(member)
    for plan in troupe.channels:
        first_member = next(iter(topology.members_of.get(plan.name, {})), troupe.members[0].handle)
        parts[first_member].channels.append(plan)
    return [part for handle, part in parts.items() if part.members[0].handle == handle]


def _ensemble_facts(
    intent: OpenRun,
    part: Ensemble,
    id_of: dict[str, str],
    opens: Segment,
    ordinals: Iterator[int],
    births: Iterator[int],
) -> Iterator[Fact]:
    parent = opens.parents[0].session_id
    yield engine_fact(payloads.SessionForked(opens.id, [parent], "fork", opens.at or ""))
    for member in part.members:
        born = birth(member, id_of[member.handle], member.handle, intent.run_id)
        yield engine_fact(replace(born, is_root=member.is_root, ordinal=next(ordinals), born=next(births)))
    attachments = list(decision.attached(opens.id, list(id_of.values())))
    yield from attachments
    seq = 1 + len(part.members) + len(attachments)
    channel_ids: dict[str, str] = {}
    for channel in part.channels:
        seq += 1
        channel_ids[channel.name] = ids.channel_id_for(opens.id, seq)
        named = (channel_ids[channel.name], channel.name, channel.description)
        yield decision.opened(next(births), *named, channel.history)
    for member in part.members:
        creature = id_of[member.handle]
        yield from [decision.joined(creature, channel_ids[name], "send") for name in member.sends]
        yield from [decision.joined(creature, channel_ids[name], "listen") for name in member.listens]
    for member in part.members:
        yield from _wires(member, id_of)
    yield from _shown_first(intent, part, id_of)


def _wires(member: Member, id_of: dict[str, str]) -> Iterator[Fact]:
    for wire in member.wires:
        if wire.to not in id_of:
            raise Refused(
                f"{member.handle} is wired to {wire.to}, but no path of channels joins them.",
                "Put both on one channel: a wire never merges graphs.",
            )
        check_wire(with_content=wire.with_content, prompt=wire.prompt, when=wire.when)
        source = id_of[member.handle]
        target = id_of[wire.to]
        wire_id = ids.wire_id_for(source, target)
        added = payloads.WireAdded(wire_id, source, target, wire.with_content, wire.prompt, wire.when)
        yield engine_fact(added)


def _shown_first(intent: OpenRun, part: Ensemble, id_of: dict[str, str]) -> Iterator[Fact]:
    """What was dealt, each for its owner only, and then the opening, for everybody."""
    for member in part.members:
        if member.dealt:
            yield dealt_to(member, id_of[member.handle], intent.run_id)
    opening = part.opening or intent.opening
    if opening:
        yield fact_of(payloads.WorldObserved(opening), CONDUCTOR, intent.run_id)


def dealt_to(member: Member, creature_id: str, run_id: str) -> Fact:
    """The fact that something is dealt to a creature. Only that creature may read what."""
    observed = payloads.WorldObserved(f"Something is dealt to {member.handle}, face down.")
    sealed = payloads.builtins_of(payloads.Sealed([creature_id], member.dealt or {}))
    return replace(fact_of(observed, CONDUCTOR, run_id), sealed=sealed)


def run_begun(world: World, intent: BeginRun) -> Decision:
    """Start a run without a scenario, in the graph where it is first driven: ADR 0029."""
    graph = ids.the_graph(world, intent.graph_id)
    run = world.runs.get(intent.run_id)
    if run is not None and run.is_begun:
        return Decision(subject=intent.run_id)
    return written_in(graph, [fact_of(intent.started, CONDUCTOR, intent.run_id)], intent.run_id)


def run_moved(world: World, intent: MoveRun) -> Decision:
    """Pause, continue or finish a run. Pausing a paused run, or continuing a playing one, changes nothing."""
    run = ids.the_unfinished_run(world, intent.run_id)
    status_after = {payloads.RunPaused: "paused", payloads.RunContinued: "playing"}.get(type(intent.payload))
    if status_after == run.status:
        return Decision(subject=run.id)
    fact = replace(fact_of(intent.payload, CONDUCTOR, run.id), model=intent.model)
    graph = world.graphs.get(intent.graph_id or "")
    if graph is None:  # Use the graph of the run's oldest creature, or the session in which the run began.
        oldest = min(world.creatures_of(run.id), key=lambda creature: creature.born, default=None)
        graph = None if oldest is None else world.graphs[oldest.graph_id]
    if graph is not None:
        return written_in(graph, [fact], run.id)
    write = Write(run.session_id, world.sessions[run.session_id].segment.graph_id, (fact,))
    return Decision((write,), subject=run.id)
