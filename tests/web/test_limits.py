"""How much one client and all together may have open or send, over a real server."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest

from glasshouse import MemoryStore, Terrarium
from glasshouse.events.redaction import Role
from glasshouse.web import limits
from glasshouse.web.access import Access
from tests.web.served import Served, blocks_of, served

SECRET = "a secret of more than sixteen characters"


async def opened(stack: AsyncExitStack, page: Served, path: str, **headers: str) -> Any:
    """A stream that has answered."""
    answer = await stack.enter_async_context(page.client.stream("GET", path, headers=headers))
    if answer.status_code == 200:
        blocks = blocks_of(answer.aiter_lines())
        await anext(blocks)
        stack.push_async_callback(blocks.aclose)  # type: ignore[attr-defined]  # Kept, or it would close the stream.
    else:
        await answer.aread()
    return answer


async def half_sent(
    page: Served, path: str, kind: str = "application/json"
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A command whose body has begun and does not come."""
    port = page.server.servers[0].sockets[0].getsockname()[1]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {kind}\r\ncontent-length: 9\r\n\r\n"
    writer.write(head.encode() + b"{")
    await writer.drain()
    return reader, writer


async def test_streams_are_limited_for_a_client_and_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "streams_per_client_max", 2)
    monkeypatch.setattr(limits, "streams_max", 3)
    access = Access(SECRET)
    roles: tuple[Role, ...] = ("spectator", "director")
    tokens = {role: {"authorization": f"Bearer {access.token_for(role)}"} for role in roles}
    async with Terrarium(MemoryStore()) as t, served(t, access) as page:
        run = await t.open_world("twenty-sprouts")
        path = f"/api/v1/runs/{run.id}/stream"
        async with AsyncExitStack() as stack:
            async with AsyncExitStack() as first:
                await opened(first, page, path, **tokens["director"])
                await opened(stack, page, path, **tokens["director"])
                third = await opened(stack, page, path, **tokens["director"])
                assert third.status_code == 429
                assert third.headers["retry-after"]
                assert "2 streams" in third.json()["message"]
                assert (await opened(stack, page, path, **tokens["spectator"])).status_code == 200
                full = await opened(stack, page, path, **tokens["spectator"])
                assert (full.status_code, full.headers["retry-after"]) == (503, "5")
                health = await page.client.get("/healthz")
                assert health.status_code == 200
            answer = None
            while answer is None or answer.status_code != 200:  # The server notices that a stream was closed.
                answer = await opened(stack, page, path, **tokens["director"])


async def test_commands_are_limited_while_they_are_carried_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "commands_per_client_max", 1)
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        reader, writer = await half_sent(page, "/api/v1/estimate")
        answer = await page.client.get("/healthz")
        while answer.status_code != 429:
            answer = await page.client.post("/api/v1/session", json={"token": ""})
        assert "1 commands" in answer.json()["message"]
        assert (await page.client.get("/api/v1/runs")).status_code == 200
        monkeypatch.setattr(limits, "commands_max", 1)
        monkeypatch.setattr(limits, "commands_per_client_max", 2)
        assert (await page.client.post("/api/v1/session", json={"token": ""})).status_code == 503
        writer.close()
        await writer.wait_closed()
        while answer.status_code != 401:  # The slot of a client that has gone is free again.
            answer = await page.client.post("/api/v1/session", json={"token": ""})
        assert reader.at_eof() or not await reader.read()


async def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "body_seconds_max", 0.05)
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        reader, writer = await half_sent(page, "/api/v1/estimate")
        assert (await reader.readline()).startswith(b"HTTP/1.1 408")
        writer.close()


@pytest.mark.parametrize("is_chunked", [False, True])
async def test_a_large_body_is_refused(is_chunked: bool) -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        body = b'{"token": "' + b"x" * limits.body_bytes_max + b'"}'

        async def pieces() -> Any:
            for start in range(0, len(body), 50_000):
                yield body[start : start + 50_000]

        answer = await page.client.post(
            "/api/v1/session",
            content=pieces() if is_chunked else body,
            headers={"content-type": "application/json"},
        )
        assert answer.status_code == 413
        assert "262,144 bytes" in answer.json()["message"]


async def test_reads_are_limited_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "reads_per_client_max", 0)
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        assert (await page.client.get("/api/v1/runs")).status_code == 429
        monkeypatch.setattr(limits, "reads_per_client_max", 1)
        monkeypatch.setattr(limits, "reads_max", 0)
        assert (await page.client.get("/api/v1/runs")).status_code == 503


async def test_deep_json_is_refused_and_not_followed() -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        for body in (b"[" * 100_000, b'{"manifest":' * 20_000, b"\xff\xfe", b"NaN", b'{"token": "\\ud800"}'):
            answer = await page.client.post(
                "/api/v1/session", content=body, headers={"content-type": "application/json"}
            )
            assert 400 <= answer.status_code < 500, (body[:20], answer.text)
