"""Names in a script: what an entry needs that no entry is called, slots and lists that there are not, and cues that nobody takes.

Always holds: only the script itself is read. Whether its parts fit a world is looked at where the world is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from glasshouse.scripts.script import (
    AGREEING,
    EVENT,
    EVENT_ACTS,
    EVENT_SLOTS,
    GAME_FACT,
    GAME_SLOTS,
    REMARKS,
    Entry,
    bound_name,
)
from glasshouse.scripts.script_text import PlacedEntry, ReadScript, ScriptFault

KEPT: Final = "kept:"
"""How the names begin of lines that a judge kept or cited."""
FIXED_SLOTS: Final = ("X", "a X", "x", "seed", "seed.a", "seed.full", "you", "who", REMARKS)
"""Slots that every script has."""
WANTS: Final = ("open", "blocked", "got", "lost")
"""How it can stand with what somebody wants."""
AWAITING: Final = frozenset({"ask", "offer", "accuse"})
"""Acts that wait for an answer of whom they are said to."""


def unknown_names(read: ReadScript) -> list[ScriptFault]:
    """The names in a script that stand for nothing, each where it stands."""
    names = sorted({name for placed in read.entries for name in placed.entry.names})
    bound = sorted(
        {
            bound_name(slot)
            for placed in read.entries
            for phrasing in placed.entry.phrasings
            for slot in phrasing.slots
            if "=" in slot
        }
    )
    faults: list[ScriptFault] = []
    for placed in read.entries:
        faults += _unknown_entries(placed, tuple(names))
        faults += _unknown_slots(placed, read, tuple(names), tuple(bound))
        faults += _unknown_movements(placed, read)
        if placed.entry.on == EVENT and placed.entry.act not in EVENT_ACTS:
            faults.append(_fault(placed, "act of an event", placed.entry.act, EVENT_ACTS))
        if placed.entry.want and placed.entry.want not in WANTS:
            faults.append(_fault(placed, "want", placed.entry.want, WANTS))
    return faults


def _fault(placed: PlacedEntry, noun: str, name: str, known: tuple[str, ...]) -> ScriptFault:
    # A name may be a part of another one: it stands behind a mark of a condition.
    places = [
        placed.header.find(f"{mark}{name}") + len(mark)
        for mark in "=,|>:@"
        if f"{mark}{name}" in placed.header
    ]
    return ScriptFault(placed.line, min(places, default=0) + 1, "", noun, name, known)


def names_needed(entry: Entry) -> set[str]:
    """The names of lines on which an entry depends."""
    pairs = {name for pair in (*entry.more, *entry.even) for name in pair}
    refs = {value[1:].removesuffix("*") for _, value in entry.fields if value.startswith("@")}
    either = {name for names in entry.needs for name in names}
    later = {name for name, _ in entry.later}
    return {*entry.after, *entry.excluded, *pairs, *refs, *either, *later}


def _unknown_entries(placed: PlacedEntry, names: tuple[str, ...]) -> Iterator[ScriptFault]:
    for name in sorted(names_needed(placed.entry)):
        if not name.startswith(GAME_FACT) and name.removeprefix(KEPT) not in names:
            yield _fault(placed, "line", name, names)


def _unknown_slots(
    placed: PlacedEntry, read: ReadScript, names: tuple[str, ...], bound: tuple[str, ...]
) -> Iterator[ScriptFault]:
    lists = tuple(read.script.lists)
    of_event = EVENT_SLOTS if placed.entry.on == EVENT else ()
    known = (*bound, *FIXED_SLOTS, *of_event)
    lines = zip(placed.entry.phrasings, placed.phrasing_lines, strict=True)
    for phrasing, line in lines:
        for slot in phrasing.slots:
            column = phrasing.text.find(f"{{{slot}}}") + 1 + len("  ")
            name, parted, rest = slot.partition("=")
            if parted and rest not in lists:
                yield ScriptFault(line, column, "", "list", rest, lists)
            if parted or slot in AGREEING or slot in GAME_SLOTS or slot in FIXED_SLOTS or slot in of_event:
                continue
            name, cited, rest = slot.partition(":")
            if cited and name in {"X", "x", "a X"}:
                continue  # Behind it stand classes of things.
            if cited and rest not in names:
                yield ScriptFault(line, column, "", "line", rest, names)
            if name != "by" and name not in bound:
                yield ScriptFault(line, column, "", "slot", name, known)


def _unknown_movements(placed: PlacedEntry, read: ReadScript) -> Iterator[ScriptFault]:
    known = {1, *(number for number, _ in read.script.movements)}
    for number in sorted(placed.entry.movements - known):
        text = f"movement {number} never begins. Write it under [movements]."
        yield ScriptFault(placed.line, placed.header.find("in=") + 1, text)


def unanswered_cues(read: ReadScript) -> list[ScriptFault]:
    """The lines that wait for an answer and that no line of another part takes up."""
    cues = [placed for placed in read.entries if placed.entry.act in AWAITING and placed.entry.to]
    return [_unanswered(placed) for placed in cues if not _is_answered(read, placed.entry)]


def _unanswered(placed: PlacedEntry) -> ScriptFault:
    entry = placed.entry
    text = f"no line answers {entry.id}. Give {' or '.join(sorted(entry.to))} one with after={entry.id}."
    return ScriptFault(placed.line, placed.header.find(entry.id) + 1, text)


def _is_answered(read: ReadScript, cue: Entry) -> bool:
    others = (placed.entry for placed in read.entries if placed.entry.handle != cue.handle)
    return any(
        entry.after & cue.names or any(names & cue.names for names in entry.needs) or _hears(entry, cue)
        for entry in others
    )


def _hears(entry: Entry, cue: Entry) -> bool:
    """Whether an entry answers words of a line."""
    return any(words in phrasing.text.lower() for words in entry.hears for phrasing in cue.phrasings)
