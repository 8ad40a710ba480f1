"""Replay of branches, branches of branches and resumed runs: it starts from the batch that restated their past."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from msgspec.structs import replace

from glasshouse import Event, Governor, Manifest, MemoryStore, Terrarium, kinds
from glasshouse.models.router import ModelRouter
from glasshouse.models.scripted import CountingModel
from glasshouse.runtime.past.what_if import WhatIf
from glasshouse.runtime.replay.record import RunRecord
from glasshouse.runtime.run import Run
from tests.runtime.test_replay import answered_otherwise, verified_otherwise
from tests.runtime.test_replay_of_changes import difference, event_of_kind, verified, with_payload
from tests.simulation.worlds_by_code import two_troupes

MOTH = Manifest(name="moth", persona="circles the lamp", subscribes_to=(kinds.AGENT_SPOKE,))


async def a_line(t: Terrarium, run: Run, index: int = -1) -> Event:
    return [event for event in await t.run_events(run.id) if event.kind == kinds.AGENT_SPOKE][index]


async def branched(t: Terrarium, run: Run, change: WhatIf | None = None, index: int = 3) -> Run:
    line = await a_line(t, run, index)
    branch = await t.branch(line.session_id, line.id, change)
    await t.run(branch.id)
    return branch


async def wood(t: Terrarium) -> Run:
    run = await t.open_world("thousand-token-wood", rng_seed=2)
    await t.run(run.id)
    return run


CHANGES = {
    "unchanged": None,
    "a line dropped": WhatIf(drop=True),
    "a line replaced": WhatIf(replace="The moon is a spoon."),
    "a disturbance": WhatIf(disturb="A bell rings."),
    "somebody more": WhatIf(add=(MOTH,)),
    "other limits": WhatIf(limits=Governor(max_turns=5)),
}


@pytest.mark.parametrize("name", CHANGES)
async def test_a_branch_comes_out_the_same_without_a_call_whatever_was_changed_in_it(name: str) -> None:
    troupe = CountingModel(ModelRouter().route("fast").model)
    async with Terrarium(MemoryStore(), models=ModelRouter(troupe)) as t:
        run = await wood(t)
        branch = await branched(t, run, CHANGES[name])
        asked = troupe.calls

        outcome = await verified(t, branch.id)

        assert outcome.is_same, difference(outcome)
        assert outcome.prompt_diffs == ()
        assert outcome.recorded_digest == await t.digest(branch.id)
        assert (outcome.grows_from, troupe.calls) == (run.id, asked)
        assert 0 < outcome.taken < outcome.events


async def test_a_branch_that_nobody_has_driven_yet_is_verified_as_far_as_it_goes() -> None:
    async with Terrarium(MemoryStore()) as t:
        line = await a_line(t, await wood(t), 3)
        branch = await t.branch(line.session_id, line.id)

        outcome = await verified(t, branch.id)

        assert outcome.is_same, difference(outcome)


async def test_a_branch_of_a_branch_and_a_branch_that_was_changed_from_outside_come_out_the_same() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await wood(t)
        line = await a_line(t, run, 3)
        first = await t.branch(line.session_id, line.id, WhatIf(disturb="A bell rings."))
        await t.step_one(first.graph_ids[0])
        moth = await t.add_creature(MOTH, graph=first.graph_ids[0], run=first.id)
        await t.step_one(first.graph_ids[0])
        await t.remove_creature(moth.id)
        await t.run(first.id)
        second = await branched(t, first, WhatIf(disturb="A second bell rings."), index=-2)

        outcomes = [await verified(t, played.id) for played in (run, first, second)]

        assert [outcome.is_same for outcome in outcomes] == [True] * 3, [
            difference(outcome) for outcome in outcomes
        ]
        assert [outcome.grows_from for outcome in outcomes] == [None, run.id, first.id]


@pytest.mark.parametrize("index", range(0, 30, 6))
async def test_a_branch_of_several_graphs_comes_out_the_same(index: int) -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world(two_troupes(), rng_seed=3)
        await t.run(run.id)
        spoken = [event for event in await t.run_events(run.id) if event.caused_by is not None]
        branch = await t.branch(spoken[index].session_id, spoken[index].id, WhatIf(disturb="A bell rings."))
        await t.run(branch.id)

        outcome = await verified(t, branch.id)

        assert outcome.is_same, difference(outcome)


@pytest.mark.parametrize("index", range(0, 20, 3))
async def test_a_branch_in_the_middle_of_an_act_with_tools_comes_out_the_same(index: int) -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("hatbox-and-cello", rng_seed=5)
        await t.run(run.id)
        on_the_way = [e for e in await t.run_events(run.id) if e.kind in kinds.MID_ACT or e.is_engine][30:]
        event = on_the_way[index % len(on_the_way)]
        branch = await t.branch(event.session_id, event.id)
        await t.run(branch.id)

        outcome = await verified(t, branch.id)

        assert outcome.is_same, difference(outcome)
        assert outcome.prompt_diffs == ()


@pytest.mark.parametrize("shape", ["recipe", "as-was"])
async def test_a_resumed_run_comes_out_the_same_here_and_from_a_file(
    shape: Literal["recipe", "as-was"], tmp_path: Path
) -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("mystery-roots", rng_seed=3)
        await t.step(5)
        await t.finish(run.id)
        session_id = (await t.run_events(run.id))[-1].session_id
        again = await t.resume(session_id, shape)
        await t.run(again.id)
        here = await verified(t, again.id)
        await t.export(session_id, tmp_path / "play.glass", role="director")

    async with Terrarium(MemoryStore()) as other:
        session = await other.import_file(tmp_path / "play.glass")
        there = await other.resume(session.id, shape)
        await other.run(there.id)
        elsewhere = await verified(other, there.id)

    assert here.is_same, difference(here)
    assert elsewhere.is_same, difference(elsewhere)
    assert (here.grows_from, elsewhere.grows_from) == (run.id, None)
    assert elsewhere.taken > 0


def restated_otherwise(record: RunRecord) -> RunRecord:
    """Somebody lives again with another persona."""
    first = record.changes[0]
    events = [
        replace(
            e, payload={**e.payload, "manifest": {**e.payload["manifest"], "persona": "is somebody else"}}
        )
        if e.kind == kinds.CREATURE_STARTED
        else e
        for e in first.events
    ]
    return replace(record, changes=(replace(first, events=tuple(events)), *record.changes[1:]))


ALTERATIONS: dict[str, Callable[[RunRecord], RunRecord]] = {
    "a line": lambda r: with_payload(r, event_of_kind(r, kinds.AGENT_SPOKE), text="I never said this."),
    "an answer": lambda r: answered_otherwise(r, -1),
    "the restating": restated_otherwise,
}


@pytest.mark.parametrize("name", ALTERATIONS)
@pytest.mark.parametrize("how", ["branch", "branch of a branch", "resume"])
async def test_a_record_that_was_tampered_with_does_not_pass(name: str, how: str) -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await wood(t)
        if how == "resume":
            again = await t.resume((await a_line(t, run)).session_id, "as-was")
            await t.disturb(again.id, "Once more.")
            await t.step(4)
        else:
            again = await branched(t, run, WhatIf(disturb="A bell rings."))
        if how == "branch of a branch":
            again = await branched(t, again, index=-3)

        honest = await verified(t, again.id)
        outcome = await verified_otherwise(t, again.id, ALTERATIONS[name])

        assert honest.is_same, difference(honest)
        assert not outcome.is_same


def tamper_with(store: MemoryStore, line: Event) -> None:
    """Change the words of a line where the store keeps them."""
    bodies = [store._bodies[index] for index in range(len(store._bodies))]
    changed = bodies[(line.position or 0) - 1].replace(b'"text":"', b'"text":"Something else. ', 1)
    bodies[(line.position or 0) - 1] = changed
    store._bodies = type(store._bodies)()
    for body in bodies:
        store._bodies.append(body)


@pytest.mark.parametrize("how", ["branch", "resume"])
async def test_a_past_that_was_tampered_with_does_not_pass(how: str) -> None:
    store = MemoryStore()
    async with Terrarium(store) as t:
        run = await wood(t)
        line = await a_line(t, run, -1 if how == "resume" else 3)
        if how == "resume":
            again = await t.resume(line.session_id, "as-was")
            await t.disturb(again.id, "Once more.")
            await t.step(4)
        else:
            again = await branched(t, run, WhatIf(disturb="A bell rings."))
        tamper_with(store, line)

        outcome = await verified(t, again.id)

        assert not outcome.is_same
        assert outcome.prompt_diffs


@pytest.mark.parametrize("index", [0, 1, 2])
async def test_a_branch_that_begins_in_the_middle_of_ticks_that_go_together_comes_out_the_same(
    index: int,
) -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world(two_troupes(), rng_seed=2)
        await t.run(run.id)
        branch = await branched(t, run, index=index)

        outcome = await verified(t, branch.id)

        assert outcome.is_same, difference(outcome)
        assert outcome.prompt_diffs == ()


async def test_what_happened_at_one_time_in_old_and_new_sessions_keeps_its_order_in_a_replay() -> None:
    async with Terrarium(MemoryStore()) as t:
        for _ in range(3):
            await t.open_world(
                two_troupes()
            )  # So that the house has seen more sessions than the replay will.
        run = await t.open_world(two_troupes(), rng_seed=2)
        await t.step(1)
        branch = await t.branch(t.graph(run.graph_ids[0]).session_id)
        await t.remove_channel(branch.graph_ids[0], "stage")
        await t.run(branch.id)

        outcome = await verified(t, branch.id)

        assert outcome.is_same, difference(outcome)
