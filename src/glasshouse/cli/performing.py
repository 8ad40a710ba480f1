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

from glasshouse.assembly import SqliteStore, Terrarium, usual_tools
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
from glasshouse.events.event import Json
from glasshouse.manifests.loading import LoadedWorld, load_world
from glasshouse.runtime.run import Run
from glasshouse.runtime.sitting import Sitting
from glasshouse.views.stage import past_runs


@dataclass(frozen=True)
class Opened:
    """The run to play, and what there is to say of how it came to be."""

    run: Run
    shown_after: int
    """The position after which its events are news; what came before is remembered without being shown."""
    said: tuple[str, ...] = ()
    facts: Json | None = None
    """The same for machines."""
    is_branch: bool = False
    """Whether its answers may come from a record, so that they are worth counting."""


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
    world = None
    if wish.continued is None:
        world = load_world(wish.world or "", tools=usual_tools().names())
    if world is None and not wish.store.exists():
        raise UnknownName(noun="run", name=wish.continued)  # Said before a store is made for nothing.
    store, display, doorkeeper = SqliteStore(wish.store), display_for(wish), Doorkeeper()
    async with Terrarium(store, approver=doorkeeper) as terrarium:
        opened = await (
            wish.opener(store, terrarium) if wish.opener else _opened(store, terrarium, wish, world)
        )
        run = opened.run
        programme = await programme_of(terrarium, run, opened.shown_after, has_minds=wish.has_minds)
        begun.append(programme)
        _say_how_it_came_to_be(wish, display, opened)
        news = News(store, programme, display, opened.shown_after)
        with ExitStack() as seats:
            reader = reader_for(wish, display, programme, partial(terrarium.disturb, run.id), seats)
            doorkeeper.seat(reader)
            if wish.is_played:
                _excuse_visitors(terrarium, run)
                await _play(Sitting(terrarium, run.id, wish.turns), news, reader)
            if reader.is_leaving and not terrarium.run_of(run.id).is_finished:
                await terrarium.finish(run.id, "stopped")
            await news.show(FastReader())
        now = terrarium.run_of(run.id)
        programme.has_nothing_left = now.is_finished and (now.turns, now.calls) == (run.turns, run.calls)
        if opened.is_branch and wish.is_played:
            programme.calls_recalled = now.calls_recalled
        say_farewell(wish, display, programme, await terrarium.digest(run.id))


def _say_how_it_came_to_be(wish: Wish, display: Display, opened: Opened) -> None:
    if wish.as_json and opened.facts is not None:
        print_json(opened.facts)
    elif opened.said:
        display.say(*opened.said, *([""] if wish.is_played else []))


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
        run = await terrarium.play(world, wish.seed, wish.rng_seed, run_id=wish.run_id)
        return Opened(run, position)
    run = terrarium.run_of(the_one("run", wish.continued or "last", [run.id for run in terrarium.runs()]))
    if run.is_finished:
        command = wish.words.offered("show", shlex.quote(run.id))
        raise Refused(
            f"Run {run.id} is over.", f"Look at it: {command}" if command else "Play its world anew."
        )
    return await gone_on_with(store, terrarium, run)


async def gone_on_with(store: SqliteStore, terrarium: Terrarium, run: Run) -> Opened:
    """A run that was left open, where it was left."""
    if run.status == "paused":
        await terrarium.proceed(run.id)
    return Opened(terrarium.run_of(run.id), store.position)


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
