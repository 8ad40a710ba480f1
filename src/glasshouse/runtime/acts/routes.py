"""Routes: the model behind a creature's profile, and the check that its price is known.

Always holds: a run records the models that the router gives when it starts. A limit in dollars is refused if any
price is unknown, also the price of a fallback or of a creature that may be spawned.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from glasshouse.errors import Refused
from glasshouse.events.payloads import CastEntry, Governor, RunStarted, usd_axis
from glasshouse.events.recorded_fields import fields_of
from glasshouse.model_values import Size
from glasshouse.runtime.acts.world_scripts import PlayedWorld, WorldScripts
from glasshouse.runtime.capabilities import RouterCapabilities, capabilities_of
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ports import Route, Router
from glasshouse.scripts.script_text import script_digest
from glasshouse.turns.moment.playbill import playbill_of
from glasshouse.world.decisions.intents import Member, OpenRun, Restate
from glasshouse.world.state.state import CreatureState

if TYPE_CHECKING:
    from glasshouse.manifests.loading import LoadedWorld

AskedFor: TypeAlias = tuple[str, str | None]
"""A profile, and the model that the run uses instead of the profile's own, if it names one."""

scripted_routes_max: Final = 1_024
"""Routes with more scripts are made again."""


class _Scripted(NamedTuple):
    """A route, kept so that its address in memory stays its own, and the same with a script."""

    given: Route
    route: Route


class Routes:
    """Turns profiles into models, for creatures and for whole casts."""

    def __init__(self, router: Router, can: RouterCapabilities, offline: Router, ledger: Ledger) -> None:
        self._router = router
        self._can = can
        self._offline = offline
        self._ledger = ledger
        self._scripts = WorldScripts()
        self._scripted_cache: dict[tuple[int, str], _Scripted] = {}

    def route(self, profile: str, model: str | None = None) -> Route:
        """The route of a profile, or of the model that a run names."""
        return self._router.route(profile) if model is None else self._router.route(profile, model)

    def route_of(self, creature: CreatureState, profile: str) -> Route:
        """The route of a creature, whose run may have bound it to a model (ADR 0037), or continue offline."""
        purse = self._ledger.folded.runs.purses.get(creature.run_id or "")
        if purse is None:
            return self._router.route(profile)  # It belongs to no run that was begun: its profile decides.
        world = PlayedWorld(purse.scenario_digest, purse.folder, purse.playbill.name)
        if purse.is_offline:
            # Somebody said that its run goes on without servers.
            return self._with_script(self._offline.route(profile), world)
        bound = purse.bound.get(creature.id)
        if self._can.pin_of is not None:
            bound = self._can.pin_of(creature.handle, purse.playbill.competition.teams, bound)
        return self._with_script(self.route(profile, bound), world)

    def _with_script(self, route: Route, world: PlayedWorld) -> Route:
        """The same route in this world. If the world has a script and the model plays from one, the digest is that of the script."""
        if not _plays_scripts(route):
            return route
        script = self._scripts.script_of(world)
        if script is None:
            return route
        key = (id(route), script)
        if key not in self._scripted_cache:
            if len(self._scripted_cache) >= scripted_routes_max:
                self._scripted_cache.clear()
            self._scripted_cache[key] = _Scripted(route, _scripted(route, script))
        return self._scripted_cache[key].route

    def check_prices(self, limits: Governor, asked_for: Iterable[AskedFor]) -> None:
        """Refuse a limit in dollars if the price of any of these models, or of their fallbacks, is unknown."""
        axis = usd_axis(limits)
        if axis is None:
            return  # Without a limit in dollars, no price is needed.
        for profile, model in sorted(asked_for, key=str):
            chosen = self.route(profile, model)
            unpriced = [route.name for route in (chosen, *chosen.fallbacks) if route.price is None]
            if unpriced:
                raise Refused(
                    f"{axis} is set, and nobody knows the price of {unpriced[0]} behind {profile!r}.",
                    "Give its price, or take the limit away.",
                )

    def check_price_for(self, run_id: str | None, profile: str) -> None:
        """Check the price of a creature that joins a run, if the run's limits are in dollars."""
        purse = self._ledger.folded.runs.purses.get(run_id or "")
        if purse is not None:
            self.check_prices(purse.limits, [(profile, None)])

    def check_prices_in(self, run_id: str, limits: Governor) -> None:
        """Check the prices of the models of every live creature of a run that is to have these limits."""
        if usd_axis(limits) is None:
            return  # Without a limit in dollars, no price is needed.
        world = self._ledger.world
        cast = world.creatures_of(run_id)
        self.check_prices(limits, {(world.facts_of(creature).model_profile, None) for creature in cast})

    def keep_script(self, world: LoadedWorld) -> None:
        """Play the script of a world that was loaded in the runs that are opened from it."""
        self._scripts.keep(world.digest, world.script)

    def script_change(self, then: RunStarted, now: RunStarted) -> str:
        """What is to be said if the script of a run is not the one of the run that it continues: `then` is the start of that."""
        recorded = {entry.model: entry.model_digest for entry in then.cast}
        for entry in now.cast:
            route = self.route(entry.profile, entry.model if entry.is_bound else None)
            if not _plays_scripts(route) or entry.model not in recorded:
                continue
            digest = self._with_script(route, _world_of(now)).digest
            if digest != recorded[entry.model]:
                name = playbill_of(now.scenario).name
                if digest:
                    return f"The script of {name} has changed: the new one plays."
                return f"The script of {name} is gone, or cannot be read: the general grammar plays."
        return ""

    def with_models(self, intent: OpenRun) -> OpenRun:
        """The same opening with the model of each member filled in. Refused if dollars are limited and a price is
        unknown."""
        intent = self._pinned(intent)
        members = [member for troupe in intent.troupes for member in troupe.members]
        self._check_prices_for(intent.started, [_asked_for(member) for member in members])
        world = _world_of(intent.started)
        troupes = [
            replace(troupe, members=tuple([self._with_model(member, world) for member in troupe.members]))
            for troupe in intent.troupes
        ]
        started = replace(intent.started, models=self._can.recorded)
        return replace(intent, started=started, troupes=tuple(troupes))

    def _with_model(self, member: Member, world: PlayedWorld) -> Member:
        asked_for = _asked_for(member)
        route = self._with_script(self.route(*asked_for), world)
        size = size_beside(asked_for[0], route)
        return replace(member, model=route.name, model_digest=route.digest, model_size=size)

    def _pinned(self, intent: OpenRun) -> OpenRun:
        """The same opening, in which creatures that the router pins to a model are bound to it."""
        pin_of = self._can.pin_of
        if pin_of is None:
            return intent  # The router pins nobody.
        teams = playbill_of(intent.started.scenario).competition.teams

        def pinned(member: Member) -> Member:
            name = pin_of(member.handle, teams, member.model if member.is_bound else None)
            return member if name is None else replace(member, model=name, is_bound=True)

        troupes = [replace(troupe, members=tuple(map(pinned, troupe.members))) for troupe in intent.troupes]
        return replace(intent, troupes=tuple(troupes))

    def with_models_now(self, past: Folded, started: RunStarted) -> RunStarted:
        """The `run.started` payload of a run that continues a past, with the models that the router gives now."""
        route_of = cache(self.route)
        teams = playbill_of(started.scenario).competition.teams
        pin_of = self._can.pin_of
        world = _world_of(started)

        def entry_now(entry: CastEntry) -> CastEntry:
            creature = past.world.creatures.get(entry.creature)
            if creature is None:
                return entry  # It was removed: it keeps the model that it had.
            profile = past.world.facts_of(creature).model_profile
            bound = entry.model if entry.is_bound else None
            name = bound if pin_of is None else pin_of(entry.handle, teams, bound)
            route = self._with_script(route_of(profile, name), world)
            model = {"model": route.name, "is_bound": name is not None, "model_digest": route.digest}
            return replace(entry, profile=profile, model_size=size_beside(profile, route), **model)

        return replace(started, cast=[entry_now(entry) for entry in started.cast], models=self._can.recorded)

    def check_prices_of(self, past: Folded, intent: Restate) -> None:
        """Check the prices of continued runs, whose limits and creatures may have changed."""
        for run in intent.runs:
            if run.started is not None:
                bound = past.runs.purses[run.old].bound
                asked_for = [
                    (fields_of(born.manifest or {}).model_profile, bound.get(born.creature))
                    for graph in intent.graphs
                    for born in graph.creatures
                    if born.run_id == run.old
                ]
                self._check_prices_for(run.started, asked_for)

    def _check_prices_for(self, started: RunStarted, asked_for: list[AskedFor]) -> None:
        if started.limits is not None and usd_axis(started.limits) is not None:
            spawnable = [(fields_of(manifest).model_profile, None) for manifest in started.spawnable.values()]
            self.check_prices(started.limits, {*asked_for, *spawnable})


def size_beside(profile: str, route: Route) -> Size | Literal[""]:
    """The size of a route's model, as it is recorded beside a profile: empty if it is unknown or the same."""
    return "" if route.size == profile else route.size


def _plays_scripts(route: Route) -> bool:
    """Whether the model of a route, or of a fallback of it, plays from a script."""
    is_own = capabilities_of(route.model).with_script is not None
    return is_own or any(_plays_scripts(fallback) for fallback in route.fallbacks)


def _scripted(route: Route, script: str) -> Route:
    """A route whose models that play from a script play from this one."""
    with_script = capabilities_of(route.model).with_script
    fallbacks = tuple([_scripted(fallback, script) for fallback in route.fallbacks])
    if with_script is None:
        return route._replace(fallbacks=fallbacks)
    return route._replace(model=with_script(script), digest=script_digest(script), fallbacks=fallbacks)


def _world_of(started: RunStarted) -> PlayedWorld:
    """The world of a run, as its start has it."""
    path = None if started.recipe is None else started.recipe.path or None
    return PlayedWorld(started.scenario_digest, path, playbill_of(started.scenario).name)


def check_model(router: Router, model: str) -> None:
    """Refuse a name that no model of a router has."""
    router.route("fast", model)


def _asked_for(member: Member) -> AskedFor:
    return fields_of(member.manifest).model_profile, member.model if member.is_bound else None
