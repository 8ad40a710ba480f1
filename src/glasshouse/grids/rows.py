"""`Row`: one line of a grid's table: what went into a cell and what came of it. Pure.

Always holds: a row says nothing that its run does not: it can be made again from the store at any time. A cost that nobody knows
is empty in memory and `unknown` in a file, never 0.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from glasshouse.grids.cells import Cell
from glasshouse.reprs import repr_of
from glasshouse.runtime.run import Run

UNKNOWN: Final = "unknown"


class Row(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A cell that was played, or that failed."""

    __repr__ = repr_of("cell", "world", "what_if", "models", "rng_seed", "winner", "reason", "error")

    cell: str
    """The name of the cell."""
    world: str
    what_if: str
    models: str
    rng_seed: int
    repeat: int
    seed: str = ""
    """What the world grew from."""
    winner: str | None = None
    reason: str = ""
    """Why the run ended. Empty: it failed."""
    turns: int = 0
    calls: int = 0
    tokens: int = 0
    usd: float | None = None
    """None: unknown."""
    digest: str = ""
    store: str = ""
    """The file of the grid's folder that holds the run. Empty: it was played in memory."""
    run: str = ""
    begun_again: int = 0
    """How often it was begun anew from nothing, because the machine or the process that played it was lost."""
    error: str = ""
    """Why it failed. Empty: it was played to its end."""

    @property
    def is_done(self) -> bool:
        """Whether its run was played to its end."""
        return not self.error


def row_of(cell: Cell, run: Run, digest: str, store: str) -> Row:
    """The row of a cell whose run is over."""
    return Row(
        **_inputs(cell),
        seed=run.seed,
        winner=run.winner,
        reason=run.reason or "",
        turns=run.turns,
        calls=run.calls,
        tokens=run.tokens,
        usd=run.usd,
        digest=digest,
        store=store,
        run=run.id,
    )


def failed_row(cell: Cell, error: str, store: str) -> Row:
    """The row of a cell that could not be played to its end."""
    return Row(**_inputs(cell), store=store, run=cell.run_id, error=error)


def _inputs(cell: Cell) -> dict[str, Any]:
    return {"cell": cell.name, **{name: getattr(cell, name) for name in Cell._fields[1:]}}
