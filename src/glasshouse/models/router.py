"""`ModelRouter`: puts a concrete model behind each logical profile.

Always holds: a manifest names a size, never a model; what stands behind it is decided here alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from glasshouse.errors import Refused, UnknownName
from glasshouse.runtime.ports import Model, Route
from glasshouse.turns.profiles import CONTEXT_TOKENS, PROFILES, REPLY_TOKENS


class ModelRouter:
    """A model for every profile. Without any given, the offline troupe plays them all."""

    def __init__(self, routes: Mapping[str, Route | Model] | Model | None = None) -> None:
        given = routes if isinstance(routes, Mapping) else dict.fromkeys(PROFILES, routes)
        for profile in given:
            if profile not in PROFILES:
                raise UnknownName(noun="profile", name=profile, known=PROFILES)
        self._given = given
        self._routes: dict[str, Route] = {}

    def route(self, profile: str) -> Route:
        """What stands behind a profile. The offline troupe comes on stage when it is first asked for."""
        found = self._routes.get(profile)
        if found is None:
            if profile not in self._given:
                bound = ", ".join(self._given) or "none"
                raise Refused(
                    f"No model is bound to the profile {profile!r}.", f"Bind it; bound are: {bound}."
                )
            found = self._routes[profile] = _route(profile, self._given[profile] or _offline())
        return found


def _offline() -> Model:
    from glasshouse.models.offline.model import OfflineModel

    return OfflineModel()


def _route(profile: str, given: Route | Model) -> Route:
    if isinstance(given, Route):
        return given
    name = str(getattr(given, "name", type(given).__name__))
    price = 0.0 if getattr(given, "is_free", False) else None
    return Route(given, name, CONTEXT_TOKENS[profile], REPLY_TOKENS[profile], price, price)
