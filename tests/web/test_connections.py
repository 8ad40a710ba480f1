"""Connections that send nothing, or half of a request: real sockets, against the server as `glasshouse serve` runs it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import NamedTuple

import pytest

from glasshouse import MemoryStore, Terrarium
from glasshouse.errors import Refused
from glasshouse.web import connections
from glasshouse.web.app import app
from glasshouse.web.server import listening, serve

seconds_max = 60
"""For a step that takes milliseconds on a quiet machine."""
HERE = "127.0.0.1"
ELSEWHERE = "127.0.0.2"
"""Another address of this machine, as a stranger has one."""
HEADERS = "GET {path} HTTP/1.1\r\nhost: localhost\r\n{more}\r\n"


class Socket(NamedTuple):
    """One connection of somebody who writes bytes by hand."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, text: str) -> None:
        self.writer.write(text.encode())
        await self.writer.drain()

    async def ask(self, path: str, *more: str) -> str:
        """The first line of an answer, its status."""
        await self.send(HEADERS.format(path=path, more="".join(f"{header}\r\n" for header in more)))
        return await self.status()

    async def status(self) -> str:
        async with asyncio.timeout(seconds_max):
            return (await self.reader.readline()).decode().strip()

    async def end(self) -> bytes:
        """What still comes until the server ends the connection."""
        try:
            async with asyncio.timeout(seconds_max):
                return await self.reader.read()
        except ConnectionResetError:
            return b""


class Door(NamedTuple):
    """A server, and connections to it."""

    port: int
    opened: list[Socket]

    async def open(self, address: str = HERE) -> Socket:
        reader, writer = await asyncio.open_connection(HERE, self.port, local_addr=(address, 0))
        self.opened.append(Socket(reader, writer))
        return self.opened[-1]


@asynccontextmanager
async def door(terrarium: Terrarium, proxies: Collection[str] = ()) -> AsyncIterator[Door]:
    with listening(HERE, 0) as listener:
        running = asyncio.create_task(serve(app(terrarium), listener, connections.networks(proxies)))
        house = Door(listener.getsockname()[1], [])
        try:
            yield house
        finally:
            for socket in house.opened:
                socket.writer.close()
            running.cancel()
            await running


async def test_headers_that_do_not_come_end_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Terrarium(MemoryStore()) as t, door(t) as house:
        run = await t.open_world("twenty-sprouts")
        stream = await house.open()
        assert "200" in await stream.ask(f"/api/v1/runs/{run.id}/stream")
        again = await house.open()
        assert "200" in await again.ask("/healthz", "connection: keep-alive")
        assert b"fine" in await again.reader.readuntil(b"}")
        monkeypatch.setattr(connections, "headers_seconds_max", 0.2)
        silent = await house.open()
        half = await house.open()
        await half.send("GET / HTTP/1.1\r\nhost: loc")
        dripping = await house.open()
        await again.send("GET / HTTP/1.1\r\n")

        async def drip() -> None:
            await dripping.send("GET / HTTP/1.1\r\nx: ")
            while True:
                await dripping.send("x")
                await asyncio.sleep(0.01)

        drops = asyncio.create_task(drip())
        assert [await socket.end() for socket in (silent, half, dripping, again)] == [b""] * 4
        drops.cancel()
        await asyncio.gather(drops, return_exceptions=True)

        line = await t.disturb(run.id, "Who is being answered keeps the connection.")
        async with asyncio.timeout(seconds_max):
            await stream.reader.readuntil(line.id.encode())


async def test_a_body_that_comes_after_the_answer_does_not_hold_the_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with Terrarium(MemoryStore()) as t, door(t) as house:
        slow = await house.open()
        assert "200" in await slow.ask("/healthz", "content-length: 1000000")
        monkeypatch.setattr(connections, "headers_seconds_max", 0.2)

        async def drip() -> None:
            while True:
                await slow.send("x")
                await asyncio.sleep(0.01)

        drops = asyncio.create_task(drip())
        assert b"fine" in await slow.end()
        drops.cancel()
        await asyncio.gather(drops, return_exceptions=True)


async def test_sockets_that_nobody_uses_shut_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "headers_seconds_max", 600.0)
    monkeypatch.setattr(connections, "connections_per_address_max", 8)
    async with Terrarium(MemoryStore()) as t, door(t) as house:
        sockets = [await house.open() for _ in range(40)]
        for socket in sockets[:32]:
            assert await socket.end() == b"", "the oldest made room"
        assert not any(socket.reader.at_eof() for socket in sockets[32:])

        for address in (HERE, ELSEWHERE):
            assert "200" in await (await house.open(address)).ask("/healthz")
        assert await sockets[32].end() == b""
        assert "200" in await sockets[39].ask("/healthz"), "the newest have their place still"


async def test_with_all_connections_answered_another_one_of_the_address_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "connections_per_address_max", 2)
    async with Terrarium(MemoryStore()) as t, door(t) as house:
        run = await t.open_world("twenty-sprouts")
        path = f"/api/v1/runs/{run.id}/stream"
        streams = [await house.open(), await house.open()]
        assert ["200" in await stream.ask(path) for stream in streams] == [True, True]

        refused = await house.open()
        assert "503" in await refused.status()
        assert b"Too many connections are open here" in await refused.end()
        assert "200" in await (await house.open(ELSEWHERE)).ask(path)

        streams[0].writer.close()
        answer = ""
        while "200" not in answer:  # The server notices that a stream was closed.
            try:
                answer = await (await house.open()).ask("/healthz")
            except ConnectionError:
                answer = ""


async def test_behind_a_named_proxy_the_forwarded_addresses_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "connections_per_address_max", 2)
    async with Terrarium(MemoryStore()) as t, door(t, [HERE]) as house:
        run = await t.open_world("twenty-sprouts")
        path = f"/api/v1/runs/{run.id}/stream"

        async def asked(forwarded: str) -> str:
            return await (await house.open()).ask(path, f"x-forwarded-for: {forwarded}")

        assert "200" in await asked("192.0.2.1")
        assert "200" in await asked("192.0.2.1")
        assert "429" in await asked("192.0.2.1")
        assert "429" in await asked("198.51.100.7, 192.0.2.1"), "what a visitor wrote is not believed"
        assert "200" in await asked("192.0.2.2")


async def test_without_a_named_proxy_no_forwarded_address_is_believed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "connections_per_address_max", 2)
    async with Terrarium(MemoryStore()) as t, door(t) as house:
        run = await t.open_world("twenty-sprouts")
        path = f"/api/v1/runs/{run.id}/stream"
        for number in (1, 2):
            forwarded = f"x-forwarded-for: 192.0.2.{number}"
            assert "200" in await (await house.open()).ask(path, forwarded)
        assert "503" in await (await house.open()).status()


class Counted:
    """A connection that only counts."""

    def __init__(self, *, is_idle: bool) -> None:
        self.is_idle = is_idle
        self.has_ended = False

    def end(self) -> None:
        self.has_ended = True


def test_many_addresses_together_are_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "connections_max", 3)
    register = connections.Connections()
    busy = Counted(is_idle=False)
    idle = [Counted(is_idle=True) for _ in range(3)]
    assert register.has_room_for(busy, "192.0.2.0")

    taken = [register.has_room_for(each, f"192.0.2.{number}") for number, each in enumerate(idle, 1)]

    assert taken == [True, True, True]
    assert [each.has_ended for each in (busy, *idle)] == [False, True, False, False]
    for each in idle[1:]:
        each.is_idle = False
    assert not register.has_room_for(Counted(is_idle=True), "192.0.2.9")
    register.forget(busy)
    assert register.has_room_for(Counted(is_idle=True), "192.0.2.9")


def test_a_proxy_is_an_address_or_a_network() -> None:
    assert [str(network) for network in connections.networks(["10.0.0.5", "10.1.0.0/16", "::1"])] == [
        "10.0.0.5/32",
        "10.1.0.0/16",
        "::1/128",
    ]
    with pytest.raises(Refused, match="Write the address of the proxy"):
        connections.networks(["proxy.example"])
