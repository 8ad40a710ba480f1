"""`Grid`: many runs as one thing: worlds by what-ifs by models by seeds by repeats. `experiment` plays one and returns its table.

Always holds: everything that can be wrong with a grid is found before its first cell is played, and before its folder changes. A
cell that is done is never played again.
"""

from __future__ import annotations

import asyncio
import math
import os
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from operator import index
from pathlib import Path
from typing import Any, Final, NamedTuple
from weakref import ref

from glasshouse.assembly import ToolServer, usual_tools
from glasshouse.contests.expected_cost import Expected, OfflinePlay, offline_play, without_dollars
from glasshouse.errors import GridStopped, Refused, StoreError
from glasshouse.events.codec import canonical_json
from glasshouse.events.described_tool import SERVER_SEPARATOR
from glasshouse.events.payloads import settled
from glasshouse.grids.cells import Cell, cells_of
from glasshouse.grids.executors import Bundle, Executor, Terms, at_once_usual, bundles_of
from glasshouse.grids.folder import Begun, GridFolder, Lost
from glasshouse.grids.grid_file import ReadGrid, cells_max, grid_of, load_grid_file
from glasshouse.grids.grid_models import GridModels, Sleep
from glasshouse.grids.in_process import InProcess
from glasshouse.grids.rows import Row
from glasshouse.grids.tables import GridTable, write_tables
from glasshouse.grids.variants import variants_of
from glasshouse.grids.world_code import check_world_code
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.problem import Complaint
from glasshouse.reprs import shown
from glasshouse.runtime.acts.act_time import act_seconds_max
from glasshouse.runtime.acts.shared_purse import SharedPurse
from glasshouse.runtime.blocking import outcome_of
from glasshouse.runtime.ports import Router
from glasshouse.terrarium import Terrarium

at_once_max: Final = 1_024
"""More runs in flight in one process are refused: each holds a world in memory."""
processes_max: Final = 64
"""More processes are refused."""
plays_estimated_max: Final = 24
"""How many variants the offline troupe plays to tell what a grid will probably cost: a few seconds of work. Others are taken to need
as much as the first of their world."""


class Progress(NamedTuple):
    """How far a grid is."""

    cells: int
    done: int
    """Cells that were played to their end, before too."""
    failed: int
    usd: float | None
    """What was recorded until now, also by cells that were cut off or failed. While a grid plays: by those that are over. None: unknown."""
    away: int = 0
    """Cells that are over on other machines, in stores that are not at home yet."""
    begun_again: int = 0
    """How often a bundle of cells was lost with a machine, a process or its store file, and begun again from nothing."""
    lost_calls: int = 0
    """How many calls were lost so, at least."""

    @property
    def left(self) -> int:
        """How many cells are not over."""
        return self.cells - self.done - self.failed


class _Playing:
    """One play of a grid, from its first row until everything is closed that it has opened."""

    def __init__(self) -> None:
        self.rows: Callable[[], object | None] = _nothing
        """The generator of its rows; None if nobody holds it any more, so that it is closed or will be."""
        self.is_closing = False
        self.closed = asyncio.Event()

    async def wait_until_closed(self) -> None:
        """Wait for the end of a play whose loop was left. One that somebody still reads would never end, and is refused."""
        if not self.closed.is_set() and not self.is_closing and self.rows() is not None:
            raise Refused(
                "This grid is being played already.",
                "Leave that loop first; if you keep the generator, close it with aclose().",
            )
        await self.closed.wait()


def _nothing() -> None:
    return None


class Grid:
    """Cells, and how they are played. What is wrong with it is refused when it is made or opened."""

    _cells_away: Callable[[], int] = int
    """Tells how many cells are over on other machines; none, of a grid that is played here."""
    _held: GridFolder | None = None
    """Its folder, while it is open."""
    _is_open = False
    gone: Sequence[str] = ()
    """Which store files were no longer there when it was opened. Cells that were done in them are played again."""
    _playing: _Playing | None = None
    """The latest play."""

    def __init__(
        self,
        worlds: Sequence[str | Path | LoadedWorld] | str | Path | LoadedWorld = (),
        *,
        rng_seeds: Sequence[int] | str = (0,),
        models: Sequence[str | Router] | str | Router = "offline",
        what_ifs: Sequence[Mapping[str, Any]] | None = None,
        repeats: int = 1,
        file: str | Path | None = None,
        folder: str | Path | None = None,
        at_once: int = at_once_usual,
        processes: int = 1,
        max_usd: float | None = None,
        env_file: str | Path | None = None,
        tool_servers: Sequence[ToolServer] = (),
        act_seconds_max: float = act_seconds_max,
    ) -> None:
        """With `file`, the axes are those of a grid file. Without a `folder`, it is played in memory and leaves nothing behind."""
        _check_how(at_once, processes, max_usd, folder)
        given_worlds, names = _by_name(worlds, LoadedWorld, lambda world: world.scenario.name)
        given_models, asked = _by_name(
            models, object, lambda model: getattr(model, "name", type(model).__name__)
        )
        if processes > 1 and given_models:
            raise Refused(
                "Models that are Python objects answer in one process only.",
                "Name models by texts, or leave processes away.",
            )
        axes = {
            "worlds": names,
            "rng_seeds": rng_seeds,
            "models": asked,
            "repeats": repeats,
            "what_ifs": what_ifs,
        }
        self.read: ReadGrid = _read_of_program(axes) if file is None else load_grid_file(Path(file))
        self.folder = None if folder is None else Path(folder)
        self.max_usd = max_usd
        self.processes = processes
        keys = None if env_file is None else Path(env_file)
        tools = usual_tools().names() | {f"{server.name}{SERVER_SEPARATOR}" for server in tool_servers}
        variants = variants_of(self.read, given_worlds, tools)
        self._variants = {(each.world_name, each.what_if): each for each in variants}
        asked_for = self.read.file.models
        self._models = GridModels(asked_for, folder=self.read.folder, given=given_models, env_file=keys)
        self._terms = Terms(
            self._variants,
            asked_for,
            self.read.folder,
            None if self.folder is None else self.folder.absolute(),
            keys,
            tuple(tool_servers),
            at_once,
            act_seconds_max,
        )
        self._rows: dict[str, Row] = {}
        self._usd_of_cut: dict[str, float | None] = {}
        """Cell -> what its run has recorded, of runs that were begun and are not done, when it was last looked up."""
        self.sleep: Sleep = asyncio.sleep
        """How a grid waits between two tries to reach a server."""

    def __repr__(self) -> str:
        file = self.read.file
        return shown(
            self,
            worlds=file.worlds,
            models=file.models,
            cells=file.cells,
            folder=self.folder and str(self.folder),
        )

    # Opening and closing

    async def __aenter__(self) -> Grid:
        await self.open()
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def open(self) -> None:
        """Look the models up, check prices, take the folder and read what was played there."""
        await self._models.open(self.read)
        try:
            self._check_cells_differ()
            self._check_prices()
            if self.folder is not None:
                held = GridFolder(self.folder)
                await asyncio.to_thread(held.open)
                self._held = held
                held.check_begun(self.read, self._begun())
                gone = held.gone()
                for lost in gone:
                    held.add_gone(lost)
                self.gone = [lost.error for lost in gone]
                self._rows = {
                    cell.name: held.rows[cell.name] for cell in self.cells if cell.name in held.rows
                }
                await self._note_cut()
        except BaseException:
            await self.close()
            raise
        self._is_open = True

    async def close(self) -> None:
        """Let others have the folder, and close the connections to the models."""
        self._is_open = False
        if self._held is not None:
            self._held.close()
            self._held = None
        await self._models.close()

    def _check_cells_differ(self) -> None:
        """Refuse two entries of an axis under which the same is played."""
        names: dict[str, Cell] = {}
        for cell in self.cells:
            other = names.setdefault(cell.name, cell)
            if other is not cell:
                axis, first, second = next(
                    (field, getattr(other, field), getattr(cell, field))
                    for field in ("world", "what_if", "models")
                    if getattr(other, field) != getattr(cell, field)
                )
                field = {"world": "worlds", "what_if": "what_ifs", "models": "models"}[axis]
                text = (
                    f"{first!r} and {second!r} play the same. Remove one; to play cells again, write repeats."
                )
                self.read.refuse([Complaint((field,), text)])

    def _check_prices(self) -> None:
        if self.max_usd is None:
            return
        complaints = []
        for number, name in enumerate(self.read.file.models):
            unpriced = [
                model
                for variant in self._variants.values()
                if (model := self._models.unpriced(name, variant))
            ]
            if unpriced:
                text = (
                    f"nobody knows the price of {unpriced[0]}, and a limit in dollars is set. Write its price into models.yaml, or"
                    " take the limit away."
                )
                complaints.append(Complaint(("models", number), text))
        self.read.refuse(complaints)

    def _begun(self) -> Begun:
        worlds = {
            name: blake2b(
                f"{variant.original_beside}:{variant.original.digest}".encode(), digest_size=8
            ).hexdigest()
            for (name, what_if), variant in self._variants.items()
            if what_if == self.read.file.what_ifs[0].name
        }
        models = {
            name: blake2b(canonical_json(self._models.facts(name)), digest_size=8).hexdigest()
            for name in self.read.file.models
        }
        return Begun(worlds, models)

    # What there is to play

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All cells, in the order of the axes. The models are looked up when the grid is opened, so it must be open."""
        file = self.read.file
        facts = {
            (*key, name): self._models.facts(name, variant)
            for key, variant in self._variants.items()
            for name in file.models
        }
        return tuple(cells_of(file, self._variants, facts))

    @property
    def progress(self) -> Progress:
        """How far it is."""
        rows = self._rows.values()
        done = [row for row in rows if row.is_done]
        over = {row.cell for row in done}
        cut = [usd for cell, usd in self._usd_of_cut.items() if cell not in over]
        costs = [*[row.usd for row in done], *cut, *[lost.usd for lost in self._lost]]
        known = [usd for usd in costs if usd is not None]
        return Progress(
            len(self.cells),
            len(done),
            len(rows) - len(done),
            sum(known) if len(known) == len(costs) else None,
            self._cells_away(),
            len(self._lost),
            sum(lost.calls for lost in self._lost),
        )

    @property
    def is_priced(self) -> bool:
        """Whether any model that is still needed costs something, or may."""
        return any(self._models.is_priced(name) for name in {cell.models for cell in self._left()})

    def expected(self) -> Expected:
        """What the cells that are left will probably take, in all. The offline troupe plays each variant once for it, in memory."""
        counts = Counter([(cell.world, cell.what_if, cell.models) for cell in self._left()])
        needed = self._needed([*dict.fromkeys((world, what_if) for world, what_if, _ in counts)])
        calls = 0
        total: float | None = 0.0
        for (world, what_if, models), count in counts.items():
            play = needed[world, what_if]
            usd = play.usd(self._models.router(models), self._variants[world, what_if].seats)
            calls += play.calls * count
            total = None if total is None or usd is None else total + usd * count
        spent = self.progress.usd or 0.0
        total_max = None if self.max_usd is None else max(0.0, self.max_usd - spent)
        slots = sum(min(self._models.slots(name), self._terms.at_once) for name in self.read.file.models)
        return Expected(calls, total, total_max, at_once=min(slots, self._terms.at_once))

    def _needed(self, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], OfflinePlay]:
        """What the offline troupe needs for each variant. Variants beyond the bound are taken for the first one of their world."""
        needed: dict[tuple[str, str], OfflinePlay] = {}
        for key in keys:
            similar = [known for known in needed if known[0] == key[0]]
            if len(needed) >= plays_estimated_max and similar:
                needed[key] = needed[similar[0]]
                continue
            variant = self._variants[key]
            scenario = variant.world.scenario
            limits = without_dollars(settled(variant.governor or scenario.limits, scenario.creatures))
            rng_seed = self.read.file.rng_seeds[0]
            needed[key] = offline_play(variant.world, variant.seed, rng_seed, governor=limits)
        return needed

    @property
    def _lost(self) -> list[Lost]:
        return [] if self._held is None else self._held.lost

    def agreed_usd(self) -> float | None:
        """What somebody agreed to pay for the whole grid. None: nobody was asked. Infinite: whatever it costs."""
        return None if self._held is None else self._held.agreed_usd()

    def agree(self, usd: float) -> None:
        """Note that somebody agreed to pay so much for the whole grid."""
        if self._held is not None:
            self._held.agree(usd)

    def _left(self) -> list[Cell]:
        return [
            cell for cell in self.cells if not (cell.name in self._rows and self._rows[cell.name].is_done)
        ]

    # Playing

    def play(self, executor: Executor | None = None, *, on: str | None = None) -> AsyncGenerator[Row, None]:
        """Play what is left, and yield the row of each cell as soon as its run is over. Opens and closes the grid unless it is open.

        With `on="ray"` or `on="ray://HOST:PORT"`, a Ray cluster plays, and its runs come back to the folder.

        A loop over it may be left early: the next play waits until all that was in flight is closed.

        Raises `GridStopped` if a server is away, the disk is full or `max_usd` is spent. What was played until then is safe, and
        the same grid in the same folder continues.
        """
        playing = _Playing()
        rows = self._played(playing, executor, on)
        playing.rows = ref(rows)
        return rows

    async def _played(
        self, playing: _Playing, executor: Executor | None, on: str | None
    ) -> AsyncGenerator[Row, None]:
        if self._playing is not None:
            await self._playing.wait_until_closed()
        self._playing = playing
        try:
            async with AsyncExitStack() as stack:
                if not self._is_open:
                    if on is None:
                        self.check_code()
                    else:
                        self.check_on(on)
                    await stack.enter_async_context(self)
                rows = await stack.enter_async_context(aclosing(self._play_left(executor, on)))
                try:
                    async for row in rows:
                        yield row
                finally:
                    playing.is_closing = True
        finally:
            playing.closed.set()

    async def _play_left(self, executor: Executor | None, on: str | None) -> AsyncGenerator[Row, None]:
        for name in [name for name, row in self._rows.items() if not row.is_done]:
            del self._rows[name]  # Cells that failed are tried again.
        left = self._left()
        bundles = bundles_of(left) if self._held is None else self._held.bundles_left(left)
        if not bundles:
            return
        playing = executor or await (self._executor() if on is None else self._on_ray(on))
        try:
            async with aclosing(playing.play(_each(bundles))) as rows:
                async for row in rows:
                    if self._held is not None:
                        self._held.add(row)
                    self._rows[row.cell] = row
                    yield row
            await self._note_cut()
        except GridStopped as stopped:
            await self._note_cut()
            if stopped.why != "budget":
                raise
            raise GridStopped(
                "budget", f"The limit of ${self.max_usd:g} leaves no room for another call."
            ) from None

    async def _executor(self) -> Executor:
        """Whatever plays on this machine: this process, or several."""
        await self._models.start()
        spent = 0.0 if self.max_usd is None else await self._spent()
        if self.processes > 1 and self._held is not None:
            from glasshouse.grids.processes import Processes  # Imported here: most grids need one process.

            usd_left = None if self.max_usd is None else max(0.0, self.max_usd - spent)
            return Processes(self._terms, self._models, self.processes, self._held.lock, usd_left, self.sleep)
        purse = None if self.max_usd is None else SharedPurse(self.max_usd, spent)
        return InProcess(self._terms, self._models, purse=purse, sleep=self.sleep)

    def check_code(self) -> None:
        """Refuse a world whose own code may not run on this machine. On a cluster, each machine checks that."""
        declared = {server.name for server in self._terms.tool_servers}
        check_world_code([variant.world for variant in self._variants.values()], declared)

    def check_on(self, on: str) -> None:
        """Refuse what no cluster can play."""
        from glasshouse.grids.ray_cluster import (
            address_of,
            check_installed,
        )  # Imported here: most grids need none.

        address_of(on, os.environ)
        check_installed()
        if self.folder is None:
            raise Refused("A cluster needs a folder to send its runs to.", "Give a folder.")
        if self._models.has_objects:
            raise Refused(
                "Models that are Python objects answer in one process only.", "Name models by texts."
            )
        if self.processes > 1:
            raise Refused("A cluster has processes of its own.", "Leave processes away.")
        if self._terms.tool_servers:
            raise Refused(
                "Tools of servers answer on this machine only.", "Leave them away, or play without Ray."
            )

    async def _on_ray(self, on: str) -> Executor:
        self.check_on(on)
        from glasshouse.grids.on_ray import OnRay  # Imported here: most grids need none.

        assert self._held is not None, "a grid on Ray has a folder"
        usd_left = None if self.max_usd is None else max(0.0, self.max_usd - await self._spent())
        playing = OnRay(self._terms, self._models, on, self._held.add_lost, usd_left)
        self._cells_away = lambda: playing.cells_away
        return playing

    async def _spent(self) -> float:
        """What was recorded until now: by cells that are over, by runs that were cut off, and what was lost."""
        self._usd_of_cut = await self._recorded_by_cut()
        return math.fsum(
            usd or 0.0
            for usd in (
                *[row.usd for row in self._rows.values()],
                *self._usd_of_cut.values(),
                *[lost.usd for lost in self._lost],
            )
        )

    async def _note_cut(self) -> None:
        """Look up what runs have recorded that are not done. A store that cannot be read now leaves it unknown."""
        if not self.is_priced:
            return
        try:
            self._usd_of_cut = await self._recorded_by_cut()
        except (StoreError, OSError):
            self._usd_of_cut = {cell.name: None for cell in self._left()}

    async def _recorded_by_cut(self) -> dict[str, float | None]:
        """Cell -> what its run has recorded, of all that are not done."""
        if self._held is None:
            return {}
        recorded: dict[str, float | None] = {}
        for store, cells in self._held.stores_of(self._left()).items():
            names = {cell.run_id: cell.name for cell in cells}
            async with Terrarium(self._held.path / store) as terrarium:
                recorded |= {names[run.id]: run.usd for run in terrarium.runs() if run.id in names}
        return recorded

    def table(self) -> GridTable:
        """The rows of all cells that are over, in the order of the cells."""
        return GridTable(
            [self._rows[cell.name] for cell in self.cells if cell.name in self._rows], self.folder
        )

    def write_tables(self) -> None:
        """Write `cells.csv`, `summary.csv` and `summary.html` into the folder."""
        if self.folder is not None:
            write_tables(self.folder, self.table().rows)


def experiment(
    worlds: Sequence[str | Path | LoadedWorld] | str | Path | LoadedWorld = (),
    *,
    on: str | None = None,
    **how: Any,
) -> GridTable:
    """Play a grid to its end and return its table: a blocking call for scripts and notebooks. What it takes is as in `Grid`; `on` is
    as in `Grid.play`.

    If the grid stops because its money is spent, the table has the cells that were played.
    """

    async def table() -> GridTable:
        async with Grid(worlds, **how) as grid:
            try:
                async for _ in grid.play(on=on):
                    pass
            except GridStopped as stopped:
                if stopped.why != "budget":
                    raise
            finally:
                grid.write_tables()
            return grid.table()

    return outcome_of(table)


async def _each(bundles: Sequence[Bundle]) -> AsyncIterator[Bundle]:
    for bundle in bundles:
        yield bundle


def _by_name(given: Any, sort: type, name_of: Any) -> tuple[dict[str, Any], list[str]]:
    """Objects that a program gave by their names, and all names in order: those of texts and paths are the texts."""
    several = [*given] if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    objects: dict[str, Any] = {}
    names: list[str] = []
    for each in several:
        if not isinstance(each, str | Path) and isinstance(each, sort):
            names.append(_free_name(name_of(each), objects))
            objects[names[-1]] = each
        else:
            names.append(str(each))
    return objects, names


def _free_name(name: str, taken: Mapping[str, Any]) -> str:
    number = 2
    free = name
    while free in taken:
        free = f"{name}-{number}"
        number += 1
    return free


def _read_of_program(axes: Mapping[str, Any]) -> ReadGrid:
    """The axes that a program gave, checked like those of a file."""
    return grid_of({name: _plain(given) for name, given in axes.items() if given is not None})


def _plain(given: Any) -> Any:
    """What a program gave, as a file would have it: lists, mappings and numbers of any sort. Of what has no end, one more than
    a grid may have cells, which is refused."""
    if isinstance(given, str | bool):
        return given
    if isinstance(given, Mapping):
        return {key: _plain(each) for key, each in given.items()}
    if isinstance(given, Iterable):
        return [_plain(each) for each in islice(given, cells_max + 1)]
    return index(given) if hasattr(given, "__index__") else given


def _check_how(at_once: int, processes: int, max_usd: float | None, folder: str | Path | None) -> None:
    if isinstance(folder, str) and not folder.strip():
        raise Refused("The folder of this grid has no name.", "Name one; this folder is called '.'.")
    for name, count, most in (("at_once", at_once, at_once_max), ("processes", processes, processes_max)):
        if not 1 <= count <= most:
            raise Refused(f"{name}={count} cannot be played.", f"Give a number from 1 to {most:,}.")
    if max_usd is not None and not 0 <= max_usd < float("inf"):
        raise Refused(f"max_usd={max_usd} is no limit.", "Give dollars from 0 on.")
    if processes > 1 and folder is None:
        raise Refused("Processes need files to play in.", "Give a folder, or leave processes away.")
