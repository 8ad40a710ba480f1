"""Worlds before their start, over a real server: what a director may edit, what is refused, and what is saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from glasshouse import MemoryStore, Terrarium, verify
from glasshouse.manifests.loading import load_world, problems_in
from glasshouse.web.access import Access
from glasshouse.web.app import app
from tests.web.served import Served, served

SECRET = "a secret of more than sixteen characters"
WOOD = "/api/v1/worlds/thousand-token-wood"
EDITS = {"off": ["echo"], "creatures": {"critic": {"wants": "To sleep."}}}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the test's own to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def post(page: Served, path: str, body: dict[str, Any], status: int = 200) -> Any:
    answer = await page.client.post(path, json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


async def test_a_sheet_tells_what_may_be_edited() -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        sheet = await page.get(f"{WOOD}/sheet")

    critic = next(seat for seat in sheet["cast"] if seat["handle"] == "critic")
    assert critic["wants"].startswith("To be moved, once")
    assert (critic["tick_every"], critic["model_profile"]) == (4, "balanced")
    assert (sheet["judge"], sheet["may_save"]) == ("critic", False)


async def test_edits_are_checked_and_each_mistake_stands_beside_its_field() -> None:
    wrong = {"creatures": {"critic": {"schedule": {"tick_every": 0}}}}
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        good = await post(page, f"{WOOD}/check", {"edits": EDITS})
        none = await post(page, f"{WOOD}/check", {})
        bad = await post(page, f"{WOOD}/check", {"edits": wrong})
        nobody = await post(page, f"{WOOD}/check", {"edits": {"judge": ""}})

    assert (good["is_edited"], good["problems"]) == (True, [])
    assert (none["is_edited"], none["problems"]) == (False, [])
    assert bad["problems"] == [
        {"handle": "critic", "field": "schedule", "text": "this is too small. Write 1 or more."}
    ]
    assert [problem["field"] for problem in nobody["problems"]] == ["judge"]


async def test_an_edited_play_starts_and_is_played_on_from_its_record() -> None:
    start = {"world": "thousand-token-wood", "speed": "fast", "edits": EDITS, "limits": {"max_turns": 2}}
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        run = await post(page, "/api/v1/runs", start, 201)
        async with t.subscribe(after=0) as events:
            async for event in events:
                if event.kind == "run.finished":
                    break
        view = await page.get(f"/api/v1/runs/{run['id']}/view")
        listed = await page.get("/api/v1/runs")
        child = await post(page, f"/api/v1/runs/{run['id']}/resume", {"speed": "fast"}, 201)

        assert {creature["handle"] for creature in view["creatures"].values()} == {
            "seedkeeper", "pocket-actor", "critic",
        }  # fmt: skip
        assert view["runs"][run["id"]]["is_edited"]
        assert [info["is_edited"] for info in listed] == [True]
        assert child["is_edited"]
        assert (await verify(t, run["id"])).is_same


async def test_edits_that_do_not_hold_start_nothing() -> None:
    wrong = [
        ({"off": ["seedkeeper", "pocket-actor", "echo", "critic"]}, 409, "nobody plays"),
        ({"judge": "nobody"}, 409, "no creature of the cast"),
        ({"creatures": {"critic": {"persona": "x" * 17_000}}}, 409, "too long"),
        ({"creatures": {"critic": {"tools": ["file.py:run"]}}}, 422, "edits.creatures.critic.tools"),
        ({"cast": ["echo"]}, 422, "edits.cast"),
    ]
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        for edits, status, words in wrong:
            body = {"world": "thousand-token-wood", "edits": edits}
            refused = await post(page, "/api/v1/runs", body, status)
            assert words in refused["message"]
        too_large = {
            "world": "thousand-token-wood",
            "edits": {"creatures": {"critic": {"wants": "x" * 300_000}}},
        }
        assert (await page.client.post("/api/v1/runs", json=too_large)).status_code == 413
        assert t.runs() == ()


async def test_what_an_edited_start_costs_is_told() -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        whole = await post(page, "/api/v1/estimate", {"world": "thousand-token-wood"})
        fewer = await post(page, "/api/v1/estimate", {"world": "thousand-token-wood", "edits": EDITS})

    assert fewer["calls"] < whole["calls"]


async def test_only_a_director_reads_a_sheet_and_saves_a_world(here: Path) -> None:
    access = Access(SECRET)
    async with Terrarium(MemoryStore()) as t, served(t, page=app(t, access, saves_worlds=True)) as page:
        for role in ("spectator", "audience"):
            bearer = {"Authorization": f"Bearer {access.token_for(role)}"}
            body = {"name": "mine", "world": "mystery-roots"}
            read = await page.client.get(f"{WOOD}/sheet", headers=bearer)
            saved = await page.client.post("/api/v1/worlds", json=body, headers=bearer)
            assert (read.status_code, saved.status_code) == (403, 403)
            assert "moved" not in read.text

    assert names_in(here) == []


async def test_a_world_is_saved_over_nothing_and_plays(here: Path) -> None:
    body = {
        "name": "night-wood", "title": "Night Wood", "world": "thousand-token-wood", "edits": EDITS,
        "seed": "a lost glove", "limits": {"max_turns": 22},
    }  # fmt: skip
    async with Terrarium(MemoryStore()) as t, served(t, page=app(t, saves_worlds=True)) as page:
        assert (await page.get(f"{WOOD}/sheet"))["may_save"]
        saved = await post(page, "/api/v1/worlds", body, 201)
        again = await post(page, "/api/v1/worlds", body, 409)
        run = await post(page, "/api/v1/runs", {"world": "night-wood", "speed": "fast"}, 201)
        await post(page, f"/api/v1/runs/{run['id']}/pause", {})
        short = await post(page, "/api/v1/worlds", {**body, "name": "short", "limits": {"max_turns": 2}}, 409)

    assert saved == {"name": "night-wood", "folder": "worlds/night-wood", "note": ""}
    assert "Give it another name" in again["message"]
    assert problems_in(here / "worlds/night-wood") == []
    world = load_world(here / "worlds/night-wood")
    assert (world.scenario.title, world.scenario.seeds[0], world.scenario.governor.max_turns) == (
        "Night Wood", "a lost glove", 22,
    )  # fmt: skip
    assert (run["title"], run["seed"], run["is_edited"]) == ("Night Wood", "a lost glove", False)
    assert "before this beat" in short["message"], "a beat after the end"
    assert names_in(here / "worlds") == ["night-wood"]


async def test_a_server_for_others_saves_nothing(here: Path) -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        refused = await post(page, "/api/v1/worlds", {"name": "mine", "world": "mystery-roots"}, 403)

    assert "this machine alone" in refused["message"]
    assert names_in(here) == []
