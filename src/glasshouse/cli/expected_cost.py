"""What a play with priced models will probably cost, and the question before it starts.

Always holds: a guess is called one. The guess for a new run is what the offline troupe needs for the same world and seed,
played in memory. The guess for a run that continues is what it has needed for a turn so far.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from glasshouse.assembly import NamedModels
from glasshouse.cli.drawing.screen import counted
from glasshouse.cli.model_choice import agrees, is_asked
from glasshouse.cli.store_reader import Story
from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.event import Event, Json
from glasshouse.events.model_use import FREE
from glasshouse.events.payloads import RunStarted, payload_of
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.model_values import Tokens
from glasshouse.terrarium import play

usd_unasked_max: Final = 0.5
"""A play that will probably cost more needs a yes."""
call_seconds_typical: Final = 3.0
"""How long a hosted model usually takes for a call."""


class Expected(NamedTuple):
    """What a play will probably take."""

    calls: int
    usd: float | None
    """None: the price of a model is unknown."""

    @property
    def minutes(self) -> int:
        """How long it will probably take, at least one."""
        return max(1, round(self.calls * call_seconds_typical / 60))

    def __str__(self) -> str:
        usd = "an unknown price" if self.usd is None else f"${self.usd:.2f}"
        minutes = "a minute" if self.minutes == 1 else f"{self.minutes} minutes"
        return f"about {counted(self.calls, 'call')}, {minutes} and {usd}"

    def times(self, count: int) -> Expected:
        """For so many plays like this one."""
        return Expected(self.calls * count, None if self.usd is None else self.usd * count)

    def facts(self) -> Json:
        """The same for machines."""
        return {"calls": self.calls, "minutes": self.minutes, "usd": self.usd}


def is_priced(models: NamedModels, names: Iterable[str] = ()) -> bool:
    """Whether any model that may play costs something, or may; also those that a run will name."""
    routes = [choice.route for choice in models.choices()]
    routes += [models.route("fast", name) for name in (*models.pins.values(), *names)]
    return any(route is not None and route.price != FREE for route in routes)


def expected_of_world(
    models: NamedModels,
    world: LoadedWorld,
    seed: str | None,
    rng_seed: int,
    turns: int | None,
    bound: Mapping[str, str] | None = None,
) -> Expected:
    """For a new run, which may bind handles to models by name."""
    played = play(world, seed=seed, rng_seed=rng_seed, turns=turns)
    return Expected(played.run.calls, _usd(models, played.events, bound or {}))


def expected_of_rest(models: NamedModels, story: Story, turns: int | None) -> Expected:
    """For the rest of a run."""
    run = story.run
    if run is None:
        return Expected(0, None)
    limits = run.governor
    if not run.turns or not run.calls:
        return Expected(limits.max_total_calls or 0, None)
    turns_left = [turns, None if limits.max_turns is None else limits.max_turns - run.turns]
    most = min([count for count in turns_left if count is not None], default=run.turns)
    calls = max(1, math.ceil(run.calls / run.turns * most))
    if limits.max_total_calls is not None:
        calls = max(1, min(calls, limits.max_total_calls - run.calls))
    usd = _usd(models, story.events, {})
    return Expected(calls, None if usd is None else usd / run.calls * calls)


def _usd(models: NamedModels, events: Iterable[Event], bound: Mapping[str, str]) -> float | None:
    """What these model calls would cost with these models."""
    handles: dict[str, str] = {}
    teams: dict[str, tuple[str, ...]] = {}
    total = 0.0
    for event in events:
        if event.kind == kinds.RUN_STARTED:
            started = payload_of(event, RunStarted)
            handles |= {entry.creature: entry.handle for entry in started.cast}
            teams |= started.competition.get("teams", {})
        if event.model is None:
            continue
        handle = handles.get(event.actor, "")
        name = models.pin_of(handle, teams, bound.get(handle))
        price = models.route(event.model.profile, name).price
        if price is None:
            return None
        total += sum(price.of(Tokens(call.usage.input, call.usage.output)) for call in event.model.calls)
    return total


def check_agreed(expected: Expected, *, is_agreed: bool, as_json: bool) -> None:
    """Ask whether to play if it will probably cost much, or nobody knows how much. Refused without a yes."""
    if is_agreed or (expected.usd is not None and expected.usd <= usd_unasked_max):
        return
    reason = f"This will probably take {expected}."
    if as_json or not is_asked():
        raise Refused(reason, "Agree with --yes, or bound it with --turns or a limit of the world.")
    if not agrees(f"{reason} Play?"):
        raise Refused("Nothing was played.", "To play without cost: --models offline")
