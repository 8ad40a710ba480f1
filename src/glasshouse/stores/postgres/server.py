"""`Server`: what one process keeps open to one database, for all its houses there: connections, one listener, one heartbeat.

Theory of operation. Every store of a process on the same database shares one `Server`. Statements take a connection from a small pool and
give it back; more are opened while many work at once, and closed again. One connection more listens for wakes. One task beats for all houses that are
owned here, with one statement, so a thousand idle houses cost one statement a second in all.

A wake is a hint: `NOTIFY` on a channel of the house, sent after the commit and at most every 10 ms, because inside a commit it would make all
houses wait for one another. It may be lost, for example if its sender is killed in between. So whoever waits looks by itself once in
`look_seconds` too, and more often where the server cannot LISTEN.

Always holds: a connection on which something failed is thrown away. Nothing here holds a lock of the database between two statements.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from importlib.resources import files
from typing import Any, Final, Protocol
from weakref import WeakKeyDictionary

from glasshouse.errors import GlasshouseError
from glasshouse.installation import missing_extra
from glasshouse.runtime.waiting import Waiters
from glasshouse.stores.named_statements import statements
from glasshouse.stores.postgres.address import Address
from glasshouse.stores.postgres.driver_faults import driver_errors, is_of_connection, store_error

connections_max: Final = 12
"""How many statements of one process run at once."""
connections_idle_max: Final = 4
"""How many connections stay open while nothing runs. With the listener, an idle process has five."""
idle_seconds_max: Final = 1.0
"""How long more connections than that stay open after they were used."""
connect_seconds_max = 3.0
"""How long a connection may take to open: with it, a command says within five seconds that no server answers, also if the machine is busy."""
lock_wait_seconds_max = 2.5
"""How long any statement waits for a lock before the server refuses it: with it, a command says within five seconds that a table is locked."""
statement_seconds_max = 15.0
"""How long a statement may take that nobody needs sooner, such as one that reads a page of events."""
wake_seconds_min: Final = 0.010
"""The shortest time between two wakes that a process sends."""
look_seconds = 10.0
"""Who waits for a wake looks by itself this often: a wake may be lost, if its sender is killed right after its commit."""
looks_at_once_max: Final = 2
"""How many of those who wait look at once: a thousand idle houses need no more connections than one."""
look_seconds_without_listener: Final = 1.0
beat_share: Final = 1 / 5
"""How much of a lease lies between two beats."""
beat_again_share: Final = 1 / 25
"""How soon a beat is tried again that the database did not note."""

SQL: Final = statements(files("glasshouse.stores.postgres").joinpath("queries.sql").read_text())
"""The statements of `queries.sql`, by name."""

_CLOCK: Final = time.CLOCK_BOOTTIME if sys.platform == "linux" else time.CLOCK_MONOTONIC


def monotonic() -> float:
    """The clock of leases. It counts on while the machine is suspended, where the system has such a clock. A test moves its own."""
    return time.clock_gettime(_CLOCK)


class Beating(Protocol):
    """A house that is owned here, as the heartbeat sees it."""

    number: int
    epoch: int
    lease_seconds: float

    def was_beaten(self, sent_at: float) -> None:
        """The database has noted a beat that was sent at this moment."""

    def was_taken(self) -> None:
        """The database knows another owner."""


def inbox_channel(number: int) -> str:
    """The channel on which it is told that the inbox of a house has changed."""
    return f"glasshouse_inbox_{number}"


class Wakes(Waiters):
    """Those who wait on a channel, and how often they were woken: who looks first and then waits misses none."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def wake(self) -> None:
        """Wake everybody who waits."""
        self.count += 1
        super().wake()


class Server:
    """The connections of a process to one database."""

    def __init__(self, address: Address) -> None:
        self.shown = address.database
        self._dsn = address.dsn
        self.name = f"glasshouse {secrets.token_hex(8)}"
        """The `application_name` of every connection, by which another process can end them all."""
        self.users = 0
        self._idle: list[Any] = []
        """Connections that nothing runs on; the one that was used last is at the end, and is taken first."""
        self._trimming: asyncio.TimerHandle | None = None
        self._room = asyncio.Semaphore(connections_max)
        self.looking = asyncio.Semaphore(looks_at_once_max)
        """Held by those who look, because no wake came."""
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._owned: dict[int, Beating] = {}
        self._owned_more = asyncio.Event()
        self._heard: dict[str, Wakes] = {}
        """Those who wait, by channel."""
        self._channels: set[str] = set()
        """The channels that the listener has been told of."""
        self._listener: Any = None
        self._listening = asyncio.Lock()
        self._unsent: set[str] = set()
        """The channels on which a wake is to be sent."""
        self._time: tuple[datetime, float] | None = None
        """The time of the database, and the moment by our own monotonic clock at which it was told."""

    # Connections

    async def _connect(self) -> Any:
        try:
            import asyncpg
        except ModuleNotFoundError as missing:
            if missing.name != "asyncpg":
                raise
            raise missing_extra(
                "PostgreSQL needs the extra `postgres`, which is not installed.", "postgres"
            ) from None
        settings = {
            "application_name": self.name,
            "synchronous_commit": "on",
            "lock_timeout": f"{lock_wait_seconds_max * 1_000:.0f}ms",
            # Every statement goes by a key, so one plan serves all values. To plan each commit anew took longer than to run it.
            "plan_cache_mode": "force_generic_plan",
            "timezone": "UTC",
        }
        async with asyncio.timeout(connect_seconds_max):
            return await asyncpg.connect(self._dsn, timeout=connect_seconds_max, server_settings=settings)

    async def take_connection(self) -> Any:
        """A connection, to be given back by `give_back` or `throw_away`."""
        await self._room.acquire()
        try:
            while self._idle:
                connection = self._idle.pop()
                if not connection.is_closed():
                    return connection
            return await self._connect()
        except BaseException:
            self._room.release()
            raise

    def give_back(self, connection: Any) -> None:
        """Keep a connection for the next statement. If more are kept than an idle process needs, some are closed in a moment."""
        self._room.release()
        if connection.is_closed() or not self.users:
            connection.terminate()
            return
        self._idle.append(connection)
        if len(self._idle) > connections_idle_max and self._trimming is None:
            loop = asyncio.get_running_loop()
            self._trimming = loop.call_later(idle_seconds_max, self._trim)

    def _trim(self) -> None:
        """Close the connections that were used least lately, but for those that an idle process keeps."""
        self._trimming = None
        while len(self._idle) > connections_idle_max:
            self._idle.pop(0).terminate()

    def throw_away(self, connection: Any) -> None:
        """Close a connection on which something failed, without waiting for the server."""
        self._room.release()
        connection.terminate()

    async def fetch(self, query: str, *values: object, seconds: float | None = None) -> list[Any]:
        """The rows of a statement that may be repeated: if its connection broke, another one is tried."""
        try:
            return await self._fetch(query, values, seconds)
        except GlasshouseError:
            raise  # Without the driver, nobody can say what it raises.
        except driver_errors() as wrong:
            if not is_of_connection(wrong):
                raise
        self._drop_idle()
        return await self._fetch(query, values, seconds)

    async def _fetch(self, query: str, values: tuple[object, ...], seconds: float | None) -> list[Any]:
        connection = await self.take_connection()
        try:
            rows: list[Any] = await connection.fetch(query, *values, timeout=seconds or statement_seconds_max)
        except BaseException:
            self.throw_away(connection)
            raise
        self.give_back(connection)
        return rows

    async def fetch_row(self, query: str, *values: object, seconds: float | None = None) -> Any:
        """The first row of a statement that may be repeated; None if there is none."""
        rows = await self.fetch(query, *values, seconds=seconds)
        return rows[0] if rows else None

    def _drop_idle(self) -> None:
        """Throw the idle connections away: one broke, so the server may have been restarted."""
        while self._idle:
            self._idle.pop().terminate()

    # The heartbeat

    def own(self, house: Beating) -> None:
        """Beat for a house from now on."""
        self._owned[house.number] = house
        self._owned_more.set()
        self._begin("beat", self._beat_until_cancelled)

    def disown(self, house: Beating) -> None:
        """Beat for a house no more."""
        if self._owned.get(house.number) is house:
            del self._owned[house.number]

    def is_owned_here(self, number: int) -> bool:
        """Whether a store of this process owns a house."""
        return number in self._owned

    async def _beat_until_cancelled(self) -> None:
        while True:
            if not self._owned:
                self._owned_more.clear()
                await self._owned_more.wait()
            lease = min([house.lease_seconds for house in self._owned.values()], default=1.0)
            has_beaten = await self._beat(lease / 2)
            self._owned_more.clear()
            with suppress(TimeoutError):  # A house that is owned from now on may have a shorter lease.
                async with asyncio.timeout(lease * (beat_share if has_beaten else beat_again_share)):
                    await self._owned_more.wait()

    async def _beat(self, seconds: float) -> bool:
        """Beat for all houses that are owned here. False if the database did not answer."""
        houses = dict(self._owned)
        sent_at = monotonic()
        numbers = [*houses]
        epochs = [house.epoch for house in houses.values()]
        try:
            async with asyncio.timeout(seconds):
                now, beaten = await self.fetch_row(SQL["beat"], numbers, epochs, self.name, seconds=seconds)
        except driver_errors():
            return False
        self._note_time(now, sent_at)
        for number, house in houses.items():
            if self._owned.get(number) is not house:
                continue  # It was let go meanwhile.
            if number in beaten:
                house.was_beaten(sent_at)
            else:
                house.was_taken()
        return True

    # Time

    def _note_time(self, now: datetime, at: float) -> None:
        known = self._time
        if known is None or now >= known[0] + timedelta(seconds=at - known[1]):
            self._time = (
                now,
                at,
            )  # Never backwards: a clock of the server that jumps back counts on as it was.

    async def now(self) -> datetime:
        """The database's time: as the last beat told it, plus our own monotonic time."""
        if self._time is None or not self._owned:
            asked_at = monotonic()
            self._note_time((await self.fetch_row(SQL["now"]))[0], asked_at)
        assert self._time is not None
        return self._time[0] + timedelta(seconds=monotonic() - self._time[1])

    # Wakes

    def wakes(self, channel: str) -> Wakes:
        """Those who wait on a channel."""
        return self._heard.setdefault(channel, Wakes())

    def wake(self, channel: str) -> None:
        """Wake those who wait on a channel: here at once, elsewhere in a moment."""
        if heard := self._heard.get(channel):
            heard.wake()
        self._unsent.add(channel)
        if "wake" not in self._tasks:
            self._begin("wake", self._send_wakes)

    async def _send_wakes(self) -> None:
        await asyncio.sleep(wake_seconds_min)
        channels = [*self._unsent]
        self._unsent.clear()
        # A wake is a hint. Who misses it looks by itself.
        with suppress(*driver_errors(), GlasshouseError):
            await self.fetch(SQL["notify"], channels, seconds=look_seconds)

    async def listen(self, channel: str) -> float:
        """Hear a channel from now on; after how many seconds to look without a wake."""
        if self._listener is None or channel not in self._channels:
            async with self._listening:
                with suppress(*driver_errors(), GlasshouseError):
                    await self._hear(channel)
        return look_seconds if channel in self._channels else look_seconds_without_listener

    async def _hear(self, channel: str) -> None:
        if self._listener is None or self._listener.is_closed():
            self._channels.clear()
            listener = await self._connect()
            listener.add_termination_listener(self._on_silence)
            self._listener = listener
        for wanted in {channel, *self._heard} - self._channels:
            async with asyncio.timeout(connect_seconds_max):
                await self._listener.add_listener(wanted, self._on_wake)
            self._channels.add(wanted)

    def _on_wake(self, _connection: Any, _process: int, channel: str, _payload: str) -> None:
        if heard := self._heard.get(channel):
            heard.wake()

    def _on_silence(self, connection: Any) -> None:
        """The listener's connection broke: whoever waits looks, and asks for another one."""
        if connection is self._listener:
            self._listener = None
            self._channels.clear()
            for heard in self._heard.values():
                heard.wake()

    # Beginning and ending

    def _begin(self, name: str, work: Callable[[], Any]) -> None:
        if name not in self._tasks:
            task = asyncio.get_running_loop().create_task(work(), name=f"glasshouse postgres: {name}")
            self._tasks[name] = task
            task.add_done_callback(lambda _task: self._tasks.pop(name, None))

    async def close(self) -> None:
        """Stop the tasks, and close all connections."""
        if self._trimming is not None:
            self._trimming.cancel()
        tasks = [*self._tasks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._unsent:
            await self._send_wakes()
        listener = self._listener
        self._listener = None
        idle = [*self._idle]
        self._idle.clear()
        for connection in (*idle, *([] if listener is None else [listener])):
            with suppress(*driver_errors()):
                async with asyncio.timeout(1.0):
                    await connection.close()
                continue
            connection.terminate()


_servers: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Server]] = WeakKeyDictionary()
"""The servers that stores of this process use, by event loop and address."""


def server_for(address: Address) -> Server:
    """The one `Server` of this process for a database. Each who takes it lets it go again."""
    servers = _servers.setdefault(asyncio.get_running_loop(), {})
    server = servers.get(address.dsn)
    if server is None:
        server = servers[address.dsn] = Server(address)
    server.users += 1
    return server


async def let_go(address: Address, server: Server) -> None:
    """Let a `Server` go. The last one closes its connections."""
    server.users -= 1
    if not server.users:
        _servers.get(asyncio.get_running_loop(), {}).pop(address.dsn, None)
        await server.close()


def this_process() -> str:
    """This process, in words that begin a sentence."""
    return f"Process {os.getpid()} on {socket.gethostname()}"


__all__ = ["SQL", "Beating", "Server", "let_go", "server_for", "store_error", "this_process"]
