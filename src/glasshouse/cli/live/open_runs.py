"""Opening the runs of one command: usually one; several where scenarios have met in a session that continues.

Always holds: runs that share a graph are played side by side, as its creatures hear each other; all others one after the
other, so that each can be followed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from glasshouse.assembly import SqliteStore, usual_tools
from glasshouse.cli.ids import id_meant
from glasshouse.cli.live.summary import CommandLine
from glasshouse.errors import Refused
from glasshouse.events.event import Json
from glasshouse.manifests.loading import load_world
from glasshouse.runtime.run import Run
from glasshouse.terrarium import Terrarium


@dataclass(frozen=True)
class Opened:
    """The runs to play, and what there is to say about them."""

    run: Run
    shown_after: int
    """The position after which its events are shown; what came before is only remembered."""
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


Opener = Callable[[SqliteStore, Terrarium], Awaitable[Opened]]
"""Makes or finds the runs that are to be played."""


def new_run(world: str, seed: str | None, rng_seed: int, run_id: str | None) -> Opener:
    """Opens a world. Its files are read at once, so that a store is not made for nothing."""
    loaded = load_world(world, tools=usual_tools().names())

    async def open_new(store: SqliteStore, terrarium: Terrarium) -> Opened:
        position = store.position
        return Opened(await terrarium.open_world(loaded, seed, rng_seed, run_id=run_id), position)

    return open_new


def continued_run(name: str, command_line: CommandLine) -> Opener:
    """Continues a run that was left open."""

    async def open_again(store: SqliteStore, terrarium: Terrarium) -> Opened:
        run = terrarium.run_of(id_meant("run", name, [run.id for run in terrarium.runs()]))
        if run.is_finished:
            raise Refused(f"Run {run.id} is over.", f"Look at it: {command_line.call('show', run.id)}")
        return await continue_in_place(store, terrarium, run)

    return open_again


async def continue_in_place(store: SqliteStore, terrarium: Terrarium, run: Run) -> Opened:
    """A run that was left open, together with the runs that play in its graphs."""
    beside = playing_with(terrarium, run)
    for paused in (run, *beside):
        if paused.status == "paused":
            await terrarium.continue_run(paused.id)
    others = tuple([terrarium.run_of(other.id) for other in beside])
    return Opened(terrarium.run_of(run.id), store.position, beside=others)


def side_by_side(runs: Iterable[Run]) -> list[list[Run]]:
    """Runs grouped by the graphs that they share, in the order given."""
    groups: list[list[Run]] = []
    for run in runs:
        mine = [
            group for group in groups if any(set(run.graph_ids) & set(other.graph_ids) for other in group)
        ]
        groups = [group for group in groups if group not in mine]
        groups.append([*[other for group in mine for other in group], run])
    return groups


def playing_with(terrarium: Terrarium, run: Run) -> tuple[Run, ...]:
    """The other runs that are not over and share graphs with one."""
    unfinished = [other for other in terrarium.runs() if other.id == run.id or not other.is_finished]
    (mine,) = [group for group in side_by_side(unfinished) if run.id in [other.id for other in group]]
    return tuple([other for other in mine if other.id != run.id])
