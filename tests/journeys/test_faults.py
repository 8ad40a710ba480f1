"""Disks that fill up, files that cannot be written, files that somebody locks: the right words, and nothing lost.

Each journey is the same: a terrarium has said something, the cause comes, an append is refused in words that say what
to do; the cause goes, everything acknowledged is there, and the terrarium goes on.
"""
# ruff: noqa: ASYNC240, ASYNC221 (a test may wait for its own small files)

import asyncio
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from glasshouse import Draft, Event, Manifest, SqliteStore, Terrarium
from glasshouse.errors import StoreBusy, StoreDamaged, StoreError, StoreFailed
from glasshouse.stores.sqlite import store
from glasshouse.stores.sqlite.migrate import bundled_migrations
from tests.journeys.commanding import run_code

disk_bytes = 2 * 1024 * 1024


def mounted(disk: Path, *options: str) -> None:
    done = subprocess.run(["mount", *options, str(disk)], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"this needs the right to mount: {done.stderr.strip()}")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of two megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted(disk, "-t", "tmpfs", "-o", f"size={disk_bytes}", "tmpfs")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def a_line(text: str) -> Draft:
    return Draft(kind="agent.spoke", payload={"text": text})


class Play:
    """A terrarium with one creature, and everything it was told is durable."""

    def __init__(self, terrarium: Terrarium) -> None:
        self.terrarium = terrarium
        self.acknowledged: list[Event] = []

    async def begin(self) -> None:
        if not self.terrarium.creatures():
            await self.terrarium.add_creature(Manifest(name="ada"))

    async def say(self, text: str) -> None:
        self.acknowledged.append(await self.terrarium.append("ada", a_line(text)))

    async def lines(self) -> list[Event]:
        history = await self.terrarium.events(self.terrarium.creature("ada").session_id)
        return [event for event in history if event.kind == "agent.spoke"]


async def goes_on(path: Path, acknowledged: list[Event]) -> None:
    """Opened again, the store holds exactly what was acknowledged, and takes more."""
    async with Terrarium(SqliteStore(path)) as terrarium:
        play = Play(terrarium)
        assert await play.lines() == acknowledged
        await play.say("the show goes on")
        assert [event.id for event in await play.lines()] == [
            *[event.id for event in acknowledged],
            play.acknowledged[0].id,
        ]


def fill(disk: Path, *, bytes_left: int = 0) -> Path:
    """Fill a disk to the brim, as somebody else would."""
    filler = disk / "somebody-elses-video"
    free = os.statvfs(disk)
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        for _ in range(free.f_bavail):
            file.write(b"\x55" * free.f_bsize)
    os.truncate(filler, max(0, filler.stat().st_size - bytes_left))
    return filler


# Full disk


async def test_a_full_disk_refuses_in_words_and_goes_on_when_there_is_room(small_disk: Path) -> None:
    path = small_disk / "show.glasshouse"
    async with Terrarium(SqliteStore(path)) as terrarium:
        play = Play(terrarium)
        await play.begin()
        for n in range(20):
            await play.say(f"line {n}")
        filler = fill(small_disk)

        refused = await refusal_of(lambda: fill_with_talk(play))
        filler.unlink()
        await play.say("room again")

        assert isinstance(refused, StoreFailed)
        assert "is full" in str(refused)
        assert "Free some space" in str(refused)
        assert await play.lines() == play.acknowledged
    await goes_on(path, play.acknowledged)


async def fill_with_talk(play: Play) -> None:
    """Talk until no more fits."""
    for n in range(disk_bytes // 1_000):
        await play.say(f"{n} " + "x" * 1_000)


async def refusal_of(act: Callable[[], Awaitable[object]]) -> StoreError | None:
    try:
        await act()
    except StoreError as refused:
        return refused
    return None


async def test_a_disk_that_fills_up_under_many_appends_keeps_each_that_was_acknowledged(
    small_disk: Path,
) -> None:
    path = small_disk / "show.glasshouse"
    async with Terrarium(SqliteStore(path)) as terrarium:
        play = Play(terrarium)
        await play.begin()

        said = [play.say(f"{n} " + "x" * 2_000) for n in range(2_000)]
        results = await asyncio.gather(*said, return_exceptions=True)

        refused = [result for result in results if isinstance(result, BaseException)]
        assert refused
        assert {type(error) for error in refused} == {StoreFailed}
        assert all("is full" in str(error) for error in refused)
        assert await play.lines() == sorted(play.acknowledged, key=lambda event: event.seq)
        acknowledged = await play.lines()
    subprocess.run(["mount", "-o", "remount,size=16m", str(small_disk)], check=True)
    await goes_on(path, acknowledged)


async def test_opening_on_a_full_disk_is_refused_in_words_and_works_when_there_is_room(
    small_disk: Path,
) -> None:
    path = small_disk / "show.glasshouse"
    acknowledged = await said_and_closed(path)
    filler = fill(small_disk)

    refused = await refusal_of(lambda: opened_and_closed(SqliteStore(path)))
    filler.unlink()

    assert isinstance(refused, StoreFailed)
    assert "full" in str(refused)
    await goes_on(path, acknowledged)


async def test_a_new_store_on_a_full_disk_is_refused_in_words(small_disk: Path) -> None:
    path = small_disk / "show.glasshouse"
    filler = fill(small_disk)

    refused = await refusal_of(lambda: opened_and_closed(SqliteStore(path)))
    filler.unlink()

    assert isinstance(refused, StoreFailed)
    assert "full" in str(refused)
    await said_and_closed(path)


async def test_a_migration_on_a_full_disk_leaves_the_store_as_it_was(small_disk: Path) -> None:
    path = small_disk / "show.glasshouse"
    acknowledged = await said_and_closed(path, lines=400)
    bundled = bundled_migrations()
    newer = [*bundled, (bundled[-1][0] + 1, "CREATE TABLE second (number INTEGER);")]
    filler = fill(small_disk, bytes_left=96 * 1024)

    refused = await refusal_of(lambda: opened_and_closed(SqliteStore(path, migrations=newer)))
    filler.unlink()

    assert isinstance(refused, StoreFailed)
    assert "full" in str(refused)
    assert list(small_disk.glob("*.copy")) == [], "half a copy looks like a whole one"
    await goes_on(path, acknowledged)


async def said_and_closed(path: Path, lines: int = 3) -> list[Event]:
    """A closed store in which something was said."""
    async with Terrarium(SqliteStore(path)) as terrarium:
        play = Play(terrarium)
        await play.begin()
        await asyncio.gather(*[play.say(f"line {n} " + "x" * 500) for n in range(lines)])
        return play.acknowledged


async def opened_and_closed(store: SqliteStore) -> None:
    await store.open("house-one")
    await store.close()


# A write that fails for another reason


@contextmanager
def no_file_grows_beyond(size_bytes: int) -> Iterator[None]:
    """The system refuses to let any file of this process grow further: needs no rights at all."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def use_up_the_log(play: Play) -> None:
    """Say more than fits into the log, which is always longer than it needs to be."""
    for _ in range(20):
        await play.say("x" * 60_000)


async def test_a_file_that_may_not_grow_refuses_in_words_and_goes_on_when_it_may(tmp_path: Path) -> None:
    path = tmp_path / "show.glasshouse"
    async with Terrarium(SqliteStore(path)) as terrarium:
        play = Play(terrarium)
        await play.begin()
        await play.say("hello")

        with no_file_grows_beyond((tmp_path / "show.glasshouse-wal").stat().st_size):
            refused = await refusal_of(lambda: use_up_the_log(play))
        await play.say("it may")

        assert isinstance(refused, StoreFailed)
        assert "try again" in str(refused)
        assert await play.lines() == play.acknowledged
    await goes_on(path, play.acknowledged)


# Read-only


async def test_a_read_only_disk_is_refused_in_words(small_disk: Path) -> None:
    path = small_disk / "show.glasshouse"
    acknowledged = await said_and_closed(path)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)

    refused = await refusal_of(lambda: opened_and_closed(SqliteStore(path)))
    as_guest = await refusal_of(lambda: opened_and_closed(SqliteStore(path, is_guest=True)))
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)

    assert isinstance(refused, StoreFailed)
    assert "writable" in str(refused)
    assert as_guest is None
    await goes_on(path, acknowledged)


APPENDS_AS_NOBODY = """
import asyncio, concurrent.futures.thread, os, sys
from glasshouse import Draft, SqliteStore, Terrarium
from glasshouse.errors import GlasshouseError
async def main():
    async with Terrarium(SqliteStore(sys.argv[1])) as terrarium:
        await terrarium.append("ada", Draft(kind="agent.spoke", payload={"text": "may I?"}))
    print("said")
if os.geteuid() == 0:
    os.setuid(65534)
try:
    asyncio.run(main())
except GlasshouseError as refused:
    print(type(refused).__name__, refused)
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may enter, unlike the test's own."""
    folder = Path(tempfile.mkdtemp(prefix="glasshouse-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("file_mode", "folder_mode"),
    [(0o444, 0o777), (0o444, 0o555), (0o666, 0o555)],
    ids=["the file", "both", "the folder"],
)
async def test_what_may_not_be_written_is_refused_in_words(
    open_folder: Path, file_mode: int, folder_mode: int
) -> None:
    path = open_folder / "show.glasshouse"
    acknowledged = await said_and_closed(path)
    path.with_name(path.name + ".lock").unlink()
    path.chmod(file_mode)
    open_folder.chmod(folder_mode)

    answer = run_code(APPENDS_AS_NOBODY, str(path)).stdout

    assert answer.startswith("StoreFailed")
    assert "writable" in answer
    assert "--store" in answer
    path.chmod(0o644)
    open_folder.chmod(0o755)
    await goes_on(path, acknowledged)


LOOKS_AS_NOBODY = """
import codecs, json, os, sys
from glasshouse.cli.app import COMMANDS, CommandModules, app
codecs.lookup("ascii")
for name in COMMANDS:
    CommandModules(COMMANDS)[name]
if os.geteuid() == 0:
    os.setuid(65534)
for words in json.loads(sys.argv[2]):
    try:
        app([*words, "--store", sys.argv[1]])
    except SystemExit as end:
        print(f"{words[0]} ended with {end.code}", flush=True)
"""
"""The command line of a user who owns nothing here. What it needs is imported before, as it may not be allowed later."""


@pytest.mark.parametrize(
    ("file_mode", "folder_mode", "left"),
    [
        (0o444, 0o777, "closed"),
        (0o666, 0o555, "closed"),
        (0o444, 0o555, "closed"),
        (0o444, 0o555, "being written"),
        (0o444, 0o555, "left by a crash"),
    ],
)
async def test_a_store_that_may_not_be_written_can_be_looked_at(
    open_folder: Path, file_mode: int, folder_mode: int, left: str
) -> None:
    path = open_folder / "show.glasshouse"
    async with Terrarium(SqliteStore(path)) as terrarium:
        run = await terrarium.open_world("thousand-token-wood", rng_seed=1)
        await terrarium.run(run.id, turns=2)
        digest = await terrarium.digest(run.id)
        if left == "left by a crash":
            for end in ("", "-wal"):
                shutil.copy(f"{path}{end}", f"{open_folder}/crashed.glasshouse{end}")
        if left == "being written":
            await check_is_read(path, run.id, digest, file_mode, folder_mode)
    if left == "left by a crash":
        for file in open_folder.glob("show*"):
            file.unlink()
        path = open_folder / "crashed.glasshouse"
    if left != "being written":
        await check_is_read(path, run.id, digest, file_mode, folder_mode)


async def check_is_read(path: Path, run_id: str, digest: str, file_mode: int, folder_mode: int) -> None:
    before = {file.name: file.stat().st_mode for file in path.parent.iterdir()}
    for name in before:
        (path.parent / name).chmod(file_mode)
    path.parent.chmod(folder_mode)
    words = [[name, run_id] for name in ("digest", "show", "lineage", "tree")]
    words += [["runs"], ["why", "last"], ["disturb", run_id, "A bell rings."]]
    try:
        asked = (LOOKS_AS_NOBODY, str(path), json.dumps(words))
        result = await asyncio.to_thread(run_code, *asked, cwd=Path("/"))
        after = {file.name for file in path.parent.iterdir()}
    finally:
        path.parent.chmod(0o755)
        for name, mode in before.items():
            (path.parent / name).chmod(mode)

    ends = [line for line in result.stdout.splitlines() if " ended with " in line]
    expected = [*[f"{name} ended with 0" for name, *_ in words[:-1]], "disturb ended with 3"]
    assert ends == expected, result.stderr
    assert digest in result.stdout
    assert "may only be read here, and nothing was written" in result.stderr
    assert after == before.keys()


def python(code: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


# Locked

LOCKS_THE_FILE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK")
connection.close()
"""


@contextmanager
def locked_by_another_program(path: Path) -> Iterator[None]:
    with python(LOCKS_THE_FILE, path) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        yield
        other.communicate("let go\n")


@pytest.fixture
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait a twentieth of a second for a lock instead of five."""
    monkeypatch.setattr(store, "busy_milliseconds_max", 50)


@pytest.mark.usefixtures("little_patience")
async def test_a_file_locked_by_another_program_is_busy_and_goes_on_when_it_is_free(tmp_path: Path) -> None:
    path = tmp_path / "show.glasshouse"
    async with Terrarium(SqliteStore(path)) as terrarium:
        play = Play(terrarium)
        await play.begin()
        await play.say("hello")

        with locked_by_another_program(path):
            refused = await refusal_of(lambda: play.say("may I?"))
            assert await play.lines() == play.acknowledged
        await play.say("now I may")

        assert isinstance(refused, StoreBusy)
        assert "locked by another program" in str(refused)
        assert "close that program and try again" in str(refused)
        assert await play.lines() == play.acknowledged
    await goes_on(path, play.acknowledged)


@pytest.mark.usefixtures("little_patience")
async def test_many_changes_during_a_lock_are_all_refused_and_the_world_is_as_the_ledger_says(
    tmp_path: Path,
) -> None:
    path = tmp_path / "show.glasshouse"
    async with Terrarium(SqliteStore(path)) as terrarium:
        await terrarium.add_creature(Manifest(name="ada"))
        await terrarium.add_creature(Manifest(name="bo"))
        before = terrarium.graphs()

        with locked_by_another_program(path):
            results = await asyncio.gather(
                terrarium.connect("ada", "bo"),
                terrarium.append("ada", a_line("hello")),
                terrarium.remove_creature("bo"),
                return_exceptions=True,
            )

        assert [isinstance(result, StoreError) for result in results] == [True, True, True]
        assert terrarium.graphs() == before
        assert (await terrarium.connect("ada", "bo")).kind == "merge"


# Truncated


async def test_a_truncated_file_is_damaged_and_a_restored_copy_goes_on(tmp_path: Path) -> None:
    path, copy = tmp_path / "show.glasshouse", tmp_path / "copy"
    acknowledged = await said_and_closed(path, lines=100)
    shutil.copy(path, copy)
    os.truncate(path, path.stat().st_size // 2)

    refused = await refusal_of(lambda: opened_and_closed(SqliteStore(path)))
    shutil.copy(copy, path)

    assert isinstance(refused, StoreDamaged)
    assert "Restore a copy" in str(refused)
    await goes_on(path, acknowledged)
