"""Routes: the model of each profile of a run, and whether its price is known.

Always holds: a run records the models that the router gives when it starts. A limit in dollars is refused if any
price is unknown, also that of a creature that may be spawned.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from msgspec.structs import replace

from glasshouse.errors import Refused
from glasshouse.events.manifest_fields import fields_of
from glasshouse.events.payloads import CastEntry, RunStarted
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.past.past_world import Past
from glasshouse.runtime.ports import Route, Router
from glasshouse.world.decisions.intents import Member, OpenRun, Restate
from glasshouse.world.state.state import CreatureState

AskedFor: TypeAlias = tuple[str, str | None]
"""A profile, and the model that the run has put in its place, if it has."""


class Routes:
    """Turns profiles into models, for creatures and for whole casts."""

    def __init__(self, router: Router, ledger: Ledger) -> None:
        self._router = router
        self._ledger = ledger

    def route(self, profile: str, model: str | None = None) -> Route:
        """The route of a profile, or of the model that a run names."""
        return self._router.route(profile) if model is None else self._router.route(profile, model)

    def route_of(self, creature: CreatureState, profile: str) -> Route:
        """The same for a creature, whose run may have bound it to a model."""
        purse = self._ledger.folded.runs.purses.get(creature.run_id or "")
        return self.route(profile, None if purse is None else purse.bound.get(creature.id))

    def check_prices(self, asked_for: Iterable[AskedFor]) -> None:
        """Refuse a limit of money where nobody knows what a call costs."""
        for profile, model in sorted(asked_for, key=str):
            route = self.route(profile, model)
            if not route.is_priced:
                raise Refused(
                    f"hourly_budget_usd is set, and nobody knows the price of {route.name} behind {profile!r}.",
                    "Give its price, or take the limit away.",
                )

    def check_prices_in(self, run_id: str) -> None:
        """The same for everybody who lives in a run."""
        world = self._ledger.world
        cast = [creature for creature in world.creatures.values() if creature.run_id == run_id]
        self.check_prices({(world.facts_of(one).model_profile, None) for one in cast})

    def with_models(self, intent: OpenRun) -> OpenRun:
        """The same opening, with the model behind each profile written down; refused where money is limited and a price unknown."""
        members = [member for troupe in intent.troupes for member in troupe.members]
        self._check_prices_for(intent.started, [_asked_for(member) for member in members])
        troupes = [
            replace(troupe, members=tuple([self._with_model(member) for member in troupe.members]))
            for troupe in intent.troupes
        ]
        return replace(intent, troupes=tuple(troupes))

    def _with_model(self, member: Member) -> Member:
        return replace(member, model=self.route(*_asked_for(member)).name)

    def with_models_now(self, past: Past, started: RunStarted) -> RunStarted:
        """What is told of a run that goes on from a past, with the models behind its cast as they are now."""
        return replace(started, cast=[self._model_now(past, entry) for entry in started.cast])

    def _model_now(self, past: Past, entry: CastEntry) -> CastEntry:
        creature = past.world.creatures.get(entry.creature)
        if creature is None:
            return entry
        profile = past.world.facts_of(creature).model_profile
        model = self.route(profile, entry.model if entry.is_bound else None).name
        return replace(entry, profile=profile, model=model)

    def check_prices_of(self, past: Past, intent: Restate) -> None:
        """Check the prices of runs that go on, whose limits and creatures may have been changed."""
        for run in intent.runs:
            if run.started is not None:
                bound = past.folded.runs.purses[run.old].bound
                asked_for = [
                    (fields_of(born.manifest or {}).model_profile, bound.get(born.creature))
                    for graph in intent.graphs
                    for born in graph.creatures
                    if born.run_id == run.old
                ]
                self._check_prices_for(run.started, asked_for)

    def _check_prices_for(self, started: RunStarted, asked_for: list[AskedFor]) -> None:
        if started.limits is not None and started.limits.hourly_budget_usd is not None:
            spawnable = [(fields_of(manifest).model_profile, None) for manifest in started.spawnable.values()]
            self.check_prices({*asked_for, *spawnable})


def _asked_for(member: Member) -> AskedFor:
    return fields_of(member.manifest).model_profile, member.model if member.is_bound else None
