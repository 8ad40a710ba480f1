"""Answers that are compressed once and sent often, and answers that say "not changed".

Always holds: a tag names the story, the role and the version of the fold. So "not changed" is said only to a caller
who has the answer for the same three. Compressed pages are a cache of bounded size. Many requests for one page at the
same time wait for one compression.
"""

from __future__ import annotations

import asyncio
import gzip
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from hashlib import blake2b
from typing import Final

from fastapi import Request, Response

pages_kept_bytes_max: Final = 64 * 1024 * 1024
"""How many bytes of packed pages of records a server keeps."""
packed_bytes_min: Final = 1_024
"""A shorter answer is sent as it is."""
_QUICK: Final = 1
"""The level of gzip for an answer that is sent once."""
_SMALL: Final = 6
"""The level of gzip for a page that is kept."""

_FRESH: Final = {"cache-control": "private, no-cache", "vary": "accept-encoding, authorization, cookie"}
"""A browser keeps the answer, and asks each time whether it is still good: a run that joins renumbers a story."""


Make = Callable[[], Awaitable[tuple[bytes, bool]]]
"""Makes a page, and tells whether it will never change."""


class PackedPages:
    """Pages that never change, packed, the least recently used dropped first."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._bytes = 0
        self._under_way: dict[Hashable, asyncio.Task[bytes]] = {}

    async def of(self, key: Hashable, make: Make) -> bytes:
        """The packed page of a key. It is made if it is not kept, once for all who wait for it."""
        page = self._kept.get(key)
        if page is not None:
            self._kept.move_to_end(key)
            return page
        task = self._under_way.get(key)
        if task is None:
            task = self._under_way[key] = asyncio.ensure_future(self._made(key, make))
            task.add_done_callback(lambda done: self._forget(key, done))
        return await asyncio.shield(task)

    def _forget(self, key: Hashable, done: asyncio.Task[bytes]) -> None:
        self._under_way.pop(key, None)
        if not done.cancelled():
            done.exception()  # Whoever waited for it has it. If all have gone, nobody needs it.

    async def _made(self, key: Hashable, make: Make) -> bytes:
        body, is_final = await make()
        page = await asyncio.to_thread(gzip.compress, body, _SMALL, mtime=0)
        if is_final:
            self._keep(key, page)
        return page

    def _keep(self, key: Hashable, page: bytes) -> None:
        self._kept[key] = page
        self._bytes += len(page)
        while self._bytes > pages_kept_bytes_max:
            _, dropped = self._kept.popitem(last=False)
            self._bytes -= len(dropped)


def not_changed(request: Request, tag: str) -> Response | None:
    """The answer to somebody who has it already; none to others."""
    if not is_known(request, tag):
        return None
    return Response(status_code=304, headers={**_FRESH, "etag": f'W/"{tag}"'})


def is_known(request: Request, tag: str) -> bool:
    """Whether the caller has the answer of a tag."""
    known = [part.strip().removeprefix("W/") for part in request.headers.get("if-none-match", "").split(",")]
    return f'"{tag}"' in known


def tagged(request: Request, tag: str, body: bytes, *, is_packed: bool = False) -> Response:
    """An answer in JSON with its tag, packed if the caller unpacks it."""
    answer = packed(request, body, is_packed=is_packed)
    answer.headers.update(_FRESH)
    answer.headers["etag"] = f'W/"{tag}"'
    return answer


def content_tag(*parts: str | bytes) -> str:
    """A tag that differs if any of these parts does."""
    digest = blake2b(digest_size=12)
    for part in parts:
        digest.update(part.encode() if isinstance(part, str) else part)
        digest.update(b"\0")
    return digest.hexdigest()


def packed(request: Request, body: bytes, *, is_packed: bool = False) -> Response:
    """An answer in JSON, packed if the caller unpacks it."""
    headers = {"vary": _FRESH["vary"]}
    is_wanted_packed = unpacks(request.headers.get("accept-encoding", ""))
    if is_packed and not is_wanted_packed:
        body = gzip.decompress(body)
    if not is_packed and is_wanted_packed and len(body) >= packed_bytes_min:
        body = gzip.compress(body, _QUICK, mtime=0)
        is_packed = True
    if is_packed and is_wanted_packed:
        headers["content-encoding"] = "gzip"
    return Response(body, media_type="application/json", headers=headers)


def unpacks(accepted: str) -> bool:
    """Whether a caller unpacks gzip, by its header `accept-encoding`."""
    for part in accepted.lower().split(","):
        name, _, weight = part.partition(";")
        if name.strip() in {"gzip", "*"}:
            return weight.replace(" ", "") not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
    return False
