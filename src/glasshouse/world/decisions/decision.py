"""Decisions: the facts to write, their sessions and the change they make. Also facts that several decisions share, and
stamping, which turns facts into events.

Always holds: a fact has no id, seq, turn or time until it is stamped, and changes the world only when it is folded.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from sys import intern
from typing import Final, NamedTuple, cast

import msgspec
from msgspec.structs import force_setattr

from glasshouse.errors import BadEvent
from glasshouse.events import kinds, payloads
from glasshouse.events.codec import VERSIONS
from glasshouse.events.event import TERRARIUM, Event, Json
from glasshouse.events.model_use import ModelUse
from glasshouse.events.payloads import History, Payload
from glasshouse.world.state.state import GraphState, Segment, World
from glasshouse.world.state.values import Change


class Fact(msgspec.Struct, frozen=True, gc=False):
    """An event without its stamp: no ids, no seq, no time."""

    kind: str
    payload: Json
    actor: str = TERRARIUM
    channel_id: str | None = None
    channel: str | None = None
    private: Json | None = None
    sealed: Json | None = None
    caused_by: str | None = None
    run_id: str | None = None
    model: ModelUse | None = None
    tools: tuple[str, ...] = ()


class Write(msgspec.Struct, frozen=True, gc=False):
    """Facts for one segment, in order. With `opens`, the segment begins here."""

    session_id: str
    graph_id: str
    facts: tuple[Fact, ...]
    opens: Segment | None = None
    turn: int | None = None
    """The turn of these facts, if they begin a new one."""


NO_CHANGE = Change(kind="nothing")


class Decision(msgspec.Struct, frozen=True, gc=False):
    """The result of an intent: one batch of writes, all or nothing."""

    writes: tuple[Write, ...] = ()
    change: Change = NO_CHANGE
    subject: str = ""
    """The id of the thing that the intent made or touched: a creature, a channel, a wire, a session."""


def written_in(
    graph: GraphState, facts: Iterable[Fact], subject: str, change: Change = NO_CHANGE
) -> Decision:
    """Facts for the session of one graph."""
    return Decision((Write(graph.session_id, graph.id, tuple(facts)),), change, subject)


def reshaped(graph: GraphState, facts: Iterable[Fact], subject: str, change: Change) -> Decision:
    """Facts for the session of one graph, and the `topology.changed` that ends them."""
    return written_in(graph, [*facts, topology_changed(change)], subject, change)


def unchanged(graph: GraphState) -> Change:
    """A change after which the same creatures are in the graph."""
    return Change("nothing", (graph.id,), (graph.id,))


def fact_of(
    payload: Payload, actor: str = TERRARIUM, run_id: str | None = None, kind: str | None = None
) -> Fact:
    """A payload as a fact. Without `kind`, the type of the payload says of which kind."""
    return Fact(kind or payloads.KIND_OF[type(payload)], payloads.builtins_of(payload), actor, run_id=run_id)


def engine_fact(payload: Payload, kind: str | None = None) -> Fact:
    """A fact of the engine about the shape of the world. A field of the wrong type is refused here, because the fold
    would find it only after the event is written."""
    fact = fact_of(payload, kind=kind)
    try:
        msgspec.convert(fact.payload, type(payload))
    except msgspec.ValidationError as wrong:
        advice = "Give the argument in its documented type."
        raise BadEvent(f"{fact.kind} cannot be written: {wrong}.", advice) from wrong
    return fact


def topology_changed(change: Change) -> Fact:
    """The one `topology.changed` of a change. It names at most `affected_creatures_max` creatures: ADR 0011."""
    old = list(change.old_graph_ids)
    new = list(change.new_graph_ids)
    affected = change.affected_creatures
    named = list(affected[: payloads.affected_creatures_max])
    # Only ids and names that the world holds: to check them again would read a thousand names at each merge.
    return fact_of(payloads.TopologyChanged(change.kind, old, new, named, len(affected)))


class Staying(NamedTuple):
    """The creatures of a graph that stay in it while its session changes: some by name, and how many they are."""

    names: list[str]
    total: int


NOBODY_STAYS: Final = Staying([], 0)


def staying(world: World, graph: GraphState, leaving: Container[str], leaving_count: int) -> Staying:
    """Who stays in a graph, oldest first. It looks at no more creatures than it names and leave: a change
    must not cost what the larger side costs."""
    stays: Iterable[str] = graph.creatures
    if leaving_count:
        stays = (name for name in graph.creatures if name not in leaving)
    named = world.by_age(islice(stays, payloads.affected_creatures_max))
    return Staying(named, len(graph.creatures) - leaving_count)


def attached(session_id: str, creatures: Sequence[str], stay: Staying = NOBODY_STAYS) -> Iterator[Fact]:
    """Facts that attach creatures to a session, split into events of bounded size. The first names those who stay.

    They are not checked, as those of `topology_changed` are not.
    """
    if stay.total:
        some = list(creatures[: payloads.affected_creatures_max])
        yield fact_of(payloads.SessionAttached(session_id, some, stay.names, stay.total))
        creatures = creatures[payloads.affected_creatures_max :]
    for start in range(0, len(creatures), payloads.affected_creatures_max):
        some = list(creatures[start : start + payloads.affected_creatures_max])
        yield fact_of(payloads.SessionAttached(session_id, some))


def joined(creature: str, channel_id: str, direction: payloads.Direction) -> Fact:
    """The fact that a creature listens or sends on a channel."""
    return engine_fact(payloads.ChannelEdge(channel_id, creature, direction), kinds.CHANNEL_JOINED)


def opened(born: int, channel_id: str, name: str, description: str = "", history: History = "full") -> Fact:
    """The fact that a channel is opened."""
    # Defaults are left out by identity, and a world that came from another process has a copy of the word.
    word = cast("History", intern(history))
    return engine_fact(payloads.ChannelOpened(channel_id, name, description, word, born=born))


def stamped(world: World, write: Write, now: datetime) -> list[Event]:
    """The facts of a write as events, numbered after the last event of its session."""
    session_id = write.session_id
    graph_id = write.graph_id
    turn = write.turn
    if write.opens is None:
        session = world.sessions[session_id]
        graph = world.graphs.get(graph_id)
        seq = session.head
        base = session.segment.base
        turn_now = 0 if graph is None else graph.turn
    else:  # It begins at the latest turn of its parents' graphs. A parent in the same batch is at turn 0.
        parents = [world.sessions.get(parent.session_id) for parent in write.opens.parents]
        graphs = [world.graphs.get(parent.segment.graph_id) for parent in parents if parent]
        seq = 0
        base = write.opens.base
        turn_now = max([graph.turn for graph in graphs if graph], default=0)
    turn = turn_now if turn is None else turn
    events = []
    for fact in write.facts:
        seq += 1
        events.append(event_of(fact, session_id, graph_id, seq, base, turn, now))
    return events


def event_of(
    fact: Fact, session_id: str, graph_id: str, seq: int, base: int, turn: int, now: datetime
) -> Event:
    """A fact as an event with this session and seq."""
    # Fifteen keywords at most: with more, the interpreter packs them into a dict first, at three times the cost. What
    # few events have is set afterwards; nobody else has the event yet.
    event = Event(
        id=f"{session_id}.{seq}",
        session_id=session_id,
        graph_id=graph_id,
        seq=seq,
        lamport=base + seq,
        turn=turn,
        actor=fact.actor,
        kind=fact.kind,
        payload=fact.payload,
        created_at=now,
        run_id=fact.run_id,
        channel_id=fact.channel_id,
        channel=fact.channel,
        private=fact.private,
        caused_by=fact.caused_by,
    )
    if fact.model is not None:
        force_setattr(event, "model", fact.model)
    if fact.tools:
        force_setattr(event, "tools", fact.tools)
    if fact.sealed is not None:
        force_setattr(event, "sealed", fact.sealed)
    if fact.kind in VERSIONS:
        force_setattr(event, "schema_version", VERSIONS[fact.kind])
    return event
