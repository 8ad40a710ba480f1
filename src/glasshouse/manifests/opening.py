"""From a loaded world, a seed and limits to the one intent that starts a run. Pure: no file is read here.

Always holds: only `rng_seed`, the deal's name and the deck decide what is dealt, so the same number deals the same cards on
every machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import msgspec

from glasshouse.errors import UnknownName
from glasshouse.events.event import Json
from glasshouse.events.payloads import (
    Governor,
    Recipe,
    RunCompetition,
    RunStarted,
    axes_given,
    prompting_now,
    rules_now,
    settled,
)
from glasshouse.manifests import scenario as plans
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.world.decisions.intents import ChannelPlan, Member, OpenRun, Troupe, WirePlan


def opening_of(
    world: LoadedWorld,
    *,
    run_id: str,
    seed: str | None,
    rng_seed: int,
    limits: Governor | None = None,
    models: Mapping[str, str] | None = None,
    is_apart: bool = False,
) -> OpenRun:
    """The intent that opens a world. Without a seed: the world's first; without limits: the world's own.

    `models` maps handles or teams to the names of their models.
    """
    scenario = world.scenario
    bound = _bound(scenario, models or {})
    chosen = seed if seed is not None else next(iter(scenario.seeds), "")
    dealt = _dealt(world, rng_seed)
    plain = scenario.as_json()
    creatures = scenario.creatures
    started = RunStarted(
        seed=chosen,
        rng_seed=rng_seed,
        goal=scenario.goal,
        scenario=plain,
        scenario_digest=world.digest,
        recipe=None if world.path is None else Recipe(str(world.path), world.edited_from or world.digest),
        competition=msgspec.convert(plain["competition"], RunCompetition),
        limits=scenario.limits if limits is None else settled(limits, creatures),
        limits_given=[] if limits is None else axes_given(limits, Governor()),
        rules=rules_now,
        prompting=prompting_now,
        documents={path: document.digest for path, document in world.documents.items()},
        # A world that is rebuilt from a ledger may lack manifests of creatures that were never added.
        spawnable={
            name: world.manifests[name].as_json() for name in scenario.spawnable if name in world.manifests
        },
        is_edited=world.edited_from is not None,
        is_apart=is_apart,
    )
    troupes = tuple(_troupe(world, plan, dealt, bound, chosen) for plan in scenario.stages.values())
    return OpenRun(run_id, started, troupes, scenario.opening.format(seed=chosen))


def _bound(scenario: plans.Scenario, models: Mapping[str, str]) -> dict[str, str]:
    """The model's name for each handle that has one."""
    teams = scenario.competition.teams
    handles = scenario.cast_by_handle
    bound = dict[str, str]()
    for name, model in models.items():
        if name not in handles and name not in teams:
            raise UnknownName(noun="creature or team of the cast", name=name, known=[*handles, *teams])
        bound.update(dict.fromkeys(teams.get(name, (name,)), model))
    return bound


def _dealt(world: LoadedWorld, rng_seed: int) -> dict[str, Json]:
    """What each handle is dealt."""
    dealt: dict[str, Json] = {}
    for key, deal in world.scenario.deal.items():
        drawn = card(world.decks[key], f"{rng_seed}/{key}")
        odd = card(deal.to, f"{rng_seed}/{key}/odd") if deal.odd_one else None
        for handle in deal.to:
            dealt.setdefault(handle, {})[key] = drawn if odd is None else drawn[int(handle == odd)]
    return dealt


def card(deck: tuple[Any, ...], seed: str) -> Any:
    """The card that a seed draws from a deck."""
    return deck[int.from_bytes(blake2b(seed.encode(), digest_size=8).digest(), "big") % len(deck)]


def _troupe(
    world: LoadedWorld, plan: plans.Troupe, dealt: dict[str, Json], bound: dict[str, str], seed: str
) -> Troupe:
    def member(entry: plans.CastEntry) -> Member:
        is_root = entry.name == plan.root
        joined = entry.channels or plans.EntryChannels()
        manifest = world.manifests[entry.use].as_root() if is_root else world.manifests[entry.use]
        return Member(
            name=entry.use,
            manifest=manifest.as_json(),
            manifest_digest=manifest.digest,
            handle=entry.name,
            is_privileged=entry.privileged,
            listens=joined.listen,
            sends=joined.send,
            wires=tuple(WirePlan(**wire.model_dump()) for wire in entry.wires),
            dealt=dealt.get(entry.name),
            model=bound.get(entry.name, ""),
            is_bound=entry.name in bound,
            is_root=is_root,
            was=entry.was,
        )

    channels = [ChannelPlan(name, **channel.model_dump()) for name, channel in (plan.channels or {}).items()]
    return Troupe(tuple(map(member, plan.cast)), tuple(channels), plan.opening.format(seed=seed))
