"""`GridFolder`: one grid on disk: its lock, its journal, its store files and its tables.

    grid.json             what the grid began with: digests of its worlds and models
    agreed-usd.txt        what somebody agreed to pay for all of it
    journal.jsonl         which cells are in which store file, and a row for each cell that is over
    runs-0001.glasshouse  runs of at most 100 cells, an ordinary store
    cells.csv, summary.csv, summary.html

Always holds: one process writes here at a time. The journal only grows, and each line of it is true; a line that a full disk cut
off is dropped. The stores are the truth: a row that is missing in the journal is made again from its run, without playing. So the
journal needs no sync to disk.
"""

from __future__ import annotations

import errno
import fcntl
import math
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Final

import msgspec

from glasshouse.errors import Refused, StoreBusy, StoreDamaged
from glasshouse.events.payloads import prompting_now, rules_now
from glasshouse.grids.cells import Cell
from glasshouse.grids.executors import Bundle, bundles_of
from glasshouse.grids.grid_file import ReadGrid
from glasshouse.grids.rows import Row
from glasshouse.manifests.problem import At, Complaint

lock_seconds_max: Final = 2.0
"""How long the lock is waited for: the processes of a grid that was killed need a moment to notice it."""
lock_look_seconds: Final = 0.05

written = os.write
"""What writes into the journal. Tests put a full disk in its place."""

_LOCK: Final = "grid.lock"
_BEGUN: Final = "grid.json"
JOURNAL: Final = "journal.jsonl"
_AGREED: Final = "agreed-usd.txt"


class Begun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a grid began with, so that nobody mixes results of two different things."""

    worlds: dict[str, str]
    """World, as the grid names it -> a digest of its files."""
    models: dict[str, str]
    """Entry of `models` -> a digest of what decides how it plays."""
    rules: int = rules_now
    prompting: int = prompting_now


class _BundleLine(msgspec.Struct, frozen=True, tag="bundle", tag_field="type"):
    """Which cells a store file holds."""

    number: int
    cells: list[str]


class _RowLine(msgspec.Struct, frozen=True, tag="row", tag_field="type"):
    """A cell that is over."""

    row: Row


class Lost(msgspec.Struct, frozen=True, tag="lost", tag_field="type", omit_defaults=True):
    """A bundle was lost with the machine or the process that played it, and begins again from nothing."""

    number: int
    """Of the bundle."""
    calls: int
    """How many calls were lost with it, at least."""
    usd: float
    """What these had cost, at least."""
    error: str
    is_gone: bool = False
    """Its store file was no longer there: the cells of it that were done are played again."""


_begun_in = msgspec.json.Decoder(Begun).decode
_line_in = msgspec.json.Decoder(_BundleLine | _RowLine | Lost).decode


class GridFolder:
    """A grid's folder, held by this process from opening to closing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[str, Row] = {}
        """Cell -> its row, of all cells that are over; the newest if it was tried several times."""
        self.lost: list[Lost] = []
        """Bundles that were lost and begun again."""
        self._numbers: dict[str, int] = {}
        """Cell -> the number of its bundle."""
        self._lock: int | None = None
        self._journal: int | None = None

    def open(self) -> None:
        """Take the folder, and read its journal. Raises `StoreBusy` if another process has it."""
        self.path.mkdir(parents=True, exist_ok=True)
        self._take_lock()
        try:
            self._journal = os.open(
                self.path / JOURNAL, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644
            )
            self._read_journal()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let others have the folder."""
        for descriptor in (self._journal, self._lock):
            if descriptor is not None:
                os.close(descriptor)
        self._journal = self._lock = None

    @property
    def lock(self) -> int:
        """The open lock, which processes of this grid inherit: the folder is taken until the last of them has ended."""
        assert self._lock is not None, "the folder is open"
        return self._lock

    def _take_lock(self) -> None:
        path = self.path / _LOCK
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        ends = monotonic() + lock_seconds_max
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if monotonic() >= ends:
                    process = os.pread(descriptor, 32, 0).decode().strip() or "another process"
                    os.close(descriptor)
                    raise StoreBusy(
                        f"{self.path} is being played by process {process}. Stop it first, or choose another --folder."
                    ) from None
                sleep(lock_look_seconds)
        with suppress(OSError):  # The number is only for messages.
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        self._lock = descriptor

    def check_begun(self, grid: ReadGrid, begun: Begun) -> None:
        """Refuse a world, a model or a Glasshouse that is another one than when the grid began. What is new is noted."""
        path = self.path / _BEGUN
        if not path.exists():
            write_whole(path, msgspec.json.format(msgspec.json.encode(begun)))
            return
        before = _read(path)
        if (before.rules, before.prompting) != (begun.rules, begun.prompting):
            raise Refused(
                f"{self.path} was begun by a Glasshouse that plays by other rules or asks otherwise.",
                "Finish it with that version, or choose another --folder.",
            )
        grid.refuse([*_edited(grid, before, begun)])
        known = Begun(
            {**before.worlds, **begun.worlds}, {**before.models, **begun.models}, begun.rules, begun.prompting
        )
        if known != before:
            write_whole(path, msgspec.json.format(msgspec.json.encode(known)))

    def agreed_usd(self) -> float | None:
        """What somebody agreed to pay for the whole grid, if somebody was asked."""
        path = self.path / _AGREED
        try:
            return float(path.read_text())
        except (OSError, ValueError):  # Then it is asked again.
            return None

    def agree(self, usd: float) -> None:
        """Note that somebody agreed to pay so much."""
        write_whole(self.path / _AGREED, f"{usd!r}\n".encode())

    def bundles_left(self, cells: Iterable[Cell]) -> list[Bundle]:
        """The cells that are not done, in bundles: those that have a store file in theirs, the others in new ones, which are noted."""
        begun: dict[int, list[Cell]] = {}
        new: list[Cell] = []
        for cell in cells:
            row = self.rows.get(cell.name)
            number = self._numbers.get(cell.name)
            if row is not None and row.is_done:
                continue
            if number is None:
                new.append(cell)
            else:
                begun.setdefault(number, []).append(cell)
        first = max(self._numbers.values(), default=0) + 1
        added = bundles_of(new, range(first, first + len(new)))
        if added:
            self._write([_BundleLine(each.number, [cell.name for cell in each.cells]) for each in added])
            self._numbers |= {cell.name: each.number for each in added for cell in each.cells}
        return [*[Bundle(number, tuple(mine)) for number, mine in sorted(begun.items())], *added]

    def stores_of(self, cells: Iterable[Cell]) -> dict[str, list[Cell]]:
        """These cells by the names of the store files that are there and may hold their runs."""
        stores: dict[str, list[Cell]] = {}
        for cell in cells:
            number = self._numbers.get(cell.name)
            store = None if number is None else Bundle(number, (cell,)).store
            if store is not None and (store in stores or (self.path / store).exists()):
                stores.setdefault(store, []).append(cell)
        return stores

    def add(self, row: Row) -> None:
        """Note that a cell is over."""
        self._write([_RowLine(row)])
        self.rows[row.cell] = row

    def gone(self) -> list[Lost]:
        """The bundles that have cells that are done, and whose store files are not there any more."""
        rows: dict[int, list[Row]] = {}
        for name, row in self.rows.items():
            if row.is_done and name in self._numbers and not (self.path / row.store).exists():
                rows.setdefault(self._numbers[name], []).append(row)
        return [
            Lost(
                number,
                sum(row.calls for row in mine),
                math.fsum(row.usd or 0.0 for row in mine),
                f"{mine[0].store} is gone.",
                is_gone=True,
            )
            for number, mine in sorted(rows.items())
        ]

    def add_gone(self, lost: Lost) -> None:
        """Note that a store file is gone: what was done in it is to be played again."""
        self._write([lost])
        self.lost.append(lost)
        _forget(self.rows, self._numbers, lost.number)

    def add_lost(self, lost: Lost) -> None:
        """Note that a bundle was lost."""
        self._write([lost])
        self.lost.append(lost)

    def _write(self, lines: Iterable[_BundleLine | _RowLine | Lost]) -> None:
        assert self._journal is not None, "the folder is open"
        content = b"".join([msgspec.json.encode(line) + b"\n" for line in lines])
        size = os.fstat(self._journal).st_size
        try:
            if written(self._journal, content) < len(content):
                raise OSError(errno.ENOSPC, "No space left on device")
        except OSError as wrong:
            with suppress(OSError):
                os.ftruncate(self._journal, size)
            wrong.filename = str(self.path / JOURNAL)
            raise

    def _read_journal(self) -> None:
        assert self._journal is not None, "the folder is open"
        path = self.path / JOURNAL
        content = path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            os.ftruncate(self._journal, len(whole))
        try:
            self._numbers, self.rows, self.lost = _journal(whole)
        except msgspec.MsgspecError as wrong:
            raise StoreDamaged(
                f"{path} is damaged ({wrong}). Restore a copy, or choose another --folder."
            ) from wrong


def _journal(content: bytes) -> tuple[dict[str, int], dict[str, Row], list[Lost]]:
    numbers: dict[str, int] = {}
    rows: dict[str, Row] = {}
    lost: list[Lost] = []
    for text in content.splitlines():
        line = _line_in(text)
        if isinstance(line, _BundleLine):
            numbers |= dict.fromkeys(line.cells, line.number)
        elif isinstance(line, Lost):
            lost.append(line)
            if line.is_gone:
                _forget(rows, numbers, line.number)
        else:
            rows[line.row.cell] = line.row
    return numbers, rows, lost


def _forget(rows: dict[str, Row], numbers: Mapping[str, int], number: int) -> None:
    """Take the rows of a bundle away."""
    for name in [name for name in rows if numbers.get(name) == number]:
        del rows[name]


def rows_in(path: Path) -> dict[str, Row]:
    """The rows of a grid's folder, also while it is being played. Raises `Refused` if it is none."""
    try:
        content = (path / JOURNAL).read_bytes()
    except OSError as wrong:
        raise Refused(
            f"{path} holds no grid ({wrong.strerror}).", "Name the folder that `glasshouse grid` wrote."
        ) from wrong
    return _journal(content[: content.rfind(b"\n") + 1])[1]


def _edited(grid: ReadGrid, before: Begun, now: Begun) -> Iterable[Complaint]:
    instead = "Undo that to continue, or choose another --folder to begin a new grid."
    axes: tuple[tuple[str, tuple[str, ...], Mapping[str, str], Mapping[str, str], str], ...] = (
        ("worlds", grid.file.worlds, before.worlds, now.worlds, "this world was edited since the grid began."),
        ("models", grid.file.models, before.models, now.models, "another model answers to this name, or it is asked otherwise, than when the grid began."),
    )  # fmt: skip
    for axis, names, then, current, words in axes:
        for number, name in enumerate(names):
            at: At = (axis, number)
            if name in then and then[name] != current[name]:
                yield Complaint(at, f"{words} {instead}")


def _read(path: Path) -> Begun:
    try:
        return _begun_in(path.read_bytes())
    except msgspec.MsgspecError as wrong:
        raise StoreDamaged(
            f"{path} is damaged ({wrong}). Restore a copy, or choose another --folder."
        ) from wrong


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that a reader finds the old one or the new one, never a part."""
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    except OSError as wrong:
        with suppress(OSError):
            part.unlink()  # It is no use to anybody, and takes room.
        wrong.filename = str(path)
        raise
