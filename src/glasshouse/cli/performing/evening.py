"""Which runs are played in one go: usually one; several where scenarios have met in a session that goes on.

Always holds: runs that share a graph are played side by side, as its creatures hear each other; all others one after the
other, so that each can be followed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from glasshouse.assembly import SqliteStore
from glasshouse.events.event import Json
from glasshouse.runtime.run import Run
from glasshouse.terrarium import Terrarium


@dataclass(frozen=True)
class Opened:
    """The runs to play, and what there is to say of how they came to be."""

    run: Run
    shown_after: int
    """The position after which its events are news; what came before is remembered without being shown."""
    said: tuple[str, ...] = ()
    facts: tuple[Json, ...] = ()
    """The same for machines."""
    is_branch: bool = False
    """Whether its answers may come from a record, so that they are worth counting."""
    beside: tuple[Run, ...] = ()
    """The other runs that are played with it."""

    @property
    def runs(self) -> tuple[Run, ...]:
        """All of them."""
        return (self.run, *self.beside)


def side_by_side(runs: Iterable[Run]) -> list[list[Run]]:
    """Runs that share a graph together, in the order given."""
    found: list[list[Run]] = []
    for run in runs:
        mine = [group for group in found if any(set(run.graph_ids) & set(one.graph_ids) for one in group)]
        found = [group for group in found if group not in mine]
        found.append([*[one for group in mine for one in group], run])
    return found


def playing_with(terrarium: Terrarium, run: Run) -> tuple[Run, ...]:
    """The other runs that are not over and share graphs with one."""
    left = [one for one in terrarium.runs() if one.id == run.id or not one.is_finished]
    (mine,) = [group for group in side_by_side(left) if run.id in [one.id for one in group]]
    return tuple([one for one in mine if one.id != run.id])


async def gone_on_with(store: SqliteStore, terrarium: Terrarium, run: Run) -> Opened:
    """A run that was left open, where it was left; with whoever plays in its graphs."""
    beside = playing_with(terrarium, run)
    for one in (run, *beside):
        if one.status == "paused":
            await terrarium.continue_run(one.id)
    others = tuple([terrarium.run_of(one.id) for one in beside])
    return Opened(terrarium.run_of(run.id), store.position, beside=others)
