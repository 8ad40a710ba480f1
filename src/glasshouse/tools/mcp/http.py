"""A tool server over HTTP: a client that reads bounded answers and takes keys to one address only.

Always holds: a request with a key is never redirected. On loopback no proxy is asked. Nothing is unpacked, so no answer
grows beyond the bytes that are counted.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from glasshouse.errors import Refused
from glasshouse.tools.mcp.process import message_bytes_max
from glasshouse.tools.mcp.tool_server import ToolServer

if TYPE_CHECKING:
    import httpx2

connect_seconds_max: Final = 10.0
listen_seconds_min: Final = 1.0
"""The least time between two requests to be told of changes; a server may name less."""

statuses: Final[ContextVar[list[int]]] = ContextVar("statuses of answers that are no success")
"""Set by whoever asks, to be told how its requests failed: the SDK does not say it."""


def http_client(server: ToolServer, keys: Mapping[str, str]) -> httpx2.AsyncClient:
    """A client for requests to this server, each with these headers."""
    import httpx2

    last_get = -listen_seconds_min

    async def slow_down(request: httpx2.Request) -> None:
        nonlocal last_get
        if request.method == "GET":
            now = asyncio.get_running_loop().time()
            last_get = max(now, last_get + listen_seconds_min)
            await asyncio.sleep(last_get - now)

    async def check(response: httpx2.Response) -> None:
        if response.status_code >= 300 and (seen := statuses.get(None)) is not None:
            seen.append(response.status_code)
        if keys:
            response.headers.pop("location", None)
        response.headers.pop("content-encoding", None)
        response.stream = _bounded(response.stream)

    return httpx2.AsyncClient(
        headers={"accept-encoding": "identity", **keys},
        timeout=httpx2.Timeout(None, connect=connect_seconds_max),  # Whoever asks waits only so long.
        trust_env=not server.is_loopback,
        follow_redirects=False,
        event_hooks={"request": [slow_down], "response": [check]},
    )


def _bounded(stream: Any) -> Any:
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        """A body that breaks off behind `message_bytes_max` bytes."""

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for part in stream:
                size += len(part)
                if size > message_bytes_max:
                    raise httpx2.ReadError(f"more than {message_bytes_max:,} bytes")
                yield part

        async def aclose(self) -> None:
            await stream.aclose()

    return Bounded()


def checked_header(server: ToolServer, header: str, value: str) -> str:
    """The value of a header, or `Refused` if a header cannot hold it. The value is not quoted: it is a key."""
    variable = server.headers[header]
    if not value:
        raise Refused(
            f"{variable} is not set, and {server.name} needs it.", f"Set {variable} in the environment."
        )
    if not value.isascii() or not value.isprintable():
        raise Refused(
            f"{variable} holds what no HTTP header can hold.", "Set it to plain letters and digits."
        )
    is_bare = header.lower() == "authorization" and " " not in value
    return f"Bearer {value}" if is_bare else value
