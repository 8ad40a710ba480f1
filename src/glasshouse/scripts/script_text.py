"""Reading a script: from its text to a `Script`, with everything that is wrong in it, by line and column.

Always holds: a fault costs the line that it stands in, so that all faults of a file are told at once. A script with a fault is not played.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from glasshouse.scripts.script import ACTS, CUES, SLOT, Entry, Phrasing, Script

scripts_cache_max: Final = 32
"""More scripts than this are read from their texts again: those of the worlds that play at once in one program."""

_PART: Final = re.compile(r"\[part ([\w-]+): (.+)\]")
_LIST: Final = re.compile(r"\[list ([\w-]+)\]")
_GAME_LINES: Final = re.compile(r"\[lines ([\w-]+): ([a-z ]+)\]")
_HEADINGS: Final = "[movements], [list NAME], [part HANDLE: words of its persona] or [lines HANDLE: HEADING]"
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")


class ScriptFault(NamedTuple):
    """Something wrong in a script. If it is a name that there is not, `known` are the names that there are."""

    line: int
    column: int
    text: str = ""
    noun: str = ""
    name: str = ""
    known: tuple[str, ...] = ()


class PlacedEntry(NamedTuple):
    """An entry, with where it stands."""

    entry: Entry
    line: int
    header: str
    """Its first line as it is written."""
    phrasing_lines: tuple[int, ...] = ()


class ReadScript(NamedTuple):
    """A script as it was read."""

    script: Script
    faults: tuple[ScriptFault, ...]
    entries: tuple[PlacedEntry, ...]
    part_lines: Mapping[str, int]
    """Handle -> the line of the heading of its part."""
    list_lines: Mapping[str, int]


def script_digest(text: str) -> str:
    """What a script is known by: sixteen hexadecimal characters."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


@lru_cache(maxsize=scripts_cache_max)
def script_of(text: str) -> Script | None:
    """The script that a text is; none if there is a fault in it."""
    read = read_script(text)
    return None if read.faults else read.script


def read_script(text: str) -> ReadScript:
    """The script that a text is, and what is wrong in it."""
    return _ScriptReader().read(text)


class _WrongLine(ValueError):
    """Why a line cannot be read, and at which of its words."""

    def __init__(self, fault: ScriptFault) -> None:
        super().__init__(fault.text)
        self.fault = fault


def _wrong(text: str, word: str = "") -> _WrongLine:
    """A fault in the line that is being read, at a word of it; the line itself is known later."""
    return _WrongLine(ScriptFault(0, 0, text, name=word))


def _unknown(noun: str, name: str, known: Iterable[str]) -> _WrongLine:
    return _WrongLine(ScriptFault(0, 0, "", noun, name, tuple(known)))


class _ScriptReader:
    """A script's text on its way into a `Script`."""

    def __init__(self) -> None:
        self._movements: dict[int, tuple[str, ...]] = {}
        self._lists: dict[str, list[str]] = {}
        self._list_lines: dict[str, int] = {}
        self._game_lines: dict[str, list[str]] = {}
        self._parts: dict[str, list[PlacedEntry]] = {}
        self._part_lines: dict[str, int] = {}
        self._personas: dict[str, str] = {}
        self._take: Callable[[str], None] = self._misplaced
        self._handle = ""
        self._ids: dict[str, int] = {}
        self._line = 0
        self._is_lost = False
        """Whether the line above that the next ones belong to could not be read."""
        self._damaged: set[str] = set()
        """The entries of which a line could not be read."""
        self._faults: list[ScriptFault] = []

    def read(self, text: str) -> ReadScript:
        for number, line in enumerate(text.splitlines(), 1):
            self._line = number
            if line.strip() and not line.startswith("#"):
                try:
                    self._read_line(line)
                except _WrongLine as wrong:
                    fault = wrong.fault
                    column = max(0, line.find(fault.name)) + 1 if fault.name else 1
                    self._faults.append(fault._replace(line=number, column=column))
        for placed in self._entries():
            if not placed.entry.phrasings and placed.entry.id not in self._damaged:
                fault = ScriptFault(placed.line, 1, f"{placed.entry.id} says nothing. Write a line below it.")
                self._faults.append(fault)
        script = Script(
            tuple(sorted(self._movements.items(), reverse=True)),
            {name: tuple(values) for name, values in self._lists.items()},
            {handle: tuple(placed.entry for placed in part) for handle, part in self._parts.items()},
            self._personas,
            {name: tuple(values) for name, values in self._game_lines.items()},
        )
        faults = tuple(sorted(self._faults))
        return ReadScript(script, faults, tuple(self._entries()), self._part_lines, self._list_lines)

    def _entries(self) -> list[PlacedEntry]:
        return [placed for part in self._parts.values() for placed in part]

    def _read_line(self, line: str) -> None:
        if part := _PART.fullmatch(line):
            self._begin_part(part[1], part[2].strip())
        elif listed := _LIST.fullmatch(line):
            self._take = self._lists.setdefault(listed[1], []).append
            self._list_lines.setdefault(listed[1], self._line)
        elif game := _GAME_LINES.fullmatch(line):
            self._take = self._ignored
            if game[1] not in self._parts:
                raise _wrong(f"there is no part of {game[1]} above. Write one first.", game[1])
            self._take = self._game_lines.setdefault(f"{game[1]} {game[2]}", []).append
        elif line == "[movements]":
            self._take = self._take_movement
        elif line.startswith("["):
            self._take = self._ignored
            raise _wrong(f"a heading is {_HEADINGS}.")
        else:
            self._take(line)

    def _begin_part(self, handle: str, words: str) -> None:
        self._handle = handle
        self._take = self._take_entry
        self._is_lost = True
        if handle in self._parts:
            raise _wrong(f"{handle} has a part in line {self._part_lines[handle]} already.", f"{handle}:")
        self._parts[handle] = []
        self._part_lines[handle] = self._line
        self._personas[handle] = words
        self._is_lost = False

    def _misplaced(self, _line: str) -> None:
        self._take = self._ignored
        raise _wrong(f"a heading comes first: {_HEADINGS}.")

    def _ignored(self, _line: str) -> None:
        """What stands under a heading that cannot be read is not read."""

    def _take_movement(self, line: str) -> None:
        number, parted, words = line.partition(":")
        if not parted or not number.strip().isdigit():
            raise _wrong("a movement is written as 2: words of its beat.")
        self._movements[int(number)] = tuple(phrase.strip() for phrase in words.split("|"))

    def _take_entry(self, line: str) -> None:
        entries = self._parts[self._handle]
        if line.startswith("* "):
            self._is_lost = True
            entry = entry_of(line[2:].split(), self._handle)
            if entry.id in self._ids:
                text = f"{entry.id} is there twice: line {self._ids[entry.id]} has it already."
                raise _wrong(text, entry.id)
            self._ids[entry.id] = self._line
            entries.append(PlacedEntry(entry, self._line, line))
            self._is_lost = False
        elif not line.startswith(" ") or (not entries and not self._is_lost):
            raise _wrong("an entry begins with * ID ACT, and its lines are indented.")
        elif not self._is_lost:
            self._damaged.add(entries[-1].entry.id)
            entries[-1] = self._with_line(entries[-1], line.strip())
            self._damaged.discard(entries[-1].entry.id)

    def _with_line(self, placed: PlacedEntry, text: str) -> PlacedEntry:
        entry = placed.entry
        if text.startswith("~ "):
            return placed._replace(entry=entry._replace(thoughts=(*entry.thoughts, text[2:])))
        said = entry._replace(phrasings=(*entry.phrasings, _phrasing(text)))
        return placed._replace(entry=said, phrasing_lines=(*placed.phrasing_lines, self._line))


def _phrasing(text: str) -> Phrasing:
    if "{" in SLOT.sub("", text):
        raise _wrong("a slot is not closed. Write } behind its name.", "{")
    parts = SLOT.split(text)
    return Phrasing(text, tuple(parts[1::2]), max(parts[::2], key=len).strip().lower())


def entry_of(words: list[str], handle: str) -> Entry:
    """An entry, still without its lines, from the words of its first line."""
    if len(words) < 2:
        raise _wrong("an entry begins with * ID ACT.")
    if words[1] not in ACTS:
        raise _unknown("act", words[1], ACTS)
    read: dict[str, Any] = {}
    names = {words[0]}
    fields: list[tuple[str, str]] = []
    for word in words[2:]:
        key, _, value = word.partition("=")
        if key == "again":
            read["is_repeatable"] = True
        elif key == "means":
            names.update(value.split(","))
        elif key.startswith("field."):
            fields.append(
                (key.removeprefix("field."), value.replace("_", " ") if "{" not in value else value)
            )
        elif key in CONDITIONS:
            if not value:
                raise _wrong(f"{key}= needs something behind it.", word)
            name, convert = CONDITIONS[key]
            read[name] = convert(value)
        else:
            raise _unknown("condition", key, (*CONDITIONS, "means", "again", "field.NAME"))
    names.update(f"{group}.{chosen}" for group, chosen in read.get("plots", ()))
    read["is_simple"] = _RARE.isdisjoint(read)
    return Entry(words[0], handle, words[1], (), (), frozenset(names), fields=tuple(fields), **read)


def _cue_named(value: str) -> str:
    if value not in CUES:
        raise _unknown("cue", value, CUES)
    return value


def _all_of(value: str) -> frozenset[str]:
    return frozenset(value.split(","))


def _number(value: str) -> float:
    if _NUMBER.fullmatch(value) is None:
        raise _wrong(f"{value} is no number.", value)
    return float(value)


def _whole(value: str) -> int:
    if not (value.isascii() and value.isdigit()):
        raise _wrong(f"{value} is no whole number.", value)
    return int(value)


def _pairs(mark: str) -> Callable[[str], tuple[tuple[str, str], ...]]:
    def pairs(value: str) -> tuple[tuple[str, str], ...]:
        pairs = tuple(tuple(pair.split(mark, 1)) for pair in value.split(","))
        if any(len(pair) != 2 for pair in pairs):
            raise _wrong(f"{value} should be two names with {mark} between them.", value)
        return tuple((pair[0], pair[1]) for pair in pairs)

    return pairs


def _counted(value: str) -> tuple[tuple[str, int], ...]:
    return tuple((name, _whole(count)) for name, count in _pairs(":")(value))


CONDITIONS: Final[Mapping[str, tuple[str, Callable[[str], Any]]]] = {
    "after": ("after", _all_of),
    "needs": ("needs", lambda value: tuple(frozenset(names.split("|")) for names in value.split(","))),
    "not": ("excluded", _all_of),
    "in": ("movements", lambda value: frozenset(map(_whole, value.split(",")))),
    "plot": ("plots", _pairs(".")),
    "on": ("on", _cue_named),
    "hears": ("hears", lambda value: tuple(phrase.replace("_", " ").lower() for phrase in value.split("|"))),
    "seed": ("seeds", lambda value: tuple(phrase.replace("_", " ").lower() for phrase in value.split("|"))),
    "with": ("company", _all_of),
    "without": ("absent", _all_of),
    "answers": ("answers", _all_of),
    "wait": ("wait", _whole),
    "later": ("later", _counted),
    "more": ("more", _pairs(">")),
    "even": ("even", _pairs("=")),
    "kind": ("kind", str),
    "to": ("to", _all_of),
    "want": ("want", str),
    "weight": ("weight", _number),
    "chance": ("chance", _number),
    "mood": ("mood", str),
}
"""The conditions of an entry, each with the field it fills and how its value is read."""
_RARE: Final = frozenset({"answers", "wait", "later", "more", "even", "company", "absent", "chance", "seeds"})
