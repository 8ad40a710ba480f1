"""Numbered migrations of a SQLite store.

Always holds: a file that is not new is copied before it is changed. All migrations run in one transaction: if it fails, or the
process is killed, the file is as it was.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from typing import Final

from glasshouse.errors import StoreDamaged, StoreFailed, StoreTooNew
from glasshouse.runtime.ledger.session_file import sync
from glasshouse.stores.sqlite.connection import Connection
from glasshouse.stores.sqlite.conversion import OnProgress, move_events
from glasshouse.stores.sqlite.faults import damaged
from glasshouse.stores.sqlite.journal import shapes_since, sync_fully

APPLICATION_ID: Final = 0x474C5348
"""Marks a SQLite file as a Glasshouse store: the letters GLSH."""

Migration = tuple[int, str]

header_bytes: Final = 100


def bundled_migrations() -> list[Migration]:
    """The migrations that ship with Glasshouse, as (number, SQL), in order."""
    folder = files("glasshouse.stores.sqlite").joinpath("migrations")
    scripts = sorted(
        (entry.name, entry.read_text()) for entry in folder.iterdir() if entry.name.endswith(".sql")
    )
    return [(int(name.partition("_")[0]), text) for name, text in scripts]


_MOVES: Final[Mapping[int, Callable[[Connection, OnProgress | None], None]]] = {shapes_since: move_events}
"""What a migration does after its statements, by its number."""


def migrate(
    connection: sqlite3.Connection,
    path: Path,
    migrations: list[Migration],
    on_progress: OnProgress | None = None,
) -> None:
    """Migrate the file to the newest version."""
    version = version_of(connection, path, migrations)
    newest = migrations[-1][0]
    if version == newest:
        return
    copy = copy_beside(connection, path, version) if version > 0 else None
    connection.execute("BEGIN IMMEDIATE")
    try:
        for number, script in migrations:
            if number > version:
                for statement in _statements(script):
                    connection.execute(statement)
                if number in _MOVES:
                    _MOVES[number](connection, on_progress)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {newest}")
        connection.execute("COMMIT")
    except BaseException as wrong:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if copy is not None:
            copy.unlink(missing_ok=True)  # The file is as it was, and the disk may be full.
        if isinstance(wrong, sqlite3.OperationalError) and wrong.sqlite_errorcode == sqlite3.SQLITE_ERROR:
            reason = f"{path} could not be brought to version {newest}: {wrong}."
            raise StoreFailed(f"{reason} It was left as it is. Choose another --store.") from wrong
        raise


def version_of(connection: sqlite3.Connection, path: Path, migrations: list[Migration]) -> int:
    """The version of the file, 0 if it is new. Raises if it is not a Glasshouse store, or too new."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    is_ours = connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
    is_empty = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0] == 0
    is_stub = 0 < path.stat().st_size < header_bytes
    if is_stub or (not is_ours and not (is_empty and version == 0)):
        raise StoreDamaged(damaged(path))
    newest = migrations[-1][0]
    if version > newest:
        raise StoreTooNew(
            f"{path} was written by a newer Glasshouse (version {version} of the file; this one reads up to"
            f" {newest}). Upgrade Glasshouse, or choose another --store."
        )
    return version


def copy_beside(connection: sqlite3.Connection, path: Path, version: int) -> Path:
    """Copy the file to its folder and return the path. The copy is synced, so it survives a power cut."""
    copy = path.with_name(f"{path.name}.v{version}.copy")
    beside = copy.with_name(copy.name + ".part")
    try:
        with closing(sqlite3.connect(beside)) as target:
            sync_fully(target)
            connection.backup(target)
        sync(beside)
        beside.replace(copy)
        sync(copy.parent)
    except OSError as wrong:
        raise StoreFailed(
            f"{path} could not be copied to {copy} before its migration ({wrong.strerror}). It was not changed."
            " Check the folder, then try again."
        ) from wrong
    finally:
        beside.unlink(missing_ok=True)
    return copy


def _statements(script: str) -> list[str]:
    statements: list[str] = []
    pending = ""
    for line in script.splitlines():
        pending += line + "\n"
        if sqlite3.complete_statement(pending):
            statements.append(pending)
            pending = ""
    return [*statements, pending] if pending.strip() else statements
