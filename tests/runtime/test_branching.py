"""Branches: a branch shares its parent's past up to an event and does not change the parent."""

from __future__ import annotations

import pytest

from glasshouse import Event, Governor, Manifest, Refused, kinds
from glasshouse.errors import UnknownName
from glasshouse.models.router import ModelRouter
from glasshouse.models.scripted import CountingModel, ScriptedModel
from glasshouse.runtime.past.what_if import WhatIf
from glasshouse.terrarium import Terrarium, verify
from tests.runtime.stage_crew import ANSWER, Speaker, hearing, show, ticking, world_of
from tests.simulation.worlds_by_code import two_troupes

ADA, BO = ticking("ada"), hearing("bo")
APART = world_of(ADA, BO, troupes={"north": {"cast": ["ada"]}, "south": {"cast": ["bo"]}})


def counting() -> tuple[CountingModel, Terrarium]:
    model = CountingModel(ScriptedModel(ANSWER))
    return model, show(models=ModelRouter(model))


async def played(terrarium: Terrarium, turns: int = 4) -> tuple[str, tuple[Event, ...]]:
    run = await terrarium.open_world(
        world_of(ADA, BO, governor={"max_turns": turns, "max_calls_per_turn": 8})
    )
    await terrarium.run(run.id)
    return run.id, await terrarium.run_events(run.id)


async def test_an_unchanged_branch_of_any_event_has_the_digest_of_its_parent_and_asks_nobody() -> None:
    model, terrarium = counting()
    async with terrarium:
        run_id, events = await played(terrarium)
        digest, asked = await terrarium.digest(run_id), model.calls
        for event in events:
            branch = await terrarium.branch(event.session_id, event.id)
            await terrarium.run(branch.id)
            assert await terrarium.digest(branch.id) == digest, event
        assert model.calls == asked
        assert await terrarium.run_events(run_id) == events


async def test_a_run_of_two_graphs_branches_as_a_whole() -> None:
    async with show() as terrarium:
        run = await terrarium.open_world(two_troupes())
        await terrarium.run(run.id)
        events = await terrarium.run_events(run.id)
        digest = await terrarium.digest(run.id)

        for event in events[:: max(1, len(events) // 12)]:
            branch = await terrarium.branch(event.session_id, event.id)
            assert len(branch.graph_ids) == 2
            await terrarium.run(branch.id)
            assert await terrarium.digest(branch.id) == digest, event


async def test_a_branch_of_a_branch_remembers_both_pasts() -> None:
    model, terrarium = counting()
    async with terrarium:
        run_id, events = await played(terrarium)
        first = await terrarium.branch(events[len(events) // 2].session_id, events[len(events) // 2].id)
        await terrarium.run(first.id)
        own = [event for event in await terrarium.run_events(first.id) if event.run_id == first.id]
        asked = model.calls
        second = await terrarium.branch(own[-3].session_id, own[-3].id)
        await terrarium.run(second.id)

        assert await terrarium.digest(second.id) == await terrarium.digest(run_id)
        assert model.calls == asked


async def test_a_branch_has_spent_what_its_parent_had_and_ends_at_the_same_bound() -> None:
    async with show() as terrarium:
        run_id, events = await played(terrarium)
        at = next(event for event in events if event.turn == 3)

        branch = await terrarium.branch(at.session_id, at.id)
        spent_then = branch.calls
        await terrarium.run(branch.id)

        assert spent_then > 0
        ended, parent = terrarium.run_of(branch.id), terrarium.run_of(run_id)
        assert (ended.turns, ended.calls, ended.tokens) == (parent.turns, parent.calls, parent.tokens)
        assert ended.finished == parent.finished


async def test_new_limits_let_a_run_that_ran_out_go_on() -> None:
    async with show() as terrarium:
        run_id, events = await played(terrarium)
        assert events[-1].payload["axis"] == "max_turns"

        more = WhatIf(limits=Governor(max_turns=6, max_calls_per_turn=8))
        branch = await terrarium.branch(events[-1].session_id, None, more)
        await terrarium.run(branch.id)

        assert terrarium.run_of(branch.id).turns == 6
        assert terrarium.run_of(run_id).turns == 4


def said_by(events: tuple[Event, ...], run_id: str) -> list[str]:
    return [
        event.payload.get("text", "")
        for event in events
        if event.run_id == run_id and event.payload.get("text")
    ]


async def test_a_line_that_is_replaced_is_what_the_others_answer() -> None:
    seen = Speaker()
    async with show(minds={"ada": Speaker(), "bo": seen}) as terrarium:
        _, events = await played(terrarium)
        line = next(event for event in events if event.payload.get("text") == "ada2")
        seen.moments.clear()

        branch = await terrarium.branch(line.session_id, line.id, WhatIf(replace="a fox at the gate"))
        await terrarium.run(branch.id)

        story = await terrarium.run_events(branch.id)
        assert "a fox at the gate" in said_by(story, branch.id)
        assert seen.moments[0].cause.payload["text"] == "a fox at the gate"
        assert seen.moments[0].cause.caused_by == line.caused_by
        assert "ada2" not in said_by(story, branch.id)


async def test_a_line_that_is_dropped_was_never_said_and_is_not_said_again() -> None:
    async with show(minds={"ada": Speaker(), "bo": Speaker()}) as terrarium:
        _, events = await played(terrarium)
        line = next(event for event in events if event.payload.get("text") == "ada2")

        branch = await terrarium.branch(line.session_id, line.id, WhatIf(drop=True))
        await terrarium.run(branch.id)

        story = await terrarium.run_events(branch.id)
        texts = [event.payload.get("text") for event in story]
        assert "ada2" not in texts
        assert {"ada1", "ada3", "ada4"} <= set(texts)
        assert line.id not in {event.id for event in story}
        assert (await terrarium.event(line.id)).payload["text"] == "ada2"


async def test_a_disturbance_is_heard_in_the_branch_alone() -> None:
    answering = hearing("bo", kinds.USER_INJECTED, kinds.AGENT_SPOKE)
    mind = Speaker()
    async with show(minds={"ada": Speaker(), "bo": mind}) as terrarium:
        run = await terrarium.open_world(
            world_of(ADA, answering, governor={"max_turns": 3, "max_calls_per_turn": 8})
        )
        await terrarium.run(run.id)
        events = await terrarium.run_events(run.id)
        at = next(event for event in events if event.payload.get("text") == "ada2")
        mind.moments.clear()

        branch = await terrarium.branch(at.session_id, at.id, WhatIf(disturb="A bell rings twice."))
        await terrarium.run(branch.id)

        assert "A bell rings twice." in [m.cause.payload.get("text") for m in mind.moments]
        assert "A bell rings twice." not in said_by(await terrarium.run_events(run.id), run.id)


async def test_a_persona_and_a_profile_can_be_swapped() -> None:
    async with show() as terrarium:
        _, events = await played(terrarium)
        at = events[len(events) // 2]

        otherwise = WhatIf(personas={"ada": "is afraid of bells"}, profiles={"bo": "strong"})
        branch = await terrarium.branch(at.session_id, at.id, otherwise)

        graph = terrarium.graph(branch.graph_ids[0])
        by_handle = {terrarium.creature(name).handle: terrarium.creature(name) for name in graph.creature_ids}
        assert by_handle["ada"].manifest.persona == "is afraid of bells"
        assert by_handle["bo"].manifest.model_profile == "strong"
        assert terrarium.creature("ada").manifest.persona == ""


async def test_creatures_and_edges_can_be_added_and_removed() -> None:
    async with show(minds={"ada": Speaker(), "bo": Speaker(), "cy": Speaker()}) as terrarium:
        _, events = await played(terrarium)
        at = events[len(events) // 2]

        joined = await terrarium.branch(
            at.session_id, at.id, WhatIf(add=(Manifest(name="cy"),), remove=("bo",))
        )
        parted = await terrarium.branch(
            at.session_id, at.id, WhatIf(disconnect=(("ada", "bo"), ("bo", "ada")))
        )

        graph = terrarium.graph(joined.graph_ids[0])
        assert {terrarium.creature(name).handle for name in graph.creature_ids} == {"ada", "cy"}
        assert len(parted.graph_ids) == 2
        await terrarium.run(parted.id)
        assert terrarium.run_of(parted.id).is_finished


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (WhatIf(remove=("adda",)), "ada"),
        (WhatIf(profiles={"ada": "fsat"}), "Did you mean 'fast'"),
        (WhatIf(remove=("ada", "bo")), "Nobody would be left"),
        (WhatIf(drop=True, replace="x"), "not both"),
        (WhatIf(connect=(("ada", "ada"),)), "itself"),
        (WhatIf(disturb=" "), "says nothing"),
    ],
)
async def test_what_cannot_be_is_refused_in_words_and_nothing_has_changed(change: WhatIf, words: str) -> None:
    async with show() as terrarium:
        _, events = await played(terrarium)
        line = next(event for event in events if event.kind == kinds.AGENT_SPOKE)
        sessions = len(terrarium.lineage(line.session_id).descendants)

        with pytest.raises((Refused, UnknownName), match=words):
            await terrarium.branch(line.session_id, line.id, change)

        assert len(terrarium.lineage(line.session_id).descendants) == sessions


async def test_parent_and_branch_can_be_merged_and_their_common_past_counts_once() -> None:
    async with show(minds={"ada": Speaker(), "bo": Speaker()}) as terrarium:
        _, events = await played(terrarium)
        at = next(event for event in events if event.payload.get("text") == "ada2")
        branch = await terrarium.branch(at.session_id, at.id, WhatIf(disturb="What if it rains?"))
        await terrarium.run(branch.id)
        mine = terrarium.graph(branch.graph_ids[0])
        reborn = next(n for n in mine.creature_ids if terrarium.creature(n).handle == "ada")

        change = await terrarium.connect("ada", reborn, channel="reunion", both=True)

        whole = await terrarium.events(terrarium.graph(change.new_graph_ids[0]).session_id)
        ids = [event.id for event in whole]
        assert len(ids) == len(set(ids))
        assert {event.id for event in events} <= set(ids)
        texts = [event.payload.get("text") for event in whole]
        assert texts.count("ada1") == 1
        assert texts.count("ada4") == 2


async def test_the_bytes_of_the_parent_do_not_change() -> None:
    async with show() as terrarium:
        _, events = await played(terrarium)
        graph_before = terrarium.graph(terrarium.creature("ada").graph_id)

        branch = await terrarium.branch(
            events[-1].session_id, events[len(events) // 2].id, WhatIf(disturb="Hello?")
        )
        await terrarium.run(branch.id)

        assert await terrarium.run_events(events[0].run_id or "") == events
        assert terrarium.graph(graph_before.id) == graph_before


async def test_runs_that_have_met_branch_together_with_all_their_graphs() -> None:
    async with show() as terrarium:
        runs = [await terrarium.open_world(two_troupes()) for _ in range(2)]
        await terrarium.step(2)
        meeting = terrarium.graph(runs[0].graph_ids[1]).creature_ids[0]
        other = terrarium.graph(runs[1].graph_ids[0]).creature_ids[0]
        await terrarium.connect(meeting, other, channel="bridge", both=True)
        await terrarium.step(1)
        apart = terrarium.graph(runs[0].graph_ids[0])

        branch = await terrarium.branch(apart.session_id)
        await terrarium.run()

        branches = [run for run in terrarium.runs() if run.branch_of is not None]
        assert branch.branch_of == runs[0].id
        assert [run.branch_of for run in branches] == [run.id for run in runs]
        assert len({name for run in branches for name in run.graph_ids}) == 3
        for run in branches:
            assert await terrarium.digest(run.id) == await terrarium.digest(run.branch_of or "")


async def test_who_is_older_than_whom_stays_between_graphs_that_live_again_together() -> None:
    async with show(minds={"ada": Speaker(), "bo": Speaker(), "dot": Speaker()}) as terrarium:
        run = await terrarium.open_world(APART)
        await terrarium.add_creature(ticking("dot"), graph=terrarium.creature("ada").graph_id, run=run.id)
        await terrarium.branch(terrarium.creature("ada").session_id)

        kept = [
            await keeps_the_graph(terrarium, *names)
            for names in (("ada", "bo", "dot"), ("ada~2", "bo~2", "dot~2"))
        ]

        assert kept == ["bo", "bo"]


async def keeps_the_graph(terrarium: Terrarium, ada: str, bo: str, dot: str) -> str:
    """Who of two that were joined and are parted again is the elder, and so stays in the graph that was."""
    await terrarium.connect(dot, bo, channel="bridge", both=True)
    await terrarium.remove_creature(ada)
    before = terrarium.creature(bo).graph_id
    await terrarium.remove_channel(before, "bridge")
    return next(
        terrarium.creature(name).handle for name in (bo, dot) if terrarium.creature(name).graph_id == before
    )


async def test_channels_of_graphs_that_live_again_together_and_meet_stand_in_the_order_of_their_age() -> None:
    async with show(minds={"ada": Speaker(), "bo": Speaker()}) as terrarium:
        await terrarium.open_world(APART)
        await terrarium.add_channel(terrarium.creature("ada").graph_id, "attic")
        await terrarium.branch(terrarium.creature("ada").session_id)

        stand = []
        for ada, bo in (("ada", "bo"), ("ada~2", "bo~2")):
            await terrarium.connect(ada, bo, channel="bridge")
            environment = terrarium.environment(terrarium.creature(ada).graph_id)
            stand.append([channel.name for channel in environment.channels])

        assert stand == [["stage", "stage~2", "attic", "bridge"]] * 2


async def test_a_call_that_is_dropped_was_never_made_and_its_act_ends_there() -> None:
    async with Terrarium() as t:
        run = await t.open_world("three-ways-in")
        await t.run(run.id)
        events = await t.run_events(run.id)
        merge = next(event for event in events if event.kind == kinds.TOPOLOGY_CHANGED and event.turn)
        call = next(event for event in events if event.id == merge.caused_by)

        branch = await t.branch(call.session_id, call.id, WhatIf(drop=True))

        assert len(branch.graph_ids) == 4  # Nobody has come together yet.
        own = [event for event in await t.run_events(branch.id) if event.run_id == branch.id]
        (passed,) = [event for event in own if event.kind == kinds.AGENT_PASSED]
        assert (t.creature(passed.actor).handle, passed.caused_by) == ("weathercock", call.caused_by)
        await t.run(branch.id)
        assert (await verify(t, branch.id)).is_same


async def test_a_call_can_be_dropped_but_not_replaced() -> None:
    async with Terrarium() as t:
        run = await t.open_world("three-ways-in")
        await t.run(run.id)
        call = next(event for event in await t.run_events(run.id) if event.kind == kinds.TOOL_CALLED)

        with pytest.raises(Refused, match="which nobody said"):
            await t.branch(call.session_id, call.id, WhatIf(replace="No."))
