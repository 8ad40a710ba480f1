"""The troupe listens: what was said is taken up, what was not said is not."""

from __future__ import annotations

import pytest

from tests.contracts.offline_stage import GARDEN, OfflineStage
from tests.simulation.seeds import rig_seeds

NONCE = "brimfold"
FORTIES = rig_seeds(1, plays=10)
"""The plays in forties: forty in every run of the tests, and four hundred new ones in `make soak`."""
TEMPLATES = (
    "Somebody left a brass brimfold on the path.",
    "A brimfold hums behind the curtain!",
    "Has anyone seen my brimfold?",
    "The wind carries a smell of brimfold and old rope.",
    "There is brimfold soup again, and the lamp is low.",
    "Quick, hide the three brimfolds before the gramophone wakes.",
)


def opened(seed: int) -> OfflineStage:
    stage = OfflineStage(seed=seed)
    stage.observes("Dusk in the wood. A kettle that remembers the sea drops from the canopy.")
    stage.play(2)
    return stage


def seeds_in(forties: int) -> range:
    return range(forties * 40, forties * 40 + 40)


def taken_up_after(stage: OfflineStage, *, without: str = "") -> bool:
    """Whether anybody says the word within three turns."""
    for _ in range(3):
        for creature in stage.cast:
            event = stage.act(creature.name, without=without)
            if event is not None and NONCE in event.payload["text"]:
                return True
    return False


@pytest.mark.parametrize("forties", FORTIES)
def test_a_visitors_word_is_taken_up_by_everybody_who_speaks_next(forties: int) -> None:
    deaf = []
    for seed in seeds_in(forties):
        stage = opened(seed)
        stage.disturb(TEMPLATES[seed % len(TEMPLATES)])
        deaf += [
            (seed, creature.name, text)
            for creature in stage.cast
            if NONCE not in (text := stage.reply(creature.name)["text"])
        ]

    assert deaf == []


@pytest.mark.parametrize("forties", FORTIES)
def test_a_castmates_word_is_taken_up_within_three_turns(forties: int) -> None:
    stages = [opened(seed) for seed in seeds_in(forties)]
    for seed, stage in enumerate(stages):
        stage.says(stage.cast[seed % 4].name, TEMPLATES[seed % len(TEMPLATES)])

    heard = [taken_up_after(stage) for stage in stages]

    assert sum(heard) == len(heard)


@pytest.mark.parametrize("by_visitor", [True, False])
@pytest.mark.parametrize("forties", FORTIES)
def test_a_word_that_was_cut_from_the_prompt_is_never_said(forties: int, by_visitor: bool) -> None:
    stages = [opened(seed) for seed in seeds_in(forties)]
    for seed, stage in enumerate(stages):
        text = TEMPLATES[seed % len(TEMPLATES)]
        if by_visitor:
            stage.disturb(text)
        else:
            stage.says(stage.cast[seed % 4].name, text)

    heard = [taken_up_after(stage, without=NONCE) for stage in stages]

    assert sum(heard) == 0


@pytest.mark.parametrize("forties", FORTIES)
def test_another_line_by_a_castmate_gets_another_answer(forties: int) -> None:
    same = []
    for seed in seeds_in(forties):
        first, other = opened(seed), opened(seed)
        first.says("apron", "I found a teapot under the old gate.")
        other.says("apron", "The moon has eaten my left boot.")
        if first.reply("hollow")["text"] == other.reply("hollow")["text"]:
            same.append(seed)

    assert same == []


def test_a_line_to_somebody_is_answered_with_what_it_is_about() -> None:
    stage = opened(5)
    asked = stage.says("hollow", "Apron, where do you keep the pickled lightning?")

    texts = [stage.reply("apron", asked)["text"] for stage.seed in range(40)]

    assert all("lightning" in text for text in texts)


def test_the_thought_shows_what_was_heard() -> None:
    stage = opened(1)
    stage.disturb("Somebody left a brass brimfold on the path.")

    reply = stage.reply("apron")

    assert NONCE in reply["thought"]
    assert reply["mood"].isalpha() or "-" in reply["mood"]


def test_the_troupe_has_no_rare_words_of_its_own() -> None:
    assert all(NONCE not in example for creature in GARDEN for example in creature.voice.examples)
