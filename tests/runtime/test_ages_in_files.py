"""A file keeps which creatures are older, also of those that were born in sessions apart: their order decides who acts
first."""

from __future__ import annotations

from pathlib import Path

from glasshouse import Draft, kinds
from glasshouse.terrarium import Terrarium
from tests.runtime.stage_crew import Speaker, show, ticking, world_of

NAMES = ("ada", "bo", "cy", "di")


def minds() -> dict[str, Speaker]:
    return {name: Speaker() for name in NAMES}


async def talked(terrarium: Terrarium, name: str) -> None:
    """Some lines, so that the logical time of one graph is far ahead of that of others."""
    for number in range(20):
        await terrarium.append(name, Draft(kind=kinds.AGENT_SPOKE, payload={"text": f"{name} says {number}"}))


async def cy_older_than_bo(there: Terrarium) -> str:
    """A graph of creatures that were born in the order ada, cy, bo. Bo's session began last, so it has the earliest times
    and comes before cy in the history."""
    graph_id = (await there.add_creature(ticking("ada"))).graph_id
    await talked(there, "ada")
    await there.add_creature(ticking("cy"), graph=graph_id)
    await there.add_creature(ticking("bo"))
    return graph_id


async def resumed_elsewhere(there: Terrarium, session_id: str, here: Terrarium, folder: Path) -> str:
    """A session exported, imported elsewhere and resumed there as it was; its graph there."""
    imported = await here.import_file(await there.export(session_id, folder / "a.glass", role="director"))
    (graph_id,) = (await here.resume(imported.id, shape="as-was")).graph_ids
    return graph_id


async def acting(terrarium: Terrarium, graph_id: str) -> list[str]:
    """The handles of those who act in the next turn of a graph, in their order."""
    graph = terrarium.graph(graph_id)
    for _ in graph.creature_ids:
        await terrarium.step_one(graph_id)
    last = [event for event in await terrarium.events(graph.session_id) if event.kind == kinds.AGENT_SPOKE]
    return [terrarium.creature(event.actor).handle for event in last[-len(graph.creature_ids) :]]


async def test_creatures_of_two_merged_sessions_act_in_their_order_after_an_import(tmp_path: Path) -> None:
    async with show(minds=minds()) as there, show(minds=minds()) as here:
        graph_id = await cy_older_than_bo(there)
        await there.connect("cy", "bo", both=True)

        again = await resumed_elsewhere(there, there.creature("bo").session_id, here, tmp_path)

        assert await acting(here, again) == await acting(there, graph_id) == ["ada", "cy", "bo"]


async def test_it_does_not_matter_in_how_many_files_a_past_was_imported(tmp_path: Path) -> None:
    async with show(minds=minds()) as there, show(minds=minds()) as here:
        await cy_older_than_bo(there)
        file = await there.export(there.creature("bo").session_id, tmp_path / "bo.glass", role="director")
        await here.import_file(file)
        await there.connect("cy", "bo", both=True)

        again = await resumed_elsewhere(there, there.creature("bo").session_id, here, tmp_path)

        assert await acting(here, again) == ["ada", "cy", "bo"]


async def test_channels_of_two_merged_sessions_keep_their_order_after_an_import(tmp_path: Path) -> None:
    async with show(minds=minds()) as there, show(minds=minds()) as here:
        graph_id = await cy_older_than_bo(there)
        await there.add_channel(graph_id, "porch")
        await there.add_channel(there.creature("bo").graph_id, "yard")
        await there.connect("cy", "bo", channel="talk", both=True)

        again = await resumed_elsewhere(there, there.creature("bo").session_id, here, tmp_path)

        channels = [channel.name for channel in here.environment(again).channels]
        assert channels == [channel.name for channel in there.environment(graph_id).channels]
        assert channels[-3:] == ["porch", "yard", "talk"]


async def test_graphs_of_a_branch_that_meet_keep_the_order_of_all_their_creatures(tmp_path: Path) -> None:
    troupes = {"north": {"cast": ["ada", "bo"]}, "south": {"cast": ["cy"]}}
    world = world_of(
        *map(ticking, NAMES), troupes=troupes, governor={"max_turns": 9, "max_calls_per_turn": 9}
    )
    async with show(minds=minds()) as there, show(minds=minds()) as here:
        run = await there.open_world(world)
        await there.add_creature(ticking("di"), graph=there.creature("ada").graph_id, run=run.id)
        branch = await there.branch(there.creature("ada").session_id)
        mine = {
            creature.handle: creature.id for creature in there.creatures() if creature.run_id == branch.id
        }
        await there.connect(mine["di"], mine["cy"], both=True)

        session_id, graph_id = there.creature(mine["cy"]).session_id, there.creature(mine["cy"]).graph_id
        again = await resumed_elsewhere(there, session_id, here, tmp_path)

        assert await acting(here, again) == await acting(there, graph_id) == ["ada", "bo", "cy", "di"]


async def test_a_session_that_was_resumed_elsewhere_is_resumed_again_in_a_third_house(tmp_path: Path) -> None:
    async with show(minds=minds()) as there, show(minds=minds()) as here, show(minds=minds()) as third:
        await cy_older_than_bo(there)
        await there.connect("cy", "bo", both=True)
        await there.disconnect("ada", "cy")
        await there.disconnect("cy", "ada")
        await resumed_elsewhere(there, there.creature("bo").session_id, here, tmp_path)
        # Each house gives the id `ada` to a creature of its own, and the history has both.
        await here.add_creature(ticking("ada"), graph=here.creature("bo").graph_id)

        again = await resumed_elsewhere(here, here.creature("bo").session_id, third, tmp_path)

        assert await acting(third, again) == ["cy", "bo", "ada"]
