"""Hearing: what a creature may see, and since when."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.events.payloads import History
from glasshouse.world.hearing.hearing import hearers_of, visible_to
from glasshouse.world.state.topology import LISTEN, SEND
from tests.rules.turns.houses_by_hand import member, opening
from tests.rules.worlds_by_hand import HandWorld, chain, table


def seen_by(made: HandWorld, creature: str) -> list[str]:
    """The texts of the lines that a creature may see, in the order they were said."""
    return [
        event.payload["text"]
        for event in made.ledger
        if event.kind == kinds.AGENT_SPOKE and visible_to(made.creature(creature), event)
    ]


def sees(made: HandWorld, creature: str, event: Event) -> bool:
    return visible_to(made.creature(creature), event)


def test_a_line_is_seen_by_its_actor_and_every_listener_and_nobody_else() -> None:
    made = chain("ada", "bo", "cy")

    line = made.say("ada", channel="ada-bo")

    assert [sees(made, name, line) for name in ("ada", "bo", "cy")] == [True, True, False]


def test_who_hears_is_said_by_the_edges_of_the_channel_and_the_members_and_roots_of_the_graph() -> None:
    made = HandWorld()
    made.add_all("ada", "bo", "cy")
    made.connect("ada", "cy", "talk")
    on_channel, in_graph = made.say("ada", channel="talk"), made.say("ada")
    thought = replace(in_graph, kind=kinds.AGENT_THOUGHT)
    members, edges, roots = {"ada": None, "cy": None, "heron": None}, {"ada": SEND, "cy": LISTEN}, ["heron"]

    assert list(hearers_of(on_channel, members, edges, roots)) == ["cy", "heron"]
    assert list(hearers_of(in_graph, members, edges, roots)) == list(members)
    assert list(hearers_of(thought, members, edges, roots)) == []


def test_who_only_sends_on_a_channel_does_not_hear_it() -> None:
    made = HandWorld()
    made.add_all("ada", "bo", "cy")
    made.connect("ada", "cy", "talk")
    made.connect("bo", "cy", "talk")

    line = made.say("ada", channel="talk")

    assert not sees(made, "bo", line)
    assert sees(made, "cy", line)


def test_a_creature_sees_its_own_acts_wherever_it_goes() -> None:
    made = chain("ada", "bo", "cy")
    there, nowhere = made.say("bo", channel="bo-cy"), made.say("bo")

    made.disconnect("bo", "cy")
    made.close(made.graph_of("bo"), "ada-bo")

    assert sees(made, "bo", there)
    assert sees(made, "bo", nowhere)


def newcomer_at_table(history: History) -> HandWorld:
    """Dee joins between the lines `early` and `late`, leaves before `gone` and is back before `back`."""
    made = table("ada", "bo", history=history)
    made.open(made.graph_of("ada"), "porch")
    made.add("dee", graph=made.graph_of("ada"))
    made.say("ada", "early", channel="stage")
    made.connect("ada", "dee", "stage")
    made.say("ada", "late", channel="stage")
    made.disconnect("ada", "dee", "stage")
    made.connect("ada", "bo", "stage")
    made.say("ada", "gone", channel="stage")
    return made


@pytest.mark.parametrize(
    ("history", "while_gone", "when_back"),
    [
        ("full", ["early", "late"], ["early", "late", "gone", "back"]),
        ("since_joined", ["late"], ["late", "back"]),
    ],
)
def test_leaving_and_coming_back_shows_what_the_channels_history_allows(
    history: History, while_gone: list[str], when_back: list[str]
) -> None:
    made = newcomer_at_table(history)
    assert seen_by(made, "dee") == while_gone

    made.connect("ada", "dee", "stage")
    made.say("ada", "back", channel="stage")

    assert seen_by(made, "dee") == when_back
    assert seen_by(made, "bo") == ["early", "late", "gone", "back"]


def test_after_a_channel_is_closed_what_was_heard_there_stays_seen() -> None:
    made = table("ada", "bo", history="since_joined")
    made.connect("ada", "bo", "other", both=True)
    line = made.say("ada", channel="stage")

    made.close(made.graph_of("ada"), "stage")

    assert sees(made, "bo", line)


def test_a_stop_and_a_start_break_no_hearing() -> None:
    made = table("ada", "bo", history="since_joined")
    made.stop("bo")
    line = made.say("ada", channel="stage")
    assert sees(made, "bo", line)

    made.start("bo")

    assert sees(made, "bo", line)


def test_a_merge_and_a_split_break_no_hearing_on_a_channel() -> None:
    made = table("ada", "bo", history="since_joined")
    made.say("ada", "before", channel="stage")
    made.add("cy")
    made.connect("cy", "ada", "bridge")
    made.say("ada", "merged", channel="stage")
    made.disconnect("cy", "ada", "bridge")
    made.say("ada", "split", channel="stage")

    assert seen_by(made, "bo") == ["before", "merged", "split"]
    assert seen_by(made, "cy") == []


def test_who_joins_by_a_merge_hears_the_whole_of_a_full_channel_and_nothing_else_of_the_past() -> None:
    made = table("ada", "bo")
    made.say("ada", "on stage", channel="stage")
    made.say("ada", "to all")
    made.add("cy")

    made.connect("ada", "cy", "stage")

    assert seen_by(made, "cy") == ["on stage"]


def test_a_channel_less_line_is_seen_by_all_who_are_in_the_graph_when_it_is_said() -> None:
    made = chain("ada", "bo", "cy")
    made.add("dee")

    line = made.say("ada")

    assert [sees(made, name, line) for name in ("bo", "cy", "dee")] == [True, True, False]


def test_channel_less_lines_follow_membership_through_a_split_and_a_merge_back() -> None:
    made = chain("ada", "bo", "cy")
    made.say("ada", "together")
    made.disconnect("bo", "cy")
    made.say("ada", "among two")
    made.say("cy", "alone")
    made.connect("bo", "cy")
    made.say("ada", "again together")

    assert seen_by(made, "bo") == ["together", "among two", "again together"]
    assert seen_by(made, "cy") == ["together", "alone", "again together"]


def test_of_a_split_everybody_sees_the_end_and_only_the_beginning_of_their_own_part() -> None:
    made = chain("ada", "bo", "cy")

    split = made.disconnect("bo", "cy")

    end = [event for event in split.events if event.kind == kinds.TOPOLOGY_CHANGED]
    begins = {event.graph_id: event for event in split.events if event.kind == kinds.SESSION_FORKED}
    for name in ("ada", "bo", "cy"):
        assert sees(made, name, end[0])
        assert {graph for graph, event in begins.items() if sees(made, name, event)} == {made.graph_of(name)}


def test_who_is_added_to_a_graph_sees_it_from_its_own_birth_on() -> None:
    made = chain("ada", "bo")
    made.say("ada", "before")
    made.add("cy", graph=made.graph_of("ada"))
    made.say("ada", "after")

    birth = next(event for event in made.ledger if event.payload.get("creature") == "cy")

    assert seen_by(made, "cy") == ["after"]
    assert sees(made, "cy", birth)


class Witness:
    """Knows who listened where and who was in which graph when each event was written, without any clock."""

    def __init__(self) -> None:
        self.made = HandWorld()
        self.listened: dict[tuple[str, str], list[tuple[int, int | None]]] = {}
        self.members_at: list[frozenset[str]] = []
        self.forgetful: set[str] = set()
        self.roots: set[str] = set()

    def do(self, change: Callable[[], object]) -> None:
        made = self.made
        before = {graph.id: frozenset(graph.creatures) for graph in made.world.graphs.values()}
        old_sessions = set(made.world.sessions)
        already = len(made.ledger)
        change()
        after = {graph.id: frozenset(graph.creatures) for graph in made.world.graphs.values()}
        born = frozenset(made.world.creatures).difference(*before.values())
        for event in made.ledger[already:]:
            self._note_ears(event)
            was_open = event.session_id in old_sessions
            members = (before[event.graph_id] | born) if was_open else after.get(event.graph_id, frozenset())
            self.members_at.append(members)

    def _note_ears(self, event: Event) -> None:
        now = len(self.members_at)
        payload = event.payload
        if payload.get("history") == "since_joined":
            self.forgetful.add(payload["channel_id"])
        elif event.kind == kinds.CHANNEL_JOINED and payload["direction"] == "listen":
            self.listened.setdefault((payload["creature"], payload["channel_id"]), []).append((now, None))
        elif event.kind == kinds.CHANNEL_LEFT and payload["direction"] == "listen":
            self._close_ear((payload["creature"], payload["channel_id"]), now)
        elif event.kind == kinds.CHANNEL_CLOSED:
            for creature, channel in self.listened:
                if channel == payload["channel_id"]:
                    self._close_ear((creature, channel), now)

    def _close_ear(self, ear: tuple[str, str], now: int) -> None:
        since, until = self.listened[ear][-1]
        self.listened[ear][-1] = (since, now if until is None else until)

    def expects(self, creature: str, n: int) -> bool:
        event = self.made.ledger[n]
        if event.actor == creature:
            return True
        if event.channel_id is None:
            return creature in self.members_at[n]
        if creature in self.roots and creature in self.members_at[n]:
            return True
        spans = self.listened.get((creature, event.channel_id), [])
        if event.channel_id not in self.forgetful:
            return any(until is None or n < until for _, until in spans)
        return any(since < n and (until is None or n < until) for since, until in spans)


def play(witness: Witness, choice: int) -> None:
    """One random change or line."""
    made = witness.made
    creatures = list(made.world.creatures)
    first, other = creatures[choice // 11 % len(creatures)], creatures[choice // 131 % len(creatures)]
    sends = [c for c, bits in made.world.topology.channels_of.get(first, {}).items() if bits & 2]
    listeners = [n for c in sends for n, bits in made.world.topology.members_of[c].items() if bits & 1]
    match choice % 11:
        case 0:
            witness.do(lambda: made.add("ada"))
        case 1:
            witness.do(lambda: made.add("ada", graph=made.graph_of(first)))
        case 2 if first != other:
            name = f"hall-{len(made.ledger)}"
            witness.do(lambda: made.open(made.graph_of(first), name, "since_joined"))
            witness.do(lambda: made.connect(first, other, name, both=True))
        case 3 | 4 if first != other:
            witness.do(lambda: made.connect(first, other))
        case 5 if listeners and listeners[0] != first:
            witness.do(lambda: made.disconnect(first, listeners[0]))
        case 6 if sends:
            witness.do(lambda: made.close(made.graph_of(first), sends[0]))
        case 7 if len(creatures) > 3:
            witness.do(lambda: made.remove(first))
        case 8 | 9 if sends:
            witness.do(lambda: made.say(first, channel=sends[choice // 17 % len(sends)]))
        case _:
            witness.do(lambda: made.say(first))


@given(st.lists(st.integers(0, 1_000_000), min_size=12, max_size=40))
def test_what_anybody_may_see_is_what_a_witness_without_clocks_says(choices: list[int]) -> None:
    witness = Witness()
    for _ in range(3):
        witness.do(lambda: witness.made.add("ada"))
    for choice in choices:
        play(witness, choice)

    for name, creature in witness.made.world.creatures.items():
        seen = [visible_to(creature, event) for event in witness.made.ledger]
        expected = [witness.expects(name, n) for n in range(len(seen))]

        assert seen == expected, name


@given(st.lists(st.integers(0, 1_000_000), min_size=12, max_size=40))
def test_what_a_root_may_see_is_what_a_witness_without_clocks_says(choices: list[int]) -> None:
    witness = Witness()
    for number in range(2):
        cast = opening(f"r-{number}", member("heron", is_root=True), member("ada"))
        witness.do(lambda cast=cast: witness.made.do(cast))  # type: ignore[misc]
    witness.roots = {"heron", "heron~2"}
    begun = len(witness.made.ledger)
    for choice in choices:
        play(witness, choice)

    for name in witness.roots & witness.made.world.creatures.keys():
        creature = witness.made.creature(name)
        seen = [visible_to(creature, event) for event in witness.made.ledger]
        expected = [witness.expects(name, n) for n in range(len(seen))]

        assert seen[begun:] == expected[begun:], name
