"""The studio over a real server: worlds as texts, checked, rehearsed, saved and performed."""

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


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the test's own to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


async def post(page: Served, path: str, body: dict[str, Any], status: int = 200) -> Any:
    answer = await page.client.post(path, json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


async def texts_of(page: Served, world: str = WOOD) -> tuple[dict[str, str], dict[str, Any]]:
    info = await page.get(f"{world}/texts")
    return {file["path"]: file["text"] for file in info["files"]}, info


async def test_a_world_is_told_as_texts_without_its_code() -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        texts, info = await texts_of(page)

    assert list(texts) == [
        "scenario.yaml",
        *(f"creatures/{name}.yaml" for name in ("critic", "echo", "pocket-actor", "seedkeeper")),
    ]
    assert texts["scenario.yaml"].startswith("name: thousand-token-wood")
    assert (info["where"], info["saves"]) == ("bundled", "")


async def test_a_mistake_has_its_file_and_line_and_the_name_that_was_meant() -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        texts, _ = await texts_of(page)
        same = await post(page, f"{WOOD}/texts/check", {"texts": texts})
        lines = texts["scenario.yaml"].splitlines()
        line = next(n for n, text in enumerate(lines, 1) if text.startswith("cast:"))
        misspelt = {**texts, "scenario.yaml": texts["scenario.yaml"].replace("echo", "ehco", 1)}
        unreadable = {**texts, "creatures/echo.yaml": "name: echo\npersona: [\n"}
        wrong = (await post(page, f"{WOOD}/texts/check", {"texts": misspelt}))["problems"]
        broken = (await post(page, f"{WOOD}/texts/check", {"texts": unreadable}))["problems"]
        refused = await post(page, f"{WOOD}/rehearse", {"texts": misspelt}, 409)

        assert (same["is_edited"], same["problems"]) == (False, [])
        assert [(p["path"], p["line"], p["wrong"], p["instead"]) for p in wrong] == [
            ("scenario.yaml", line, "ehco", "echo")
        ]
        assert broken[0]["path"] == "creatures/echo.yaml"
        assert broken[0]["line"] > 1
        assert f"scenario.yaml:{line}" in refused["message"]
        assert t.runs() == ()


async def test_a_rehearsal_takes_what_is_unchanged_from_the_record() -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        texts, _ = await texts_of(page)
        first = await post(page, f"{WOOD}/rehearse", {"texts": texts})
        again = await post(page, f"{WOOD}/rehearse", {"texts": texts, "after": first["id"]})
        rain = texts["scenario.yaml"].replace("begins to snow", "begins to rain")
        body = {"texts": {**texts, "scenario.yaml": rain}, "after": first["id"]}
        edited = await post(page, f"{WOOD}/rehearse", body)
        spoken = next(line for line in edited["lines"] if line["has_prompt"])
        prompt = await page.get(f"/api/v1/rehearsals/{edited['id']}/events/{spoken['id']}/prompt")
        gone = await page.client.get(f"/api/v1/rehearsals/other/events/{spoken['id']}/prompt")

        assert first["new_calls"] == first["calls"] > 0
        assert (again["new_calls"], again["differs_at"]) == (0, None)
        assert [line["text"] for line in again["lines"]] == [line["text"] for line in first["lines"]]
        assert 0 < edited["new_calls"] < edited["calls"]
        assert "begins to rain" in edited["lines"][edited["differs_at"]]["text"]
        assert all(line["is_kept"] for line in edited["lines"][: edited["differs_at"]] if line["has_prompt"])
        assert "WHO YOU ARE" in [section["heading"] for section in prompt["sections"]]
        assert 0 < prompt["tokens"] < prompt["tokens_max"]
        assert gone.status_code == 404
        assert t.runs() == (), "rehearsals are not in the store"


async def test_what_was_edited_is_performed_from_its_record() -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        texts, _ = await texts_of(page)
        shorter = texts["scenario.yaml"].replace("title: Thousand Token Wood", "title: Rainy Wood", 1)
        body = {"texts": {**texts, "scenario.yaml": shorter}, "speed": "fast"}
        run = await post(page, f"{WOOD}/perform", body, 201)
        async with t.subscribe(after=0) as events:
            async for event in events:
                if event.kind == "run.finished":
                    break

        assert (run["title"], run["is_edited"]) == ("Rainy Wood", True)
        assert (await verify(t, run["id"])).is_same


async def test_texts_bring_no_code_and_name_no_other_file() -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        texts, _ = await texts_of(page)
        echo = texts["creatures/echo.yaml"]
        for field in ("played_by: 'agent.py:Agent'", "tools: ['tools.py:run']"):
            edited = {**texts, "creatures/echo.yaml": f"{echo}\n{field}\n"}
            answer = await post(page, f"{WOOD}/texts/check", {"texts": edited})
            assert answer["problems"], field
        server = "\ntool_servers: {shell: {command: [sh, -c, id]}}\n"
        edited = {**texts, "scenario.yaml": texts["scenario.yaml"] + server}
        problems = (await post(page, f"{WOOD}/texts/check", {"texts": edited}))["problems"]
        assert ["code cannot be named" in problem["text"] for problem in problems] == [True]
        for name in ("../other.yaml", "/etc/passwd", "creatures/../x.yaml", "referee.py", "creatures/x.py"):
            refused = await post(page, f"{WOOD}/texts/check", {"texts": {**texts, name: ""}}, 409)
            assert "no file of this world" in refused["message"]
        await post(page, f"{WOOD}/texts/check", {"texts": {}}, 409)
        await post(page, f"{WOOD}/texts/check", {"texts": {"scenario.yaml": "x" * 140_000}}, 422)
        await post(page, f"{WOOD}/texts/check", {"texts": {"scenario.yaml": "x" * 300_000}}, 413)
        await post(page, f"{WOOD}/rehearse", {"texts": texts, "turns": 1_000}, 422)


async def test_only_a_director_is_in_the_studio(here: Path) -> None:
    access = Access(SECRET)
    async with Terrarium(MemoryStore()) as t, served(t, page=app(t, access, saves_worlds=True)) as page:
        for role in ("spectator", "audience"):
            bearer = {"Authorization": f"Bearer {access.token_for(role)}"}
            read = await page.client.get(f"{WOOD}/texts", headers=bearer)
            asked = await page.client.get("/api/v1/rehearsals/x/events/y/prompt", headers=bearer)
            assert (read.status_code, asked.status_code) == (403, 403)
            for what in ("texts/check", "texts/save", "rehearse", "perform"):
                body = {"texts": {"scenario.yaml": ""}, "digest": "x"}
                answer = await page.client.post(f"{WOOD}/{what}", json=body, headers=bearer)
                assert answer.status_code == 403
    assert files_in(here) == []


async def test_texts_are_saved_as_a_new_world_and_then_over_its_files(here: Path) -> None:
    async with Terrarium(MemoryStore()) as t, served(t, page=app(t, saves_worlds=True)) as page:
        texts, info = await texts_of(page)
        body = {"texts": texts, "digest": info["digest"]}
        over = await post(page, f"{WOOD}/texts/save", body, 409)
        saved = await post(page, f"{WOOD}/texts/save", {**body, "name": "night-wood"})
        twice = await post(page, f"{WOOD}/texts/save", {**body, "name": "night-wood"}, 409)
        night = "/api/v1/worlds/night-wood"
        mine, read = await texts_of(page, night)
        titled = {
            **mine,
            "scenario.yaml": mine["scenario.yaml"].replace("Thousand Token Wood", "Night Wood", 1),
        }
        await post(page, f"{night}/texts/save", {"texts": titled, "digest": read["digest"]})
        stale = await post(page, f"{night}/texts/save", {"texts": mine, "digest": read["digest"]}, 409)
        broken = {**titled, "scenario.yaml": "name: ["}
        refused = await post(page, f"{night}/texts/save", {"texts": broken, "digest": read["digest"]}, 409)

    assert (info["saves"], read["saves"]) == ("new", "over")
    assert "new name" in over["message"]
    assert saved["folder"] == "worlds/night-wood"
    assert "another name" in twice["message"]
    assert "changed on the disk" in stale["message"]
    assert "scenario.yaml:1" in refused["message"]
    assert problems_in(here / "worlds/night-wood") == []
    assert load_world(here / "worlds/night-wood").scenario.title == "Night Wood"
    creatures = [f"{name}.yaml" for name in load_world(here / "worlds/night-wood").manifests]
    assert files_in(here) == sorted(["scenario.yaml", "script.txt", *creatures])


async def test_a_server_for_others_writes_no_world(here: Path) -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        texts, info = await texts_of(page)
        body = {"texts": texts, "digest": info["digest"], "name": "night-wood"}
        await post(page, f"{WOOD}/texts/save", body, 403)
    assert files_in(here) == []
