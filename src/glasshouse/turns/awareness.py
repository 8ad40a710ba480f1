"""Graph awareness: how a creature stands in its graph, in a few lines of text.

Always holds: a function of the topology at that moment, and of nothing said; bounded, however large the graph is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from glasshouse.turns.moment import Around, Neighbour
from glasshouse.turns.quoting import one_line

neighbours_shown_max: Final = 12
names_shown_max: Final = 8
around_cache_values_max: Final = 4_096


@lru_cache(maxsize=around_cache_values_max)
def around_lines(around: Around) -> tuple[str, ...]:
    """Who is around, where one hears and speaks, whose lines are handed on to whom, and who answers to one."""
    parts = (
        ("With you", _neighbours(around)),
        *_heard(around),
        ("You speak on", _names(around.sends)),
        ("Your lines are handed to", _names(around.wired_to)),
        ("You are handed the lines of", _names(around.wired_from)),
        ("Your children", _counted(around.children, around.children_count)),
    )
    return tuple(f"{what}: {names}." for what, names in parts if names)


def _heard(around: Around) -> tuple[tuple[str, str]]:
    if around.channels_heard_count:
        return (("You hear every channel here", _counted(around.listens, around.channels_heard_count)),)
    return (("You hear", _names(around.listens)),)


def _neighbours(around: Around) -> str:
    shown = around.neighbours[:neighbours_shown_max]
    return _and_more(
        [_neighbour(neighbour) for neighbour in shown], max(around.neighbours_count, len(around.neighbours))
    )


def _neighbour(neighbour: Neighbour) -> str:
    where = f", on {_names(neighbour.channels)}" if neighbour.channels else ""
    return f"{one_line(neighbour.handle)} ({one_line(neighbour.role)}{where})"


def _names(names: Sequence[str]) -> str:
    return _counted(names, len(names))


def _counted(names: Sequence[str], count: int) -> str:
    return _and_more([one_line(name) for name in names[:names_shown_max]], count)


def _and_more(shown: list[str], count: int) -> str:
    more = [f"{count - len(shown)} more"] if shown and count > len(shown) else []
    return ", ".join(shown + more)
