"""What the start dialog reads: the worlds, the models that play them here, and what a play will probably cost.

Always holds: nothing here tells a key, an address of a server or a card of a deck. A price that nobody knows is null,
never 0. An estimate asks no model: the offline troupe plays the world in memory, in a thread of its own.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from fastapi import APIRouter, Request, Response
from msgspec.structs import replace
from pydantic import BaseModel, Field

from glasshouse.contests.expected_cost import Expected, OfflinePlay, offline_play, without_dollars
from glasshouse.errors import GlasshouseError, UnknownName
from glasshouse.events.model_use import FREE
from glasshouse.events.payloads import Governor
from glasshouse.events.redaction import Role
from glasshouse.manifests.card import Kind, card_of
from glasshouse.manifests.editing import WorldEdits
from glasshouse.manifests.loading import LoadedWorld, load_world
from glasshouse.manifests.scenario import EndsWhenPlan
from glasshouse.manifests.world_folders import FoundWorld, Where, found_worlds
from glasshouse.runtime.acts.routes import check_model
from glasshouse.runtime.capabilities import capabilities_of, capabilities_of_router
from glasshouse.runtime.ports import Route, Router
from glasshouse.terrarium import router_of
from glasshouse.turns.moment.prompt import PROFILES
from glasshouse.web.commands import Command, Limits, Name, Stage, limits_in, world_meant
from glasshouse.web.packed import content_tag, not_changed, tagged
from glasshouse.web.reading import AsRole, Source
from glasshouse.web.refusals import COMMANDS, READS

names_listed_max: Final = 500
"""How many models are listed by name."""
estimate_calls_max: Final = 2_000
"""How many calls of the offline troupe an estimate makes at most. A longer play costs at least what it says."""
estimates_kept_max: Final = 32
"""With more, the least recently used one is forgotten."""
worlds_kept_max: Final = 256
"""What is told about more worlds is read again."""
world_files_max: Final = 512
"""How many files of a world are looked at to see whether it has changed."""

_worlds_cache: dict[str, tuple[tuple[object, ...], WorldInfo]] = {}
"""Path -> when its files were changed, and the description of the world."""

router = APIRouter(prefix="/api/v1", responses=READS)


class CastInfo(BaseModel):
    """A creature of a world's cast."""

    handle: str
    title: str
    role: Literal["worker", "judge", "narrator", "root"]
    bio: str
    profile: str = Field(description="The size of its model.")
    team: str | None
    is_privileged: bool
    is_visitor: bool = Field(description="Whether somebody at the page may play it.")


class LimitsInfo(BaseModel):
    """The limits of a run; null where there is none."""

    max_turns: int | None
    max_calls_per_turn: int | None
    max_total_calls: int | None
    max_total_tokens: int | None
    max_total_usd: float | None
    hourly_budget_usd: float | None
    max_wall_minutes: float | None


class WorldInfo(BaseModel):
    """A world that can be played by its name."""

    name: str
    title: str
    where: Where
    synopsis: str = Field("", description="What it is about, in one sentence.")
    kind: Kind | None = Field(None, description="What sort of play it is; null if it cannot be played.")
    shows: str = Field("", description="What it shows off, in a few words.")
    minutes: int | None = Field(None, description="How long an offline play takes to read, about.")
    has_script: bool = Field(
        False, description="Whether its lines come from a script of its own where no model plays."
    )
    graphs: int = Field(0, description="How many graphs it opens with.")
    seed: str = Field("", description="The text that a play starts from unless another one is given.")
    seeds: list[str] = []
    cast: list[CastInfo] = []
    limits: LimitsInfo | None = None
    ending: str = Field("", description="What ends a play before a limit does, in words.")
    profiles: list[str] = Field([], description="The sizes of models that its cast uses.")
    disturbances: list[str] = Field([], description="What a visitor might say.")
    language: str = ""
    problem: str | None = Field(None, description="Why it cannot be played, if it cannot.")


class PriceInfo(BaseModel):
    """US dollars for a million tokens."""

    input: float
    output: float


class SizeInfo(BaseModel):
    """What plays a size of model here."""

    size: str
    model: str | None
    is_local: bool | None
    is_free: bool | None
    usd_per_million: PriceInfo | None = Field(description="Null: unknown.")
    context_tokens: int | None
    problem: str | None = Field(description="Why nothing plays it, if nothing does.")


class ModelsInfo(BaseModel):
    """The models of this server."""

    sizes: list[SizeInfo]
    names: list[str] = Field(description="Models that may be chosen for a creature by name.")


class Estimate(Command):
    """A start to estimate."""

    world: Name
    seed: Annotated[str, Field(max_length=200)] | None = None
    rng_seed: Annotated[int, Field(ge=0, le=2**53)] = 0
    limits: Limits | None = None
    models: dict[Name, Name] = Field(default_factory=dict, max_length=100)
    edits: WorldEdits | None = None


class EstimateInfo(BaseModel):
    """What a play will probably take."""

    calls: int
    tokens: int
    minutes: int
    usd: float | None = Field(description="Null: the price of a model is unknown. 0: it costs nothing.")
    is_at_least: bool = Field(description="Whether the play may take much more.")
    says: str = Field(description="The same in a sentence.")


@router.get("/worlds", response_model=list[WorldInfo])
def worlds(request: Request, role: AsRole) -> Response:
    """List the worlds that can be played by name, with what a start needs to know."""
    infos = [world_info(listed, role) for listed in found_worlds()]
    body = msgspec.json.encode([info.model_dump(mode="json") for info in infos])
    tag = content_tag(body)
    return not_changed(request, tag) or tagged(request, tag, body)


def world_info(listed: FoundWorld, role: Role) -> WorldInfo:
    """A world as a role may read it: what is wrong with one names files of this machine."""
    info = _world_info_of(listed)
    if info.problem is None or role == "director":
        return info
    return info.model_copy(update={"problem": "There is a mistake in its files."})


def _world_info_of(listed: FoundWorld) -> WorldInfo:
    """The description of a world. It is read again when one of its files has changed."""
    world = Path(listed.path)
    # A scenario file of its own may share its folder with everything else: its creatures are not further away.
    paths = (
        [*world.parent.glob("*"), *world.parent.glob("creatures/*")] if world.is_file() else world.rglob("*")
    )
    files = sorted(path for path in paths if path.is_file())[:world_files_max]
    stamp = tuple((str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in files)
    kept, info = _worlds_cache.get(listed.path, (None, None))
    if info is None or kept != stamp:
        info = _world_info(listed)
        _worlds_cache[listed.path] = stamp, info
        if len(_worlds_cache) > worlds_kept_max:
            del _worlds_cache[next(iter(_worlds_cache))]
    return info


def _world_info(listed: FoundWorld) -> WorldInfo:
    title = listed.title or listed.name
    try:
        world = load_world(Path(listed.path))
    except GlasshouseError as wrong:
        return WorldInfo(name=listed.name, title=title, where=listed.where, problem=str(wrong))
    scenario = world.scenario
    card = card_of(world)
    cast = _cast_of(world)
    limits = msgspec.to_builtins(scenario.limits)
    return WorldInfo(
        name=listed.name,
        title=title,
        where=listed.where,
        synopsis=card.about,
        kind=card.kind,
        shows=card.shows,
        minutes=card.minutes,
        has_script=world.script is not None,
        graphs=len(scenario.stages),
        seed=next(iter(scenario.seeds), ""),
        seeds=list(scenario.seeds),
        cast=cast,
        limits=LimitsInfo(**{name: limits.get(name) for name in LimitsInfo.model_fields}),
        ending=_ending(scenario.ends_when),
        profiles=[size for size in PROFILES if size in {member.profile for member in cast}],
        disturbances=list(scenario.disturbances),
        language=scenario.language,
    )


def _cast_of(world: LoadedWorld) -> list[CastInfo]:
    teams = {handle: team for team, some in world.scenario.competition.teams.items() for handle in some}
    entries = [entry for stage in world.scenario.stages.values() for entry in stage.cast]
    cast = []
    for entry in entries:
        manifest = world.manifests[entry.use]
        cast.append(
            CastInfo(
                handle=entry.name,
                title=manifest.title or re.sub(r"[-_]", " ", entry.name).title(),
                role=manifest.role,
                bio=manifest.bio,
                profile=manifest.model_profile,
                team=teams.get(entry.name),
                is_privileged=entry.privileged,
                is_visitor=manifest.played_by == "visitor",
            )
        )
    return cast


def _ending(plan: EndsWhenPlan | None) -> str:
    if plan is None:
        return ""
    if plan.kind is None:
        return "when the referee has ruled"
    return f"at {plan.kind} number {plan.count}" if plan.count > 1 else f"at the first {plan.kind}"


@router.get("/models")
def models(source: Source, role: AsRole) -> ModelsInfo:
    """Tell which model plays each size here, what it costs, and which ones may be chosen by name."""
    known = router_of(source.terrarium)
    sizes = [_size_info(known, size, is_director=role == "director") for size in PROFILES]
    return ModelsInfo(sizes=sizes, names=capabilities_of_router(known).names()[:names_listed_max])


def _size_info(models: Router, size: str, *, is_director: bool) -> SizeInfo:
    try:
        route = models.route(size)
    except GlasshouseError as wrong:  # Its text may name an address.
        problem = str(wrong) if is_director else "No model plays this size now."
        nothing = dict.fromkeys(("model", "is_local", "is_free", "usd_per_million", "context_tokens"))
        return SizeInfo(size=size, **nothing, problem=problem)
    price = route.price
    return SizeInfo(
        size=size,
        model=route.name,
        is_local=_is_local(route),
        is_free=price == FREE,
        usd_per_million=None if price is None else PriceInfo(input=price.input, output=price.output),
        context_tokens=route.context_tokens_max,
        problem=None,
    )


def _is_local(route: Route) -> bool:
    return route.is_local or capabilities_of(route.model).is_free


class Estimates:
    """What the offline troupe needed for worlds, one play at a time. A cache: it can be dropped."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[object, ...], OfflinePlay] = OrderedDict()
        self._one_at_a_time = asyncio.Lock()

    async def of(self, world: LoadedWorld, seed: str | None, rng_seed: int, limits: Governor) -> OfflinePlay:
        """What a world needs, within these limits."""
        key = (world.digest, seed, rng_seed, limits)
        async with self._one_at_a_time:
            if key not in self._kept:
                self._kept[key] = await asyncio.to_thread(
                    offline_play, world, seed, rng_seed, governor=limits
                )
                if len(self._kept) > estimates_kept_max:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return self._kept[key]


@router.post("/estimate", responses=COMMANDS)
async def estimate(stage: Stage, request: Request, command: Estimate) -> EstimateInfo:
    """Tell what a start will probably cost with the models of this server. No model is asked."""
    world = world_meant(command.world, command.edits)
    models = router_of(stage.terrarium)
    known = {*world.scenario.cast_by_handle, *world.scenario.competition.teams}
    for name, model in command.models.items():
        if name not in known:
            raise UnknownName(noun="creature or team of the cast", name=name, known=known)
        check_model(models, model)
    limits = limits_in(world, command.limits)
    asked = min(limits.max_total_calls or estimate_calls_max, estimate_calls_max)
    # The offline troupe costs nothing, and how long it takes says nothing about others.
    bounded = without_dollars(replace(limits, max_total_calls=asked, max_wall_minutes=None))
    estimates: Estimates = request.app.state.estimates
    needed = await estimates.of(world, command.seed, command.rng_seed, bounded)
    usd = needed.usd(models, command.models)
    is_at_least = needed.calls >= asked and limits.max_total_calls != asked
    expected = Expected(needed.calls, usd).within(limits)
    return EstimateInfo(
        calls=needed.calls,
        tokens=needed.tokens,
        minutes=expected.minutes,
        usd=usd,
        is_at_least=is_at_least,
        says=_in_words(expected, is_at_least=is_at_least),
    )


def _in_words(expected: Expected, *, is_at_least: bool) -> str:
    cost = f"about {expected.calls:,} calls, free of charge" if expected.usd == 0 else str(expected)
    said = f"{'At least ' if is_at_least else ''}{cost}"
    return f"{said[0].upper()}{said[1:]}."
