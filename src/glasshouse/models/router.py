"""`ModelRouter`: assigns a concrete model to each profile.

Always holds: a manifest names a profile, which is a size, never a model. Which
model that is, is bound here; a size without a model is played by the nearest smaller one, else by the nearest larger one.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from glasshouse.errors import Refused, UnknownName, check_has
from glasshouse.events.model_use import FREE
from glasshouse.reprs import shown
from glasshouse.runtime.capabilities import capabilities_of, close_model, open_model
from glasshouse.runtime.ports import Model, Route
from glasshouse.turns.moment.prompt import CONTEXT_TOKENS, PROFILES, REPLY_TOKENS

if TYPE_CHECKING:
    from glasshouse.runtime.capabilities import Pacing


class ModelRouter:
    """Maps profiles to models, and names to models for runs that ask for a model by name.

    If no model is given, the offline troupe plays all profiles. Its names are always known, one for each temper.
    """

    def __init__(
        self,
        routes: Mapping[str, Route | Model] | Model | None = None,
        *,
        named: Mapping[str, Model] | None = None,
    ) -> None:
        given: Mapping[str, Route | Model | None]
        given = routes if isinstance(routes, Mapping) else dict.fromkeys(PROFILES, routes)
        for profile in given:
            if profile not in PROFILES:
                raise UnknownName(noun="profile", name=profile, known=PROFILES)
        for model in [*given.values(), *(named or {}).values()]:
            if model is not None and not isinstance(model, Route):
                advice = "Give an object with `name` and `async complete(prompt)`."
                check_has("ModelRouter()", model, "complete", "models", advice)
        self._given = given
        self._named = dict(named or {})
        self._routes: dict[tuple[str, str | None], Route] = {}

    def __repr__(self) -> str:
        routes = {profile: _named(given) for profile, given in self._given.items()}
        return shown(self, **routes, named=tuple(self._named))

    def _models(self) -> list[Model]:
        given = [*self._given.values(), *self._named.values()]
        return [model.model if isinstance(model, Route) else model for model in given if model is not None]

    @property
    def pacing(self) -> Pacing:
        """How graphs are paced unless somebody says otherwise: freely if a model is behind a server."""
        return "free" if any(capabilities_of(model).backend for model in self._models()) else "lockstep"

    async def open(self) -> None:
        """Let all models find out what they need to know of their servers, each once."""
        await asyncio.gather(*[open_model(model) for model in each_once(self._models())])

    async def close(self) -> None:
        """Close the connections of all models that have some."""
        await close_models(self._models())

    def remarks(self) -> tuple[str, ...]:
        """What its models have learned about their servers: nothing, as far as it knows."""
        return ()

    def names(self) -> list[str]:
        """The models that a run may ask for by name."""
        return [*self._named, *offline_names()]

    def route(self, profile: str, model: str | None = None) -> Route:
        """The route for a profile, or for a model by its name."""
        key = (profile, model)
        if key not in self._routes:
            self._routes[key] = self._made(profile, model)
        return self._routes[key]

    def _made(self, profile: str, name: str | None) -> Route:
        if profile not in PROFILES:
            raise UnknownName(noun="profile", name=profile, known=PROFILES)
        if name is not None:
            model = self._named.get(name) or _offline(name, [*self._named])
            return _route(profile, model)._replace(name=name)
        return _route(profile, self._given[size_played(profile, self._given)] or _offline())


async def close_models(models: Iterable[Model]) -> None:
    """Close the connections of models, each once. A model that is asked again opens a new one."""
    for model in each_once(models):
        await close_model(model)


def each_once(models: Iterable[Model]) -> list[Model]:
    """The same models without those that were named before. They need no equality of their own."""
    return [*{id(model): model for model in models}.values()]


def size_played(profile: str, bound: Container[str]) -> str:
    """The size whose model plays a profile: its own, else the nearest bound one below, else the nearest above."""
    if profile not in PROFILES:
        raise UnknownName(noun="profile", name=profile, known=PROFILES)
    index = PROFILES.index(profile)
    nearest = [*reversed(PROFILES[: index + 1]), *PROFILES[index + 1 :]]
    for size in nearest:
        if size in bound:
            return size
    raise Refused(
        f"No model is bound to the profile {profile!r} or to another.", f"Bind one of {', '.join(PROFILES)}."
    )


def offline_names() -> dict[str, str]:
    """The names of the offline troupe, each with its temper."""
    # Imported here, so that a program with real models never loads the troupe.
    from glasshouse.troupe.model import MODEL_NAME, TEMPERS

    return {MODEL_NAME if not temper else f"{MODEL_NAME}:{temper}": temper for temper in TEMPERS}


def _offline(name: str | None = None, others: Sequence[str] = ()) -> Model:
    from glasshouse.troupe.model import MODEL_NAME, OfflineModel

    known = offline_names()
    if name is not None and name not in known:
        raise UnknownName(noun="model", name=name, known=[*others, *known])
    return OfflineModel(known[name or MODEL_NAME])


def _route(profile: str, given: Route | Model) -> Route:
    if isinstance(given, Route):
        prices = {} if given.price is None else asdict(given.price)
        for field, usd in prices.items():
            if usd is not None and not (usd >= 0 and math.isfinite(usd)):
                raise Refused(
                    f"The {field} price of {given.name} is {usd} dollars for a million tokens.",
                    "Give prices of 0 or more, or Route(..., price=None) if they are unknown.",
                )
        if given.size and given.size not in PROFILES:
            raise UnknownName(noun="size", name=given.size, known=PROFILES)
        return given
    name = _named(given)
    price = FREE if capabilities_of(given).is_free else None
    return Route(given, name, CONTEXT_TOKENS[profile], REPLY_TOKENS[profile], price)


def _named(given: Route | Model | None) -> str:
    if given is None:
        return "offline"
    return given.name if isinstance(given, Route) else capabilities_of(given).name
