"""Playing live: a world is played act by act, and every line is shown after its commit. Watching shows what another
process plays in the same store.

Always holds: only committed lines are shown. The play is never more than one act ahead of its reader, or the acts of one
tick that think together. The key `q` ends the run; after any other interruption the ledger is complete and the run can
be continued. A watcher writes only to the inbox, from which the playing process reads its lines. A watcher that leaves
stops nothing.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from glasshouse.assembly import NamedModels
from glasshouse.cli.command_line import CommandLine, checked_settings, store_path
from glasshouse.cli.conversion_bar import store_to_write
from glasshouse.cli.drawing.run_view import HINT, RunView, thinking_in_words
from glasshouse.cli.drawing.screen import print_json
from glasshouse.cli.exits import LeftPaused
from glasshouse.cli.interrupts import run_until_interrupted
from glasshouse.cli.live.controls import PLAYING, WATCHING, Controls, Disturb, Keys, are_ours
from glasshouse.cli.live.feed import Display, Feed, JsonDisplay, Reader, ScreenDisplay
from glasshouse.cli.live.open_runs import Opened, Opener, new_run, side_by_side
from glasshouse.cli.live.start import Start, models_at_start, start_of_rest, start_of_world
from glasshouse.cli.live.summary import Summary
from glasshouse.cli.model_choice import PLAY_OFFLINE, AnyModels, ModelChoice, agrees, is_asked
from glasshouse.cli.pace import Pace, pace_here
from glasshouse.cli.prose import say
from glasshouse.cli.store_reader import (
    StoreReader,
    open_reader,
    read_store,
)
from glasshouse.cli.tool_servers import servers_here
from glasshouse.errors import ModelMisconfigured, ModelUnreachable, Refused, StoreBusy
from glasshouse.events.event import VISITOR
from glasshouse.events.payloads import RunPaused, with_limits
from glasshouse.events.redaction import Role
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.runtime.conducting.order import Waiting
from glasshouse.runtime.run import Run, Thinking
from glasshouse.terrarium import Terrarium
from glasshouse.views.stage import past_runs

look_seconds_max: Final = 0.5
"""How long a watcher waits for a new event before it looks whether the store is still played."""
thinking_look_seconds: Final = 0.5
thinking_seconds_min: Final = 1.5
"""Who thinks is shown from this time on."""
slow_said_seconds: Final = 30.0
"""In a pipe, who thinks is said after this time, and again after as much more: a log should not fill with it."""
unplayed_looks_max: Final = 4
"""Watching ends after this many reads of a store that no process plays."""


def said_in_a_pipe(thinking: Sequence[Thinking], slow_said: float) -> tuple[str, float]:
    """Who takes long, in words, where no bar says it; empty if it was said lately. And how many seconds of thinking it was
    said for, which is less when somebody else thinks."""
    longest = max((creature.seconds for creature in thinking), default=0.0)
    if longest < slow_said + slow_said_seconds:
        return "", min(slow_said, longest)
    return thinking_in_words(thinking), longest


class LiveRequest:
    """What the options of a command ask for, whatever is played."""

    def __init__(
        self,
        store: str | None,
        pace: Pace | None,
        *,
        turns: int | None,
        has_minds: bool,
        as_json: bool,
        is_strict: bool = False,
        role: Role | None = None,
        models: ModelChoice | None = None,
        tools: Path | None = None,
    ) -> None:
        """Without a role, a screen shows thoughts if it has minds, and machines read what the audience may."""
        self.store = store_path(store)
        self.command_line = CommandLine.on(self.store)
        self.pace = pace or (Pace.FAST if as_json else pace_here(None))
        self.turns = turns
        self.as_json = as_json
        self.is_strict = is_strict
        self.has_minds = has_minds or role in ("audience", "director")
        self.role: Role = role or ("audience" if as_json or has_minds else "spectator")
        self.models = models or ModelChoice()
        self.tool_servers = servers_here(tools)
        self.player_role: Role = role or "director"
        """Who plays reads why an act failed. Who watches reads what the role may."""
        self.seconds_rehearsed: float | None = None
        """How long the play is read, if it was rehearsed."""

    @property
    def has_keys(self) -> bool:
        """Whether somebody sits at a terminal and reads along."""
        is_read = self.pace is Pace.READING and not self.as_json and sys.stdout.isatty()
        return is_read and sys.stdin is not None and are_ours(sys.stdin.fileno())

    def display(self) -> Display:
        """Where the run appears."""
        if self.as_json:
            return JsonDisplay(self.role)
        return ScreenDisplay(has_minds=self.has_minds, has_bar=self.has_keys)

    def reader(
        self, display: Display, feed: Feed, disturb: Disturb, stack: ExitStack, hints: tuple[str, str]
    ) -> Reader:
        """Who reads along: somebody at a terminal, or nobody with a keyboard."""
        if self.has_keys:
            keys = stack.enter_context(Keys(sys.stdin.fileno()))
            controls = Controls(keys, display, feed, disturb, self.turns, hints)
            controls.seconds_rehearsed = self.seconds_rehearsed
            return controls
        return Reader(self.pace)

    def show_summary(self, display: Display, summary: Summary) -> None:
        """Say how a run ended and what can be done with it."""
        if self.as_json:
            print_json(summary.facts())
        else:
            display.say(*summary.lines(self.command_line))


def play_new(
    request: LiveRequest,
    world: LoadedWorld,
    seed: str | None,
    rng_seed: int,
    run_id: str | None,
    limits: Mapping[str, float],
) -> None:
    """Play a world from its beginning, with these limits in place of its own."""
    own = world.scenario.limits
    governor = with_limits(own, limits) if limits else None
    start = start_of_world(world, seed, rng_seed, request.turns, governor)
    _play_live(request, new_run(world, seed, rng_seed, run_id, governor), start)


def play_on(
    request: LiveRequest,
    opener: Opener,
    name: str,
    *,
    is_played: bool = True,
    limits: Mapping[str, float] | None = None,
) -> None:
    """Continue a run or a session, in place or in a child, which may have these limits in place of its own."""
    if not request.store.exists():
        reason = f"There is no store at {request.store}."  # Said before a store is created.
        raise Refused(reason, "Play something first, or name another --store.")
    start = start_of_rest(request.store, name, request.turns, limits or {})
    _play_live(request, opener, start, is_played=is_played)


def _play_live(request: LiveRequest, opener: Opener, start: Start, *, is_played: bool = True) -> None:
    """Play, show, and say what to do next."""
    views: list[RunView] = []
    try:
        run_until_interrupted(lambda: _play(request, opener, start, views, is_played=is_played))
    except (ModelUnreachable, ModelMisconfigured) as away:  # Nothing was played: later, a run would pause.
        if request.as_json or not is_asked():
            raise Refused(str(away), PLAY_OFFLINE) from away
        print(f"glasshouse: {away}", file=sys.stderr)
        if not agrees("Play offline?"):
            raise Refused("Nothing was played.") from away
        request.models = request.models.offline()
        _play_live(request, opener, start, is_played=is_played)
    except KeyboardInterrupt:
        unfinished = [view.run_id for view in views if not view.is_finished]
        commands = [request.command_line.call("play", "--continue", run_id) for run_id in unfinished]
        if commands:
            say("", "glasshouse: To continue:", *commands, file=sys.stderr)
        raise
    except StoreBusy as busy:
        raise StoreBusy(f"{busy} From here: {request.command_line.call('play', '--watch')}") from busy


async def _play(
    request: LiveRequest, opener: Opener, start: Start, views: list[RunView], *, is_played: bool
) -> None:
    store = store_to_write(request.store)
    seconds_max = checked_settings().act_seconds_max
    start.servers.say(request.tool_servers, as_json=request.as_json)
    models = await models_at_start(request.models, start, request.command_line, as_json=request.as_json)
    expectation = start.expectation(models)
    if expectation and not request.as_json:
        say(f"glasshouse: {expectation}", file=sys.stderr)
    if request.has_keys and not isinstance(
        models, NamedModels
    ):  # The offline troupe plays, and somebody reads along.
        request.seconds_rehearsed = start.rehearsed_seconds(request.has_minds)
    async with Terrarium(
        store,
        models=models,
        tool_servers=request.tool_servers,
        act_seconds_max=seconds_max,
        strict=request.is_strict,
    ) as terrarium:
        source = StoreReader(request.store, store, terrarium)
        display = request.display()
        opened = await opener(source)
        for run in opened.runs:
            views.append(await view_of(request, terrarium, run, opened.shown_after, request.player_role))
        if request.as_json:
            print_json(*opened.facts)
        elif opened.said:
            display.say(*opened.said, *([""] if is_played else []))
        play = _LivePlay(request, source, opened, display, models, is_played)
        for index, runs in enumerate(side_by_side(opened.runs)):
            run_ids = [run.id for run in runs]
            if index and not request.as_json:
                display.say("")
            await play.show(runs, [view for view in views if view.run_id in run_ids])
        if is_played and not request.has_keys:
            _check_is_not_left_paused(request, [terrarium.run_of(run.id) for run in opened.runs])


def _check_is_not_left_paused(request: LiveRequest, runs: list[Run]) -> None:
    """Say which runs a model or a limit has paused, and how to continue them."""
    lines = []
    for run in runs:
        paused = run.paused
        if paused is not None and (paused.is_outage or paused.axis is not None):
            words = ("play", "--continue", run.id) if can_continue(paused) else ("branch", run.id, "--help")
            lines.append(f"{run.id} is paused. {paused.reason} {request.command_line.call(*words)}")
    if lines:
        raise LeftPaused("\nglasshouse: ".join(lines))


@dataclass
class _LivePlay:
    """The runs of one command, one group that shares graphs after the other."""

    request: LiveRequest
    source: StoreReader
    opened: Opened
    display: Display
    models: AnyModels
    is_played: bool
    is_left: bool = False
    """Whether the reader has left: later groups are not played any more."""
    waiting: tuple[Waiting, ...] = ()
    """Who waits for an agent in the group that was played last."""

    async def show(self, runs: list[Run], views: list[RunView]) -> None:
        """Play runs that share their graphs, and say how each of them ended."""
        terrarium = self.source.terrarium
        feed = Feed(self.source.store, views, self.display, self.opened.shown_after)

        async def disturb(text: str) -> None:
            await terrarium.disturb(feed.view.run_id, text)

        with ExitStack() as stack:
            reader = self.request.reader(self.display, feed, disturb, stack, PLAYING)
            # Without a terminal there is no approver, so no change waits for an answer.
            terrarium.approver = reader.decide if isinstance(reader, Controls) else None
            if self.is_played and not self.is_left:
                await self._play(runs, feed, reader)
            await feed.show(Reader(Pace.FAST))
        for run, view in zip(runs, views, strict=True):
            now = terrarium.run_of(run.id)
            summary = Summary(
                view,
                await terrarium.digest(run.id),
                parent=self.source.parent_of(run),
                calls_recalled=now.calls_recalled if self.opened.is_branch and self.is_played else None,
                is_one_of_several=len(self.opened.runs) > 1,
                waiting=tuple([each for each in self.waiting if each.run_id == run.id]),
                had_nothing_left=now.is_finished and (now.turns, now.calls) == (run.turns, run.calls),
            )
            self.request.show_summary(self.display, summary)

    async def _play(self, runs: list[Run], feed: Feed, reader: Reader) -> None:
        """One act, then its lines; until nothing is left to do, or the reader leaves."""
        terrarium = self.source.terrarium
        for handle in [handle for run in runs for handle in terrarium.send_visitors_away(run.id)]:
            line = f"glasshouse: {handle} is played by a visitor, and passes here."
            say(f"{line} From Python, speak_as() gives it lines.", file=sys.stderr)

        shows_one_at_a_time = asyncio.Lock()  # Graphs that play freely come here at the same time.
        remarks = set[str]()

        async def show_then_act(_graph_id: str) -> bool:
            async with shows_one_at_a_time:
                await feed.show(reader)
            for remark in self.models.remarks():
                if remark not in remarks:
                    print(f"glasshouse: {remark}", file=sys.stderr)
                    remarks.add(remark)
            return not reader.is_leaving

        run_ids = [run.id for run in runs]
        is_continued = True
        while is_continued:
            watching = asyncio.create_task(self._show_who_thinks(run_ids, feed))
            try:
                conducted = await terrarium.run(*run_ids, turns=self.request.turns, before_act=show_then_act)
            finally:
                watching.cancel()
            self.waiting = conducted.waiting
            await feed.show(reader)
            is_continued = not reader.is_leaving and await self._is_continued(run_ids, reader)
        self.is_left = self.is_left or reader.is_leaving
        for run in runs:
            if reader.is_leaving and not terrarium.run_of(run.id).is_finished:
                await terrarium.finish(run.id, "stopped")

    async def _show_who_thinks(self, run_ids: list[str], feed: Feed) -> None:
        """While a model takes its time, say in the bar who thinks; in a pipe, say it now and then."""
        is_shown = False
        slow_said = 0.0
        while True:
            await asyncio.sleep(thinking_look_seconds)
            thinking = [
                creature
                for creature in self.source.terrarium.thinking()
                if creature.run_id in run_ids and creature.seconds >= thinking_seconds_min
            ]
            if thinking or is_shown:
                self.display.rest(feed.view, thinking_in_words(thinking) or HINT)
            is_shown = bool(thinking)
            words, slow_said = said_in_a_pipe(thinking, slow_said)
            if words and not self.request.has_keys:
                say(f"glasshouse: {words}", file=sys.stderr)

    async def _is_continued(self, run_ids: list[str], reader: Reader) -> bool:
        """Ask somebody at the keyboard what to do with runs that a model or a limit has paused. False if none continues."""
        terrarium = self.source.terrarium
        is_continued = False
        for run_id in run_ids:
            paused = terrarium.run_of(run_id).paused
            if paused is None or not isinstance(reader, Controls) or not can_continue(paused):
                continue
            choice = await reader.choose(paused)
            if choice == "leave":
                self.is_left = True
                return False
            offline = choice == "offline"
            await terrarium.continue_run(run_id, offline=offline, by=VISITOR if offline else "")
            is_continued = True
        return is_continued


def can_continue(paused: RunPaused) -> bool:
    """Whether a paused run may continue as it is: a limit that never frees needs a branch instead."""
    return paused.is_outage or paused.frees_at is not None


async def view_of(
    request: LiveRequest, terrarium: Terrarium, run: Run, shown_after: int, role: Role
) -> RunView:
    """A view of a run that has taken in what was played before, without showing it."""
    events = await terrarium.run_events(run.id)
    past = past_runs(events, run.id)
    view = RunView(run.id, role, has_minds=request.has_minds, past_run_ids=past)
    for event in events:
        if (event.position or 0) <= shown_after:
            view.remember(event)
    spent = view.stage.counters
    view.calls_before = max(0, run.calls - spent.calls) if shown_after else 0
    view.usd_before = max(0.0, (run.usd or 0.0) - (spent.usd or 0.0)) if shown_after else 0.0
    return view


def watch_live(request: LiveRequest, world: str | None, run_id: str | None) -> None:
    """Show what another process plays, until it is over or nobody plays it any more."""
    view, parent = run_until_interrupted(lambda: _watch(request, world, run_id))
    digest = read_store(request.store, lambda store: store.terrarium.digest(view.run_id))
    request.show_summary(request.display(), Summary(view, digest, parent))


async def _watch(request: LiveRequest, world: str | None, run_id: str | None) -> tuple[RunView, str | None]:
    display = request.display()
    async with open_reader(request.store) as source:
        run = _run_to_watch(source, request, world, run_id)
        before = 0
        if run.branch_of is not None:  # Its past is remembered; what it wrote itself is shown.
            before = ((await source.terrarium.event(f"{run.session_id}.1")).position or 1) - 1
        view = await view_of(request, source.terrarium, run, before, request.role)
        feed = Feed(source.store, [view], display, before)
        await feed.show(Reader(Pace.FAST))
        with ExitStack() as stack:
            disturb = partial(source.store.put_line, run_id=view.run_id)
            reader = request.reader(display, feed, disturb, stack, WATCHING)
            unplayed_looks = 0
            while not view.is_finished and not reader.is_leaving and unplayed_looks < unplayed_looks_max:
                is_played = await request.store.holder() is not None
                count = await feed.show(reader)
                unplayed_looks = 0 if count or is_played else unplayed_looks + 1
                if not count:
                    more = source.store.wait_beyond(feed.position, look_seconds_max)
                    await reader.wait_for(more, look_seconds_max)
        parent = source.parent_of(run)
    if not view.is_finished and not reader.is_leaving:
        display.say("", "Nobody plays this store any more.")
    return view, parent


def _run_to_watch(source: StoreReader, request: LiveRequest, world: str | None, run_id: str | None) -> Run:
    """The run named, or the newest of the world named, or the newest of all."""
    if run_id is not None:
        return source.run(run_id)
    runs = [run for run in source.terrarium.runs() if world is None or run.scenario == Path(world).name]
    if not runs:
        what = "run" if world is None else f"run of {world}"
        raise Refused(f"There is no {what} in {request.store} yet.", "Play one first, then watch it.")
    return runs[-1]
