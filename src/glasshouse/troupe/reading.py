"""Reading: a prompt parsed back into what a player can use: who I am, what was said, what I answer.

Always holds: only the two texts of the prompt and its schema are read. A line that does not have the form of a line is
passed over, so an unfamiliar prompt is an empty discussion and never an error.
"""

from __future__ import annotations

import json
import re
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any, Final, NamedTuple

from glasshouse.scripts.script import Script
from glasshouse.troupe.kinds import AGENT_REFLECTED, WORLD_OBSERVED
from glasshouse.troupe.noun_phrases import Noun
from glasshouse.troupe.vocabulary import stems_of
from glasshouse.turns.moment.prompt import (
    ANSWERED,
    AROUND,
    DISCUSSION,
    DISTURBANCES,
    FOREIGN_TOOLS,
    HOW_TO_ANSWER,
    KNOWN,
    LAST_ANSWER,
    REMEMBERED,
    SCENE,
    TOOLS_SAID,
    VOICE_HEADINGS,
    Json,
    Prompt,
)

identity_cache_systems_max: Final = 512
"""Kept so as not to be computed again: who speaks, as read from a prompt."""
line_cache_lines_max: Final = 8_192
"""How many are kept: lines as read from prompts; more are computed again."""
words_said_default: Final = 40
lines_disturbed_max: Final = 8
"""A disturbance older than this is no longer owed an answer."""


_HEADINGS: Final = frozenset(
    {
        FOREIGN_TOOLS,
        DISCUSSION,
        AROUND,
        SCENE,
        KNOWN,
        REMEMBERED,
        DISTURBANCES,
        TOOLS_SAID,
        ANSWERED,
        LAST_ANSWER,
    }
)
_READ: Final = (DISCUSSION, REMEMBERED, DISTURBANCES, SCENE, KNOWN, TOOLS_SAID)
_LINE: Final = re.compile(r'\[(-?\d+)\] (.+?) \((\w+), ([\w.]+)\): ("(?:[^"\\]|\\.)*")(?: (\{.*\}))?')
_TOOL: Final = re.compile(r'([\w./-]+) (\{.*\}) (answered|failed): ("(?:[^"\\]|\\.)*")')
_CALLED: Final = "Called: "
_NAMED: Final = re.compile(r"([\w~-]+) \(")
_NAME_PARTS: Final = re.compile(r"[-_~ ]")
_WORDS_MAX: Final = re.compile(r"At most (\d+) words")


class Heard(NamedTuple):
    """One line of the prompt."""

    ref: str
    handle: str
    origin: str
    kind: str
    text: str
    fields_text: str = ""

    @property
    def fields(self) -> Json:
        """What the line says beside its text."""
        return _fields(self.fields_text) if self.fields_text else {}


class ToolSaid(NamedTuple):
    """One call of a tool in this act, and what came of it."""

    tool: str
    arguments: Json
    is_ok: bool
    text: str


class Identity(NamedTuple):
    """What the system message says a player is."""

    handle: str = ""
    role: str = ""
    persona: str = ""
    wants: str = ""
    cares: tuple[str, ...] = ()
    temper: str = ""
    examples: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    goal: str = ""
    language: str = "en"
    title: str = ""


class Reading:
    """A prompt as its player understands it."""

    def __init__(self, prompt: Prompt, lines_max: int | None = None, script: Script | None = None) -> None:
        self.me = identity_of(prompt.system)
        self.part = None if script is None else script.part_of(self.me.handle, self.me.persona)
        """My part in the script of my world; none if it has none for me."""
        self.schema: Any = prompt.schema
        parts = _sections(prompt.user)
        shown = {heading: _lines(parts.get(heading, ())) for heading in (REMEMBERED, DISCUSSION)}
        inward = {
            line.ref: line for lines in shown.values() for line in lines if line.kind == AGENT_REFLECTED
        }
        self.reflections = sorted(inward.values(), key=lambda line: int(line.ref))
        """What I told myself alone, oldest first. It is no part of what was said."""
        self.discussion = [line for line in shown[DISCUSSION] if line.ref not in inward]
        self._observed = [line.text for line in self.discussion if line.kind == WORLD_OBSERVED][-1:]
        self.remembered = [line for line in shown[REMEMBERED] if line.ref not in inward]
        if lines_max is not None:
            self.discussion = self.discussion[-lines_max:]
            self.remembered = []
        self.disturbances = _lines(parts.get(DISTURBANCES, ()))
        self.tools_said = _tools(parts.get(TOOLS_SAID, ()))
        """What my tools said in this act, oldest first."""
        answered = parts.get(ANSWERED, ())
        # On a tick other words stand first, and the line below them is no cause.
        self.cause = line_of(answered[0]) if answered else None
        self.read_lines = [*chain.from_iterable(parts.get(heading, ()) for heading in _READ), *answered[:1]]
        """The physical lines of all that I heard, know and answer."""
        self.usable_cache: dict[str, list[Noun]] = {}
        """The things in a text that I may speak of; worked out once for each text."""
        self.refused: list[str] = list(parts.get(LAST_ANSWER, ()))[:1]
        """What I answered before to this very prompt and did not count, as it stands there; empty on the first time."""
        self.around = "\n".join(parts.get(AROUND, ()))
        self._scene = parts.get(SCENE, ())
        self._known = parts.get(KNOWN, ())
        self.whole_discussion = self.discussion
        """The discussion with what is said of events in it."""
        self._set_events_aside()
        limit = _WORDS_MAX.search(prompt.user, max(0, len(prompt.user) - 400))
        self.words_max = int(limit[1]) if limit else words_said_default

    def _set_events_aside(self) -> None:
        """Leave out of the lines what those with parts say of an event: no game and no line of a script goes on from that."""
        part = self.part
        if part is None or not part.knows_events or not self.has_visitors:
            return
        script = part.script

        def without(line: Heard) -> Heard:
            if line.origin != "cast" or not line.text:
                return line
            return line._replace(text=script.without_event(line.handle.partition("@")[0], line.text))

        self.discussion = [without(line) for line in self.discussion]
        self.remembered = [without(line) for line in self.remembered]
        self.cause = None if self.cause is None else without(self.cause)

    @property
    def has_visitors(self) -> bool:
        """Whether somebody from outside is among those who spoke."""
        lines = (*self.disturbances, *self.discussion, *([] if self.cause is None else [self.cause]))
        return any(line.origin == "visitor" for line in lines)

    @cached_property
    def scene(self) -> str:
        """What the world looked like last: where the discussion tells it, else where it stands by itself."""
        if self._observed:
            return self._observed[0]
        scene = value_in(self._scene[0]) if self._scene else ""
        return scene if isinstance(scene, str) else ""

    @cached_property
    def known(self) -> Json:
        """What was dealt to me alone."""
        pairs = (line.partition(": ") for line in self._known)
        return {key: value_in(value) for key, _, value in pairs if key}

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        """The words that only I was told, in small letters."""
        return tuple(value.lower() for value in self.known.values() if isinstance(value, str) and value)

    @cached_property
    def last_own_place(self) -> int:
        """Where in the discussion I spoke last; before its beginning if I have not."""
        for index in range(len(self.discussion) - 1, -1, -1):
            if self.is_mine(self.discussion[index]):
                return index
        return -1

    @cached_property
    def fresh(self) -> list[Heard]:
        """What others said since I spoke last, oldest first."""
        return [line for line in self.discussion[self.last_own_place + 1 :] if line.text]

    @cached_property
    def fresh_disturbances(self) -> list[Heard]:
        """What came from outside since I spoke last, and not too long ago."""
        old = {line.ref for line in self.discussion[:-lines_disturbed_max]}
        if self.last_own_place < 0:
            return [line for line in self.disturbances if line.ref not in old]
        new = {line.ref for line in self.discussion[self.last_own_place + 1 :]}
        return [line for line in self.disturbances if line.ref in new and line.ref not in old]

    @cached_property
    def heard(self) -> list[Heard]:
        """Everything others said that I still have before me, oldest first, each once."""
        lines = {line.ref: line for line in (*self.remembered, *self.disturbances, *self.discussion)}
        if self.cause is not None:
            lines.setdefault(self.cause.ref, self.cause)
        order = {line.ref: at for at, line in enumerate(self.discussion)}
        return sorted(
            (line for line in lines.values() if not self.is_mine(line)),
            key=lambda line: order.get(line.ref, -1),
        )

    @cached_property
    def own_text(self) -> str:
        """All of mine that I can see, in small letters."""
        mine = (line.text for line in (*self.remembered, *self.discussion) if self.is_mine(line))
        return "\n".join(mine).lower()

    @cached_property
    def told_text(self) -> str:
        """What the world and my own manifest told, in small letters: words that nobody had to bring in."""
        me = self.me
        narrated = (line.text for line in self.discussion if line.origin == "world")
        written = (me.goal, me.persona, me.wants, *me.cares, *me.examples)
        return "\n".join((self.scene, *written, *narrated)).lower()

    @cached_property
    def visible_text(self) -> str:
        """All that was said before me, in small letters, a line each."""
        return "\n".join(line.text for line in (*self.remembered, *self.discussion)).lower() + "\n"

    @cached_property
    def kin(self) -> frozenset[str]:
        """The stems of what I care about and want."""
        return stems_of("; ".join((*self.me.cares, self.me.wants)))

    @cached_property
    def names(self) -> frozenset[str]:
        """The handles in sight and their parts, in small letters: names, and no topics."""
        handles = {line.handle for line in self.discussion} | {self.me.handle, "visitor", "world"}
        handles.update(_NAMED.findall(self.around))
        handles.update(title.lower() for title in (self.me.title, *self.titles.values()) if title)
        return frozenset[str]().union(*map(_parts_of_name, handles))

    @cached_property
    def cast(self) -> tuple[str, ...]:
        """The handles of everybody around and mine, in the order of the alphabet."""
        around = {name.partition("@")[0] for name in _NAMED.findall(self.around)}
        return tuple(sorted(around | {self.me.handle}))

    @cached_property
    def titles(self) -> dict[str, str]:
        """Handle -> what somebody around is called, where the prompt says so."""
        line = next((line for line in self.around.split("\n") if line.startswith(_CALLED)), "")
        pairs = (pair.partition(" is ") for pair in line.removeprefix(_CALLED).removesuffix(".").split("; "))
        return {handle: title for handle, _, title in pairs if title}

    @cached_property
    def rounds(self) -> int:
        """How often everybody here may have spoken before me: a line's number counts what I heard so far."""
        heard = int(self.discussion[-1].ref) if self.discussion else 0
        return heard // max(1, len(self.cast))

    @cached_property
    def stems_heard(self) -> frozenset[str]:
        """The stems of what was said lately since I spoke, and of what I answer."""
        lines = [*self.fresh[-4:], *self.fresh_disturbances]
        if self.cause is not None:
            lines.append(self.cause)
        return frozenset[str]().union(*(stems_of(line.text) for line in lines))

    def is_mine(self, line: Heard) -> bool:
        """Whether I said it."""
        return line.handle == self.me.handle and line.origin == "cast"


@lru_cache(maxsize=identity_cache_systems_max)
def _parts_of_name(name: str) -> frozenset[str]:
    return frozenset((name, *_NAME_PARTS.split(name.lower()))) - {""}


@lru_cache(maxsize=line_cache_lines_max)
def line_of(text: str) -> Heard | None:
    """A physical line of a prompt as what was heard; none if it is no such line."""
    match = _LINE.fullmatch(text)
    if match is None:
        return None
    ref, handle, origin, kind, said, fields = match.groups()
    spoken = value_in(said) if "\\" in said else said[1:-1]
    return Heard(ref, handle, origin, kind, spoken if isinstance(spoken, str) else "", fields or "")


@lru_cache(maxsize=identity_cache_systems_max)
def identity_of(system: str) -> Identity:
    """Who a system message says I am."""
    lines = system.partition(f"\n{HOW_TO_ANSWER}\n")[0].split("\n")
    fields: dict[str, Any] = {}
    persona = []
    opening = re.fullmatch(r"You are (.+), (\w+)\.", lines[0])
    if opening:
        fields["handle"], fields["role"] = opening.groups()
    for line in lines[1:]:
        label, parted, rest = line.partition(": ")
        if label in _LABELS and parted:
            name, many = _LABELS[label]
            fields[name] = tuple(part.strip() for part in rest.split("; ") if part.strip()) if many else rest
        elif line.startswith('- "'):
            fields.setdefault("examples", []).append(value_in(line[2:]))
        elif called := re.fullmatch(r"Others call you (.+)\.", line):
            fields["title"] = called[1]
        elif spoken := re.fullmatch(r"Speak (.+)\.", line):
            fields["language"] = spoken[1]
        elif line and line not in VOICE_HEADINGS:
            persona.append(line)
    fields["examples"] = tuple(example for example in fields.get("examples", ()) if isinstance(example, str))
    return Identity(**fields, persona=" ".join(persona))


_LABELS: Final = {
    "You want": ("wants", False),
    "You care about": ("cares", True),
    "Your temper": ("temper", False),
    "You never": ("never", True),
    "The goal of everybody here": ("goal", False),
}


def _sections(user: str) -> dict[str, list[str]]:
    parts: dict[str, list[str]] = {}
    current: list[str] = []
    for line in user.split("\n"):
        if line in _HEADINGS:
            current = parts.setdefault(line, [])
        elif line:
            current.append(line)
    return parts


def _lines(texts: Any) -> list[Heard]:
    return [line for text in texts if (line := line_of(text)) is not None]


def _tools(texts: Any) -> list[ToolSaid]:
    matches = (match.groups() for text in texts if (match := _TOOL.fullmatch(text)))
    return [
        ToolSaid(tool, _fields(arguments), how == "answered", str(value_in(said)))
        for tool, arguments, how, said in matches
    ]


@lru_cache(maxsize=line_cache_lines_max)
def _fields(text: str) -> Json:
    value = value_in(text)
    return value if isinstance(value, dict) else {}


def value_in(text: str) -> Any:
    """The JSON value that a text is; none if it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return None
