"""The recipes of a past: the scenario of each run, as it is on disk now, edited or not (ADR 0054).

Always holds: a scenario is looked for in the worlds that the caller gives, then in the folder that the run was opened
from, then by its name. If none of these has it, resuming is refused. A world that was edited before its run started is on no
disk: unless the caller gives a world, the record has it (ADR 0137). The modules that read worlds are imported when a
world is read, because few programs resume a session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from msgspec.structs import replace

from glasshouse.errors import Refused, UnknownName
from glasshouse.events.payloads import AXES, CreatureStarted, RunStarted, axes_changed, settled
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.past.past_world import Past
from glasshouse.runtime.past.regrow import Recipe, Recipes
from glasshouse.turns.runs.purses import Purse
from glasshouse.world.decisions.intents import Member, OpenRun
from glasshouse.world.state.ids import the_run, the_session
from glasshouse.world.state.state import World

if TYPE_CHECKING:
    from glasshouse.manifests.loading import LoadedWorld
    from glasshouse.manifests.scenario import CastEntry, Scenario

AnyWorld: TypeAlias = "str | Path | LoadedWorld"
"""A world: its name, its path, or the loaded world."""
WorldsNow: TypeAlias = "AnyWorld | Sequence[AnyWorld] | None"
"""Where the scenarios are now, if they have moved."""


def check_is_not_live(world: World, session_id: str) -> None:
    """Refuse to resume a session whose graph can still be driven."""
    graph = world.graphs.get(the_session(world, session_id).segment.graph_id)
    if graph is None or graph.session_id != session_id:
        return
    run_ids = dict.fromkeys(world.creatures[name].run_id or "" for name in graph.creatures)
    over = [run.id for run in world.runs.values() if run.status == "finished"]
    playing = [run_id for run_id in run_ids if run_id not in over]
    if playing:
        what = f"run {' and '.join(filter(None, playing))}" if any(playing) else "its run"
        raise Refused(
            f"Session {session_id} is live: its graph can be driven as it is.",
            f"Drive it, or finish {what} first, or branch it.",
        )


def recipes_of(
    past: Past,
    session_id: str,
    given: WorldsNow,
    tools: frozenset[str],
    new_run_id: Callable[[], str],
    started: Mapping[str, RunStarted],
    births: Mapping[str, Sequence[CreatureStarted]],
) -> Recipes:
    """The opening of every scenario in a past, each with a new run id, by the old run id. `births` has the creatures that began
    in each run of an edited world."""
    from glasshouse.manifests.opening import opening_of

    purses = {
        run_id: purse
        for run_id, purse in past.folded.runs.purses.items()
        if purse.playbill.name and past.holds_run(run_id)
    }
    if not purses:
        raise _without_scenario(f"Session {session_id}")
    scenarios = scenarios_now(list(purses.values()), given, tools)
    recipes: Recipes = {}
    for (run_id, purse), now in zip(purses.items(), scenarios, strict=True):
        loaded = _recorded(started[run_id], births[run_id]) if now is None else now
        own = _own_pasts(past, run_id, started[run_id], loaded)
        models = _models_chosen(started[run_id]) if now is None else {}
        opening = opening_of(
            loaded, run_id=new_run_id(), seed=purse.seed, rng_seed=purse.rng_seed, models=models
        )
        opening = _with_privilege_kept(opening, past.world, own, started[run_id])
        begun = _with_limits_kept(opening.started, started[run_id])
        if (
            now is None
        ):  # The same world: also where it deals nothing more, or was written by another version.
            then = started[run_id]
            begun = replace(begun, scenario=then.scenario, scenario_digest=then.scenario_digest)
        recipes[run_id] = Recipe(replace(opening, started=begun), own, now)
    return recipes


def _recorded(started: RunStarted, births: Sequence[CreatureStarted]) -> LoadedWorld:
    from glasshouse.runtime.past.recorded_worlds import recorded_world

    return recorded_world(started, births)


def _models_chosen(started: RunStarted) -> dict[str, str]:
    """The models that were chosen for creatures by name: a part of the edited world, which its record has."""
    return {entry.handle: entry.model for entry in started.cast if entry.is_bound and entry.model}


def _with_privilege_kept(
    opening: OpenRun, world: World, pasts: Sequence[str | None], then: RunStarted
) -> OpenRun:
    """The opening with the privilege that somebody outside granted or revoked since the run began. Whoever nobody
    changed has what the scenario says now."""
    from glasshouse.runtime.past.recorded_worlds import recorded_scenario

    seats = _seats(recorded_scenario(then))
    cast = zip(then.cast, seats, strict=True)
    flags_then = {entry.creature: seat.privileged for entry, (_, seat) in cast}
    flags_now = {name: world.creatures[name].is_privileged for name in pasts if name in flags_then}
    changed = {name: flag for name, flag in flags_now.items() if flag != flags_then[name]}
    continued = iter(pasts)

    def kept(member: Member) -> Member:
        name = next(continued)
        return replace(member, is_privileged=changed[name]) if name in changed else member

    troupes = [replace(troupe, members=tuple(map(kept, troupe.members))) for troupe in opening.troupes]
    return replace(opening, troupes=tuple(troupes))


def _with_limits_kept(now: RunStarted, then: RunStarted) -> RunStarted:
    """The start of a resumed run with its limits: those that the caller gave then, and those that the scenario has not
    changed since (ADR 0059)."""
    from glasshouse.runtime.past.recorded_worlds import recorded_scenario

    if then.limits is None or now.limits is None:
        return now
    plan = recorded_scenario(then).governor
    changed = axes_changed(now.limits, plan.limits(len(then.cast)))
    kept = [axis for axis in AXES if axis in then.limits_given or axis not in changed]
    limits = replace(now.limits, **{axis: getattr(then.limits, axis) for axis in kept})
    return replace(now, limits=settled(limits, len(now.cast)), limits_given=then.limits_given)


def _own_pasts(past: Past, run_id: str, started: RunStarted, world: LoadedWorld) -> list[str | None]:
    """For each member of a scenario's cast, in order: the creature of the run whose past it continues, if any.

    That is the one with its handle, or with the handle that it `was`. Where several troupes have the handle, the one of
    its own troupe. If that creature was removed, the member starts empty.
    """
    from glasshouse.runtime.past.recorded_worlds import recorded_scenario

    purse = past.folded.runs.purses[run_id]
    _check_was(past.world, run_id, purse, world)
    living = {member.id: member for member in past.world.creatures.values() if member.run_id == run_id}
    by_handle: dict[str, dict[str, str]] = {}  # handle -> troupe -> creature
    seats_then = _seats(recorded_scenario(started))
    seats = _seats(world.scenario)
    for (troupe, seat), entry in zip(seats_then, started.cast, strict=True):
        by_handle.setdefault(seat.name, {})[troupe] = entry.creature
    newcomers = [creature for creature in living.values() if creature.id not in purse.cast]
    for creature in [newcomer for newcomer in newcomers if newcomer.handle not in by_handle]:
        by_handle.setdefault(creature.handle, {})[creature.graph_id] = creature.id
    # A rename that the run began with is done: the handle means the renamed creature.
    renames = [None if purse.renamed.get(seat.name) == seat.was else seat.was for _, seat in seats]
    handles = [was or seat.name for (_, seat), was in zip(seats, renames, strict=True)]
    pasts: list[str | None] = []
    for (troupe, _), handle in zip(seats, handles, strict=True):
        namesakes = by_handle.get(handle, {})
        is_clear = len(namesakes) == 1 and handles.count(handle) == 1
        creature_id = next(iter(namesakes.values())) if is_clear else namesakes.get(troupe)
        pasts.append(creature_id if creature_id in living else None)
    return pasts


def _seats(scenario: Scenario) -> list[tuple[str, CastEntry]]:
    """Every entry of a scenario's casts with the name of its troupe, in the order of the cast in `run.started`."""
    return [(name, entry) for name, troupe in scenario.stages.items() for entry in troupe.cast]


def _check_was(world: World, run_id: str, purse: Purse, now: LoadedWorld) -> None:
    """Refuse a scenario in which a creature `was` none of the run's creatures."""
    from glasshouse.manifests.loading import check_was

    living = [creature.handle for creature in world.creatures.values() if creature.run_id == run_id]
    check_was(now, dict.fromkeys([*purse.cast.values(), *living]), purse.renamed)


def is_edited(folded: Folded, run_id: str, given: WorldsNow, tools: frozenset[str]) -> bool:
    """Whether the scenario on disk differs from the one that a run was opened from. If so, it must be one that the run
    can be resumed with. What was edited before the start has no file that could differ."""
    purse = folded.runs.purses.get(the_run(folded.world, run_id).id)
    if purse is None or not purse.playbill.name:
        raise _without_scenario(f"Run {run_id}")
    loaded = _loaded(given, tools)
    if len(loaded) > 1:
        loaded = [world for world in loaded if world.scenario.name == purse.playbill.name]
    now = _scenario_now(purse, loaded[0] if loaded else None, tools)
    if now is None:
        return False
    _check_was(folded.world, run_id, purse, now)
    return now.digest != purse.scenario_digest


def _without_scenario(what: str) -> Refused:
    return Refused(f"{what} was opened from no scenario.", "Resume it as it was (shape='as-was', --as-was).")


def _loaded(given: WorldsNow, tools: frozenset[str]) -> list[LoadedWorld]:
    from glasshouse.manifests.loading import LoadedWorld, load_world

    worlds = [] if given is None else [given] if isinstance(given, str | Path | LoadedWorld) else given
    return [load_world(world, tools=tools) if isinstance(world, str | Path) else world for world in worlds]


def scenarios_now(
    purses: Sequence[Purse], given: WorldsNow, tools: frozenset[str]
) -> Sequence[LoadedWorld | None]:
    """The scenario of each run as it is now; none if its record has it. If there are several, given worlds are matched by
    name."""
    loaded = _loaded(given, tools)
    if len(purses) == 1 and len(loaded) == 1:
        return loaded
    by_name = {world.scenario.name: world for world in loaded}
    names = list(dict.fromkeys([purse.playbill.name for purse in purses]))
    for name in by_name:
        if name not in names:
            raise Refused(
                f"No scenario of this session is called {name!r}; it has {' and '.join(names)}.",
                "Give worlds that have these names still.",
            )
    return [_scenario_now(purse, by_name.get(purse.playbill.name), tools) for purse in purses]


def _scenario_now(purse: Purse, given: LoadedWorld | None, tools: frozenset[str]) -> LoadedWorld | None:
    from glasshouse.manifests.loading import load_world

    if given is not None or purse.is_edited:
        return given
    for source in (purse.folder, purse.playbill.name):
        try:
            if source is not None:
                return load_world(source, tools=tools)
        except UnknownName:
            continue  # It is no longer there: try the next source.
    raise Refused(
        f"The scenario {purse.playbill.name} is not where it was ({purse.folder}).",
        "Say where it is now (world=…, --world), or resume it as it was (shape='as-was', --as-was).",
    )
