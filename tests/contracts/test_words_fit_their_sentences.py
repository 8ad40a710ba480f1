"""No sentence of the general talk holds a word of the wrong class, in the bundled worlds and in those of newcomers."""

from __future__ import annotations

import pytest

from glasshouse import play
from glasshouse.manifests.world_folders import bundled_worlds
from tests.contracts.test_worlds_of_newcomers import SEEDS, WORLDS, played, said_in
from tests.contracts.word_tagger import fillers_in, wrong_in
from tests.simulation.seeds import rig_seeds


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("To play the sleeps one must first be robbed of the dot.", "sleeps"),
        ("Tomorrow I will bring the door ajar a present.", "ajar"),
        ("I would keep the longer tell and cut the rest.", "tell"),
        ("Nobody asked for the dealt.", "dealt"),
        ("Do not eat the hammer before somebody has tried it.", "hammer"),
        ("I will go to the butter myself.", "butter"),
        ("Ask the fog to join us.", "fog"),
        ("Do not open the dog, not yet.", "dog"),
        ("Put the storm where everybody can see.", "storm"),
    ],
)
def test_the_tagger_finds_words_in_the_wrong_place(line: str, word: str) -> None:
    assert word in wrong_in(line)


@pytest.mark.parametrize("line", ["I will go to the bridge myself.", "Do not open the door, not yet."])
def test_the_tagger_passes_words_in_their_place(line: str) -> None:
    assert wrong_in(line) == []


@pytest.mark.parametrize("seed", rig_seeds(1, plays=10))
@pytest.mark.parametrize("world", [world.name for world in bundled_worlds()])
def test_in_bundled_worlds_every_word_fits_its_sentence(world: str, seed: int) -> None:
    lines = [line.text for line in play(world, rng_seed=seed).lines if line.text]

    assert [(line, wrong) for line in lines if (wrong := wrong_in(line))] == []


def test_in_worlds_of_newcomers_every_word_fits_its_sentence() -> None:
    lines = [
        event.payload["text"]
        for world in WORLDS
        for seed in SEEDS
        for is_disturbed in (False, True)
        for event in said_in(played(world, seed, is_disturbed=is_disturbed))
    ]
    heads = [filler.head for line in lines for filler in fillers_in(line)]

    assert [(line, wrong) for line in lines if (wrong := wrong_in(line))] == []
    # The general talk has no sentence into which any noun may be set.
    assert heads == []
