"""Replay: drives a run again from its record, in the same house, and compares the result with the record (ADR 0048).

Theory of operation. The house is folded as it was before the first event of the run. An overlay store keeps the new
events in memory. Then the replay goes through the recorded changes in order. Changes in graphs of other runs are
adopted. Requests from outside are made again. A world is opened again from its recorded scenario. The conductor makes
the rest again: it begins the recorded turn, lets the recorded act continue, or ends the run. The house has the same id,
so all ids are the same.

Runs that were driven at the same time interleaved, and no order rule gives that interleaving again. So the record decides
what is next. Each act has a task. It waits before it writes until its change is next. An act does not see
what is written while it thinks: if its graph changed meanwhile, its change says at which position it had looked, and the
replay lets it look there (ADR 0064). Any other act looks right before it writes.

If the next recorded change is not written, the replay has diverged. It stops, and the comparison shows the difference.

A run that came in a file is replayed in the house that the file tells of (`house_of_file`, ADR 0103).

Always holds: no model is called, and nothing is written to the store that holds the record.
"""

from __future__ import annotations

import asyncio
from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import zip_longest
from typing import Final

from msgspec.structs import replace

from glasshouse.errors import Refused
from glasshouse.events import kinds, payloads
from glasshouse.events.carried import CarriedAct
from glasshouse.events.digest import Digest
from glasshouse.events.event import RESERVED_ACTORS, VISITOR, Event, session_and_seq
from glasshouse.events.payloads import payload_of
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.opening import opening_of
from glasshouse.reprs import repr_of
from glasshouse.runtime.clock import SeededIds
from glasshouse.runtime.house import House
from glasshouse.runtime.parts import Parts
from glasshouse.runtime.past.recorded_worlds import births_in, recorded_scenario
from glasshouse.runtime.ports import Toolbox
from glasshouse.runtime.replay.house_of_file import house_of_file
from glasshouse.runtime.replay.overlay import OverlayStore
from glasshouse.runtime.replay.record import RecordedChange, RunRecord, record_of
from glasshouse.runtime.replay.replay_answers import (
    Act,
    NoModel,
    RecordedAgent,
    ReplayAnswers,
    act_of,
    draft_of,
)
from glasshouse.turns.runs.schedule import Due, due_of, ticks_together
from glasshouse.world.decisions.intents import AddCreature, Fork, Inject, Member, MoveRun, OpenRun, Say
from glasshouse.world.decisions.requests import ContinueRun, FinishRun, PauseRun, Requested, with_manifest
from glasshouse.world.fold.evolve import MORE_THAN_LINES, stand

prompt_changes_max: Final = 8
"""A replay shows at most this many changed prompts; it counts all."""
standstill_seconds_max: Final = 30.0
"""An act that neither waits nor ends for this long has diverged from its record."""
waits_before_a_change_max: Final = 8
"""An act that waits more often than this before it writes its next change has diverged from its record."""


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
    acts_not_thought_again: int = 0
    """How many acts were taken as they are on record, because their prompts were built under another number."""
    prompting_then: tuple[int, ...] = ()
    """The numbers under which these acts were written."""

    __repr__ = repr_of("is_same", "events", "recorded_event", "replayed_event")

    @property
    def is_same(self) -> bool:
        """Whether record and replay have the same digest."""
        return self.recorded_digest == self.replayed_digest

    @property
    def prompts_not_built(self) -> str:
        """Says in words that prompts were not built again; empty if all were."""
        count = self.acts_not_thought_again
        if not count:
            return ""
        acts = "1 act" if count == 1 else f"{count:,} acts"
        numbers = " and ".join(map(str, self.prompting_then))
        return (
            f"The prompts of {acts} were not built again, and the replies were not read again: models were asked under prompting "
            f"number {numbers} then, and this version asks under number {payloads.prompting_now}."
        )


async def verified(house: House, tools: Toolbox, run_id: str) -> Verification:
    """Replay a run of this house, or one that came in a file, and compare it with its record. Refused if it was played under
    other rules."""
    if run_id in house.ledger.world.runs or run_id not in house.history.imported_runs():
        return await _compared_by_rules(house, tools, await record_of(house, run_id))
    async with house_of_file(house, run_id) as there:
        record = await record_of(there.house, run_id)
        standings = await there.standings_after(record.starts_after)
        return await _compared_by_rules(there.house, tools, replace(record, standings=standings))


async def _compared_by_rules(house: House, tools: Toolbox, record: RunRecord) -> Verification:
    _check_rules(house, record)
    return await compared(house, tools, record)


def _check_rules(house: House, record: RunRecord) -> None:
    """Refuse a run that was played under other rules than this version's, alone or beside others (ADR 0107)."""
    begun = [event for event in (*record.story, *record.events) if event.kind == kinds.RUN_STARTED]
    rules = {event.run_id: payload_of(event, payloads.RunStarted).rules for event in begun}
    rules |= {name: purse.rules for name, purse in house.ledger.folded.runs.purses.items()}
    for run_id in sorted(record.run_ids & rules.keys(), key=lambda name: name != record.run_id):
        if rules[run_id] != payloads.rules_now:
            which = "This run" if run_id == record.run_id else f"Run {run_id}, which shared a graph with it,"
            age = "older" if rules[run_id] < payloads.rules_now else "newer"
            raise Refused(
                f"{which} was played under {age} rules (number {rules[run_id]}; this version of Glasshouse plays by "
                f"number {payloads.rules_now}), so it cannot be played again byte for byte.",
                "It can be read, exported, continued and branched as before; a branch is played under the new rules.",
            )


async def compared(
    house: House, tools: Toolbox, record: RunRecord, prompting: int = payloads.prompting_now
) -> Verification:
    """Replay a record in the house that it was made in, and compare. Acts that were written under another number than
    `prompting` are not thought again."""
    replay = await _Replay.of(house, tools, record, prompting)
    replayed, skews = await replay.play()
    then = _digests(record.story, record.skews)
    now = _digests(replayed, skews)
    rows = zip_longest(record.story, replayed, then, now)
    differing = next(((event, again) for event, again, old, new in rows if old != new), (None, None))
    changes = replay.replay_answers.changes[:prompt_changes_max]
    return Verification(
        recorded_digest=then[-1] if then else "",
        replayed_digest=now[-1] if now else "",
        events=len(record.story),
        recorded_event=differing[0],
        replayed_event=differing[1],
        prompt_diffs=tuple([await change.diff(house.store) for change in changes]),
        taken=record.taken,
        grows_from=record.grows_from,
        acts_not_thought_again=len(replay.replay_answers.not_thought_again),
        prompting_then=replay.replay_answers.numbers_then,
    )


def _digests(events: Sequence[Event], skews: Mapping[str, int]) -> list[str]:
    digest = Digest(skews)
    texts = []
    for event in events:
        digest.add(event)
        texts.append(digest.text())
    return texts


class _Playing:
    """An act of a replay. It waits before it writes, and before it looks at the world again."""

    def __init__(self, task: asyncio.Task[None]) -> None:
        self.task = task
        self.is_at_look = False
        self._arrived: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._may_go: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def wait(self, *, is_look: bool) -> None:
        """Wait, in the act's own task, until the replay lets it continue."""
        self.is_at_look = is_look
        self._may_go = asyncio.get_running_loop().create_future()
        self._arrived.set_result(None)
        await self._may_go

    async def settled(self) -> None:
        """Wait until the act waits or has ended."""
        await asyncio.wait(
            [self.task, self._arrived], timeout=standstill_seconds_max, return_when="FIRST_COMPLETED"
        )

    async def go_on(self) -> None:
        """Let the act continue until it waits again or has ended."""
        self.is_at_look = False
        self._arrived = asyncio.get_running_loop().create_future()
        self._may_go.set_result(None)
        await self.settled()


class _Replay:
    """One replay of one record. It is also the clock of its house."""

    def __init__(
        self, record: RunRecord, replay_answers: ReplayAnswers, store: OverlayStore, tools: Toolbox
    ) -> None:
        self.replay_answers = replay_answers
        self._record = record
        self._store = store
        self._times = [event.created_at for event in record.events]
        self._parts = parts = Parts(
            store,
            self,
            SeededIds(0),
            NoModel(),
            lambda manifest: RecordedAgent(replay_answers, manifest),
            tools=tools,
            answers=replay_answers,
        )
        self._ledger = parts.house.ledger
        self._conductor = parts.conductor
        self._calls = replay_answers.act_of_call
        self._looks: dict[int, list[Act]] = {}
        """The acts that looked at the world before their graph changed, by the position at which they looked."""
        self._first_steps: dict[Act, int] = {}
        """The position of the first recorded change of each act."""
        self._moves: list[int] = []
        """The positions of the changes that did more than say a line."""
        for change in record.changes:
            if not self._is_of_others(change):
                self._note(change)
        self._acts: dict[Act, _Playing] = {}
        """The acts that have begun and are not written yet."""
        self._wrong: BaseException | None = None
        """What an act raised, if one did."""
        replay_answers.world = lambda: self._ledger.world
        replay_answers.wait = self._wait

    @classmethod
    async def of(cls, house: House, tools: Toolbox, record: RunRecord, prompting: int) -> _Replay:
        """A replay of this record."""
        under_way: dict[str, CarriedAct] = {**record.before.agenda.under_way}
        for change in record.changes:  # A restated past carries over the acts that were under way in it.
            for event in [event for event in change.events if event.kind == kinds.SESSION_RESTATED]:
                restated = payload_of(event, payloads.SessionRestated)
                carried = restated.carried.agenda.under_way
                under_way |= {restated.creatures[name]: act for name, act in carried.items()}
        begun = {
            name: ((name, act.cause), [await house.history.event(event_id) for event_id in act.events])
            for name, act in under_way.items()
        }
        of_acts = [change for change in (*record.changes, *record.later) if not change.is_answer_of_program]
        events = [event for change in of_acts for event in change.events]
        replay_answers = ReplayAnswers(events, begun, prompting)
        store = OverlayStore(house.store, record.starts_after, record.before.world.sessions)
        return cls(record, replay_answers, store, tools)

    async def play(self) -> tuple[list[Event], Mapping[str, int]]:
        """The events of the replayed run, in the order of its story, and the skews of its sessions for the digest."""
        house = self._parts.house
        run_id = self._record.run_id
        await house.open()
        try:
            for change in self._record.changes:
                if not await self._is_made_again(change):
                    break
            if run_id not in self._ledger.world.runs:
                return [], {}
            end = self._record.starts_after + len(self._record.events)
            story = await house.history.events_of_run(run_id)
            return [event for event in story if (event.position or 0) <= end], house.history.skews()
        finally:
            tasks = [playing.task for playing in self._acts.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await house.close(self._parts.stage.stop_acts)

    def now(self) -> datetime:
        """The recorded time of the next event."""
        index = min(self._store.last_position - self._record.starts_after, len(self._times) - 1)
        return self._times[index] if self._times else datetime.min.replace(tzinfo=UTC)

    async def sleep(self, seconds: float) -> None:
        """Do not wait: the time changes only when events are written."""

    # What is next

    def _note(self, change: RecordedChange) -> None:
        position = change.first.position or 0
        act = self._act_in(change)
        if change.first.kind in MORE_THAN_LINES:
            self._moves.append(position)
        if act is not None and not change.tells_calls_of_nobody:
            self._first_steps.setdefault(act, position)
            if change.request is not None and change.request.seen is not None:
                self._looks.setdefault(change.request.seen, []).append(act)

    async def _is_made_again(self, change: RecordedChange) -> bool:
        """Make the next change again. False if the replay has diverged from the record."""
        position = self._ledger.position
        for act in self._looks.pop(position, ()):
            await self._look(act)
        if (standing := self._record.standings.get(position + 1)) is not None:
            stand(self._ledger.world, standing)
        try:
            if not await self._has_happened(change):
                await self._drive(change)
        except Refused:  # The change is no longer possible.
            return False
        await self._ledger.writer.wait_for_durability()
        if self._wrong is not None:
            raise self._wrong
        return self._ledger.position == position + len(change.events)

    async def _drive(self, change: RecordedChange) -> None:
        """Let the conductor write a change."""
        first = change.first
        if first.kind == kinds.RUN_FINISHED:
            payload = payload_of(first, payloads.RunFinished)
            await self._conductor.runs.finish(first.run_id or "", payload.reason, axis=payload.axis)
        elif first.kind == kinds.TURN_STARTED:
            graph = self._ledger.world.graphs.get(first.graph_id)
            if graph is not None:
                await self._conductor.begin_turn(graph, payload_of(first, payloads.TurnStarted).turn)
        else:
            await self._go_on(self._act_in(change))

    def _act_in(self, change: RecordedChange) -> Act | None:
        """The act that wrote a change, if one did."""
        if change.is_answer_of_program:
            return None
        acts = [act_of(event) or self._calls.get(event.caused_by or "") for event in change.events]
        return next((act for act in acts if act is not None), None)

    async def _go_on(self, act: Act | None) -> None:
        """Let an act continue until it has written its next change."""
        position = self._ledger.position
        if act is not None:
            await self._look(act)
        for _ in range(waits_before_a_change_max):
            if self._ledger.position > position or act not in self._acts:
                return
            await self._acts[act].go_on()

    async def _look(self, act: Act) -> None:
        """Let an act look at the world as it is now: begin it, or let it look again after a tool."""
        playing = self._acts.get(act)
        if playing is not None:
            if playing.is_at_look:
                await playing.go_on()
            return
        folded = self._ledger.folded
        due = due_of(folded.world, folded.agenda, *act)
        if due is None:
            return  # The replay has diverged: the creature does not owe this act.
        graph = folded.world.graphs[folded.world.creatures[due.creature].graph_id]
        is_new = due.is_together and due.begun_by is None
        batch = ticks_together(folded.world, folded.agenda, graph, folded.runs, is_new=True) if is_new else []
        for other in [due, *filter(self._begins_now, batch)]:
            key = (other.creature, other.cause)
            if key not in self._acts:
                task = asyncio.create_task(self._conductor.act_again(other))
                self._acts[key] = playing = _Playing(task)
                task.add_done_callback(partial(self._forget, key))
                await playing.settled()

    def _begins_now(self, due: Due) -> bool:
        """Whether a tick of a batch that begins now may begin with it: all that it saw is written, and nothing that it
        sees changes before it is written. Any other tick begins when it is written, on the world at the start of its
        batch."""
        act = (due.creature, due.cause)
        position = self._ledger.position
        first_step = self._first_steps.get(act)
        as_of = self.replay_answers.as_of(*act)
        if first_step is None or bisect(self._moves, position) != bisect(self._moves, first_step):
            return False
        session_id, seq = session_and_seq(as_of) if as_of is not None else ("", 0)
        session = self._ledger.world.sessions.get(session_id)
        return as_of is None or (session is not None and seq <= session.head)

    async def _end(self, act: Act | None) -> None:
        """Let an act come to nothing that is under way."""
        playing = None if act is None else self._acts.get(act)
        if playing is not None:
            playing.task.cancel()
            await asyncio.gather(playing.task, return_exceptions=True)

    def _forget(self, act: Act, task: asyncio.Task[None]) -> None:
        del self._acts[act]
        if not task.cancelled() and task.exception() is not None:
            self._wrong = self._wrong or task.exception()

    async def _wait(self, *, is_look: bool) -> None:
        """Make an act wait."""
        here = asyncio.current_task()
        playing = next((act for act in self._acts.values() if act.task is here), None)
        if playing is not None:
            await playing.wait(is_look=is_look)

    # What needs no conductor

    async def _has_happened(self, change: RecordedChange) -> bool:
        """Make a change again that needs no conductor. False if the conductor has to make it."""
        first = change.first
        request = change.request
        if self._is_of_others(change):
            _check_manifests(change)
            await self._ledger.adopt(change.events, self._record.segments)
        elif first.kind == kinds.RUN_STARTED and payload_of(first, payloads.RunStarted).scenario is None:
            # The default run has no scenario to open. Adopting keeps the limits that its terrarium had then.
            await self._ledger.adopt(change.events, self._record.segments)
        elif first.kind == kinds.RUN_STARTED:
            await self._ledger.change(_opening(first.run_id or "", change.events))
        elif change.tells_calls_of_nobody:
            # Nothing of the act can be compared: its answers were not used. Often nobody owes it in this ledger, because a
            # commit failed, and with it the event that it answered.
            await self._end(self._act_in(change))
            await self._ledger.adopt(change.events, self._record.segments)
        elif request is not None and request.intent is not None:
            await self._ask_again(request.intent, change.events)
        elif first.actor == VISITOR:
            said = payload_of(first, payloads.UserInjected)
            graph_id = first.graph_id if len(change.events) == 1 else None
            await self._ledger.change(Inject(graph_id, said.text, first.run_id))
        elif change.is_answer_of_program or _is_said_from_outside(first):
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
                paused = payloads.converted(pause, payloads.RunPaused)
                await self._ledger.change(MoveRun(pause.run_id, paused, pause.graph_id, events[0].model))
            case ContinueRun() as going_on:
                continued = payloads.converted(going_on, payloads.RunContinued)
                await self._ledger.change(MoveRun(going_on.run_id, continued))
            case FinishRun(run_id=run_id, reason=reason):
                await self._conductor.runs.finish(run_id, reason)
            case AddCreature() as birth:
                whole = with_manifest(birth, events)
                digest = Manifest.model_validate(whole.manifest).digest
                await self._ledger.change(replace(whole, manifest_digest=digest))
            case Fork() if self._record.standings:
                # Its id follows from how many branches the session had, and these are not in the file.
                await self._ledger.adopt(events, self._record.segments)
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
    scenario = recorded_scenario(started)
    births = births_in(events)
    manifests = {born.cast_key: Manifest.model_validate(born.manifest) for born in births.values()}
    world = LoadedWorld(scenario.model_copy(update={"deal": {}}), manifests, {})
    opening = opening_of(world, run_id=run_id, seed=started.seed, rng_seed=started.rng_seed)
    deals = [payloads.sealed_of(event) for event in events if event.sealed is not None]
    cast = iter(started.cast)

    def as_then(member: Member, entry: payloads.CastEntry) -> Member:
        dealt = next((deal.facts for deal in deals if entry.creature in deal.to), None)
        model = {"model": entry.model, "is_bound": entry.is_bound, "model_digest": entry.model_digest}
        size = entry.model_size
        born = births[entry.creature]
        granted = tuple(born.granted)
        by_code = born.played_by_code
        return replace(member, dealt=dealt, granted=granted, played_by_code=by_code, model_size=size, **model)

    troupes = [
        replace(troupe, members=tuple([as_then(member, next(cast)) for member in troupe.members]))
        for troupe in opening.troupes
    ]
    return replace(opening, started=started, troupes=tuple(troupes))
