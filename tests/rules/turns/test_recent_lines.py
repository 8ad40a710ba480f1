"""The tables: what a creature has heard is what it may see of the whole history, and nothing else moves it."""

import random
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.turns.heard import recent_lines
from glasshouse.turns.heard.recent_lines import heard_lines_max
from glasshouse.world.hearing.hearing import visible_to
from tests.rules.turns.houses_by_hand import House, random_step
from tests.rules.turns.moments_by_hand import lines_of
from tests.rules.turns.prompts_by_hand import moment_in

steps_in_a_story = 140


def seen_by_force(
    house: House, name: str, upto: int | None = None, lines_max: int = heard_lines_max
) -> list[Event]:
    """Every line of the ledger that a creature may see, in the order of histories, its public part."""
    creature, sessions = house.creature(name), house.world.sessions
    lines = [
        replace(event, private=None, sealed=None, model=None)
        for event in house.ledger
        if event.kind not in kinds.NO_LINES and visible_to(creature, event)
    ]
    lines = [line for line in lines if upto is None or line.lamport <= upto]
    lines.sort(key=lambda line: (line.lamport, sessions[line.session_id].segment.ordinal, line.seq))
    return lines[-lines_max:]


def heard(house: House, name: str, upto: int | None = None) -> list[Event]:
    return house.heard_by(house.creature(name), upto)[0].events


def ids(events: list[Event]) -> list[str]:
    return [event.id for event in events]


@given(st.integers(0, 10**9))
def test_what_is_heard_is_what_may_be_seen_of_the_whole_history(seed: int) -> None:
    dice, house = random.Random(seed), House()
    for _ in range(steps_in_a_story):
        random_step(house, dice)

    for name in house.world.creatures:
        assert ids(heard(house, name)) == ids(seen_by_force(house, name)), name


@given(st.integers(0, 10**9))
def test_so_it_is_for_every_point_of_the_past(seed: int) -> None:
    dice, house = random.Random(seed), House()
    for _ in range(60):
        random_step(house, dice)

    for name in house.world.creatures:
        for upto in range(0, max(event.lamport for event in house.ledger) + 1, 3):
            assert ids(heard(house, name, upto)) == ids(seen_by_force(house, name, upto))


def recalled_by_hand(house: House, name: str) -> list[Event]:
    """The plain computation from the tables: the newest lines of each place, those it may see, in order, the newest."""
    creature, said = house.creature(name), house.tables.said
    graphs = {stay.graph_id for stay in creature.stays}
    lines: dict[str, Event] = {}
    for heard_at in said.keys() & {*creature.ears, *graphs, name}:
        for event in said[heard_at].lines[-recent_lines.heard_lines_max :]:
            if visible_to(creature, event) and (
                heard_at in creature.ears or event.channel_id not in creature.ears
            ):
                lines[event.id] = event
    in_order = sorted(lines.values(), key=lambda event: recent_lines._time_of(house.world, event))
    return in_order[-recent_lines.heard_lines_max :]


@given(st.integers(0, 10**9))
def test_so_it_is_where_most_lines_are_too_old_to_be_recalled(seed: int) -> None:
    dice, house = random.Random(seed), House()
    with (
        patch.object(recent_lines, "heard_lines_max", 4),
        patch.object(recent_lines, "table_lines_max", 8),
    ):
        for _ in range(steps_in_a_story):
            random_step(house, dice)
            name = dice.choice([*house.world.creatures])
            creature = house.creature(name)
            upto = dice.choice([None, dice.randint(0, house.ledger[-1].lamport)])
            recalled, before = house.heard_by(creature, upto)
            with patch.object(recent_lines, "_was_there_for_all", return_value=False):
                line_by_line, before_these = house.heard_by(creature, upto)

            assert (ids(recalled.events), before) == (ids(line_by_line.events), before_these)
            if upto is None:
                assert ids(recalled.events) == ids(recalled_by_hand(house, name))


def trio() -> House:
    house = House()
    house.add_all("ada", "bo", "cy")
    house.connect("ada", "bo", "talk", both=True)
    house.connect("ada", "cy", "talk", both=True)
    return house


def test_who_comes_late_sees_what_was_said_unless_the_channel_keeps_its_past() -> None:
    house = House()
    house.add_all("ada", "bo", "cy")
    graph = house.graph_of("ada")
    house.open(graph, "open", "full")
    house.open(graph, "closed", "since_joined")
    for channel in ("open", "closed"):
        house.connect("ada", "bo", channel, both=True)
        house.say("ada", f"early on {channel}", channel=channel)
        house.connect("ada", "cy", channel)
        house.say("ada", f"late on {channel}", channel=channel)

    texts = [event.payload["text"] for event in heard(house, "cy")]
    assert texts == ["early on open", "late on open", "late on closed"]


def test_only_the_public_part_of_a_line_is_kept() -> None:
    house = trio()
    event = house.say("ada", "aloud", channel="talk")
    house.tables.apply(
        house.world, replace(event, private={"thought": "x"}, sealed={"to": ["bo"], "facts": {"w": 1}})
    )

    assert all((line.private, line.sealed, line.model) == (None, None, None) for line in heard(house, "cy"))
    assert house.tables.dealt == {"bo": {"w": 1}}


def test_thoughts_are_their_own_actors_alone() -> None:
    house = House()
    for name in ("ada", "bo"):
        house.add(name, emits=[kinds.AGENT_SPOKE, kinds.AGENT_THOUGHT])
    house.connect("ada", "bo", "talk", both=True)

    house.say("ada", "quietly", kind=kinds.AGENT_THOUGHT)

    assert [event.payload["text"] for event in heard(house, "ada")] == ["quietly"]
    assert heard(house, "bo") == []


def test_a_creature_recalls_so_many_lines_and_knows_how_many_came_before() -> None:
    house = trio()
    for n in range(heard_lines_max * 3 + 7):
        house.say("ada", f"{n}", channel="talk")

    recent, before = house.heard_by(house.creature("bo"))
    lines = recent.events

    assert (len(lines), before) == (heard_lines_max, 2 * heard_lines_max + 7)
    assert lines[-1].payload["text"] == f"{heard_lines_max * 3 + 6}"


@pytest.mark.parametrize("history", ["full", "since_joined"])
def test_what_is_said_on_a_channel_after_it_was_left_moves_nothing(history: str) -> None:
    house = House()
    house.add_all("ada", "bo", "cy")
    house.open(house.graph_of("ada"), "talk", history)  # type: ignore[arg-type]
    house.connect("ada", "bo", "talk", both=True)
    house.connect("ada", "cy", "talk", both=True)
    house.connect("cy", "bo", "side", both=True)
    house.say("ada", "heard by all", channel="talk")
    house.disconnect("ada", "bo", "talk")
    before = house.heard_by(house.creature("bo"))

    house.say("cy", "not for bo", channel="talk")

    assert house.heard_by(house.creature("bo")) == before


@given(st.integers(0, 10**9))
def test_with_few_lines_none_came_before(seed: int) -> None:
    dice, house = random.Random(seed), House()
    for _ in range(steps_in_a_story):
        random_step(house, dice)

    for name in house.world.creatures:
        assert house.heard_by(house.creature(name))[1] == 0


@given(st.integers(0, 10**9))
def test_all_lines_that_were_ever_heard_are_counted(seed: int) -> None:
    dice, house = random.Random(seed), House()
    with patch.multiple(recent_lines, heard_lines_max=8, table_lines_max=10_000):
        for _ in range(steps_in_a_story):
            random_step(house, dice)

        for name in house.world.creatures:
            creature, everything = house.creature(name), seen_by_force(house, name, lines_max=10_000)
            # What it said on a channel before it listened there since it joined is recalled, and not counted.
            uncounted = [
                event
                for event in everything
                if event.channel_id in creature.ears
                and not visible_to(creature, replace(event, actor="other"))
            ]
            recent, before = house.heard_by(creature)
            counted = len(everything) - len(uncounted) - len(recent.events)
            assert (name, before) == (name, max(0, counted))


@given(st.integers(0, 10**9))
def test_a_line_keeps_its_number_as_long_as_it_is_recalled(seed: int) -> None:
    dice, house = random.Random(seed), House()
    for name in ("ada", "bo"):
        house.add(name, emits=[kinds.AGENT_SPOKE, kinds.AGENT_THOUGHT])
    house.connect("ada", "bo", "talk", both=True)
    refs: dict[tuple[str, str], str] = {}

    with patch.multiple(recent_lines, heard_lines_max=8, table_lines_max=16):
        for number in range(60):
            name = dice.choice(("ada", "bo"))
            match dice.randrange(8):
                case 0 if number < 40:  # The table of a graph is never full.
                    house.inject(house.graph_of("ada"))
                case 1:
                    house.say(name, "hm", kind=kinds.AGENT_THOUGHT)
                case _:
                    house.say(name, f"line {number}", channel="talk")
            for hearer in ("ada", "bo"):
                for line in lines_of(moment_in(house, hearer)):
                    assert refs.setdefault((hearer, line.event_id), line.ref) == line.ref

    for hearer in ("ada", "bo"):
        numbers = [int(ref) for (name, _), ref in refs.items() if name == hearer]
        assert numbers == [*range(1, len(numbers) + 1)]
