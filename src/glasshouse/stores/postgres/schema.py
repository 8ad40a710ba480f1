"""Numbered migrations of a database, under one lock.

Always holds: all migrations run in one transaction, so they are all made or none. A database that a newer Glasshouse has migrated is left alone.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any, Final

from glasshouse.errors import StoreFailed, StoreTooNew
from glasshouse.stores.postgres.driver_faults import (
    driver_errors,
    migration_error,
    no_right_to_make_tables,
)
from glasshouse.stores.postgres.server import SQL, Server, statement_seconds_max

Migration = tuple[int, str]

server_version_min: Final = 15
"""The oldest PostgreSQL that is tried. Older ones lack what the grants and tests need."""
format_number: Final = 1
"""The number of what this program writes into a house. It grows when an older program could not read it, or would play it otherwise; an
older one then may not take the house."""


def bundled_migrations() -> list[Migration]:
    """The migrations that ship with Glasshouse, as (number, SQL), in order."""
    folder = files("glasshouse.stores.postgres").joinpath("migrations")
    scripts = sorted(
        (entry.name, entry.read_text()) for entry in folder.iterdir() if entry.name.endswith(".sql")
    )
    return [(int(name.partition("_")[0]), text) for name, text in scripts]


def role_script() -> str:
    """What makes the three roles, and grants them their rights."""
    return files("glasshouse.stores.postgres").joinpath("roles.sql").read_text()


async def check_server(server: Server, *, is_guest: bool) -> None:
    """Refuse a server that is too old, or that would lose what it has acknowledged."""
    version, fsync, synchronous, is_standby, is_read_only = await server.fetch_row(SQL["settings"])
    if version // 10_000 < server_version_min:
        raise StoreFailed(
            f"{server.shown} is PostgreSQL {version // 10_000}; Glasshouse needs {server_version_min} or newer. Upgrade the server."
        )
    if is_guest:
        return
    if fsync != "on":
        raise StoreFailed(
            f"{server.shown} runs with fsync = off: a power cut would lose what it has acknowledged. Set fsync = on in"
            " postgresql.conf, and reload the server."
        )
    if synchronous == "off" or is_standby or is_read_only == "on":
        state = "is a standby, which" if is_standby else "may only be read, and"
        raise StoreFailed(f"{server.shown} {state} takes no events. Name the primary server.")


async def migrate(server: Server, migrations: list[Migration], *, is_guest: bool) -> None:
    """Bring the database to the newest version. A guest changes nothing, and reads only what it knows."""
    version = await _version(server)
    newest = migrations[-1][0]
    if version > newest:
        raise StoreTooNew(
            f"{server.shown} was written by a newer Glasshouse (version {version} of its tables; this one reads up to {newest})."
            " Upgrade Glasshouse, or choose another --store."
        )
    if version == newest:
        return
    if is_guest:
        what = (
            "There is no Glasshouse store in" if not version else "An older Glasshouse has made the tables of"
        )
        raise StoreFailed(f"{what} {server.shown}. Play something in it first, or name another --store.")
    connection = await server.take_connection()
    try:
        async with connection.transaction():
            await _migrate(connection, migrations, server.shown)
    except driver_errors() as wrong:
        server.throw_away(connection)
        raise migration_error(server.shown, wrong) from wrong
    except BaseException:
        server.throw_away(connection)
        raise
    server.give_back(connection)


async def _version(server: Server) -> int:
    if not (await server.fetch_row(SQL["has_schema"]))[0]:
        return 0
    version: int | None = (await server.fetch_row(SQL["version"]))[0]
    return version or 0


async def _migrate(connection: Any, migrations: list[Migration], shown: str) -> None:
    await connection.execute(f"SET LOCAL statement_timeout = '{statement_seconds_max:g}s'")
    # Who waits for another process that migrates waits as long as a migration may take.
    await connection.execute("SET LOCAL lock_timeout = 0")
    await connection.execute(SQL["lock_migrations"])
    # Another process may have migrated while this one waited for the lock.
    has_schema = await connection.fetchval(SQL["has_schema"])
    version = await connection.fetchval(SQL["version"]) if has_schema else 0
    if not has_schema:
        grant = await connection.fetchval(SQL["missing_grant"])
        if grant is not None:
            raise no_right_to_make_tables(shown, grant)
        await connection.execute("CREATE SCHEMA IF NOT EXISTS glasshouse")
        await connection.execute("CREATE TABLE glasshouse.versions (version integer PRIMARY KEY)")
    await connection.execute("SET LOCAL search_path TO glasshouse")
    for number, script in migrations:
        if number > (version or 0):
            await connection.execute(script)
            await connection.execute(SQL["add_version"], number)
    if await _may_grant(connection):
        await connection.execute(role_script())


async def _may_grant(connection: Any) -> bool:
    """Whether this user may make roles, or whoever administers the server has made them."""
    may_make: bool = await connection.fetchval(
        "SELECT rolcreaterole OR rolsuper FROM pg_roles WHERE rolname = current_user"
    )
    made: int = await connection.fetchval(
        "SELECT count(*) FROM pg_roles WHERE rolname IN ('glasshouse_owner', 'glasshouse_follower', 'glasshouse_reader')"
    )
    return may_make or made == 3
