"""What a graph is called, wherever it is shown: on the page, in a shared file and in the terminal.

A graph has the name of its world's troupe, else of the channel that most of its creatures are on, the oldest of several.
Where that is taken, the next channel is added, then a number. Always holds: no two graphs that live at one time have the
same name, and none has the name of a creature, however the two are written. A graph keeps its name until it is gone, also
when another merges into it, with two exceptions: a lone creature without a channel gives its graph no name of its own, so it
gets one with its first channel; and a graph whose name a newcomer has gets another (ADR 0134).

The rules of a play call a graph by its first creature (`Graph.name`), because creatures address each other that way in
prompts: that name is in ledgers, and no face shows it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Final

from glasshouse.events.event import Json

NO_NAME: Final = "alone"
"""How a graph is called whose only creature is on no channel."""
_BETWEEN_WORDS: Final = re.compile(r"[-_\s]+")


def as_read(name: str) -> str:
    """A name as a reader takes it: `Moat-Duck` and `moat duck` are one name."""
    return _BETWEEN_WORDS.sub(" ", name).strip().casefold()


def is_own_name(name: str) -> bool:
    """Whether a name says something of its graph."""
    return name != NO_NAME and not name.startswith(f"{NO_NAME} ")


class NamesTaken:
    """The names of the creatures and graphs that live now, as they are read. A cache: a view has them all."""

    def __init__(self, view: Json) -> None:
        self._creatures: Counter[str] = Counter()
        self._graphs: dict[str, str] = {}
        for creature in view["creatures"].values():
            self.add_creature(creature)
        for graph_id, graph in view["graphs"].items():
            self._graphs[as_read(graph["name"])] = graph_id

    def add_creature(self, creature: Json) -> None:
        """Take the names of a creature."""
        self._creatures.update(_names_of(creature))

    def remove_creature(self, creature: Json) -> None:
        """Free the names of a creature that is gone, or is called otherwise from now on."""
        for name in _names_of(creature):
            self._creatures[name] -= 1
            if not self._creatures[name]:
                del self._creatures[name]

    def give(self, graph_id: str, old: str | None, new: str | None) -> None:
        """Give a graph another name; none if it is gone."""
        if old is not None and self._graphs.get(as_read(old)) == graph_id:
            del self._graphs[as_read(old)]
        if new is not None:
            self._graphs[as_read(new)] = graph_id

    def graphs_called_as(self, creature: Json) -> list[str]:
        """The graphs that have a name of this creature."""
        return [self._graphs[name] for name in _names_of(creature) if name in self._graphs]

    def is_free_for(self, graph_id: str, name: str) -> bool:
        """Whether a graph may have a name, or has it."""
        read = as_read(name)
        return bool(read) and read not in self._creatures and self._graphs.get(read, graph_id) == graph_id


def name_for(graph_id: str, first: Iterable[str], channels: Sequence[str], taken: NamesTaken) -> str:
    """The name of a graph: the first that is free of some names, such as its troupe's, and those of its channels, which are
    given in their order."""
    for name in _candidates([name for name in first if name], channels):
        if taken.is_free_for(graph_id, name):
            return name
    raise AssertionError("There is always a number that is free.")


def _candidates(first: list[str], channels: Sequence[str]) -> Iterator[str]:
    yield from first
    yield from channels[:1]
    if len(channels) > 1:
        yield f"{channels[0]} + {channels[1]}"
    stem = next(iter((*channels[:1], *first)), NO_NAME)
    yield stem
    for number in count(2):
        yield f"{stem} {number}"


def _names_of(creature: Json) -> list[str]:
    return list(
        {as_read(creature["handle"]): None, as_read(creature.get("title") or creature["handle"]): None}
    )
