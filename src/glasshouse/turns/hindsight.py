"""Hindsight: which lines stood in a prompt, read back from its text, and found again among the events of the past.

Always holds: a line is taken for an event only if the event, written as that line, has the line's number; so a line is
never put into the wrong mouth. Where a prompt is gone, what was in sight is told by the rule of hearing alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from json import JSONDecodeError, JSONDecoder
from typing import Final

from msgspec.structs import replace

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.turns import prompt as prompt_parts
from glasshouse.turns.character import character_of
from glasshouse.turns.quoting import cut
from glasshouse.turns.reading import is_line_for, line_chars_max, number_of, speaker_of
from glasshouse.turns.renaming import Renamed
from glasshouse.turns.tables import Tables
from glasshouse.views.why import Section, SeenLine
from glasshouse.world.hearing import as_it_stood, visible_to, wire_that_handed
from glasshouse.world.lineage import visible_prefixes
from glasshouse.world.state import CreatureState, World

seen_lines_max: Final = 256
"""So many lines of a prompt are told; a judge's prompt has most."""

_LINE: Final = re.compile(
    r'\[(#[0-9]{5}[a-z]*)\] (.*?) \((?:cast|visitor|tool|import|world), ([a-z0-9_.]+)\): (".*)'
)
_SECTIONS: Final[dict[str, Section]] = {
    prompt_parts.DISCUSSION: "discussion",
    prompt_parts.SCENE: "scene",
    prompt_parts.KNOWN: "known",
    prompt_parts.REMEMBERED: "remembered",
    prompt_parts.DISTURBANCES: "disturbances",
    prompt_parts.ANSWERED: "answered",
}
_decode: Final = JSONDecoder().raw_decode


def lines_in(user: str) -> list[SeenLine]:
    """The lines of a prompt's user message, in their order; each is told once, where it stands first."""
    found: dict[str, SeenLine] = {}
    section: Section | None = None
    for text in user.split("\n"):
        if text == prompt_parts.LAST_ANSWER:
            break
        if text.isupper() and text.replace(" ", "").isalpha():
            section = _SECTIONS.get(text)
        elif section is not None and (line := _line(section, text)) is not None:
            found.setdefault(line.ref or f"{section} {text}", line)
    return list(found.values())[:seen_lines_max]


def _line(section: Section, text: str) -> SeenLine | None:
    if section == "known":
        key, _, value = text.partition(": ")
        return SeenLine(section, "world", kinds.WORLD_OBSERVED, f"{key}: {value}")
    if section == "scene":
        return SeenLine(section, "world", kinds.WORLD_OBSERVED, _said(text))
    parts = _LINE.fullmatch(text)
    if parts is None:
        return None
    ref, who, kind, body = parts.groups()
    return SeenLine(section, who, kind, _said(body), ref=ref)


def _said(body: str) -> str:
    """The words in the quotation marks that a text opens with."""
    try:
        said, _ = _decode(body)
    except JSONDecodeError:
        return body
    return said if isinstance(said, str) else body


ByWords = dict[tuple[str, str], list[Event]]
"""Events by their kind and words, oldest first."""


def by_words(past: Iterable[Event]) -> ByWords:
    """Events that are lines, so that lines of prompts can be looked up among them."""
    found: ByWords = {}
    for event in past:
        if event.kind not in kinds.NO_LINES:
            found.setdefault(_words(event.kind, event.payload.get("text")), []).append(event)
    return found


def found_again(
    lines: Sequence[SeenLine], past: ByWords, handles: Mapping[str, str], lamport: int
) -> list[SeenLine]:
    """The lines with the events they are, as far as those are among the past, and not later than a time.

    `handles` are those that the speakers of the past have now. A line may show another: whoever was renamed since, or is
    shown under a label, is found by the words alone if nobody else has that name.
    """
    ids: dict[str, str] = {}
    for group in _alike(lines).values():
        alike = past.get(_words(group[0].kind, group[0].text), ())
        events = _by_speaker(
            group[0].who,
            [event for event in alike if event.lamport <= lamport and _is(group[0], event)],
            handles,
        )
        # Of lines that read alike the newest has the last letter.
        for line, event in zip(reversed(group), reversed(events), strict=False):
            ids[_key(line)] = event.id
    return [replace(line, event_id=ids.get(_key(line))) for line in lines]


def _by_speaker(who: str, events: list[Event], handles: Mapping[str, str]) -> list[Event]:
    spoken = [event for event in events if speaker_of(event.actor, handles.get(event.actor))[0] == who]
    if spoken or who in handles.values():
        return spoken
    return events if len({event.actor for event in events}) == 1 else []


def _alike(lines: Iterable[SeenLine]) -> dict[str, list[SeenLine]]:
    """Lines by their bare number, those with the later letters last; lines without a number by themselves."""
    groups: dict[str, list[SeenLine]] = {}
    for line in lines:
        if line.section != "known":
            groups.setdefault((line.ref or _key(line)).rstrip("abcdefghijklmnopqrstuvwxyz"), []).append(line)
    return {
        bare: sorted(group, key=lambda one: (len(one.ref or ""), one.ref or ""))
        for bare, group in groups.items()
    }


def _key(line: SeenLine) -> str:
    return line.ref or f"{line.section}: {line.text}"


def _words(kind: str, text: object) -> tuple[str, str]:
    return kind, cut(text, line_chars_max) if isinstance(text, str) else ""


def _is(line: SeenLine, event: Event) -> bool:
    if line.ref is None:
        return event.payload.get("text") == line.text
    return line.ref[1:6] == str(number_of(event, line.who))


class OldNames:
    """What creatures that live again call the events of the past they took over."""

    def __init__(self, world: World, tables: Tables) -> None:
        self._sessions = world.sessions
        self._renamed = tables.renamed
        self._ways_cache: dict[str, list[tuple[dict[str, int], Renamed]]] = {}

    def heard_by(self, creature: CreatureState, event: Event) -> Event:
        """An event with the names of the present, if it is of such a past; any other as it is."""
        for prefixes, renamed in self._ways(creature.reborn) if creature.reborn else ():
            if event.seq <= prefixes.get(event.session_id, 0):
                return renamed.heard_now(event)
        return event

    def _ways(self, reborn: str) -> list[tuple[dict[str, int], Renamed]]:
        """Each session that gave a past on: what it sees of its ancestors, and how their names read now."""
        found = self._ways_cache.get(reborn)
        if found is None:
            ways, found = reborn.split(), []
            for number, session_id in enumerate(ways):
                prefixes = visible_prefixes(self._sessions, session_id)
                del prefixes[session_id]
                renamed = self._renamed.get(" ".join(ways[number:]))
                if renamed is not None:
                    found.append((prefixes, renamed))
            self._ways_cache[reborn] = found
        return found


def in_sight(
    world: World,
    creature: CreatureState,
    past: Iterable[Event],
    lamport: int,
    cause: Event | None,
) -> list[SeenLine]:
    """The newest lines that a creature could see at a time, as many as its window holds, and what it answered.

    The past and the cause are given with the names of the present.
    """
    facts = world.manifests.get(creature.manifest_digest)
    character = character_of({"name": creature.id} if facts is None else facts.manifest)
    window = seen_lines_max if character.role == "judge" else character.memory.window
    then = as_it_stood(creature, lamport)
    seen = [e for e in past if e.lamport <= lamport and is_line_for(creature.id, e) and visible_to(then, e)]
    lines = [_told(world, "discussion", event) for event in seen[-window:]] if window else []
    if cause is not None and is_line_for(creature.id, cause) and cause not in seen[-window:]:
        wire = None if visible_to(then, cause) else wire_that_handed(creature, cause)
        is_kept_back = wire is not None and not wire.with_content
        lines.append(_told(world, "answered", replace(cause, payload={}) if is_kept_back else cause))
    return lines


def _told(world: World, section: Section, event: Event) -> SeenLine:
    text = event.payload.get("text")
    who = handle_of(world, event.actor)
    return SeenLine(section, who, event.kind, text if isinstance(text, str) else "", event.id)


def handle_of(world: World, actor: str) -> str:
    """The name by which people know an actor: its handle, now or when it went."""
    creature = world.ever(actor)
    return speaker_of(actor, actor if creature is None else creature.handle)[0]
