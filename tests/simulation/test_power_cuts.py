"""Power cuts: whatever the disk lost, no acknowledged event is missing and no batch is partial.

The test records a seeded play write by write, cuts the power at many moments, builds the files as a disk might hold
them, and opens the real store on each. It must also detect settings that are not safe.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from glasshouse import Refused, SqliteStore, Terrarium
from glasshouse.errors import Conflict, StoreDamaged
from glasshouse.events.event import Json
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from tests.simulation.journal_store import JournalStore
from tests.simulation.ledger_checks import check_folds, check_no_gaps, contents_of, ledger_of
from tests.simulation.mixing import operate
from tests.simulation.power import (
    CARES,
    Acknowledged,
    Care,
    Delete,
    Moment,
    RecordingVFS,
    Sync,
    Truncate,
    Write,
    image_at,
)
from tests.simulation.seeds import fresh_seeds, replayable, usual_seeds

NAME = "show.glasshouse"
CHECKPOINTS_PAGES = (4_000, 8, 60)


@dataclass(frozen=True)
class Recording:
    """A play as the disk saw it, and the story as it was told."""

    begins: dict[str, bytes]
    moments: list[Moment]
    story: list[Json]
    commit_ends: frozenset[int]

    def acknowledged_at(self, cut: int) -> int:
        acknowledged = [moment.position for moment in self.moments[:cut] if isinstance(moment, Acknowledged)]
        return acknowledged[-1] if acknowledged else min(self.commit_ends)

    def a_cut(self, chance: random.Random) -> int:
        """Any moment; every other time the worst one, right after an acknowledgement."""
        acknowledged = [n + 1 for n, moment in enumerate(self.moments) if isinstance(moment, Acknowledged)]
        return chance.choice(acknowledged) if chance.random() < 0.5 else chance.randint(0, len(self.moments))


def put(folder: Path, image: dict[str, bytes]) -> Path:
    """The folder with exactly these files."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in image.items():
        (folder / name).write_bytes(content)
    return folder / NAME


async def recorded(
    folder: Path, begins: dict[str, bytes], seed: int, steps: range, pragmas: Sequence[str]
) -> Recording:
    """Play some steps of a seed on a recording disk."""
    name = f"recording {seed} {steps.start}"
    vfs = RecordingVFS(name)
    store = JournalStore(put(folder, begins), vfs, name, pragmas)
    async with Terrarium(store, clock=HandMovedClock(), ids=SeededIds(seed)) as terrarium:
        for step in steps:
            await operate(terrarium, seed, step)
        story = contents_of(await ledger_of(store))
    vfs.unregister()
    return Recording(begins, vfs.moments, story, frozenset(store.commit_ends))


async def verdict_on(path: Path, recording: Recording, acknowledged: int, seed: int) -> str:
    """Open what is left with the real store: "whole", or what is wrong with it."""
    try:
        if (damage := integrity_of(path)) != "ok":
            return f"corrupt: {damage}"
        store = SqliteStore(path)
        async with Terrarium(store, clock=HandMovedClock(), ids=SeededIds(seed)) as terrarium:
            ledger = await ledger_of(store)
            check_no_gaps(ledger)
            await check_folds(store)
            await operate(terrarium, seed, step=1_000_000)
    except (StoreDamaged, sqlite3.DatabaseError, Refused, Conflict) as wrong:
        return f"corrupt: {wrong}"
    if contents_of(ledger) != recording.story[: len(ledger)]:
        return "another story"
    if len(ledger) < acknowledged:
        return "lost"
    return "whole" if len(ledger) in recording.commit_ends | {0} else "half a batch"


def integrity_of(path: Path) -> str:
    if not path.exists():
        return "ok"
    connection = sqlite3.connect(path)
    try:
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])
    finally:
        connection.close()


async def verdicts(
    folder: Path, seed: int, *, cuts: int, steps: int = 90, lives: int = 2, pragmas: Sequence[str] = ()
) -> Counter[str]:
    """Play, cut and look, again and again; each life after the first begins on what a cut has left."""
    chance = random.Random(seed)
    counts: Counter[str] = Counter()
    checkpoint = f"wal_autocheckpoint = {CHECKPOINTS_PAGES[seed % len(CHECKPOINTS_PAGES)]}"
    begins: dict[str, bytes] = {}
    for life in range(lives):
        survivor = begins
        played = range(life * steps, (life + 1) * steps)
        recording = await recorded(folder / "played", begins, seed, played, [checkpoint, *pragmas])
        for _ in range(cuts // lives):
            cut, care = recording.a_cut(chance), chance.choice(CARES)
            left = image_at(begins, recording.moments, cut, chance, care)
            path = put(folder / "left", left)
            verdict = await verdict_on(path, recording, recording.acknowledged_at(cut), seed)
            counts[verdict] += 1
            if verdict == "whole" and NAME in left:
                survivor = left
        begins = survivor
    return counts


@pytest.mark.parametrize("seed", usual_seeds(6))
async def test_no_power_cut_loses_what_was_acknowledged_or_leaves_half_a_batch(
    tmp_path: Path, seed: int
) -> None:
    with replayable(
        seed, "test_power_cuts.py::test_no_power_cut_loses_what_was_acknowledged_or_leaves_half_a_batch"
    ):
        verdicts_found = await verdicts(tmp_path, seed, cuts=50)

        assert verdicts_found == {"whole": 50}


@pytest.mark.soak
async def test_no_power_cut_of_many_thousands_loses_anything(tmp_path: Path) -> None:
    for seed in fresh_seeds(plays=100):
        with replayable(seed, "test_power_cuts.py::test_no_power_cut_of_many_thousands_loses_anything"):
            verdicts_found = await verdicts(tmp_path, seed, cuts=200, steps=150, lives=4)

            assert verdicts_found == {"whole": 200}


@pytest.mark.parametrize("unsafe", ["synchronous = NORMAL", "synchronous = OFF"])
async def test_the_rig_notices_settings_that_lose_acknowledged_events(tmp_path: Path, unsafe: str) -> None:
    verdicts_found = await verdicts(tmp_path, 0, cuts=30, steps=40, lives=1, pragmas=[unsafe])

    assert verdicts_found["lost"] >= 5


async def test_the_rig_notices_a_log_that_is_copied_back_without_a_sync(tmp_path: Path) -> None:
    """With syncs off and many checkpoints, pages of the file itself are torn, and the file is corrupt."""
    counts: Counter[str] = Counter()
    for seed in (1, 4):
        counts += await verdicts(tmp_path, seed, cuts=40, steps=60, lives=1, pragmas=["synchronous = OFF"])

    assert [verdict for verdict in counts if verdict.startswith(("corrupt", "another", "half"))]


def left_of(care: Care, *moments: Moment) -> bytes:
    return image_at({NAME: b"a" * 4_096}, list(moments), len(moments), random.Random(1), care)[NAME]


def test_the_disk_keeps_what_was_synced_and_may_forget_the_rest() -> None:
    first, then = Write(NAME, 0, b"b" * 4_096), Write(NAME, 0, b"c" * 4_096)

    assert left_of("nothing", first, Sync(NAME), then) == b"b" * 4_096
    assert left_of("everything", first, Sync(NAME), then) == b"c" * 4_096
    assert set(left_of("half", first, Sync(NAME), then)) == set(b"bc")
    assert left_of("nothing", Truncate(NAME, 10)) == b"a" * 4_096
    assert left_of("nothing", Truncate(NAME, 10), Sync(NAME)) == b"a" * 10


def test_a_deleted_file_may_come_back_until_its_folder_is_synced() -> None:
    begins = {"log": b"old"}

    assert image_at(begins, [Delete("log", is_synced=False)], 1, random.Random(1), "nothing") == begins
    assert image_at(begins, [Delete("log", is_synced=True)], 1, random.Random(1), "nothing") == {}
