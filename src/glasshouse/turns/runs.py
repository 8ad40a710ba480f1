"""The runs: each one's limits, what was spent of them, and whether its end has come; folded from the ledger.

Always holds: a creature draws on the run it was born in, wherever its graph goes; so the sum of limits and the sum of
spend are the same before and after any merge or split. Turns are counted along each graph's line: a merge keeps the
longer count, a split gives both sides what was counted.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

import msgspec
from msgspec.structs import replace

from glasshouse.events import kinds
from glasshouse.events.carried import CarriedMinute, CarriedRun, converted
from glasshouse.events.event import RESERVED_ACTORS, Event, Json
from glasshouse.events.limits import Governor
from glasshouse.events.manifest_fields import fields_of
from glasshouse.events.payloads import (
    SessionForked,
    SessionRestated,
    TopologyChanged,
    payload_of,
    restated_of,
)
from glasshouse.events.run_payloads import (
    BranchOf,
    RunFinished,
    RunStarted,
    ToolReturned,
    sealed_of,
    verdict_of,
)
from glasshouse.events.usage import NOTHING, Usage, usage_of
from glasshouse.turns.clocks import Clocks, merged
from glasshouse.turns.governor import Spend, hour
from glasshouse.turns.playbill import Playbill, playbill_of
from glasshouse.world.speaking import ends_its_act
from glasshouse.world.state import World

version: Final = 8
"""Goes up when the fold changes, so that snapshots of the old fold are not used."""

NOTED: Final = frozenset(
    {
        kinds.RUN_STARTED,
        kinds.RUN_FINISHED,
        kinds.TURN_STARTED,
        kinds.TOPOLOGY_CHANGED,
        kinds.SESSION_FORKED,
        kinds.SESSION_RESTATED,
        kinds.JUDGE_VERDICT,
    }
)
"""The kinds that move the runs, whoever wrote them; all others do only if a model was asked or something was sealed,
or if they are what a run ends with."""


class Account(msgspec.Struct):
    """Who plays in a run, and what its thinking has cost."""

    cast_key: str
    model: str
    """The model that stood behind it as the run began."""
    usage: Usage = NOTHING


class Spent(msgspec.Struct, omit_defaults=True):
    """What a run has behind it: what a purse counts, and what a branch or a resumed session carries over of it."""

    seconds: float = 0.0
    """How long it had been played by the clock on the wall, when it was carried over."""
    usage: Usage = NOTHING
    turns: int = 0
    minutes_usd: dict[int, float] = msgspec.field(default_factory=dict)
    """Money by minute of the clock, for the sliding hour; older minutes are dropped."""
    ends_counted: int = 0
    verdict: str | None = None
    """The event in which a judge last named a winner."""
    winner: str | None = None
    why: str | None = None
    truth: Json = msgspec.field(default_factory=dict)
    """Everything that was dealt in this run: what referees know."""
    knowers: list[str] = msgspec.field(default_factory=list)
    """The creatures that something was dealt to."""
    accounts: dict[str, Account] = msgspec.field(default_factory=dict)
    """Of each creature that it began with."""

    def usd_since(self, now: datetime) -> float:
        """Money spent within the hour before now."""
        first = int((now - hour).timestamp() // 60)
        return sum([usd for minute, usd in self.minutes_usd.items() if minute >= first])


class Purse(msgspec.Struct):
    """One run's limits and what was spent of them, and what it takes for the run to end by itself."""

    limits: Governor
    playbill: Playbill
    rng_seed: int = 0
    seed: str = ""
    started_at: datetime | None = None
    spent: Spent = msgspec.field(default_factory=Spent)
    folder: str | None = None
    """Where its world was opened from, and a referee may stand."""
    cast: dict[str, str] = msgspec.field(default_factory=dict)
    """The creatures it began with, and the handles they had then: what teams are written in."""
    bound: dict[str, str] = msgspec.field(default_factory=dict)
    """The creatures for which this run asks for a model by name."""
    spawnable: dict[str, Json] = msgspec.field(default_factory=dict)
    """The manifests of those that may be born during the play, by name."""
    profiles: list[str] = msgspec.field(default_factory=list)
    """The sizes of model that its cast and its spawnable ask for."""
    finished: RunFinished | None = None
    ended_in: str | None = None
    """The event that says how it ended."""
    told_in: str = ""
    """The event that says how it began."""
    branch_of: BranchOf | None = None
    beside: list[str] = msgspec.field(default_factory=list)
    """Of a run that lives again: the other runs that were brought back with it."""
    scenario_digest: str = ""

    @property
    def has_come_to_its_end(self) -> bool:
        """Whether what the scenario ends with has happened."""
        ends_when = self.playbill.ends_when
        return ends_when.kind is not None and self.spent.ends_counted >= ends_when.count


def carried_run(purse: Purse, until: datetime, *, is_over: bool) -> CarriedRun:
    """What a run has behind it at a time. One that was over has its end before it again."""
    began = purse.started_at or until
    is_over = is_over or purse.finished is not None
    minutes = [CarriedMinute(minute, usd) for minute, usd in purse.spent.minutes_usd.items()]
    run = replace(
        converted(purse.spent, CarriedRun),
        seconds=max(0.0, (until - began).total_seconds()),
        minutes=minutes,
    )
    return replace(run, ends_counted=0, verdict=None, winner=None, why=None) if is_over else run


class Runs(msgspec.Struct):
    """Every run that has begun, and the clocks of every graph that they play in."""

    purses: dict[str, Purse] = msgspec.field(default_factory=dict)
    clocks: dict[str, Clocks] = msgspec.field(default_factory=dict)
    endings: dict[str, None] = msgspec.field(default_factory=dict)
    """Kinds that some run ends with."""
    watched: dict[str, None] = msgspec.field(default_factory=dict)
    """Runs that may be over: those whose end was counted, and those that have a referee."""
    hiding: dict[str, None] = msgspec.field(default_factory=dict)
    """Runs whose graphs are kept from the creatures of others."""

    def concerns(self, event: Event) -> bool:
        """Whether an event could move the runs at all."""
        return (
            event.caused_by is not None
            or event.sealed is not None
            or event.kind in NOTED
            or event.kind in self.endings
        )

    def apply(self, world: World, event: Event) -> None:
        """Move on by one event, which the world has already taken in."""
        kind = event.kind
        if kind == kinds.RUN_STARTED:
            self._start(event)
        elif kind == kinds.TURN_STARTED:
            self._note_turn(world, event)
        elif kind == kinds.TOPOLOGY_CHANGED:
            self._note_merge(payload_of(event, TopologyChanged))
        elif kind == kinds.SESSION_FORKED:
            self._note_split(world, event)
        elif kind == kinds.SESSION_RESTATED:
            self._take_over(event.graph_id, restated_of(event), event.created_at)
        purse = self.purses.get(event.run_id or "")
        if purse is not None:
            self._note_spend(purse.spent, event)
            if event.kind == kinds.TOOL_RETURNED and payload_of(event, ToolReturned).is_edit:
                self._note_edit(event)
            _note_end(purse, event)
            if purse.finished is not None:
                self.watched.pop(event.run_id or "", None)
            elif purse.has_come_to_its_end or purse.playbill.competition.referee is not None:
                self.watched[event.run_id or ""] = None

    def _start(self, event: Event) -> None:
        told = payload_of(event, RunStarted)
        if told.branch_of is not None and event.run_id in self.purses:
            return  # A run that lives again in several graphs is told of in each.
        purse = Purse(
            limits=told.limits or Governor(),
            playbill=playbill_of(told.scenario),
            rng_seed=told.rng_seed,
            seed=told.seed,
            started_at=event.created_at,
            spent=Spent(accounts={one.creature: Account(one.cast_key, one.model) for one in told.cast}),
            folder=None if told.recipe is None else told.recipe.path,
            cast={one.creature: one.handle for one in told.cast},
            bound={one.creature: one.model for one in told.cast if one.is_bound},
            told_in=event.id,
            branch_of=told.branch_of,
            scenario_digest=told.scenario_digest,
            spawnable=told.spawnable,
            profiles=_profiles(told),
        )
        self.purses[event.run_id or ""] = purse
        if purse.playbill.ends_when.kind is not None:
            self.endings[purse.playbill.ends_when.kind] = None
        if purse.playbill.policy.hidden:
            self.hiding[event.run_id or ""] = None

    def _note_turn(self, world: World, event: Event) -> None:
        clocks = self.clocks.setdefault(event.graph_id, Clocks())
        passed = event.turn - clocks.turn
        clocks.begin_turn(event.turn)
        graph = world.graphs.get(event.graph_id)
        present = () if graph is None else {world.creatures[name].run_id: None for name in graph.creatures}
        for run_id in present:
            purse, run = self.purses.get(run_id or ""), world.runs.get(run_id or "")
            if purse is not None and run is not None and run.status == "playing":
                count = clocks.turns.get(run_id or "", 0) + passed
                clocks.turns[run_id or ""] = count
                purse.spent.turns = max(purse.spent.turns, count)

    def _note_merge(self, told: TopologyChanged) -> None:
        if told.kind != "merge":
            if not told.new_graph_ids:
                for graph_id in told.old_graph_ids:
                    self.clocks.pop(graph_id, None)
            return
        parts = [self.clocks.pop(graph_id, Clocks()) for graph_id in told.old_graph_ids]
        self.clocks[told.new_graph_ids[0]] = merged(parts)

    def _note_split(self, world: World, event: Event) -> None:
        told = payload_of(event, SessionForked)
        if told.how != "split" or event.graph_id in self.clocks:
            return
        parent = self.clocks.get(world.sessions[told.parents[0]].segment.graph_id)
        if parent is not None:
            self.clocks[event.graph_id] = parent.part(event.id)

    def _take_over(self, graph_id: str, told: SessionRestated, told_at: datetime) -> None:
        """A run that lives again has spent what was spent then, and a graph's clocks go on."""
        for run_id, then in told.carried.runs.items():
            purse = self.purses.get(told.runs[run_id])
            if purse is None:
                continue
            spent = converted(then, Spent)
            spent.minutes_usd = {part.minute: part.usd for part in then.minutes}
            spent.accounts = _accounts_now(purse.spent.accounts, spent.accounts, told.creatures)
            spent.knowers = [told.creatures.get(name, name) for name in spent.knowers]
            purse.spent, purse.started_at = spent, told_at - timedelta(seconds=spent.seconds)
            purse.beside = [new for old, new in told.runs.items() if old != run_id]
            if purse.has_come_to_its_end or purse.playbill.competition.referee is not None:
                self.watched[told.runs[run_id]] = None
        self.clocks[graph_id] = converted(told.carried.clocks, Clocks).renamed(told.runs)

    def _note_spend(self, spent: Spent, event: Event) -> None:
        """An act that reached no model counts as one call too: what is bounded is thinking, whoever does it. One that
        asked only on its way, where that was told already, says so with an empty list of calls."""
        use = event.model
        reached = [] if use is None else use.calls_answered
        has_told_all = use is not None and not use.calls
        count = len(reached) or int(not has_told_all and _ends_an_act(event))
        if count:
            clocks = self.clocks.setdefault(event.graph_id, Clocks())
            run_id = event.run_id or ""
            clocks.calls[run_id] = clocks.calls.get(run_id, 0) + count
            account = spent.accounts.get(event.actor)
            for sums in (spent,) if account is None else (spent, account):
                for call in reached:
                    sums.usage = sums.usage.plus(usage_of(call))
                if not reached:
                    sums.usage = sums.usage.plus(Usage(calls=count))
        for call in reached:
            if call.usd:
                _note_minute(spent, event.created_at, call.usd)

    def _note_edit(self, event: Event) -> None:
        edits, run_id = self.clocks.setdefault(event.graph_id, Clocks()).edits, event.run_id or ""
        edits[run_id] = edits.get(run_id, 0) + 1

    def spend(
        self, run_id: str, graph_id: str, now: datetime, held: Usage = NOTHING, calls_held: int = 0
    ) -> Spend:
        """What the governor needs to know before a call; `held` is what acts under way have not told of yet."""
        purse = self.purses[run_id]
        spent = purse.spent
        clocks = self.clocks.get(graph_id)
        return Spend(
            started_at=purse.started_at,
            usage=spent.usage.plus(held),
            usd_in_last_hour=held.usd_known + (spent.usd_since(now) if spent.minutes_usd else 0.0),
            calls_in_turn=calls_held + (0 if clocks is None else clocks.calls.get(run_id, 0)),
        )

    def is_deferred(self, run_id: str | None, graph_id: str) -> bool:
        """Whether a run has used up its calls of this turn, and has the rest of it put off to the next."""
        purse = self.purses.get(run_id or "")
        if (
            purse is None
            or purse.playbill.on_turn_limit != "defer"
            or purse.limits.max_calls_per_turn is None
        ):
            return False
        clocks = self.clocks.get(graph_id)
        return clocks is not None and clocks.calls.get(run_id or "", 0) >= purse.limits.max_calls_per_turn

    def edits_in_turn(self, run_id: str | None, graph_id: str) -> int:
        """How many changes tools of a run have made in this graph's present turn."""
        clocks = self.clocks.get(graph_id)
        return 0 if clocks is None else clocks.edits.get(run_id or "", 0)

    def turns_of(self, run_id: str, graph_id: str) -> int:
        """How many turns a run has played along the line of this graph."""
        clocks = self.clocks.get(graph_id)
        return 0 if clocks is None else clocks.turns.get(run_id, 0)


def _profiles(told: RunStarted) -> list[str]:
    named = [one.profile for one in told.cast]
    named += [fields_of(manifest).model_profile for manifest in told.spawnable.values()]
    return [name for name in dict.fromkeys(named) if name]


def _ends_an_act(event: Event) -> bool:
    return event.caused_by is not None and event.actor not in RESERVED_ACTORS and ends_its_act(event)


def _accounts_now(
    now: dict[str, Account], then: dict[str, Account], creatures: dict[str, str]
) -> dict[str, Account]:
    """The accounts of a cast that lives again: who plays now, with what was spent then."""
    for name, spent in then.items():
        account = now.get(creatures.get(name, ""))
        if account is not None:
            account.usage = spent.usage
    return now


def _note_minute(spent: Spent, at: datetime, usd: float) -> None:
    minute = int(at.timestamp() // 60)
    spent.minutes_usd[minute] = spent.minutes_usd.get(minute, 0.0) + usd
    first = int((at - hour).timestamp() // 60)
    for old in [kept for kept in spent.minutes_usd if kept < first]:
        del spent.minutes_usd[old]


def _note_end(purse: Purse, event: Event) -> None:
    spent = purse.spent
    if event.kind == purse.playbill.ends_when.kind:
        spent.ends_counted += 1
    if event.kind == kinds.JUDGE_VERDICT:
        verdict = verdict_of(event)
        spent.verdict, spent.winner, spent.why = event.id, verdict.winner, verdict.text
    if event.sealed is not None:
        sealed = sealed_of(event)
        spent.truth = {**spent.truth, **sealed.facts}
        spent.knowers += [owner for owner in sealed.to if owner not in spent.knowers]
    if event.kind == kinds.RUN_FINISHED:
        purse.finished, purse.ended_in = payload_of(event, RunFinished), event.id
