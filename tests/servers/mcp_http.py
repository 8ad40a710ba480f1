"""Tool servers over HTTP: one without the SDK, in the test's own loop, which answers well or badly and keeps what it was asked;
and one of the SDK, in a process of its own.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

TOOL = {"name": "echo", "description": "Say it again.", "inputSchema": {"type": "object", "properties": {}}}


class RawHttp:
    """The server. `manner` is what it does at a call, or at the opening if it begins with `open:`."""

    def __init__(self, manner: str) -> None:
        self.manner = manner
        self.url = ""
        self.asked: list[tuple[str, dict[str, str], Any]] = []
        """The method, the headers and the message of each request."""

    def methods(self) -> list[str]:
        """The methods that it was asked for, in order."""
        return [message["method"] for _, _, message in self.asked if message]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                verb = line.split()[0].decode()
                headers = {}
                while field := (await reader.readline()).decode().strip():
                    name, _, value = field.partition(":")
                    headers[name.lower()] = value.strip()
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                message = json.loads(body) if body else None
                self.asked.append((verb, headers, message))
                await self._answer(verb, message, writer)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _answer(self, verb: str, message: Any, writer: asyncio.StreamWriter) -> None:
        if verb == "GET" and self.manner == "hasty stream":
            _reply(writer, 200, b"retry: 0\nid: 1\ndata:\n\n", "text/event-stream")
            return
        if verb == "GET" and self.manner == "flood":
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
            while True:
                writer.write(b'data: {"jsonrpc":"2.0","id":1,"method":"ping"}\n\n' * 100)
                await writer.drain()
        if verb == "DELETE" and self.manner == "hold fast":
            await asyncio.sleep(3_600)
        if verb != "POST":
            _reply(writer, 405, b"")
            return
        method, number = message["method"], message.get("id")
        if self.manner.startswith("open:"):
            await self._misbehave(self.manner[5:], number, writer)
        elif number is None:
            _reply(writer, 202, b"")
        elif method == "initialize":
            info = {"name": "raw", "version": "1"}
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
            _result(writer, number, result, session="s1")
        elif method == "tools/list":
            _result(writer, number, {"tools": [TOOL]})
        elif method == "tools/call":
            await self._misbehave(self.manner, number, writer)
        else:
            error = {"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "Method not found"}}
            _reply(writer, 200, json.dumps(error).encode())

    async def _misbehave(self, manner: str, number: Any, writer: asyncio.StreamWriter) -> None:
        long = b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"' % (number or 0)
        match manner.split():
            case ["status", status]:
                _reply(writer, int(status), b"Go away.", "text/plain")
            case ["redirect"]:
                _reply(writer, 307, b"", location=f"{self.url}/elsewhere")
            case ["hang"]:
                await asyncio.sleep(3_600)
            case ["break"]:
                writer.close()
            case ["endless"]:
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n" + long)
                while True:
                    writer.write(b"x" * 65_536)
                    await writer.drain()
            case ["endless", "event"]:
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: " + long)
                while True:
                    writer.write(b"x" * 65_536)
                    await writer.drain()
            case ["bomb"]:
                body = gzip.compress(long + b"x" * 50_000_000 + b'"}]}}')
                _reply(writer, 200, body, **{"content-encoding": "gzip"})
            case ["page"]:
                _reply(writer, 200, b"<html>Log in, please</html>", "text/html")
            case ["garbage"]:
                _reply(writer, 200, b"{\xff not JSON")
            case _:
                _result(writer, number, {"content": [{"type": "text", "text": "Echo."}]})


def _result(writer: asyncio.StreamWriter, number: Any, result: Any, session: str = "") -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode()
    _reply(writer, 200, body, **({"mcp-session-id": session} if session else {}))


def _reply(
    writer: asyncio.StreamWriter, status: int, body: bytes, kind: str = "application/json", **headers: str
) -> None:
    fields = {"content-type": kind, "content-length": str(len(body)), **headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    writer.write(f"HTTP/1.1 {status} Whatever\r\n{head}\r\n".encode() + body)


@asynccontextmanager
async def raw_http(manner: str = "") -> AsyncIterator[RawHttp]:
    """A server that listens while it is used."""
    raw = RawHttp(manner)
    serving: set[asyncio.Task[None]] = set()
    listening = await asyncio.start_server(
        lambda reader, writer: serving.add(asyncio.create_task(raw.serve(reader, writer))), "127.0.0.1", 0
    )
    raw.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/mcp"
    try:
        yield raw
    finally:
        listening.close()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)


@contextmanager
def serving(kind: str, path: str) -> Iterator[str]:
    """The address of a server of the SDK over HTTP, in a process of its own."""
    with (
        socket.socket() as reservation
    ):  # It is kept, so that nobody else gets the port before the server has it.
        reservation.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reservation.bind(("127.0.0.1", 0))
        port = reservation.getsockname()[1]
        server = Path(__file__).with_name("mcp_weather.py")
        with subprocess.Popen([sys.executable, str(server), kind, str(port)]) as running:
            try:
                while not _is_open(port):
                    assert running.poll() is None
                    time.sleep(0.05)
                yield f"http://127.0.0.1:{port}{path}"
            finally:
                running.kill()


def _is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
