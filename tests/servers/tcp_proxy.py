"""A proxy between a client and a server that can lose, keep back, delay and cut what passes through it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Literal

Fault = Literal["", "drop replies", "keep sync", "delay", "cut", "refuse"]

SYNC = b"S\x00\x00\x00\x04"
"""The message of PostgreSQL's protocol that ends a statement: without it, the server neither commits nor answers."""
delay_seconds = 0.05


class TcpProxy:
    """Passes connections on to a port of this machine."""

    def __init__(self, port: int) -> None:
        self._to = port
        self.fault: Fault = ""
        self.port = 0
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._pass, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        """End every connection, as a cable that is pulled."""
        for writer in [*self._writers]:
            writer.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.fault == "refuse":
            writer.transport.abort()
            return
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._to)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, far_writer}
        tasks = {
            asyncio.create_task(self._forward(reader, far_writer)),
            asyncio.create_task(self._back(far_reader, writer)),
        }
        self._tasks |= tasks
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for end in (writer, far_writer):
            end.transport.abort()
        self._writers -= {writer, far_writer}

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                if self.fault == "delay":
                    await asyncio.sleep(delay_seconds)
                if self.fault == "keep sync" and data.endswith(SYNC):
                    data = data[: -len(SYNC)]
                writer.write(data)
                await writer.drain()

    async def _back(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                if self.fault == "drop replies":
                    continue
                if self.fault == "cut":
                    writer.transport.abort()
                    return
                writer.write(data)
                await writer.drain()
