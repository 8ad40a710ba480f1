"""What a play will probably cost.

Always holds: a guess is called one, and a price that nobody knows is not guessed. The guess for a new run is what the
offline troupe needs for the same world and seed, played in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from glasshouse.events import kinds
from glasshouse.events.event import Event, Json
from glasshouse.events.payloads import Governor, RunStarted, payload_of, settled, total_usd_max
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.loops import loops_in
from glasshouse.model_values import Tokens
from glasshouse.runtime.capabilities import capabilities_of_router
from glasshouse.runtime.ports import Router
from glasshouse.terrarium import play
from glasshouse.turns.moment.playbill import playbill_of

call_seconds_typical: Final = 3.0
"""How long a hosted model usually takes for a call."""


class Expected(NamedTuple):
    """What a play will probably take."""

    calls: int
    usd: float | None
    """None: the price of a model is unknown."""
    usd_total_max: float | None = None
    """What it may cost in all; none: that has no limit."""
    usd_hourly_max: float | None = None
    """What it may cost in an hour."""
    at_once: float = 1.0
    """How many calls are made at once."""

    def within(self, limits: Governor, spent_usd: float = 0.0) -> Expected:
        """The same, for a run with these limits that has spent so much."""
        total_max = total_usd_max(limits)
        left = None if total_max is None else max(0.0, total_max - spent_usd)
        return self._replace(usd_total_max=left, usd_hourly_max=limits.hourly_budget_usd)

    @property
    def usd_at_most(self) -> float | None:
        """What it will probably cost, if that is within its limit."""
        return (
            self.usd if self.usd is None or self.usd_total_max is None else min(self.usd, self.usd_total_max)
        )

    @property
    def stops(self) -> str:
        """Which limit in dollars it will probably reach, in words; empty: none."""
        usd = self.usd
        total_max = self.usd_total_max
        hourly_max = self.usd_hourly_max
        if usd is not None and total_max is not None and usd > total_max:
            return f"; it stops before it costs more than ${total_max:.2f}"
        if usd is not None and hourly_max is not None and usd > hourly_max:
            return f"; it stops when an hour has cost ${hourly_max:.2f}"
        return ""

    @property
    def minutes(self) -> int:
        """How long it will probably take, at least one."""
        return max(1, round(self.calls * call_seconds_typical / 60 / self.at_once))

    def __str__(self) -> str:
        usd = "an unknown price" if self.usd is None else f"${self.usd:.2f}"
        minutes = "a minute" if self.minutes == 1 else f"{self.minutes} minutes"
        return f"about {self.calls:,} call{'' if self.calls == 1 else 's'}, {minutes} and {usd}{self.stops}"

    def times(self, count: int) -> Expected:
        """For this many plays like this one."""
        usd, total_max = (None if usd is None else usd * count for usd in (self.usd, self.usd_total_max))
        return Expected(self.calls * count, usd, total_max, at_once=self.at_once)

    def facts(self) -> Json:
        """The same for machines."""
        return {"calls": self.calls, "minutes": self.minutes, "usd": self.usd}


class AskedCall(NamedTuple):
    """A model call of the offline troupe: whose, of which profile, and its tokens."""

    handle: str
    profile: str
    tokens: Tokens


class OfflinePlay(NamedTuple):
    """What the offline troupe needed for a world."""

    calls: int
    """As the limits of a run count them."""
    asked: tuple[AskedCall, ...]
    teams: Mapping[str, tuple[str, ...]]

    @property
    def tokens(self) -> int:
        """Tokens of prompts and answers."""
        return sum(call.tokens.input + call.tokens.output for call in self.asked)

    def usd(self, models: Router, bound: Mapping[str, str] | None = None) -> float | None:
        """What its calls would cost with these models; none if a price is unknown. `bound` maps handles or teams to
        models by name."""
        return usd_of(models, self.asked, self.teams, bound or {})


def offline_play(
    world: LoadedWorld,
    seed: str | None,
    rng_seed: int,
    *,
    turns: int | None = None,
    governor: Governor | None = None,
) -> OfflinePlay:
    """Have the offline troupe play a world in memory."""
    played = play(world, seed=seed, rng_seed=rng_seed, turns=turns, governor=governor)
    asked, teams = asked_in(played.events)
    return OfflinePlay(played.run.calls, asked, teams)


def expected_of_world(
    models: Router,
    world: LoadedWorld,
    seed: str | None,
    rng_seed: int,
    turns: int | None,
    bound: Mapping[str, str] | None = None,
    governor: Governor | None = None,
) -> Expected:
    """For a new run, which may bind handles to models by name. Without limits: the world's own."""
    limits = settled(governor or world.scenario.limits, world.scenario.creatures)
    needed = offline_play(world, seed, rng_seed, turns=turns, governor=without_dollars(limits))
    calls = needed.calls
    usd = needed.usd(models, bound)
    if loops_in(world.scenario, world.manifests):
        # The offline troupe falls silent when it has nothing new to say. A model may not: each turn is full then,
        # and the first full one ends the run if the limits say so.
        calls = max(calls, calls_of_full_turns(limits, 1 if limits.on_turn_limit == "finish" else turns))
    return Expected(calls, usd if usd is None or not needed.calls else usd / needed.calls * calls).within(
        limits
    )


def without_dollars(limits: Governor) -> Governor:
    """The same limits without those in dollars, for the offline troupe, which costs nothing."""
    return replace(limits, max_total_usd=None, hourly_budget_usd=None)


def calls_of_full_turns(limits: Governor, turns: int | None) -> int:
    """How many calls a run makes if all its turns are full."""
    most = [limits.max_total_calls]
    turns_max = min([count for count in (turns, limits.max_turns) if count is not None], default=None)
    if turns_max is not None and isinstance(limits.max_calls_per_turn, int):
        most.append(turns_max * limits.max_calls_per_turn)
    return min([count for count in most if count is not None], default=0)


def asked_in(events: Iterable[Event]) -> tuple[tuple[AskedCall, ...], Mapping[str, tuple[str, ...]]]:
    """The model calls of some events, and the teams of their runs."""
    handles: dict[str, str] = {}
    teams: dict[str, tuple[str, ...]] = {}
    asked: list[AskedCall] = []
    for event in events:
        if event.kind == kinds.RUN_STARTED:
            started = payload_of(event, RunStarted)
            handles |= {entry.creature: entry.handle for entry in started.cast}
            teams |= playbill_of(started.scenario).competition.teams
        if event.model is not None:
            handle = handles.get(event.actor, "")
            profile = event.model.profile
            asked += [AskedCall(handle, profile, call.usage) for call in event.model.calls]
    return tuple(asked), teams


def usd_of(
    models: Router,
    asked: Iterable[AskedCall],
    teams: Mapping[str, tuple[str, ...]],
    bound: Mapping[str, str],
) -> float | None:
    """What these calls would cost with these models; none if a price is unknown."""
    pin_of = capabilities_of_router(models).pin_of
    total = 0.0
    for call in asked:
        team = next((name for name, handles in teams.items() if call.handle in handles), "")
        name = bound.get(call.handle) or bound.get(team)
        if pin_of is not None:
            name = pin_of(call.handle, teams, name)
        price = (models.route(call.profile) if name is None else models.route(call.profile, name)).price
        if price is None:
            return None
        total += price.of(Tokens(call.tokens.input, call.tokens.output))
    return total
