"""Casting: which model stands behind each creature of a run as it begins, and whether what it costs is known.

Always holds: what a run tells of its models is what the router says when it begins; a limit of money is refused where
somebody's price is unknown, whoever can be born in the run included.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec.structs import replace

from glasshouse.events.event import Json
from glasshouse.events.run_payloads import RunStarted
from glasshouse.runtime.acts.act import Acts
from glasshouse.runtime.past.past import Past
from glasshouse.world.intents import Member, OpenRun, Restate

AskedFor: TypeAlias = tuple[str, str | None]
"""A profile, and the model that the run has put in its place, if it has."""


class Casting:
    """Looks behind the profiles of a cast."""

    def __init__(self, acts: Acts) -> None:
        self._acts = acts

    def with_models(self, intent: OpenRun) -> OpenRun:
        """The same opening, with the model behind each profile written down; refused where money is limited and a price unknown."""
        self._check_prices_for(
            intent.started, [_asked_for(one) for troupe in intent.troupes for one in troupe.members]
        )
        troupes = [
            replace(troupe, members=tuple([self._with_model(member) for member in troupe.members]))
            for troupe in intent.troupes
        ]
        return replace(intent, troupes=tuple(troupes))

    def _with_model(self, member: Member) -> Member:
        return replace(member, model=self._acts.route(*_asked_for(member)).name)

    def with_models_now(self, past: Past, started: RunStarted) -> RunStarted:
        """What is told of a run that goes on from a past, with the models behind its cast as they are now."""
        return replace(started, cast=[{**one, **self._model_now(past, one)} for one in started.cast])

    def _model_now(self, past: Past, one: Json) -> Json:
        creature = past.world.creatures.get(one["creature"])
        if creature is None:
            return {}
        profile = _profile(past.world.facts_of(creature).manifest)
        model = one["model"] if one.get("is_bound") else None
        return {"profile": profile, "model": self._acts.route(profile, model).name}

    def check_prices_of(self, past: Past, intent: Restate) -> None:
        """Check the prices of runs that go on, whose limits and creatures may have been changed."""
        for run in intent.runs:
            if run.started is not None:
                bound = past.folded.runs.purses[run.old].bound
                here = [one for graph in intent.graphs for one in graph.creatures if one.run_id == run.old]
                self._check_prices_for(
                    run.started, [(_profile(one.manifest), bound.get(one.key)) for one in here]
                )

    def _check_prices_for(self, started: RunStarted, asked_for: list[AskedFor]) -> None:
        if started.limits.get("hourly_budget_usd") is not None:
            spawnable = [(_profile(manifest), None) for manifest in started.spawnable.values()]
            self._acts.check_prices({*asked_for, *spawnable})


def _profile(manifest: Json) -> str:
    return str(manifest.get("model_profile", "fast"))


def _asked_for(member: Member) -> AskedFor:
    return _profile(member.manifest), member.model if member.is_bound else None
