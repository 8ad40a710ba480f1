"""The first lines of a branch: which graph they are said in, and which restated events nobody has to answer."""

from __future__ import annotations

import pytest

from glasshouse import Event, Manifest, Refused, kinds
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.runtime.past.what_if import WhatIf
from glasshouse.terrarium import Terrarium
from tests.runtime.stage_crew import Speaker, hearing, ledger_of, show, ticking, world_of

ADA, BO = ticking("ada"), hearing("bo")
CY = ticking("cy", subscribes_to=(kinds.USER_INJECTED,))
LIMITS = {"max_turns": 4, "max_calls_per_turn": 80}


def minds() -> dict[str, Speaker]:
    return {"ada": Speaker(), "bo": Speaker(), "cy": Speaker()}


def two_rooms() -> LoadedWorld:
    troupes = {"north": {"cast": ["ada", "bo"]}, "south": {"cast": ["cy"]}}
    return world_of(ADA, BO, CY, troupes=troupes, governor=LIMITS)


async def line_of(terrarium: Terrarium, world: LoadedWorld, text: str) -> Event:
    """A line of a world that has been played to its end."""
    run = await terrarium.open_world(world)
    await terrarium.run(run.id)
    return next(e for e in await terrarium.run_events(run.id) if e.payload.get("text") == text)


@pytest.mark.parametrize("change", [WhatIf(replace="a fox"), WhatIf(drop=True)])
async def test_what_is_said_first_in_a_branch_is_said_in_the_graph_of_the_event(change: WhatIf) -> None:
    async with show(minds=minds()) as terrarium:
        line = await line_of(terrarium, two_rooms(), "cy2")

        branch = await terrarium.branch(line.session_id, line.id, change)

        (said,) = [e for e in await ledger_of(terrarium) if e.run_id == branch.id and e.actor != "conductor"]
        cy = next(c for c in terrarium.creatures() if c.run_id == branch.id and c.handle == "cy")
        assert said.graph_id == cy.graph_id
        assert said.channel == (line.channel if change.replace else None)
        await terrarium.run(branch.id)
        assert terrarium.run_of(branch.id).is_finished


async def test_who_is_added_joins_the_graph_of_the_event() -> None:
    async with show(minds=minds()) as terrarium:
        line = await line_of(terrarium, two_rooms(), "cy2")

        branch = await terrarium.branch(line.session_id, line.id, WhatIf(add=(Manifest(name="di"),)))

        home = {c.handle: c.graph_id for c in terrarium.creatures() if c.run_id == branch.id}
        assert home["di"] == home["cy"]


async def test_one_who_is_removed_says_no_other_line_and_the_refusal_leaves_no_event() -> None:
    async with show(minds=minds()) as terrarium:
        line = await line_of(terrarium, world_of(ADA, BO, CY, governor=LIMITS), "cy2")
        before = len(await ledger_of(terrarium))

        with pytest.raises(Refused, match="not there to say it"):
            await terrarium.branch(line.session_id, line.id, WhatIf(replace="a fox", remove=("cy",)))

        assert len(await ledger_of(terrarium)) == before
        branch = await terrarium.branch(line.session_id, line.id, WhatIf(drop=True, remove=("cy",)))
        await terrarium.run(branch.id)
        assert terrarium.run_of(branch.id).is_finished


@pytest.mark.parametrize("change", [WhatIf(), WhatIf(add=(Manifest(name="di"),))])
async def test_that_a_shape_is_said_again_is_nothing_to_answer(change: WhatIf) -> None:
    curious = hearing("bo", kinds.CREATURE_STARTED, kinds.CHANNEL_JOINED, kinds.AGENT_SPOKE)
    async with show(minds=minds()) as terrarium:
        line = await line_of(terrarium, world_of(ADA, curious, governor=LIMITS), "ada2")

        branch = await terrarium.branch(line.session_id, line.id, change)

        bo = next(c for c in terrarium.creatures() if c.run_id == branch.id and c.handle == "bo")
        assert [event.id async for event in terrarium.mail(bo.id)] == [line.id]
        await terrarium.run(branch.id)
        assert terrarium.run_of(branch.id).is_finished


async def test_an_unchanged_branch_of_one_who_answers_births_has_the_digest_of_its_parent() -> None:
    curious = hearing("bo", kinds.CREATURE_STARTED, kinds.CHANNEL_JOINED)
    async with show(minds=minds()) as terrarium:
        line = await line_of(terrarium, world_of(ADA, curious, governor=LIMITS), "ada3")

        branch = await terrarium.branch(line.session_id, line.id)
        await terrarium.run(branch.id)

        assert await terrarium.digest(branch.id) == await terrarium.digest(line.run_id or "")


async def test_after_ever_so_many_changes_everybody_hears_what_is_said_in_its_own_graph() -> None:
    crew = minds()
    crowd = [Manifest(name=f"x{number}", subscribes_to=(kinds.JUDGE_VERDICT,)) for number in range(20)]
    rooms = {"ada": ["a"], "bo": ["b"], **{creature.name: ["a", "b"] for creature in crowd}}
    cast = [{"use": name, "channels": {"listen": on, "send": on}} for name, on in rooms.items()]
    here = world_of(ADA, ticking("bo"), *crowd, cast=cast, channels={"a": {}, "b": {}}, governor=LIMITS)
    async with show(minds=crew) as terrarium:
        line = await line_of(terrarium, here, "ada2")
        branch = await terrarium.branch(
            line.session_id, line.id, WhatIf(remove=tuple([creature.name for creature in crowd]))
        )
        for graph_id, text in zip(branch.graph_ids, ["A knock at a.", "A knock at b."], strict=True):
            await terrarium.disturb(branch.id, text, graph_id=graph_id)
        crew["bo"].moments.clear()

        await terrarium.run(branch.id)

        heard = [event.payload.get("text") for event in crew["bo"].moments[-1].recent_events]
        assert "A knock at b." in heard
        assert "A knock at a." not in heard
