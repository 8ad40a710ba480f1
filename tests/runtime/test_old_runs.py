"""Runs that were recorded before the rules changed: they open, read, export, continue and branch, and verify says why not.

`tests/old_files/rules-1.glasshouse.gz` and `rules-1.glass` were written under rules number 1: a finished run, two that were left in
the middle (one of them deferred what a full turn left over), and one that a full turn ended.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from glasshouse import Refused, SqliteStore, Terrarium, kinds
from glasshouse.events.payloads import RunFinished, RunStarted, payload_of, rules_now
from glasshouse.manifests import Manifest
from glasshouse.runtime.past.what_if import WhatIf
from glasshouse.terrarium import verify
from tests.runtime.stage_crew import world_of
from tests.runtime.troupe import soon

OLD = Path(__file__).resolve().parent.parent / "old_files"
FINISHED, LEFT, ENDED_FULL, DEFERRED = "r-whole", "r-left", "r-loop", "r-deferred"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "old.glasshouse"
    path.write_bytes(gzip.decompress((OLD / "rules-1.glasshouse.gz").read_bytes()))
    return path


async def test_they_open_and_read_as_they_were(store: Path) -> None:
    async with Terrarium(SqliteStore(store)) as t:
        states = {run.id: (run.status, run.turns, run.calls) for run in t.runs()}
        history = await t.run_events(FINISHED)

        assert states == {
            FINISHED: ("finished", 15, 15),
            LEFT: ("playing", 8, 21),
            ENDED_FULL: ("finished", 1, 6),
            DEFERRED: ("playing", 2, 6),
        }
        assert payload_of(history[0], RunStarted).rules == 1
        assert history[-1].kind == kinds.RUN_FINISHED
        assert t.run_of(ENDED_FULL).axis == "max_calls_per_turn"


@pytest.mark.parametrize("run_id", [FINISHED, LEFT, ENDED_FULL, DEFERRED])
async def test_verify_says_in_words_that_they_were_played_under_older_rules(store: Path, run_id: str) -> None:
    async with Terrarium(SqliteStore(store)) as t:
        with pytest.raises(
            Refused, match=r"played under older rules \(number 1; this version .* number \d+\)"
        ):
            await verify(t, run_id)


@pytest.mark.parametrize("run_id", [LEFT, DEFERRED])
async def test_they_continue_to_their_end(store: Path, run_id: str) -> None:
    async with Terrarium(SqliteStore(store)) as t:
        before = len(await t.run_events(run_id))

        await soon(t.run(run_id))

        events = await t.run_events(run_id)
        assert len(events) > before
        assert t.run_of(run_id).is_finished
        ends = [(e.actor, e.caused_by) for e in events if e.ends_its_act and e.caused_by is not None]
        assert len(ends) == len(set(ends))


@pytest.mark.parametrize("run_id", [FINISHED, LEFT, ENDED_FULL, DEFERRED])
async def test_a_branch_is_played_under_the_new_rules_and_verifies(store: Path, run_id: str) -> None:
    async with Terrarium(SqliteStore(store)) as t:
        turns = [event for event in await t.run_events(run_id) if event.kind == kinds.TURN_STARTED]

        branch = await t.branch(turns[-1].session_id, turns[-1].id, WhatIf(disturb="A bell rings twice."))
        await soon(t.run(branch.id))

        begun = [event for event in await t.run_events(branch.id) if event.kind == kinds.RUN_STARTED]
        assert payload_of(begun[-1], RunStarted).rules == rules_now
        assert (await verify(t, branch.id)).is_same


async def test_they_are_exported_and_imported(store: Path, tmp_path: Path) -> None:
    async with Terrarium(SqliteStore(store)) as t:
        session_id = t.graph(t.run_of(LEFT).graph_ids[0]).session_id
        there = [event.id for event in await t.events(session_id)]
        await t.export(session_id, tmp_path / "now.glass")

    for path in (tmp_path / "now.glass", OLD / "rules-1.glass"):
        async with Terrarium(SqliteStore(tmp_path / f"{path.stem}.glasshouse")) as t:
            imported = await t.import_file(path)
            assert [event.id for event in await t.events(imported.id)] == there


async def test_a_run_that_shared_a_graph_with_an_older_one_says_so(store: Path) -> None:
    async with Terrarium(SqliteStore(store)) as t:
        new = await t.open_world(
            world_of(Manifest(name="cy", schedule={"tick_every": 1}), governor={"max_turns": 2})
        )
        old = t.graph(t.run_of(DEFERRED).graph_ids[0]).creature_ids[0]
        await t.connect(old, "cy")
        await soon(t.run(new.id))

        with pytest.raises(
            Refused, match=f"Run {DEFERRED}, which shared a graph with it, was played under older rules"
        ):
            await verify(t, new.id)


async def test_what_continues_may_bundle_and_still_ends_once(store: Path) -> None:
    async with Terrarium(SqliteStore(store)) as t:
        await soon(t.run(DEFERRED))

        events = await t.run_events(DEFERRED)
        (end,) = [payload_of(event, RunFinished) for event in events if event.kind == kinds.RUN_FINISHED]
        assert end.turns == 3
        assert 6 < end.calls <= 9, "what it had used before counts, and no turn has more than three calls"
