"""Filters and counts the messages of a tool server before the SDK reads them.

Always holds: every message counts, also one that is dropped. A server that floods is disconnected.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, Final

unasked_messages_max: Final = 10_000
"""A server that sends more messages than this between two requests to it is disconnected."""
buffered_messages_max: Final = 16
"""A server waits while this many of its messages are unread."""

_DROPPED: Final = frozenset({"notifications/message", "notifications/progress"})


class Traffic:
    """What a server has sent since it was last asked for something."""

    def __init__(self) -> None:
        self._unasked = 0

    def note_request(self) -> None:
        """The server may answer, and say more."""
        self._unasked = 0

    @property
    def is_flood(self) -> bool:
        """Whether it has said too much."""
        return self._unasked > unasked_messages_max

    def is_needed(self, message: Any) -> bool:
        """Whether a message is handed to the SDK. It is counted either way."""
        self._unasked += 1
        return getattr(message, "method", "") not in _DROPPED


@asynccontextmanager
async def counted(
    http: AbstractAsyncContextManager[Any],
    streams: AbstractAsyncContextManager[Any],
    traffic: Traffic,
    on_end: Callable[[], None],
) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of a transport over HTTP, until its server floods them."""
    import anyio

    async def pass_on(received: Any, to_house: Any) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # Nobody reads on.
            async for item in received:
                if not isinstance(item, Exception) and traffic.is_needed(item.message):
                    await to_house.send(item)
                if traffic.is_flood:
                    break
        to_house.close()
        on_end()

    async with http, streams as (received, outgoing):
        to_house, incoming = anyio.create_memory_object_stream[Any](buffered_messages_max)
        passing = asyncio.create_task(pass_on(received, to_house))
        try:
            yield incoming, outgoing
        finally:
            passing.cancel()
            incoming.close()
            to_house.close()
            await asyncio.wait([passing])
