"""The purses: each run's limits, what it has spent of them, and whether it has come to its end; folded from the ledger.

Always holds: a creature spends from the run that it was born in, whatever graph it is in. So the sums of limits and of
spend are the same before and after any merge or split. Turns are counted along each graph's line (ADR 0023): a split
gives both sides the count so far, and a merge keeps the larger count. So turns that two graphs shared count once after
they merge again.

A model call is allowed only if even its worst case fits the limits, and a limit in dollars allows no call of unknown
price. So spend exceeds a limit only if a model charges more than its worst case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec
from msgspec.structs import replace

from glasshouse.events import kinds, payloads
from glasshouse.events.carried import CarriedCounts, CarriedMinute, CarriedRun
from glasshouse.events.event import Event, Json, costs_of
from glasshouse.events.model_use import NOTHING, Usage
from glasshouse.events.payloads import (
    Governor,
    converted,
    payload_of,
    sealed_of,
    settled,
    total_usd_max,
    verdict_of,
)
from glasshouse.events.recorded_fields import fields_of
from glasshouse.turns.moment.playbill import Playbill, playbill_of
from glasshouse.turns.moment.prompt import text_digest
from glasshouse.turns.runs.agenda import members_of
from glasshouse.world.fold.turn_counts import count_turn, merged_counts, merged_turn
from glasshouse.world.state.state import World

version: Final = 18
"""Increase it when the fold changes, so that snapshots of the old fold are not used."""

stale_lines_max: Final = 12
"""After this many lines in a row that bring nothing new, the next beat comes, or the scene ends."""

NOTED: Final = frozenset(
    {
        kinds.RUN_STARTED,
        kinds.RUN_PAUSED,
        kinds.RUN_CONTINUED,
        kinds.RUN_FINISHED,
        kinds.TURN_STARTED,
        kinds.TOPOLOGY_CHANGED,
        kinds.SESSION_FORKED,
        kinds.SESSION_RESTATED,
        kinds.JUDGE_VERDICT,
        kinds.WORLD_OBSERVED,
        kinds.USER_INJECTED,
    }
)
"""The kinds that always concern this fold. An event of another kind does only if it is part of an act, has a sealed
part, or is of the kind that ends some run."""


class Account(msgspec.Struct, gc=False):
    """One creature of a run's cast, and what its model calls have cost."""

    cast_key: str
    model: str
    """Its model at the start of the run."""
    usage: Usage = NOTHING


class Spent(msgspec.Struct, omit_defaults=True, gc=False):
    """What a run has spent, and its result so far. A branch or a resumed session carries it over."""

    seconds: float = 0.0
    """The wall time that it had been played when it was carried over."""
    usage: Usage = NOTHING
    turns: int = 0
    minutes_usd: dict[int, float] = msgspec.field(default_factory=dict)
    """Minute since 1970 -> money spent in it. Minutes older than an hour are dropped."""
    ends_counted: int = 0
    winner: str | None = None
    why: str | None = None
    truth: Json = msgspec.field(default_factory=dict)
    """Everything that was dealt in this run, for referees."""
    knowers: tuple[str, ...] = ()
    """The creatures that something was dealt to."""
    accounts: dict[str, Account] = msgspec.field(default_factory=dict)
    """Creature id -> account, for the creatures that the run began with."""
    full_turns: int = 0
    """How many of its turns had no calls left for what was still owed."""

    def usd_since(self, now: datetime) -> float:
        """The money spent within the hour before `now`."""
        first = _minute_an_hour_before(now)
        return sum([usd for minute, usd in self.minutes_usd.items() if minute >= first])


class Plan(msgspec.Struct, frozen=True, gc=False):
    """What a run was begun with. Runs that were begun alike share one, so that a finished run costs little."""

    limits: Governor = Governor()
    limits_given: tuple[str, ...] = ()
    """The names of the limits that the caller gave. The others are the scenario's."""
    playbill: Playbill = Playbill()
    folder: str | None = None
    """The path that its world was opened from: a folder or a scenario file. A referee may be defined beside it."""
    spawnable: dict[str, Json] = msgspec.field(default_factory=dict)
    """Name -> manifest of the creatures that may be born during the run."""
    profiles: tuple[str, ...] = ()
    """The model profiles that its cast and its spawnable creatures use."""
    scenario_digest: str = ""
    documents: dict[str, str] = msgspec.field(default_factory=dict)
    """The files that its creatures may look things up in, each with its digest when it began."""
    is_edited: bool = False
    """Whether its world was edited before the start."""

    @property
    def digest(self) -> str:
        """What its content is known by."""
        return text_digest(msgspec.json.encode(self).decode())


class Purse(msgspec.Struct, dict=True, array_like=True):
    """The limits of one run, what it has spent, and what makes it end.

    `plan` is one of `Runs.plans`, to which it is tied after decoding. Only its digest is encoded.
    """

    plan_digest: str
    rng_seed: int = 0
    seed: str = ""
    started_at: datetime | None = None
    spent: Spent = msgspec.field(default_factory=Spent)
    cast: dict[str, str] = msgspec.field(default_factory=dict)
    """Creature id -> handle at the start of the run. The scenario's teams use these handles."""
    renamed: dict[str, str] = msgspec.field(default_factory=dict)
    """Handle -> the handle that the creature had before, as the run's scenario says."""
    bound: dict[str, str] = msgspec.field(default_factory=dict)
    """Creature id -> model, for creatures whose model the run asked for by name."""
    paused: payloads.RunPaused | None = None
    is_offline: bool = False
    """Whether the offline troupe plays the rest of it."""
    finished: payloads.RunFinished | None = None
    ended_in: str | None = None
    """The id of its `run.finished`."""
    told_in: str = ""
    """The id of its `run.started`."""
    branch_of: payloads.BranchOf | None = None
    beside: tuple[str, ...] = ()
    """For a run in a branch or a resumed session: the other runs that were restated with it."""
    rules: int = payloads.rules_now
    """The number of the rules that it is played by."""
    prompting: int = payloads.prompting_now
    """The number under which its models were asked at first."""

    def __post_init__(self) -> None:
        self.plan: Plan

    @property
    def limits(self) -> Governor:
        """What the run may spend."""
        return self.plan.limits

    @property
    def limits_given(self) -> tuple[str, ...]:
        """The names of the limits that the caller gave."""
        return self.plan.limits_given

    @property
    def playbill(self) -> Playbill:
        """The scenario."""
        return self.plan.playbill

    @property
    def folder(self) -> str | None:
        """The path that its world was opened from."""
        return self.plan.folder

    @property
    def spawnable(self) -> dict[str, Json]:
        """Name -> manifest of the creatures that may be born during the run."""
        return self.plan.spawnable

    @property
    def profiles(self) -> tuple[str, ...]:
        """The model profiles that its creatures use."""
        return self.plan.profiles

    @property
    def scenario_digest(self) -> str:
        """The digest of its scenario; empty if it has none."""
        return self.plan.scenario_digest

    @property
    def is_edited(self) -> bool:
        """Whether its world was edited before the start, so that only the record has it."""
        return self.plan.is_edited

    @property
    def has_come_to_its_end(self) -> bool:
        """Whether the event that ends the scenario has happened often enough."""
        ends_when = self.playbill.ends_when
        return ends_when.kind is not None and self.spent.ends_counted >= ends_when.count

    @property
    def may_be_over(self) -> bool:
        """Whether the run has come to its end, or a referee must be asked."""
        return self.playbill.competition.referee is not None or self.has_come_to_its_end


def carried_run(purse: Purse, until: datetime, *, is_over: bool) -> CarriedRun:
    """What a run has spent at a time, to be carried over. If the run was over, its result is reset."""
    began = purse.started_at or until
    run = replace(
        converted(purse.spent, CarriedRun),
        seconds=max(0.0, (until - began).total_seconds()),
        minutes=[CarriedMinute(minute, usd) for minute, usd in purse.spent.minutes_usd.items()],
    )
    if is_over or purse.finished is not None:
        return replace(run, ends_counted=0, winner=None, why=None)
    return run


class Spend(msgspec.Struct, frozen=True):
    """What a run has spent before one more call."""

    usage: Usage = NOTHING
    usd_in_last_hour: float = 0.0
    calls_in_turn: int = 0


def tripped_by_turn(limits: Governor, turns: int) -> str | None:
    """The limit that forbids a run its next turn; none if it may go on."""
    return "max_turns" if limits.max_turns is not None and turns >= limits.max_turns else None


def wall_seconds_left(purse: Purse, now: datetime) -> float | None:
    """How long a run may still be played; None if its wall time has no limit."""
    minutes_max = purse.limits.max_wall_minutes
    if minutes_max is None or purse.started_at is None:
        return None
    return minutes_max * 60 - (now - purse.started_at).total_seconds()


def tripped_by_time(purse: Purse, now: datetime) -> str | None:
    """The limit of wall time if a run has used it up, else none."""
    if purse.limits.max_wall_minutes is None:
        return None
    seconds_left = wall_seconds_left(purse, now)
    return "max_wall_minutes" if seconds_left is not None and seconds_left <= 0 else None


TicksLeft = Callable[[], int]
"""Counts the ticks that a run still owes in a graph and that have made no call yet."""


def no_ticks() -> int:
    """The ticks that leave no room for others: none, for the first call of a tick, because ticks do not wait for
    ticks."""
    return 0


def fits_turn(limits: Governor, calls: int, more: int, ticks_left: TicksLeft) -> bool:
    """Whether a turn with this many calls has room for more, beside the calls that it keeps for its ticks.

    A turn that puts off what is left over keeps a call for each tick that it owes, but at most half of its calls. So a
    judge that ticks keeps its cadence, however much is said (ADR 0106).
    """
    most = limits.max_calls_per_turn
    if not isinstance(most, int):
        return True
    room = most - calls - more
    if room < 0 or limits.on_turn_limit != "defer":
        return room >= 0
    kept_max = max(1, most // 2)
    return room >= kept_max or room >= min(ticks_left(), kept_max)


def tripped_by_call(
    limits: Governor, spend: Spend, worst: Usage, ticks_left: TicksLeft = no_ticks
) -> str | None:
    """The limit that a call with this worst case would exceed; none if it fits all limits."""
    usage = spend.usage
    if not fits_turn(limits, spend.calls_in_turn, worst.calls, ticks_left):
        return "max_calls_per_turn"
    if limits.max_total_calls is not None and usage.calls + worst.calls > limits.max_total_calls:
        return "max_total_calls"
    if limits.max_total_tokens is not None and usage.tokens + worst.tokens > limits.max_total_tokens:
        return "max_total_tokens"
    # A call of unknown price fits no limit in dollars.
    total_max = total_usd_max(limits)
    if total_max is not None and (worst.is_unpriced or usage.usd_known + worst.usd_known > total_max):
        return "max_total_usd"
    usd = spend.usd_in_last_hour + worst.usd_known
    usd_max = limits.hourly_budget_usd
    return "hourly_budget_usd" if usd_max is not None and (worst.is_unpriced or usd > usd_max) else None


def frees_at(purse: Purse, held: Usage, worst: Usage, now: datetime) -> datetime | None:
    """When the limit in dollars an hour leaves room for a call with this worst case; None if it never does.

    `held` is what running acts have spent and not recorded yet. It counts as spent now.
    """
    usd_max = purse.limits.hourly_budget_usd
    if usd_max is None or worst.is_unpriced or worst.usd_known > usd_max:
        return None
    minutes_usd = dict(purse.spent.minutes_usd)
    this_minute = int(now.timestamp() // 60)
    minutes_usd[this_minute] = minutes_usd.get(this_minute, 0.0) + held.usd_known
    freed = sorted(minutes_usd)
    fits = [m for m in freed if sum([minutes_usd[n] for n in freed if n > m]) + worst.usd_known <= usd_max]
    # A minute counts until it has ended an hour ago.
    return datetime.fromtimestamp((fits[0] + 1) * 60, UTC) + timedelta(hours=1)


class Clocks(msgspec.Struct, array_like=True, gc=False):
    """The counts of one graph: turns of each run along its line; calls and edits of each run in its current turn."""

    turns: dict[str, int] = msgspec.field(default_factory=dict)
    calls: dict[str, int] = msgspec.field(default_factory=dict)
    turn: int = 0
    edits: dict[str, int] = msgspec.field(default_factory=dict)
    shared: dict[str, CarriedCounts] = msgspec.field(default_factory=dict)
    """Counts that other graphs have too: for each split in this turn, by its event id, what was counted before it."""
    stale_lines: int = 0
    """How many lines in a row brought nothing new. A merge or a split brings new company, so it begins anew."""
    full_turns: dict[str, int] = msgspec.field(default_factory=dict)
    """How many turns of each run along its line were full."""

    def note_line(self, event: Event) -> None:
        """Count a line that brings nothing new; any other line is news. An act without a line says nothing either way."""
        use = event.model
        kind = event.kind
        if kind == kinds.LOOP_SUSPECTED or (use is not None and use.is_stale):
            self.stale_lines += 1
        elif self.stale_lines and kind not in kinds.NO_LINES and kind != kinds.AGENT_REFLECTED:
            self.stale_lines = 0

    def reset_turn(self) -> None:
        """Reset what is counted for one turn."""
        self.calls = {}
        self.edits = {}
        self.shared = {}

    def split(self, at: str) -> Clocks:
        """The clocks of a graph that splits off at an event. Both graphs share what was counted until then."""
        own = self.own()
        if own.calls or own.edits:
            self.shared = {**self.shared, at: own}
        return replace(self.renamed({}), stale_lines=0)

    def own(self) -> CarriedCounts:
        """What was counted here since the last split."""
        before = _sum(self.shared.values())
        return CarriedCounts(_less(self.calls, before.calls), _less(self.edits, before.edits))

    def renamed(self, runs: Mapping[str, str]) -> Clocks:
        """A copy with other names for the runs; a run without another name keeps its own."""

        def named(counts: Mapping[str, int]) -> dict[str, int]:
            return {runs.get(run_id, run_id): count for run_id, count in counts.items()}

        shared = {
            at: CarriedCounts(named(counted.calls), named(counted.edits))
            for at, counted in self.shared.items()
        }
        return Clocks(
            named(self.turns),
            named(self.calls),
            self.turn,
            named(self.edits),
            shared,
            self.stale_lines,
            named(self.full_turns),
        )


def merged(parts: Sequence[Clocks]) -> Clocks:
    """The clocks of graphs that become one."""
    shared = {at: counted for part in parts for at, counted in part.shared.items()}
    counted = _sum([*shared.values(), *[part.own() for part in parts]])
    return Clocks(
        merged_counts([part.turns for part in parts]),
        counted.calls,
        merged_turn(parts),
        counted.edits,
        shared,
        full_turns=merged_counts([part.full_turns for part in parts]),
    )


def _sum(parts: Iterable[CarriedCounts]) -> CarriedCounts:
    total = CarriedCounts({}, {})
    for part in parts:
        _count_in(total.calls, part.calls)
        _count_in(total.edits, part.edits)
    return total


# Each merge counts what is nearly always nothing: plain dicts take a tenth of what `Counter` takes.
def _count_in(total: dict[str, int], counts: Mapping[str, int]) -> None:
    for run_id, count in counts.items():
        total[run_id] = total.get(run_id, 0) + count


def _less(counts: Mapping[str, int], before: Mapping[str, int]) -> dict[str, int]:
    """What was counted beyond `before`, of each run of which something was."""
    return {run_id: left for run_id, count in counts.items() if (left := count - before.get(run_id, 0)) > 0}


class Runs(msgspec.Struct):
    """Every run that has begun, and the clocks of every graph that they play in."""

    purses: dict[str, Purse] = msgspec.field(default_factory=dict)
    plans: dict[str, Plan] = msgspec.field(default_factory=dict)
    """Digest -> plan of one or more of these runs."""
    clocks: dict[str, Clocks] = msgspec.field(default_factory=dict)
    endings: dict[str, None] = msgspec.field(default_factory=dict)
    """The kinds that end some run."""
    watched: dict[str, None] = msgspec.field(default_factory=dict)
    """Runs that may be over: those that have come to their end, and those with a referee."""
    hiding: dict[str, None] = msgspec.field(default_factory=dict)
    """Hidden runs: the creatures of other graphs may not see their graphs."""
    apart: dict[str, None] = msgspec.field(default_factory=dict)
    """Runs that are played as if there were no other."""

    def __post_init__(self) -> None:
        for purse in self.purses.values():
            purse.plan = self.plans[purse.plan_digest]

    def concerns(self, event: Event) -> bool:
        """Whether an event could change this fold."""
        return (
            event.caused_by is not None
            or event.model is not None
            or event.sealed is not None
            or event.kind in NOTED
            or event.kind in self.endings
            or (event.run_id is not None and event.kind in kinds.ENGINE)
        )

    def apply(self, world: World, event: Event) -> None:
        """Fold in one event, which the world has already taken in."""
        kind = event.kind
        run_id = event.run_id or ""
        if kind in NOTED:
            self._note(world, event)
        purse = self.purses.get(run_id)
        if purse is None:
            return
        if event.model is not None or event.caused_by is not None:
            self._note_spend(purse.spent, run_id, event)
        if kind == kinds.TOOL_RETURNED and payload_of(event, payloads.ToolReturned).is_edit:
            edits = self._clocks_of(event.graph_id).edits
            edits[run_id] = edits.get(run_id, 0) + 1
        clocks = self.clocks.get(event.graph_id)
        if clocks is not None:
            clocks.note_line(event)
        if kind in NOTED or kind in self.endings or event.sealed is not None:
            self._note_end(run_id, purse, event)

    def _note(self, world: World, event: Event) -> None:
        kind = event.kind
        if kind == kinds.TURN_STARTED:
            self._note_turn(world, event)
        elif kind == kinds.RUN_STARTED:
            self._start(event.run_id or "", event)
        elif kind == kinds.TOPOLOGY_CHANGED:
            self._note_topology(payload_of(event, payloads.TopologyChanged))
        elif kind == kinds.SESSION_FORKED:
            self._note_split(world, event)
        elif kind == kinds.SESSION_RESTATED:
            restated = payload_of(event, payloads.SessionRestated)
            self._take_over(event.graph_id, restated, event.created_at)

    def _clocks_of(self, graph_id: str) -> Clocks:
        clocks = self.clocks.get(graph_id)
        if clocks is None:
            clocks = self.clocks[graph_id] = Clocks()
        return clocks

    def _start(self, run_id: str, event: Event) -> None:
        started = payload_of(event, payloads.RunStarted)
        if started.branch_of is not None and run_id in self.purses:
            return  # A run that is restated in several graphs has a `run.started` in each of them.
        cast = started.cast
        spawnable = started.spawnable
        profiles = [entry.profile for entry in cast]
        profiles += [fields_of(manifest).model_profile for manifest in spawnable.values()]
        playbill = playbill_of(started.scenario or {"policy": started.policy})
        plan = Plan(
            limits=settled(started.limits or Governor(), len(cast)),
            limits_given=tuple(started.limits_given),
            playbill=playbill,
            folder=None if started.recipe is None else started.recipe.path or None,
            spawnable=spawnable,
            profiles=tuple([name for name in dict.fromkeys(profiles) if name]),
            scenario_digest=started.scenario_digest,
            documents=started.documents,
            is_edited=started.is_edited,
        )
        purse = self.purses[run_id] = Purse(
            plan.digest,
            rng_seed=started.rng_seed,
            seed=started.seed,
            started_at=event.created_at,
            spent=Spent(accounts={entry.creature: Account(entry.cast_key, entry.model) for entry in cast}),
            cast={entry.creature: entry.handle for entry in cast},
            renamed={entry.handle: entry.was for entry in cast if entry.was is not None},
            bound={entry.creature: entry.model for entry in cast if entry.is_bound},
            told_in=event.id,
            branch_of=started.branch_of,
            rules=started.rules,
            prompting=started.prompting,
        )
        purse.plan = self.plans.setdefault(purse.plan_digest, plan)
        if playbill.ends_when.kind is not None:
            self.endings[playbill.ends_when.kind] = None
        if playbill.policy.hidden:
            self.hiding[run_id] = None
        if started.is_apart:
            self.apart[run_id] = None

    def _note_turn(self, world: World, event: Event) -> None:
        clocks = self._clocks_of(event.graph_id)
        graph = world.graphs.get(event.graph_id)
        runs = () if graph is None else members_of(world, graph).runs
        playing = [
            run_id
            for run_id in runs
            if run_id in self.purses and (run := world.runs.get(run_id)) and run.status == "playing"
        ]
        count_turn(clocks, event.turn, playing)
        clocks.reset_turn()
        for run_id in playing:
            spent = self.purses[run_id].spent
            spent.turns = max(spent.turns, clocks.turns[run_id])
        for run_id in payload_of(event, payloads.TurnStarted).full if "full" in event.payload else ():
            count = clocks.full_turns[run_id] = clocks.full_turns.get(run_id, 0) + 1
            if run_id in self.purses:
                spent = self.purses[run_id].spent
                spent.full_turns = max(spent.full_turns, count)

    def _note_topology(self, change: payloads.TopologyChanged) -> None:
        if change.kind == "merge":
            parts = [self.clocks.pop(graph_id, Clocks()) for graph_id in change.old_graph_ids]
            self.clocks[change.new_graph_ids[0]] = merged(parts)
        elif not change.new_graph_ids:
            for graph_id in change.old_graph_ids:
                self.clocks.pop(graph_id, None)

    def _note_split(self, world: World, event: Event) -> None:
        forked = payload_of(event, payloads.SessionForked)
        if forked.how != "split" or event.graph_id in self.clocks:
            return
        parent = self.clocks.get(world.sessions[forked.parents[0]].segment.graph_id)
        if parent is not None:
            self.clocks[event.graph_id] = parent.split(event.id)

    def _take_over(self, graph_id: str, restated: payloads.SessionRestated, at: datetime) -> None:
        """Take over what the runs of a restated past have spent, and the clocks of its graph."""
        for run_id, then in restated.carried.runs.items():
            purse = self.purses.get(restated.runs[run_id])
            if purse is None:
                continue
            accounts = purse.spent.accounts
            for name, account_then in then.accounts.items():
                account = accounts.get(restated.creatures.get(name, ""))
                if account is not None:
                    account.usage = account_then.usage
            spent = purse.spent = converted(then, Spent)
            spent.accounts = accounts
            spent.minutes_usd = {part.minute: part.usd for part in then.minutes}
            spent.knowers = tuple([restated.creatures.get(name, name) for name in then.knowers])
            purse.started_at = at - timedelta(seconds=spent.seconds)
            purse.beside = tuple([new for old, new in restated.runs.items() if old != run_id])
            if purse.may_be_over:
                self.watched[restated.runs[run_id]] = None
        self.clocks[graph_id] = converted(restated.carried.clocks, Clocks).renamed(restated.runs)

    def _note_spend(self, spent: Spent, run_id: str, event: Event) -> None:
        """Count the calls and costs of an event."""
        costs = costs_of(event)
        if not costs:
            return
        calls = self._clocks_of(event.graph_id).calls
        calls[run_id] = calls.get(run_id, 0) + len(costs)
        account = spent.accounts.get(event.actor)
        for cost in costs:
            spent.usage = spent.usage.plus(cost)
            if account is not None:
                account.usage = account.usage.plus(cost)
            if cost.usd_known:
                _note_minute(spent, event.created_at, cost.usd_known)

    def _note_end(self, run_id: str, purse: Purse, event: Event) -> None:
        """Note what brings a run to its end, and whether it may be over now."""
        spent = purse.spent
        if event.kind == purse.playbill.ends_when.kind and payloads.copied_from(event) is None:
            spent.ends_counted += 1
        if event.kind == kinds.JUDGE_VERDICT:
            verdict = verdict_of(event)
            spent.winner = verdict.winner
            spent.why = verdict.text
        if event.sealed is not None:
            sealed = sealed_of(event)
            spent.truth = {**spent.truth, **sealed.facts}
            spent.knowers += tuple([owner for owner in sealed.to if owner not in spent.knowers])
        if event.kind == kinds.RUN_PAUSED:
            purse.paused = payload_of(event, payloads.RunPaused)
        if event.kind == kinds.RUN_CONTINUED:
            purse.paused = None
            purse.is_offline = purse.is_offline or payload_of(event, payloads.RunContinued).is_offline
        if event.kind == kinds.RUN_FINISHED:
            purse.finished = payload_of(event, payloads.RunFinished)
            purse.ended_in = event.id
        if purse.finished is not None:
            self.watched.pop(run_id, None)
        elif purse.may_be_over:
            self.watched[run_id] = None

    def spend(
        self, run_id: str, graph_id: str, now: datetime, held: Usage = NOTHING, calls_held: int = 0
    ) -> Spend:
        """What a run has spent before a call; `held` and `calls_held` are what running acts have not recorded yet."""
        spent = self.purses[run_id].spent
        clocks = self.clocks.get(graph_id)
        return Spend(
            usage=spent.usage if held is NOTHING else spent.usage.plus(held),
            usd_in_last_hour=held.usd_known + (spent.usd_since(now) if spent.minutes_usd else 0.0),
            calls_in_turn=calls_held + (0 if clocks is None else clocks.calls.get(run_id, 0)),
        )

    def is_deferred(self, run_id: str, graph_id: str, ticks_left: TicksLeft = no_ticks) -> bool:
        """Whether a run has no call left for one more act in this turn and puts it off to the next. A reaction leaves
        calls for the ticks that are left."""
        purse = self.purses.get(run_id)
        clocks = self.clocks.get(graph_id)
        if purse is None or clocks is None or purse.limits.on_turn_limit != "defer":
            return False
        return not fits_turn(purse.limits, clocks.calls.get(run_id, 0), 1, ticks_left)

    def is_turn_full(self, run_id: str, graph_id: str) -> bool:
        """Whether a run has no call left in the current turn of a graph."""
        purse = self.purses.get(run_id)
        clocks = self.clocks.get(graph_id)
        most = None if purse is None or clocks is None else purse.limits.max_calls_per_turn
        return isinstance(most, int) and clocks is not None and clocks.calls.get(run_id, 0) >= most

    def is_talk_stale(self, graph_id: str) -> bool:
        """Whether the talk in a graph brings nothing new any more."""
        clocks = self.clocks.get(graph_id)
        return clocks is not None and clocks.stale_lines >= stale_lines_max

    def has_scenario(self, run_id: str) -> bool:
        """Whether a run plays a scenario. Runs without one end only when somebody ends them."""
        return run_id in self.purses and bool(self.purses[run_id].scenario_digest)

    def edits_in_turn(self, run_id: str | None, graph_id: str) -> int:
        """How many changes a run's creatures have made with tools in this graph's current turn."""
        clocks = self.clocks.get(graph_id)
        return 0 if clocks is None else clocks.edits.get(run_id or "", 0)

    def turns_of(self, run_id: str, graph_id: str) -> int:
        """How many turns a run has played along the line of this graph."""
        clocks = self.clocks.get(graph_id)
        return 0 if clocks is None else clocks.turns.get(run_id, 0)


def _minute_an_hour_before(at: datetime) -> int:
    return int((at - timedelta(hours=1)).timestamp() // 60)


def _note_minute(spent: Spent, at: datetime, usd: float) -> None:
    minute = int(at.timestamp() // 60)
    first = _minute_an_hour_before(at)
    minutes_usd = spent.minutes_usd
    minutes_usd[minute] = minutes_usd.get(minute, 0.0) + usd
    spent.minutes_usd = {minute: usd for minute, usd in minutes_usd.items() if minute >= first}
