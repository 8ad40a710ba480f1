"""Seeds: fixed in the tests, new in a soak. A failing seed is printed with the command that replays it.

A rig whose plays are short is parametrized with `rig_seeds`: a soak runs it with as many new seeds, which the names of its
tests show. A rig with long plays has a test of its own for the soak, over `fresh_seeds`. `GLASSHOUSE_SEED=17` plays only that
seed. `GLASSHOUSE_SOAK_PLAYS` sets how many plays a soak makes.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import pytest

plays_of_a_soak: Final = 100
"""How many plays a soak makes of a rig that does not say it."""


def usual_seeds(count: int, *, also: Sequence[int] = ()) -> list[int]:
    """The seeds of the short rigs: the same on every machine. `also` are seeds that once failed."""
    given = os.environ.get("GLASSHOUSE_SEED")
    return [*range(count), *also] if given is None else [int(given)]


def is_soak() -> bool:
    """Whether `make soak` runs the tests."""
    return os.environ.get("GLASSHOUSE_HYPOTHESIS") == "soak"


def rig_seeds(count: int, *, also: Sequence[int] = (), plays: int = plays_of_a_soak) -> list[Any]:
    """The seeds of a rig as parameters of a test: the usual ones, or, in a soak, as many new ones as it plays."""
    if not is_soak():
        return usual_seeds(count, also=also)
    return [pytest.param(seed, id=f"seed {seed}", marks=pytest.mark.soak) for seed in _drawn(plays)]


def fresh_seeds(plays: int) -> Iterator[int]:
    """The seeds of a soak: new on every run. Each is said when its turn comes, for a soak takes long."""
    seeds = _drawn(plays)
    for number, seed in enumerate(seeds, start=1):
        print(f"play {number} of {len(seeds)}: seed {seed}", flush=True)
        yield seed


def _drawn(plays: int) -> list[int]:
    given = os.environ.get("GLASSHOUSE_SEED")
    if given is not None:
        return [int(given)]
    chance = random.SystemRandom()
    return [chance.randrange(10**9) for _ in range(int(os.environ.get("GLASSHOUSE_SOAK_PLAYS", plays)))]


@contextmanager
def replayable(seed: int, test: str) -> Iterator[None]:
    """Whatever fails inside says which seed it was and how to play it again. A test without a folder is one of these rigs."""
    path = test if "/" in test else f"tests/simulation/{test}"
    try:
        yield
    except BaseException as wrong:
        wrong.add_note(
            f"seed {seed}. Replay: GLASSHOUSE_SEED={seed} python -m pytest '{path}' -m 'soak or not soak'"
        )
        raise
