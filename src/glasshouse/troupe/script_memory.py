"""Which lines of a script the prompt shows as said. From these a player knows how far the story is.

Always holds: only the lines of the prompt are read. A line of another player that is in no script is listed in `strange`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final, NamedTuple

from glasshouse.scripts.script import Entry, Part
from glasshouse.troupe.reading import Heard, Reading
from glasshouse.troupe.surroundings import bare_name
from glasshouse.troupe.talk.situation import without_news

refs_gathered_max: Final = 3
"""A field of a script cites this many of the newest lines at most."""


class Said(NamedTuple):
    """A line of the cast that is of a script."""

    line: Heard
    entry: Entry
    bound: Mapping[str, str]
    """What was set into its slots."""
    line_index: int


class ScriptMemory:
    """How far the story has come, for one player at one moment."""

    def __init__(self, part: Part, reading: Reading) -> None:
        self._reading = reading
        lines = {line.ref: line for line in (*reading.remembered, *reading.discussion)}
        self.lines = sorted(lines.values(), key=lambda line: int(line.ref))
        self.said: list[Said] = []
        self.strange: list[Heard] = []
        """Lines of others that no script knows, oldest first."""
        for index, line in self._with_reflections():
            if line.origin == "cast" and line.text:
                self._take(part, line, index)
        self.counts = Counter(name for said in self.said for name in said.entry.names)
        self.newest = {name: said for said in self.said for name in said.entry.names}
        self._count_what_was_kept()
        self.plots = {group: chosen for said in reversed(self.said) for group, chosen in said.entry.plots}
        """What was decided; the first line that decided it counts."""
        self.bound = {name: value for said in self.said for name, value in said.bound.items()}
        narrated = [line.text for line in self.lines if line.origin == "world"]
        self.movement = part.script.movement_of("\n".join((*narrated, reading.scene)))

    def _with_reflections(self) -> list[tuple[int, Heard]]:
        """The lines, and between them what I told myself, each with how many lines came before it."""
        inward = [
            (sum(int(line.ref) < int(own.ref) for line in self.lines), own)
            for own in self._reading.reflections
        ]
        both = [*enumerate(self.lines), *inward]
        return sorted(both, key=lambda entry: int(entry[1].ref)) if inward else both

    def _take(self, part: Part, line: Heard, index: int) -> None:
        handle = bare_name(line.handle)
        known = part.script.recognised(handle, line.text)
        is_news = False
        if known is None and self._has_visitors:
            # Behind what a visitor told, whoever hears it first says a line of the script.
            rest = without_news(line.text)
            is_news = rest != line.text
            known = part.script.recognised(handle, rest) if rest and is_news else None
        if known is not None:
            self.said.append(Said(line, known.entry, known.bound, index))
        elif not is_news and not self._reading.is_mine(line):
            self.strange.append(line)

    @property
    def _has_visitors(self) -> bool:
        return bool(self._reading.disturbances) or any(line.origin == "visitor" for line in self.lines)

    def _count_what_was_kept(self) -> None:
        """A line whose number stands in a field of another line was kept: it is known by that, too."""
        by_ref = {said.line.ref: said for said in self.said}
        for line in self.lines:
            for value in line.fields.values() if line.fields_text else ():
                for ref in value if isinstance(value, list) else [value]:
                    kept = by_ref.get(str(ref))
                    if kept is not None:
                        names = [f"kept:{name}" for name in kept.entry.names]
                        self.counts.update(names)
                        self.newest |= dict.fromkeys(names, kept)

    @property
    def lines_in_movement(self) -> int:
        """How many lines were said since the world last spoke."""
        last = max((at for at, line in enumerate(self.lines) if line.origin == "world"), default=-1)
        return sum(line.origin == "cast" for line in self.lines[last + 1 :])

    def lines_since(self, name: str) -> int:
        """How many lines were said since one of this name; fewer than none if there was none."""
        said = self.newest.get(name)
        return len(self.lines) - 1 - said.line_index if said is not None else -1

    def refs_of(self, name: str) -> list[str]:
        """The numbers of the newest lines of a name, the newest first."""
        if name.startswith("kept:"):
            return [self.newest[name].line.ref] if name in self.newest else []
        refs = [said.line.ref for said in reversed(self.said) if name in said.entry.names]
        return refs[:refs_gathered_max]
