"""The recipes of a past: the scenario of each run, as it is on disk now, edited or not (ADR 0033).

Always holds: a scenario is looked for in the worlds that the caller gives, then in the folder that the run was opened
from, then by its name. If none of these has it, resuming is refused. The modules that read worlds are imported when a
world is read, because few programs resume a session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from glasshouse.errors import Refused, UnknownName
from glasshouse.runtime.past.past_world import Past
from glasshouse.runtime.past.regrow import Recipes
from glasshouse.turns.runs.purses import Purse
from glasshouse.world.state.ids import the_session
from glasshouse.world.state.state import World

if TYPE_CHECKING:
    from glasshouse.manifests.loading import LoadedWorld

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
    past: Past, session_id: str, given: WorldsNow, tools: frozenset[str], new_run_id: Callable[[], str]
) -> Recipes:
    """The opening of every scenario in a past, each with a new run id, by the old run id."""
    from glasshouse.manifests.opening import opening_of

    purses = {
        run_id: purse
        for run_id, purse in past.folded.runs.purses.items()
        if purse.playbill.name and past.holds_run(run_id)
    }
    if not purses:
        raise _without_scenario(f"Session {session_id}")
    scenarios = _scenarios_now(list(purses.values()), given, tools)
    return {
        run_id: opening_of(loaded, run_id=new_run_id(), seed=purse.seed, rng_seed=purse.rng_seed)
        for (run_id, purse), loaded in zip(purses.items(), scenarios, strict=True)
    }


def is_edited(run_id: str, purse: Purse | None, given: WorldsNow, tools: frozenset[str]) -> bool:
    """Whether the scenario on disk differs from the one that a run was opened from."""
    if purse is None or not purse.playbill.name:
        raise _without_scenario(f"Run {run_id}")
    loaded = _loaded(given, tools)
    if len(loaded) > 1:
        loaded = [world for world in loaded if world.scenario.name == purse.playbill.name]
    return _scenario_now(purse, loaded[0] if loaded else None, tools).digest != purse.scenario_digest


def _without_scenario(what: str) -> Refused:
    return Refused(f"{what} was opened from no scenario.", "Resume it as it was (shape='as-was', --as-was).")


def _loaded(given: WorldsNow, tools: frozenset[str]) -> list[LoadedWorld]:
    from glasshouse.manifests.loading import LoadedWorld, load_world

    worlds = [] if given is None else [given] if isinstance(given, str | Path | LoadedWorld) else given
    return [load_world(world, tools=tools) if isinstance(world, str | Path) else world for world in worlds]


def _scenarios_now(purses: Sequence[Purse], given: WorldsNow, tools: frozenset[str]) -> Sequence[LoadedWorld]:
    """The scenario of each run as it is now. If there are several, given worlds are matched by name."""
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


def _scenario_now(purse: Purse, given: LoadedWorld | None, tools: frozenset[str]) -> LoadedWorld:
    from glasshouse.manifests.loading import load_world

    if given is not None:
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
