"""A tool server over HTTP: a client that reads bounded answers, and sends keys to one address only.

Always holds: no redirect is followed, so a key goes to the declared address only, and a call is sent once. On loopback no
proxy is asked. Nothing is unpacked, so no answer grows beyond the bytes that are counted.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from glasshouse.errors import Refused
from glasshouse.tools.mcp.process import leave_seconds_max, message_bytes_max
from glasshouse.tools.mcp.tool_server import ToolServer

if TYPE_CHECKING:
    import httpx2

connect_seconds_max: Final = 10.0
"""A server over HTTP that is not reached by then is not there."""
stream_bytes_max: Final = 67_108_864
"""A stream of events that gets longer is broken off. The SDK bounds each event by `message_bytes_max`."""
cookies_max: Final = 32
"""A server that sets more loses them all."""
listen_seconds_min: Final = 1.0
"""The least time between two requests to be told of changes; a server may name less."""

statuses: Final[ContextVar[list[int]]] = ContextVar("statuses of answers that are no success")
"""Set by whoever asks, to be told how its requests failed: the SDK does not say it."""


def http_client(server: ToolServer, keys: Mapping[str, str]) -> httpx2.AsyncClient:
    """A client for requests to this server, each with these headers."""
    import httpx2

    last_get = -listen_seconds_min

    async def bound(request: httpx2.Request) -> None:
        nonlocal last_get
        if request.method == "DELETE":  # The good-bye. Nobody waits for it.
            request.extensions["timeout"] = httpx2.Timeout(leave_seconds_max).as_dict()
        if request.method == "GET":
            now = asyncio.get_running_loop().time()
            last_get = max(now, last_get + listen_seconds_min)
            await asyncio.sleep(last_get - now)

    async def check(response: httpx2.Response) -> None:
        is_asked = response.request.method == "POST"
        if response.status_code >= 300 and is_asked and (seen := statuses.get(None)) is not None:
            seen[:] = [response.status_code]
        for field in ("location", "content-encoding"):
            response.headers.pop(field, None)
        if len(client.cookies.jar) > cookies_max:
            client.cookies.clear()
        is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
        response.stream = _bounded(response.stream, stream_bytes_max if is_stream else message_bytes_max)

    client = httpx2.AsyncClient(
        headers={"accept-encoding": "identity", **keys},
        timeout=httpx2.Timeout(None, connect=connect_seconds_max),  # Whoever asks waits only so long.
        trust_env=not server.is_loopback,
        follow_redirects=False,
        event_hooks={"request": [bound], "response": [check]},
    )
    return client


def _bounded(stream: Any, bytes_max: int) -> Any:
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        """A body that breaks off behind a number of bytes."""

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for part in stream:
                size += len(part)
                if size > bytes_max:
                    raise httpx2.ReadError(f"more than {bytes_max:,} bytes")
                yield part

        async def aclose(self) -> None:
            await stream.aclose()

    return Bounded()


def status_in_words(status: int) -> str:
    """A status that is no success, and what it means for whoever declared the server."""
    if 300 <= status < 400:
        return f"status {status}, a redirect, which is not followed"
    return f"status {status}: it does not accept the key" if status in {401, 403} else f"status {status}"


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
