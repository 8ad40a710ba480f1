"""Replay: a run driven again from its own record, and compared with it.

Always holds: nothing is asked of a model and nothing is written to the store that is read. What came from outside
(visitors, pauses, changes of the graph) happens again at the very place where it happened; everything else must come out
by itself. A branch or a resumed run begins with the very batch that restated its past.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from typing import Final, Protocol

import msgspec

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.digest import Digest
from glasshouse.events.event import RESERVED_ACTORS, VISITOR, Draft, Event
from glasshouse.events.limits import Governor
from glasshouse.events.run_payloads import CastEntry, RunStarted
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.opening import opening_of
from glasshouse.manifests.scenario import Scenario
from glasshouse.reprs import repr_of
from glasshouse.runtime.acts.act_so_far import ActSoFar
from glasshouse.runtime.clock import SeededIds
from glasshouse.runtime.conducting.order import Recorded
from glasshouse.runtime.parts import Parts
from glasshouse.runtime.past.record import RunRecord
from glasshouse.runtime.ports import Store, Toolbox
from glasshouse.runtime.replays.cassette import (
    Cassette,
    NoModel,
    PromptChange,
    RecordedAgent,
)
from glasshouse.runtime.replays.namesakes import Namesakes
from glasshouse.runtime.replays.replay_stage import ReplayStage, lay_out
from glasshouse.turns.moment import Moment
from glasshouse.world.intents import Member, OpenRun

diff_lines_max: Final = 200
prompt_changes_max: Final = 8


class Source(Protocol):
    """Where a run is read from."""

    async def record(self, run_id: str) -> RunRecord:
        """All that was recorded of a run."""

    async def prompt(self, digest: str) -> str | None:
        """A text that a model was given, if it is still kept."""


@dataclass(frozen=True)
class Verification:
    """What came of playing a run again."""

    __repr__ = repr_of("is_same", "events", "recorded_event", "replayed_event")

    recorded_digest: str
    replayed_digest: str
    events: int
    recorded_event: Event | None = None
    """The first event that came out otherwise, as it was then; none if the replay went further."""
    replayed_event: Event | None = None
    prompt_diffs: tuple[str, ...] = ()
    """How prompts differ from those on record, each as a unified diff."""
    taken: int = 0
    """How many of the events are the past of a branch or a resumed run, which was taken as it stands."""
    grows_from: str | None = None
    """The run of this store whose past that is."""

    @property
    def is_same(self) -> bool:
        """Whether the run came out byte for byte."""
        return self.recorded_digest == self.replayed_digest


async def verify(source: Source, run_id: str, scratch: Store, tools: Toolbox | None = None) -> Verification:
    """Play a run again in a fresh store, and compare. `scratch` must be empty; `tools` are what creatures are offered."""
    record = await source.record(run_id)
    cassette = Cassette(record.written, record.times)
    replay = _Replay(record, cassette, scratch, tools)
    replayed, skews = await replay.play()
    then, now = _digests(record.story, record.skews), _digests(replayed, skews)
    place = next((n for n, pair in enumerate(zip(then, now, strict=False)) if pair[0] != pair[1]), None)
    if place is None and len(then) != len(now):
        place = min(len(then), len(now))
    return Verification(
        recorded_digest=then[-1] if then else "",
        replayed_digest=now[-1] if now else "",
        events=len(record.story),
        recorded_event=_at(record.story, place),
        replayed_event=_at(replayed, place),
        prompt_diffs=tuple([await _diff(source, change) for change in cassette.changes[:prompt_changes_max]]),
        taken=len(record.taken),
        grows_from=record.grows_from,
    )


def _digests(events: Sequence[Event], skews: Mapping[str, int]) -> list[str]:
    digest, texts = Digest(skews), []
    for event in events:
        digest.take_in(event)
        texts.append(digest.text())
    return texts


def _at(events: Sequence[Event], place: int | None) -> Event | None:
    return events[place] if place is not None and place < len(events) else None


async def _diff(source: Source, change: PromptChange) -> str:
    system = await source.prompt(change.system_then) or ""
    user = await source.prompt(change.user_then) or ""
    if not system and not user:
        return f"{change.creature}, turn {change.turn}: the recorded prompt is no longer kept."
    then = f"{system}\n\n{user}".splitlines()
    now = f"{change.prompt_now.system}\n\n{change.prompt_now.user}".splitlines()
    name = f"{change.creature}, turn {change.turn}"
    lines = list(unified_diff(then, now, f"{name}, recorded", f"{name}, replayed", lineterm=""))
    return "\n".join(lines[:diff_lines_max])


class _Replay:
    """One replay in the making."""

    def __init__(self, record: RunRecord, cassette: Cassette, scratch: Store, tools: Toolbox | None) -> None:
        self._record = record
        self._cassette = cassette
        self._scratch = scratch
        self._run_id = record.run_id
        self._namesakes = Namesakes(record, scratch)
        self._is_lost = False
        self._written = -1
        """How far the replay had come when it was last asked what is next."""
        begun = [event for part in record.regrown for event in part.events]
        self._started = _started(record.run_id, (*begun, *cassette.events))
        self._opened = 0 if begun or self._started.scenario is None else self._events_of_opening()
        parts = Parts(
            scratch,
            cassette,
            SeededIds(0),
            NoModel(_models(self._started, cassette.events)),
            self._mind,
            tools=tools,
            governor=_governor(self._started),
            answers=cassette,
        )
        self._stage = ReplayStage(parts)
        cassette.worlds_before = record.worlds_before
        cassette.let_happen = self._let_happen
        cassette.settle = self._stage.settled

    def _events_of_opening(self) -> int:
        """How many events the opening batch has: everything at turn 0 until somebody acts or speaks."""
        count = 0
        for event in self._cassette.events:
            if event.created_at != self._cassette.events[0].created_at or event.turn > 0:
                break
            if count and event.kind not in kinds.ENGINE and event.kind != kinds.WORLD_OBSERVED:
                break
            count += 1
        return count

    def _mind(self, _manifest: Manifest) -> RecordedAgent:
        def told(moment: Moment) -> Event | None:
            return self._cassette.act_by(moment.number_in_run, moment.cause)

        def way(moment: Moment) -> ActSoFar:
            return self._cassette.way_by(moment.number_in_run, moment.cause)

        return RecordedAgent(told, way)

    async def play(self) -> tuple[tuple[Event, ...], Mapping[str, int]]:
        """The replayed run, in the order of its story, and what its digest has to know."""
        laid_out = await lay_out(self._record, self._scratch)
        self._cassette.produced = lambda: self._scratch.position - laid_out
        self._namesakes.begin_at(laid_out)
        stage, parts = self._stage, self._stage.parts
        await parts.house.open()
        try:
            stage.know(self._record)
            self._cassette.note_acts(
                self._run_id, stage.numbers_in(self._run_id), await stage.acts_under_way()
            )
            if self._opened:
                await parts.stage.open_run(self._opening())
            await self._play_on()
            return await stage.story_of(self._record), parts.archive.skews()
        finally:
            await parts.house.close(parts.stage.stop_acts)

    async def _play_on(self) -> None:
        await self._stage.conduct(Recorded(self._next_graph))

    async def _next_graph(self) -> str | None:
        """Let happen what came from outside; then the graph that the next recorded event is to come from. None at the end
        of the record, and where the replay has parted from it."""
        await self._cassette.let_in_what_was_seen()
        ahead, written = self._cassette.next(), self._scratch.position
        if ahead is not None and written == self._written and not await self._has_happened(ahead):
            return None
        self._written, ahead = self._scratch.position, self._cassette.next()
        return None if ahead is None or self._is_lost else await self._graph_to_drive(ahead)

    async def _has_happened(self, ahead: Event) -> bool:
        """A step has brought forth nothing: whether something from outside was missing, or an end that somebody told."""
        await self._cassette.before_commit()
        if ahead.kind == kinds.RUN_FINISHED:
            await self._stage.parts.stage.finish(self._run_id, ahead.payload["reason"])
        return self._scratch.position > self._written

    async def _graph_to_drive(self, ahead: Event) -> str | None:
        """The graph that an event is to come from. A run that used up its turns in one graph may tell of it in another."""
        is_last_turn = ahead.kind == kinds.RUN_FINISHED and ahead.payload.get("axis") == "max_turns"
        at_its_end = self._stage.at_its_last_turn(self._run_id) if is_last_turn else None
        if at_its_end is not None:
            return at_its_end
        graphs = self._stage.parts.stage.run_of(self._run_id).graph_ids
        return await self._graph(ahead) or next(iter(graphs), None)

    def _opening(self) -> OpenRun:
        """The same opening: scenario and manifests as the ledger tells them, what was dealt as it was dealt."""
        scenario = Scenario.model_validate(self._started.scenario)
        births = [
            e.payload for e in self._cassette.events[: self._opened] if e.kind == kinds.CREATURE_STARTED
        ]
        manifests = {str(born["cast_key"]): Manifest.model_validate(born["manifest"]) for born in births}
        world = LoadedWorld(scenario.model_copy(update={"deal": {}}), manifests, {})
        opening = opening_of(
            world, run_id=self._run_id, seed=self._started.seed, rng_seed=self._started.rng_seed
        )
        then = iter(self._started.cast)
        troupes = [
            msgspec.structs.replace(
                troupe, members=tuple([self._as_then(one, next(then)) for one in troupe.members])
            )
            for troupe in opening.troupes
        ]
        return msgspec.structs.replace(opening, started=self._started, troupes=tuple(troupes))

    def _as_then(self, member: Member, entry: CastEntry) -> Member:
        """One of the cast with what was dealt to it then, and the model that its run asked for."""
        opened = [e.sealed for e in self._cassette.events[: self._opened] if e.sealed is not None]
        dealt = next((sealed["facts"] for sealed in opened if entry.creature in sealed["to"]), None)
        return msgspec.structs.replace(
            member, dealt=dealt, model=entry.model if entry.is_bound else "", is_bound=entry.is_bound
        )

    async def _let_happen(self, event: Event) -> None:
        """What came from outside, at the place where it came. What cannot be any more is where the replay parts."""
        await self._namesakes.follow()
        try:
            await self._happen_again(event)
        except Refused:
            self._is_lost = True

    async def _happen_again(self, event: Event) -> None:
        stage = self._stage.parts.stage
        if event.actor == VISITOR:
            await stage.disturb(self._run_id, event.payload["text"], graph_id=await self._graph(event))
        elif event.kind == kinds.RUN_PAUSED:
            await stage.pause(self._run_id, event.payload["reason"])
        elif event.kind == kinds.RUN_FINISHED:
            await stage.finish(self._run_id, event.payload["reason"])
        elif event.kind == kinds.RUN_CONTINUED:
            await stage.continue_run(self._run_id)
        elif event.kind in kinds.ENGINE:
            await self._stage.change_again(self._namesakes.batch_of(event), self._namesakes)
        else:
            draft = Draft(
                kind=event.kind, payload=event.payload, channel=event.channel, private=event.private
            )
            await self._stage.parts.edits.append(self._namesakes.creature(event.actor), draft)

    async def _graph(self, event: Event) -> str | None:
        """The graph of the replay that stands for one of the record, if it plays."""
        await self._namesakes.follow()
        graph_id = self._namesakes.graph(event.graph_id)
        return graph_id if graph_id in self._stage.parts.stage.run_of(self._run_id).graph_ids else None


def _started(run_id: str, events: Sequence[Event]) -> RunStarted:
    """What the record says of how its run began."""
    told = next((e for e in events if e.kind == kinds.RUN_STARTED and e.run_id == run_id), None)
    if told is None:
        raise Refused(f"Run {run_id} has not begun.", "Drive it first.")
    return msgspec.convert(told.payload, RunStarted)


def _governor(started: RunStarted) -> Governor | None:
    """The limits of a run that was opened from no scenario: those of the terrarium it began in."""
    return started.limits if started.scenario is None else None


def _models(started: RunStarted, events: Sequence[Event]) -> dict[str, str]:
    """The models that stood behind profiles: as the cast is told, and of those who came later as they were asked."""
    bound = {entry.creature for entry in started.cast if entry.is_bound}
    names = {entry.profile: entry.model for entry in started.cast if not entry.is_bound}
    for event in events:
        use = event.model
        if use and use.calls and event.actor not in bound and event.actor not in RESERVED_ACTORS:
            names.setdefault(use.profile, use.calls[-1].model)
    return names
