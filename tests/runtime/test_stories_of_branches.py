"""The story of a branch and of its parent: each event once, in order, and no creature twice."""

from __future__ import annotations

from pathlib import Path

from glasshouse import Event, StageProjection, WhatIf, kinds, rebuild_stage
from glasshouse.models.router import ModelRouter
from glasshouse.models.scripted import CountingModel, ScriptedModel
from glasshouse.terrarium import Terrarium
from glasshouse.views.transcript import transcript_of
from tests.runtime.stage_crew import ANSWER, Speaker, hearing, show, ticking, world_of

ADA, BO = ticking("ada"), hearing("bo")
LIMITS = {"max_turns": 4, "max_calls_per_turn": 8}


def stage_of(events: tuple[Event, ...], run_id: str) -> StageProjection:
    return rebuild_stage(events, run_id)


async def begun(terrarium: Terrarium, turns: int = 2) -> str:
    run = await terrarium.open_world(world_of(ADA, BO, governor=LIMITS))
    await terrarium.step(turns)
    return run.id


async def test_a_run_that_is_not_over_has_nothing_of_its_branches_in_its_story() -> None:
    async with show() as terrarium:
        run_id = await begun(terrarium)
        before, digest = await terrarium.run_events(run_id), await terrarium.digest(run_id)

        branch = await terrarium.branch(before[-1].session_id, None, WhatIf(disturb="A hen."))
        await terrarium.run(branch.id)

        assert await terrarium.run_events(run_id) == before
        assert await terrarium.digest(run_id) == digest


async def test_a_branch_of_a_branch_tells_both_pasts_before_its_own_lines_wherever_it_begins() -> None:
    async with show() as terrarium:
        run_id = await begun(terrarium, 4)
        (first_end,) = (await terrarium.run_events(run_id))[-1:]
        first = await terrarium.branch(first_end.session_id, None, WhatIf(disturb="A hen."))
        await terrarium.run(first.id)
        own = [event for event in await terrarium.run_events(first.id) if event.run_id == first.id]
        for at in own[1:]:
            second = await terrarium.branch(at.session_id, at.id)
            events = await terrarium.run_events(second.id)
            forks = [n for n, e in enumerate(events) if e.session_id == second.session_id]

            assert forks == list(range(forks[0], len(events))), at


async def test_the_stage_of_a_branch_has_its_past_and_everybody_once() -> None:
    async with show(minds={"ada": Speaker(), "bo": Speaker()}) as terrarium:
        run_id = await begun(terrarium, 4)
        events = await terrarium.run_events(run_id)
        at = next(event for event in events if event.payload.get("text") == "ada2")

        branch = await terrarium.branch(at.session_id, at.id, WhatIf(disturb="A hen.", remove=("bo",)))
        await terrarium.run(branch.id)

        story = await terrarium.run_events(branch.id)
        stage = stage_of(story, branch.id)
        assert [member.handle for member in stage.cast.values()] == ["ada"]
        assert stage.past_run_ids == (run_id,)
        assert [note.text for note in stage.agent_notes][:2] == ["ada1", "bo2"]
        assert [line.text for line in transcript_of(story, branch.id) if line.text].count("ada2") == 1
        assert stage.run is stage.runs[branch.id]


async def test_a_stage_of_everything_keeps_parent_and_branch_side_by_side() -> None:
    async with show() as terrarium:
        run_id = await begun(terrarium)
        events = await terrarium.run_events(run_id)

        branch = await terrarium.branch(events[-1].session_id)

        both = rebuild_stage(
            [*events, *[e for e in await terrarium.run_events(branch.id) if e not in events]]
        )
        assert sorted(both.cast) == ["ada", "ada~2", "bo", "bo~2"]


async def test_calls_that_are_answered_from_the_record_are_counted() -> None:
    async with show() as terrarium:
        run_id = await begun(terrarium, 4)
        await terrarium.run(run_id)
        events = await terrarium.run_events(run_id)
        at = next(event for event in events if event.turn == 3)
        left = [event for event in events if event.model and (event.position or 0) > (at.position or 0)]

        branch = await terrarium.branch(at.session_id, at.id)
        await terrarium.run(branch.id)

        assert branch.branch_of == run_id
        assert terrarium.run_of(branch.id).calls_recalled == len(left) > 0
        assert terrarium.run_of(run_id).calls_recalled == 0


async def test_what_is_resumed_in_another_house_under_the_same_names_has_a_digest(tmp_path: Path) -> None:
    async with show() as terrarium:
        run_id = await begun(terrarium)
        first = await terrarium.branch((await terrarium.run_events(run_id))[-1].session_id)
        await terrarium.step(1)
        session_id = terrarium.graph(terrarium.run_of(first.id).graph_ids[0]).session_id
        await terrarium.export(session_id, tmp_path / "play.glass", role="director")

    digests: list[str] = []
    names: list[str] = []
    for _ in range(2):
        async with show() as terrarium:
            session = await terrarium.import_file(tmp_path / "play.glass")
            run = await terrarium.resume(session.id, "as-was")
            await terrarium.step(1)
            names = [
                e.payload["creature"] for e in await terrarium.run_events(run.id) if _is_birth(e, run.id)
            ]
            digests.append(await terrarium.digest(run.id))

    assert names == ["ada", "bo"]
    assert digests[0] == digests[1]


def _is_birth(event: Event, run_id: str) -> bool:
    return event.kind == kinds.CREATURE_STARTED and event.payload.get("run_id") == run_id


async def test_a_branch_of_a_branch_is_answered_from_the_record_of_both_its_parents() -> None:
    model = CountingModel(ScriptedModel(ANSWER))
    async with show(models=ModelRouter(model)) as terrarium:
        run_id = await begun(terrarium, 4)
        await terrarium.run(run_id)
        events, asked = await terrarium.run_events(run_id), model.calls
        first = await terrarium.branch(events[-1].session_id, events[len(events) // 2].id)

        second = await terrarium.branch(first.session_id)
        await terrarium.run(second.id)

        assert await terrarium.digest(second.id) == await terrarium.digest(run_id)
        assert model.calls == asked


async def test_what_a_wire_handed_over_before_a_branch_is_known_in_it() -> None:
    bo = hearing("bo", kinds.JUDGE_VERDICT)
    cast = [
        {"use": "ada", "wires": ["bo"], "channels": {"send": ["a"], "listen": ["b"]}},
        {"use": "bo", "channels": {"send": ["b"], "listen": []}},
    ]
    async with show(minds={"ada": Speaker(), "bo": Speaker()}) as terrarium:
        run = await terrarium.open_world(
            world_of(ADA, bo, cast=cast, channels={"a": {}, "b": {}}, governor=LIMITS)
        )
        await terrarium.run(run.id)
        line = next(e for e in await terrarium.run_events(run.id) if e.payload.get("text") == "ada2")

        branch = await terrarium.branch(line.session_id, line.id)
        await terrarium.run(branch.id)

        answer = next(
            e
            for e in await terrarium.run_events(branch.id)
            if e.caused_by == line.id and e.run_id == branch.id
        )
        (last, *_) = (await terrarium.why(answer.id)).links
        assert (last.who, last.came) == ("bo", "wire")
        assert {knower.creature for knower in (await terrarium.who_knew(line.id)).knowers} >= {
            "bo",
            "bo~2",
            "ada~2",
        }


async def test_sessions_that_grew_from_a_branch_keep_its_time_when_they_are_carried_elsewhere(
    tmp_path: Path,
) -> None:
    async with show() as there:
        run = await there.open_world(world_of(ticking("ada"), ticking("bo")))
        await there.step(2)
        branch = await there.branch(there.graph(run.graph_ids[0]).session_id)
        (graph_id,) = branch.graph_ids
        await there.step(1)
        first, other = there.graph(graph_id).creature_ids
        await there.disconnect(first, other)
        await there.disconnect(other, first)
        grown = there.creature(first).session_id
        skew = there._house.history.skews()[grown]
        await there.export(grown, tmp_path / "grown.glass", role="director")

    async with show() as here:
        imported = await here.import_file(tmp_path / "grown.glass")

        assert skew > 0
        assert here._house.history.skews()[imported.id] == skew
