"""`Executor`: plays bundles of cells. The port between a grid, which knows what is left to play, and whatever plays it.

Theory of operation. A grid puts its cells into bundles of at most `bundle_cells_max`: the runs of one store file, all with the
same entry of `models`. An executor takes bundles as it has room for them and gives back a row for each cell as soon as its run
is over. `InProcess` plays them on this event loop; `Processes` hands them to programs that each do the same. An executor on other
machines places a bundle, plays it there by `InProcess` in a folder of its own, and brings the store file and the rows home:
everything that it needs is in `Terms` and `Bundle`, which can be pickled (ADR 0141).

Always holds: only the grid writes into the journal. A cell whose row was not given back is played again, from its last recorded
act, when its bundle is played again in the same folder. An executor that cannot go on raises `GridStopped`, after it has given
back the rows of all runs that are over.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Mapping, Sequence
from itertools import chain, count, zip_longest
from pathlib import Path
from typing import Final, Literal, NamedTuple, Protocol

from glasshouse.assembly import ToolServer
from glasshouse.grids.cells import Cell
from glasshouse.grids.rows import Row
from glasshouse.grids.variants import Variant
from glasshouse.runtime.acts.act_time import act_seconds_max

bundle_cells_max: Final = 100
"""No store file of a grid holds more runs: a file that is damaged or copied costs at most this many."""
bundle_cells_min: Final = 10
"""Grids of fewer cells have one file."""
bundles_usual: Final = 32
"""Into how many bundles a smaller grid is divided, so that processes share its cells evenly."""
at_once_usual: Final = 64
"""How many runs are in flight in one process unless somebody says otherwise: twice as many as most servers have slots."""

StopReason = Literal["outage", "store", "budget"]


class Bundle(NamedTuple):
    """Cells whose runs share a store file. All have the same entry of `models`."""

    number: int
    """From 1 on, in the grid's folder."""
    cells: tuple[Cell, ...]

    @property
    def store(self) -> str:
        """The name of its file."""
        return f"runs-{self.number:04}.glasshouse"

    @property
    def models(self) -> str:
        """The entry of `models` that plays its cells."""
        return self.cells[0].models


class Terms(NamedTuple):
    """How a grid is played: what is the same for all its cells. It can be pickled."""

    variants: Mapping[tuple[str, str], Variant]
    """World and what-if -> the variant."""
    models: tuple[str, ...]
    models_folder: Path
    """What relative paths of models are seen from."""
    folder: Path | None = None
    """Where the store files are. None: everything is played in memory."""
    env_file: Path | None = None
    tool_servers: tuple[ToolServer, ...] = ()
    at_once: int = at_once_usual
    act_seconds_max: float = act_seconds_max


class Executor(Protocol):
    """Plays bundles."""

    def play(self, bundles: AsyncIterable[Bundle]) -> AsyncGenerator[Row, None]:
        """The row of each cell, as soon as its run is over. Raises `GridStopped` if it cannot go on."""


def bundles_of(cells: Iterable[Cell], numbers: Iterable[int] | None = None) -> list[Bundle]:
    """Cells in bundles, in an order in which all entries of `models` take turns, so that all servers have work."""
    by_models: defaultdict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        by_models[cell.models].append(cell)
    total = sum(map(len, by_models.values()))
    size = min(bundle_cells_max, max(bundle_cells_min, math.ceil(total / bundles_usual)))
    rows: list[list[Sequence[Cell]]] = [
        [mine[start : start + size] for start in range(0, len(mine), size)] for mine in by_models.values()
    ]
    in_turn = filter(None, chain.from_iterable(zip_longest(*rows)))
    return [Bundle(number, tuple(each)) for number, each in zip(numbers or count(1), in_turn, strict=False)]
