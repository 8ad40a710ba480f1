"""Names are said as names: a title where a manifest has one."""

from pathlib import Path

import pytest

from glasshouse import play
from glasshouse.troupe.speaking import name_of
from glasshouse.troupe.titles import with_titles

WORLD = str(Path(__file__).parents[2] / "worlds_of_newcomers" / "town-council")
TITLES = {"devils-advocate": "The Devil's Advocate", "ships-boy": "the Ship's Boy"}


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ("Devils Advocate is right about the pool.", "The Devil's Advocate is right about the pool."),
        ("I am with Devils Advocate on the pool.", "I am with the Devil's Advocate on the pool."),
        ("Who told you about the pool, Devils Advocate?", "Who told you about the pool, Devil's Advocate?"),
        ("I trust Ships Boy with the bell.", "I trust the Ship's Boy with the bell."),
    ],
)
def test_a_title_stands_in_a_line_as_one_says_it(made: str, said: str) -> None:
    assert with_titles(made, TITLES) == said


def test_small_words_of_a_handle_stay_small() -> None:
    assert name_of("mother-of-the-groom") == "Mother of the Groom"


def test_in_a_play_somebody_with_a_title_is_called_by_it() -> None:
    lines = [line.text for seed in range(3) for line in play(WORLD, rng_seed=seed).lines]

    assert any("Devil's Advocate" in line for line in lines)
    assert not any("Devils Advocate" in line for line in lines)
