"""Runs that were recorded before prompts had a number: they verify as they are on record, continue, branch and meet new runs.

`tests/old_files/prompting-1` holds them. `tests/old_files/record_prompting_1.py` says how they were recorded.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from msgspec.structs import replace

from glasshouse import Event, Manifest, SqliteStore, Terrarium, kinds
from glasshouse.events.payloads import RunStarted, payload_of, prompting_now
from glasshouse.manifests.world_folders import BUNDLED, bundled_worlds
from glasshouse.models.router import ModelRouter
from glasshouse.models.scripted import ScriptedModel
from glasshouse.runtime.house import House
from glasshouse.runtime.past.what_if import WhatIf
from glasshouse.runtime.replay.record import RunRecord, record_of
from glasshouse.runtime.replay.replay import Verification, compared
from glasshouse.terrarium import verify
from tests.runtime.stage_crew import ANSWER, on_stage, ticking, world_of
from tests.runtime.troupe import soon

OLD = Path(__file__).resolve().parent.parent / "old_files" / "prompting-1"
WORLDS = [world.name for world in bundled_worlds()]
OTHERS = ["scripted-server", "smollm2"]
turn_branched_at = 2


@pytest.fixture(autouse=True)
def beside_the_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs name their worlds by a path from here; one has a referee beside its files."""
    monkeypatch.chdir(BUNDLED.parent)


def old_store(name: str, folder: Path) -> SqliteStore:
    path = folder / f"{name}.glasshouse"
    path.write_bytes(gzip.decompress((OLD / f"{path.name}.gz").read_bytes()))
    return SqliteStore(path)


def numbers_in(events: tuple[Event, ...]) -> list[int]:
    """The numbers under which acts were written, in the order of commits, each once."""
    in_order = sorted(events, key=lambda event: event.position or 0)
    numbers = [event.model.prompting for event in in_order if event.model is not None]
    return list(dict.fromkeys(numbers))


async def verified_from_record(t: Terrarium, run_id: str) -> Verification:
    verification = await verify(t, run_id)
    assert verification.is_same, (verification.recorded_event, verification.replayed_event)
    assert verification.prompt_diffs == ()
    return verification


@pytest.mark.parametrize("name", [*WORLDS, *OTHERS])
async def test_every_run_verifies_and_verify_says_that_prompts_were_not_built_again(
    name: str, tmp_path: Path
) -> None:
    async with Terrarium(old_store(name, tmp_path)) as t:
        for run in t.runs():
            acts = [event for event in await t.run_events(run.id) if event.calls and event.ends_its_act]

            verification = await verified_from_record(t, run.id)

            assert run.prompting == 1
            assert numbers_in(tuple(acts)) in ([1], [])
            assert verification.acts_not_thought_again > 0
            assert verification.prompting_then == (1,)
            assert "were not built again" in verification.prompts_not_built
            assert f"number 1 then, and this version asks under number {prompting_now}" in (
                verification.prompts_not_built
            )


@pytest.mark.parametrize("name", WORLDS)
async def test_a_run_that_was_left_goes_on_under_the_new_number_and_both_parts_verify(
    name: str, tmp_path: Path
) -> None:
    store = old_store(name, tmp_path)
    async with Terrarium(store) as t:
        before = await verified_from_record(t, "r-left")
        note = t.run_of("r-left").prompting_note
        await soon(t.run("r-left", turns=1))

    async with Terrarium(SqliteStore(tmp_path / f"{name}.glasshouse")) as t:
        events = await t.run_events("r-left")
        after = await verified_from_record(t, "r-left")

    assert f"was begun under prompting number 1 and goes on under number {prompting_now}" in note
    assert numbers_in(events) == [1, prompting_now]
    assert kinds.RUN_CONTINUED not in [event.kind for event in events]
    assert after.events > before.events
    assert after.acts_not_thought_again == before.acts_not_thought_again


@pytest.mark.parametrize("name", WORLDS)
async def test_a_branch_is_played_under_the_new_number_and_says_that_its_calls_are_paid_anew(
    name: str, tmp_path: Path
) -> None:
    async with Terrarium(old_store(name, tmp_path)) as t:
        turns = [event for event in await t.run_events("r-whole") if event.kind == kinds.TURN_STARTED]
        at = turns[turn_branched_at]

        branch = await t.branch(at.session_id, at.id, WhatIf(disturb="A bell rings twice."))
        await soon(t.run(branch.id, turns=2))

        own = tuple([event for event in await t.run_events(branch.id) if event.run_id == branch.id])
        started = payload_of(next(event for event in own if event.kind == kinds.RUN_STARTED), RunStarted)
        verification = await verified_from_record(t, branch.id)

    assert started.prompting == prompting_now
    assert started.branch_of is not None
    assert started.branch_of.prompting == 1
    assert "made and paid anew" in branch.prompting_note
    assert numbers_in(own) == [prompting_now]
    assert verification.acts_not_thought_again == 0
    assert verification.prompts_not_built == ""


async def test_an_act_that_was_interrupted_after_a_tool_goes_on_and_loses_no_paid_call(
    tmp_path: Path,
) -> None:
    models = ModelRouter(ScriptedModel(ANSWER))
    async with Terrarium(old_store("scripted-server", tmp_path), models=models) as t:
        calls_paid = t.run_of("r-paused").calls

        await t.continue_run("r-paused")
        await soon(t.run("r-paused"))

        events = await t.run_events("r-paused")
        acts = [
            event for event in events if event.ends_its_act and event.caused_by and event.actor == "ada~2"
        ]
        called = [event for event in events if event.kind == kinds.TOOL_CALLED]
        assert t.run_of("r-paused").is_finished
        assert len(called) == 1
        assert acts[0].tools[0] == called[0].id
        assert [numbers_in((called[0],)), numbers_in((acts[0],))] == [[1], [prompting_now]]
        assert t.run_of("r-paused").calls > calls_paid > 0
        assert (await verified_from_record(t, "r-paused")).acts_not_thought_again == 1


async def test_runs_of_two_numbers_in_one_graph_are_each_replayed_by_their_own(tmp_path: Path) -> None:
    async with Terrarium(old_store("twenty-sprouts", tmp_path)) as t:
        old_acts = (await verify(t, "r-left")).acts_not_thought_again
        new = await t.open_world(world_of(ticking("cy"), governor={"max_turns": 3}))
        old_creature = t.graph(t.run_of("r-left").graph_ids[0]).creature_ids[0]

        await t.connect(old_creature, "cy")
        await soon(t.run(new.id, turns=3))

        of_old = await verified_from_record(t, "r-left")
        of_new = await verified_from_record(t, new.id)
        assert numbers_in(await t.run_events("r-left"))[0] == 1
        assert of_old.acts_not_thought_again == old_acts
        assert of_new.acts_not_thought_again == 0


async def test_an_old_run_that_came_in_a_file_verifies_and_branches(tmp_path: Path) -> None:
    async with Terrarium(old_store("twenty-sprouts", tmp_path)) as t:
        await t.export("r-whole", tmp_path / "old.glass", role="director")

    async with Terrarium(SqliteStore(tmp_path / "other.glasshouse")) as t:
        session = await t.import_file(tmp_path / "old.glass")
        verification = await verified_from_record(t, "r-whole")
        turns = [event for event in await t.events(session.id) if event.kind == kinds.TURN_STARTED]
        branch = await t.branch(turns[1].session_id, turns[1].id)

        assert verification.acts_not_thought_again == 15
        assert branch.prompting_of_past == 1
        assert "made and paid anew" in branch.prompting_note


async def test_why_shows_the_prompts_of_an_old_run_as_they_were(tmp_path: Path) -> None:
    async with Terrarium(old_store("twenty-sprouts", tmp_path)) as t:
        line = next(event for event in await t.run_events("r-whole") if event.calls)

        link = (await t.why(line.id, role="director")).links[0]

        assert link.prompts[0].user
        assert link.missing == ()


def with_completions(record: RunRecord, text: str) -> RunRecord:
    """The same record, but every model had answered this."""

    def spoilt(event: Event) -> Event:
        if event.model is None:
            return event
        calls = tuple([replace(call, completion=text) for call in event.model.calls])
        return replace(event, model=replace(event.model, calls=calls))

    changes = [replace(change, events=tuple(map(spoilt, change.events))) for change in record.changes]
    return replace(record, changes=tuple(changes), story=tuple(map(spoilt, record.story)))


async def compared_as(t: Terrarium, record: RunRecord, prompting: int) -> Verification:
    house: House = t._house
    return await compared(house, t._parts.tools, record, prompting)


async def test_replies_are_read_again_under_the_number_of_this_version_and_under_no_other() -> None:
    async with on_stage(models=ModelRouter(ScriptedModel(ANSWER))) as t:
        run = await t.open_world(world_of(ticking("ada"), ticking("bo"), governor={"max_turns": 2}))
        await soon(t.run(run.id))
        record = await record_of(t._house, run.id)
        unusable = with_completions(record, "This is no reply in any form.")

        as_new = await compared_as(t, unusable, prompting_now)
        as_other = await compared_as(t, unusable, prompting_now + 1)
        sound = await compared_as(t, record, prompting_now)

        assert not as_new.is_same
        assert as_other.is_same
        assert as_other.acts_not_thought_again == 4
        assert as_other.prompting_then == (prompting_now,)
        assert (sound.is_same, sound.acts_not_thought_again, sound.prompts_not_built) == (True, 0, "")


async def test_prompts_are_compared_under_the_number_of_this_version_and_under_no_other() -> None:
    def elsewhere(event: Event) -> Event:
        if event.model is None:
            return event
        calls = tuple([replace(call, user="0" * len(call.user)) for call in event.model.calls])
        return replace(event, model=replace(event.model, calls=calls))

    async with on_stage(models=ModelRouter(ScriptedModel(ANSWER))) as t:
        run = await t.open_world(world_of(ticking("ada"), governor={"max_turns": 2}))
        await soon(t.run(run.id))
        record = await record_of(t._house, run.id)
        changes = [replace(change, events=tuple(map(elsewhere, change.events))) for change in record.changes]
        record = replace(record, changes=tuple(changes), story=tuple(map(elsewhere, record.story)))

        assert len((await compared_as(t, record, prompting_now)).prompt_diffs) == 2
        assert (await compared_as(t, record, prompting_now + 1)).prompt_diffs == ()


async def test_a_new_run_records_its_number_once_and_for_each_act() -> None:
    async with on_stage(models=ModelRouter(ScriptedModel(ANSWER))) as t:
        run = await t.open_world(world_of(ticking("ada"), governor={"max_turns": 1}))
        alone = await t.add_creature(Manifest(name="cy", schedule={"tick_every": 1}))
        await soon(t.run(run.id))
        await soon(t.run(alone.run_id or "", turns=1))

        for run_id in (run.id, alone.run_id or ""):
            events = await t.run_events(run_id)
            begun = [event for event in events if event.kind == kinds.RUN_STARTED]
            assert [payload_of(event, RunStarted).prompting for event in begun] == [prompting_now]
            assert numbers_in(events) == [prompting_now]
            assert t.run_of(run_id).prompting_note == ""
