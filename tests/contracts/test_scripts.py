"""The scripts of the bundled worlds: each file is sound, and each line that is said meets its conditions.

A new script is covered without a line of test.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import glasshouse
from glasshouse.events import kinds
from glasshouse.manifests import load_world
from glasshouse.manifests.scripts import checked_script
from glasshouse.manifests.world_folders import bundled_worlds
from glasshouse.scripts.script import ACTS, CUES, GAME_FACT, GAME_SLOTS, SLOT, Entry, Script, bound_name
from glasshouse.scripts.script_names import unanswered_cues
from glasshouse.scripts.script_text import CONDITIONS, read_script
from glasshouse.troupe.reading import Identity
from glasshouse.troupe.voice import breaks_a_vow, voice_of
from glasshouse.turns.replies.copied import is_copy
from tests.contracts.scripted_plays import ScriptedPlay, script_named, scripted_play
from tests.pages import page_text

SCRIPTS = sorted(world.name for world in bundled_worlds())
PLAYS = range(3)
WORDS_OF_A_THING = 3
FIXED = {"seed", "seed.a", "seed.full", "X", "a X", "x", "you", "who", *GAME_SLOTS}


def entries_of(script: Script) -> Iterator[Entry]:
    for entries in script.parts.values():
        yield from entries


def longest_said(script: Script, text: str) -> str:
    """A line with the longest thing in each of its slots."""

    def filling(slot: str) -> str:
        listed = [
            value
            for name, values in bound_lists(script)
            if name == slot.partition("=")[0]
            for value in values
        ]
        return max(
            listed, key=lambda value: len(value.split()), default=" ".join(["thing"] * WORDS_OF_A_THING)
        )

    return SLOT.sub(lambda match: filling(match[1].partition(":")[0]), text)


def bound_lists(script: Script) -> list[tuple[str, tuple[str, ...]]]:
    slots = {
        slot
        for entry in entries_of(script)
        for phrasing in entry.phrasings
        for slot in phrasing.slots
        if "=" in slot
    }
    return [(slot.partition("=")[0], script.lists[slot.partition("=")[2]]) for slot in sorted(slots)]


def names_used(entry: Entry) -> set[str]:
    pairs = {name for pair in (*entry.more, *entry.even) for name in pair}
    refs = {value[1:].removesuffix("*") for _, value in entry.fields if value.startswith("@")}
    cited = {
        slot.partition(":")[2]
        for phrasing in entry.phrasings
        for slot in phrasing.slots
        if ":" in slot and slot[0] not in "Xxa"
    }
    every = {*entry.after, *entry.excluded, *pairs, *refs, *cited, *(name for name, _ in entry.later)}
    every |= {name for either in entry.needs for name in either}
    return {name.removeprefix("kept:") for name in every if not name.startswith(GAME_FACT)}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_names_only_what_there_is(name: str) -> None:
    script = script_named(name)
    known = {name for entry in entries_of(script) for name in entry.names}
    bound = {slot for slot, _ in bound_lists(script)}
    lists = {
        slot.partition("=")[2]
        for e in entries_of(script)
        for phrasing in e.phrasings
        for slot in phrasing.slots
        if "=" in slot
    }

    assert {
        entry.id: names_used(entry) - known for entry in entries_of(script) if names_used(entry) - known
    } == {}
    assert lists <= set(script.lists)
    unknown = [
        (entry.id, slot)
        for entry in entries_of(script)
        for phrasing in entry.phrasings
        for slot in phrasing.slots
        if "=" not in slot and ":" not in slot and bound_name(slot) and slot not in bound | FIXED
    ]
    assert unknown == []
    assert [entry.id for entry in entries_of(script) if not entry.phrasings] == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_part_is_somebodys_and_keeps_to_words_and_vows(name: str) -> None:
    world = load_world(name)
    script = script_named(name)
    cast = world.manifests
    wrong = []
    for handle, entries in script.parts.items():
        character = cast[handle]
        me = Identity(handle=handle, persona=character.persona, never=tuple(character.voice.never))
        assert script.part_of(me.handle, me.persona) is not None, f"the persona of {handle} has other words"
        for entry in entries:
            for phrasing in entry.phrasings:
                text = longest_said(script, phrasing.text)
                if len(text.split()) > character.voice.say_words_max:
                    wrong.append(f"{entry.id} has {len(text.split())} words: {text}")
                if breaks_a_vow(text, voice_of(me).forbidden):
                    wrong.append(f"{entry.id} breaks a vow: {text}")
            wrong += [f"{entry.id} is said to nobody: {handle}" for handle in entry.to if handle not in cast]

    assert wrong == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_line_belongs_to_two_entries(name: str) -> None:
    script = script_named(name)

    fixed = Counter(phrasing.longest for entry in entries_of(script) for phrasing in entry.phrasings)

    assert [longest for longest, times in fixed.items() if times > 1] == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_part_has_a_line_of_its_voice(name: str) -> None:
    """The engine would ask for such a line again."""
    cast = load_world(name).manifests
    copied = []
    for handle, entries in script_named(name).parts.items():
        voice = cast[handle].voice
        for entry in entries if not voice.may_repeat else ():
            # A slot is filled with one word: the shorter, the more of the line is the frame.
            texts = [SLOT.sub("thing", phrasing.text) for phrasing in entry.phrasings]
            copied += [f"{entry.id}: {text}" for text in texts if is_copy(text, voice.examples)]

    assert copied == []


@cache
def plays_of(name: str) -> list[ScriptedPlay]:
    return [scripted_play(name, number) for number in PLAYS]


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_line_of_a_play_is_asked_for_again(name: str) -> None:
    acts = [event for played in plays_of(name) for event in played.events if event.ends_its_act]

    assert [event.payload for event in acts if event.kind == kinds.LOOP_SUSPECTED] == []
    # The first call, and one after each answer of a tool.
    again = [event for event in acts if event.model is not None and len(event.calls) > 1 and not event.tools]
    assert [event.payload["text"] for event in again] == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_what_is_said_met_its_conditions_and_is_said_once(name: str) -> None:
    for played in plays_of(name):
        said: list[Entry] = []
        graphs_said = Counter[tuple[str, str]]()
        for line in played.lines:
            entry = line.entry
            if entry is None:
                continue
            known = {fact for before in said for fact in before.names}
            where = f"{name}, rng seed {played.rng_seed}, {entry.id}"
            assert not entry.after or entry.after & known, where
            kept_aside = [
                {fact for fact in either if not fact.startswith(("kept:", GAME_FACT))}
                for either in entry.needs
            ]
            assert all(not either or either & known for either in kept_aside if len(either) > 0), where
            plots = {group: chosen for before in reversed(said) for group, chosen in before.plots}
            if len(script_named(name).movements) and not _is_divided(played):
                assert all(plots.get(group, chosen) == chosen for group, chosen in entry.plots), where
                assert not entry.excluded & known, where
            if not entry.is_repeatable:
                graphs_said[entry.id, str(line.event.actor)] += 1
            said.append(entry)
        assert [text for text, times in graphs_said.items() if times > 1] == [], played.rng_seed


def _is_divided(played: ScriptedPlay) -> bool:
    """Whether the play was in several graphs: there nobody knows what was decided elsewhere."""
    return len({line.event.graph_id for line in played.lines}) > 1


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ("* a ask\n  Who?", 1, 1, "a heading comes first"),
        ("[part a: b]\n* a shout\n  Hey!", 2, 5, "no act is called 'shout'"),
        (
            "[part a: b]\n* a ask\n  Who?\n* a ask\n  Who else?",
            4,
            3,
            "a is there twice: line 2 has it already",
        ),
        ("[part a: b]\n* a ask hear=b\n  Who?", 2, 9, "no condition is called 'hear'. Did you mean 'hears'?"),
        ("[part a: b]\n* a ask on=beet\n  Who?", 2, 12, "no cue is called 'beet'. Did you mean 'beat'?"),
        ("[part a: b]\n* a ask wait=long\n  Who?", 2, 14, "long is no whole number"),
        ("[part a: b]\n* a ask chance=often\n  Who?", 2, 16, "often is no number"),
        ("[part a: b]\n* a ask\n  Who is {X?", 3, 10, "a slot is not closed"),
        ("[part a: b]\n* a ask\n* b ask\n  Who?", 2, 1, "a says nothing"),
        ("[part a: b]\n* a ask\n  Who?\n[part a: c]\n", 4, 7, "a has a part in line 1 already"),
        ("[part a: b]\n  Who?", 2, 1, "an entry begins with * ID ACT"),
        ("[movements]\ntwo: It rains", 2, 1, "a movement is written as"),
        ("[cast]\n", 1, 1, "a heading is"),
    ],
)
def test_what_is_wrong_in_a_script_is_told_with_its_line(
    text: str, line: int, column: int, problem: str
) -> None:
    problems = checked_script(text).problems

    assert [(fault.path, fault.line, fault.column) for fault in problems] == [("script.txt", line, column)]
    assert problem in problems[0].text


def test_every_fault_of_a_script_is_told_at_once() -> None:
    text = "[part a: b]\n* a shout\n  Hey!\n* b ask on=fire\n  Who?\n* c ask\n  Where is {it?\n"

    assert [fault.line for fault in read_script(text).faults] == [2, 4, 7]


def test_every_condition_is_described() -> None:
    page = page_text("docs/reference/scripts.md")

    assert [word for word in CONDITIONS if f"`{word}=" not in page] == []
    assert [word for word in ACTS if not re.search(rf"\b{word}\b", page)] == []
    assert [word for word in CUES if f"`{word}`" not in page] == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_judges_ask_for_larger_models_than_those_they_judge(name: str) -> None:
    sizes = {
        handle: (manifest.role == "judge", manifest.model_profile)
        for handle, manifest in load_world(name).manifests.items()
    }

    assert [
        handle
        for handle, (is_judge, size) in sizes.items()
        if is_judge and size not in {"balanced", "strong"}
    ] == []
    assert [
        handle for handle, (is_judge, size) in sizes.items() if not is_judge and size not in {"tiny", "fast"}
    ] == []


def test_every_bundled_world_has_a_script_and_some_have_a_narrator() -> None:
    worlds = [load_world(world.name) for world in bundled_worlds()]

    assert [world.scenario.name for world in worlds if not world.script] == []
    narrators = [
        handle
        for world in worlds
        for handle, manifest in world.manifests.items()
        if "world.observed" in manifest.may_emit
    ]
    assert len(narrators) >= 3


@pytest.mark.parametrize("name", SCRIPTS)
def test_somebody_answers_whatever_is_asked_in_a_bundled_world(name: str) -> None:
    read = read_script(load_world(name).script or "")

    assert [fault.text for fault in unanswered_cues(read)] == []


def test_the_troupe_names_no_creature_and_no_world_that_comes_with_it() -> None:
    worlds = [load_world(world.path) for world in bundled_worlds()]
    names = {world.scenario.name for world in worlds} | {name for world in worlds for name in world.manifests}
    telling = sorted(name for name in names if "-" in name)
    folder = Path(glasshouse.__file__).parent
    files = [*folder.glob("troupe/**/*.*"), *folder.glob("scripts/*.py"), *folder.glob("turns/**/*.py")]
    texts = {
        path: path.read_text(encoding="utf-8") for path in files if path.suffix in {".py", ".txt", ".tsv"}
    }

    assert len(telling) > 50
    assert [(path.name, name) for path, text in texts.items() for name in telling if name in text] == []


def test_lines_of_a_game_belong_to_a_part_of_the_script() -> None:
    (fault,) = read_script("[lines magpie: fresh]\nand one more\n").faults

    assert (fault.line, fault.text) == (1, "there is no part of magpie above. Write one first.")
