"""Performing a world: it is played act by act, and every line is shown when it is in the ledger.

Always holds: what is shown was committed before; the play never runs ahead of who reads it by more than one act. However a
performance is left, the ledger is whole and the run can be gone on with.
"""

from __future__ import annotations

import shlex
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from glasshouse.assembly import SqliteStore, Terrarium
from glasshouse.cli import farewell
from glasshouse.cli.desk import Desk, Disturb
from glasshouse.cli.displays import Display, JsonDisplay, PipeDisplay, TerminalDisplay
from glasshouse.cli.doorkeeping import Doorkeeper
from glasshouse.cli.following import FastReader, News, PacedReader, Reader
from glasshouse.cli.interrupting import run_to_its_end
from glasshouse.cli.keys import Keys, are_ours
from glasshouse.cli.naming import the_one
from glasshouse.cli.pace import Pace
from glasshouse.cli.programme import Programme
from glasshouse.cli.screen import Screen, print_json
from glasshouse.errors import Refused, StoreBusy, UnknownName
from glasshouse.manifests.loading import LoadedWorld, load_world
from glasshouse.runtime.run import Run
from glasshouse.runtime.sitting import Sitting


@dataclass(frozen=True)
class Wish:
    """What the command line asks for."""

    world: str | None
    store: Path
    words: farewell.Words
    pace: Pace
    seed: str | None = None
    rng_seed: int = 0
    turns: int | None = None
    run_id: str | None = None
    continued: str | None = None
    has_minds: bool = False
    as_json: bool = False

    @property
    def has_keys(self) -> bool:
        """Whether somebody sits at a terminal and reads along."""
        is_read = self.pace is Pace.READING and not self.as_json and sys.stdout.isatty()
        return is_read and sys.stdin is not None and are_ours(sys.stdin.fileno())


def perform(wish: Wish) -> None:
    """Play, show, and say what to do next."""
    begun: list[Programme] = []
    try:
        run_to_its_end(lambda: _performed(wish, begun))
    except KeyboardInterrupt:
        if begun and not begun[0].is_finished:
            command = farewell.commands_for(begun[0], wish.words)[0]
            print(f"\nglasshouse: {command} goes on where this was stopped.", file=sys.stderr)
        raise
    except StoreBusy as busy:
        raise StoreBusy(f"{busy} From here: {wish.words.offered('play', '--watch')}") from busy


def display_for(wish: Wish) -> Display:
    """The form in which a show appears here."""
    if wish.as_json:
        return JsonDisplay()
    screen = Screen()
    if not screen.is_terminal:
        return PipeDisplay(has_minds=wish.has_minds)
    return TerminalDisplay(screen, has_minds=wish.has_minds, has_bar=wish.has_keys)


async def _performed(wish: Wish, begun: list[Programme]) -> None:
    world = None if wish.continued is not None else load_world(wish.world or "")
    if world is None and not wish.store.exists():
        raise UnknownName(noun="run", name=wish.continued)  # Said before a store is made for nothing.
    store, display, doorkeeper = SqliteStore(wish.store), display_for(wish), Doorkeeper()
    async with Terrarium(store, approver=doorkeeper) as terrarium:
        position = store.position
        run = await _opened(terrarium, wish, world)
        _excuse_visitors(terrarium, run)
        programme = Programme(run.id, has_minds=wish.has_minds)
        begun.append(programme)
        if wish.continued is not None:
            position = await _remember(terrarium, store, programme)
        news = News(store, programme, display, position)
        with ExitStack() as seats:
            reader = reader_for(wish, display, programme, partial(terrarium.disturb, run.id), seats)
            doorkeeper.seat(reader)
            await _play(Sitting(terrarium, run.id, wish.turns), news, reader)
            if reader.is_leaving and not terrarium.run_of(run.id).is_finished:
                await terrarium.finish(run.id, "stopped")
            await news.show(FastReader())
        say_farewell(wish, display, programme, await terrarium.digest(run.id))


def _excuse_visitors(terrarium: Terrarium, run: Run) -> None:
    """Nobody can speak for a creature from here yet: say so, and do not wait for it."""
    for handle in terrarium.send_visitors_away(run.id):
        print(
            f"glasshouse: {handle} is played by a visitor, and passes here. From Python, speak_as() gives it lines.",
            file=sys.stderr,
        )


async def _opened(terrarium: Terrarium, wish: Wish, world: LoadedWorld | None) -> Run:
    """The run to play: a new one, or one that was left open."""
    if wish.continued is None and world is not None:
        return await terrarium.play(world, wish.seed, wish.rng_seed, run_id=wish.run_id)
    run = terrarium.run_of(the_one("run", wish.continued or "last", [run.id for run in terrarium.runs()]))
    if run.is_finished:
        command = wish.words.offered("show", shlex.quote(run.id))
        raise Refused(
            f"Run {run.id} is over.", f"Look at it: {command}" if command else "Play its world anew."
        )
    if run.status == "paused":
        await terrarium.proceed(run.id)
    return terrarium.run_of(run.id)


async def _remember(terrarium: Terrarium, store: SqliteStore, programme: Programme) -> int:
    """Take in what was played before, without showing it; the position it reaches to."""
    position = store.position
    for event in await terrarium.run_events(programme.run_id):
        if programme.concerns(event):
            programme.apply(event)
    return position


async def _play(sitting: Sitting, news: News, reader: Reader) -> None:
    """One act, then its lines; until nothing is left to do, or the one who reads has had enough."""
    await news.show(reader)
    while not reader.is_leaving and await sitting.play_act():
        await news.show(reader)


def reader_for(
    wish: Wish, display: Display, programme: Programme, disturb: Disturb, seats: ExitStack
) -> Reader:
    """Who reads along: somebody at a terminal, a slow pipe, or nobody."""
    if wish.has_keys:
        return Desk(seats.enter_context(Keys(sys.stdin.fileno())), display, programme, disturb)
    return PacedReader() if wish.pace is Pace.READING else FastReader()


def say_farewell(wish: Wish, display: Display, programme: Programme, digest: str) -> None:
    """Say how it ended and what can be done with it."""
    if wish.as_json:
        print_json(farewell.as_object(programme, digest))
    else:
        display.say(*farewell.told(programme, digest, wish.words))
