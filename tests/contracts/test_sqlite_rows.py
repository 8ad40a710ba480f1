"""Events in columns: any body can be joined again to the same bytes, and both ways of cutting agree."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from glasshouse import Draft, Event, Manifest, SqliteStore, Terrarium
from glasshouse.errors import Conflict
from glasshouse.events.codec import BodyStart, encoded
from glasshouse.runtime.store_port import Batch
from glasshouse.stores.sqlite import journal
from glasshouse.stores.sqlite.rows import Shape, cut, cut_quickly, event_in, microseconds, names_of, time_text
from glasshouse.testing.contracts.writing import child, line, lines, one_batch, opening, root, span, texts_of

ADA = root("ada", base=7)
START = BodyStart(ADA.id, ADA.graph_id, ADA.base)
TRICKY = [
    {"text": 'a","created_at":"2026-01-01T00:00:00Z"'},
    {"created_at": "2026-01-01T00:00:00Z", "run_id": "r-1"},
    {"a": {"payload": {}, "created_at": "x"}},
    {"text": "日本 \u2028 \x7f"},
    {},
]
names = st.text(min_size=1) | st.sampled_from(["ada", 'a","kind":"b', "\\", "é"])
jsons = st.sampled_from(TRICKY) | st.dictionaries(
    st.text(), st.text() | st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False)
)
times = st.datetimes(timezones=st.just(UTC)) | st.sampled_from(
    [datetime(2026, 1, 1, tzinfo=UTC), datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)]
)


@st.composite
def events(draw: st.DrawFn) -> Event:
    event = line(ADA, draw(st.integers(1, 10**6)), "x")
    return replace(
        event,
        turn=draw(st.integers(0, 10**9)),
        actor=draw(names),
        payload=draw(jsons),
        created_at=draw(times),
        run_id=draw(st.none() | names),
        channel_id=draw(st.none() | names),
        channel=draw(st.none() | names),
        private=draw(st.none() | jsons),
        caused_by=draw(st.none() | st.just("s-ada.3")),
        tools=draw(st.just(()) | st.just(("s-ada.1",))),
    )


@given(events())
def test_what_is_cut_can_be_joined_and_read_again_and_both_ways_agree(event: Event) -> None:
    body = encoded(event).decode()
    shape = Shape.of(3, names_of(event))

    parts = cut(START.without_start(body, event.seq))
    quickly = cut_quickly(event, body, START, shape)

    assert parts is not None
    columns = (3, parts.turn, parts.at, parts.payload, parts.rest)
    assert parts.names == names_of(event)
    assert quickly in (columns, None)
    assert START.text(event.seq) + shape.joined(*columns[1:]) == body
    row = (9, 8, event.seq, *columns, "more")
    assert event_in(row, START, shape) == replace(event, position=9, change=8)
    assert msgspec.json.decode(parts.payload) == event.payload


def test_a_plain_event_is_cut_quickly() -> None:
    event = line(ADA, 1, "x")

    assert cut_quickly(event, encoded(event).decode(), START, Shape.of(1, names_of(event))) is not None


@given(times)
def test_a_time_is_a_whole_number_and_comes_back(at: datetime) -> None:
    assert f'"{time_text(microseconds(at))}Z"' == msgspec.json.encode(at).decode()


EVENT = START.without_start(encoded(line(ADA, 1, "x")).decode(), 1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"turn":0', '"turn":00'),
        ('"turn":0', '"turn":-1'),
        ('"turn":0', '"turn": 0'),
        ("12:00:00Z", "12:00:00.000000Z"),
        ("12:00:00Z", "12:00:00.5Z"),
        ("12:00:00Z", "12:00:60Z"),
        ("12:00:00Z", "14:00:00+02:00"),
        ("2026-05-09", "2026-13-09"),
        ('"actor":"ada"', '"actor":"\\u0061da"'),
        ('"actor":"ada",', ""),
        ('Z"}', 'Z"x}'),
        ('"payload":{"text":"x"}', '"payload":{"text":"x","created_at":"'),
    ],
)
def test_what_could_not_be_joined_again_is_kept_whole(old: str, new: str) -> None:
    body = EVENT.replace(old, new)

    assert cut(EVENT) is not None
    assert body != EVENT
    assert cut(body) is None


async def stored(path: Path) -> SqliteStore:
    store = SqliteStore(path)
    await store.open("house-one")
    return store


def shapes_in(path: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as ledger:
        return ledger.execute("SELECT * FROM shapes ORDER BY number").fetchall()


async def test_lines_of_one_speaker_share_a_shape_that_is_written_once(tmp_path: Path) -> None:
    store = await stored(tmp_path / "x")
    await store.commit(one_batch(opening(ADA, "a", "b")))
    await store.commit(one_batch(lines(ADA, 2, "c")))
    await store.close()

    assert shapes_in(tmp_path / "x") == [(1, "ada", "agent.spoke", None, None, None)]


async def test_a_failed_commit_leaves_no_shape_and_the_next_one_brings_its_own(tmp_path: Path) -> None:
    store = await stored(tmp_path / "x")
    orphan = child("bo", (ADA, 1), base=9)
    with pytest.raises(Conflict):
        await store.commit([*one_batch(opening(ADA, "a")), *one_batch(lines(orphan, 5, "b"))])
    await store.commit(one_batch(opening(ADA, "a")))

    assert texts_of(await store.read([span(ADA)])) == ["a"]
    await store.close()
    assert len(shapes_in(tmp_path / "x")) == 1


async def test_more_shapes_than_are_remembered_are_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "shapes_remembered_max", 2)
    store = await stored(tmp_path / "x")
    await store.commit(one_batch(opening(ADA, "0")))
    said = [replace(line(ADA, seq, str(seq)), actor=f"a{seq % 5}") for seq in range(2, 40)]
    for event in said:
        write = replace(lines(ADA, event.seq - 1, "x"), bodies=(encoded(event),))
        await store.commit([Batch((write,))])

    assert [event.actor for event in await store.read([span(ADA, 2)])] == [event.actor for event in said]
    assert [event.actor for event in await store.read_after(1, 99)] == [event.actor for event in said]
    await store.close()


class InRome:
    """A clock whose times are not in UTC."""

    def now(self) -> datetime:
        return datetime(2026, 5, 9, 12, 0, 0, 5, tzinfo=timezone(timedelta(hours=2)))

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


async def test_a_time_of_another_zone_is_kept_as_it_is(tmp_path: Path) -> None:
    async with Terrarium(SqliteStore(tmp_path / "x"), clock=InRome()) as t:
        ada = await t.add_creature(Manifest(name="ada"))
        said = [await t.append(ada.id, Draft(kind="agent.spoke", payload={"text": str(n)})) for n in range(3)]

        kept = await t.events(ada.session_id)

    assert [encoded(event) for event in kept[-3:]] == [encoded(event) for event in said]
    assert b'"2026-05-09T12:00:00.000005+02:00"' in encoded(kept[-1])
