"""Watching a run that another process plays in the same store.

Always holds: a guest writes nothing but the inbox, where what is thrown in waits for whoever plays. Leaving stops nothing.
"""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

from glasshouse.cli.drawing.programme import Programme
from glasshouse.cli.interrupting import run_to_its_end
from glasshouse.cli.looking import Lookout, looked_up, lookout_on
from glasshouse.cli.naming import the_one
from glasshouse.cli.performing.following import FastReader, News, Reader
from glasshouse.cli.performing.performance import Wish, display_for, programme_of, reader_for, say_farewell
from glasshouse.cli.storing import holder_of
from glasshouse.errors import Refused

look_seconds: Final = 0.1
alone_looks_max: Final = 20
"""So often it looks whether somebody plays the store, before it gives up."""


def watch(wish: Wish) -> None:
    """Show what another process plays, until it is over or nobody plays it any more."""
    programme = run_to_its_end(lambda: _watched(wish))
    digest = looked_up(wish.store, lambda lookout: lookout.terrarium.digest(programme.run_id))
    say_farewell(wish, display_for(wish), programme, digest)


async def _watched(wish: Wish) -> Programme:
    display = display_for(wish)
    async with lookout_on(wish.store) as lookout:
        run = lookout.terrarium.run_of(_run_to_watch(lookout, wish))
        before = 0
        if run.branch_of is not None:  # Its past is remembered; what it wrote itself is shown.
            before = ((await lookout.terrarium.event(f"{run.session_id}.1")).position or 1) - 1
        programme = await programme_of(lookout.terrarium, run, before, has_minds=wish.has_minds)
        news = News(lookout.store, [programme], display, before)
        await news.show(FastReader())
        with ExitStack() as seats:
            say = partial(lookout.store.put_in_inbox, run_id=programme.run_id)
            reader = reader_for(wish, display, news, say, seats)
            await _follow(news, reader, programme, wish.store)
    if not programme.is_finished and not reader.is_leaving:
        display.say("", "Nobody plays this store any more.")
    return programme


async def _follow(news: News, reader: Reader, programme: Programme, store: Path) -> None:
    """Read on while there is somebody who writes."""
    looks_alone = 0
    while not programme.is_finished and not reader.is_leaving and looks_alone < alone_looks_max:
        is_played = holder_of(store) is not None
        count = await news.show(reader)
        looks_alone = 0 if count or is_played else looks_alone + 1
        if not count:
            await reader.linger(look_seconds)


def _run_to_watch(lookout: Lookout, wish: Wish) -> str:
    """The run named, or the newest of the world named, or the newest of all."""
    runs = lookout.runs()
    if wish.run_id is not None:
        return the_one("run", wish.run_id, [run.id for run in runs])
    wanted = [run.id for run in runs if wish.world is None or run.scenario == Path(wish.world).name]
    if not wanted:
        what = "run" if wish.world is None else f"run of {wish.world}"
        raise Refused(f"There is no {what} in {wish.store} yet.", "Play one first, then watch it.")
    return wanted[-1]
