"""What the page reads, over a real server: views, records, timelines, events and the stream."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from glasshouse import MemoryStore, Terrarium
from glasshouse.events.event import Event, Json
from glasshouse.events.redaction import ROLES
from glasshouse.runtime.ledger.history import HistoryReader
from glasshouse.runtime.past import stories as stories_module
from glasshouse.terrarium import stories_of
from glasshouse.views.page import Record, apply
from glasshouse.web import feeds
from glasshouse.web.app import app
from tests.web.served import Block, blocks_of, served


def brought_on(view: Json, records: list[Any]) -> Json:
    for record in records:
        apply(view, msgspec.convert(record, Record))
    return view


async def test_views_and_records_are_those_of_the_story() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("mystery-roots")
        await t.run(run.id, turns=6)
        async with served(t) as page:
            for role in ROLES:
                head = await page.get(f"/api/v1/runs/{run.id}/view", role=role)
                early = await page.get(f"/api/v1/runs/{run.id}/view", role=role, at=20)
                records = await page.get(f"/api/v1/runs/{run.id}/diffs", role=role, after=20)

                assert early["k"] == 20
                assert head == brought_on(early, records)
                stories = stories_of(t)
                fold = await stories.view_at(stories.of_run(run.id), role)
                assert head == msgspec.to_builtins(fold.view)


async def test_a_stream_begins_with_the_view_and_goes_on_with_records() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("mystery-roots")
        async with served(t) as page, page.client.stream("GET", f"/api/v1/runs/{run.id}/stream") as answer:
            blocks = blocks_of(answer.aiter_lines())
            first = await anext(blocks)
            assert (first.name, first.data["k"]) == (
                "view",
                (await page.get(f"/api/v1/runs/{run.id}/view"))["k"],
            )
            await t.run(run.id, turns=3)
            head = await page.get(f"/api/v1/runs/{run.id}/view")
            view = first.data
            while view["k"] < head["k"]:
                brought_on(view, [(await anext(blocks)).data])
            assert view == head


async def test_a_stream_tells_how_far_a_long_story_is_until_its_view_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(feeds, "progress_seconds", 0.0)
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("mystery-roots")
        await t.run(run.id, turns=4)
        monkeypatch.setattr(stories_module, "page_events_max", 10)
        async with served(t) as page, page.client.stream("GET", f"/api/v1/runs/{run.id}/stream") as answer:
            assert (await page.client.get("/api/v1/runs/r-none/stream")).status_code == 404
            blocks = blocks_of(answer.aiter_lines())
            blocks_got = [await anext(blocks)]
            while blocks_got[-1].name != "view":
                blocks_got.append(await anext(blocks))
            head = blocks_got[-1].data["k"]
            *progress, _ = blocks_got

            assert {block.name for block in progress} == {"progress"}
            numbers = [block.data["k"] for block in progress]
            assert numbers == sorted(numbers)
            assert {block.data["of"] for block in progress if block.data["of"]} == {head}
            assert numbers[-1] > 0


async def test_whoever_has_no_stream_asks_for_what_is_new() -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        run = await t.open_world("mystery-roots")
        path = f"/api/v1/runs/{run.id}/stream"

        async def asked(last: str) -> list[Block]:
            answer = await page.client.get(
                path, params={"once": True, "last_event_id": last} if last else {"once": True}
            )
            lines = answer.aiter_lines()
            return [block async for block in blocks_of(lines, has_signals=True)]

        view, signal = await asked("")
        assert (view.name, signal.name) == ("view", "signal")
        assert [block.name for block in await asked(view.id)] == ["signal"]
        await t.run(run.id, turns=2)
        *records, signal = await asked(view.id)

        assert {block.name for block in records} == {""}
        assert brought_on(view.data, [block.data for block in records]) == await page.get(
            f"/api/v1/runs/{run.id}/view"
        )
        assert [block.name for block in await asked("1")] == [
            "view",
            "signal",
        ]  # What was missed is not kept.


async def test_a_lost_stream_goes_on_without_gap_or_duplicate() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("mystery-roots")
        path = f"/api/v1/runs/{run.id}/stream"
        async with served(t) as page:
            async with page.client.stream("GET", path) as answer:
                blocks = blocks_of(answer.aiter_lines())
                view = (await anext(blocks)).data
                await t.run(run.id, turns=2)
                last = await anext(blocks)
                brought_on(view, [last.data])
            await t.run(run.id, turns=2)
            head = await page.get(f"/api/v1/runs/{run.id}/view")
            async with page.client.stream("GET", path, headers={"last-event-id": last.id}) as answer:
                blocks = blocks_of(answer.aiter_lines())
                numbers = []
                while view["k"] < head["k"]:
                    block: Block = await anext(blocks)
                    assert block.name == ""
                    numbers.append(block.data["k"])
                    brought_on(view, [block.data])
            assert numbers == list(range(last.data["k"] + 1, head["k"] + 1))
            assert view == head
            async with page.client.stream("GET", path, headers={"last-event-id": "1"}) as answer:
                assert (await anext(blocks_of(answer.aiter_lines()))).name == "view"


async def test_two_stories_that_become_one_are_sent_whole() -> None:
    async with Terrarium(MemoryStore()) as t:
        wood = await t.open_world("thousand-token-wood")
        case = await t.open_world("mystery-roots")
        async with served(t) as page, page.client.stream("GET", f"/api/v1/runs/{wood.id}/stream") as answer:
            blocks = blocks_of(answer.aiter_lines())
            view = (await anext(blocks)).data
            assert set(view["runs"]) == {wood.id}
            await t.connect("seedkeeper", "clue-gatherer")
            while set(view["runs"]) != {wood.id, case.id}:
                block = await anext(blocks)
                view = block.data if block.name == "view" else brought_on(view, [block.data])
            assert len(view["graphs"]) == 1


def test_a_viewer_that_lags_is_cut_to_the_whole_view() -> None:
    viewer = feeds.Viewer()
    for number in range(feeds.blocks_waiting_max + 1):
        viewer.offer(b"%d" % number)

    assert viewer.is_behind


async def test_what_is_not_there_is_refused_in_words() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("mystery-roots")
        async with served(t) as page:
            missing = await page.client.get("/api/v1/runs/r-nobody/view")
            assert (missing.status_code, missing.json()["error"]) == (404, "UnknownName")
            beyond = await page.client.get(f"/api/v1/runs/{run.id}/view", params={"at": 10_000})
            assert (beyond.status_code, beyond.json()["error"]) == (409, "Refused")
            assert "no event 10,000" in beyond.json()["message"]
            wrong = await page.client.get(f"/api/v1/runs/{run.id}/view", params={"at": "x"})
            assert wrong.status_code == 422


@pytest.mark.parametrize("path", ["/healthz", "/api/openapi.json", "/api/v1/worlds"])
async def test_the_server_tells_about_itself(path: str) -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        assert await page.get(path)


class CountingStore(MemoryStore):
    """A store that counts the events that are read in the order of commits."""

    events_read = 0

    async def read_after(self, position: int, events_max: int) -> list[Event]:
        events = await super().read_after(position, events_max)
        self.events_read += len(events)
        return events


async def test_a_short_story_in_a_large_store_is_read_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glasshouse.runtime.past.stories.page_events_max", 10)
    store = CountingStore()
    async with Terrarium(store) as t:
        worlds = [await t.open_world("twenty-sprouts", rng_seed=seed) for seed in range(30)]
        run, stories = worlds[15], stories_of(t)
        story = stories.of_run(run.id)
        store.events_read = 0

        fold = await stories.view_at(story, "director")

        assert fold.view["k"] == stories.length(story) > 10
        assert store.events_read <= fold.view["k"] + 10
        assert await store.position() > 10 * store.events_read


async def test_an_imported_story_is_put_in_order_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glasshouse.runtime.past.stories.page_events_max", 10)
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("twenty-sprouts")
        await t.run(run.id, turns=4)
        await t.export(run.id, tmp_path / "part.glass")
        await t.run(run.id)
        await t.export(run.id, tmp_path / "whole.glass")
    reads: list[str] = []
    events_of_run = HistoryReader.events_of_run

    async def counted(reader: HistoryReader, run_id: str) -> list[Event]:
        reads.append(run_id)
        return await events_of_run(reader, run_id)

    monkeypatch.setattr(HistoryReader, "events_of_run", counted)
    async with Terrarium(MemoryStore()) as t:
        stories = stories_of(t)
        for file in ("part.glass", "whole.glass"):
            await t.import_file(tmp_path / file)
            story = stories.of_run(run.id)
            reads.clear()
            pages = [[event.id for event in some] async for some in stories.events(story)]
            folds = [await stories.view_at(story, "director", k) for k in (5, 12)]
            assert reads == [run.id]
            assert [fold.view["event_id"] for fold in folds] == [pages[0][4], pages[1][1]]
            assert [name for page in pages for name in page] == [
                event.id for event in await t.run_events(run.id)
            ]


async def test_the_newest_story_is_prepared_before_anybody_asks_for_it() -> None:
    async with Terrarium(MemoryStore()) as t:
        await t.open_world("one-odd-acorn")
        newest = await t.open_world("thousand-token-wood")
        prepared = app(t).state.reading.feeds
        prepared.prepare()
        await asyncio.gather(*prepared._reloads)
        assert [(key, feed.is_loaded) for key, feed in prepared._feeds.items()] == [
            ((newest.id, "director"), True)
        ]
        await prepared.close()
