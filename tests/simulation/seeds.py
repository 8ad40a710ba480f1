"""Seeds: fixed in the tests, fresh in a soak, and printed with the line that replays them when one fails.

`GLASSHOUSE_SEED=17` plays that one seed instead of the usual ones. `GLASSHOUSE_SOAK_PLAYS` says how many a soak plays.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager


def usual_seeds(count: int) -> list[int]:
    """The seeds of the short rigs: the same on every machine."""
    given = os.environ.get("GLASSHOUSE_SEED")
    return list(range(count)) if given is None else [int(given)]


def fresh_seeds(plays: int) -> list[int]:
    """The seeds of a soak: new on every run."""
    given = os.environ.get("GLASSHOUSE_SEED")
    if given is not None:
        return [int(given)]
    count = int(os.environ.get("GLASSHOUSE_SOAK_PLAYS", plays))
    return [random.SystemRandom().randrange(10**9) for _ in range(count)]


@contextmanager
def replayable(seed: int, test: str) -> Iterator[None]:
    """Whatever fails inside says which seed it was and how to play it again."""
    try:
        yield
    except BaseException as wrong:
        wrong.add_note(
            f"seed {seed}. Replay: GLASSHOUSE_SEED={seed} python -m pytest 'tests/simulation/{test}' -m 'soak or not soak'"
        )
        raise
