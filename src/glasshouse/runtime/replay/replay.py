"""Replay: drives a run again from its record, in the same house, and compares the result with the record (ADR 0048).

Theory of operation. The house is folded as it was before the first event of the run. An overlay store keeps the new
events in memory. Then the replay goes through the recorded changes in order. Changes in graphs of other runs are
adopted. Requests from outside are made again. A world is opened again from its recorded scenario. The conductor must
produce everything else itself, when it takes the next step in the graph of the change. The house has the same id, so
all ids are the same.

An act does not see what is written while it thinks. The request of a change names the acts that had begun when the
change was made. The replay lets these acts begin before it makes the change again.

If the next recorded change is not written, the replay has diverged. It stops, and the comparison shows the difference.

Always holds: no model is called, and nothing is written to the store that holds the record.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import accumulate, zip_longest
from typing import Final

from msgspec.structs import replace

from glasshouse.errors import Refused
from glasshouse.events import kinds, payloads
from glasshouse.events.digest import Digest
from glasshouse.events.event import RESERVED_ACTORS, VISITOR, Event
from glasshouse.events.payloads import payload_of
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.opening import opening_of
from glasshouse.manifests.scenario import Scenario
from glasshouse.reprs import repr_of
from glasshouse.runtime.clock import SeededIds
from glasshouse.runtime.conducting.order import Recorded, Until
from glasshouse.runtime.house import House
from glasshouse.runtime.ledger.ledger import folded_from
from glasshouse.runtime.parts import Parts
from glasshouse.runtime.ports import Toolbox
from glasshouse.runtime.replay.cassette import Act, Cassette, NoModel, RecordedAgent, act_of, draft_of
from glasshouse.runtime.replay.overlay import OverlayStore
from glasshouse.runtime.replay.record import RecordedChange, RunRecord, record_of
from glasshouse.turns.runs.purses import tripped_by_turn
from glasshouse.turns.runs.schedule import Due, due_of, runs_acting
from glasshouse.world.decisions.intents import AddCreature, Inject, Member, MoveRun, OpenRun, Say
from glasshouse.world.decisions.requests import ContinueRun, FinishRun, PauseRun, Requested, with_manifest
from glasshouse.world.state.state import GraphState

prompt_changes_max: Final = 8
standstill_seconds_max: Final = 30.0
"""If nothing is written and no task ends for this long, the replay has diverged from its record."""


@dataclass(frozen=True)
class Verification:
    """The result of replaying a run."""

    recorded_digest: str
    replayed_digest: str
    events: int
    recorded_event: Event | None = None
    """The first recorded event that differs. None if nothing differs, or if the replay only wrote more."""
    replayed_event: Event | None = None
    prompt_diffs: tuple[str, ...] = ()
    """The prompts that differ from the recorded ones, each as a unified diff."""
    taken: int = 0
    """How many of the events are the past of a branch or a resumed run. They are not replayed."""
    grows_from: str | None = None
    """The run of this store that this past belongs to."""

    __repr__ = repr_of("is_same", "events", "recorded_event", "replayed_event")

    @property
    def is_same(self) -> bool:
        """Whether record and replay have the same digest."""
        return self.recorded_digest == self.replayed_digest


async def verified(house: House, tools: Toolbox, run_id: str) -> Verification:
    """Replay a run of this house and compare it with its record."""
    return await compared(house, tools, await record_of(house, run_id))


async def compared(house: House, tools: Toolbox, record: RunRecord) -> Verification:
    """Replay a record in the house that it was made in, and compare."""
    replay = await _Replay.of(house, tools, record)
    replayed, skews = await replay.play()
    then, now = _digests(record.story, record.skews), _digests(replayed, skews)
    rows = zip_longest(record.story, replayed, then, now)
    differing = next(((event, again) for event, again, old, new in rows if old != new), (None, None))
    changes = replay.cassette.changes[:prompt_changes_max]
    return Verification(
        recorded_digest=then[-1] if then else "",
        replayed_digest=now[-1] if now else "",
        events=len(record.story),
        recorded_event=differing[0],
        replayed_event=differing[1],
        prompt_diffs=tuple([await change.diff(house.store) for change in changes]),
        taken=record.taken,
        grows_from=record.grows_from,
    )


def _digests(events: Sequence[Event], skews: Mapping[str, int]) -> list[str]:
    digest, texts = Digest(skews), []
    for event in events:
        digest.take_in(event)
        texts.append(digest.text())
    return texts


class _Replay:
    """One replay of one record. It is also the clock of its house."""

    def __init__(self, record: RunRecord, cassette: Cassette, store: OverlayStore, tools: Toolbox) -> None:
        self.cassette = cassette
        self._record = record
        self._store = store
        ends = accumulate([len(change.events) for change in record.changes], initial=record.starts_after)
        self._change_after = dict(zip(ends, record.changes, strict=False))
        """The recorded changes by the position before their first event."""
        self._times = [event.created_at for event in record.events]
        self._seen_at = {event.id: event.position or 0 for event in record.events}
        self._parts = parts = Parts(
            store,
            self,
            SeededIds(0),
            NoModel(),
            lambda _manifest: RecordedAgent(cassette),
            tools=tools,
            answers=cassette,
        )
        self._ledger = parts.house.ledger
        self._conductor = parts.conductor
        self._driver = ""
        """The writer of the change that the conductor's loop drives now. Acts that ran at the same time have tasks."""
        self._chosen: set[Act] = set()
        """Acts that were chosen before a change from outside, but looked at the world after it."""
        self._main: asyncio.Task[object] | None = None
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._tried: set[tuple[int, str]] = set()
        self._asking: asyncio.Task[object] | None = None
        """The task that is making the next change which needs no conductor."""
        self._news = asyncio.Event()
        self._looked_at = -1
        self._is_lost = False
        cassette.world = lambda: self._ledger.world
        cassette.wait_for_turn_of = self._wait_for_turn_of

    @classmethod
    async def of(cls, house: House, tools: Toolbox, record: RunRecord) -> _Replay:
        """A replay of this record."""
        before = await folded_from(house.store, record.starts_after)
        under_way = dict(before.agenda.under_way)
        for change in record.changes:
            if change.restates_a_past:  # Such a change carries over the acts that were under way in its past.
                under_way |= (await folded_from(house.store, change.events[-1].position)).agenda.under_way
        begun = {
            name: ((name, act.cause), [await house.history.event(event_id) for event_id in act.events])
            for name, act in under_way.items()
        }
        cassette = Cassette([*record.events, *record.later], begun)
        store = OverlayStore(house.store, record.starts_after, before.world.sessions)
        return cls(record, cassette, store, tools)

    async def play(self) -> tuple[list[Event], Mapping[str, int]]:
        """The events of the replayed run, in the order of its story, and the skews of its sessions for the digest."""
        house, run_id = self._parts.house, self._record.run_id
        self._main = asyncio.current_task()
        await house.open()
        try:
            until = Until(lambda: self._ledger.world)
            await self._conductor.conduct(Recorded(self._next_graph), until)
            if run_id not in self._ledger.world.runs:
                return [], {}
            end = self._record.starts_after + len(self._record.events)
            story = await house.history.events_of_run(run_id)
            return [event for event in story if (event.position or 0) <= end], self._parts.archive.skews()
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)
            await house.close(self._parts.stage.stop_acts)

    def now(self) -> datetime:
        """The recorded time of the next event."""
        index = min(self._store.position - self._record.starts_after, len(self._times) - 1)
        return self._times[index] if self._times else datetime.min.replace(tzinfo=UTC)

    async def sleep(self, seconds: float) -> None:
        """Do not wait: the time changes only when events are written."""

    # What is next

    async def _next_graph(self) -> str | None:
        """The graph in which the conductor's loop takes its next step; None at the end."""
        while (change := await self._next_to_drive()) is not None:
            who = self._who_wrote(change)
            if who in self._tasks:
                await self._wait_for_news()
            elif not self._may_try(who):
                return None  # The last step wrote nothing: the replay has diverged from the record.
            else:
                self._driver = who
                self._news.set()
                if not await self._is_written(change):
                    return self._graph_of(change)
        return None

    async def _wait_for_turn_of(self, who: str) -> None:
        """Wait until the next recorded change was written by `who`: a creature, graph or run.

        Changes that come before it are made first: requests from outside, and acts that ran at the same time.
        """
        if self._asking is asyncio.current_task():
            return  # This task is making the next change itself.
        while (change := await self._next_to_drive()) is not None and self._who_wrote(change) != who:
            other, here = self._who_wrote(change), asyncio.current_task()
            is_here = (here is self._main and other == self._driver) or here is self._tasks.get(other)
            is_idle = other not in self._tasks and other != self._driver
            if is_here or (is_idle and not self._may_try(other)):
                # This task would wait for itself, or for a change that was tried before and was not written.
                self._is_lost = True
                return
            if is_idle:
                self._tasks[other] = task = asyncio.create_task(self._drive(change))
                task.add_done_callback(partial(self._forget, other))
            await self._wait_for_news()

    def _may_try(self, who: str) -> bool:
        """Whether this is the first try to let `who` write the change at this position."""
        attempt = (self._store.position, who)
        is_first = attempt not in self._tried
        self._tried.add(attempt)
        return is_first

    def _forget(self, who: str, _task: asyncio.Task[None]) -> None:
        del self._tasks[who]
        self._news.set()

    async def _wait_for_news(self) -> None:
        """Wait until something is written or a task ends. After a timeout, the replay has diverged."""
        self._news.clear()
        try:
            await asyncio.wait_for(self._news.wait(), standstill_seconds_max)
        except TimeoutError:
            self._is_lost = True

    async def _drive(self, change: RecordedChange) -> None:
        graph_id = self._graph_of(change)
        if not await self._is_written(change) and graph_id is not None:
            await self._conductor.advance(graph_id)

    async def _is_written(self, change: RecordedChange) -> bool:
        """Write a change that the next step of its graph would not write. False if the next step has to write it."""
        act, graph_id, folded = act_of(change.first), self._graph_of(change), self._ledger.folded
        due = None if graph_id is None else self._conductor.agendas.of(graph_id).due
        if act is None:
            return change.first.kind == kinds.RUN_FINISHED and await self._is_ended(change.first, due)
        if due is not None and (due.creature, due.cause) == act:
            return False
        if act in self._chosen and (chosen := due_of(folded.world, folded.agenda, *act)) is not None:
            await self._conductor.begin_act(chosen)
        return await self._conductor.end_act(*act)

    async def _is_ended(self, end: Event, due: Due | None) -> bool:
        """End a run that is idle, or that is out of budget while a creature of another run is next in its graph."""
        folded, run_id = self._ledger.folded, end.run_id or ""
        payload = payload_of(end, payloads.RunFinished)
        if payload.reason != "budget":
            is_idle = self._conductor.agendas.is_idle(run_id)
            return is_idle and await self._conductor.finish(run_id, "ended") is not None
        is_next = due is not None and folded.world.creatures[due.creature].run_id == run_id
        if payload.axis == "max_turns" or is_next:
            return False
        for name in [name for name, one in folded.world.creatures.items() if one.run_id == run_id]:
            tick = folded.agenda.ticks.get(name)
            for cause in (*([] if tick is None else [tick.cause]), *folded.agenda.owed.get(name, ())):
                if (owed := due_of(folded.world, folded.agenda, name, cause)) is not None:
                    await self._conductor.begin_act(owed)
                    return await self._conductor.end_act(name, cause)
        return False

    def _who_wrote(self, change: RecordedChange) -> str:
        """The writer of a change: a creature for its act, a graph for a turn, a run for its end."""
        first = change.first
        if first.kind == kinds.RUN_FINISHED:
            return first.run_id or ""
        if first.kind in kinds.ENGINE:  # An edit by a tool is in one change with `tool.returned`.
            return next((event.actor for event in change.events if event.kind == kinds.TOOL_RETURNED), "")
        return first.graph_id if first.actor in RESERVED_ACTORS else first.actor

    def _graph_of(self, change: RecordedChange) -> str | None:
        """The graph whose next step has to write a change."""
        world, first = self._ledger.world, change.first
        creature = world.creatures.get(self._who_wrote(change))
        if creature is not None:
            return creature.graph_id
        if first.kind == kinds.RUN_FINISHED:
            return self._graph_at_its_end(first) or next(iter(world.graphs), None)
        return first.graph_id if first.graph_id in world.graphs else None

    def _graph_at_its_end(self, end: Event) -> str | None:
        """The graph in which the conductor notices that a run is over.

        It can differ from the graph of `run.finished`: a run may use up its turns in one graph and end in another.
        """
        agendas, run_id = self._conductor.agendas, end.run_id or ""
        graphs = [self._ledger.world.graphs[name] for name in agendas.graphs_of(run_id)]
        if payload_of(end, payloads.RunFinished).axis == "max_turns":
            for graph in graphs:
                if self._run_out_of_turns(graph) == run_id:
                    return graph.id
        busy = [graph for graph in graphs if agendas.of(graph.id).turn is not None]
        busy.sort(key=lambda graph: (agendas.of(graph.id).turn or 0, graph.born))
        return busy[0].id if busy else None

    def _run_out_of_turns(self, graph: GraphState) -> str | None:
        """The first run of a graph that has no turns left for the next turn there."""
        ahead, runs = self._conductor.agendas.of(graph.id), self._ledger.folded.runs
        if ahead.due is not None or not ahead.turn:
            return None
        for run_id in runs_acting(self._ledger.world, graph):
            purse = runs.purses.get(run_id)
            played = runs.turns_of(run_id, graph.id) + ahead.turn - graph.turn - 1
            if purse is not None and tripped_by_turn(purse.limits, played) is not None:
                return run_id
        return None

    # What needs no conductor

    async def _next_to_drive(self) -> RecordedChange | None:
        """Make the next changes that need no conductor, then return the first change that needs it.

        None at the end of the record, and when the replay has diverged from it.
        """
        while True:
            await self._ledger.wait_for_durability()
            while self._asking is not None:
                await self._wait_for_news()
            change = None if self._is_lost else self._change_after.get(self._store.position)
            if self._store.position != self._looked_at:
                self._looked_at = self._store.position
                self._news.set()
            if change is None:
                return None
            self._asking = asyncio.current_task()
            try:
                position = self._store.position
                await self._begin_acts(change)
                if not await self._has_happened(change):
                    return change
                await self._ledger.wait_for_durability()
                self._is_lost = self._store.position == position
            except Refused:  # The change is no longer possible: the replay has diverged from the record.
                self._is_lost = True
            finally:
                self._asking = None
                self._news.set()

    async def _begin_acts(self, change: RecordedChange) -> None:
        """Begin the acts that had begun when a change was written: they did not see the change."""
        if change.request is None or self._is_of_others(change):
            return
        folded = self._ledger.folded
        for act in change.request.during:
            as_of = self._seen_at.get(self.cassette.as_of(act.creature, act.cause) or "", 0)
            due = due_of(folded.world, folded.agenda, act.creature, act.cause)
            if due is not None and act.has_looked and as_of < (change.first.position or 0):
                await self._conductor.begin_act(due)
            elif due is not None:  # It had not looked at the world yet, or was interrupted and began again.
                self._chosen.add((act.creature, act.cause))

    async def _has_happened(self, change: RecordedChange) -> bool:
        """Make a change again that needs no conductor. False if the conductor has to make it."""
        first, request = change.first, change.request
        if self._is_of_others(change):
            _check_manifests(change)
            await self._ledger.adopt(change.events, self._record.segments)
        elif first.kind == kinds.RUN_STARTED and payload_of(first, payloads.RunStarted).scenario is None:
            # The default run has no scenario to open. Adopting keeps the limits that its terrarium had then.
            await self._ledger.adopt(change.events, self._record.segments)
        elif first.kind == kinds.RUN_STARTED:
            await self._ledger.change(_opening(first.run_id or "", change.events))
        elif request is not None and request.intent is not None:
            await self._ask_again(request.intent, change.events)
        elif first.actor == VISITOR:
            await self._ledger.change(Inject(first.graph_id, first.payload["text"], first.run_id))
        elif (request is not None and request.by == "api") or _is_said_from_outside(first):
            drafts = tuple(map(draft_of, change.events))
            await self._ledger.change(Say(first.actor, drafts, first.caused_by))
        else:
            return False
        return True

    def _is_of_others(self, change: RecordedChange) -> bool:
        """Whether a change is adopted: it touched no session of the replayed runs, or it restates a past."""
        return change.restates_a_past or not any(
            event.session_id in self._record.sessions for event in change.events
        )

    async def _ask_again(self, intent: Requested, events: Sequence[Event]) -> None:
        match intent:
            case PauseRun() as pause:
                paused = payloads.RunPaused(pause.reason, pause.is_outage)
                await self._ledger.change(MoveRun(pause.run_id, paused, pause.graph_id))
            case ContinueRun(run_id=run_id):
                await self._ledger.change(MoveRun(run_id, payloads.RunContinued()))
            case FinishRun(run_id=run_id, reason=reason):
                await self._conductor.finish(run_id, reason)
            case AddCreature() as birth:
                whole = with_manifest(birth, events)
                digest = Manifest.model_validate(whole.manifest).digest
                await self._ledger.change(replace(whole, manifest_digest=digest))
            case edit:
                await self._ledger.change(edit)


def _check_manifests(change: RecordedChange) -> None:
    """Refuse a manifest that does not match its digest. The fold skips a manifest whose digest is already known."""
    for event in [event for event in change.events if event.kind == kinds.CREATURE_STARTED]:
        born = payload_of(event, payloads.CreatureStarted)
        if born.manifest and Manifest.model_validate(born.manifest).digest != born.manifest_digest:
            raise Refused(f"The manifest in {event.id} is not the one that was recorded.", "Restore a copy.")


def _is_said_from_outside(event: Event) -> bool:
    """Whether a program spoke for a creature: the line is part of no act and has no cause."""
    is_act = event.kind in kinds.ENGINE or event.kind in kinds.MID_ACT or event.caused_by is not None
    return not is_act and event.actor not in RESERVED_ACTORS


def _opening(run_id: str, events: Sequence[Event]) -> OpenRun:
    """The recorded opening of a run, with scenario, manifests and deals from the ledger."""
    started = payload_of(events[0], payloads.RunStarted)
    scenario = Scenario.model_validate(started.scenario)
    births = [event.payload for event in events if event.kind == kinds.CREATURE_STARTED]
    manifests = {str(born["cast_key"]): Manifest.model_validate(born["manifest"]) for born in births}
    world = LoadedWorld(scenario.model_copy(update={"deal": {}}), manifests, {})
    opening = opening_of(world, run_id=run_id, seed=started.seed, rng_seed=started.rng_seed)
    sealed = [event.sealed for event in events if event.sealed is not None]
    cast = iter(started.cast)

    def as_then(member: Member, entry: payloads.CastEntry) -> Member:
        dealt = next((one["facts"] for one in sealed if entry.creature in one["to"]), None)
        return replace(member, dealt=dealt, model=entry.model, is_bound=entry.is_bound)

    troupes = [
        replace(troupe, members=tuple([as_then(member, next(cast)) for member in troupe.members]))
        for troupe in opening.troupes
    ]
    return replace(opening, started=started, troupes=tuple(troupes))
