"""A run in a file: every side of its splits, what it wrote in other graphs, and the past of a branch."""

from __future__ import annotations

from pathlib import Path

import pytest

from glasshouse import Draft, Event, MemoryStore, Terrarium, kinds
from glasshouse.errors import UnknownName
from glasshouse.events import digest_of
from glasshouse.runtime.run import Run
from tests.journeys.session_files import ROLES, Role, contents, lines_of, state_of
from tests.runtime.stage_crew import on_stage, ticking, world_of

LIMITS = {"max_turns": 3, "max_calls_per_turn": 60}


async def say(t: Terrarium, who: str, text: str) -> None:
    await t.append(who, Draft(kind=kinds.AGENT_SPOKE, payload={"text": text}, private={"thought": "hush"}))


async def played_apart(t: Terrarium) -> Run:
    """A run whose graph splits in two, both of which go on until the end of the run."""
    run = await t.open_world(world_of(ticking("ada"), ticking("bo"), governor=LIMITS))
    await say(t, "ada", "together")
    await t.disconnect("ada", "bo")
    await say(t, "ada", "north")
    await say(t, "bo", "south")
    return run


async def imported(path: Path, ids: set[str]) -> tuple[Event, ...]:
    """The events with these ids, as another house reads them after importing the file twice."""
    async with Terrarium() as there:
        head = await there.import_file(path)
        before = await state_of(there)
        assert (await there.import_file(path)).id == head.id == lines_of(path)[0]["session"]
        assert await state_of(there) == before
        segments = [line["segment"]["id"] for line in lines_of(path) if "segment" in line]
        by_id = {e.id: e for session_id in segments for e in await there.events(session_id) if e.id in ids}
        return tuple(by_id.values())


async def is_carried(t: Terrarium, run_id: str, path: Path) -> None:
    """Whether a file of the run gives another house every event of it."""
    at_home = await t.run_events(run_id)
    await t.export(run_id, path, role="director")
    there = {event.id: event for event in await imported(path, {event.id for event in at_home})}
    assert list(there.keys() ^ {event.id for event in at_home}) == []
    in_order = tuple([there[event.id] for event in at_home])
    assert contents(in_order) == contents(at_home)
    assert digest_of(in_order, skews=t._house.history.skews()) == await t.digest(run_id)


@pytest.mark.parametrize("is_finished", [True, False])
async def test_a_run_that_split_is_whole_in_its_file(tmp_path: Path, *, is_finished: bool) -> None:
    async with on_stage(MemoryStore()) as t:
        run = await played_apart(t)
        if is_finished:
            await t.finish(run.id, "stopped")

        await is_carried(t, run.id, tmp_path / "play.glass")

        events = [line for line in lines_of(tmp_path / "play.glass") if "id" in line]
        assert len(events) == len(await t.run_events(run.id))
        assert {"together", "north", "south"} <= {line["payload"].get("text") for line in events}


async def test_a_run_that_met_another_and_parted_is_whole_in_its_file(tmp_path: Path) -> None:
    async with on_stage(MemoryStore()) as t:
        first = await played_apart(t)
        other = await t.open_world(world_of(ticking("cy"), governor=LIMITS))
        await t.connect("bo", "cy")
        await say(t, "bo", "met")
        await t.disconnect("bo", "cy")
        for name in ("ada", "bo", "cy"):
            await say(t, name, "parted")

        for run in (first, other):
            await is_carried(t, run.id, tmp_path / f"{run.id}.glass")


async def test_a_branch_is_in_its_file_with_its_past_and_without_the_later_events_of_its_parent(
    tmp_path: Path,
) -> None:
    async with on_stage(MemoryStore()) as t:
        run = await played_apart(t)
        branch = await t.branch(t.creature("ada").session_id)
        await say(t, "ada", "later")

        await is_carried(t, branch.id, tmp_path / "branch.glass")

        texts = {line["payload"].get("text") for line in lines_of(tmp_path / "branch.glass") if "id" in line}
        assert "together" in texts
        assert "later" not in texts
        assert run.id != branch.id


@pytest.mark.parametrize("role", ROLES)
async def test_every_side_is_redacted_for_the_role(tmp_path: Path, role: Role) -> None:
    async with on_stage(MemoryStore()) as t:
        run = await played_apart(t)

        path = await t.export(run.id, tmp_path / "play.jsonl", role=role)

    lines = {line["payload"].get("text"): line for line in lines_of(path) if "id" in line}
    thoughts = [lines[text].get("private") for text in ("together", "north", "south")]
    assert thoughts == [None if role == "spectator" else {"thought": "hush"}] * 3


async def test_a_name_that_is_neither_a_run_nor_a_session_is_refused(tmp_path: Path) -> None:
    async with on_stage(MemoryStore()) as t:
        with pytest.raises(UnknownName, match="run or session"):
            await t.export("r-nowhere", tmp_path / "play.glass")
