"""The events of a story over a real server: searched, filtered, in both directions, in pages, as files."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from glasshouse import MemoryStore, Terrarium
from glasshouse.events import kinds
from glasshouse.web import events
from tests.web.served import Served, served


async def all_pages(page: Served, path: str, **query: Any) -> list[Any]:
    """Everything that a search finds, going on at each cursor."""
    rows: list[Any] = []
    cursor: dict[str, str] = {}
    while True:
        answer = await page.get(path, **query, **cursor)
        rows += answer["events"]
        if answer["next"] is None:
            return rows
        cursor = {"cursor": answer["next"]}


async def test_events_are_numbered_filtered_and_redacted() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("mystery-roots")
        await t.run(run.id, turns=6)
        await t.disturb(run.id, 'A quandle walks in, ÜBER "quoted".')
        async with served(t) as page:
            path = f"/api/v1/runs/{run.id}/events"
            (visit,) = (await page.get(path, text="QUANDLE"))["events"]
            assert visit["event"]["kind"] == "user.injected"
            assert (await page.get(path, text='über "QUOTED"'))["events"] == [visit]
            everything = (await page.get(path, limit=1000))["events"]
            assert [row["k"] for row in everything] == list(range(1, len(everything) + 1))
            assert everything[visit["k"] - 1] == visit
            clues = (await page.get(path, kind="clue.found", limit=3))["events"]
            assert {row["event"]["kind"] for row in clues} == {"clue.found"}
            both = (await page.get(path, kind=["clue", "user.injected"]))["events"]
            assert {row["event"]["kind"] for row in both} == {"clue.found", "user.injected"}
            assert "private" in clues[0]["event"]
            (public,) = (await page.get(path, kind="clue.found", limit=1, role="spectator"))["events"]
            assert "private" not in public["event"]
            event = await page.get(f"{path}/{visit['event']['id']}")
            assert event["payload"]["text"].startswith("A quandle walks in")
            shown = {
                show: {row["event"]["kind"] for row in await all_pages(page, path, show=show)}
                for show in ("speech", "topology", "world")
            }
            assert {"clue.found", "user.injected", "world.observed"} <= shown["speech"]
            assert shown["topology"] <= kinds.ENGINE
            assert {"run.started", "turn.started", "user.injected", "world.observed"} <= shown["world"]
            both = {"user.injected", "world.observed"}
            assert sum(map(len, shown.values())) == len(set.union(*shown.values())) + len(both)


async def test_a_search_finds_nothing_that_its_role_may_not_read() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("mystery-roots")
        await t.run(run.id, turns=4)
        private = [event.private for event in await t.run_events(run.id) if event.private is not None]
        thought = next(part["thought"] for part in private if part.get("thought"))
        async with served(t) as page:
            path = f"/api/v1/runs/{run.id}/events"
            for role, is_found in (("spectator", False), ("audience", True)):
                answer = await page.get(path, text=thought[:100], role=role)
                assert bool(answer["events"]) is is_found


@pytest.mark.parametrize("is_imported", [False, True])
async def test_a_long_search_stops_and_goes_on_in_either_direction(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_imported: bool
) -> None:
    monkeypatch.setattr(events, "events_searched_max", 25)
    monkeypatch.setattr("glasshouse.runtime.past.stories.page_events_max", 7)
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("mystery-roots")
        other = await t.open_world("twenty-sprouts")
        for _ in range(6):  # The events of two runs lie among each other.
            await t.run(run.id, turns=1)
            await t.run(other.id, turns=1)
        expected = len(await t.run_events(run.id))
        await t.export(run.id, tmp_path / "run.glass")
        if not is_imported:
            await check_both_directions(t, run.id, expected)
    if is_imported:
        async with Terrarium(MemoryStore()) as t:
            await t.import_file(tmp_path / "run.glass")
            await check_both_directions(t, run.id, expected)


async def check_both_directions(t: Terrarium, run_id: str, expected: int) -> None:
    async with served(t) as page:
        path = f"/api/v1/runs/{run_id}/events"
        length = (await page.get(f"/api/v1/runs/{run_id}/view"))["k"]
        assert length >= expected
        first = await page.get(path, text="no such words at all")
        assert first["events"] == []
        assert first["next"] is not None
        assert 25 <= first["searched"] < 40
        forth = await all_pages(page, path, limit=10)
        back = await all_pages(page, path, limit=10, order="newest")
        assert [row["k"] for row in forth] == list(range(1, length + 1))
        assert back == forth[::-1]
        some = await all_pages(page, path, after=12, before=20, limit=3)
        assert some == forth[12:19]
        assert await all_pages(page, path, after=12, before=20, limit=3, order="newest") == some[::-1]
        assert await all_pages(page, path, text="no such words at all") == []


async def test_what_is_found_is_saved_as_a_file() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("mystery-roots")
        await t.run(run.id, turns=3)
        await t.disturb(run.id, '=1+1, "a quandle"')
        async with served(t) as page:
            path = f"/api/v1/runs/{run.id}/events"
            everything = await all_pages(page, path)
            table = await page.client.get(path, params={"format": "csv", "limit": 5})
            assert table.headers["content-disposition"] == 'attachment; filename="events.csv"'
            rows = list(csv.DictReader(io.StringIO(table.text, newline="")))
            assert [row["id"] for row in rows] == [row["event"]["id"] for row in everything]
            changes = [event.change for event in await t.run_events(run.id)]
            assert [row["change"] for row in everything] == changes
            assert [int(row["change"]) for row in rows] == changes
            assert 1 < len(set(changes)) < len(changes)
            assert rows[-1]["text"] == '\'=1+1, "a quandle"'
            clue = next(row for row in rows if row["kind"] == "clue.found")
            assert clue["actor"] == "clue-gatherer"
            assert int(clue["tokens"]) > 0
            lines = await page.client.get(path, params={"format": "jsonl", "kind": "clue.found"})
            assert [json.loads(line) for line in lines.text.splitlines()] == [
                row for row in everything if row["event"]["kind"] == "clue.found"
            ]
            spectators = await page.client.get(path, params={"format": "jsonl", "role": "spectator"})
            assert '"private"' not in spectators.text


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"cursor": "x"}, 409),
        ({"cursor": "1-"}, 409),
        ({"after": 10_000}, 409),
        ({"limit": 0}, 422),
        ({"order": "sideways"}, 422),
        ({"text": "x" * 201}, 422),
    ],
)
async def test_what_cannot_be_searched_is_refused(query: dict[str, Any], status: int) -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        run = await t.open_world("twenty-sprouts")
        answer = await page.client.get(f"/api/v1/runs/{run.id}/events", params=query)
        assert answer.status_code == status, answer.text
