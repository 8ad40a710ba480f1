"""What the command line says about creatures that Python code plays: it has no agents for them."""

from pathlib import Path

from glasshouse import Agent, Draft, Manifest, Moment, Terrarium, kinds
from tests.journeys.commanding import objects, run


class Gardener(Agent):
    async def act(self, moment: Moment) -> Draft | None:
        return Draft(kind=kinds.AGENT_SPOKE, payload={"text": f"watered in turn {moment.turn}"})


async def garden(store: Path) -> str:
    """A show of one creature that code plays; the run."""
    async with Terrarium(store) as t:
        await t.add_creature(Manifest(name="ada", schedule={"tick_every": 1}), agent=Gardener())
        await t.step(2)
        return t.default_run_id


async def test_continuing_says_who_waits_and_prints_the_python_that_goes_on(tmp_path: Path) -> None:
    store = tmp_path / "garden.glasshouse"
    run_id = await garden(store)

    result = run("play", "--continue", "last", "--store", str(store))

    assert result.returncode == 0
    assert "Waiting for an agent, because Python code plays it: ada (a Gardener)." in result.stdout
    assert f"Terrarium({str(store)!r}, agents={{'ada': Gardener()}})" in result.stdout
    assert f"await t.run({run_id!r})" in result.stdout
    assert "--continue" not in result.stdout
    assert "watered in turn 3" not in result.stdout
    (played,) = [row["played"] for row in objects("play", "--continue", "last", "--store", str(store))]
    assert (played["status"], played["waiting"]) == ("playing", {"ada": "Gardener"})


async def test_a_branch_and_what_is_resumed_say_the_same(tmp_path: Path) -> None:
    store = tmp_path / "garden.glasshouse"
    run_id = await garden(store)

    branched = run("branch", run_id, "--disturb", "Rain.", "--store", str(store))
    async with Terrarium(store) as t:
        await t.finish(run_id)
    resumed = run("resume", run_id, "--as-was", "--store", str(store))

    assert "ada (a Gardener)" in branched.stdout
    assert "ada (a Gardener)" in resumed.stdout
