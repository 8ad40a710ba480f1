"""Sight: a change of the graph shows in the prompts of those it concerns, and in nobody else's."""

import random
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.events.payloads import creatures_named_in
from glasshouse.turns.heard.surroundings import channels_seen_max, members_looked_at_max, neighbours_max
from glasshouse.world.decisions.intents import AddWire
from tests.rules.turns.houses_by_hand import House, member, opening, random_step
from tests.rules.turns.prompts_by_hand import moment_in, prompt_in

ABOUT_THE_WHOLE = (kinds.TOPOLOGY_CHANGED, kinds.CREATURE_SESSION_ATTACHED, kinds.SESSION_FORKED)
"""What tells of graphs and sessions, which no creature sees."""


def chain(*names: str) -> House:
    """Creatures of which each speaks with the next on a channel of their own."""
    house = House()
    house.add_all(*names)
    for first, other in pairwise(names):
        house.connect(first, other, f"{first}-{other}", both=True)
    return house


def changed(house: House, dice: random.Random) -> list[Event]:
    """A random change of the shape of the world, or a line; what was written."""
    alive = list(house.world.creatures)
    first, other = dice.choice(alive), dice.choice(alive)
    length = len(house.ledger)
    if dice.random() < 0.2 and first != other and house.graph_of(first) == house.graph_of(other):
        house.do(AddWire(first, other))
    else:
        random_step(house, dice)
    return house.ledger[length:]


def story(seed: int) -> tuple[House, random.Random]:
    dice, house = random.Random(seed), House()
    house.do(
        opening(
            "r-1",
            member("heron", is_root=True),
            member("ada"),
            member("bo", on=["stage", "den"]),
            channels=["stage", "den"],
        )
    )
    for _ in range(60):
        random_step(house, dice)
    return house, dice


def around_by_hand(house: House, name: str) -> set[str]:
    """Whoever shares a channel with a creature or is at the other end of a wire, and itself."""
    topology, world = house.world.topology, house.world
    near = {other for c in topology.channels_of.get(name, {}) for other in topology.members_of[c]}
    wires = [world.wires[wire_id] for wire_id in world.wires_of.get(name, {})]
    return near | {end for wire in wires for end in (wire.source, wire.target)} | {name}


@given(st.integers(0, 10**9))
def test_what_happens_in_another_graph_leaves_every_prompt_byte_for_byte_the_same(seed: int) -> None:
    house, dice = story(seed)

    for _ in range(30):
        before = {name: (house.graph_of(name), prompt_in(house, name)) for name in house.world.creatures}
        events = changed(house, dice)
        touched = {event.graph_id for event in events}
        for event in events:
            touched |= {*event.payload.get("old_graph_ids", ()), *event.payload.get("new_graph_ids", ())}
        for name in before.keys() & house.world.creatures.keys():
            graph_id, prompt = before[name]
            if graph_id not in touched and house.graph_of(name) not in touched:
                assert prompt_in(house, name) == prompt


@given(st.integers(0, 10**9))
def test_what_happens_out_of_sight_in_ones_own_graph_leaves_the_prompt_byte_for_byte_the_same(
    seed: int,
) -> None:
    house, dice = story(seed)

    for _ in range(30):
        before = {
            name: (around_by_hand(house, name), prompt_in(house, name), moment_in(house, name).handles)
            for name in house.world.creatures
            if name != "heron"
        }
        channels = {name: set(house.world.topology.channels_of.get(name, {})) for name in before}
        events = changed(house, dice)
        if any(not event.is_engine for event in events):
            continue
        local = [event for event in events if event.kind not in ABOUT_THE_WHOLE]
        named = frozenset[str]().union(*map(creatures_named_in, local))
        spoken_of = {event.payload.get("channel_id") for event in local}
        renamed = {event.payload["creature"] for event in local if event.kind == kinds.CREATURE_RENAMED}
        for name in before.keys() & house.world.creatures.keys():
            near, prompt, known = before[name]
            near |= around_by_hand(house, name)
            if not near & named and not channels[name] & spoken_of and not renamed & known.keys():
                assert prompt_in(house, name) == prompt


CONCERNS: dict[str, tuple[Callable[[House], object], str]] = {
    "a newcomer on my channel": (
        lambda house: (house.add("eve"), house.connect("eve", "bo", "bo-cy")),
        "eve (worker, on bo-cy)",
    ),
    "one that goes": (lambda house: house.remove("ada"), "With you: cy (worker, on bo-cy)."),
    "a wire to me": (lambda house: house.wire("dee", "bo"), "You are handed the lines of: dee."),
    "a wire from me": (lambda house: house.wire("bo", "dee"), "Your lines are handed to: dee."),
    "a channel of mine that closes": (
        lambda house: house.close(house.graph_of("bo"), "ada-bo"),
        "You hear: bo-cy.",
    ),
    "a channel that I join": (
        lambda house: house.connect("bo", "dee", "hall", both=True),
        "You speak on: ada-bo, bo-cy, hall.",
    ),
}


@pytest.mark.parametrize("name", CONCERNS)
def test_what_concerns_a_creature_shows(name: str) -> None:
    house = chain("ada", "bo", "cy", "dee")
    change, shown = CONCERNS[name]
    before = prompt_in(house, "bo")

    change(house)

    assert shown not in before
    assert shown in prompt_in(house, "bo")


FAR_AWAY: dict[str, Callable[[House], object]] = {
    "one is born there": lambda house: house.add("fay", graph=house.graph_of("stranger")),
    "two are wired": lambda house: house.wire("dee", "eve"),
    "one goes and the graph splits": lambda house: house.remove("dee"),
    "one rests": lambda house: house.stop("eve"),
    "a channel opens": lambda house: house.open(house.graph_of("ada"), "attic"),
    "a channel closes": lambda house: house.close(house.graph_of("ada"), "dee-eve"),
    "another graph joins at the far end": lambda house: house.connect("eve", "stranger", "road"),
}


@pytest.mark.parametrize("name", FAR_AWAY)
def test_what_happens_at_the_far_end_of_the_graph_does_not_show(name: str) -> None:
    house = chain("ada", "bo", "cy", "dee", "eve")
    house.add("stranger")
    house.say("eve", "Can you hear me?")
    before = prompt_in(house, "ada")

    FAR_AWAY[name](house)

    assert "Can you hear me?" in before
    assert prompt_in(house, "ada") == before


def test_one_who_parted_keeps_the_name_it_had_whatever_becomes_of_it() -> None:
    house = chain("ada", "bo")
    for name in ("dee", "eve", "bo"):
        house.add(name)
    house.connect("dee", "eve")
    house.connect("dee", "bo~2")
    house.say("bo", "Remember me.")
    house.disconnect("ada", "bo")
    house.disconnect("bo", "ada")
    before = prompt_in(house, "ada")

    house.connect("dee", "bo")
    renamed = house.creature("bo").handle
    after_rename = prompt_in(house, "ada")
    house.remove("bo")

    assert renamed == "bo~2"
    assert '] bo (cast, agent.spoke): "Remember me."' in before
    assert prompt_in(house, "ada") == after_rename == before


def test_one_who_is_gone_keeps_its_handle_also_where_that_is_not_its_id() -> None:
    house = chain("ada", "bo")
    house.add("bo", handle="old-bo", graph=house.graph_of("ada"))
    house.say("bo~2", "Farewell.", channel="ada-bo")

    house.remove("bo~2")

    assert '] old-bo (cast, agent.spoke): "Farewell."' in prompt_in(house, "ada")
    assert "bo~2" not in prompt_in(house, "ada")


def test_sight_is_bounded_however_large_the_graph_is() -> None:
    house = House()
    house.do(opening("r-1", member("heron", is_root=True), member("ada")))
    for number in range(40):
        house.add(f"worker{number}", parent="heron", graph=house.graph_of("heron"))
        house.connect("ada", f"worker{number}", f"lane{number}")
        house.wire("heron", f"worker{number}")

    around = moment_in(house, "heron").around

    assert len(around.neighbours) == neighbours_max
    assert len(around.listens) <= channels_seen_max
    assert len(around.children) <= neighbours_max
    assert (around.channels_heard_count, around.children_count) == (80, 40)
    assert around.neighbours_count <= members_looked_at_max
    assert (
        "Your children: worker0, worker1, worker2, worker3, worker4, worker5, worker6, worker7, 32 more."
        in (prompt_in(house, "heron"))
    )


def test_whoever_speaks_up_in_a_crowd_is_known_by_name_from_then_on() -> None:
    house, names = House(), [f"worker{number}" for number in range(members_looked_at_max + 1)]
    house.do(opening("r-1", *map(member, names)))
    house.say(names[0], "Who is there?", channel="stage")
    assert names[-1] not in moment_in(house, names[0]).handles

    house.say(names[-1], "I am.", channel="stage")

    assert moment_in(house, names[0]).handles[names[-1]] == names[-1]
