"""A scenario in a file of its own, as people bring it: played by every face as it stands, beside its creatures."""

from __future__ import annotations

from pathlib import Path

import pytest

from glasshouse import MemoryStore, ModelRouter, Terrarium, kinds, play, verify
from glasshouse.cli.live.start import WITHOUT_MODEL
from glasshouse.mcp_server.shared_store import SharedStore
from glasshouse.mcp_server.tools import Tools
from glasshouse.stores.store_address import StoreAddress
from tests.journeys.commanding import run
from tests.rules.manifests.test_scenario_files import MYSTERY, SPROUTS, file_beside
from tests.web.served import served

REFEREE = """
from glasshouse.turns.contests.referees import Ruling


def ours(match):
    return Ruling("keeper", "It is our rule.")
"""


@pytest.mark.parametrize(
    ("name", "text", "bundled", "kind"),
    [
        ("mystery.yaml", MYSTERY, "mystery-roots", "judged"),
        ("sprouts.yml", SPROUTS, "twenty-sprouts", "versus"),
    ],
)
def test_a_file_is_checked_played_and_resumed_on_the_command_line(
    name: str, text: str, bundled: str, kind: str, tmp_path: Path
) -> None:
    file = file_beside(tmp_path, name, text, bundled, ".")

    checked = run("check", name, cwd=tmp_path)
    played = run("play", name, "--turns", "4", cwd=tmp_path)
    file.write_text(f"goal: Be brief.\n{text}")
    resumed = run("resume", "last", "--turns", "2", cwd=tmp_path)
    verified = run("replay", "last", "--verify", cwd=tmp_path)

    assert (checked.returncode, checked.stdout.splitlines()[0]) == (0, f"{name}: sound.")
    assert f"warning: {name}:1:1: name: there is none" in checked.stdout
    assert (played.returncode, played.stderr) == (0, f"glasshouse: {WITHOUT_MODEL}\n")
    assert "To be continued: turn " in played.stdout
    assert (resumed.returncode, resumed.stderr) == (0, "")
    assert "was edited" in resumed.stdout
    assert verified.returncode == 0
    in_python = play(file, turns=4)
    started = next(event for event in in_python.events if event.kind == kinds.RUN_STARTED)
    assert started.payload["competition"]["kind"] == kind
    assert started.payload["recipe"]["path"] == str(file)


def test_a_mistake_in_a_file_is_told_with_its_line(tmp_path: Path) -> None:
    file_beside(tmp_path, "mystery.yaml", MYSTERY.replace("judged", "juged"), "mystery-roots")

    for command in ("check", "play"):
        checked = run(command, "mystery.yaml", cwd=tmp_path)
        words = "mystery.yaml:2:21: competition.kind: 'juged' is not one of none, judged, versus."
        assert checked.returncode != 0
        assert words in checked.stdout + checked.stderr


async def test_code_beside_a_file_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSHOUSE_ALLOW_WORLD_CODE", "1")
    text = f"{SPROUTS}  referee: rules.py:ours\nends_when: {{referee: true}}\n"
    file = file_beside(tmp_path, "sprouts.yaml", text, "twenty-sprouts")
    (tmp_path / "rules.py").write_text(REFEREE)

    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world(str(file))
        await t.run(run.id)
        ended = t.run_of(run.id)
        verification = await verify(t, run.id)

    assert (ended.winner, ended.reason) == ("keeper", "ended")
    assert verification.is_same


async def test_a_file_among_worlds_here_is_started_by_the_page_and_by_an_assistant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = file_beside(tmp_path / "worlds", "mystery.yaml", f"title: Mine\n{MYSTERY}", "mystery-roots")
    shared = SharedStore(StoreAddress(tmp_path / "show.glasshouse"), ModelRouter, act_seconds_max=60)

    async with Terrarium(MemoryStore()) as t, served(t) as page:
        (listed,) = [world for world in await page.get("/api/v1/worlds") if world["name"] == "mystery"]
        file.write_text(f"title: Other\n{MYSTERY}")
        (again,) = [world for world in await page.get("/api/v1/worlds") if world["name"] == "mystery"]
        started = await page.client.post(
            "/api/v1/runs", json={"world": "mystery", "limits": {"max_turns": 1}, "speed": "fast"}
        )
    tools = Tools(shared)
    try:
        checked = await tools.check_world("mystery")
        begun = await tools.play("mystery", max_turns=1)
        stage = await tools.read_stage(begun.run, wait_seconds=30)
    finally:
        await shared.close()

    assert (listed["title"], listed["problem"], again["title"]) == ("Mine", None, "Other")
    assert started.status_code == 201, started.text
    assert checked.is_sound
    assert checked.warnings[-1].startswith("mystery.yaml:1:1: name: there is none")
    assert stage.lines
