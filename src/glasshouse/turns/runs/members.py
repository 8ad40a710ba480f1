"""The members of a graph as the schedule sees them: their runs, and those that act at every so many turns.

Always holds: this depends on the shape of the world alone, so it is cached until the shape changes. A turn then costs
as much in a graph of a thousand listeners as in a small one.
"""

from __future__ import annotations

import msgspec

from glasshouse.world.state.state import GraphState, World


class Members(msgspec.Struct, frozen=True):
    """The runs and the tickers of a graph, in the order of its members."""

    runs: tuple[str, ...]
    runs_awake: tuple[str, ...]
    """The runs that have a running creature here. The empty name stands for creatures without a run."""
    tickers: tuple[tuple[str, int], ...]
    """The running creatures that tick, each with the number of turns from one tick to the next."""


def members_of(world: World, graph: GraphState) -> Members:
    """The members of a graph."""
    key = ("members", graph.id)
    members: Members | None = world.shape_cache.get(key)
    if members is None:
        creatures = [world.creatures[name] for name in graph.creatures]
        running = [creature for creature in creatures if creature.is_running]
        every = [(one.id, world.facts_of(one).schedule.tick_every) for one in running]
        members = world.shape_cache[key] = Members(
            tuple(dict.fromkeys([creature.run_id or "" for creature in creatures])),
            tuple(dict.fromkeys([creature.run_id or "" for creature in running])),
            tuple([(name, turns) for name, turns in every if turns]),
        )
    return members
