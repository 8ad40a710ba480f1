"""A cable between a browser and the server: it can be pulled, and it keeps what came through."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from tests.web.served import Served

bytes_a_read = 65_536


class Cable:
    """Passes connections on to the server, under an address of its own."""

    def __init__(self, page: Served) -> None:
        self._server_port = page.client.base_url.port
        self._pulled: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self.port = 0
        self.came = bytearray()
        """Everything that the server sent."""
        self.asked = bytearray()
        """Everything that the page sent."""

    @property
    def address(self) -> str:
        """Where the page is, through this cable."""
        return f"http://127.0.0.1:{self.port}"

    async def plug(self) -> None:
        """Take connections, at the same address as before."""
        self._pulled = await asyncio.start_server(self._connected, "127.0.0.1", self.port)
        self.port = self._pulled.sockets[0].getsockname()[1]

    def pull(self) -> None:
        """Cut every connection in the middle of whatever it carries, and take no more."""
        assert self._pulled is not None
        self._pulled.close()
        for writer in self._writers:
            writer.transport.abort()

    async def _connected(self, from_page: asyncio.StreamReader, to_page: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection("127.0.0.1", self._server_port)
        ends = {to_page, to_server}
        self._writers |= ends
        with suppress(ConnectionError):
            await asyncio.gather(
                self._carry(from_page, to_server, self.asked),
                self._carry(from_server, to_page, self.came),
            )
        self._writers -= ends

    async def _carry(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, kept: bytearray | None = None
    ) -> None:
        try:
            while some := await source.read(bytes_a_read):
                if kept is not None:
                    kept += some
                target.write(some)
                await target.drain()
        finally:
            target.close()


@asynccontextmanager
async def cable_to(page: Served) -> AsyncIterator[Cable]:
    """A cable that is plugged in."""
    cable = Cable(page)
    await cable.plug()
    try:
        yield cable
    finally:
        cable.pull()
