"""Stores as older versions wrote them: the events in whole bodies."""
# ruff: noqa: ASYNC240 (a test may wait for its own small files)

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from glasshouse import SqliteStore
from glasshouse.events.codec import BodyStart, encoded
from glasshouse.stores.sqlite.migrate import Migration, bundled_migrations

OLD_EVENTS = "position, segment, seq, in_change, body"


def migrations_upto(version: int) -> list[Migration]:
    return [migration for migration in bundled_migrations() if migration[0] <= version]


async def made_older(path: Path, version: int = 2) -> None:
    """Write a store again as a file of this version. Whole bodies stand in it as they did then."""
    store = SqliteStore(path)
    await store.open("nobody")
    events = await store.read_after(0, 1_000_000)
    starts = {s.id: BodyStart(s.id, s.graph_id, s.base) for s in await store.segments_after(0)}
    await store.close()
    bodies = [starts[e.session_id].without_start(encoded(e).decode(), e.seq) for e in events]
    with closing(sqlite3.connect(path)) as ledger:
        columns_before = ledger.execute(
            "SELECT position, segment, seq, in_change FROM events ORDER BY position"
        ).fetchall()
        others = {
            name: ledger.execute(f"SELECT * FROM {name}").fetchall()
            for (name,) in ledger.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        }
        ident = ledger.execute("PRAGMA application_id").fetchone()[0]
    path.unlink()
    with closing(sqlite3.connect(path)) as ledger, ledger:
        for _, script in migrations_upto(version):
            ledger.executescript(script)
        there = {
            name
            for (name,) in ledger.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        }
        for name in there & others.keys() - {"events"}:
            if rows := others[name]:
                ledger.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        rows = [(*columns, body) for columns, body in zip(columns_before, bodies, strict=True)]
        ledger.executemany(f"INSERT INTO events ({OLD_EVENTS}) VALUES (?, ?, ?, ?, ?)", rows)
        ledger.execute(f"PRAGMA application_id = {ident}")
        ledger.execute(f"PRAGMA user_version = {version}")


def version_in(path: Path) -> int:
    with closing(sqlite3.connect(path)) as ledger:
        return int(ledger.execute("PRAGMA user_version").fetchone()[0])
