"""Every bundled world, and a branch of it, comes out the same when it is verified as documented: with nothing handed in."""

from pathlib import Path

import pytest

from glasshouse import Terrarium, kinds, verify
from glasshouse.manifests.world_folders import bundled_worlds
from glasshouse.views import Verification

WORLDS = sorted(world.name for world in bundled_worlds())


def difference(outcome: Verification) -> tuple[object, ...]:
    return outcome.recorded_event, outcome.replayed_event, outcome.prompt_diffs[:1]


@pytest.mark.parametrize("world", WORLDS)
async def test_a_bundled_world_and_a_branch_of_it_verify_here_and_elsewhere(
    world: str, tmp_path: Path
) -> None:
    async with Terrarium() as t:
        run = await t.open_world(world, rng_seed=3)
        await t.run(run.id)
        acts = [
            e for e in await t.run_events(run.id) if e.caused_by is not None and e.kind not in kinds.ENGINE
        ]
        middle = acts[len(acts) // 2]
        branch = await t.branch(middle.session_id, middle.id)
        await t.run(branch.id)

        for run_id in (run.id, branch.id):
            outcome = await verify(t, run_id)
            assert outcome.is_same, difference(outcome)
            assert outcome.prompt_diffs == ()
        here = await t.digest(branch.id)
        path = await t.export(branch.id, tmp_path / "branch.glass", role="director")
    async with Terrarium() as elsewhere:
        await elsewhere.import_file(path)
        imported = await verify(elsewhere, branch.id)
        assert imported.is_same, difference(imported)
        assert imported.recorded_digest == here
        assert imported.taken > 0
