"""Seeds: fixed in the tests, new in a soak. A failing seed is printed with the command that replays it.

`GLASSHOUSE_SEED=17` plays only that seed. `GLASSHOUSE_SOAK_PLAYS` sets how many plays a soak makes.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


def usual_seeds(count: int, *, also: Sequence[int] = ()) -> list[int]:
    """The seeds of the short rigs: the same on every machine. `also` are seeds that once failed."""
    given = os.environ.get("GLASSHOUSE_SEED")
    return [*range(count), *also] if given is None else [int(given)]


def fresh_seeds(plays: int) -> Iterator[int]:
    """The seeds of a soak: new on every run. Each is said when its turn comes, for a soak takes long."""
    given = os.environ.get("GLASSHOUSE_SEED")
    count = 1 if given else int(os.environ.get("GLASSHOUSE_SOAK_PLAYS", plays))
    for number in range(1, count + 1):
        seed = int(given) if given else random.SystemRandom().randrange(10**9)
        print(f"play {number} of {count}: seed {seed}", flush=True)
        yield seed


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
