"""Seeded damage to every table of a real store: whatever is asked of it then is answered, or refused in words.

Bytes are flipped and cut in the values of rows, and in the file itself. A damaged store may still be readable. It must never give
another error than `StoreDamaged`, or a refusal because a name that was asked for is gone.
"""
# ruff: noqa: ASYNC240 (a test may wait for its own small files)

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from glasshouse import Draft, SqliteStore, Terrarium, WhatIf
from glasshouse.errors import Conflict, Refused, StoreDamaged, StoreFailed, StoreTooNew
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.runtime.ledger import writer
from glasshouse.terrarium import verify
from tests.simulation.seeds import fresh_seeds, replayable, usual_seeds

TABLES: Final = (
    "house", "segments", "parents", "shapes", "events", "snapshots", "inbox", "requests", "prompts", "shown", "inbox_requests",
)  # fmt: skip
soak_plays = 5_000
SURROGATES: Final = (b"\xed\xa0\x80", rb"\ud800", rb"\udc00")
"""Half of a pair, as bytes and as JSON writes it: no text that can be written again."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store in which every table has rows."""
    path = tmp_path_factory.mktemp("sound") / "show.glasshouse"
    asyncio.run(play(path))
    with closing(sqlite3.connect(path)) as connection:
        rows = {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in TABLES}
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert all(rows.values()), rows
    return path


async def play(path: Path) -> None:
    """A run, its branch, and what others left in the inbox."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer, "snapshot_events_min", 64)
        patch.setattr(writer, "snapshot_bytes_per_event_max", 1 << 40)
        async with Terrarium(SqliteStore(path), clock=HandMovedClock(), ids=SeededIds(1)) as t:
            run = await t.open_world("mystery-roots")
            await t.step(3)
            await t.disturb(run.id, "What was that?")
            await t.pause(run.id)
            await t.label_run(run.id, ["kept"])
            await t.branch(t.run_of(run.id).session_id, change=WhatIf(disturb="A door slams."))
            await t.step(2)
    guest = SqliteStore(path, is_guest=True)
    await guest.open("nobody")
    await guest.put_line("Hello?", run.id)
    await guest.put_request("{}")
    await guest.close()


def damage(path: Path, chance: random.Random) -> str:
    """Damage a store, and say how."""
    if chance.random() < 0.2:
        return damage_file(path, chance)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.text_factory = bytes
        return damage_row(connection, chance)


def damage_file(path: Path, chance: random.Random) -> str:
    whole = bytearray(path.read_bytes())
    if chance.random() < 0.3:
        length = chance.randrange(len(whole))
        path.write_bytes(whole[:length])
        return f"the file cut to {length} bytes"
    offsets = [chance.randrange(len(whole)) for _ in range(chance.choice([1, 1, 4, 16]))]
    for offset in offsets:
        whole[offset] = chance.randrange(256)
    path.write_bytes(whole)
    return f"other bytes at {offsets}"


def damage_row(connection: sqlite3.Connection, chance: random.Random) -> str:
    table = chance.choice(TABLES)
    columns = [name.decode() for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
    rows = connection.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()
    row, column = chance.choice(rows), chance.choice(columns)
    where = " AND ".join(f"{name} IS ?" for name in columns)
    texts = [value.decode() if isinstance(value, bytes) and is_text(value) else value for value in row]
    if chance.random() < 0.05:
        connection.execute(f"DELETE FROM {table} WHERE {where}", texts)
        return f"{table}: row {texts[:3]} deleted"
    value = damaged_value(row[columns.index(column)], chance)
    kept_as = chance.choice(["?", "?", "CAST(? AS TEXT)"]) if isinstance(value, bytes) else "?"
    try:
        changed = connection.execute(
            f"UPDATE OR REPLACE {table} SET {column} = {kept_as} WHERE {where}", [value, *texts]
        )
    except (sqlite3.IntegrityError, OverflowError):  # A row number must be a number.
        return damage_row(connection, chance)
    return f"{table}.{column} of {changed.rowcount} row is {value!r} ({kept_as})"


def is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def damaged_value(value: object, chance: random.Random) -> object:
    if value is None:
        return chance.choice(["?", b"\xff", 7])
    if isinstance(value, int):
        return chance.choice([value ^ (1 << chance.randrange(62)), -value, 0, f"{value}x", 0.5, b"\xff"])
    assert isinstance(value, bytes)
    offset = chance.randrange(len(value)) if value else 0
    match chance.randrange(6):
        case 0:
            return value[:offset]
        case 1:
            return value[:offset] + chance.choice(SURROGATES) + value[offset:]
        case 2:
            return value[:offset] + value[offset + 1 :]
        case 3:
            return chance.choice([b"", b"{}", b"[]", b"null", b"7", b"\x00", 7, b'""'])
        case _:
            return value[:offset] + bytes([chance.randrange(256)]) + value[offset + 1 :]


async def everything_is_asked(path: Path, outcomes: Counter[str]) -> None:
    """Open a store, and do what people do with it. What is refused in words is counted."""
    store = SqliteStore(path)
    t = Terrarium(store, clock=HandMovedClock(), ids=SeededIds(2))
    try:
        await t.open()
    except (StoreDamaged, StoreTooNew) as wrong:
        outcomes[type(wrong).__name__] += 1
        return
    try:
        for question in questions(store, t, path):
            try:
                await question()
                outcomes["answered"] += 1
            except (StoreDamaged, StoreFailed, Conflict, Refused) as wrong:
                outcomes[type(wrong).__name__] += 1
    finally:
        await t.close()


def questions(store: SqliteStore, t: Terrarium, path: Path) -> list[Callable[[], Awaitable[object]]]:
    asked: list[Callable[[], Awaitable[object]]] = [
        t.labels,
        t.shapes,
        partial(store.requests, 0, 1 << 40),
        partial(store.lines, 9),
        partial(store.open_requests, 9),
        partial(store.request, 1),
        partial(store.segments_after, 0),
        partial(prompts_and_shown, store, t),
    ]
    asked += [partial(t.events, graph.session_id) for graph in t.graphs()]
    for run in t.runs():
        asked += [
            partial(t.played, run.id),
            partial(t.export, run.id, path.with_name("out.glass"), role="director"),
            partial(last_reason, t, run.id),
            partial(verify, t, run.id),
            partial(t.branch, run.session_id, change=WhatIf(disturb="Once more.")),
        ]
    asked += [partial(a_line, t, creature.id) for creature in t.creatures()[:3]]
    return [*asked, t.step]


async def prompts_and_shown(store: SqliteStore, t: Terrarium) -> None:
    for event in await store.read_after(0, 1_000_000):
        for call in () if event.model is None else event.model.calls:
            await t.prompt(call.user)
            await store.shown(event.position or 0)


async def last_reason(t: Terrarium, run_id: str) -> None:
    for event in (await t.run_events(run_id))[-3:]:
        await t.why(event.id, role="director")


async def a_line(t: Terrarium, creature_id: str) -> None:
    await t.append(creature_id, Draft(kind="agent.spoke", payload={"text": "Still here."}))


async def damage_and_ask(sound: Path, folder: Path, seed: int, outcomes: Counter[str]) -> None:
    chance = random.Random(seed)
    for left in folder.iterdir():
        left.unlink()
    path = Path(shutil.copy(sound, folder / "show.glasshouse"))
    how = damage(path, chance)
    try:
        await everything_is_asked(path, outcomes)
    except BaseException as wrong:
        wrong.add_note(how)
        raise


async def test_a_damaged_store_is_refused_in_words_or_answers(sound: Path, tmp_path: Path) -> None:
    outcomes: Counter[str] = Counter()
    seeds = usual_seeds(60, also=[649, 1099, 2212, 5230, 5296])
    for seed in seeds:
        with replayable(seed, "test_damaged_stores.py"):
            await damage_and_ask(sound, tmp_path, seed, outcomes)

    assert len(seeds) == 1 or min(outcomes["answered"], outcomes["StoreDamaged"]) > len(seeds)


@pytest.mark.soak
async def test_stores_are_damaged_for_long(sound: Path, tmp_path: Path) -> None:
    outcomes: Counter[str] = Counter()
    for seed in fresh_seeds(soak_plays):
        with replayable(seed, "test_damaged_stores.py"):
            await damage_and_ask(sound, tmp_path, seed, outcomes)
    print(dict(outcomes))
