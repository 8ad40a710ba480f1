"""A world's own script: it is checked with its world, comes with the run, and a changed one plays on."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from glasshouse import Event, MemoryStore, ModelRouter, Terrarium, play, verify
from glasshouse.errors import BadWorld
from glasshouse.manifests import LoadedWorld, load_world
from glasshouse.manifests.loading import problems_in, warnings_in
from glasshouse.manifests.scripts import script_bytes_max
from glasshouse.scripts.script_text import script_digest
from glasshouse.troupe.model import OfflineModel
from glasshouse.turns.moment.prompt import Completion, Prompt

SCENARIO = """\
name: pond
goal: Find out whose the boot is.
cast: [heron, frog]
governor: {max_turns: 4}
ends_when: {kind: agent.spoke, count: 6}
"""
CREATURE = "name: {name}\npersona: {persona}\nschedule: {{tick_every: 1}}\n"
SCRIPT = """\
[list places]
the reeds
the jetty

[part heron: stands on one leg]
* ask-boot ask to=frog
  Frog, whose boot is that under {place=places}?
[part frog: sits on a leaf]
* own-boot answer after=ask-boot to=heron
  Mine. I left it under {place} in April.
"""


def pond(folder: Path, script: str | None = SCRIPT) -> Path:
    world = folder / "pond"
    (world / "creatures").mkdir(parents=True)
    (world / "scenario.yaml").write_text(SCENARIO)
    for name, persona in (
        ("heron", "A heron that stands on one leg."),
        ("frog", "A frog that sits on a leaf."),
    ):
        (world / "creatures" / f"{name}.yaml").write_text(CREATURE.format(name=name, persona=persona))
    if script is not None:
        (world / "script.txt").write_text(script)
    return world


def lines_in(events: tuple[Event, ...]) -> list[str]:
    return [str(event.payload["text"]) for event in events if event.kind == "agent.spoke"]


def served_by(events: tuple[Event, ...]) -> set[str]:
    return {call.served_by for event in events for call in event.calls}


def recorded_digests(events: tuple[Event, ...]) -> set[str]:
    started = next(event for event in events if event.kind == "run.started")
    return {entry.get("model_digest", "") for entry in started.payload["cast"]}


def test_a_world_plays_from_the_script_beside_it_and_the_record_says_which(tmp_path: Path) -> None:
    played = play(pond(tmp_path), rng_seed=3)

    first, second = lines_in(played.events)[:2]
    assert first.startswith("Frog, whose boot is that under the ")
    assert second.startswith(
        f"Mine. I left it under {first.removeprefix('Frog, whose boot is that under ')[:-1]} in April."
    )
    assert served_by(played.events) == recorded_digests(played.events) == {script_digest(SCRIPT)}


class Loud(OfflineModel):
    """The troupe in a class of somebody's own."""

    async def complete(self, prompt: Prompt) -> Completion:
        completion = await super().complete(prompt)
        return replace(completion, text=completion.text.replace("boot", "BOOT"))


async def test_a_class_made_of_the_troupe_plays_from_the_script_too(tmp_path: Path) -> None:
    async with Terrarium(models=ModelRouter(Loud())) as t:
        run = await t.open_world(load_world(pond(tmp_path)), rng_seed=3)
        await t.run(run.id)
        events = await t.run_events(run.id)

    assert lines_in(events)[0].startswith("Frog, whose BOOT is that under the ")
    assert served_by(events) == {script_digest(SCRIPT)}


REMARKS = (
    SCRIPT.replace("Mine. I left it under {place} in April.", "Mine. {remarks}").replace(
        "answer after", "answer means=whose after"
    )
    + """\
* of-april remark needs=ask-boot
  I left it there in April.
* of-size remark needs=ask-boot
  It was too large.
* of-owner remark needs=ask-boot not=whose
  Ask the frog.
* of-rain remark needs=of-april
  It rained on it.
"""
)


def test_a_line_takes_all_remarks_that_fit_but_those_that_it_excludes_itself(tmp_path: Path) -> None:
    events = play(str(pond(tmp_path, REMARKS)), store=MemoryStore(), rng_seed=1).events

    assert "Mine. I left it there in April. It was too large." in lines_in(events)


def test_a_line_for_remarks_is_not_said_where_none_fits(tmp_path: Path) -> None:
    script = SCRIPT.replace("Mine. I left it under {place} in April.", "Mine. {remarks}")
    events = play(str(pond(tmp_path, script)), store=MemoryStore(), rng_seed=1).events

    assert [line for line in lines_in(events) if line.startswith("Mine.")] == []


async def test_two_worlds_with_the_same_parts_play_each_from_its_own_script(tmp_path: Path) -> None:
    other = SCRIPT.replace("boot", "bell")
    worlds = [load_world(pond(tmp_path / "one")), load_world(pond(tmp_path / "two", other))]

    async with Terrarium(MemoryStore()) as t:
        runs = [await t.open_world(world) for world in worlds]
        await t.run()
        first_lines = [lines_in(await t.run_events(run.id))[0] for run in runs]
        same = [(await verify(t, run.id)).is_same for run in runs]

    assert ["boot" in first_lines[0], "bell" in first_lines[1]] == [True, True]
    assert same == [True, True]


async def test_a_script_given_in_python_plays_and_comes_with_a_branch(tmp_path: Path) -> None:
    files = load_world(pond(tmp_path, None))
    world = LoadedWorld.of(files.scenario, files.manifests.values(), script=SCRIPT)

    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world(world)
        await t.run(run.id, turns=1)
        child = await t.branch((await t.run_events(run.id))[-1].session_id)
        await t.run(child.id)
        events = await t.run_events(child.id)

    assert "Mine. I left it" in " ".join(lines_in(events))
    assert served_by(events) == {script_digest(SCRIPT)}


@pytest.mark.parametrize("now", [None, SCRIPT.replace("in April", "in June"), "[part heron: stands"])
async def test_a_run_that_goes_on_plays_the_script_that_is_there_now(tmp_path: Path, now: str | None) -> None:
    world, store = pond(tmp_path), tmp_path / "show.glasshouse"
    async with Terrarium(store) as t:
        run = await t.open_world(world)
        await t.run(run.id, turns=1)
        before = len(await t.run_events(run.id))
        unchanged = await t.script_change(run.id)
    script = world / "script.txt"
    script.unlink() if now is None else script.write_text(now)

    async with Terrarium(store) as t:
        change = await t.script_change(run.id)
        await t.run(run.id)
        events = await t.run_events(run.id)
        is_identical = (await verify(t, run.id)).is_same

    is_played = now is not None and "June" in now
    assert served_by(events[before:]) == {script_digest(now) if is_played and now else ""}
    assert ("changed" if is_played else "the general grammar plays") in change
    assert unchanged == ""
    assert is_identical


async def test_a_resumed_world_has_the_script_of_now_and_says_so(tmp_path: Path) -> None:
    world, store = pond(tmp_path), tmp_path / "show.glasshouse"
    now = SCRIPT.replace("in April", "in June")
    async with Terrarium(store) as t:
        run = await t.open_world(world)
        await t.run(run.id, turns=1)
        await t.finish(run.id)
        session_id = (await t.run_events(run.id))[-1].session_id
    (world / "script.txt").write_text(now)

    async with Terrarium(store) as t:
        child = await t.resume(session_id)
        change = await t.script_change(child.id)
        await t.run(child.id)
        events = await t.run_events(child.id)

    assert recorded_digests(tuple(event for event in events if event.run_id == child.id)) == {
        script_digest(now)
    }
    assert "The script of pond has changed" in change


def test_a_world_that_is_a_file_has_a_script_of_its_own_name(tmp_path: Path) -> None:
    world = pond(tmp_path, None)
    (tmp_path / "pond.yaml").write_text(SCENARIO)
    (world / "creatures").rename(tmp_path / "creatures")
    (tmp_path / "pond.script.txt").write_text(SCRIPT)
    (tmp_path / "script.txt").write_text("[part nobody: of this world]\n")

    assert load_world(tmp_path / "pond.yaml").script == SCRIPT
    assert problems_in(tmp_path / "pond.yaml") == []


def with_line(old: str, new: str) -> str:
    assert old in SCRIPT
    return SCRIPT.replace(old, new)


@pytest.mark.parametrize(
    ("script", "position", "words"),
    [
        (with_line("after=ask-boot", "after=ask-boat"), "9:25", "no line is called 'ask-boat'. Did you mean 'ask-boot'?"),
        (with_line("{place=places}", "{place=palces}"), "7:34", "no list is called 'palces'. Did you mean 'places'?"),
        (with_line("{place} in", "{plaec} in"), "10:25", "no slot is called 'plaec'. Did you mean 'place'?"),
        (with_line("after=ask-boot", "after=ask-boot in=2"), "9:34", "movement 2 never begins"),
        (with_line("after=ask-boot", "after=ask-boot want=gone"), "9:39", "no want is called 'gone'"),
        (with_line("ask to=", "aks to="), "6:12", "no act is called 'aks'. Did you mean 'ask'?"),
    ],
)  # fmt: skip
def test_check_tells_what_is_wrong_in_a_script_with_its_line(
    tmp_path: Path, script: str, position: str, words: str
) -> None:
    problems = problems_in(pond(tmp_path, script))

    assert f"script.txt:{position}: " in str(problems[0])
    assert words in problems[0].text


@pytest.mark.parametrize(
    ("script", "position", "words"),
    [
        (with_line("[part frog:", "[part frgo:"), "8:7", "no creature is called 'frgo'. Did you mean 'frog'?"),
        (with_line("sits on a leaf", "sits on a chair"), "8:13", "the persona of frog does not have the words"),
        (with_line("to=frog", "to=forg"), "6:19", "no creature is called 'forg'. Did you mean 'frog'?"),
        (with_line("after=ask-boot", "after=ask-boot kind=frog.sang"), "9:39", "no kind of frog is called 'frog.sang'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_the_world_is_told_and_the_world_plays(
    tmp_path: Path, script: str, position: str, words: str
) -> None:
    world = pond(tmp_path, script)

    warnings = warnings_in(world)

    assert problems_in(world) == []
    assert any(f"script.txt:{position}: " in str(warning) and words in warning.text for warning in warnings)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"#" * (script_bytes_max + 1), "it has more than 262,144 bytes"),
        (b"[part heron: stands]\n\xff\n", "line 2 is not UTF-8"),
    ],
)
def test_a_script_that_cannot_be_read_is_a_problem(tmp_path: Path, content: bytes, words: str) -> None:
    world = pond(tmp_path)
    (world / "script.txt").write_bytes(content)

    with pytest.raises(BadWorld, match=words):
        load_world(world)


def test_a_script_is_no_link_out_of_its_world(tmp_path: Path) -> None:
    world = pond(tmp_path, None)
    (tmp_path / "elsewhere.txt").write_text(SCRIPT)
    (world / "script.txt").symlink_to(tmp_path / "elsewhere.txt")

    assert "it is a link out of the world's folder" in problems_in(world)[0].text


def test_check_tells_which_questions_no_line_answers(tmp_path: Path) -> None:
    world = pond(tmp_path, with_line(" after=ask-boot", "").replace("{place}", "them"))

    assert [str(warning).partition("script.txt:")[2] for warning in warnings_in(world)] == [
        "6:3: no line answers ask-boot. Give frog one with after=ask-boot."
    ]


def test_check_tells_which_lines_name_a_seed_that_no_opening_tells(tmp_path: Path) -> None:
    world = pond(tmp_path, SCRIPT.replace("Mine. I left", "Mine is {seed}. I left"))
    scenario = world / "scenario.yaml"
    scenario.write_text(f"{SCENARIO}seeds: [a red boot]\nopening: 'By the water lies {{seed}}.'\n")
    without_colon = [str(warning).partition("script.txt:")[2] for warning in warnings_in(world)]

    scenario.write_text(f"{SCENARIO}seeds: [a red boot]\nopening: 'By the water lies this: {{seed}}.'\n")

    assert without_colon == [
        "10:11: no opening names the seed behind a colon, so {seed} is unknown. This line is not said. Write `: {seed}` in the opening."
    ]
    assert warnings_in(world) == []
    assert "Mine is the red boot." in lines_in(play(world).events)[1]


def test_an_edited_script_is_another_world(tmp_path: Path) -> None:
    before = load_world(pond(tmp_path)).digest
    (tmp_path / "pond/script.txt").write_text(f"{SCRIPT}# edited\n")

    assert load_world(tmp_path / "pond").digest != before
