"""Long memory: searches everything that a creature ever heard or said.

Theory of operation. The store's index of words names candidates, the lines themselves come from the ledger, and the rule of hearing decides about
each. A place is where a line stands in the index (`turns.heard.memory_places`). The index catches up when a search needs it, in steps: first in the memory of this process, and every
`step_events_max` events in the store. A search sees the past of its act: nothing after the act's time, and nothing that was written after
its act looked at the world.

Always holds: what a search finds depends on the ledger alone, not on how far the index had caught up or which store keeps it. A house in which no
creature has long memory is not indexed. If the index of the store fails, it is dropped and made again; if that fails, it is kept in memory. If
somebody else dropped it, it is made again. Only an error of the ledger itself reaches the act. A replay searches nothing: it reads the recorded lines by their ids, and checks each.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple

from glasshouse.errors import StoreError, UnknownName
from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.history import EventById
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.store_port import FoundLine, PlacedLine, PlaceRange, Store
from glasshouse.runtime.word_table import WordTable, newest_of
from glasshouse.turns.heard.memory_places import (
    VERSION_PLACE,
    Hearing,
    PlaceDirectory,
    hearings_of,
    places_of_line,
    ranges_of,
    remembered_as,
)
from glasshouse.turns.heard.renaming import NamesNow
from glasshouse.turns.heard.surroundings import name_for
from glasshouse.turns.moment.line_text import words_of_line
from glasshouse.turns.moment.moment import FarLine
from glasshouse.world.state.state import CreatureState

step_events_max: Final = 1_024
"""The index catches up in steps of this many events, and a step is what its store writes at once. Newer lines are kept in memory."""
lines_of_word_max: Final = 128
"""A search considers this many lines of each word, the newest."""
word_chars_max: Final = 64
"""Of a longer word the beginning is indexed and searched: text without blanks would else be one key, too long for some stores."""
lines_read_max: Final = 32
"""A search reads this many lines from the ledger: those with the most of its words; of lines with as many, the newest."""

_VERSION: Final = PlacedLine(0, 0, (VERSION_PLACE,), ())
"""What the first step of an index begins with."""
_log = logging.getLogger("glasshouse.memory")


class MemoryScope(NamedTuple):
    """What one creature may search, as it was when its act looked at the world."""

    folded: Folded
    creature: CreatureState
    hearings: tuple[Hearing, ...]
    upto: int
    """The lamport time up to which its act sees the past."""
    position: int
    """What was written later is not searched."""


def scope_of(folded: Folded, creature: CreatureState, upto: int, position: int) -> MemoryScope:
    """What a creature may search now."""
    return MemoryScope(folded, creature, hearings_of(creature), upto, position)


class LongMemory:
    """The searches of one house."""

    def __init__(self, store: Store, ledger: Ledger, event: EventById) -> None:
        self._store = store
        self._ledger = ledger
        self._event = event
        self._one_at_a_time = asyncio.Lock()
        self._directory: PlaceDirectory | None = None
        self._stored = 0
        """The position up to which the store's index goes."""
        self._tail = WordTable()
        """The lines after that."""
        self._unstored: list[PlacedLine] = [_VERSION]
        self._is_store_trusted = True
        """False: the store cannot keep an index, so all of it is in `_tail`."""
        self._names_cache: tuple[object, object, NamesNow] | None = None

    async def lines_about(
        self, scope: MemoryScope, words: Sequence[str], near: Collection[int] = ()
    ) -> list[FarLine]:
        """The lines with these words that a creature remembers, those with most of them first, then the newest.

        `near` has the lamport times of lines that whoever asks has already. Lines of these times come last.
        """
        if not words:
            return []
        await self._ledger.writer.wait_for_durability()
        async with self._one_at_a_time:
            positions = await self._positions(scope, words, near)
        # Lines that its creature may not remember after all are few: the ranges leave out nearly all.
        by_position = {event.position: event for event in await self._store.read_at(positions)}
        events = [by_position[position] for position in positions if position in by_position]
        return self._as_remembered(scope, events)

    async def lines_on_record(self, scope: MemoryScope, ids: Iterable[str]) -> list[FarLine]:
        """The lines with these ids, without those that the creature could not remember: a replay then differs from its record."""
        events = []
        for id_of_event in ids:
            try:
                events.append(await self._event(id_of_event))
            except UnknownName:
                continue
        return self._as_remembered(scope, events)

    def _as_remembered(self, scope: MemoryScope, events: Iterable[Event]) -> list[FarLine]:
        world = scope.folded.world
        names = self._names(scope.folded)
        lines = []
        for event in events:
            line = remembered_as(world, names, scope.creature, event) if event.lamport <= scope.upto else None
            if line is not None:
                lines.append(FarLine(line, name_for(world, scope.creature, line.actor)))
        return lines

    def _names(self, folded: Folded) -> NamesNow:
        """The names of taken-over pasts. They are kept: to find out what a branch sees of its ancestors takes a while."""
        made_from = (folded.world.sessions, folded.tables.renamed)
        kept = self._names_cache
        if kept is None or kept[0] is not made_from[0] or kept[1] is not made_from[1]:
            kept = self._names_cache = (*made_from, NamesNow(*made_from))
        return kept[2]

    async def _positions(self, scope: MemoryScope, words: Sequence[str], near: Collection[int]) -> list[int]:
        """The positions of the lines to read, the best first."""
        try:
            return await self._searched(scope, words, near)
        except StoreError as wrong:
            if not self._is_store_trusted:
                raise  # The ledger itself cannot be read.
            _log.warning("The index of words is dropped and made again: %s", wrong)
        try:
            self._begin_anew()
            await self._store.drop_index()
            return await self._searched(scope, words, near)
        except StoreError as wrong:
            _log.warning("The store keeps no index of words, so it is kept in memory: %s", wrong)
        self._begin_anew()
        self._is_store_trusted = False
        return await self._searched(scope, words, near)

    def _begin_anew(self) -> None:
        self._directory = None
        self._tail = WordTable()
        self._unstored = [_VERSION]
        self._stored = 0

    async def _searched(self, scope: MemoryScope, words: Sequence[str], near: Collection[int]) -> list[int]:
        words = _as_indexed(words)
        directory = await self._caught_up(scope.position)
        names = self._names(scope.folded)
        parts = ranges_of(scope.folded.world, names, directory, scope.creature, scope.hearings, scope.upto)
        ranges = [PlaceRange(*part) for part in parts]
        if not ranges:
            return []
        lines = self._tail.lines_with(words, ranges, lines_of_word_max)
        if self._is_store_trusted and self._stored:
            older = await self._store.lines_with(words, ranges, lines_of_word_max)
            lines = {word: newest_of([*lines[word], *older[word]], lines_of_word_max) for word in words}
        counts = Counter[FoundLine]()
        for word in words:
            counts.update([line for line in lines[word] if line.position <= scope.position])
        # Without the first, many lines near that share a word would hide all that are far.
        best = sorted(
            counts, key=lambda line: (line.lamport in near, -counts[line], -line.lamport, -line.position)
        )
        return [line.position for line in best[:lines_read_max]]

    async def _caught_up(self, position: int) -> PlaceDirectory:
        """The places of all lines up to a position, which are all in the index now."""
        if (
            self._directory is not None
            and self._is_store_trusted
            and await self._store.indexed() != self._stored
        ):
            self._begin_anew()  # Somebody dropped it, or it holds a step whose search was cut off.
        if self._directory is None:
            self._directory = await self._loaded()
        directory = self._directory
        while self._tail.upto < position:
            events = await self._store.read_after(self._tail.upto, step_events_max)
            if not events:
                break
            lines = [self._placed(event, directory) for event in events]
            self._tail.add(lines, events[-1].position or 0)
            if self._is_store_trusted:
                self._unstored += [line for line in lines if line.places]
                await self._store_a_step()
        return directory

    async def _loaded(self) -> PlaceDirectory:
        directory = PlaceDirectory()
        if self._is_store_trusted:
            stored = await self._store.indexed()
            places = await self._store.indexed_places() if stored else {}
            # It is of another ledger, or was made by another rule.
            if stored > await self._store.position() or (stored and VERSION_PLACE not in places):
                await self._store.drop_index()
                stored = 0
                places = {}
            self._stored = self._tail.upto = stored
            self._unstored = [] if stored else [_VERSION]
            for place, (first, last) in places.items():
                directory.add(place, first, last)
        return directory

    async def _store_a_step(self) -> None:
        upto = self._tail.upto
        if upto - self._stored < step_events_max:
            return
        await self._store.index_lines(self._stored, upto, self._unstored)
        # The step before may have been stored although its search was cut off. Then this one was not added.
        self._stored = stored = await self._store.indexed()
        self._unstored = [line for line in self._unstored if line.position > stored]
        if stored == upto:
            self._tail = WordTable()
            self._tail.upto = upto

    def _placed(self, event: Event, directory: PlaceDirectory) -> PlacedLine:
        """A line with its places and words. Its places are in the directory then."""
        session = self._ledger.world.sessions.get(event.session_id)
        is_imported = session is not None and session.segment.is_imported
        places = places_of_line(event, directory.conditions_of(event.actor), is_imported=is_imported)
        for place in places:
            directory.add(place, event.lamport, event.lamport)
        words = _as_indexed(words_of_line(event)) if event.kind not in kinds.NO_LINES else ()
        return PlacedLine(event.position or 0, event.lamport, places, words)


def _as_indexed(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([word[:word_chars_max] for word in words]))
