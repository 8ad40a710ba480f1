"""A terrarium behind a real server on a port of its own, and a client for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx2
import uvicorn
from starlette.types import ASGIApp

from glasshouse import Terrarium
from glasshouse.web.access import Access
from glasshouse.web.app import app


class Served(NamedTuple):
    """The client, and the server behind it."""

    client: httpx2.AsyncClient
    server: uvicorn.Server

    @property
    def address(self) -> str:
        """Where the server is."""
        return str(self.client.base_url).rstrip("/")

    async def get(self, path: str, **query: Any) -> Any:
        answer = await self.client.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()


@asynccontextmanager
async def served(
    terrarium: Terrarium, access: Access | None = None, page: ASGIApp | None = None
) -> AsyncIterator[Served]:
    """Serve an open terrarium on the loopback address, or an app of another kind."""
    config = uvicorn.Config(
        page or app(terrarium, access),
        port=0,
        log_level="warning",
        timeout_graceful_shutdown=1,
        server_header=False,
    )
    server = uvicorn.Server(config)
    running = asyncio.create_task(server.serve())
    try:
        while not server.started:  # noqa: ASYNC110 - the server has no event to wait for
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        address = f"http://127.0.0.1:{port}"
        async with httpx2.AsyncClient(base_url=address, trust_env=False, timeout=60) as client:
            yield Served(client, server)
    finally:
        server.should_exit = True
        await running


class Block(NamedTuple):
    """One event of a stream."""

    name: str
    id: str
    data: Any


async def blocks_of(lines: AsyncIterator[str], *, has_signals: bool = False) -> AsyncIterator[Block]:
    """The events of a stream, without heartbeats; without signals, unless they are wanted."""
    fields: dict[str, str] = {}
    async for line in lines:
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif "data" in fields:
            if has_signals or fields.get("event") != "signal":
                yield Block(fields.get("event", ""), fields.get("id", ""), json.loads(fields["data"]))
            fields = {}
