"""Policy: what a privileged creature may do to its graph with tools. Pure: the folds in, a refusal or none out.

Always holds: a creature is judged by the policy of the run it was born in, wherever its graph goes, and is protected by
the policy of its own run, whoever wants to touch it. Each refusal names the call or the wait that would work.
"""

from __future__ import annotations

from typing import Final, Literal

from glasshouse.errors import Refused
from glasshouse.turns.moment.playbill import Policy
from glasshouse.turns.runs.purses import Runs
from glasshouse.world.state.state import CreatureState, GraphState, World

Deed = Literal["removed", "stopped", "started", "taken off a channel"]

_NO_POLICY: Final = Policy()


def policy_of(runs: Runs, creature: CreatureState) -> Policy:
    """The policy of the run that a creature was born in."""
    purse = runs.purses.get(creature.run_id or "")
    return _NO_POLICY if purse is None else purse.playbill.policy


def is_protected(runs: Runs, creature: CreatureState) -> bool:
    """Whether the policy of its own run names a creature by the handle that it began with."""
    purse = runs.purses.get(creature.run_id or "")
    if purse is None or not purse.playbill.policy.protected:
        return False
    return purse.cast.get(creature.id, creature.handle) in purse.playbill.policy.protected


def refusal_of_edit(runs: Runs, caller: CreatureState) -> Refused | None:
    """Why no change at all may be made now."""
    most = policy_of(runs, caller).edits_per_turn_max
    if most is None or runs.edits_in_turn(caller.run_id, caller.graph_id) < most:
        return None
    if most == 0:
        return Refused("The policy of this run allows no changes by tools.", "Say what you need instead.")
    changes = "The one change" if most == 1 else f"All {most} changes"
    return Refused(
        f"{changes} that this turn allows {'is' if most == 1 else 'are'} made.", "Wait for the next turn."
    )


def refusal_of_birth(world: World, runs: Runs, caller: CreatureState) -> Refused | None:
    """Why nobody more may be born in a creature's run."""
    most = policy_of(runs, caller).population_max
    living = population_of(world, caller)
    if most is None or living < most:
        return None
    return Refused(
        f"There are {living} creatures, and the policy allows {most}.",
        "First take one away with group_remove_node.",
    )


def population_of(world: World, creature: CreatureState) -> int:
    """How many creatures of its run are alive, itself among them."""
    run = world.runs.get(creature.run_id or "")
    return 1 if run is None else run.creatures_living


def refusal_to_touch(runs: Runs, caller: CreatureState, target: CreatureState, deed: Deed) -> Refused | None:
    """Why a creature may not have this done to it by a tool. Whoever leaves a channel by itself may."""
    if deed == "taken off a channel" and target.id == caller.id:
        return None
    if target.is_privileged:
        return Refused(
            f"{target.handle} is privileged, and no tool lets it be {deed}.",
            "Choose a worker, or ask somebody outside.",
        )
    if deed != "started" and is_protected(runs, target):
        return Refused(f"{target.handle} is protected: it may not be {deed}.", "Choose somebody else.")
    return None


def is_hidden(world: World, runs: Runs, graph: GraphState) -> bool:
    """Whether a graph is kept from creatures of others: one of its creatures is of a run that hides itself."""
    if not runs.hiding:
        return False
    return any(world.creatures[name].run_id in runs.hiding for name in graph.creatures)
