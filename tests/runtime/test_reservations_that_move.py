"""Reservations of a run's purse move with their creature when graphs merge or split."""

from pathlib import Path

from glasshouse import SqliteStore
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.manifest import Manifest
from tests.runtime.stage_crew import Gated, Speaker, on_stage, said, ticking, turns_begun, world_of
from tests.runtime.troupe import soon

THREE_A_TURN = {"max_calls_per_turn": 3, "max_turns": 2, "on_turn_limit": "defer"}


def minds(*names: str) -> dict[str, Speaker]:
    return {name: Speaker() for name in names}


def two_rooms(*cast: Manifest) -> LoadedWorld:
    """Everybody on the stage; the second of them on the porch instead, where the first is too."""
    on_both = {"listen": ["stage", "porch"], "send": ["stage", "porch"]}
    on_porch = {"listen": ["porch"], "send": ["porch"]}
    on_stage = {"listen": ["stage"], "send": ["stage"]}
    places = [on_both, on_porch, *[on_stage] * (len(cast) - 2)]
    named = [
        {"use": creature.name, "channels": channels} for creature, channels in zip(cast, places, strict=True)
    ]
    channels = {"stage": "", "porch": ""}
    return world_of(*cast, cast=named, channels=channels, governor=THREE_A_TURN)


async def test_one_who_thought_ahead_and_left_takes_its_call_along() -> None:
    names = ("ada", "bo", "cy", "di")
    async with on_stage(minds=minds(*names)) as t:
        together = [ticking(name, together=True) for name in names[:3]]
        (graph_id,) = (await t.open_world(two_rooms(*together, ticking("di")))).graph_ids
        await soon(t.step_one())
        await t.remove_channel(graph_id, "porch")

        for _ in range(2):
            await soon(t.step_one(graph_id))

        assert await said(t) == ["ada1", "cy1", "di1"]
        assert await turns_begun(t) == [1]


async def test_the_call_of_one_who_came_along_in_a_merge_counts_where_it_is_now() -> None:
    async with on_stage(minds=minds("ada", "bo", "cy", "di", "ed")) as t:
        pair = [ticking(name, together=True) for name in ("ada", "bo")]
        cast = [*[ticking(name) for name in ("cy", "di", "ed")], *pair]
        troupes = {"large": {"cast": ["cy", "di", "ed"]}, "small": {"cast": ["ada", "bo"]}}
        run = await t.open_world(world_of(*cast, troupes=troupes, governor=THREE_A_TURN))
        large, small = run.graph_ids
        await soon(t.step_one(large))
        await soon(t.step_one(small))  # bo thinks ahead, and is not written yet.
        await t.connect("cy", "ada")

        await soon(t.step_one(large))

        assert await said(t) == ["cy1", "ada1", "bo1", "di2"]


async def test_a_batch_that_was_cut_off_draws_on_the_turn_of_the_graph_that_it_is_in_now(
    tmp_path: Path,
) -> None:
    names = ("ada", "bo", "cy", "di")
    together = [ticking(name, together=True) for name in names[:3]]
    cut_off = {**minds("ada", "di"), "bo": Gated(), "cy": Gated()}
    async with on_stage(SqliteStore(tmp_path / "t.glasshouse"), cut_off) as t:
        (graph_id,) = (await t.open_world(two_rooms(*together, ticking("di")))).graph_ids
        await soon(t.step_one())
        await t.remove_channel(graph_id, "porch")

    async with on_stage(SqliteStore(tmp_path / "t.glasshouse"), minds(*names)) as t:
        for home in (graph_id, graph_id, t.creature("bo").graph_id):
            await soon(t.step_one(home))

        assert await said(t) == ["ada1", "cy1", "di1", "bo1"]
