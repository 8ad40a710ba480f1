"""A plain HTTP/1.1 server on a real socket, in a thread of its own. What it answers is decided by its handler.

Always holds: the handler writes the whole answer itself, byte by byte if it likes, so that it can also write a wrong one.
"""

import asyncio
import contextlib
import json
import ssl
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import urlsplit

start_seconds_max = 60


class Request(NamedTuple):
    """One request as it came in. The names of its headers are in small letters."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        """The path alone: without the question, and without the host that a client names to a proxy."""
        return urlsplit(self.target).path

    @property
    def is_for_a_proxy(self) -> bool:
        """Whether the client took this server for a proxy."""
        return self.method == "CONNECT" or not self.target.startswith("/")

    def json(self) -> dict[str, Any]:
        """The body, which must be an object."""
        body = json.loads(self.body)
        assert isinstance(body, dict)
        return body


@dataclass(frozen=True)
class Reply:
    """A whole answer: in one piece with its length, or in several pieces as a stream."""

    status: int
    pieces: Sequence[bytes]
    content_type: str = "application/json"
    is_streamed: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def head(self) -> bytes:
        """Its first line and headers, as they go over the wire."""
        size = (
            {"Transfer-Encoding": "chunked"} if self.is_streamed else {"Content-Length": str(len(self.body))}
        )
        headers = {"Content-Type": self.content_type} | size | dict(self.headers)
        first = f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}"
        return "\r\n".join([first, *(f"{name}: {value}" for name, value in headers.items()), "", ""]).encode()

    @property
    def body(self) -> bytes:
        """Its body, as it goes over the wire."""
        return b"".join(map(self.on_the_wire, [*self.pieces, b""]))

    def on_the_wire(self, piece: bytes) -> bytes:
        """One piece of the body; an empty one ends a stream."""
        return f"{len(piece):x}\r\n".encode() + piece + b"\r\n" if self.is_streamed else piece


def json_reply(status: int, body: Any, headers: Mapping[str, str] | None = None) -> Reply:
    """An answer in JSON, in one piece."""
    return Reply(status, [json.dumps(body).encode()], headers=headers or {})


class Connection:
    """One client's connection, as a handler writes to it."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, before_bodies: bytes = b""
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._before_bodies = before_bodies

    @property
    def is_closed(self) -> bool:
        return self._writer.is_closing()

    async def write(self, data: bytes) -> None:
        """Send these bytes now."""
        self._writer.write(data)
        await self._writer.drain()

    async def send(self, reply: Reply, seconds_between_pieces: float = 0.0) -> None:
        """Send a whole answer."""
        reply = replace(reply, pieces=[self._before_bodies + reply.pieces[0], *reply.pieces[1:]])
        if not reply.is_streamed:
            await self.write(reply.head + reply.body)
            return
        await self.write(reply.head)
        for piece in [*reply.pieces, b""]:
            await self.write(reply.on_the_wire(piece))
            await asyncio.sleep(seconds_between_pieces)

    async def wait_for_the_client_to_leave(self) -> None:
        """Wait until the client has closed the connection."""
        while await self._reader.read(4096):
            pass

    def close(self) -> None:
        """Close the connection at once, whatever the client still expects."""
        self._writer.close()

    async def request(self) -> Request | None:
        """The next request; none if the client has left."""
        try:
            top = await self._reader.readuntil(b"\r\n\r\n")
            first, *lines = top.decode("latin-1").strip().split("\r\n")
            method, target, _ = first.split(" ", 2)
            headers = {
                name.strip().lower(): value.strip()
                for name, _, value in (line.partition(":") for line in lines)
            }
            body = await self._reader.readexactly(int(headers.get("content-length", "0")))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        return Request(method, target, headers, body)


Handler = Callable[[Request, Connection], Awaitable[None]]


class WireServer:
    """Serves a handler from `start` to `stop`."""

    def __init__(self, handler: Handler, host: str, tls: ssl.SSLContext | None) -> None:
        self.port = 0
        self.before_bodies = b""
        """What every body begins with, such as a byte order mark."""
        self._tls = tls
        self._handler = handler
        self._host = host
        self._is_up = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        self._clients: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._run, name="imitating server", daemon=True)

    def start(self) -> None:
        self._thread.start()
        assert self._is_up.wait(start_seconds_max), "the server did not start"

    def stop(self) -> None:
        """Close every connection, answered or not, and wait for the thread. A second call does nothing."""
        if not self._thread.is_alive():
            return
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(start_seconds_max)
        assert not self._thread.is_alive(), "the server did not stop"

    def _run(self) -> None:
        with contextlib.closing(self._loop):
            self._loop.run_until_complete(self._serve())
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._welcome, self._host, self.port, ssl=self._tls)
        self.port = server.sockets[0].getsockname()[1]
        self._is_up.set()
        await self._stopping.wait()
        server.close()
        for client in self._clients:
            client.cancel()
        await asyncio.gather(*self._clients, return_exceptions=True)

    async def _welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients.add(task)
        connection = Connection(reader, writer, self.before_bodies)
        try:
            while not connection.is_closed and (request := await connection.request()):
                await self._handler(request, connection)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._clients.discard(task)
            writer.close()
