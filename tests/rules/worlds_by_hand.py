"""Worlds for pure tests: an intent is decided, stamped and folded at once, as the ledger does, without tasks or a store."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

import msgspec

from glasshouse.events import kinds
from glasshouse.events.codec import encoded, encoded_within_bounds
from glasshouse.events.event import VISITOR, Draft, Event, Json
from glasshouse.events.payloads import History
from glasshouse.manifests.manifest import Manifest
from glasshouse.turns.runs.agenda import Agenda
from glasshouse.world.decisions.decide import decide
from glasshouse.world.decisions.decision import Write, stamped
from glasshouse.world.decisions.intents import (
    AddChannel,
    AddCreature,
    AddWire,
    Connect,
    Disconnect,
    Fork,
    GrantPrivilege,
    Intent,
    RemoveChannel,
    RemoveCreature,
    RemoveWire,
    Say,
    StartCreature,
    StopCreature,
)
from glasshouse.world.fold.evolve import begin, evolve
from glasshouse.world.state.state import ChannelState, CreatureState, World
from glasshouse.world.state.values import Change

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class Done(NamedTuple):
    """What came of an intent."""

    change: Change
    subject: str
    events: list[Event]


class HandWorld:
    """A world, its agenda and its ledger, moved on one intent at a time."""

    def __init__(self, house_id: str = "") -> None:
        self.world = World(house_id=house_id)
        self.agenda = Agenda()
        self.ledger: list[Event] = []
        self.bodies: list[bytes] = []

    def do(self, intent: Intent) -> Done:
        """Decide, stamp, fold. A refusal is raised and changes nothing."""
        decision = decide(self.world, intent)
        batch = [(write, self._stamped(write)) for write in decision.writes]
        for write, events in batch:
            if write.opens is not None:
                begin(self.world, write.opens)
            for event in events:
                self._fold(event)
        written = [event for _, events in batch for event in events]
        self.ledger += written
        return Done(decision.change, decision.subject, written)

    def _fold(self, event: Event) -> None:
        evolve(self.world, event)
        self.agenda.apply(self.world, event)

    def _stamped(self, write: Write) -> list[Event]:
        events = stamped(self.world, write, NOON + timedelta(seconds=len(self.ledger)))
        self.bodies += [encoded(e) if e.is_engine else encoded_within_bounds(e) for e in events]
        return events

    def add(
        self,
        name: str,
        *,
        graph: str | None = None,
        handle: str | None = None,
        hears: Iterable[str] = (kinds.AGENT_SPOKE,),
        emits: Iterable[str] = (kinds.AGENT_SPOKE,),
        parent: str | None = None,
        run_id: str | None = None,
        is_privileged: bool = False,
    ) -> str:
        """A new creature; its id."""
        manifest = Manifest(name=name, subscribes_to=tuple(hears), may_emit=tuple(emits))
        intent = AddCreature(
            name=name,
            manifest=manifest.as_json(),
            manifest_digest=manifest.digest,
            handle=handle,
            graph_id=graph,
            is_privileged=is_privileged,
            parent=parent,
            run_id=run_id,
        )
        return self.do(intent).subject

    def add_all(self, *names: str) -> None:
        """Creatures, each in a graph of its own."""
        for name in names:
            self.add(name)

    def remove(self, creature: str) -> Done:
        return self.do(RemoveCreature(creature))

    def start(self, creature: str) -> Done:
        return self.do(StartCreature(creature))

    def stop(self, creature: str) -> Done:
        return self.do(StopCreature(creature))

    def open(self, graph: str, name: str, history: History = "full") -> str:
        """A channel nobody is on yet; its id."""
        return self.do(AddChannel(graph, name, "", history)).subject

    def close(self, graph: str, name: str) -> Done:
        return self.do(RemoveChannel(graph, name))

    def connect(self, source: str, target: str, channel: str | None = None, *, both: bool = False) -> Done:
        return self.do(Connect(source, target, channel, both))

    def disconnect(self, source: str, target: str, channel: str | None = None) -> Done:
        return self.do(Disconnect(source, target, channel))

    def wire(self, source: str, target: str) -> Done:
        return self.do(AddWire(source, target))

    def unwire(self, source: str, target: str) -> Done:
        return self.do(RemoveWire(source, target))

    def grant(self, creature: str, by: str = VISITOR) -> Done:
        return self.do(GrantPrivilege(creature, by))

    def fork(self, event: Event) -> str:
        """A session that shares the past up to this event; its id. The event is taken as a batch of its own."""
        return self.do(Fork(event.session_id, event.id, event.seq)).subject

    def say(
        self,
        creature: str,
        text: str = "hello",
        *,
        channel: str | None = None,
        kind: str = kinds.AGENT_SPOKE,
        caused_by: str | None = None,
    ) -> Event:
        """One line of a creature, as an event."""
        draft = Draft(kind=kind, channel=channel, payload={"text": text})
        return self.do(Say(creature, (draft,), caused_by)).events[0]

    def creature(self, name: str) -> CreatureState:
        return self.world.creatures[name]

    def graph_of(self, creature: str) -> str:
        """The id of the graph a creature is in."""
        return self.world.creatures[creature].graph_id

    def session_of(self, creature: str) -> str:
        """The id of the session a creature writes into."""
        return self.world.graphs[self.graph_of(creature)].session_id

    def channel(self, creature: str, name: str) -> ChannelState:
        """The channel of that name in a creature's graph."""
        return self.world.channels[self.world.graphs[self.graph_of(creature)].channels.owners[name]]

    def owed(self, creature: str) -> list[str]:
        """The ids of the events a creature owes an act for, oldest first."""
        return list(self.agenda.owed.get(creature, {}))

    def as_bytes(self) -> bytes:
        """Everything there is, for telling whether anything changed."""
        return msgspec.msgpack.encode((self.world, self.agenda))


def chain(*names: str) -> HandWorld:
    """Creatures of which each sends to the next, on a channel of their own."""
    made = HandWorld()
    made.add_all(*names)
    for source, target in pairwise(names):
        made.connect(source, target)
    return made


def table(*names: str, history: History = "full", hears: Iterable[str] = (kinds.AGENT_SPOKE,)) -> HandWorld:
    """Creatures in one graph who all listen and send on the channel `stage`."""
    made = HandWorld()
    heard = tuple(hears)
    for name in names:
        made.add(name, hears=heard)
    made.open(made.graph_of(names[0]), "stage", history)
    for name in names[1:]:
        made.connect(names[0], name, "stage", both=True)
    return made


def payloads_of(done: Done, kind: str) -> list[Json]:
    """The payloads of one kind among what an intent wrote."""
    return [event.payload for event in done.events if event.kind == kind]
