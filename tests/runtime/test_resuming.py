"""Resuming a closed, imported or finished session: each creature keeps its own past."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from glasshouse import Event, Manifest, Refused, kinds
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.scenario import Scenario
from glasshouse.terrarium import Terrarium
from tests.runtime.stage_crew import Speaker, hearing, show, ticking

ADA, BO, CY = ticking("ada"), hearing("bo"), ticking("cy")
LIMITS = {"max_turns": 3, "max_calls_per_turn": 9}


def world(
    *cast: Any, turns: int = 3, manifests: tuple[Manifest, ...] = (ADA, BO, CY), **more: Any
) -> LoadedWorld:
    given = {"name": "w", "cast": list(cast), "governor": {**LIMITS, "max_turns": turns}, **more}
    return LoadedWorld.of(Scenario.model_validate(given), manifests)


def minds() -> dict[str, Speaker]:
    return {"ada": Speaker(), "bo": Speaker(), "cy": Speaker()}


async def played(terrarium: Terrarium, *cast: Any, **more: Any) -> tuple[str, str]:
    """The run, and the session of the graph it was played in."""
    run = await terrarium.open_world(world(*(cast or ("ada", "bo")), **more))
    await terrarium.run(run.id)
    return run.id, terrarium.graph(terrarium.run_of(run.id).graph_ids[0]).session_id


def texts(events: tuple[Event, ...], actor: str) -> list[str]:
    return [event.payload["text"] for event in events if event.actor == actor and "text" in event.payload]


def heard(mind: Speaker) -> list[str]:
    """What a mind had heard when it acted first."""
    return [event.payload.get("text", "") for event in mind.moments[0].recent_events]


async def test_an_edited_scenario_gives_each_its_own_past_and_the_new_one_none() -> None:
    crew = minds()
    async with show(minds=crew) as terrarium:
        run_id, session_id = await played(terrarium)
        for mind in crew.values():
            mind.moments.clear()

        run = await terrarium.resume(session_id, world=world("ada", "cy", "bo", turns=5))
        await terrarium.run(run.id)

        assert heard(crew["ada"])[:2] == ["ada1", "bo2"]
        assert heard(crew["bo"])[:2] == ["ada1", "bo2"]
        assert "ada1" not in heard(crew["cy"])
        assert heard(crew["cy"]) == ["bo4", "ada4"]
        assert terrarium.run_of(run.id).turns == 5
        assert terrarium.run_of(run_id).turns == 3


async def test_who_is_no_longer_in_the_scenario_is_gone() -> None:
    crew = minds()
    async with show(minds=crew) as terrarium:
        _, session_id = await played(terrarium, "ada", "bo", "cy")

        run = await terrarium.resume(session_id, world=world("ada", "cy", turns=5))

        graph = terrarium.graph(run.graph_ids[0])
        assert {terrarium.creature(name).handle for name in graph.creature_ids} == {"ada", "cy"}
        assert terrarium.session(graph.session_id).parent_session_ids == (session_id,)
        assert terrarium.session(graph.session_id).origin == "resume"


async def test_two_of_one_name_are_told_apart_by_their_handles_and_never_mixed_up() -> None:
    crew = {"ada": Speaker()}
    twins = [{"use": "ada", "handle": "left"}, {"use": "ada", "handle": "right"}]
    room = {"a": {"history": "since_joined"}, "b": {"history": "since_joined"}, "both": {}}
    on_a = {"channels": {"listen": ["a", "both"], "send": ["a"]}}
    on_b = {"channels": {"listen": ["b", "both"], "send": ["b"]}}
    async with show(minds=crew) as terrarium:
        run_id, session_id = await played(
            terrarium, {**twins[0], **on_a}, {**twins[1], **on_b}, channels=room
        )
        said = await terrarium.run_events(run_id)
        crew["ada"].moments.clear()

        swapped = world({**twins[1], **on_b}, {**twins[0], **on_a}, channels=room, turns=4)
        run = await terrarium.resume(session_id, world=swapped)
        await terrarium.run(run.id)

        for moment in crew["ada"].moments:
            own = [
                event.payload["text"] for event in moment.recent_events if event.actor == moment.creature_id
            ]
            assert own == [f"{moment.handle}{turn}" for turn in (1, 2, 3)]
        assert {event.payload.get("text") for event in said} >= {"left1", "right1"}


async def test_a_handle_that_is_in_doubt_starts_empty() -> None:
    crew = {"ada": Speaker()}
    async with show(minds=crew) as terrarium:
        _, session_id = await played(
            terrarium, {"use": "ada", "handle": "left"}, {"use": "ada", "handle": "right"}
        )
        crew["ada"].moments.clear()
        renamed = world({"use": "ada", "handle": "north"}, {"use": "ada", "handle": "south"}, turns=4)

        run = await terrarium.resume(session_id, world=renamed)
        await terrarium.run(run.id)

        assert heard(crew["ada"]) == []


async def test_budgets_go_on_and_do_not_restart() -> None:
    async with show(minds=minds()) as terrarium:
        run_id, session_id = await played(terrarium)
        before = terrarium.run_of(run_id)

        run = await terrarium.resume(session_id, world=world("ada", "bo", turns=4))
        assert (run.calls, run.turns) == (before.calls, before.turns)
        await terrarium.run(run.id)

        assert terrarium.run_of(run.id).calls == before.calls + 2


async def test_a_live_session_is_not_resumed() -> None:
    async with show(minds=minds()) as terrarium:
        run = await terrarium.open_world(world("ada", "bo"))
        await terrarium.step(1)
        session_id = terrarium.graph(run.graph_ids[0]).session_id

        with pytest.raises(Refused, match="live"):
            await terrarium.resume(session_id)


async def test_a_session_without_a_scenario_is_resumed_as_it_was_only() -> None:
    async with show(minds={"ada": Speaker()}) as terrarium:
        ada = await terrarium.add_creature(ADA)
        await terrarium.step(2)
        await terrarium.remove_creature(ada.id)

        with pytest.raises(Refused, match="as-was"):
            await terrarium.resume(ada.session_id)
        run = await terrarium.resume(ada.session_id, shape="as-was")
        await terrarium.step(1)

        events = await terrarium.events(terrarium.graph(run.graph_ids[0]).session_id)
        assert texts(events, "ada") == ["ada1", "ada2"]
        assert texts(events, "ada~2") == ["ada3"]


async def test_a_merged_and_split_session_is_resumed_in_both_shapes() -> None:
    crew = minds()
    async with show(minds=crew) as terrarium:
        first_id, _ = await played(terrarium, "ada", "bo")
        second = await terrarium.open_world(world("cy", name="v"))
        other = next(c for c in terrarium.creatures() if c.run_id == second.id)
        await terrarium.connect("ada", other.id, channel="bridge", both=True)
        together = terrarium.creature("ada").session_id
        await terrarium.remove_channel(terrarium.creature("ada").graph_id, "bridge")
        await terrarium.finish(second.id)

        as_was = await terrarium.resume(together, shape="as-was")
        assert len(as_was.graph_ids) == 1
        assert len(terrarium.graph(as_was.graph_ids[0]).creature_ids) == 3

        alone = terrarium.creature("ada").session_id
        apart = await terrarium.resume(alone, world=world("ada", "bo", turns=4))
        assert {terrarium.creature(n).handle for n in terrarium.graph(apart.graph_ids[0]).creature_ids} == {
            "ada",
            "bo",
        }
        assert first_id != apart.id


async def test_an_imported_session_goes_on_where_it_came_to(tmp_path: Path) -> None:
    crew = minds()
    async with show(minds=minds()) as there:
        _, session_id = await played(there)
        file = await there.export(session_id, tmp_path / "show.glass", role="director")
    async with show(minds=crew) as here:
        imported = await here.import_file(file)

        run = await here.resume(imported.id, world=world("ada", "bo", turns=4))
        await here.run(run.id)

        assert heard(crew["ada"])[:2] == ["ada1", "bo2"]
        assert here.run_of(run.id).turns == 4
        again = await here.resume(imported.id, shape="as-was")
        assert {here.creature(n).handle for n in here.graph(again.graph_ids[0]).creature_ids} == {"ada", "bo"}


async def test_a_fork_is_resumed_from_the_event_it_was_made_at() -> None:
    async with show(minds=minds()) as terrarium:
        run_id, session_id = await played(terrarium)
        line = next(e for e in await terrarium.run_events(run_id) if e.payload.get("text") == "bo2")
        fork = await terrarium.fork(session_id, line.id)

        run = await terrarium.resume(fork.id, shape="as-was")
        await terrarium.run(run.id)

        said = [
            e.payload.get("text") for e in await terrarium.run_events(run.id) if e.kind == kinds.AGENT_SPOKE
        ]
        assert said == ["ada1", "bo2", "ada2", "bo3", "ada3"]


async def test_a_graph_that_was_closed_is_resumed_in_the_shape_it_had() -> None:
    async with show(minds=minds()) as terrarium:
        run_id, session_id = await played(terrarium)
        (graph_id,) = terrarium.run_of(run_id).graph_ids

        change = await terrarium.close_graph(graph_id)
        assert (terrarium.graphs(), change.new_graph_ids) == ((), ())
        run = await terrarium.resume(session_id, shape="as-was")

        graph = terrarium.graph(run.graph_ids[0])
        assert {terrarium.creature(name).handle for name in graph.creature_ids} == {"ada", "bo"}


async def test_a_graph_in_which_somebody_plays_is_not_closed() -> None:
    async with show(minds=minds()) as terrarium:
        run = await terrarium.open_world(world("ada", "bo"))

        with pytest.raises(Refused, match=f"Finish run {run.id}"):
            await terrarium.close_graph(run.graph_ids[0])

        assert len(terrarium.graphs()) == 1


async def test_scenarios_that_were_merged_are_resumed_apart_each_with_its_own_cast_and_winner() -> None:
    async with Terrarium() as terrarium:
        first = await terrarium.open_world("twenty-sprouts")
        second = await terrarium.open_world("two-tale-hearth")
        await terrarium.step(3)
        sprouts, other = (
            next(c.id for c in terrarium.creatures() if c.run_id == run.id) for run in (first, second)
        )
        await terrarium.connect(sprouts, other, channel="bridge", both=True)
        together = terrarium.creature(sprouts).session_id
        for run in (first, second):
            await terrarium.finish(run.id)

        run = await terrarium.resume(together)
        await terrarium.run(run.id)

        resumed = terrarium.runs()[2:]
        assert [run.scenario for run in resumed] == ["twenty-sprouts", "two-tale-hearth"]
        casts = [
            {terrarium.creature(n).handle for n in terrarium.graph(r.graph_ids[0]).creature_ids}
            for r in resumed
        ]
        assert casts[0] == {"sprout-guesser", "secret-keeper", "sprout-judge"}
        assert casts[1] == {"salt-teller", "ash-teller", "turn-caller", "stopped-clock", "innkeeper"}
        assert terrarium.run_of(run.id).winner in {"guesser", "keeper"}


async def test_two_that_are_new_under_one_handle_in_two_troupes_are_two() -> None:
    async with show(minds=minds()) as terrarium:
        _, session_id = await played(terrarium)
        two = LoadedWorld.of(
            Scenario.model_validate(
                {
                    "name": "w",
                    "troupes": {"north": {"cast": ["ada", "cy"]}, "south": {"cast": ["bo", "cy"]}},
                    "governor": {**LIMITS, "max_turns": 5},
                }
            ),
            (ADA, BO, CY),
        )

        run = await terrarium.resume(session_id, world=two)
        await terrarium.run(run.id)

        handles = [
            sorted(terrarium.creature(name).handle for name in terrarium.graph(graph_id).creature_ids)
            for graph_id in run.graph_ids
        ]
        assert handles == [["ada", "cy"], ["bo", "cy"]]
        places = [terrarium.environment(graph_id).channels for graph_id in run.graph_ids]
        assert len({channel.id for channels in places for channel in channels}) == 2
        events = await terrarium.run_events(run.id)
        last = [event for event in events if event.run_id == run.id and event.kind == kinds.AGENT_SPOKE]
        assert {event.graph_id for event in last} == set(run.graph_ids)
