"""Importing a file from the page: whole or not at all, within bounds, by directors, and refused in words."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from glasshouse import MemoryStore, Terrarium
from glasshouse.runtime.ledger import session_file
from glasshouse.runtime.sharing.page_files import STATIC
from glasshouse.web import limits
from glasshouse.web.access import IMPORTS, Access
from tests.web.served import Served, served
from tests.web.test_limits import half_sent

SECRET = "a secret of more than sixteen characters"
BYTES = {"content-type": "application/octet-stream"}


async def a_file(folder: Path, name: str = "play.glass") -> tuple[str, bytes]:
    """A run of another store as a file, and its id."""
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world("mystery-roots")
        await t.run(run.id, turns=2)
        path = await t.export(run.id, folder / name)
        return run.id, path.read_bytes()


async def sent(page: Served, body: Any, name: str = "play.glass", **headers: str) -> Any:
    return await page.client.post(IMPORTS, params={"name": name}, content=body, headers={**BYTES, **headers})


async def pieces(body: bytes) -> Any:
    for start in range(0, len(body), 4_096):
        yield body[start : start + 4_096]


def test_the_page_knows_how_large_a_file_may_be() -> None:
    text = (STATIC / "page" / "importing.js").read_text(encoding="utf-8")

    assert f"fileBytesMax = {limits.file_bytes_max:_};" in text


@pytest.mark.parametrize("name", ["play.glass", "play.jsonl"])
async def test_a_file_from_the_page_is_a_recorded_run_here(name: str, tmp_path: Path) -> None:
    run_id, body = await a_file(tmp_path, name)
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        answer = await sent(page, pieces(body), name)

        assert answer.status_code == 200, answer.text
        assert answer.json()["run_id"] == run_id
        (row,) = await page.get("/api/v1/runs")
        assert (row["id"], row["is_imported"]) == (run_id, True)
        signals = await page.client.get(f"/api/v1/runs/{run_id}/stream", params={"once": True})
        assert '"state":"recorded"' in signals.text
        assert (await sent(page, body)).json() == answer.json()  # A second time it brings nothing new.
        assert len(await page.get("/api/v1/runs")) == 1


async def test_a_bad_file_is_refused_by_name_and_cause_and_leaves_nothing(tmp_path: Path) -> None:
    _, body = await a_file(tmp_path)
    lines = gzip.decompress(body).splitlines(keepends=True)
    bad = {
        "not-ours.glass: 1": b"Once upon a time.",
        "ends after line": gzip.compress(b"".join(lines[:-1])),
        "does not hold what its last line says": gzip.compress(b"".join([*lines[:5], *lines[6:]])),
        "cannot be read": body[: len(body) // 2],
    }
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        for cause, content in bad.items():
            answer = await sent(page, content, "not-ours.glass")

            assert answer.status_code == 409, cause
            message = answer.json()["message"].replace(":1:", ": 1:")
            assert "not-ours.glass" in message
            assert cause in message
            assert "glasshouse-import-" not in message
        assert await page.get("/api/v1/runs") == []
        assert await t._house.store.position() == 0


async def test_a_file_is_imported_by_directors_from_the_page_alone(tmp_path: Path) -> None:
    _, body = await a_file(tmp_path)
    access = Access(SECRET)
    async with Terrarium(MemoryStore()) as t, served(t, access) as page:
        for role in ("spectator", "audience"):
            token = {"authorization": f"Bearer {access.token_for(role)}"}
            assert (await sent(page, body, **token)).status_code == 403
        director = {"cookie": f"glasshouse={access.token_for('director')}"}
        assert (await sent(page, body, **director)).status_code == 403  # It does not say where it comes from.
        away = await sent(page, body, **director, origin="https://elsewhere.example")
        assert away.status_code == 403
        as_form = {**director, "origin": page.address, "content-type": "text/plain"}
        assert (await sent(page, body, **as_form)).status_code == 415
        assert await t._house.store.position() == 0

        assert (await sent(page, body, **director, origin=page.address)).status_code == 200


@pytest.mark.parametrize("is_chunked", [False, True])
async def test_a_file_that_is_too_large_or_stops_coming_is_refused(
    is_chunked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, body = await a_file(tmp_path)
    monkeypatch.setattr(limits, "file_bytes_max", 5_000)
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        answer = await sent(page, pieces(body) if is_chunked else body)
        assert (answer.status_code, answer.json()["message"]) == (413, "A file has at most 5,000 bytes.")

        monkeypatch.setattr(limits, "file_bytes_max", len(body))
        monkeypatch.setattr(limits, "file_pause_seconds_max", 0.05)

        reader, writer = await half_sent(page, f"{IMPORTS}?name=a", BYTES["content-type"])
        assert (await reader.readline()).startswith(b"HTTP/1.1 408")
        writer.close()
        assert await t._house.store.position() == 0
        monkeypatch.setattr(limits, "file_pause_seconds_max", 10.0)
        monkeypatch.setattr(session_file, "import_bytes_max", 1_000)
        assert "more than 1,000 bytes unpacked" in (await sent(page, body)).json()["message"]
        monkeypatch.setattr(limits, "imports_per_client_max", 0)
        assert (await sent(page, body)).status_code == 429
