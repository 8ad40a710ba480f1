"""The decision that starts a branch or a resumed session: one batch that states the past shape with new ids.

Always holds: the parents' bytes do not change. Every creature, channel and wire is new or an incarnation of an old one.
All graphs of one restated past are equally far ahead of the story's time, so that their order stays the same. ADR 0031.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import convert
from msgspec.structs import replace

from glasshouse.errors import Refused
from glasshouse.events import kinds, payloads
from glasshouse.events.carried import CarriedNames
from glasshouse.events.event import CONDUCTOR, RESERVED_ACTORS, event_id
from glasshouse.world.decisions import decision
from glasshouse.world.decisions.decision import Decision, Fact, Write, fact_of
from glasshouse.world.decisions.intents import Fork, Restate, RestatedGraph, RestatedRun
from glasshouse.world.state import ids
from glasshouse.world.state.state import Parent, Segment, World
from glasshouse.world.state.topology import BITS
from glasshouse.world.state.values import Change


def restated(world: World, intent: Restate) -> Decision:
    """Start a branch or a resumed session, as one batch."""
    sessions = _session_ids(world, intent)
    names = _names(world, intent, sessions)
    births = _births(world, intent)
    graph_ids = [ids.graph_id_for(session_id) for session_id in sessions]
    newcomers = [names.creatures[born.creature] for graph in intent.graphs for born in graph.creatures]
    change = Change("nothing", (), tuple(graph_ids), tuple(newcomers))
    parts = [
        list(_shape_facts(intent, graph, session_id, names, births, change))
        for graph, session_id in zip(intent.graphs, sessions, strict=True)
    ]
    # Shorter graphs begin later, so that all restated parts end at the same logical time after their past.
    longest = max(intent.times_changed, max(len(part) for part in parts) + 2)
    writes: list[Write] = []
    for number, (graph, session_id, facts) in enumerate(zip(intent.graphs, sessions, parts, strict=True)):
        opens = _segment(world, intent, graph, session_id, number, longest - len(facts) - 2)
        story_end = max(world.sessions[name].story_time(upto) for name, upto in graph.parents)
        forked = payloads.SessionForked(
            session=session_id,
            parents=[name for name, _ in graph.parents],
            how=intent.how,
            at=intent.at,
            restated=len(facts) + 2,
            upto=[upto for _, upto in graph.parents],
            skew=opens.base + len(facts) + 2 - story_end,
            change=intent.change if number == 0 else None,
        )
        new_names = (names.creatures, names.places, names.runs)
        taken_over = fact_of(payloads.SessionRestated(session_id, *new_names, graph.carried))
        lines = [_line(line, graph, names) for line in graph.lines]
        whole = (fact_of(forked), *facts, taken_over, *lines)
        writes.append(Write(session_id, opens.graph_id, whole, opens, turn=graph.turn))
    return Decision(_with_copies_named(world, writes, intent), change, sessions[0])


def _with_copies_named(world: World, writes: list[Write], intent: Restate) -> tuple[Write, ...]:
    """The same writes, in which a line that is said in several graphs names the one that comes first in the story.
    Until here, all of them had the same made-up key."""
    places: dict[str, list[tuple[tuple[int, int, int], str]]] = {}
    """Made-up key -> the place in the story, and the id, of each event with it."""
    for write, graph in zip(writes, intent.graphs, strict=True):
        assert write.opens is not None
        story_end = max(world.sessions[name].story_time(upto) for name, upto in graph.parents)
        rank = write.opens.ordinal if len(graph.parents) > 1 else world.sessions[graph.parents[0][0]].rank
        restated_events = len(write.facts) - len(graph.lines)
        for number, line in enumerate(graph.lines, start=1):
            said = _disturbance_in(line)
            if said is not None and said.copy_of is not None:
                order = (story_end + number, rank, write.opens.ordinal)
                said_in = event_id(write.session_id, restated_events + number)
                places.setdefault(said.copy_of, []).append((order, said_in))
    firsts = {key: min(events)[1] for key, events in places.items()}
    return tuple([_with_firsts_named(write, firsts) for write in writes]) if firsts else tuple(writes)


def _with_firsts_named(write: Write, firsts: dict[str, str]) -> Write:
    facts = list(write.facts)
    for seq, fact in enumerate(facts, start=1):
        said = _disturbance_in(fact)
        if said is not None and said.copy_of is not None:
            first = firsts[said.copy_of]
            said = replace(said, copy_of=None if first == event_id(write.session_id, seq) else first)
            facts[seq - 1] = replace(fact, payload=payloads.builtins_of(said))
    return replace(write, facts=tuple(facts))


def _disturbance_in(fact: Fact) -> payloads.UserInjected | None:
    return convert(fact.payload, payloads.UserInjected) if fact.kind == kinds.USER_INJECTED else None


def _session_ids(world: World, intent: Restate) -> list[str]:
    if not intent.graphs or not all(graph.creatures for graph in intent.graphs):
        raise Refused("No creature lived at this event.", "Choose an event at which a creature lived.")
    session_ids: list[str] = []
    for graph in intent.graphs:
        for name, upto in graph.parents:
            if not 1 <= upto <= ids.the_session(world, name).head:
                raise Refused(f"Session {name} has no event {upto}.", "Choose one of its events.")
        parents = [name for name, _ in graph.parents]
        ordinal = len(world.sessions[parents[0]].children or ())
        while (session_id := ids.free_session_id(world, intent.how, parents, ordinal)) in session_ids:
            ordinal += 1
        session_ids.append(session_id)
    return session_ids


def _names(world: World, intent: Restate, sessions: list[str]) -> CarriedNames:
    """New ids for everything. A channel's id depends on the seq of the event that opens it, so that is computed here."""
    names = CarriedNames({}, {}, {run.old: run.new for run in intent.runs})
    given = dict(world.numbers_given)
    claims = Counter([old for graph in intent.graphs for old in graph.graph_ids])
    for graph, session_id in zip(intent.graphs, sessions, strict=True):
        for born in graph.creatures:
            names.creatures[born.creature] = ids.next_creature_id(given, born.cast_key)
        if graph.graph_ids and claims[graph.graph_ids[0]] == 1:
            names.places[graph.graph_ids[0]] = ids.graph_id_for(session_id)
        attachments = len(list(decision.attached(session_id, [born.creature for born in graph.creatures])))
        runs_told = sum([1 + run.is_paused for run in _runs_in(graph, intent.runs)])
        seq = 1 + runs_told + len(graph.creatures) + attachments
        for channel_seq, channel in enumerate(graph.channels, start=seq + 1):
            names.places[channel.opened.channel_id] = ids.channel_id_for(session_id, channel_seq)
    for graph, session_id in zip(intent.graphs, sessions, strict=True):
        for old in graph.strangers:
            if old not in names.creatures:
                names.creatures[old] = ids.next_creature_id(given, old.partition("~")[0])
        for old in graph.places:
            names.places.setdefault(old, old[:2] + ids.short_hash("was", session_id, old))
    return names


def _births(world: World, intent: Restate) -> dict[str, int]:
    """A new number for each creature and channel, in the order of the old numbers in all graphs."""
    born: dict[str, int] = {}
    for graph in intent.graphs:
        born.update({started.creature: started.born for started in graph.creatures})
        born.update({channel.opened.channel_id: channel.opened.born for channel in graph.channels})
    return {name: number for number, name in enumerate(sorted(born, key=born.__getitem__), world.births + 1)}


def _segment(
    world: World, intent: Restate, graph: RestatedGraph, session_id: str, number: int, ahead: int
) -> Segment:
    ends = [world.sessions[name].segment.base + upto for name, upto in graph.parents]
    parents = tuple([Parent(name, upto) for name, upto in graph.parents])
    graph_id = ids.graph_id_for(session_id)
    ordinal = world.sessions_begun + number
    return Segment(session_id, graph_id, intent.how, ordinal, max(ends) + ahead, parents, intent.at)


def _shape_facts(
    intent: Restate,
    graph: RestatedGraph,
    session_id: str,
    names: CarriedNames,
    births: dict[str, int],
    change: Change,
) -> Iterator[Fact]:
    """The facts that restate a graph. They are not checked again, because there are many and the old ones were."""
    for run in _runs_in(graph, intent.runs):
        yield from _started_again(run, names)
    for born in graph.creatures:
        yield _born(born, names, births[born.creature])
    yield from decision.attached(session_id, [names.creatures[born.creature] for born in graph.creatures])
    for channel in graph.channels:
        old = channel.opened.channel_id
        yield fact_of(replace(channel.opened, channel_id=names.places[old], born=births[old]))
    for channel in graph.channels:
        channel_id = names.places[channel.opened.channel_id]
        for key, bits in channel.members:
            for direction in ("send", "listen"):
                if bits & BITS[direction]:
                    edge = payloads.ChannelEdge(channel_id, names.creatures[key], direction)
                    yield fact_of(edge, kind=kinds.CHANNEL_JOINED)
    for wire in graph.wires:
        source = names.creatures[wire.source]
        target = names.creatures[wire.target]
        added = replace(wire, edge_id=ids.wire_id_for(source, target), source=source, target=target)
        yield fact_of(added)
    for key in graph.stopped:
        yield fact_of(payloads.CreatureStopped(names.creatures[key], "stopped"))
    if graph is intent.graphs[0]:
        yield decision.topology_changed(change)


def _runs_in(graph: RestatedGraph, runs: tuple[RestatedRun, ...]) -> list[RestatedRun]:
    """The started runs of a graph's creatures. Each session records them, because it may be exported alone."""
    here = {born.run_id for born in graph.creatures}
    return [run for run in runs if run.started is not None and run.old in here]


def _started_again(run: RestatedRun, names: CarriedNames) -> Iterator[Fact]:
    assert run.started is not None
    new = names.creatures
    cast = [replace(entry, creature=new.get(entry.creature, entry.creature)) for entry in run.started.cast]
    yield fact_of(replace(run.started, cast=cast), CONDUCTOR, run.new)
    if run.is_paused:
        yield fact_of(payloads.RunPaused("It was paused in the past it grows from."), CONDUCTOR, run.new)


def _born(born: payloads.CreatureStarted, names: CarriedNames, number: int) -> Fact:
    """Restate a creature. Its manifest is plain JSON already and is not converted again."""
    now = replace(
        born,
        creature=names.creatures[born.creature],
        parent=None if born.parent is None else names.creatures.get(born.parent),
        run_id=None if born.run_id is None else names.runs.get(born.run_id, born.run_id),
        manifest={},
        born=number,
    )
    fact = fact_of(now)
    fact.payload["manifest"] = born.manifest
    return fact


def _line(line: Fact, graph: RestatedGraph, names: CarriedNames) -> Fact:
    """A line that a branch begins with, under the new names."""
    new = names.creatures
    sealed = line.sealed
    if sealed is not None:
        dealt = convert(sealed, payloads.Sealed)
        sealed = payloads.builtins_of(replace(dealt, to=[new.get(owner, owner) for owner in dealt.to]))
    return replace(
        line,
        actor=line.actor if line.actor in RESERVED_ACTORS else new[line.actor],
        channel_id=None if line.channel_id is None else names.places[line.channel_id],
        channel=next((c.opened.name for c in graph.channels if c.opened.channel_id == line.channel_id), None),
        run_id=None if line.run_id is None else names.runs.get(line.run_id, line.run_id),
        sealed=sealed,
    )


def session_forked(world: World, intent: Fork) -> Decision:
    """Start a session that shares the past up to an event. Its parent stays open, and no creature lives in it."""
    parent = ids.the_session(world, intent.session_id)
    if not 1 <= intent.upto <= parent.head:
        raise Refused(
            f"Session {intent.session_id} has no event {intent.upto}.",
            f"Fork at one of its {parent.head} events.",
        )
    session_id = ids.free_session_id(world, "fork", (intent.session_id,), len(parent.children or ()))
    graph_id = ids.graph_id_for(session_id)
    base = parent.segment.base + intent.upto
    parents = (Parent(intent.session_id, intent.upto),)
    opens = Segment(session_id, graph_id, "fork", world.sessions_begun, base, parents, intent.at)
    forked = decision.engine_fact(payloads.SessionForked(session_id, [intent.session_id], "fork", intent.at))
    return Decision((Write(session_id, graph_id, (forked,), opens),), subject=session_id)
