"""Watching a run that another process plays in the same store.

Always holds: a guest writes nothing but the inbox, where its lines wait for whoever plays. Leaving stops nothing.
"""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

from glasshouse.cli.drawing.run_view import RunView
from glasshouse.cli.ids import id_meant
from glasshouse.cli.interrupts import run_until_interrupted
from glasshouse.cli.live.feed import Feed, Reader, SilentReader
from glasshouse.cli.live.live import LiveRequest, view_of
from glasshouse.cli.live.pace import Pace
from glasshouse.cli.live.summary import Summary
from glasshouse.cli.store_file import holder_of
from glasshouse.cli.store_reader import StoreReader, open_reader, read_store
from glasshouse.errors import Refused

look_seconds: Final = 0.1
unplayed_looks_max: Final = 20
"""After so many looks at a store that nobody plays, it gives up."""


def watch_live(request: LiveRequest, world: str | None, run_id: str | None) -> None:
    """Show what another process plays, until it is over or nobody plays it any more."""
    view, parent = run_until_interrupted(lambda: _watch(request, world, run_id))
    digest = read_store(request.store, lambda store: store.terrarium.digest(view.run_id))
    request.show_summary(request.display(), Summary(view, digest, parent))


async def _watch(request: LiveRequest, world: str | None, run_id: str | None) -> tuple[RunView, str | None]:
    display = request.display()
    async with open_reader(request.store) as store:
        run = store.terrarium.run_of(_run_to_watch(store, request, world, run_id))
        before = 0
        if run.branch_of is not None:  # Its past is remembered; what it wrote itself is shown.
            before = ((await store.terrarium.event(f"{run.session_id}.1")).position or 1) - 1
        view = await view_of(store.terrarium, run, before, has_minds=request.has_minds)
        feed = Feed(store.store, [view], display, before)
        await feed.show(SilentReader(Pace.FAST))
        with ExitStack() as stack:
            disturb = partial(store.store.put_in_inbox, run_id=view.run_id)
            reader = request.reader(display, feed, disturb, stack)
            await _follow(feed, reader, view, request.store)
        known = [other.id for other in store.terrarium.runs()]
    if not view.is_finished and not reader.is_leaving:
        display.say("", "Nobody plays this store any more.")
    return view, run.branch_of if run.branch_of in known else None


async def _follow(feed: Feed, reader: Reader, view: RunView, store: Path) -> None:
    """Show what comes, as long as a process plays."""
    unplayed_looks = 0
    while not view.is_finished and not reader.is_leaving and unplayed_looks < unplayed_looks_max:
        is_played = holder_of(store) is not None
        count = await feed.show(reader)
        unplayed_looks = 0 if count or is_played else unplayed_looks + 1
        if not count:
            await reader.wait(look_seconds)


def _run_to_watch(store: StoreReader, request: LiveRequest, world: str | None, run_id: str | None) -> str:
    """The run named, or the newest of the world named, or the newest of all."""
    if run_id is not None:
        return id_meant("run", run_id, [run.id for run in store.terrarium.runs()])
    wanted = [run.id for run in store.terrarium.runs() if world is None or run.scenario == Path(world).name]
    if not wanted:
        what = "run" if world is None else f"run of {world}"
        raise Refused(f"There is no {what} in {request.store} yet.", "Play one first, then watch it.")
    return wanted[-1]
