"""Every rule of the graph at once: random calls on a real terrarium, held against the reference model after each."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from glasshouse import Agent, Draft, Manifest, MemoryStore, Refused, Terrarium, kinds
from glasshouse.events.codec import encoded
from glasshouse.events.event import Event
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.runtime.ledger import writer
from glasshouse.views import Change
from tests.rules.world.reference_model import EventRead, Outcome, ReferenceModel, Refusal
from tests.rules.world.shape import (
    Mute,
    NameTable,
    check_attached,
    check_folds_agree,
    check_shape,
    check_told_in_the_right_place,
    image_of,
)

T = TypeVar("T")

NAMES = st.sampled_from(["ada", "bo", "cy"])
CHANNEL_NAMES = st.sampled_from(["talk", "den", "ada-bo", "talk~2"])
CHANNEL_NAMES_OR_NEW = st.sampled_from([None, None, "talk", "den", "ada-bo", "talk~2"])
PICKS = st.integers(0, 40)
EMITS = (kinds.AGENT_SPOKE, kinds.AGENT_PASSED, "question.asked")
HEARD = st.sampled_from(
    [(kinds.AGENT_SPOKE,), (kinds.AGENT_SPOKE, kinds.TOPOLOGY_CHANGED), ("question.asked",), ()]
)
snapshot_events_min = 24


class RulesOfTheGraph(RuleBasedStateMachine):
    """Plays the same calls in the terrarium and in the model."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.constants = pytest.MonkeyPatch()
        self.constants.setattr(writer, "snapshot_events_min", snapshot_events_min)
        self.constants.setattr(writer, "snapshot_bytes_per_event_max", 1 << 40)
        self.store = MemoryStore()
        self.model = ReferenceModel()
        self.names = NameTable()
        self.agents: dict[str, Agent] = {}
        self.bodies: list[bytes] = []
        self.batch_ends: dict[str, str] = {}
        self.touched: set[int] = set()

    def wait(self, call: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(call)

    @initialize(
        cast=st.lists(NAMES, min_size=3, max_size=7), joins=st.lists(st.tuples(PICKS, PICKS), max_size=6)
    )
    def begins(self, cast: list[str], joins: list[tuple[int, int]]) -> None:
        """Some creatures and some bridges, so that every call has something to change from the start."""
        self.opens()
        for name in cast:
            self.add(name, (kinds.AGENT_SPOKE,), None, None, None, is_privileged=False)
        for first, other in joins:
            self.connect(first, other, channel=None, both=True)

    def opens(self) -> None:
        self.clock = HandMovedClock()
        self.terrarium = Terrarium(self.store, clock=self.clock, ids=SeededIds(len(self.bodies)))
        self.wait(self.terrarium.open())

    def teardown(self) -> None:
        try:
            if hasattr(self, "terrarium"):
                self.wait(self.terrarium.close())
                self.check_histories(range(len(self.model.sessions)))
        finally:
            self.loop.close()
            self.constants.undo()

    # Playing one call twice

    def play(
        self,
        expected: Callable[[], Outcome],
        real: Callable[..., Coroutine[Any, Any, T]],
    ) -> tuple[Outcome, T] | None:
        """The outcome and the answer, or none if both sides refuse. Whatever comes was foreseen by a dry run."""
        before = image_of(self.terrarium)
        forecast = self.answer_or_refusal(lambda: real(dry_run=True))
        assert image_of(self.terrarium) == before, "a dry run changes nothing"
        assert self.wait(self.store.position()) == len(self.bodies), "a dry run writes nothing"
        try:
            outcome = expected()
        except Refusal:
            refusal = self.answer_or_refusal(real)
            assert isinstance(refusal, Refused)
            assert image_of(self.terrarium) == before, "a refusal changes nothing"
            assert self.wait(self.store.position()) == len(self.bodies)
            assert (type(forecast), str(forecast)) == (type(refusal), str(refusal)), (
                "a dry run refuses as well"
            )
            return None
        answer = self.wait(real())
        self.clock.move(1)
        self.take_note(outcome)
        assert as_told(answer) == as_told(forecast), "the forecast comes true"
        if isinstance(answer, Change):
            assert self.names.change(answer) == (outcome.kind, outcome.old, outcome.new, outcome.affected)
        return outcome, answer

    def answer_or_refusal(self, call: Callable[..., Coroutine[Any, Any, T]]) -> T | Refused:
        try:
            return self.wait(call())
        except Refused as refusal:
            return refusal

    def take_note(self, outcome: Outcome, fork_of: list[tuple[int, int, int, str]] | None = None) -> None:
        """Let the model hear what was written, and check that it was written where it belongs."""
        new = self.wait(self.store.read_after(len(self.bodies), 10_000))
        self.bodies += [encoded(event) for event in new]
        for event in new:
            if not self.names.knows_session(event.session_id):
                book = self.model.open_book(fork_of)
                self.names.pair_session(book.number, event.session_id)
                self.names.pair_graph(book.graph, event.graph_id)
            self.names.pair_new_channel(self.model, event)
            self.record(event, outcome)
            self.batch_ends[event.id] = [e.id for e in new if e.session_id == event.session_id][-1]
        assert not self.model.unwritten, "every session that begins is written into"
        check_told_in_the_right_place(self.names, new, outcome)
        check_attached(self.model, self.names, new, outcome)

    def record(self, event: Event, outcome: Outcome) -> None:
        session = self.names.session(event.session_id)
        channel = None if event.channel_id is None else self.names.channel(event.channel_id)
        read = EventRead(event.id, event.kind, event.actor, channel, event.caused_by)
        lamport, seq = self.model.record(session, read, outcome)
        assert (event.lamport, event.seq, event.id) == (lamport, seq, f"{event.session_id}.{seq}")
        assert self.names.graph(event.graph_id) == self.model.sessions[session].graph
        self.touched.add(session)

    def creature(self, pick: int) -> str:
        """A live creature, or once in a while somebody who is not there."""
        alive = list(self.model.members)
        return alive[pick % len(alive)] if alive and pick < 39 else "nobody"

    def graph(self, pick: int) -> tuple[int, str]:
        open_graphs = list(self.model.session_of)
        if not open_graphs or pick >= 39:
            return -1, "g-nowhere"
        number = open_graphs[pick % len(open_graphs)]
        return number, self.names.real_graph(number)

    # The calls

    @rule(name=NAMES, heard=HEARD, into=st.none() | PICKS, handle=st.sampled_from([None, None, "ada", "zed", "ada~2"]),
          parent=st.none() | PICKS, is_privileged=st.booleans(), channel=st.none() | CHANNEL_NAMES_OR_NEW)  # fmt: skip
    def add(
        self, name: str, heard: tuple[str, ...], into: int | None, handle: str | None, parent: int | None,
        is_privileged: bool, channel: str | None = None,
    ) -> None:  # fmt: skip
        manifest = Manifest(name=name, subscribes_to=heard, may_emit=EMITS)
        number, graph_id = (None, None) if into is None else self.graph(into)
        parent_id = None if parent is None else self.creature(parent)
        agent = Mute()
        given: list[str] = []

        def expected() -> Outcome:
            creature_id, outcome = self.model.add(
                name, heard, EMITS, graph=number, handle=handle, is_privileged=is_privileged, parent=parent_id,
                channel=channel,
            )  # fmt: skip
            given.append(creature_id)
            return outcome

        played = self.play(
            expected,
            lambda **dry: self.terrarium.add_creature(
                manifest, agent=agent, graph=graph_id, handle=handle, is_privileged=is_privileged, parent=parent_id,
                channel=channel, **dry,
            ),
        )  # fmt: skip
        if played is not None:
            assert played[1].id == given[0]
            assert played[1] == self.terrarium.creature(given[0])
            self.agents[given[0]] = agent

    @rule(pick=PICKS)
    def remove(self, pick: int) -> None:
        name, t = self.creature(pick), self.terrarium
        if self.play(
            lambda: self.model.remove(name),
            lambda **dry: t.remove_creature(name, **dry),
        ):
            self.agents.pop(name, None)
            with pytest.raises(Refused):
                t.creature(name)

    @rule(pick=PICKS, is_running=st.booleans())
    def start_or_stop(self, pick: int, is_running: bool) -> None:
        name, t = self.creature(pick), self.terrarium
        call = t.start_creature if is_running else t.stop_creature
        self.play(
            lambda: self.model.set_running(name, is_running=is_running), lambda **dry: call(name, **dry)
        )

    @rule(pick=PICKS)
    def grant_privilege(self, pick: int) -> None:
        name, t = self.creature(pick), self.terrarium
        self.play(lambda: self.model.grant_privilege(name), lambda **dry: t.grant_privilege(name, **dry))

    @rule(pick=PICKS)
    def revoke_privilege(self, pick: int) -> None:
        name, t = self.creature(pick), self.terrarium
        self.play(lambda: self.model.revoke_privilege(name), lambda **dry: t.revoke_privilege(name, **dry))

    @rule(pick=PICKS, parent=st.none() | PICKS)
    def set_parent(self, pick: int, parent: int | None) -> None:
        name, t = self.creature(pick), self.terrarium
        parent_id = None if parent is None else self.creature(parent)
        self.play(
            lambda: self.model.set_parent(name, parent_id), lambda **dry: t.set_parent(name, parent_id, **dry)
        )

    @rule(pick=PICKS, new_name=CHANNEL_NAMES)
    def rename_channel(self, pick: int, new_name: str) -> None:
        if not self.model.channels:
            return
        channel, t = list(self.model.channels.values())[pick % len(self.model.channels)], self.terrarium
        name, graph_id = channel.name or "", self.names.real_graph(channel.graph)
        self.play(
            lambda: self.model.rename_channel(channel.graph, name, new_name),
            lambda **dry: t.rename_channel(graph_id, name, new_name, **dry),
        )

    @rule(pick=PICKS, name=CHANNEL_NAMES)
    def add_channel(self, pick: int, name: str) -> None:
        (number, graph_id), t = self.graph(pick), self.terrarium
        self.play(
            lambda: self.model.add_channel(number, name), lambda **dry: t.add_channel(graph_id, name, **dry)
        )

    @rule(pick=PICKS)
    def remove_channel(self, pick: int) -> None:
        if not self.model.channels:
            return
        channel, t = list(self.model.channels.values())[pick % len(self.model.channels)], self.terrarium
        name, graph_id = channel.name or "", self.names.real_graph(channel.graph)
        self.play(
            lambda: self.model.remove_channel(channel.graph, name),
            lambda **dry: t.remove_channel(graph_id, name, **dry),
        )

    @rule(first=PICKS, second=PICKS, channel=CHANNEL_NAMES_OR_NEW, both=st.booleans())
    def connect(self, first: int, second: int, channel: str | None, both: bool) -> None:
        a, b, t = self.creature(first), self.creature(second), self.terrarium
        self.play(
            lambda: self.model.connect(a, b, channel, both=both),
            lambda **dry: t.connect(a, b, channel=channel, both=both, **dry),
        )

    @rule(first=PICKS, second=PICKS, is_named=st.booleans())
    def disconnect(self, first: int, second: int, is_named: bool) -> None:
        """Mostly two who are connected, on one of their channels or on all; now and then the same one twice."""
        sends = sorted(edge for edge in self.model.edges if edge[2] == "send")
        a, number, _ = sends[first % len(sends)] if sends else (self.creature(first), 0, "send")
        hearers = sorted(who for who, where, how in self.model.edges if (where, how) == (number, "listen"))
        b, t = hearers[second % len(hearers)] if hearers else self.creature(second), self.terrarium
        channel = self.model.channels[number].name if is_named and sends else None
        self.play(
            lambda: self.model.disconnect(a, b, channel),
            lambda **dry: t.disconnect(a, b, channel=channel, **dry),
        )

    @rule(first=PICKS, second=PICKS, with_content=st.booleans(), is_taken_away=st.booleans())
    def wire_or_unwire(self, first: int, second: int, with_content: bool, is_taken_away: bool) -> None:
        """Mostly a wire that is there is taken away; now and then one that is not."""
        a, b, t = self.creature(first), self.creature(second), self.terrarium
        if is_taken_away:
            if self.model.wires and second % 4:
                a, b = list(self.model.wires)[first % len(self.model.wires)]
            self.play(lambda: self.model.unwire(a, b), lambda **dry: t.unwire(a, b, **dry))
        else:
            self.play(
                lambda: self.model.wire(a, b, with_content, None),
                lambda **dry: t.wire(a, b, with_content=with_content, **dry),
            )

    @rule(
        pick=PICKS,
        kind=st.sampled_from([*EMITS, "agent.thought"]),
        channel_pick=st.none() | PICKS,
        cause=PICKS,
    )
    def append(self, pick: int, kind: str, channel_pick: int | None, cause: int) -> None:
        """Say something on a channel or none; settle something owed, something else, or nothing."""
        name = self.creature(pick)
        member, channel, caused_by = self.model.members.get(name), None, None
        if member is not None:
            channels = [p.name for p in self.model.channels.values() if p.graph == member.graph]
            channel = (
                channels[channel_pick % len(channels)] if channels and channel_pick is not None else None
            )
            causes = [*[event for event, _ in member.mailbox], None, next(iter(self.batch_ends))]
            caused_by = causes[cause % len(causes)]
        self.say(name, kind, channel, caused_by)

    def say(self, name: str, kind: str, channel: str | None, caused_by: str | None) -> None:
        draft = Draft(kind=kind, channel=channel, payload={"text": f"line {len(self.bodies)}"})

        def expected() -> Outcome:
            self.model.say(name, kind, channel)
            return Outcome(is_told=False)

        t = self.terrarium
        played = self.play(expected, lambda **dry: t.append(name, draft, caused_by=caused_by, **dry))
        if played is not None:
            assert (played[1].payload, played[1].actor) == (draft.payload, name)

    @rule(pick=PICKS, lines=st.integers(1, 3), settles=st.booleans())
    def rest(self, pick: int, lines: int, settles: bool) -> None:
        """A listener rests while others speak on one of its channels, wakes, and perhaps answers all at once."""
        heard = sorted(edge for edge in self.model.edges if edge[2] == "listen")
        if not heard:
            return
        name, number, _ = heard[pick % len(heard)]
        speakers = sorted(a for a, p, how in self.model.edges if (p, how) == (number, "send") and a != name)
        self.start_or_stop(list(self.model.members).index(name) % 39, is_running=False)
        for speaker in speakers[:1] * lines:
            self.say(speaker, kinds.AGENT_SPOKE, self.model.channels[number].name, None)
        self.start_or_stop(list(self.model.members).index(name) % 39, is_running=True)
        mailbox = self.model.members[name].mailbox
        if settles and mailbox:
            self.say(name, kinds.AGENT_SPOKE, None, mailbox[-1][0])

    @rule(pick=PICKS, at=st.integers(0, 200))
    def fork(self, pick: int, at: int) -> None:
        book = self.model.sessions[pick % len(self.model.sessions)]
        event_id = book.history[at % len(book.history)][3]
        end = self.batch_ends[event_id]
        writer = self.names.session(end.rpartition(".")[0])
        past = [e for e in self.model.sessions[writer].history if e <= (e[0], writer, e[2], "~")]
        upto = next(entry for entry in past if entry[3] == end)
        self.model.fork(book.number, event_id)
        forked = self.wait(self.terrarium.fork(self.names.real_session(book.number), at=event_id))
        self.take_note(Outcome(is_told=False), fork_of=[entry for entry in past if entry <= upto])
        assert forked.parent_session_ids == (self.names.real_session(writer),)
        assert (forked.forked_at, forked.is_open, forked.origin) == (event_id, False, "fork")

    @rule()
    def reopen(self) -> None:
        """The store is closed and opened again: nothing is added, and everything is where it was."""
        before, house = image_of(self.terrarium), self.store.house_id
        self.wait(self.terrarium.close())
        self.opens()

        assert image_of(self.terrarium) == before
        assert (self.wait(self.store.position()), self.store.house_id) == (len(self.bodies), house)
        assert all(self.terrarium.agent(name) is None for name in self.model.members)
        self.agents.clear()

    # What always holds

    @invariant()
    def the_terrarium_is_as_the_model_says(self) -> None:
        if hasattr(self, "terrarium"):
            check_shape(self.terrarium, self.model, self.names)
            self.wait(check_folds_agree(self.terrarium, self.store))
            self.check_histories(self.touched)
            self.touched = set()
            for name, member in self.model.members.items():
                assert self.wait(_ids_of_mail(self.terrarium, name)) == [event for event, _ in member.mailbox]
            for name, agent in self.agents.items():
                assert self.terrarium.agent(name) is agent, "no change re-creates an agent"

    def check_histories(self, sessions: range | set[int]) -> None:
        """Every event of these sessions exactly once, in order; and no byte of the ledger has changed."""
        for number in sessions:
            book = self.model.sessions[number]
            events = self.wait(self.terrarium.events(self.names.real_session(number)))
            assert [event.id for event in events] == [entry[3] for entry in sorted(book.history)]
            assert all(encoded(e) == self.bodies[(e.position or 0) - 1] for e in events)


def as_told(answer: object) -> object:
    """An answer as both a dry run and the real call can give it: an event without its place in the store."""
    return encoded(answer) if isinstance(answer, Event) else answer


async def _ids_of_mail(terrarium: Terrarium, name: str) -> list[str]:
    return [event.id async for event in terrarium.mail(name)]


TestRulesOfTheGraph = RulesOfTheGraph.TestCase
if os.environ.get("GLASSHOUSE_HYPOTHESIS", "ci") == "ci":
    TestRulesOfTheGraph.settings = settings(max_examples=120, stateful_step_count=40)
