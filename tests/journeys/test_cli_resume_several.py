"""`resume` of a session in which several scenarios had met: all of them go on."""

import asyncio
import re
import shutil
from pathlib import Path

import pytest

from glasshouse import SqliteStore, Terrarium
from glasshouse.manifests.world_folders import BUNDLED
from tests.journeys.commanding import objects, run

FIRST, SECOND = "r-00aa11bb22cc33d0", "r-00aa11bb22cc33d1"
WORLDS = {"sprouts": "twenty-sprouts", "hearth": "two-tale-hearth"}


async def met(home: Path, *, is_over: bool) -> str:
    """Two worlds are played, each three turns; then somebody of the one joins the other."""
    async with Terrarium(SqliteStore(home / "show.glasshouse")) as terrarium:
        first = await terrarium.open_world(home / "sprouts", run_id=FIRST)
        second = await terrarium.open_world(home / "hearth", run_id=SECOND)
        await terrarium.step(3)
        sprouts, other = (
            next(c.id for c in terrarium.creatures() if c.run_id == each.id) for each in (first, second)
        )
        await terrarium.connect(sprouts, other, channel="bridge", both=True)
        if is_over:
            for each in (first, second):
                await terrarium.finish(each.id)
        return terrarium.creature(sprouts).session_id


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with two worlds of one's own."""
    for name, bundled in WORLDS.items():
        shutil.copytree(BUNDLED / bundled, tmp_path / name)
        scenario = tmp_path / name / "scenario.yaml"
        scenario.write_text(scenario.read_text().replace(f"name: {bundled}", f"name: {name}"))
    return tmp_path


def digests(text: str) -> list[str]:
    return re.findall(r"digest ([0-9a-f]{64})", text)


def test_every_scenario_that_had_met_goes_on_from_its_files(home: Path) -> None:
    session_id = asyncio.run(met(home, is_over=True))

    result = run("resume", session_id, cwd=home)

    (*_, third, fourth) = objects("runs", cwd=home)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"2 scenarios had met in {session_id}, and all continue: ")
    for new, old in ((third, FIRST), (fourth, SECOND)):
        assert f"{new['run_id']} continues {old}, with its world as it is.\n" in result.stdout
        assert (new["branch_of"], new["status"]) == (old, "finished")
        assert new["turns"] > 3
        assert new["reason"] != "stopped"
    assert len(digests(result.stdout)) == 2
    # A judge may find that nobody was better, so an end without a contest is an end, too.
    for title in ("Twenty Sprouts", "Two Tale Hearth"):
        assert re.search(rf"\n{title}\. The end[.:] ", result.stdout)


def test_as_they_were_they_go_on_in_one_graph_and_hear_each_other(home: Path) -> None:
    session_id = asyncio.run(met(home, is_over=True))

    answers = objects("resume", session_id, "--as-was", cwd=home)

    resumed = [row["resumed"] for row in answers if "resumed" in row]
    played = [row["played"] for row in answers if "played" in row]
    assert sorted(run["resumed_from"] for run in resumed) == [FIRST, SECOND]
    assert {run["how"] for run in resumed} == {"as-was"}
    assert [run["run_id"] for run in played] == [run["run_id"] for run in resumed]
    assert {run["status"] for run in played} == {"finished"}
    ids = [row["id"] for row in answers if "kind" in row]
    assert len(ids) == len(set(ids))
    spoken = {row["run_id"] for row in answers if row.get("caused_by") and row.get("run_id")}
    assert spoken == {run["run_id"] for run in resumed}


def test_a_line_that_several_runs_hear_is_shown_once(home: Path) -> None:
    session_id = asyncio.run(met(home, is_over=True))

    shown = run("resume", session_id, "--as-was", "--turns", "2", cwd=home).stdout

    lines = [line for line in shown.splitlines() if re.match(r"[a-z-]+: \w", line)]
    assert len(lines) > 3
    assert len(lines) == len(set(lines))


def test_cut_off_they_go_on_in_place_as_if_never_stopped(home: Path, tmp_path: Path) -> None:
    async def whole() -> list[str]:
        async with Terrarium(SqliteStore(home / "show.glasshouse")) as terrarium:
            await terrarium.run()
            return [await terrarium.digest(FIRST), await terrarium.digest(SECOND)]

    asyncio.run(met(home, is_over=False))
    shutil.copytree(home, tmp_path / "copy", ignore=shutil.ignore_patterns("copy"))

    some = run("resume", FIRST, "--turns", "2", cwd=home)
    rest = run("resume", SECOND, cwd=home)

    assert f"{FIRST} continues in place" in some.stdout
    assert f"{SECOND} continues in place" in some.stdout
    assert rest.returncode == 0
    (home / "show.glasshouse").unlink()
    shutil.copy(tmp_path / "copy" / "show.glasshouse", home / "show.glasshouse")
    assert sorted(digests(rest.stdout)) == sorted(asyncio.run(whole()))


def test_worlds_that_have_moved_are_found_by_the_names_in_them(home: Path) -> None:
    session_id = asyncio.run(met(home, is_over=True))
    for name in WORLDS:
        (home / name).rename(home / f"{name}-elsewhere")

    first = run("resume", session_id, "--world", "./sprouts-elsewhere", cwd=home)
    wrong = run("resume", session_id, "--world", "twenty-sprouts", cwd=home)
    both = run(
        *("resume", session_id, "--turns", "1"),
        *("--world", "./sprouts-elsewhere", "--world", "./hearth-elsewhere"),
        cwd=home,
    )

    assert (first.returncode, wrong.returncode, both.returncode) == (3, 3, 0)
    assert "hearth is not where it was" in first.stderr
    assert (
        "No scenario of this session is called 'twenty-sprouts'; it has sprouts and hearth." in wrong.stderr
    )
    assert "2 scenarios had met" in both.stdout


def test_where_one_world_was_edited_all_are_stopped_and_go_on_as_children(home: Path) -> None:
    asyncio.run(met(home, is_over=False))
    scenario = home / "hearth" / "scenario.yaml"
    scenario.write_text(scenario.read_text().replace("title: ", "title: The New "))

    result = run("resume", FIRST, "--turns", "2", cwd=home)

    runs = objects("runs", cwd=home)
    assert [run["reason"] for run in runs] == ["stopped", "stopped", None, None]
    assert (
        f"The world of {SECOND} was edited: it is stopped, and {runs[3]['run_id']} continues" in result.stdout
    )
    assert f"{FIRST} is stopped with it, and {runs[2]['run_id']} continues" in result.stdout
