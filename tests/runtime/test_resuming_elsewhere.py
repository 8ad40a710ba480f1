"""Resuming a scenario whose rooms have changed: a creature that moved keeps its own past and gets no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from glasshouse import Draft, Governor, Refused, kinds
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.models.scripted import ScriptedModel
from glasshouse.runtime.past.what_if import WhatIf
from glasshouse.terrarium import Terrarium, verify
from tests.runtime.limits_by_hand import priced
from tests.runtime.stage_crew import Speaker, ledger_of, show, ticking, world_of

CAST = (ticking("ada"), ticking("bo"), ticking("cy"))
APART = {"north": {"cast": ["ada"]}, "south": {"cast": ["bo", "cy"]}}
MOVED = {"north": {"cast": ["ada", "bo"]}, "south": {"cast": ["cy"]}}


def world(turns: int = 3, **more: Any) -> LoadedWorld:
    return world_of(*CAST, governor={"max_turns": turns, "max_calls_per_turn": 9}, **more)


def minds() -> dict[str, Speaker]:
    return {manifest.name: Speaker() for manifest in CAST}


async def played_apart(terrarium: Terrarium) -> str:
    """A run in two rooms, each with a knock of its own; the session of the first."""
    run = await terrarium.open_world(world(troupes=APART))
    for name in ("ada", "bo"):
        graph_id = terrarium.creature(name).graph_id
        await terrarium.disturb(run.id, f"A knock at {name}'s.", graph_id=graph_id)
    await terrarium.run(run.id)
    return terrarium.creature("ada").session_id


def remembered(crew: dict[str, Speaker]) -> dict[str, set[str]]:
    """What each has heard when it acts first."""
    return {
        name: {event.payload.get("text", "") for event in mind.moments[0].recent_events}
        for name, mind in crew.items()
    }


async def test_who_moves_to_another_troupe_does_not_know_what_was_said_there() -> None:
    crew = minds()
    async with show(minds=crew) as terrarium:
        session_id = await played_apart(terrarium)
        for mind in crew.values():
            mind.moments.clear()

        run = await terrarium.resume(session_id, world=world(5, troupes=MOVED))
        await terrarium.run(run.id)

        known = remembered(crew)
        assert known["ada"] == {"A knock at ada's.", "ada1", "ada2", "ada3"}
        assert {"A knock at bo's.", "bo1", "cy1", "bo2", "cy2"} < known["bo"]
        assert not {"A knock at ada's.", "ada1", "ada2", "ada3"} & known["bo"]
        assert crew["bo"].moments[0].lines_before == 0


async def test_two_rooms_that_become_one_keep_their_pasts_apart() -> None:
    crew = minds()
    async with show(minds=crew) as terrarium:
        session_id = await played_apart(terrarium)
        for mind in crew.values():
            mind.moments.clear()

        run = await terrarium.resume(session_id, world=world(5))
        await terrarium.run(run.id)

        known = remembered(crew)
        assert known["ada"] == {"A knock at ada's.", "ada1", "ada2", "ada3"}
        for name in ("bo", "cy"):
            assert "A knock at bo's." in known[name]
            assert not {"A knock at ada's.", "ada1"} & known[name]


async def test_one_room_that_becomes_two_is_remembered_in_both_and_nothing_new_is_shared() -> None:
    crew = minds()
    async with show(minds=crew) as terrarium:
        first = await terrarium.open_world(world())
        await terrarium.disturb(first.id, "A knock for all.")
        await terrarium.run(first.id)

        run = await terrarium.resume(terrarium.creature("ada").session_id, world=world(5, troupes=APART))
        for graph_id, text in zip(run.graph_ids, ["Rain.", "Snow."], strict=True):
            await terrarium.disturb(run.id, text, graph_id=graph_id)
        await terrarium.run(run.id)

        known = {
            name: {event.payload.get("text") for event in mind.moments[-1].recent_events}
            for name, mind in crew.items()
        }
        assert all({"A knock for all.", "ada1", "bo1", "cy1"} < heard for heard in known.values())
        assert ("Rain." in known["ada"], "Snow." in known["ada"]) == (True, False)
        assert ("Rain." in known["bo"], "Snow." in known["bo"]) == (False, True)


async def test_a_run_in_two_rooms_is_resumed_from_its_end_whichever_room_is_named() -> None:
    for name in ("ada", "bo"):
        async with show(minds=minds()) as terrarium:
            await played_apart(terrarium)
            (before,) = terrarium.runs()
            session_id = terrarium.creature(name).session_id

            for run in (
                await terrarium.resume(session_id, "as-was"),
                await terrarium.resume(session_id, world=world(5, troupes=APART)),
            ):
                texts = [
                    e.payload.get("text")
                    for e in await terrarium.run_events(run.id)
                    if e.kind == kinds.AGENT_SPOKE
                ]
                assert {"ada3", "bo3", "cy3"} <= set(texts)
                assert (run.calls, run.turns) == (before.calls, before.turns)


async def test_what_is_imported_is_not_taken_for_a_run_of_this_house_with_the_same_id(tmp_path: Path) -> None:
    async with show(minds=minds()) as there:
        await there.open_world(world(), run_id="before")
        await there.open_world(world(), run_id="demo")
        await there.run("demo")
        session_id = next(creature.session_id for creature in there.creatures() if creature.run_id == "demo")
        file = await there.export(session_id, tmp_path / "show.glass", role="director")
    async with show(minds=minds()) as here:
        await here.open_world(world_of(CAST[2], governor={"max_turns": 2}), run_id="demo")
        await here.run("demo")
        imported = await here.import_file(file)

        for run in (await here.resume(imported.id, "as-was"), await here.branch(imported.id)):
            events = await here.run_events(run.id)

            spoken = [event.payload["text"] for event in events if event.kind == kinds.AGENT_SPOKE]
            assert spoken[:4] == ["ada1", "bo1", "cy1", "ada2"]


async def test_a_limit_of_money_with_a_model_of_unknown_price_is_refused_whenever_it_comes() -> None:
    async with show(minds=minds(), models=priced(ScriptedModel("-"), None)) as terrarium:
        run = await terrarium.open_world(world())
        await terrarium.run(run.id)
        session_id, before = terrarium.creature("ada").session_id, len(await ledger_of(terrarium))
        dear = world_of(*CAST, governor={"max_turns": 5, "hourly_budget_usd": 1.0})

        with pytest.raises(Refused, match="price"):
            await terrarium.branch(session_id, None, WhatIf(limits=Governor(hourly_budget_usd=1.0)))
        with pytest.raises(Refused, match="price"):
            await terrarium.resume(session_id, world=dear)

        assert len(await ledger_of(terrarium)) == before


async def test_a_new_seat_does_not_get_the_past_of_one_who_came_during_the_play() -> None:
    crew = minds()
    async with show(minds=crew) as terrarium:
        run = await terrarium.open_world(world(cast=[{"use": "ada", "handle": "left"}, "bo"]))
        await terrarium.step(1)
        await terrarium.add_creature(CAST[0], graph=run.graph_ids[0], run=run.id, handle="guest")
        await terrarium.run(run.id)
        crew["ada"].moments.clear()

        seats = [{"use": "ada", "handle": "left"}, {"use": "ada", "handle": "right"}, "bo"]
        resumed = await terrarium.resume(terrarium.creature("bo").session_id, world=world(4, cast=seats))
        await terrarium.run(resumed.id)

        known = {
            moment.handle: [event.payload.get("text") for event in moment.recent_events]
            for moment in crew["ada"].moments
        }
        assert known["left"][:2] == ["left1", "bo1"]
        assert known["right"] == ["left4"]


async def test_a_file_need_not_tell_what_was_said_where_somebody_had_left(tmp_path: Path) -> None:
    crew = minds()
    async with show() as there, show(minds=crew) as here:
        await there.open_world(world(9, channels={"porch": ""}))
        graph_id = there.creature("cy").graph_id
        await there.append("ada", Draft(kind=kinds.AGENT_SPOKE, payload={"text": "Both hear this."}))
        await there.remove_channel(graph_id, "porch")
        await there.append("ada", Draft(kind=kinds.AGENT_SPOKE, payload={"text": "She has gone."}))
        await there.append("cy", Draft(kind=kinds.AGENT_SPOKE, payload={"text": "So quiet."}))
        branch = await there.branch(there.creature("cy").session_id)
        session_id = next(
            c.session_id for c in there.creatures() if c.run_id == branch.id and c.handle == "cy"
        )
        file = await there.export(session_id, tmp_path / "cy.glass", role="director")

        imported = await here.import_file(file)
        run = await here.resume(imported.id, shape="as-was")
        await here.step_one(run.graph_ids[0])

        assert remembered({"cy": crew["cy"]}) == {"cy": {"Both hear this.", "So quiet."}}


async def test_a_branch_of_a_file_is_verified_where_others_went_on_before_all_met_again(
    tmp_path: Path,
) -> None:
    async with show(minds=minds()) as there, show(minds=minds()) as here:
        await there.open_world(world(9, channels={"porch": ""}))
        await there.remove_channel(there.creature("cy").graph_id, "porch")
        await there.append("ada", Draft(kind=kinds.AGENT_SPOKE, payload={"text": "She has gone."}))
        quiet = await there.append("cy", Draft(kind=kinds.AGENT_SPOKE, payload={"text": "So quiet."}))
        await there.append("cy", Draft(kind=kinds.AGENT_SPOKE, payload={"text": "I go back."}))
        await there.connect("ada", "cy", both=True)
        file = await there.export(there.creature("cy").session_id, tmp_path / "cy.glass", role="director")
        imported = await here.import_file(file)
        branch = await here.branch(imported.id, quiet.id)
        await here.step_one(branch.graph_ids[0])

        outcome = await verify(here, branch.id)

        assert outcome.is_same, (outcome.recorded_event, outcome.replayed_event)


@pytest.mark.parametrize("name", ["ada", "bo", "cy"])
async def test_whoever_a_split_into_three_took_elsewhere_is_not_resumed(tmp_path: Path, name: str) -> None:
    async with show() as there, show() as here:
        hub = await there.add_creature(ticking("hub"))
        for manifest in CAST:
            await there.add_creature(manifest)
            await there.connect(hub.id, manifest.name, channel=f"to-{manifest.name}", both=True)
        await there.remove_creature(hub.id)
        file = await there.export(there.creature(name).session_id, tmp_path / "one.glass", role="director")

        imported = await here.import_file(file)
        await here.resume(imported.id, shape="as-was")

        assert [creature.handle for creature in here.creatures()] == [name]
