"""`GridModels`: what plays the cells of a grid: one router for each entry of `models`, opened once for all terrariums.

Always holds: whatever is wrong with a model's name is a problem of the grid's file, at its line, before anything is played. A
server that is away, or refuses what it is asked, stops the grid instead of pausing a run: nothing of it reaches the ledger, so
a grid that goes on later has the digests of one that never stopped. Slots of a server are divided among the processes of a grid
(ADR 0141).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any, Final

from glasshouse.assembly import models_named, troupe_digest
from glasshouse.errors import GlasshouseError, ModelMisconfigured, ModelUnreachable, UnknownName
from glasshouse.events.event import Json
from glasshouse.events.model_use import Price
from glasshouse.grids.grid_file import ReadGrid
from glasshouse.grids.variants import Variant
from glasshouse.manifests.problem import At, Complaint
from glasshouse.runtime.capabilities import capabilities_of, capabilities_of_router
from glasshouse.runtime.ports import Model, Route, Router
from glasshouse.turns.moment.prompt import PROFILES, Completion, Prompt

tries_max: Final = 4
"""How often a server that is not reached is asked before the grid stops."""
pause_seconds: Final = 2.0
"""How long the first pause between two tries takes; each later one takes twice as long. A server that is started again in the
middle of a night has 14 seconds."""

Sleep = Callable[[float], Awaitable[None]]
OnOutage = Callable[[str], None]


class GridModels:
    """The routers of a grid by their names."""

    def __init__(
        self,
        names: Sequence[str],
        *,
        folder: Path,
        given: Mapping[str, Router] | None = None,
        env_file: Path | None = None,
        files: Mapping[str, Path] | None = None,
    ) -> None:
        """`files` are models.yaml that came from another machine, by the names that the grid has for them."""
        self._folder = folder
        self._env_file = env_file
        self.variables: set[str] = set()
        """The names of the variables that hold keys or addresses for these models, and have a value here."""
        self._routers: dict[str, Router] = {}
        self._opened: list[Router] = []
        self._given = dict(given or {})
        self._texts = {name: text_meant(name, folder) for name in names if name not in self._given}
        self._texts |= {name: str(path) for name, path in (files or {}).items()}

    async def open(self, grid: ReadGrid) -> None:
        """Look up what the servers have. Raises `BadWorld` with the lines of models that nobody can ask."""
        seats = {model for what_if in grid.file.what_ifs for model in what_if.seats.values()}
        complaints: list[Complaint] = []
        for number, name in enumerate(grid.file.models):
            try:
                await self._open_one(name, seats)
            except GlasshouseError as wrong:
                complaints.append(Complaint(("models", number), str(wrong)))
                continue
            complaints += self._wrong_seats(grid, name)
        if complaints:
            await self.close()
        grid.refuse(complaints)

    async def open_for(self, variants: Iterable[Variant]) -> None:
        """The same for a process that plays a part of a grid, whose models were checked when it began."""
        seats = {model for variant in variants for model in variant.seats.values()}
        for name in self._texts:
            await self._open_one(name, seats)

    async def _open_one(self, name: str, seats: set[str]) -> None:
        """Open one router. A name that a seat names and nobody knows is found afterwards, with its line."""
        router = self._given.get(name)
        if router is None:
            self._check_file(name)
            router = named = models_named(self._texts[name], env_file=self._env_file, noted=self.variables)
            known = [seat for seat in seats if _is_name_of(named, seat)]
            await named.open(*known)
        else:
            await capabilities_of_router(router).open()
        self._opened.append(router)
        self._routers[name] = router
        for profile in PROFILES:
            router.route(profile)

    def _check_file(self, name: str) -> None:
        """Refuse a models.yaml that is not there, with the name of one that is."""
        if name.endswith((".yaml", ".yml")) and not Path(self._texts[name]).is_file():
            around = (self._folder / name).parent
            known = sorted(file.name for file in around.glob("*.y*ml")) if around.is_dir() else []
            raise UnknownName(noun="models file", name=name, known=known)

    def _wrong_seats(self, grid: ReadGrid, name: str) -> list[Complaint]:
        complaints = []
        for number, what_if in enumerate(grid.file.what_ifs):
            for seat, model in what_if.seats.items():
                at: At = ("what_ifs", number, "seats", seat)
                try:
                    self._routers[name].route("fast", model)
                except GlasshouseError as wrong:
                    complaints.append(Complaint(at, str(wrong)))
        return complaints

    async def start(self) -> None:
        """Start the models in files, each as one child."""
        for router in self._opened:
            await capabilities_of_router(router).start()

    async def close(self) -> None:
        """Close all connections, and end the children that were started."""
        while self._opened:
            await capabilities_of_router(self._opened.pop()).close()

    @property
    def has_objects(self) -> bool:
        """Whether a program gave some of the models as Python objects."""
        return bool(self._given)

    def router(self, name: str) -> Router:
        """The router of an entry."""
        return self._routers[name]

    def facts(self, name: str, variant: Variant | None = None) -> Json:
        """What decides how the models of an entry play a variant, or, without one, each size."""
        routes = self.routes(name, variant)
        facts: Json = {who: _facts_of(route) for who, route in routes.items()}
        if any(_answers_at_once(route) for route in routes.values()):
            facts[""] = troupe_digest()
        return facts

    def routes(self, name: str, variant: Variant | None = None) -> dict[str, Route]:
        """The routes of an entry: by size, and, of a variant, those that some of its creatures are bound to, by handle."""
        router = self._routers[name]
        if variant is None:
            return {profile: router.route(profile) for profile in PROFILES}
        scenario = variant.world.scenario
        manifests = variant.world.manifests
        profiles: set[str] = {each.model_profile for each in manifests.values()}
        routes = {profile: router.route(profile) for profile in profiles}
        pin_of = capabilities_of_router(router).pin_of
        teams = scenario.competition.teams
        for handle, creature in scenario.cast_by_handle.items():
            team = next((team for team in teams if handle in teams[team]), "")
            bound = variant.seats.get(handle) or variant.seats.get(team)
            pinned = bound if pin_of is None else pin_of(handle, teams, bound)
            if pinned is not None and creature in manifests:
                routes[f"@{handle}"] = router.route(manifests[creature].model_profile, pinned)
        return routes

    def unpriced(self, name: str, variant: Variant) -> str | None:
        """A model of an entry whose price nobody knows, if there is one."""
        for route in self.routes(name, variant).values():
            for each in (route, *route.fallbacks):
                if each.price is None:
                    return each.name
        return None

    def is_priced(self, name: str) -> bool:
        """Whether a model of an entry costs something, or may."""
        return any(route.price is None or _costs(route.price) for route in self.routes(name).values())

    def is_in_file(self, name: str) -> bool:
        """Whether a model of an entry runs as a child of this process."""
        return any(
            capabilities_of(route.model).backend.startswith("local:") for route in self.routes(name).values()
        )

    def file(self, name: str) -> Path | None:
        """The models.yaml that an entry names, if it names one."""
        text = self._texts.get(name, "")
        return Path(text) if text.endswith((".yaml", ".yml")) else None

    def servers(self, name: str) -> dict[str, float]:
        """The servers of an entry, and how many calls each takes at once."""
        routes = [route for route in self.routes(name).values() if not _answers_at_once(route)]
        return {
            capabilities_of(route.model).backend: capabilities_of(route.model).max_parallel
            for route in routes
        }

    def slots(self, name: str) -> float:
        """How many calls the servers of an entry take at once, at least one of them."""
        routes = [route for route in self.routes(name).values() if not _answers_at_once(route)]
        return min([capabilities_of(route.model).max_parallel for route in routes], default=inf)


def text_meant(name: str, folder: Path) -> str:
    """What an entry of `models` names: paths are seen from the folder of the grid's file, if something is there."""
    prefix, _, path = name.partition(":") if name.startswith("local:") else ("", "", name)
    if path and (path.endswith((".yaml", ".yml", ".gguf")) or "/" in path) and "://" not in path:
        beside = folder / Path(path).expanduser()
        if beside.exists():
            return f"{prefix}:{beside}" if prefix else str(beside)
    return name


def _is_name_of(named: Any, seat: str) -> bool:
    """Whether a router can look a name up at all."""
    try:
        named.route("fast", seat)
    except GlasshouseError as wrong:
        return not isinstance(wrong, LookupError)
    return True


def _answers_at_once(route: Route) -> bool:
    return capabilities_of(route.model).answers_at_once


def _costs(price: Price) -> bool:
    return bool(price.input or price.output or price.cache_read or price.cache_write)


def _facts_of(route: Route) -> Json:
    """What decides how a model answers: its weights if they are known, and how it is asked. Not where it is, nor what it costs."""
    return {
        "name": route.name,
        "digest": route.digest,
        "decoding": dict(route.decoding),
        "form": route.form,
        "context_tokens": route.context_tokens_max,
        "reply_tokens": route.reply_tokens_max,
        "reasoning_tokens": route.reasoning_tokens_max,
        "size": route.size,
        "fallbacks": [_facts_of(fallback) for fallback in route.fallbacks],
    }


def part_of(slots: float, share: tuple[int, int]) -> float:
    """How many of a server's slots the process with this number has, of so many processes."""
    number, count = share
    if count == 1 or slots == inf:
        return slots
    return max(1, slots // count + (number < slots % count))


class GridModel:
    """A model of a server as a grid asks it. In all else it is the model itself."""

    def __init__(
        self, model: Model, share: tuple[int, int], on_outage: OnOutage | None, sleep: Sleep = asyncio.sleep
    ) -> None:
        self._model = model
        self._share = share
        self._on_outage = on_outage
        self._sleep = sleep

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    @property
    def max_parallel(self) -> float:
        """How many calls this process may send: its part of the server's slots."""
        return part_of(capabilities_of(self._model).max_parallel, self._share)

    async def complete(self, prompt: Prompt, **how: Any) -> Completion:
        """The answer of the model. If its server is away for good, the grid is told, and this waits until it is cancelled."""
        if self._on_outage is None:
            return await self._model.complete(prompt, **how)
        pause = pause_seconds
        wrong: GlasshouseError | None = None
        for number in range(1, tries_max + 1):
            try:
                return await self._model.complete(prompt, **how)
            except ModelUnreachable as away:
                if away.retry_after is not None:
                    raise  # It is there, but busy: whoever asks knows how to wait.
                wrong = away
            except ModelMisconfigured as refused:
                wrong = refused
                break  # It would refuse the same again.
            if number < tries_max:
                await self._sleep(pause)
                pause *= 2
        self._on_outage(str(wrong))
        await asyncio.Event().wait()
        raise AssertionError("nobody sets this event")


class GridRouter:
    """A router whose servers' outages stop the grid. Opening and closing is up to `GridModels`."""

    def __init__(
        self, router: Router, share: tuple[int, int], on_outage: OnOutage, sleep: Sleep = asyncio.sleep
    ) -> None:
        can = capabilities_of_router(router)
        self.pacing = can.pacing
        self.recorded = can.recorded
        self.pin_of = can.pin_of
        self.names = can.names
        self._router = router
        self._wrap = (share, on_outage, sleep)
        self._models: dict[tuple[int, bool], GridModel] = {}
        self._routes: dict[tuple[str, str | None], Route] = {}

    def route(self, profile: str, model: str | None = None, /) -> Route:
        """The route of a profile, or of a model by its name."""
        key = (profile, model)
        if key not in self._routes:
            route = self._router.route(profile) if model is None else self._router.route(profile, model)
            self._routes[key] = self._wrapped(route)
        return self._routes[key]

    def _wrapped(self, route: Route) -> Route:
        if _answers_at_once(route):
            return route  # It has no server.
        share, on_outage, sleep = self._wrap
        fallbacks = tuple(map(self._wrapped, route.fallbacks))
        # While a server is away, a fallback answers.
        wrapped = GridModel(route.model, share, None if fallbacks else on_outage, sleep)
        model = self._models.setdefault((id(route.model), bool(fallbacks)), wrapped)
        return route._replace(model=model, fallbacks=fallbacks)
