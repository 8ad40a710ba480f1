"""Creatures whose manifests name no wants: the talk takes them from the personas, else it is about the goal."""

from __future__ import annotations

from functools import cache

import pytest

from glasshouse.events.event import Event
from glasshouse.troupe.talk.understanding import understood
from glasshouse.turns.moment.character import Character
from glasshouse.turns.moment.playbill import Playbill
from tests.contracts.offline_stage import OfflineStage, judged

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
    "wardrobe": (
        (
            Character(name="elder", persona="Elder is the older sister. She hid in it once and has not opened it since."),
            Character(name="younger", persona="Younger is her brother and has brought a saw."),
            Character(name="neighbour", persona="Neighbour waxed the wardrobe every spring for nothing."),
        ),
        "Decide what to do with the wardrobe: lower it on a rope, saw it up, or leave it behind for the tenants.",
        "The flat is empty except for the wardrobe.",
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
def test_a_talk_that_falls_silent_comes_to_its_vote(seed: int) -> None:
    moves = [move for _, move in moves_of("wardrobe", seed)]

    assert "call" in moves
    assert moves.count("count") == 1
    assert moves.index("call") < moves.index("count")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_want_of_a_persona_is_asked_help_for(seed: int) -> None:
    said = {move for actor, move in moves_of("choir", seed) if actor == "bass"}

    assert "ask-help" in said


SINGERS = (
    Character(name="anna", persona="Sings in the bath."),
    Character(name="bert", persona="Sings to his goat."),
    Character(name="judge", role="judge", persona="Fair and hurried.", may_emit=("judge.verdict",)),
)
SONG = Playbill(goal="Sing the best song. The judge picks a winner.", competition=judged("anna", "bert"))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_judge_finds_again_only_when_contestants_have_spoken_since(seed: int) -> None:
    stage = OfflineStage(SINGERS, SONG, seed)
    stage.says("anna", "Here is my song. I have never taken more care with one.")
    stage.says("bert", "You did that well, Anna, and I say it as a rival.")
    first = stage.act("judge")
    assert first is not None
    assert first.kind == "judge.verdict"

    again = stage.act("judge")
    stage.says("bert", "This is my song, and it may speak for itself.")
    stage.says("anna", "That is not nothing, I admit.")
    after = stage.act("judge")

    assert again is None
    assert after is not None
    assert after.kind == "judge.verdict"
