"""Replay: a run driven again from its own record, and compared with it.

Always holds: nothing is asked of a model and nothing is written to the store that is read. What came from outside
(visitors, pauses) happens again at the very place where it happened; everything else must come out by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from typing import Final, Protocol

import msgspec

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.digest import Digest
from glasshouse.events.event import VISITOR, Draft, Event, Json
from glasshouse.events.run_payloads import RunStarted
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.opening import opening_of
from glasshouse.manifests.scenario import Scenario
from glasshouse.runtime.cassette import Cassette, NoModel, PromptChange, RecordedAgent, came_from_outside
from glasshouse.runtime.clock import SeededIds
from glasshouse.runtime.ports import Store, Toolbox
from glasshouse.runtime.taking_up import TakenUp
from glasshouse.runtime.terrarium import Terrarium
from glasshouse.turns.moment import Moment
from glasshouse.world.intents import Member, OpenRun

diff_lines_max: Final = 200
prompt_changes_max: Final = 8


class Source(Protocol):
    """Where a run is read from."""

    async def run_events(self, run_id: str) -> tuple[Event, ...]:
        """Everything of a run, in the order of histories."""

    async def event(self, event_id: str) -> Event:
        """One event by its id."""

    async def prompt(self, digest: str) -> str | None:
        """A text that a model was given, if it is still kept."""


@dataclass(frozen=True)
class Verification:
    """What came of playing a run again."""

    recorded_digest: str
    replayed_digest: str
    events: int
    recorded_event: Event | None = None
    """The first event that came out otherwise, as it was then; none if the replay went further."""
    replayed_event: Event | None = None
    prompt_diffs: tuple[str, ...] = ()
    """How prompts differ from those on record, each as a unified diff."""

    @property
    def is_same(self) -> bool:
        """Whether the run came out byte for byte."""
        return self.recorded_digest == self.replayed_digest


async def verify(source: Source, run_id: str, scratch: Store, tools: Toolbox | None = None) -> Verification:
    """Play a run again in a fresh store, and compare. `scratch` must be empty; `tools` are what creatures are offered."""
    recorded = await source.run_events(run_id)
    cassette = Cassette(recorded, await _times(source, recorded))
    replay = _Replay(cassette, scratch, tools)
    replayed = await replay.play()
    then, now = _digests(recorded), _digests(replayed)
    place = next((n for n, pair in enumerate(zip(then, now, strict=False)) if pair[0] != pair[1]), None)
    if place is None and len(then) != len(now):
        place = min(len(then), len(now))
    return Verification(
        recorded_digest=then[-1] if then else "",
        replayed_digest=now[-1] if now else "",
        events=len(recorded),
        recorded_event=_at(recorded, place),
        replayed_event=_at(replayed, place),
        prompt_diffs=tuple([await _diff(source, change) for change in cassette.changes[:prompt_changes_max]]),
    )


async def _times(source: Source, events: Sequence[Event]) -> dict[str, int]:
    """The logical time of every event that these name as a cause, or as the last one that a prompt saw."""
    times = {event.id: event.lamport for event in events}
    for event in events:
        as_of = None if event.model is None else event.model.get("as_of")
        for named in (event.caused_by, as_of):
            if named is not None and named not in times:
                times[named] = (await source.event(named)).lamport
    return times


def _digests(events: Sequence[Event]) -> list[str]:
    digest, texts = Digest(), []
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

    def __init__(self, cassette: Cassette, scratch: Store, tools: Toolbox | None) -> None:
        self._cassette = cassette
        self._scratch = scratch
        self._followed = 0
        self._graphs_now: dict[str, None] = {}
        self._births_now: dict[str, None] = {}
        started = cassette.events[0]
        if started.kind != kinds.RUN_STARTED or started.payload.get("scenario") is None:
            raise Refused(
                f"Run {started.run_id} was opened from no scenario, so nothing says how to open it again.",
                "Play a world to get a run that can be verified.",
            )
        self._started = msgspec.convert(started.payload, RunStarted)
        self._run_id = started.run_id or ""
        self._opened = self._events_of_opening()
        cast = self._started.cast
        names = {str(one["profile"]): str(one["model"]) for one in cast if not one.get("is_bound")}
        self._terrarium = Terrarium(
            scratch, cassette, SeededIds(0), NoModel(names), self._mind, tools=tools, record=cassette
        )
        cassette.produced = lambda: scratch.position
        cassette.let_happen = self._let_happen

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

        def way(moment: Moment) -> TakenUp:
            return self._cassette.way_by(moment.number_in_run, moment.cause)

        return RecordedAgent(told, way)

    async def play(self) -> tuple[Event, ...]:
        """The replayed run, in the order of histories."""
        async with self._terrarium as terrarium:
            await terrarium.open_run(self._opening())
            written = -1
            while written < self._scratch.position:
                written = self._scratch.position
                await self._cassette.before_commit()
                ahead = self._cassette.next()
                told = None if ahead is None else await terrarium.step_one(await self._graph(ahead))
                ahead = self._cassette.next()
                if ahead is None or (told is None and not await self._finish_if_told(ahead)):
                    break
            return await terrarium.run_events(self._run_id)

    async def _finish_if_told(self, ahead: Event) -> bool:
        """A run that somebody ended from outside is ended again."""
        if ahead.kind != kinds.RUN_FINISHED:
            return came_from_outside(ahead)
        await self._terrarium.finish(self._run_id, ahead.payload["reason"])
        return True

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

    def _as_then(self, member: Member, told: Json) -> Member:
        """One of the cast with what was dealt to it then, and the model that its run asked for."""
        opened = [e.sealed for e in self._cassette.events[: self._opened] if e.sealed is not None]
        dealt = next((sealed["facts"] for sealed in opened if told["creature"] in sealed["to"]), None)
        is_bound = bool(told.get("is_bound"))
        return msgspec.structs.replace(
            member, dealt=dealt, model=told["model"] if is_bound else "", is_bound=is_bound
        )

    async def _let_happen(self, event: Event) -> None:
        """What came from outside, at the place where it came."""
        terrarium = self._terrarium
        if event.actor == VISITOR:
            await terrarium.disturb(self._run_id, event.payload["text"], graph_id=await self._graph(event))
        elif event.kind == kinds.RUN_PAUSED:
            await terrarium.pause(self._run_id, event.payload["reason"])
        elif event.kind == kinds.RUN_FINISHED:
            await terrarium.finish(self._run_id, event.payload["reason"])
        elif event.kind == kinds.RUN_CONTINUED:
            await terrarium.proceed(self._run_id)
        elif event.kind not in kinds.ENGINE:
            draft = Draft(
                kind=event.kind, payload=event.payload, channel=event.channel, private=event.private
            )
            await terrarium.append(await self._creature(event.actor), draft)
        else:
            raise Refused(
                f"Run {self._run_id} was changed from outside by {event.kind} at turn {event.turn}, which cannot"
                " be played again yet.",
                "Verify a run that only its own creatures and visitors took part in.",
            )

    async def _graph(self, event: Event) -> str | None:
        """The graph of the replay that stands for one of the record: both came to be in the same order."""
        await self._follow()
        then = list(dict.fromkeys([one.graph_id for one in self._cassette.events]))
        place, now = then.index(event.graph_id), list(self._graphs_now)
        graph_id = now[place] if place < len(now) else None
        return graph_id if graph_id in self._terrarium.run_of(self._run_id).graph_ids else None

    async def _creature(self, then: str) -> str:
        """The creature of the replay that stands for one of the record: ids may have got other numbers."""
        await self._follow()
        births = dict.fromkeys([_born(e) for e in self._cassette.events if e.kind == kinds.CREATURE_STARTED])
        return dict(zip(births, self._births_now, strict=False)).get(then, then)

    async def _follow(self) -> None:
        """Note which graphs and creatures have come to be in the replay."""
        for event in await self._scratch.read_after(self._followed, self._scratch.position):
            self._followed = event.position or self._followed
            self._graphs_now[event.graph_id] = None
            if event.kind == kinds.CREATURE_STARTED:
                self._births_now[_born(event)] = None


def _born(event: Event) -> str:
    return str(event.payload["creature"])
