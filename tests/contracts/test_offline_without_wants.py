"""Creatures whose manifests name no wants: the talk takes them from the personas, else it is about the goal."""

from __future__ import annotations

from functools import cache

import pytest

from glasshouse.events.event import Event
from glasshouse.troupe.talk.understanding import understood
from glasshouse.turns.moment.character import Character
from glasshouse.turns.moment.playbill import Playbill
from tests.contracts.offline_stage import OfflineStage

SEEDS = range(6)
turns_played = 8
lines_min = 12
KENNEL = (
    Character(name="setter", persona="A setter who is always cold. He is afraid of baths."),
    Character(name="spitz", persona="A spitz with a title. She accuses everybody."),
    Character(name="poodle", persona="A poodle who heard everything. She was promised a red collar."),
    Character(
        name="boxer",
        persona="A boxer, 9, who chewed the slipper because it smelled of cheese. He hopes nobody asks him.",
    ),
)
STAGES = {
    "slipper": (KENNEL, "Find out who chewed the slipper before the walk.", "Four dogs wait by the door."),
    "choir": (
        (
            Character(name="alto", persona="The alto. Proud of her long breath, easily hurt."),
            Character(name="bass", persona="The bass. He wants to sing the old psalm and go home."),
            Character(name="tenor", persona="A tenor, loud and honest."),
        ),
        "Choose the last song for Sunday.",
        "The church is cold. The organ has a cough.",
    ),
    "mill": (
        (
            Character(name="clerk", persona="Runs the numbers. Calm, exact, thinks that borrowing is the worst."),
            Character(name="baker", persona="A baker who never sleeps."),
            Character(name="heir", persona="The heir. Has already talked to a buyer without telling anybody."),
        ),
        "Decide whether to sell the mill, borrow money or bake at night.",
        "The mill has stood still since Monday.",
    ),
}  # fmt: skip


@cache
def lines_of(name: str, seed: int) -> tuple[Event, ...]:
    """What the cast of a stage says in a whole play."""
    cast, goal, scene = STAGES[name]
    stage = OfflineStage(cast, Playbill(goal=goal), seed)
    stage.observes(scene)
    stage.play(turns_played)
    return tuple(event for event in stage.events if event.kind == "agent.spoke")


def moves_of(name: str, seed: int) -> list[tuple[str, str]]:
    """Who said which moves, in their order."""
    return [
        (event.actor, said.move)
        for event in lines_of(name, seed)
        for said in understood(event.payload["text"])
    ]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", STAGES)
def test_everybody_speaks_and_the_talk_goes_on(name: str, seed: int) -> None:
    lines = lines_of(name, seed)

    assert len(lines) >= lines_min
    assert {event.actor for event in lines} == {character.name for character in STAGES[name][0]}


@pytest.mark.parametrize("seed", SEEDS)
def test_whoever_did_it_evades_the_question_and_owns_up_at_last(seed: int) -> None:
    moves = moves_of("slipper", seed)
    texts = [event.payload["text"] for event in lines_of("slipper", seed)]

    asked = moves.index(next(entry for entry in moves if entry[1] == "ask-culprit"))
    confessed = [at for at, entry in enumerate(moves) if entry == ("boxer", "confess")]
    assert len(confessed) == 1
    assert asked < confessed[0]
    assert {("boxer", "deny-it"), ("boxer", "deny-plain")}.isdisjoint(moves)
    assert not any("I am a boxer, 9, who chewed" in text for text in texts)
    assert not any(move == "close-culprit" for _, move in moves[confessed[0] :])


@pytest.mark.parametrize("seed", SEEDS)
def test_a_vote_comes_to_something_though_nobody_wants_a_deed(seed: int) -> None:
    said = [
        (event.actor, said)
        for event in lines_of("mill", seed)
        for said in understood(event.payload["text"])
        if said.move in {"stand-for", "count"}
    ]

    assert "count" in {entry.move for _, entry in said}
    # Whose persona speaks against it is not for it.
    assert ("clerk", "we borrow money") not in [(actor, entry.slots.get("option")) for actor, entry in said]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_want_of_a_persona_is_asked_help_for(seed: int) -> None:
    said = {move for actor, move in moves_of("choir", seed) if actor == "bass"}

    assert "ask-help" in said
