"""Faults of owners, of PostgreSQL and of the network between them, while graphs merge and split: nothing acknowledged is lost or doubled.

A first owner plays in a process of its own. A seeded fault meets it: it is killed or stopped, the server is killed, restarted, has no room or may only
be read, or a proxy loses replies, keeps back the end of a statement, delays or cuts. Then a second owner takes the house and goes on; in every other play
whose fault cuts the first owner off, it does so while the fault lasts, so that the first one comes back and finds itself fenced. In the end the
ledger is read and checked. Clocks jump all the time.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from glasshouse import Event, Manifest, PostgresStore, Terrarium, kinds
from glasshouse.errors import StoreFailed
from glasshouse.runtime.clock import HandMovedClock
from glasshouse.terrarium import verify
from glasshouse.world.decisions.intents import AddCreature
from glasshouse.world.decisions.requests import Asked
from tests.servers.postgres import Admin, PostgresServer
from tests.servers.tcp_proxy import Fault, TcpProxy
from tests.simulation import postgres_child
from tests.simulation.ledger_checks import check_ends, check_folds, check_histories, check_no_gaps, ledger_of
from tests.simulation.postgres_child import OWN
from tests.simulation.seeds import replayable, rig_seeds
from tests.simulation.test_kill import trace_of, traces_in

OF_THE_NETWORK: tuple[Fault, ...] = ("drop replies", "keep sync", "delay", "cut", "refuse")
CUTTING_OFF: tuple[Fault, ...] = ("drop replies", "keep sync", "cut", "refuse")
"""Behind these, no beat is noted."""
OF_OWNERS = ("kill the owner", "stop the owner")
OF_THE_SERVER = ("kill the server", "restart the server", "fill the disk", "make it read-only")
ALL = (*OF_OWNERS, *OF_THE_NETWORK, *OF_THE_SERVER)
USUAL_ENDS = (0, -signal.SIGKILL)
"""How an owner ends: fenced, or killed by this test. Another exit code is an error that nobody foresaw."""
file_bytes_max = 1_500_000
fault_seconds_max = 0.3
plays_in_the_tests = 20
"""Each fault at least once, and most of them twice: once with a second owner that waits for its end, and once with one that does not."""

_processes = multiprocessing.get_context("forkserver")


class Owner:
    """A process that owns the house, and what it has reported."""

    def __init__(self, address: str, seed: int, first_step: int) -> None:
        ours, theirs = _processes.Pipe(duplex=False)
        self.process = _processes.Process(
            target=postgres_child.main, args=(address, seed, first_step, theirs), daemon=True
        )
        self.process.start()
        theirs.close()
        self.said: list[str] = []
        self._reading = threading.Thread(target=self._read, args=(ours,), daemon=True)
        self._reading.start()

    def _read(self, ours: Any) -> None:
        try:
            while True:
                self.said.append(ours.recv())
        except (EOFError, OSError):
            pass

    @property
    def acknowledged(self) -> list[str]:
        return [line for line in self.said if line[:1].isdecimal()]

    async def has_done(self, count: int) -> None:
        """Wait until it has reported so many acknowledgements."""
        await until(lambda: len(self.acknowledged) >= count or not self.process.is_alive(), self)
        assert len(self.acknowledged) >= count, self.said[-5:]

    def signal(self, number: signal.Signals) -> None:
        assert self.process.pid is not None
        os.kill(self.process.pid, number)

    async def end(self) -> None:
        """Kill it, and read all that it said."""
        if self.process.is_alive():
            self.signal(signal.SIGCONT)
            self.process.kill()
        await asyncio.to_thread(self.process.join)
        await asyncio.to_thread(self._reading.join)


async def until(is_so: Callable[[], bool], owner: Owner, seconds: float = 120.0) -> None:
    try:
        async with asyncio.timeout(seconds):
            while not is_so():  # noqa: ASYNC110  The child tells by a pipe that a thread reads.
                await asyncio.sleep(0.005)
    except TimeoutError:
        raise AssertionError(f"It does not get on: {owner.said[-5:]}") from None


class Rig:
    """A server of its own, which may be killed, and a proxy to it."""

    def __init__(self, server: PostgresServer, admin: Admin) -> None:
        self.server = server
        self.admin = admin

    @asynccontextmanager
    async def meets(self, fault: str, owner: Owner, proxy: TcpProxy, database: str) -> AsyncIterator[None]:
        """Let a fault happen; inside, it lasts; behind, all is well again."""
        server = self.server
        match fault:
            case "kill the owner":
                await owner.end()
                yield
            case "stop the owner":
                owner.signal(signal.SIGSTOP)
                yield
                owner.signal(signal.SIGCONT)
            case "kill the server":
                server.stop(signal.SIGKILL)
                yield
                server.start()
            case "restart the server":
                server.stop()
                yield
                server.start()
            case "fill the disk":
                self._fill(database)
                server.stop()
                server.start(file_bytes_max=file_bytes_max)
                yield
                server.stop()
                server.start()
            case "make it read-only":
                self._be_read_only("on")
                yield
                self._be_read_only("off")
            case _:
                proxy.fault = fault  # type: ignore[assignment]
                if fault == "refuse":
                    proxy.cut()
                yield
                proxy.fault = ""

    def _be_read_only(self, value: str) -> None:
        self.admin.execute(f"ALTER SYSTEM SET default_transaction_read_only = {value}")
        self.admin.execute("SELECT pg_reload_conf()")

    def _fill(self, database: str) -> None:
        """Make the file of the events nearly as long as files may be."""
        size = "SELECT pg_relation_size('glasshouse.events')"
        rows = (
            "INSERT INTO glasshouse.events SELECT n, 0, 0, n, 0, 0,"
            " decode(repeat(md5(n::text), 45), 'hex') FROM generate_series({}, {}) n"
        )
        last = 0
        while self.admin.execute_in(database, size)[0][0] < file_bytes_max - 60_000:
            self.admin.execute_in(database, rows.format(last + 1, last + 50))
            last += 50


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    _processes.set_forkserver_preload(["tests.simulation.postgres_child"])
    server = PostgresServer()
    yield Rig(server, Admin(server.address))
    server.remove()


def fault_of(seed: int) -> str:
    return ALL[seed % len(ALL)]


def is_replaced(seed: int) -> bool:
    """Whether a second owner takes the house while the fault lasts, and the first one lives on."""
    fault = fault_of(seed)
    return fault == "stop the owner" or (fault in CUTTING_OFF and seed // len(ALL) % 2 == 1)


async def has_met(first: Owner, second: Owner) -> None:
    """Wait until the first owner is fenced, or could not find out, opened the house again, and found the other one. On a busy machine the
    other one may lapse meanwhile, and lose the house to it again."""

    def is_told(line: str) -> bool:
        return line.startswith("fenced") or "is being played by" in line

    await until(lambda: any(map(is_told, [*first.said, *second.said])), first)


async def play(rig: Rig, seed: int) -> None:
    fault = fault_of(seed)
    chance = random.Random(f"{seed} {fault}")
    address = rig.admin.new_database()
    database = address.rpartition("/")[2]
    proxy = TcpProxy(rig.server.port)
    await proxy.open()
    asking = address.replace(f":{rig.server.port}/", f":{proxy.port}/")
    owners: list[Owner] = []
    try:
        first = Owner(asking, seed, 0)
        owners.append(first)
        before = chance.randint(5, 15)
        await first.has_done(before)
        number = await ask(address, seed)
        async with rig.meets(fault, first, proxy, database):
            # The fault lasts for a while: what happens meanwhile is what is tested, and nothing waits for this.
            await asyncio.sleep(chance.random() * fault_seconds_max)
            if is_replaced(seed):
                owners.append(Owner(address, seed, 50_000))
                await owners[1].has_done(chance.randint(5, 10))
        if is_replaced(seed):
            await has_met(*owners)
        else:
            owners.append(Owner(address, seed, 50_000))
            # The first one goes on, and must not be disturbed; then it is killed in its turn.
            await until(lambda: len(first.acknowledged) > before + 8 or not first.process.is_alive(), first)
            await first.end()
            await owners[1].has_done(chance.randint(5, 10))
    finally:
        for owner in owners:
            await owner.end()
        await proxy.close()
    said = [line for owner in owners for line in owner.said]
    assert [owner.process.exitcode for owner in owners if owner.process.exitcode not in USUAL_ENDS] == [], (
        said
    )
    assert "asked after a fence" not in said
    await check(address, [line for owner in owners for line in owner.acknowledged], number, seed)
    epochs = rig.admin.execute_in(
        database, "SELECT epoch FROM glasshouse.events WHERE house > 0 ORDER BY position"
    )
    assert [row[0] for row in epochs] == sorted([row[0] for row in epochs])
    rig.admin.drop_made()


async def ask(address: str, seed: int) -> int:
    """Leave a request, as another process does."""
    kept = PostgresStore(address, is_guest=True)
    await kept.open("")
    manifest = Manifest(name=f"guest-{seed}")
    wanted = AddCreature(manifest.name, manifest.as_json(), manifest.digest)
    far = datetime(2100, 1, 1, tzinfo=UTC)
    number = await kept.put_request(msgspec.json.encode(Asked(wanted, "a guest", far)).decode())
    await kept.close()
    return number


async def check(address: str, acknowledged: list[str], number: int, seed: int) -> None:
    """Nothing acknowledged is lost or doubled, and everything holds that must hold for any ledger."""
    kept = PostgresStore(address, lease_seconds=postgres_child.lease_seconds)
    async with Terrarium(kept, clock=HandMovedClock()) as terrarium:
        ledger = await ledger_of(kept)
        check_no_gaps(ledger)
        await check_histories(terrarium, ledger)
        await check_folds(kept)
        await check_ends(kept)
        there = traces_in(ledger)
        assert [line for line in acknowledged if trace_of(line) not in there] == []
        said = [trace_of(line) for line in acknowledged if " said " in line]
        assert len(set(said)) == len(said)
        assert added(ledger, f"guest-{seed}") <= 1
        request = await kept.request(number)
        assert (
            request is None
            or request.answer is None
            or added(ledger, f"guest-{seed}") == ('"has_changed":true' in request.answer)
        )
        for run in terrarium.runs():
            if run.id == OWN:
                result = await verify(terrarium, run.id)
                assert result.is_same, (result.recorded_event, result.replayed_event, result.prompt_diffs)


def added(ledger: list[Event], handle: str) -> int:
    """How many creatures with this handle were born. One that is stopped and started again is not born again."""
    return sum(
        event.kind == kinds.CREATURE_STARTED and event.payload["handle"] == handle and "born" in event.payload
        for event in ledger
    )


@pytest.mark.parametrize("seed", rig_seeds(plays_in_the_tests, plays=1_000))
async def test_a_fault_loses_and_doubles_nothing(rig: Rig, seed: int) -> None:
    with replayable(seed, "test_postgres_faults.py::test_a_fault_loses_and_doubles_nothing"):
        await play(rig, seed)


def test_every_fault_is_played_in_the_tests() -> None:
    seeds = range(plays_in_the_tests)

    assert {fault_of(seed) for seed in seeds} == {*ALL}
    assert {fault_of(seed) for seed in seeds if is_replaced(seed)} == {"stop the owner", *CUTTING_OFF}
    assert {fault_of(seed) for seed in seeds if not is_replaced(seed)} == {*ALL} - {"stop the owner"}


async def test_a_server_that_may_lose_what_it_acknowledged_is_refused_and_may_be_read(rig: Rig) -> None:
    address = rig.admin.new_database()
    owned = PostgresStore(address)
    await owned.open("first")
    await owned.close()
    rig.server.stop()
    rig.server.start(fsync="off")
    try:
        with pytest.raises(StoreFailed, match="runs with fsync = off"):
            await PostgresStore(address).open("first")
        guest = PostgresStore(address, is_guest=True)
        await guest.open("")

        assert await guest.position() == 0
        await guest.close()
    finally:
        rig.server.stop()
        rig.server.start()
        rig.admin.drop_made()
