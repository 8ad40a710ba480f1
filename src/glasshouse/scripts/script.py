"""`Script`: the parts of one world, and whose line of it a text is.

Always holds: a script is known by its text, so two worlds, or two states of one, never share one by accident. A part belongs to a
creature whose persona has the words that stand beside its name. `docs/reference/scripts.md` describes the files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Final, NamedTuple

recognised_cache_lines_max: Final = 4_096
"""More lines of one script are looked up in it again."""
forms_cache_max: Final = 8_192
"""The forms of more phrasings are compiled again."""

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
EVENT: Final = "event"
"""The cue of what somebody from outside brought, told as something that happened."""
CUES: Final = (EVENT, "visitor", "strange", "outside", "beat", "turn", *CHANGES)
EVENT_ACTS: Final = ("report", "ask", "answer", "react", "remark")
"""What is done about an event: it is told, asked about, the question is answered, what it means is said, and it comes back."""
EVENT_SLOTS: Final = ("event", "event.known", "event.why")
"""What happened as a clause, the same as something that is known, and a question about it, without its mark."""
REMARK: Final = "remark"
"""The act of what is no line by itself, and is set beside what a game has its player say."""

REMARKS: Final = "remarks"
"""The slot for all remarks of the part that fit, one after another, in a line that is no game's."""

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
    seeds: tuple[str, ...] = ()
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


class Recognised(NamedTuple):
    """The entry that a line is of, and what was set into its slots."""

    entry: Entry
    bound: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Script:
    """The parts of one world."""

    movements: tuple[tuple[int, tuple[str, ...]], ...]
    """Each movement with the words of which one stands in the world's text when it has begun; the last comes first."""
    lists: Mapping[str, tuple[str, ...]]
    parts: Mapping[str, tuple[Entry, ...]]
    personas: Mapping[str, str]
    """Handle -> the words that stand in the persona of whoever has this part."""
    game_lines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """`HANDLE HEADING` -> how a game has that creature put what it has to say."""

    def __post_init__(self) -> None:
        # Each script has a cache of its own, which goes when the script goes.
        look_up = lru_cache(maxsize=recognised_cache_lines_max)(self._looked_up)
        object.__setattr__(self, "_looked_up_cache", look_up)

    def movement_of(self, narrated: str) -> int:
        """Which movement has begun, by what the world has told."""
        begun = (number for number, words in self.movements if any(phrase in narrated for phrase in words))
        return next(begun, 1)

    def part_of(self, handle: str, persona: str) -> Part | None:
        """The part that somebody has learned; none for somebody else of that name."""
        words = self.personas.get(handle)
        return Part(self, handle) if words is not None and words in persona else None

    def recognised(self, handle: str, text: str) -> Recognised | None:
        """The entry that a line is of; none if nobody has learned it.

        A judge reads labels in place of names, so the line of somebody unknown is sought in every part.
        """
        recognised: Recognised | None = self.__dict__["_looked_up_cache"](handle, text)
        return recognised

    def event_acts_in(self, handle: str, text: str) -> tuple[str, ...]:
        """What a line of somebody's does about an event, wherever in it that stands; nothing for most lines."""
        return tuple(act for act, _ in self._event_sentences(handle, text))

    def without_event(self, handle: str, text: str) -> str:
        """A line of somebody's without what it says of an event, which stands last."""
        starts = [start for _, start in self._event_sentences(handle, text)]
        return text[: min(starts)].rstrip() if starts else text

    def _event_sentences(self, handle: str, text: str) -> tuple[tuple[str, int], ...]:
        """What a line does about an event, and where in it."""
        lower = text.lower()
        entries = self.parts.get(handle) or [entry for part in self.parts.values() for entry in part]
        said = (
            (entry.act, _event_form(phrasing.text).search(text))
            for entry in entries
            if entry.on == EVENT
            for phrasing in entry.phrasings
            if phrasing.longest.rstrip(".") in lower
        )
        return tuple((act, match.start()) for act, match in said if match is not None)

    def _looked_up(self, handle: str, text: str) -> Recognised | None:
        entries = self.parts.get(handle)
        if entries is None:
            entries = tuple(entry for part in self.parts.values() for entry in part)
        lower = text.lower()
        for entry in entries:
            for phrasing in entry.phrasings:
                if phrasing.longest in lower:
                    match = phrasing.form.fullmatch(text)
                    if match is not None:
                        bound = {name: self._as_listed(value) for name, value in match.groupdict().items()}
                        return Recognised(entry, bound)
        return None

    def _as_listed(self, value: str) -> str:
        """What a slot held as it stands inside a sentence: a capital at the beginning of one is not its own."""
        small = value[:1].lower() + value[1:]
        if value in self._listed:
            return value
        return small if small in self._listed or small.startswith(_ARTICLES) else value

    @cached_property
    def knows_events(self) -> bool:
        """Whether anybody has lines for what happens."""
        return any(entry.on == EVENT for part in self.parts.values() for entry in part)

    @cached_property
    def _listed(self) -> frozenset[str]:
        return frozenset(value for values in self.lists.values() for value in values)


class Part(NamedTuple):
    """One creature's part, in its script."""

    script: Script
    handle: str

    @property
    def knows_events(self) -> bool:
        """Whether the script has lines for what somebody from outside brings."""
        return self.script.knows_events

    @property
    def answers_visitors(self) -> bool:
        """Whether it answers the thing that somebody from outside names, and has no lines for events."""
        cues = {entry.on for entry in self.entries}
        return EVENT not in cues and not cues.isdisjoint({"visitor", "outside"})

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Everything it can say."""
        return self.script.parts[self.handle]

    def game_lines(self, heading: str) -> tuple[str, ...]:
        """How it puts what a game has it say under a heading; nothing where the common sentences do."""
        return self.script.game_lines.get(f"{self.handle} {heading}", ())


@lru_cache(maxsize=forms_cache_max)
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


@lru_cache(maxsize=forms_cache_max)
def _event_form(text: str) -> re.Pattern[str]:
    """What a sentence about an event looks like from its beginning. What ends with a mark in quotation marks has no other one."""
    fixed = SLOT.split(text)[::2]
    behind = (rf"\.?{re.escape(part[1:])}" if part.startswith(".") else re.escape(part) for part in fixed[1:])
    return re.compile(".+?".join((re.escape(fixed[0]), *behind)), re.IGNORECASE | re.DOTALL)


def bound_name(slot: str) -> str:
    """The name under which others know what is in a slot; empty for what is not drawn from a list."""
    name = slot.partition("=")[0]
    unnamed = {*AGREEING, *GAME_SLOTS, "X", "x", "seed", "you", "who", EVENT, REMARKS}
    return name if name.isidentifier() and name not in unnamed else ""
