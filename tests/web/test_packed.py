"""Pages that are packed once and kept, and answers that say that nothing has changed."""

from __future__ import annotations

import asyncio
import gzip
from typing import Any

import pytest

from glasshouse import MemoryStore, Terrarium
from glasshouse.events.redaction import ROLES
from glasshouse.runtime.past.stories import Stories
from glasshouse.web import packed
from tests.web.served import served


async def test_a_full_page_is_folded_once_and_then_not_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    folds: list[Any] = []
    records = Stories.records

    async def counted(*arguments: Any) -> Any:
        folds.append(arguments[2:])
        return await records(*arguments)

    monkeypatch.setattr(Stories, "records", counted)
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("mystery-roots")
        await t.run(run.id, turns=6)
        async with served(t) as page:
            path, query = f"/api/v1/runs/{run.id}/diffs", {"limit": 20}
            first, *others = await asyncio.gather(*[page.client.get(path, params=query) for _ in range(5)])
            assert folds == [("director", 0, 20)]
            assert first.headers["content-encoding"] == "gzip"
            assert all(other.content == first.content for other in others)
            plain = await page.client.get(path, params=query, headers={"accept-encoding": "identity"})
            assert "content-encoding" not in plain.headers
            assert (plain.json(), folds) == (first.json(), [("director", 0, 20)])
            tag = {"if-none-match": f'"another", {first.headers["etag"]}'}
            again = await page.client.get(path, params=query, headers=tag)
            assert (again.status_code, again.content) == (304, b"")
            for role in ROLES[:2]:
                other = await page.client.get(path, params={**query, "role": role}, headers=tag)
                assert (other.status_code, other.headers["etag"] == first.headers["etag"]) == (200, False)


async def test_the_last_page_changes_with_every_event_and_all_when_a_run_joins() -> None:
    async with Terrarium(MemoryStore()) as t:
        wood = await t.open_world("thousand-token-wood")
        await t.open_world("mystery-roots")
        async with served(t) as page:
            path = f"/api/v1/runs/{wood.id}"
            full, last, view = [
                await page.client.get(f"{path}/{query}")
                for query in ("diffs?limit=5", "diffs?after=5", "view?at=5")
            ]

            async def statuses() -> list[int]:
                asked = [("diffs?limit=5", full), ("diffs?after=5", last), ("view?at=5", view)]
                return [
                    (
                        await page.client.get(
                            f"{path}/{answer}", headers={"if-none-match": before.headers["etag"]}
                        )
                    ).status_code
                    for answer, before in asked
                ]

            assert await statuses() == [304, 304, 304]
            await t.disturb(wood.id, "A quandle rolls in.")
            assert await statuses() == [304, 200, 304]
            await t.connect("seedkeeper", "clue-gatherer")
            assert await statuses() == [200, 200, 200]


async def test_worlds_are_sent_once() -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        first = await page.client.get("/api/v1/worlds")
        again = await page.client.get("/api/v1/worlds", headers={"if-none-match": first.headers["etag"]})
        assert (first.status_code, again.status_code) == (200, 304)


async def test_kept_pages_are_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = packed.PackedPages()
    made: list[int] = []

    async def page_of(number: int) -> bytes:
        async def make() -> tuple[bytes, bool]:
            made.append(number)
            return b"%d" % number * 10, number != 9

        return await pages.of(number, make)

    size = len(await page_of(0))
    monkeypatch.setattr(packed, "pages_kept_bytes_max", 2 * size)
    for number in (1, 0, 2, 0, 1, 9, 9):
        assert gzip.decompress(await page_of(number)) == b"%d" % number * 10

    assert made == [0, 1, 2, 1, 9, 9]


async def test_a_page_that_cannot_be_made_is_tried_again() -> None:
    pages = packed.PackedPages()

    async def fails() -> tuple[bytes, bool]:
        raise LookupError

    async def works() -> tuple[bytes, bool]:
        return b"fine", True

    with pytest.raises(LookupError):
        await pages.of("key", fails)
    assert gzip.decompress(await pages.of("key", works)) == b"fine"


@pytest.mark.parametrize(
    ("accepted", "unpacks"),
    [("gzip", True), ("br, GZIP;q=0.5", True), ("*", True), ("", False), ("br", False), ("gzip; q=0", False)],
)
def test_only_who_unpacks_gets_packed_answers(accepted: str, unpacks: bool) -> None:
    assert packed.unpacks(accepted) is unpacks
