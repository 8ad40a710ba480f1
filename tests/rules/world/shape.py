"""Looking at a terrarium with the reference model's eyes: its ids as numbers, its shape as plain sets."""

from __future__ import annotations

from typing import Any

import msgspec

from glasshouse import Agent, Draft, kinds
from glasshouse.events.event import Event
from glasshouse.events.payloads import SessionAttached, TopologyChanged, payload_of
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.folds import fold_from_start, load_folded
from glasshouse.runtime.store_port import Store
from glasshouse.terrarium import Terrarium
from glasshouse.views import Change
from glasshouse.world.state.state import World
from tests.rules.world.reference_model import Outcome, ReferenceModel


class Mute(Agent):
    """An agent that is only looked at."""

    async def act(self, moment: object) -> Draft | None:
        return None


class NameTable:
    """Which real id stands for which number of the model. Nothing ever gets a second name."""

    def __init__(self) -> None:
        self._real: dict[tuple[str, int], str] = {}
        self._number: dict[tuple[str, str], int] = {}

    def _pair(self, noun: str, number: int, real: str) -> None:
        known = self._real.setdefault((noun, number), real)
        known_number = self._number.setdefault((noun, real), number)
        assert (known, known_number) == (real, number), f"a {noun} id was used twice, or changed"

    def pair_session(self, number: int, real: str) -> None:
        self._pair("session", number, real)

    def pair_graph(self, number: int, real: str) -> None:
        self._pair("graph", number, real)

    def pair_new_channel(self, model: ReferenceModel, event: Event) -> None:
        """Learn the id of a channel that was opened, and the name if the engine made it up."""
        if event.kind != kinds.CHANNEL_OPENED:
            return
        unpaired = [n for n in model.channels if ("channel", n) not in self._real]
        channel = model.channels[unpaired[0]]
        if channel.name is None:
            assert event.payload["name"] not in model.channels_of(channel.graph), "a made-up name is free"
            channel.name = event.payload["name"]
        assert channel.name == event.payload["name"]
        self._pair("channel", channel.number, event.payload["channel_id"])

    def knows_session(self, real: str) -> bool:
        return ("session", real) in self._number

    def session(self, real: str) -> int:
        return self._number["session", real]

    def graph(self, real: str) -> int:
        return self._number["graph", real]

    def channel(self, real: str) -> int:
        return self._number["channel", real]

    def real_session(self, number: int) -> str:
        return self._real["session", number]

    def real_graph(self, number: int) -> str:
        return self._real["graph", number]

    def change(self, change: Change) -> tuple[str, tuple[int, ...], tuple[int, ...], tuple[str, ...]]:
        old = tuple(self.graph(name) for name in change.old_graph_ids)
        new = tuple(self.graph(name) for name in change.new_graph_ids)
        return change.kind, old, new, change.affected_creatures


def plain_world(world: World) -> dict[str, Any]:
    """A world as plain values. Dicts keep their order, which counts; sets have none."""
    plain: dict[str, Any] = msgspec.to_builtins(world)
    for facts in plain["manifests"].values():
        facts["may_emit"], facts["subscribes_to"] = sorted(facts["may_emit"]), sorted(facts["subscribes_to"])
    return plain


def image_of(terrarium: Terrarium) -> bytes:
    """Everything that is folded and kept, as bytes to be compared."""
    return image_of_fold(terrarium._house.ledger.world, terrarium._house.ledger.agenda)


def image_of_fold(world: World, agenda: msgspec.Struct) -> bytes:
    plain = msgspec.to_builtins(agenda)
    plain["subscribers"] = sorted((kind, list(names)) for kind, names in plain["subscribers"].items())
    return msgspec.json.encode([plain_world(world), plain])


async def check_folds_agree(terrarium: Terrarium, store: Store) -> None:
    """The ledger folded from its beginning, or from a snapshot on, is the live world."""
    for folded in (await fold_from_start(store, await store.position()), await load_folded(store)):
        check_fold(terrarium, folded)


def check_fold(terrarium: Terrarium, folded: Folded) -> None:
    live = plain_world(terrarium._house.ledger.world)
    for name, value in plain_world(folded.world).items():
        assert value == live[name], f"world.{name} folded from the ledger is not the live one"
    assert image_of_fold(folded.world, folded.agenda) == image_of(terrarium)


def check_shape(terrarium: Terrarium, model: ReferenceModel, names: NameTable) -> None:
    """Creatures, graphs, channels, edges and wires are as the model works them out."""
    _check_partition(terrarium, model)
    _check_creatures(terrarium, model, names)
    _check_channels(terrarium, model, names)
    graphs = {names.graph(graph.id): graph for graph in terrarium.graphs()}
    assert set(graphs) == set(model.session_of)
    for number, graph in graphs.items():
        assert graph.creature_ids == tuple(member.id for member in model.members_of(number))
        assert set(graph.channels) == set(model.channels_of(number))
        assert names.session(graph.session_id) == model.session_of[number]
        wires = {(w.source, w.target): (w.with_content, w.prompt) for w in graph.wires}
        here = {m.id for m in model.members_of(number)}
        assert wires == {ends: how for ends, how in model.wires.items() if ends[0] in here}
    _check_sessions(terrarium, model, names)


def _check_partition(terrarium: Terrarium, model: ReferenceModel) -> None:
    """Rule 1: one graph iff a path of channels."""
    by_path = {frozenset(member.id for member in part) for part in model.components()}
    assert {frozenset(graph.creature_ids) for graph in terrarium.graphs()} == by_path


def _check_creatures(terrarium: Terrarium, model: ReferenceModel, names: NameTable) -> None:
    creatures = {creature.id: creature for creature in terrarium.creatures()}
    assert list(creatures) == list(model.members)
    for name, member in model.members.items():
        creature = creatures[name]
        assert (creature.handle, creature.cast_key, creature.parent) == (
            member.handle,
            member.cast_key,
            member.parent,
        )
        assert (creature.is_running, creature.is_privileged) == (member.is_running, member.is_privileged)
        assert names.graph(creature.graph_id) == member.graph
        assert creature.session_id == terrarium.graph(creature.graph_id).session_id
    for graph in terrarium._house.ledger.world.graphs.values():
        handles = {terrarium.creature(name).handle: name for name in graph.creatures}
        assert dict(graph.handles.owners.items()) == handles, (
            "handles are unique in their graph and resolve to ids"
        )
        assert len(handles) == len(graph.creatures)


def _check_channels(terrarium: Terrarium, model: ReferenceModel, names: NameTable) -> None:
    real: dict[int, tuple[str, int, set[str], set[str]]] = {}
    for graph in terrarium.graphs():
        for channel in terrarium.environment(graph.id).channels:
            number = names.channel(channel.id)
            assert number not in real, "a channel is in one graph"
            listeners, senders = set(channel.listeners), set(channel.senders)
            real[number] = (channel.name, names.graph(channel.graph_id), listeners, senders)
    assert real == {
        channel.number: (
            channel.name,
            channel.graph,
            {who for who, where, how in model.edges if (where, how) == (channel.number, "listen")},
            {who for who, where, how in model.edges if (where, how) == (channel.number, "send")},
        )
        for channel in model.channels.values()
    }
    assert len(terrarium._house.ledger.world.channels) == len(real)


def _check_sessions(terrarium: Terrarium, model: ReferenceModel, names: NameTable) -> None:
    open_sessions = set(model.session_of.values())
    for book in model.sessions:
        session = terrarium.session(names.real_session(book.number))
        assert (session.origin, names.graph(session.graph_id)) == (book.origin, book.graph)
        assert session.is_open == (book.number in open_sessions)
        assert session.events == book.written
        if book.origin != "fork":
            assert session.parent_session_ids == tuple(names.real_session(n) for n in book.parents)
            assert set(session.agents) == book.agents


def check_told_in_the_right_place(names: NameTable, new: list[Event], outcome: Outcome) -> None:
    """One change, one `topology.changed`: a split's ends the parent's segment, a merge's begins the new one."""
    events = [event for event in new if event.kind == kinds.TOPOLOGY_CHANGED]
    assert len(events) == outcome.is_told
    for event in events:
        payload = payload_of(event, TopologyChanged)
        assert tuple(names.graph(g) for g in payload.old_graph_ids) == outcome.old
        assert tuple(names.graph(g) for g in payload.new_graph_ids) == outcome.new
        assert (payload.kind, tuple(payload.affected_creatures)) == (outcome.kind, outcome.affected)
        if outcome.kind == "merge":
            assert event.seq == 1
            assert event is new[0]
        else:
            assert event is [other for other in new if other.session_id == event.session_id][-1]
    _check_renames_and_parted_wires(names, new, outcome)


def check_attached(model: ReferenceModel, names: NameTable, new: list[Event], outcome: Outcome) -> None:
    """Every session that a merge or split began names all its creatures: those who came, and those who stayed."""
    begun = {event.session_id: names.graph(event.graph_id) for event in new if event.seq == 1}
    for session_id, graph in begun.items() if outcome.kind != "nothing" else ():
        events = [e for e in new if (e.session_id, e.kind) == (session_id, kinds.CREATURE_SESSION_ATTACHED)]
        payloads = [payload_of(event, SessionAttached) for event in events]
        came = [name for payload in payloads for name in payload.creatures]
        stayed = [name for payload in payloads for name in payload.stayed]
        here = [member.id for member in model.members_of(graph)]
        assert came == [name for name in here if name in outcome.affected]
        assert stayed == [name for name in here if name not in outcome.affected]
        assert [payload.stayed_count for payload in payloads][:1] == [len(stayed)]


def _check_renames_and_parted_wires(names: NameTable, new: list[Event], outcome: Outcome) -> None:
    renamed = {
        (e.payload["creature"], e.payload["old_handle"], e.payload["handle"])
        for e in new
        if e.kind == kinds.CREATURE_RENAMED
    }
    renamed |= {
        (str(names.channel(e.payload["channel_id"])), e.payload["old_name"], e.payload["name"])
        for e in new
        if e.kind == kinds.CHANNEL_RENAMED
    }
    parted = {
        (e.payload["source"], e.payload["target"])
        for e in new
        if e.kind == kinds.OUTPUT_WIRE_REMOVED and e.payload["reason"] == "split"
    }
    assert renamed == outcome.renamed
    assert parted == outcome.parted_wires
