"""Every bundled world, two seeds, both stores: the story keeps its digest.

The file `pinned_digests.json` changes only when a story is meant to change, for example when the offline troupe learns
to speak better. To write it again: `.venv/bin/python -m tests.contracts.test_pinned_digests`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import glasshouse
from glasshouse import MemoryStore, SqliteStore, play

PINNED = Path(__file__).with_name("pinned_digests.json")
RNG_SEEDS = (0, 7)
WORLDS = sorted(
    scenario.parent.name for scenario in (Path(glasshouse.__file__).parent / "worlds").glob("*/scenario.yaml")
)


def digest_in_memory(world: str, rng_seed: int) -> str:
    return play(world, rng_seed=rng_seed, store=MemoryStore()).digest


@pytest.mark.parametrize("rng_seed", RNG_SEEDS)
@pytest.mark.parametrize("world", WORLDS)
def test_a_bundled_world_keeps_its_digest(world: str, rng_seed: int, tmp_path: Path) -> None:
    pinned = json.loads(PINNED.read_text())[f"{world} {rng_seed}"]

    in_sqlite = play(world, rng_seed=rng_seed, store=SqliteStore(tmp_path / "show.glasshouse")).digest

    assert (digest_in_memory(world, rng_seed), in_sqlite) == (pinned, pinned)


if __name__ == "__main__":
    stories = [(world, rng_seed) for world in WORLDS for rng_seed in RNG_SEEDS]
    digests = {f"{world} {seed}": digest_in_memory(world, seed) for world, seed in stories}
    PINNED.write_text(json.dumps(digests, indent=1) + "\n")
