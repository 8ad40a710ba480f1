"""A world's own script: `script.txt` in its folder, from which the offline troupe plays.

Always holds: a script is a UTF-8 file of the world's folder, of bounded size; no link leads out of it. Whoever checks a world and whoever
plays one read it here, so what was checked is what is played.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from glasshouse.events.kinds import AGENT_REFLECTED
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.problem import Problem, shown, unknown
from glasshouse.manifests.scenario import Scenario
from glasshouse.manifests.world_folders import SCRIPT_FILE
from glasshouse.manifests.yaml_source import shown_path
from glasshouse.scripts.script_names import unanswered_cues, unknown_names
from glasshouse.scripts.script_text import ReadScript, ScriptFault, read_script

script_bytes_max: Final = 262_144
"""A longer script is refused: it is kept in memory while its world plays. The longest bundled one has less than half of that."""

ANSWERED_BESIDE_THE_CAST: Final = frozenset({"turn", "visitor", "world"})
"""What `answers=` may name beside handles."""


_SEED_BEHIND_A_COLON: Final = re.compile(r": [^.;:!?]*\{seed\}")


class NoScript(Exception):
    """Why a script cannot be used."""


def read_script_file(file: Path) -> str | None:
    """The text of a script; none if there is no such file. Raises `NoScript` if it cannot be used."""
    if not file.is_file():
        return None
    if not file.resolve().is_relative_to(file.parent.resolve()):
        raise NoScript("it is a link out of the world's folder. Put the file itself there.")
    try:
        with file.open("rb") as opened:
            content = opened.read(script_bytes_max + 1)
    except OSError as fault:
        raise NoScript(f"it cannot be read ({fault.strerror}). Check that it may be read.") from fault
    if len(content) > script_bytes_max:
        raise NoScript(f"it has more than {script_bytes_max:,} bytes. Shorten it.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = content[: fault.start].count(b"\n") + 1
        raise NoScript(f"line {line} is not UTF-8. Save it as UTF-8.") from fault


class ScriptOfWorld(NamedTuple):
    """A world's script, if it has one that can be used, and what is wrong with it."""

    text: str | None
    problems: list[Problem]


def script_of_world(file: Path) -> ScriptOfWorld:
    """The script of a world, whether or not it fits its cast."""
    try:
        text = read_script_file(file)
    except NoScript as fault:
        return ScriptOfWorld(None, [Problem(shown_path(file), 0, 0, "", str(fault))])
    if text is None:
        return ScriptOfWorld(None, [])
    return checked_script(text, shown_path(file))


def checked_script(text: str, path: str = SCRIPT_FILE) -> ScriptOfWorld:
    """A script as a text, checked by itself."""
    if len(text.encode("utf-8", "surrogatepass")) > script_bytes_max:
        fault = f"it has more than {script_bytes_max:,} bytes. Shorten it."
        return ScriptOfWorld(None, [Problem(path, 0, 0, "", fault)])
    read = read_script(text)
    problems = _problems([*read.faults, *unknown_names(read)], path)
    return ScriptOfWorld(None if problems else text, problems)


def cast_of(scenario: Scenario, manifests: Mapping[str, Manifest]) -> dict[str, Manifest]:
    """The creatures of a world by handle; those that may be born have their names."""
    handles = {**{name: name for name in scenario.spawnable}, **scenario.cast_by_handle}
    return {handle: manifests[name] for handle, name in handles.items() if name in manifests}


def handles_of(scenario: Scenario) -> list[str]:
    """All handles of a world; creatures that may be born have their names."""
    return [*scenario.cast_by_handle, *scenario.spawnable]


def tells_seed_behind_a_colon(scenario: Scenario) -> bool:
    """Whether an opening names the seed where a player finds it: the troupe reads nothing but what its prompt shows."""
    openings = (scenario.opening, *(troupe.opening for troupe in scenario.troupes.values()))
    return any(_SEED_BEHIND_A_COLON.search(opening) for opening in openings if opening)


def advice_on_script(
    text: str, cast: Mapping[str, Manifest], known: Collection[str], path: str, *, tells_seed: bool = True
) -> list[Problem]:
    """What may surprise whoever plays a sound script. The cast is what is known of the world's creatures, by handle; `known` are all handles.

    What does not fit the world is no fault: a part that nobody has is not played. So a script stays with a world whose cast was edited.
    """
    read = read_script(text)
    faults = [*_what_does_not_fit(read, cast, known), *unanswered_cues(read), *_lines_too_long(read, cast)]
    faults += [] if tells_seed else _seeds_that_are_not_told(read)
    return _problems(faults, path)


def _problems(faults: Iterable[ScriptFault], path: str) -> list[Problem]:
    return [Problem(path, fault.line, fault.column, "", _words_of(fault)) for fault in sorted({*faults})]


def _words_of(fault: ScriptFault) -> str:
    return unknown(fault.noun, fault.name, fault.known) if fault.noun else fault.text


def _what_does_not_fit(
    read: ReadScript, cast: Mapping[str, Manifest], known: Collection[str]
) -> Iterator[ScriptFault]:
    """Parts that are nobody's, lines to nobody, and kinds that their creature does not write."""
    handles = tuple(dict.fromkeys(known))
    for handle, words in read.script.personas.items():
        line = read.part_lines[handle]
        if handle not in handles:
            yield ScriptFault(line, len("[part ") + 1, "", "creature", handle, handles)
        elif handle in cast and words not in _one_line(cast[handle].persona):
            text = f"the persona of {handle} does not have the words {shown(words)}. Its part is not played. Write some that stand in it."
            yield ScriptFault(line, len(f"[part {handle}: ") + 1, text)
    for placed in read.entries:
        entry = placed.entry
        for handle in sorted(
            {*entry.to, *entry.company, *entry.absent, *(entry.answers - ANSWERED_BESIDE_THE_CAST)}
        ):
            if handle not in handles:
                column = placed.header.find(handle) + 1
                yield ScriptFault(placed.line, column, "", "creature", handle, handles)
        # Whether it reflects is its memory's, not in what it may write.
        writes = {*cast[entry.handle].may_emit, AGENT_REFLECTED} if entry.handle in cast else {entry.kind}
        if entry.kind and entry.kind not in writes:
            column = placed.header.find(f"kind={entry.kind}") + len("kind=") + 1
            yield ScriptFault(
                placed.line, column, "", f"kind of {entry.handle}", entry.kind, tuple(sorted(writes))
            )


def _seeds_that_are_not_told(read: ReadScript) -> Iterator[ScriptFault]:
    for placed in read.entries:
        for phrasing, line in zip(placed.entry.phrasings, placed.phrasing_lines, strict=True):
            slot = next((slot for slot in phrasing.slots if slot.partition(".")[0] == "seed"), None)
            if slot is not None:
                text = f"no opening names the seed behind a colon, so {{{slot}}} is unknown. This line is not said. Write `: {{seed}}` in the opening."
                yield ScriptFault(line, phrasing.text.find(f"{{{slot}}}") + 3, text)


def _lines_too_long(read: ReadScript, cast: Mapping[str, Manifest]) -> Iterator[ScriptFault]:
    for placed in read.entries:
        manifest = cast.get(placed.entry.handle)
        words_max = None if manifest is None else manifest.voice.say_words_max
        for phrasing, line in zip(placed.entry.phrasings, placed.phrasing_lines, strict=True):
            words = len(phrasing.text.split())
            if words_max is not None and words > words_max:
                text = f"{placed.entry.handle} says at most {words_max} words, and this line has {words}. It is not said. Shorten it."
                yield ScriptFault(line, 1, text)


def _one_line(text: str) -> str:
    return " ".join(text.split())
