"""Files that are no store, or a broken one: `StoreDamaged` in words, the file left as it is, no crash of another kind."""
# ruff: noqa: ASYNC240 (a test may wait for its own small files)

import asyncio
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from glasshouse import Draft, Event, Manifest, Refused, SqliteStore, Terrarium
from glasshouse.errors import StoreDamaged, StoreFailed, StoreTooNew
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.runtime.ledger import writer
from glasshouse.testing.contracts.writing import one_batch, opening, root, span
from tests.simulation.seeds import usual_seeds

ADA = root("ada")
page_bytes = 4_096


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "show.glasshouse"


async def played(path: Path, lines: int = 400) -> None:
    """A closed store with a real play in it, the same every time: two creatures, one merge, many lines."""
    async with Terrarium(SqliteStore(path), clock=HandMovedClock(), ids=SeededIds(1)) as terrarium:
        ada = await terrarium.add_creature(Manifest(name="ada"))
        bo = await terrarium.add_creature(Manifest(name="bo"))
        await terrarium.connect(ada.id, bo.id, channel="talk")
        said = [Draft(kind="agent.spoke", payload={"text": f"line {n} " + "x" * 300}) for n in range(lines)]
        await asyncio.gather(*[terrarium.append(ada.id, draft) for draft in said])


async def everything_in(path: Path) -> list[tuple[Event, ...]]:
    """What a visitor does: open, look at every graph, read every history."""
    async with Terrarium(SqliteStore(path)) as terrarium:
        return [await terrarium.events(graph.session_id) for graph in terrarium.graphs()]


async def test_random_bytes_are_no_store(path: Path) -> None:
    path.write_bytes(random.Random(1).randbytes(3 * page_bytes))
    before = path.read_bytes()

    with pytest.raises(StoreDamaged, match=r"show\.glasshouse is damaged.*Restore a copy"):
        await SqliteStore(path).open("house-one")

    assert path.read_bytes() == before


@pytest.mark.parametrize("body", ["[{", '[{"colour":"green"}]', "7", 7, b"\xff"])
async def test_a_broken_row_of_shown_lines_is_damage_in_words(path: Path, body: object) -> None:
    await played(path, lines=1)
    with closing(sqlite3.connect(path)) as ledger, ledger:
        ledger.execute("INSERT INTO shown (position, body) VALUES (1, ?)", (body,))

    store = SqliteStore(path)
    await store.open("house-one")
    with pytest.raises(StoreDamaged, match=r"what a prompt showed.*Restore a copy"):
        await store.shown(1)
    await store.close()


async def test_a_text_file_is_no_store(path: Path) -> None:
    path.write_text("my shopping list\n")

    with pytest.raises(StoreDamaged):
        await SqliteStore(path).open("house-one")

    assert path.read_text() == "my shopping list\n"


@pytest.mark.parametrize("is_guest", [False, True])
async def test_the_database_of_another_program_is_no_store_and_stays_untouched(
    path: Path, is_guest: bool
) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.commit()
    connection.close()
    before = path.read_bytes()

    with pytest.raises(StoreDamaged, match="not a Glasshouse store"):
        await SqliteStore(path, is_guest=is_guest).open("house-one")

    assert path.read_bytes() == before


@pytest.mark.parametrize("is_guest", [False, True])
async def test_a_folder_is_no_store_and_gets_no_lock(path: Path, is_guest: bool) -> None:
    path.mkdir()

    with pytest.raises(StoreFailed, match=r"show\.glasshouse cannot be opened, for it is a folder"):
        await SqliteStore(path, is_guest=is_guest).open("house-one")

    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("name", [".", "/"])
async def test_a_folder_without_a_name_of_its_own_is_no_store(name: str) -> None:
    with pytest.raises(StoreFailed, match="it is a folder"):
        await SqliteStore(name).open("house-one")


@pytest.mark.parametrize("name", ["", ":memory:", Path(":memory:")])
def test_a_store_without_a_file_is_refused_in_favour_of_memory(name: str | Path) -> None:
    with pytest.raises(Refused, match=r"needs the name of a file.*MemoryStore\(\)"):
        SqliteStore(name)


@pytest.mark.parametrize("kept", [1, 99, 100, 600, page_bytes, 3 * page_bytes, -page_bytes, -1])
async def test_a_truncated_file_is_damaged_wherever_it_was_cut(
    path: Path, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for bound in ("snapshot_events_min", "snapshot_on_close_events_min", "snapshot_on_close_events_max"):
        monkeypatch.setattr(
            writer, bound, 1 << 40
        )  # To lose a snapshot is no damage, and it would be the last page.
    await played(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:kept])

    with pytest.raises(StoreDamaged, match="Restore a copy"):
        await everything_in(path)

    assert path.read_bytes() == whole[:kept]
    path.write_bytes(whole)
    await everything_in(path)


@pytest.mark.parametrize("filling", [b"\x00", b"\xff", b"glass"])
async def test_an_overwritten_page_is_damage_unless_nothing_that_is_read_lay_there(
    path: Path, filling: bytes
) -> None:
    await played(path, lines=60)
    everything = await everything_in(path)
    whole = path.read_bytes()
    noticed = 0

    for start in range(0, len(whole), page_bytes):
        patch = (filling * page_bytes)[:page_bytes]
        path.write_bytes(whole[:start] + patch + whole[start + page_bytes :])
        try:
            assert await everything_in(path) == everything, f"byte {start}: read without an error, and wrong"
        except StoreDamaged:
            noticed += 1

    assert noticed >= 10


@pytest.mark.parametrize("is_guest", [False, True])
@pytest.mark.parametrize("pages", [1, 2, 99])
async def test_changed_bytes_are_damage_or_harmless_and_never_another_error(
    path: Path, pages: int, is_guest: bool
) -> None:
    await played(path, lines=60)
    whole = path.read_bytes()
    noticed = 0

    for seed in usual_seeds(60):
        chance, damaged = random.Random(seed), bytearray(whole)
        for _ in range(chance.choice([1, 1, 2, 4, 16])):
            damaged[chance.randrange(min(len(damaged), pages * page_bytes))] = chance.randrange(256)
        path.write_bytes(damaged)
        try:
            async with Terrarium(SqliteStore(path, is_guest=is_guest)) as terrarium:
                for graph in terrarium.graphs():
                    await terrarium.events(graph.session_id)
        except (StoreDamaged, StoreTooNew):
            noticed += 1
        except Exception as wrong:
            raise AssertionError(f"seed {seed}: {wrong!r}") from wrong
        for beside in path.parent.glob("*-*"):
            beside.unlink()

    assert noticed >= 10


async def test_a_schema_that_quotes_broken_text_is_damage(path: Path) -> None:
    await played(path, lines=3)
    whole = path.read_bytes()

    for at in [n for n in range(len(whole)) if whole.startswith(b"CREATE TABLE ", n)]:
        path.write_bytes(whole[: at + 9] + b"\xf0" + whole[at + 10 :])
        with pytest.raises(StoreDamaged, match="Restore a copy"):
            await everything_in(path)


async def test_an_event_that_does_not_fit_the_ledger_before_it_is_damage(path: Path) -> None:
    await played(path, lines=3)
    connection = sqlite3.connect(path)
    changed = connection.execute(
        "UPDATE events SET payload = replace(payload, '\"g-', '\"h-') WHERE payload LIKE '%\"kind\":\"merge\"%'"
    )
    connection.commit()
    connection.close()

    assert changed.rowcount == 1
    with pytest.raises(StoreDamaged, match=r"does not fit .*Restore a copy"):
        await everything_in(path)


@pytest.mark.parametrize(
    ("column", "bytes_now"),
    [
        *[
            ("payload", bytes_now)
            for bytes_now in ("x'00ff'", "CAST(x'7b22ff' AS TEXT)", "'[]'", "7", "NULL")
        ],
        *[
            ("rest", bytes_now)
            for bytes_now in ("x'00ff'", "CAST(x'7b22ff' AS TEXT)", "'{\"colour\":1}'", "7")
        ],
        *[
            ("at", bytes_now)
            for bytes_now in ("x'00ff'", "'noon'", "0.5", "9e18", "-9223372036854775808", "NULL")
        ],
        *[("turn", bytes_now) for bytes_now in ("x'00ff'", "'first'", "0.5", "NULL")],
        *[("shape", bytes_now) for bytes_now in ("x'00ff'", "99", "-1", "'one'", "NULL")],
    ],
)
async def test_an_event_whose_bytes_were_changed_is_damage_when_it_is_read(
    path: Path, column: str, bytes_now: str
) -> None:
    store = SqliteStore(path)
    await store.open("house-one")
    await store.commit(one_batch(opening(ADA, "a", "b", "c")))
    await store.close()
    connection = sqlite3.connect(path)
    connection.execute(f"UPDATE events SET {column} = {bytes_now} WHERE position = 2")
    connection.commit()
    connection.close()
    store = SqliteStore(path)
    await store.open("house-one")

    with pytest.raises(StoreDamaged):
        await store.read([span(ADA)])
    with pytest.raises(StoreDamaged):
        await store.read_after(0, 9)

    await store.close()


async def test_a_ledger_with_a_missing_event_is_damage_and_not_another_story(path: Path) -> None:
    await played(path, lines=20)
    connection = sqlite3.connect(path)
    connection.execute("DELETE FROM events WHERE position = 3")
    connection.commit()
    connection.close()

    with pytest.raises(StoreDamaged):
        await everything_in(path)


async def test_a_broken_snapshot_is_a_cache_that_is_folded_again(path: Path) -> None:
    await played(path, lines=1_200)
    connection = sqlite3.connect(path)
    changed = connection.execute("UPDATE snapshots SET body = x'c1'").rowcount
    connection.commit()
    connection.close()

    async with Terrarium(SqliteStore(path)) as terrarium:
        assert changed >= 1
        assert [creature.id for creature in terrarium.creatures()] == ["ada", "bo"]
