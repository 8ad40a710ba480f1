"""`replay --verify` on the real command line: branches, resumed runs and runs that were changed from outside, honest and
tampered with."""

import asyncio
import re
import shutil
import sqlite3
from pathlib import Path

import pytest

from glasshouse import Manifest, SqliteStore, Terrarium, WhatIf, kinds
from tests.journeys.commanding import drawn, objects, run

CHANGED = "r-00aa11bb22cc33d0"
FORMS = ("changed", "branch", "branch of a branch", "resumed")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("verifying") / "played.glasshouse"


@pytest.fixture(scope="module")
def runs(store: Path) -> dict[str, str]:
    """The runs of a store by what became of them."""
    return asyncio.run(play_some(store))


async def play_some(path: Path) -> dict[str, str]:
    async with Terrarium(SqliteStore(path)) as t:
        whole = await t.open_world("thousand-token-wood", run_id=CHANGED)
        await t.step(3)
        first = t.creatures()[0].id
        await t.add_channel(whole.graph_ids[0], "perch")
        guest = Manifest(name="moth", subscribes_to=("agent.spoke",))
        moth = await t.add_creature(guest, graph=whole.graph_ids[0], channel="perch", run=CHANGED)
        await t.connect(first, moth.id, channel="whispers", both=True)
        await t.step(2)
        await t.remove_channel(t.creature(moth.id).graph_id, "perch")
        await t.disconnect(moth.id, first, channel="whispers")
        await t.step(4)
        await t.finish(CHANGED)
        spoken = [e for e in await t.run_events(CHANGED) if e.kind == kinds.AGENT_SPOKE]
        branch = await t.branch(spoken[4].session_id, spoken[4].id, WhatIf(disturb="A bell rings."))
        await t.run(branch.id)
        own = [e for e in await t.run_events(branch.id) if e.kind == kinds.AGENT_SPOKE]
        twig = await t.branch(own[-2].session_id, own[-2].id, WhatIf(disturb="A second bell rings."))
        await t.run(twig.id)
        ended = (await t.run_events(CHANGED))[-1]
        resumed = await t.resume(ended.session_id, "as-was")
        await t.disturb(resumed.id, "Where were we?")
        await t.step(3)
    return dict(zip(FORMS, (CHANGED, branch.id, twig.id, resumed.id), strict=True))


@pytest.mark.parametrize("form", FORMS)
def test_a_run_of_any_form_is_verified_with_the_runs_it_goes_on_from(
    store: Path, runs: dict[str, str], form: str
) -> None:
    result = run("replay", runs[form], "--verify", "--store", str(store))

    assert (result.returncode, result.stderr) == (0, "")
    verified = [line.split(":")[0] for line in result.stdout.splitlines() if ": verified. " in line]
    lines = {
        "changed": [CHANGED],
        "branch": [runs["branch"], CHANGED],
        "branch of a branch": [runs["branch of a branch"], runs["branch"], CHANGED],
        "resumed": [runs["resumed"], CHANGED],
    }
    assert verified == lines[form]
    assert ("of its own came out the same" in result.stdout) == (form != "changed")


@pytest.mark.parametrize("form", FORMS)
def test_a_run_of_any_form_that_was_tampered_with_is_not(
    store: Path, runs: dict[str, str], form: str, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.glasshouse"
    shutil.copy(store, broken)
    change_the_last_line(broken, runs[form])

    (answer,) = objects("replay", runs[form], "--verify", "--store", str(broken))
    shown = run("replay", runs[form], "--verify", "--store", str(broken))

    assert answer["is_same"] is False
    assert answer["recorded_event"]["payload"]["text"] == "Nobody ever said this."
    assert all(row["is_same"] for row in answer["past"])
    assert shown.returncode == 1
    assert "came out differently" in shown.stdout
    assert "Nobody ever said this." in shown.stdout


def test_a_branch_whose_past_was_tampered_with_does_not_pass(
    store: Path, runs: dict[str, str], tmp_path: Path
) -> None:
    broken = tmp_path / "broken.glasshouse"
    shutil.copy(store, broken)
    change_the_last_line(broken, CHANGED)

    result = run("replay", runs["branch"], "--verify", "--store", str(broken))

    assert result.returncode == 1
    assert f"{runs['branch']}: verified. " in result.stdout
    assert f"{CHANGED}: came out differently." in result.stdout


def change_the_last_line(path: Path, run_id: str) -> None:
    """Let the last thing that was said in a run be something else, as somebody would who can write the file."""
    with sqlite3.connect(path) as ledger:
        of_run = (
            "SELECT max(position) FROM events JOIN shapes ON number = shape WHERE kind = ? AND run_id = ?"
        )
        (position,) = ledger.execute(of_run, (kinds.AGENT_SPOKE, run_id)).fetchone()
        changed = "json_set(payload, '$.text', 'Nobody ever said this.')"
        ledger.execute(f"UPDATE events SET payload = {changed} WHERE position = ?", (position,))


@pytest.mark.parametrize("columns", [60, 80, 160])
@pytest.mark.parametrize(
    "words",
    [("runs",), ("compare", CHANGED, "last"), ("lineage", CHANGED), ("tree", CHANGED), ("who-knew", "last")],
)
def test_whoever_looks_back_sees_every_word_at_any_width(
    store: Path, runs: dict[str, str], columns: int, words: tuple[str, ...]
) -> None:
    shown = drawn(*words, "--store", str(store), columns=columns)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown.stdout)

    assert (shown.returncode, shown.stderr) == (0, "")
    assert plain != shown.stdout
    assert runs
    assert "…" not in plain
    assert max(len(line.rstrip()) for line in plain.splitlines()) <= columns
    if words == ("runs",):
        assert plain.count("thousand-token-wood") == len(FORMS)


async def play_two_that_meet(path: Path) -> tuple[str, str]:
    async with Terrarium(SqliteStore(path)) as t:
        wood = await t.open_world("thousand-token-wood")
        roots = await t.open_world("mystery-roots")
        await t.step(1)
        guest = next(creature for creature in t.creatures() if creature.run_id == roots.id)
        await t.connect(t.creatures()[0].id, guest.id, channel="bridge", both=True)
        await t.run()
    return wood.id, roots.id


def test_two_runs_that_met_in_one_graph_are_verified(tmp_path: Path) -> None:
    path = tmp_path / "met.glasshouse"
    for run_id in asyncio.run(play_two_that_meet(path)):
        done = run("replay", run_id, "--verify", "--store", str(path))

        assert done.returncode == 0, done.stdout + done.stderr
        assert f"{run_id}: verified." in done.stdout
