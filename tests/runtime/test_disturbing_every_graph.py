"""A disturbance without a graph: said once in each graph of the run, as one change, and shown once to every reader."""

from __future__ import annotations

from pathlib import Path

import pytest

from glasshouse import Draft, Event, Refused, kinds, rebuild_stage
from glasshouse.events.payloads import copied_from
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.runtime.past.what_if import WhatIf
from glasshouse.terrarium import Terrarium, verify
from glasshouse.turns.prompts.context import prompt_for
from glasshouse.views.page_fold import PageFold
from glasshouse.views.transcript import transcript_of
from tests.runtime.stage_crew import Speaker, ledger_of, on_stage, ticking, world_of

NAMES = ("ada", "bo", "cy", "di")
BELL = "A bell rings under the water."


def minds() -> dict[str, Speaker]:
    return {name: Speaker() for name in NAMES}


def rooms(*casts: list[str], **fields: object) -> LoadedWorld:
    """A world with a graph for each cast. Everybody speaks in each turn, and answers the visitor."""
    troupes = {f"room{number}": {"cast": cast} for number, cast in enumerate(casts)}
    cast = [ticking(name, subscribes_to=(kinds.USER_INJECTED,)) for names in casts for name in names]
    given = {"governor": {"max_turns": 8, "max_calls_per_turn": 40}, **fields}
    return world_of(*cast, troupes=troupes, **given)


async def disturbances(t: Terrarium) -> list[Event]:
    return [event for event in await ledger_of(t) if event.kind == kinds.USER_INJECTED]


async def test_it_is_one_change_with_one_event_in_each_graph_and_the_later_ones_name_the_first() -> None:
    async with on_stage(minds=minds()) as t:
        run = await t.open_world(rooms(["ada", "bo"], ["cy"], ["di"]))
        await t.run(run.id, turns=2)

        first = await t.disturb(run.id, BELL)

        events = await disturbances(t)
        assert {event.graph_id for event in events} == set(t.run_of(run.id).graph_ids)
        assert len({event.change for event in events}) == 1
        assert first.id == events[0].id
        assert [copied_from(event) for event in events] == [None, first.id, first.id]
        assert {event.payload["text"] for event in events} == {BELL}


async def test_everybody_in_every_graph_answers_it() -> None:
    async with on_stage(minds=minds()) as t:
        run = await t.open_world(rooms(["ada", "bo"], ["cy"], ["di"]))
        await t.run(run.id, turns=1)
        await t.disturb(run.id, BELL)

        await t.run(run.id, turns=1)

        asked = {event.id for event in await disturbances(t)}
        assert {event.actor for event in await ledger_of(t) if event.caused_by in asked} == set(NAMES)


async def test_a_graph_that_is_named_hears_it_alone() -> None:
    async with on_stage(minds=minds()) as t:
        run = await t.open_world(rooms(["ada", "bo"], ["cy"]))
        graph_id = next(creature.graph_id for creature in t.creatures() if creature.handle == "cy")

        await t.disturb(run.id, BELL, graph_id=graph_id)

        (event,) = await disturbances(t)
        assert (event.graph_id, event.payload) == (graph_id, {"text": BELL})


async def test_a_run_without_a_living_creature_hears_nothing() -> None:
    async with on_stage(minds=minds()) as t:
        run = await t.open_world(rooms(["ada"]))
        await t.remove_creature(t.creatures()[0].id)

        with pytest.raises(Refused, match="Nobody of run"):
            await t.disturb(run.id, BELL)


async def uneven(t: Terrarium) -> str:
    """A run whose oldest graph has a longer history than the others, so that its next event has the latest time."""
    run = await t.open_world(rooms(["ada", "bo"], ["cy"], ["di"]))
    await t.run(run.id, turns=2)
    ada = next(creature for creature in t.creatures() if creature.handle == "ada")
    for number in range(9):
        await t.append(ada.id, Draft(kind=kinds.AGENT_SPOKE, payload={"text": f"line {number}"}))
    return run.id


async def test_the_first_comes_first_in_the_ledger_and_in_every_story() -> None:
    async with on_stage(minds=minds()) as t:
        run_id = await uneven(t)

        await t.disturb(run_id, BELL)

        in_story = [event for event in await t.run_events(run_id) if event.kind == kinds.USER_INJECTED]
        in_ledger = await disturbances(t)
        assert [event.id for event in in_story] == [event.id for event in in_ledger]
        assert copied_from(in_story[0]) is None


async def test_a_replay_says_it_again_in_every_graph_and_verifies() -> None:
    async with on_stage(minds=minds()) as t:
        run_id = await uneven(t)
        await t.disturb(run_id, BELL)
        await t.run(run_id, turns=1)
        await t.disturb(run_id, "A dog.", graph_id=t.run_of(run_id).graph_ids[-1])
        await t.run(run_id)

        assert (await verify(t, run_id)).is_same


async def test_two_plays_have_the_same_digest() -> None:
    digests = set()
    for _ in range(2):
        async with on_stage(minds=minds()) as t:
            run_id = await uneven(t)
            await t.disturb(run_id, BELL)
            await t.run(run_id)
            digests.add(await t.digest(run_id))

    assert len(digests) == 1


async def merged(t: Terrarium) -> str:
    """A run whose graphs were disturbed and have merged since."""
    run_id = await uneven(t)
    await t.disturb(run_id, BELL)
    await t.run(run_id, turns=1)
    by_name = {creature.handle: creature.id for creature in t.creatures()}
    await t.connect(by_name["ada"], by_name["cy"], both=True)
    await t.connect(by_name["ada"], by_name["di"], both=True)
    await t.run(run_id, turns=1)
    return run_id


async def test_transcript_stage_and_page_show_it_once_also_after_a_merge() -> None:
    async with on_stage(minds=minds()) as t:
        run_id = await merged(t)
        (graph_id,) = t.run_of(run_id).graph_ids
        of_session = [event async for event in t.history(t.graph(graph_id).session_id)]

        for events in (await t.run_events(run_id), await ledger_of(t), of_session):
            fold = PageFold("audience")
            icons = [fold.fold(event).row.icon for event in events]
            stage = rebuild_stage(events)
            assert [line.text for line in transcript_of(events)].count(BELL) == 1
            assert [note.text for note in stage.user_artifacts] == [BELL]
            assert (icons.count("visitor"), icons.count("copy")) == (1, 2)


async def test_the_session_of_a_graph_without_the_first_event_shows_its_own() -> None:
    async with on_stage(minds=minds()) as t:
        run_id = await uneven(t)
        await t.disturb(run_id, BELL)
        last = (await disturbances(t))[-1]

        events = [event async for event in t.history(last.session_id)]

        (line,) = [line for line in transcript_of(events) if line.text == BELL]
        assert (line.id, line.fields) == (last.id, {})


async def test_a_creature_reads_it_once_in_its_prompts_after_its_graph_has_merged() -> None:
    crew = minds()
    async with on_stage(minds=crew) as t:
        await merged(t)

        for speaker in crew.values():
            prompt = prompt_for(speaker.moments[-1])
            # Once among the lines, once among the disturbances, and once where it is answered.
            assert prompt.user.count(BELL) <= 3
            heard = [event for event in speaker.moments[-1].heard.events if event.kind == kinds.USER_INJECTED]
            assert len(heard) == 1
            assert "copy_of" not in prompt.user


async def test_who_knew_of_it_names_the_creatures_of_all_graphs() -> None:
    async with on_stage(minds=minds()) as t:
        run_id = await uneven(t)
        first = await t.disturb(run_id, BELL)
        last = (await disturbances(t))[-1]

        for event_id in (first.id, last.id):
            knew = await t.who_knew(event_id)
            assert {(knower.handle, knower.how) for knower in knew.knowers} == {
                (name, "present") for name in NAMES
            }


async def test_it_counts_once_towards_an_ending() -> None:
    async with on_stage(minds=minds()) as t:
        ending = {"kind": kinds.USER_INJECTED, "count": 2}
        run = await t.open_world(rooms(["ada"], ["bo"], ["cy"], ends_when=ending))
        await t.run(run.id, turns=1)
        await t.disturb(run.id, BELL)
        await t.run(run.id, turns=1)
        assert not t.run_of(run.id).is_finished

        await t.disturb(run.id, "It rings again.")
        await t.run(run.id, turns=1)

        assert t.run_of(run.id).is_finished


@pytest.mark.parametrize("how", ["disturb", "replace"])
async def test_a_branch_says_it_in_every_graph_and_shows_it_once(how: str) -> None:
    async with on_stage(minds=minds()) as t:
        run_id = await uneven(t)
        first = await t.disturb(run_id, BELL)
        await t.run(run_id, turns=2)
        change = WhatIf(disturb="A fox.") if how == "disturb" else WhatIf(replace="A fox.")

        branch = await t.branch(first.session_id, first.id, change)
        await t.run(branch.id)

        said = [event for event in await disturbances(t) if event.payload["text"] == "A fox."]
        in_story = [event for event in await t.run_events(branch.id) if event.payload.get("text") == "A fox."]
        assert len({event.graph_id for event in said}) == len(said) == 3
        assert [copied_from(event) for event in in_story] == [None, in_story[0].id, in_story[0].id]
        lines = [line.text for line in transcript_of(await t.run_events(branch.id), branch.id)]
        assert lines.count("A fox.") == 1
        assert lines.count(BELL) == (1 if how == "disturb" else 0)
        assert (await verify(t, branch.id)).is_same


async def test_a_branch_without_the_disturbance_has_it_in_no_graph() -> None:
    async with on_stage(minds=minds()) as t:
        run_id = await uneven(t)
        await t.disturb(run_id, BELL)
        last = (await disturbances(t))[-1]

        branch = await t.branch(last.session_id, last.id, WhatIf(drop=True))

        assert BELL not in [event.payload.get("text") for event in await t.run_events(branch.id)]


async def test_a_line_of_the_inbox_is_said_in_every_graph_and_removed_once(tmp_path: Path) -> None:
    from glasshouse import SqliteStore

    store = SqliteStore(tmp_path / "s.glasshouse")
    async with on_stage(store, minds=minds()) as t:
        run = await t.open_world(rooms(["ada"], ["bo"]))
        await store.put_line(BELL, run.id)

        await t.run(run.id, turns=2)

        assert len(await disturbances(t)) == 2
        assert await store.lines(10, 0) == []
