"""Event order, ids and tie-breaks hang on the story alone: not on the hash seed, not on who watches."""

from pathlib import Path

import pytest

from tests.rules.under_hash_seeds import printed

SCRIPT = Path(__file__).with_name("seeded_play.py")


def story_with(hash_seed: str, *, seed: int, watchers: int = 0) -> str:
    """What the play prints in a process of its own."""
    return printed(hash_seed, str(SCRIPT), str(seed), str(watchers))


@pytest.mark.parametrize("seed", [1, 2])
def test_the_hash_seed_changes_nothing(seed: int) -> None:
    stories = {story_with(hash_seed, seed=seed) for hash_seed in ("0", "1", "2", "random")}

    assert len(stories) == 1


def test_the_number_of_watchers_changes_nothing() -> None:
    stories = {story_with("random", seed=3, watchers=watchers) for watchers in (0, 1, 5)}

    assert len(stories) == 1


def test_another_seed_is_another_story() -> None:
    assert story_with("0", seed=4) != story_with("0", seed=5)
