"""Performing a world: it is played act by act, and every line is shown when it is in the ledger.

Always holds: what is shown was committed before; the play never runs ahead of who reads it by more than one act. However a
performance is left, the ledger is whole and the run can be gone on with.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from glasshouse.assembly import SqliteStore, usual_tools
from glasshouse.cli.drawing.programme import Programme
from glasshouse.cli.drawing.screen import Screen, print_json
from glasshouse.cli.interrupting import run_to_its_end
from glasshouse.cli.naming import the_one
from glasshouse.cli.performing import farewell
from glasshouse.cli.performing.desk import Desk, Disturb
from glasshouse.cli.performing.displays import Display, JsonDisplay, PipeDisplay, TerminalDisplay
from glasshouse.cli.performing.doorkeeping import Doorkeeper
from glasshouse.cli.performing.evening import Opened, gone_on_with, side_by_side
from glasshouse.cli.performing.following import FastReader, News, PacedReader, Reader
from glasshouse.cli.performing.keys import Keys, are_ours
from glasshouse.cli.performing.pace import Pace
from glasshouse.errors import Refused, StoreBusy
from glasshouse.manifests.loading import LoadedWorld, load_world
from glasshouse.runtime.run import Run
from glasshouse.terrarium import Terrarium
from glasshouse.views.stage import past_runs

Opener = Callable[[SqliteStore, Terrarium], Awaitable[Opened]]
"""Makes or finds the run that is to be played."""


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
    opener: Opener | None = None
    """How the run comes to be, if it is neither a new one nor simply gone on with."""
    is_played: bool = True

    def with_opener(self, opener: Opener, *, is_played: bool = True) -> Wish:
        """The same wish, for a run that this opener makes or finds."""
        return replace(self, opener=opener, is_played=is_played)

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
        left = [programme for programme in begun if not programme.is_finished]
        for number, programme in enumerate(left):
            command = farewell.commands_for(programme, wish.words)[0]
            told = f"glasshouse: {command} goes on where this was stopped."
            print(f"{'' if number else chr(10)}{told}", file=sys.stderr)
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
    world = None
    if wish.continued is None:
        world = load_world(wish.world or "", tools=usual_tools().names())
    if world is None and not wish.store.exists():
        raise Refused(  # Said before a store is made for nothing.
            f"There is no store at {wish.store}.", "Play something first, or name another --store."
        )
    store, doorkeeper = SqliteStore(wish.store), Doorkeeper()
    async with Terrarium(store, approver=doorkeeper) as terrarium:
        opened = await (
            wish.opener(store, terrarium) if wish.opener else _opened(store, terrarium, wish, world)
        )
        for run in opened.runs:
            begun.append(await programme_of(terrarium, run, opened.shown_after, has_minds=wish.has_minds))
        theatre = _Theatre(wish, store, terrarium, display_for(wish), doorkeeper, opened)
        theatre.say_how_it_came_to_be()
        for number, runs in enumerate(side_by_side(opened.runs)):
            names = [run.id for run in runs]
            if number and not wish.as_json:
                theatre.display.say("")
            await theatre.show(runs, [programme for programme in begun if programme.run_id in names])


@dataclass
class _Theatre:
    """Where the runs of one command are shown, one group of them after the other."""

    wish: Wish
    store: SqliteStore
    terrarium: Terrarium
    display: Display
    doorkeeper: Doorkeeper
    opened: Opened
    is_left: bool = False
    """Whether the one who reads has had enough: what comes after is left as it is."""

    def say_how_it_came_to_be(self) -> None:
        """Say which runs these are."""
        if self.wish.as_json:
            for facts in self.opened.facts:
                print_json(facts)
        elif self.opened.said:
            self.display.say(*self.opened.said, *([""] if self.wish.is_played else []))

    async def show(self, runs: list[Run], programmes: list[Programme]) -> None:
        """Play runs that share their graphs, and say how each of them ended."""
        news = News(self.store, programmes, self.display, self.opened.shown_after)
        with ExitStack() as seats:
            reader = reader_for(self.wish, self.display, news, partial(self._disturb, news), seats)
            self.doorkeeper.seat(reader)
            if self.wish.is_played and not self.is_left:
                await self._play(runs, news, reader)
            await news.show(FastReader())
        for run, programme in zip(runs, programmes, strict=True):
            await self._say_farewell(run, programme)

    async def _play(self, runs: list[Run], news: News, reader: Reader) -> None:
        """One act, then its lines; until nothing is left to do, or the one who reads has had enough."""
        for run in runs:
            _excuse_visitors(self.terrarium, run)

        async def shown(_graph_id: str) -> bool:
            await news.show(reader)
            return not reader.is_leaving

        await self.terrarium.run(*[run.id for run in runs], turns=self.wish.turns, before_act=shown)
        await news.show(reader)
        self.is_left = reader.is_leaving
        for run in runs:
            if self.is_left and not self.terrarium.run_of(run.id).is_finished:
                await self.terrarium.finish(run.id, "stopped")

    async def _disturb(self, news: News, text: str) -> None:
        await self.terrarium.disturb(news.programme.run_id, text)

    async def _say_farewell(self, run: Run, programme: Programme) -> None:
        now = self.terrarium.run_of(run.id)
        programme.has_nothing_left = now.is_finished and (now.turns, now.calls) == (run.turns, run.calls)
        if self.opened.is_branch and self.wish.is_played:
            programme.calls_recalled = now.calls_recalled
        programme.is_one_of_several = bool(self.opened.beside)
        say_farewell(self.wish, self.display, programme, await self.terrarium.digest(run.id))


def _excuse_visitors(terrarium: Terrarium, run: Run) -> None:
    """Nobody can speak for a creature from here yet: say so, and do not wait for it."""
    for handle in terrarium.send_visitors_away(run.id):
        print(
            f"glasshouse: {handle} is played by a visitor, and passes here. From Python, speak_as() gives it lines.",
            file=sys.stderr,
        )


async def _opened(store: SqliteStore, terrarium: Terrarium, wish: Wish, world: LoadedWorld | None) -> Opened:
    """The run to play: a new one, or one that was left open."""
    if wish.continued is None and world is not None:
        position = store.position
        run = await terrarium.open_world(world, wish.seed, wish.rng_seed, run_id=wish.run_id)
        return Opened(run, position)
    run = terrarium.run_of(the_one("run", wish.continued or "last", [run.id for run in terrarium.runs()]))
    if run.is_finished:
        command = wish.words.offered("show", shlex.quote(run.id))
        raise Refused(
            f"Run {run.id} is over.", f"Look at it: {command}" if command else "Play its world anew."
        )
    return await gone_on_with(store, terrarium, run)


async def programme_of(terrarium: Terrarium, run: Run, shown_after: int, *, has_minds: bool) -> Programme:
    """What is known of a run, with what was played before taken in, without being shown."""
    events = await terrarium.run_events(run.id)
    past = past_runs(events, run.id)
    programme = Programme(run.id, has_minds=has_minds, past_run_ids=past)
    programme.parent = run.branch_of if run.branch_of in [one.id for one in terrarium.runs()] else None
    for event in events:
        if (event.position or 0) <= shown_after:
            programme.remember(event)
    programme.calls_before = max(0, run.calls - programme.stage.counters.calls) if shown_after else 0
    return programme


def reader_for(wish: Wish, display: Display, news: News, disturb: Disturb, seats: ExitStack) -> Reader:
    """Who reads along: somebody at a terminal, a slow pipe, or nobody."""
    if wish.has_keys:
        return Desk(seats.enter_context(Keys(sys.stdin.fileno())), display, news, disturb)
    return PacedReader() if wish.pace is Pace.READING else FastReader()


def say_farewell(wish: Wish, display: Display, programme: Programme, digest: str) -> None:
    """Say how it ended and what can be done with it."""
    if wish.as_json:
        print_json(farewell.as_object(programme, digest))
    else:
        display.say(*farewell.told(programme, digest, wish.words))
