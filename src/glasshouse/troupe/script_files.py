"""Scripts: the parts that the troupe has learned for the bundled worlds, each line with the cue on which it is said.

Always holds: a script is data. A part belongs to a creature whose persona has the words that stand beside its name, so
another world's creature of the same name is not taken for it. `docs/reference/scripts.md` describes the files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.reading import Identity

parts_cache_identities_max: Final = 512
"""More players are looked up in the scripts again."""
recognised_cache_lines_max: Final = 16_384
"""More lines are looked up in the scripts again."""

SLOT: Final = re.compile(r"\{([^{}]+)\}")
AGREEING: Final = frozenset({"is", "was", "has", "does", "s", "es", "it", "its", "them", "itself"})
"""Slots that agree with the thing that `{X}` is."""
ACTS: Final[Mapping[str, str]] = {
    "ask": "ask", "answer": "answer", "offer": "offer", "accept": "agree", "refuse": "object", "accuse": "object",
    "deny": "object", "warn": "warn", "report": "recall", "concede": "agree", "promise": "offer", "want": "extend",
    "react": "wonder", "narrate": "narrate", "judge": "appraise", "aside": "tease", "farewell": "comfort",
    "remark": "tease",
}  # fmt: skip
"""What an entry does with words, and the act of the general grammar whose moods and aims go with it."""

CHANGES: Final = ("joined", "parted", "refused", "spawned", "released", "wired")
"""What a player's own tools can have done to its circle."""
CUES: Final = ("visitor", "strange", "outside", "beat", "turn", *CHANGES)
REMARK: Final = "remark"
"""The act of what is no line by itself, and is set beside what a game has its player say."""

GAME_FACT: Final = "game:"
"""How the names begin of what a game knows and no line says."""
DEALT_WORD: Final = "word"
"""The slot for the word that a game has dealt to me. A line with it tells the word."""
GAME_SLOTS: Final = frozenset(
    {
        *("clause", "told", "suspect", "name", "pick", "accuser", "friend", DEALT_WORD, "odd"),
        *("day", "lit", "length", "seen", "best", "most", "other", "less", "asker"),
    }
)
"""Slots that a game fills: in one of near-twins my word and what is true of it, what another said, who that is and as whom
addressed, who holds the odd word; where days are looked up the day, what was read of it, and what is known of others."""

_PART: Final = re.compile(r"\[part ([\w-]+): (.+)\]")
_LIST: Final = re.compile(r"\[list ([\w-]+)\]")
_ARTICLES: Final = ("a ", "an ", "the ", "his ", "her ", "my ", "one ")


class Phrasing(NamedTuple):
    """One wording of an entry."""

    text: str
    slots: tuple[str, ...]
    longest: str
    """Its longest fixed stretch in small letters; a line that does not have it is another line."""

    @property
    def form(self) -> re.Pattern[str]:
        """What a line looks like that was said this way; something may have been set behind it."""
        return _form(self.text)


class Entry(NamedTuple):
    """Something that a part can say, and when."""

    id: str
    handle: str
    act: str
    phrasings: tuple[Phrasing, ...]
    thoughts: tuple[str, ...]
    names: frozenset[str]
    """What a line of this entry is known by: its id, what it means, its plots."""
    plots: tuple[tuple[str, str], ...] = ()
    after: frozenset[str] = frozenset()
    needs: tuple[frozenset[str], ...] = ()
    excluded: frozenset[str] = frozenset()
    movements: frozenset[int] = frozenset()
    on: str = ""
    hears: tuple[str, ...] = ()
    company: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()
    answers: frozenset[str] = frozenset()
    wait: int = 0
    later: tuple[tuple[str, int], ...] = ()
    more: tuple[tuple[str, str], ...] = ()
    even: tuple[tuple[str, str], ...] = ()
    kind: str = ""
    to: frozenset[str] = frozenset()
    want: str = ""
    weight: float = 1.0
    chance: float = 1.0
    mood: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    is_repeatable: bool = False
    is_simple: bool = True
    """Whether it has none of the conditions that few entries have."""

    @property
    def has_cue(self) -> bool:
        """Whether it answers something, and does not come by itself."""
        return bool(self.after or self.on not in {"", "turn"} or self.hears)


class Script(NamedTuple):
    """The parts of one world."""

    name: str
    movements: tuple[tuple[int, tuple[str, ...]], ...]
    """Each movement with the words of which one stands in the world's text when it has begun; the last comes first."""
    lists: Mapping[str, tuple[str, ...]]
    parts: Mapping[str, tuple[Entry, ...]]

    def movement_of(self, narrated: str) -> int:
        """Which movement has begun, by what the world has told."""
        begun = (number for number, words in self.movements if any(phrase in narrated for phrase in words))
        return next(begun, 1)


class Part(NamedTuple):
    """One creature's part, in its script."""

    script: Script
    handle: str

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Everything it can say."""
        return self.script.parts[self.handle]


@lru_cache(maxsize=parts_cache_identities_max)
def part_of(me: Identity) -> Part | None:
    """The part that somebody has learned; none for a creature of somebody else's world."""
    for name, words in _parts_by_handle().get(me.handle, ()):
        if words in me.persona:
            return Part(script_named(name), me.handle)
    return None


@lru_cache(maxsize=64)
def script_named(name: str) -> Script:
    """The script of a world."""
    return script_in(shelf.text_of(f"scripts/{name}.txt"), name)


@lru_cache(maxsize=recognised_cache_lines_max)
def recognised(script: str, handle: str, text: str) -> tuple[Entry, Mapping[str, str]] | None:
    """The entry that a line is of, with what was set into its slots; none if nobody has learned it.

    A judge reads labels in place of names, so the line of somebody unknown is sought in every part.
    """
    known = script_named(script)
    entries = known.parts.get(handle)
    if entries is None:
        entries = tuple(entry for part in known.parts.values() for entry in part)
    lower = text.lower()
    for entry in entries:
        for phrasing in entry.phrasings:
            if phrasing.longest in lower:
                match = phrasing.form.fullmatch(text)
                if match is not None:
                    return entry, {
                        name: _as_listed(value, known) for name, value in match.groupdict().items()
                    }
    return None


def _as_listed(value: str, script: Script) -> str:
    """What a slot held as it stands inside a sentence: a capital at the beginning of one is not its own."""
    small = value[:1].lower() + value[1:]
    if value in _listed(script.name):
        return value
    return small if small in _listed(script.name) or small.startswith(_ARTICLES) else value


@lru_cache(maxsize=64)
def _listed(script: str) -> frozenset[str]:
    return frozenset(value for values in script_named(script).lists.values() for value in values)


@lru_cache(maxsize=1)
def _parts_by_handle() -> Mapping[str, tuple[tuple[str, str], ...]]:
    """The scripts in which a handle has a part, each with the words of its persona."""
    parts: dict[str, tuple[tuple[str, str], ...]] = {}
    for name in shelf.names_in("scripts"):
        for handle, words in _PART.findall(shelf.text_of(f"scripts/{name}.txt")):
            parts[handle] = (*parts.get(handle, ()), (name, words.strip()))
    return parts


@lru_cache(maxsize=8_192)
def _form(text: str) -> re.Pattern[str]:
    parts = SLOT.split(text)
    form = re.escape(parts[0])
    bound: set[str] = set()
    for slot, fixed in zip(parts[1::2], parts[2::2], strict=True):
        name = bound_name(slot)
        form += f"(?P<{name}>.+?)" if name and name not in bound else ".*?" if slot in AGREEING else ".+?"
        bound.add(name)
        form += re.escape(fixed)
    return re.compile(f"{form}(?: .*)?", re.IGNORECASE | re.DOTALL)


def bound_name(slot: str) -> str:
    """The name under which others know what is in a slot; empty for what is not drawn from a list."""
    name = slot.partition("=")[0]
    return (
        name
        if name.isidentifier() and name not in {*AGREEING, *GAME_SLOTS, "X", "x", "seed", "you", "who"}
        else ""
    )


# Reading a file


def script_in(text: str, name: str) -> Script:
    """The script that a text is. What is wrong in it is told with file and line."""
    return _ScriptReader(name).read(text)


class _ScriptReader:
    """A script file on its way into a `Script`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._movements: dict[int, tuple[str, ...]] = {}
        self._lists: dict[str, list[str]] = {}
        self._parts: dict[str, list[Entry]] = {}
        self._take: Callable[[str], None] = self._misplaced
        self._handle = ""
        self._ids: set[str] = set()

    def read(self, text: str) -> Script:
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip() and not line.startswith("#"):
                try:
                    self._read_line(line)
                except ValueError as wrong:
                    raise ValueError(f"scripts/{self._name}.txt, line {number}: {wrong}") from None
        return Script(
            self._name,
            tuple(sorted(self._movements.items(), reverse=True)),
            {name: tuple(values) for name, values in self._lists.items()},
            {handle: tuple(entries) for handle, entries in self._parts.items()},
        )

    def _read_line(self, line: str) -> None:
        if part := _PART.fullmatch(line):
            self._handle = part[1]
            self._parts[self._handle] = []
            self._take = self._take_entry
        elif listed := _LIST.fullmatch(line):
            self._take = self._lists.setdefault(listed[1], []).append
        elif line == "[movements]":
            self._take = self._take_movement
        elif line.startswith("["):
            raise ValueError("a heading is [movements], [list NAME] or [part HANDLE: words of its persona].")
        else:
            self._take(line)

    def _misplaced(self, _line: str) -> None:
        raise ValueError(
            "a heading comes first: [movements], [list NAME] or [part HANDLE: words of its persona]."
        )

    def _take_movement(self, line: str) -> None:
        number, parted, words = line.partition(":")
        if not parted or not number.strip().isdigit():
            raise ValueError("a movement is written as 2: words of its beat.")
        self._movements[int(number)] = tuple(phrase.strip() for phrase in words.split("|"))

    def _take_entry(self, line: str) -> None:
        entries = self._parts[self._handle]
        if line.startswith("* "):
            entry = entry_of(line[2:].split(), self._handle)
            if entry.id in self._ids:
                raise ValueError(f"{entry.id} is there twice.")
            self._ids.add(entry.id)
            entries.append(entry)
        elif not entries or not line.startswith(" "):
            raise ValueError("an entry begins with * ID ACT, and its lines are indented.")
        elif line.strip().startswith("~ "):
            entries[-1] = entries[-1]._replace(thoughts=(*entries[-1].thoughts, line.strip()[2:]))
        else:
            entries[-1] = entries[-1]._replace(phrasings=(*entries[-1].phrasings, _phrasing(line.strip())))


def _phrasing(text: str) -> Phrasing:
    if "{" in SLOT.sub("", text):
        raise ValueError("a slot is not closed.")
    parts = SLOT.split(text)
    return Phrasing(text, tuple(parts[1::2]), max(parts[::2], key=len).strip().lower())


def entry_of(words: list[str], handle: str) -> Entry:
    """An entry, still without its lines, from the words of its first line."""
    if len(words) < 2 or words[1] not in ACTS:
        raise ValueError(f"an entry begins with * ID ACT, and the act is one of {', '.join(ACTS)}.")
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
        elif key in CONDITIONS and value:
            name, convert = CONDITIONS[key]
            read[name] = convert(value)
        else:
            raise ValueError(
                f"{word} is no condition; there are {', '.join((*CONDITIONS, 'means', 'again', 'field.NAME'))}."
            )
    names.update(f"{group}.{chosen}" for group, chosen in read.get("plots", ()))
    read["is_simple"] = _RARE.isdisjoint(read)
    return Entry(words[0], handle, words[1], (), (), frozenset(names), fields=tuple(fields), **read)


def _cue_named(value: str) -> str:
    if value not in CUES:
        raise ValueError(f"on={value} is no cue; there are {', '.join(CUES)}.")
    return value


def _all_of(value: str) -> frozenset[str]:
    return frozenset(value.split(","))


def _pairs(mark: str) -> Callable[[str], tuple[tuple[str, str], ...]]:
    def pairs(value: str) -> tuple[tuple[str, str], ...]:
        pairs = tuple(tuple(pair.split(mark, 1)) for pair in value.split(","))
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError(f"{value} should be two names with {mark} between them.")
        return tuple((pair[0], pair[1]) for pair in pairs)

    return pairs


def _counted(value: str) -> tuple[tuple[str, int], ...]:
    return tuple((name, int(count)) for name, count in _pairs(":")(value))


CONDITIONS: Final[Mapping[str, tuple[str, Callable[[str], Any]]]] = {
    "after": ("after", _all_of),
    "needs": ("needs", lambda value: tuple(frozenset(names.split("|")) for names in value.split(","))),
    "not": ("excluded", _all_of),
    "in": ("movements", lambda value: frozenset(int(number) for number in value.split(","))),
    "plot": ("plots", _pairs(".")),
    "on": ("on", _cue_named),
    "hears": ("hears", lambda value: tuple(phrase.replace("_", " ").lower() for phrase in value.split("|"))),
    "with": ("company", _all_of),
    "without": ("absent", _all_of),
    "answers": ("answers", _all_of),
    "wait": ("wait", int),
    "later": ("later", _counted),
    "more": ("more", _pairs(">")),
    "even": ("even", _pairs("=")),
    "kind": ("kind", str),
    "to": ("to", _all_of),
    "want": ("want", str),
    "weight": ("weight", float),
    "chance": ("chance", float),
    "mood": ("mood", str),
}
"""The conditions of an entry, each with the field it fills and how its value is read."""
_RARE: Final = frozenset({"answers", "wait", "later", "more", "even", "company", "absent", "chance"})
