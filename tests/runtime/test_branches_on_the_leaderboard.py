"""The leaderboard leaves out branches unless they are asked for, because a branch repeats a past."""

from pathlib import Path

from glasshouse import MemoryStore, Terrarium
from glasshouse.runtime.results import branches_left_out
from glasshouse.runtime.run import Run
from glasshouse.terrarium import folded_of


async def over(t: Terrarium, rng_seed: int = 1) -> Run:
    run = await t.open_world("twenty-sprouts", rng_seed=rng_seed)
    await t.run(run.id)
    return run


async def branch_of(t: Terrarium, run: Run) -> Run:
    event = [event for event in await t.run_events(run.id) if event.run_id == run.id][-4]
    branch = await t.branch(event.session_id, event.id)
    await t.run(branch.id)
    return branch


def played(t: Terrarium, *, branches: bool = False) -> set[int]:
    return {standing.played for standing in t.leaderboard("team", branches=branches)}


async def test_branches_are_left_out_and_counted_if_asked_for() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await over(t)
        before = t.leaderboard("team")
        branch = await branch_of(t, run)
        twig = await branch_of(t, branch)

        assert t.leaderboard("team") == before
        assert branches_left_out(folded_of(t)) == (branch.id, twig.id)
        assert branches_left_out(folded_of(t), world="mystery-roots") == ()
        assert played(t, branches=True) == {3}
        assert {standing.played for standing in t.leaderboard("team", run_ids=[run.id, branch.id])} == {2}


async def test_a_run_that_was_cut_off_and_resumed_counts_once_by_its_end() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("mystery-roots", rng_seed=1)
        await t.step(2)
        await t.finish(run.id)
        resumed = await t.resume((await t.run_events(run.id))[-1].session_id, "as-was")
        await t.run(resumed.id)

        assert played(t) == {1}
        assert branches_left_out(folded_of(t)) == ()


async def test_a_run_that_was_resumed_after_its_end_does_not_count_again() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await over(t)
        resumed = await t.resume((await t.run_events(run.id))[-1].session_id, "as-was")
        await t.run(resumed.id)

        assert t.run_of(resumed.id).is_finished
        assert played(t) == {1}
        assert branches_left_out(folded_of(t)) == (resumed.id,)


async def test_a_run_that_came_in_a_file_and_was_resumed_here_counts_here(tmp_path: Path) -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await over(t)
        await t.export((await t.run_events(run.id))[-1].session_id, tmp_path / "play.glass", role="director")

    async with Terrarium(MemoryStore()) as other:
        session = await other.import_file(tmp_path / "play.glass")
        resumed = await other.resume(session.id, "as-was")
        await other.run(resumed.id)

        assert played(other) == {1}
        assert branches_left_out(folded_of(other)) == ()
