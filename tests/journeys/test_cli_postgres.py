"""A house in a real PostgreSQL on the real command line: played, read, copied, and what is said when something is missing."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from glasshouse import PostgresStore, SqliteStore, Terrarium
from glasshouse.errors import Refused
from glasshouse.runtime.ledger.writer import bytes_in
from glasshouse.runtime.store_port import Batch, Store
from glasshouse.stores import copying
from glasshouse.stores.copying import copy_store
from glasshouse.stores.store_address import StoreAddress
from tests.journeys.commanding import run, run_apart
from tests.servers.postgres import drop_databases, new_database
from tests.simulation.ledger_checks import contents_of, ledger_of

SECRET = "hu%40sh"


@pytest.fixture
def database() -> Iterator[str]:
    yield new_database()
    drop_databases()


def with_password(address: str) -> str:
    return address.replace("//glass@", f"//glass:{SECRET}@")


def test_a_run_is_played_read_verified_and_copied_and_no_line_has_the_password(
    database: str, tmp_path: Path
) -> None:
    house = f"{with_password(database)}#night"
    said = [run("play", "mystery-roots", "--pace", "fast", "--store", house)]
    said.append(run("replay", "last", "--verify", "--store", house))
    said.append(run("copy", house, str(tmp_path / "copy.glasshouse")))
    digests = [
        run("digest", "last", "--store", store) for store in (house, str(tmp_path / "copy.glasshouse"))
    ]
    said.append(run("doctor", GLASSHOUSE_STORE=house))

    assert [answer.returncode for answer in said] == [0] * 4
    assert digests[0].stdout == digests[1].stdout != ""
    assert "compared one by one" in said[2].stdout
    for answer in (*said, *digests):
        assert "hu@sh" not in answer.stdout + answer.stderr
        assert SECRET not in answer.stdout + answer.stderr
    assert "#night" in said[0].stdout


@pytest.mark.parametrize(
    ("words", "address"),
    [
        ("No server answers", "postgresql://ada:hush@127.0.0.1:1/x"),
        ("there is no such database", "{}/nothing"),
        ("has no house 'other'", "{}/{}#other"),
        ("refuses this user", "postgresql://nobody-here:hush@{}/{}"),
        ("cannot be read", "postgresql://ada:hu@sh@127.0.0.1/x"),
    ],
)
def test_what_is_missing_is_said_in_words(database: str, words: str, address: str) -> None:
    server, _, name = database.rpartition("/")
    if address.startswith("{}"):
        address = address.format(server, name)
    else:
        address = address.format(server.partition("@")[2], name)

    answer = run("runs", "--store", address)

    assert answer.returncode == 3
    assert words in answer.stderr
    assert "hush" not in answer.stderr
    assert "hu@sh" not in answer.stderr


@pytest.mark.parametrize(
    "address",
    [
        "postgresql+asyncpg://glass:s3cret@127.0.0.1:1/glass",
        "postgresql://glass:p@s3cret/w#rd@127.0.0.1:1/glass#night",
        " postgresql://glass:s3cret@127.0.0.1:1/glass",
    ],
)
def test_no_command_prints_what_was_meant_as_an_address(address: str, tmp_path: Path) -> None:
    for words in (
        ("runs", "--store", address),
        ("play", "mystery-roots", "--store", address),
        ("copy", address, str(tmp_path / "copy.glasshouse")),
        ("copy", str(tmp_path / "a.glasshouse"), address),
        ("serve", "--store", address),
    ):
        answer = run(*words)

        assert answer.returncode == 3, words
        assert "postgresql://USER@HOST" in answer.stderr or "%XX" in answer.stderr
        assert "s3cret" not in answer.stdout + answer.stderr


def nothing(_words: str, _done: int, _count: int) -> None:
    """Nobody watches."""


async def played(store: Store) -> str:
    async with Terrarium(store) as t:
        begun = await t.open_world("mystery-roots")
        await t.run(turns=4)
        await t.label_run(begun.id, ["kept"])
        await store.put_line("a bell rings", begun.id)
        return await t.digest(begun.id)


async def everything_in(store: Store) -> list[object]:
    await store.open("another")
    events = await ledger_of(store)
    calls = [call for event in events for call in event.calls]
    beside = [
        [event.change for event in events],
        [await store.shown(event.position or 0) for event in events],
        [await store.prompt(name) for call in calls for name in (call.system, call.user, call.schema)],
        await store.requests(1, len(events)),
        await store.segments_after(0),
        await store.labels(),
        await store.records(),
        [(line.run_id, line.text) for line in await store.lines(9)],
        store.house_id,
    ]
    await store.close()
    return [contents_of(events), *beside]


async def test_a_copy_holds_everything_both_ways_and_goes_on_where_it_was_cut_off(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "page_events_max", 8)
    first, house, back = tmp_path / "a.glasshouse", f"{database}#copy", tmp_path / "b.glasshouse"
    await played(SqliteStore(first))

    def cut(words: str, done: int, _count: int) -> None:
        if done > 16:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await copy_store(StoreAddress(first), StoreAddress(house), cut)
    assert not await PostgresStore(house, is_guest=True).exists()
    copied = await copy_store(StoreAddress(first), StoreAddress(house), nothing)
    with pytest.raises(KeyboardInterrupt):
        await copy_store(StoreAddress(house), StoreAddress(back), cut)
    await copy_store(StoreAddress(house), StoreAddress(back), nothing)

    assert copied.continued_at > 16
    assert not [name for name in os.listdir(tmp_path) if "copying" in name]
    kept = [
        await everything_in(store)
        for store in (
            SqliteStore(first, is_guest=True),
            PostgresStore(house, is_guest=True),
            SqliteStore(back),
        )
    ]
    assert kept[0] == kept[1] == kept[2]


async def test_a_copy_writes_no_more_bytes_at_once_than_a_play(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "commit_bytes_max", 8_000)
    first, house = tmp_path / "a.glasshouse", f"{database}#copy"
    await played(SqliteStore(first))
    commit = PostgresStore.commit
    sizes: list[list[int]] = []

    async def noted(self: PostgresStore, batches: Sequence[Batch]) -> int:
        sizes.append([*map(bytes_in, batches)])
        return await commit(self, batches)

    monkeypatch.setattr(PostgresStore, "commit", noted)

    await copy_store(StoreAddress(first), StoreAddress(house), nothing)

    assert len(sizes) > 8
    assert [of_commit for of_commit in sizes if sum(of_commit) > 8_000 and len(of_commit) > 1] == []
    assert await everything_in(SqliteStore(first)) == await everything_in(PostgresStore(house, is_guest=True))


async def test_a_copy_is_refused_if_the_new_one_exists_or_the_old_one_is_played(
    database: str, tmp_path: Path
) -> None:
    file, house = StoreAddress(tmp_path / "a.glasshouse"), StoreAddress(f"{database}#copy")
    await played(file.to_write())
    await copy_store(file, house, nothing)

    for given, into in ((file, house), (house, file)):
        with pytest.raises(Refused, match="exists already"):
            await copy_store(given, into, nothing)
    for given in (file, house):
        async with Terrarium(given.to_write()):
            with pytest.raises(Refused, match="plays"):
                await copy_store(given, StoreAddress(tmp_path / "new.glasshouse"), nothing)
    with pytest.raises(Refused, match="onto itself"):
        await copy_store(house, house, nothing)


async def test_an_assistant_and_a_line_reach_a_house_that_another_process_plays(database: str) -> None:
    async with Terrarium(f"{database}#live") as t:
        begun = await t.open_world("mystery-roots")
        left = await asyncio.to_thread(
            run_apart, "disturb", "last", "A bell rings.", "--json", "--store", f"{database}#live"
        )

        assert json.loads(left.stdout)["run_id"] == begun.id
        assert json.loads(left.stdout)["played_by"]
