"""Limits of the server: how much one client, and all together, may have open or send at once.

Always holds: nothing is queued without a bound. Whoever asks for too much is answered at once, in words: 429 if it is
the client's own doing, 503 if the server is full, 413 if a body is too large, 408 if it does not come. A client is a
peer address with its role. Behind a proxy that `--proxy` names, it is the address that the proxy forwards; behind any other
one all viewers of a role are one client, and limits hold for them together.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, Final, Literal, NamedTuple

import msgspec

from glasshouse.web import connections
from glasshouse.web.access import IMPORTS, App, Denied, Receive, Send, answer_denied

streams_per_client_max: Final = 128
"""A client (a peer address with its role) that opens more is answered 429."""
streams_max: Final = 512
"""With more open on the server, another one is answered 503."""
commands_per_client_max: Final = 16
"""More POSTs of one client at once are answered 429."""
commands_max: Final = 64
"""More POSTs at once on the server are answered 503."""
reads_per_client_max: Final = 64
"""More GETs of one client at once, streams aside, are answered 429."""
reads_max: Final = 256
"""More GETs at once on the server are answered 503."""
body_bytes_max: Final = 256 * 1024
"""A larger body of a command is answered 413."""
body_seconds_max: Final = 10.0
"""How long the body of a command may take to arrive."""

file_bytes_max: Final = 256 * 1024 * 1024
"""A larger file to import is answered 413. Its content is bounded as that of `glasshouse import` is."""
file_pause_seconds_max: Final = 10.0
"""How long the next piece of a file to import may take to arrive."""
imports_per_client_max: Final = 1
"""More files at once of one client are answered 429."""
imports_max: Final = 2
"""More files at once on the server are answered 503: a whole file is checked in memory."""

Sort = Literal["streams", "commands", "reads", "imports"]


class Bound(NamedTuple):
    """How many of a sort may be open at once, and what to say beyond that."""

    per_client: int
    total: int
    advice: str


def _bound(sort: Sort) -> Bound:
    """The bounds of a sort. They are read at each request, so that tests can lower them."""
    match sort:
        case "streams":
            return Bound(streams_per_client_max, streams_max, "Close other tabs of this page.")
        case "commands":
            return Bound(commands_per_client_max, commands_max, "Wait until others have been carried out.")
        case "reads":
            return Bound(reads_per_client_max, reads_max, "Ask for less at once.")
        case "imports":
            return Bound(imports_per_client_max, imports_max, "Wait until the other file is imported.")


class LimitsMiddleware:
    """Counts what is open, and refuses what would be too much."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._open: dict[Sort, Counter[str]] = {
            "streams": Counter(),
            "commands": Counter(),
            "reads": Counter(),
            "imports": Counter(),
        }
        self._of_address = Counter[str]()
        """Address -> requests of all sorts and roles. An address without a proxy has a connection for each of them."""

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sort = _sort_of(scope)
        client = _client_of(scope)
        address = _address_of(scope)
        try:
            self._check(sort, client)
            self._check_address(address)
            if sort in {"commands", "imports"}:
                _check_length(scope, sort)
        except Denied as denied:
            await answer_denied(send, denied)
            return
        opened = self._open[sort]
        opened[client] += 1
        self._of_address[address] += 1
        try:
            if sort == "commands":
                await self._command(scope, receive, send)
            elif sort == "imports":
                await self._app(scope, _bounded(receive), send)
            else:
                await self._app(scope, receive, send)
        finally:
            for counted, key in ((opened, client), (self._of_address, address)):
                counted[key] -= 1
                if counted[key] <= 0:
                    del counted[key]

    def _check(self, sort: Sort, client: str) -> None:
        opened = self._open[sort]
        bound = _bound(sort)
        if opened[client] >= bound.per_client:
            raise Denied(429, f"You have {bound.per_client} {sort} open here already. {bound.advice}")
        if opened.total() >= bound.total:
            raise Denied(503, f"This server has {bound.total} {sort} open already. Try again later.")

    def _check_address(self, address: str) -> None:
        most = connections.connections_per_address_max
        if self._of_address[address] >= most:
            raise Denied(
                429, f"Your address has {most} requests open here already. Close other tabs of this page."
            )

    async def _command(self, scope: Any, receive: Receive, send: Send) -> None:
        """Pass a command on once its body is there, so that nobody waits inside for one that does not come."""
        try:
            body = await asyncio.wait_for(_body(receive), body_seconds_max)
        except TimeoutError:
            await answer_denied(
                send, Denied(408, f"The command did not arrive within {body_seconds_max:g} seconds.")
            )
            return
        except Denied as denied:
            await answer_denied(send, denied)
            return
        if body is None:  # The client has gone.
            return
        is_given = False

        async def received() -> Any:
            nonlocal is_given
            if is_given:
                return await receive()
            is_given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, received, send)


async def _body(receive: Receive) -> bytes | None:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        _check_size(len(body), "commands")
        if not message.get("more_body", False):
            _check_json(body)
            return bytes(body)


def _check_json(body: bytearray) -> None:
    """Refuse early what other readers of JSON would follow too far or take for text: deep nests, half characters."""
    try:
        if body:
            msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        raise Denied(422, "The body is not JSON, or nested too deep.") from None


def _bounded(receive: Receive) -> Receive:
    """What a client sends of a file, as long as it is not too much and keeps coming. It is passed on as it comes."""
    size = 0
    is_whole = False

    async def received() -> Any:
        nonlocal size, is_whole
        try:
            message = await asyncio.wait_for(receive(), None if is_whole else file_pause_seconds_max)
        except TimeoutError:
            raise Denied(408, f"Nothing of the file came for {file_pause_seconds_max:g} seconds.") from None
        size += len(message.get("body", b""))
        is_whole = not message.get("more_body", False)
        _check_size(size, "imports")
        return message

    return received


def _check_length(scope: Any, sort: Sort) -> None:
    length = dict(scope["headers"]).get(b"content-length", b"0")
    if length.isdigit() and len(length) <= 18:
        _check_size(int(length), sort)


def _check_size(size: int, sort: Sort) -> None:
    noun, bytes_max = ("A file", file_bytes_max) if sort == "imports" else ("A command", body_bytes_max)
    if size > bytes_max:
        raise Denied(413, f"{noun} has at most {bytes_max:,} bytes.")


def _sort_of(scope: Any) -> Sort:
    if scope["method"] not in {"GET", "HEAD", "OPTIONS"}:
        return "imports" if scope["path"].endswith(IMPORTS) else "commands"
    return "streams" if scope["path"].endswith("/stream") else "reads"


def _client_of(scope: Any) -> str:
    return f"{_address_of(scope)} {scope.get('state', {}).get('role', '')}"


def _address_of(scope: Any) -> str:
    host: str = (scope.get("client") or ("", 0))[0]
    return host
