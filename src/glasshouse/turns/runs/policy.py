"""Policy: pure rules for what a privileged creature may do to its graph with tools (ADR 0035).

Always holds: what a creature may do depends on the policy of the run that it was born in, whatever graph it is in. The
policy of its own run also protects it, whichever creature wants to change it. Each refusal says what to do instead.
"""

from __future__ import annotations

from typing import Final, Literal

from glasshouse.errors import Refused
from glasshouse.events.event import Json
from glasshouse.events.recorded_fields import fields_of
from glasshouse.turns.moment.playbill import Policy, Rule
from glasshouse.turns.runs.agenda import members_of
from glasshouse.turns.runs.purses import Runs
from glasshouse.world.state.state import CreatureState, GraphState, World

Deed = Literal["removed", "stopped", "started", "taken off a channel", "given another parent"]

_NO_POLICY: Final = Policy()
_FROM_MILD_TO_STRICT: Final[tuple[Rule, ...]] = ("allow", "ask", "refuse")


def policy_of(runs: Runs, creature: CreatureState) -> Policy:
    """The policy of the run that a creature was born in."""
    return _policy_of_run(runs, creature.run_id)


def _policy_of_run(runs: Runs, run_id: str | None) -> Policy:
    purse = runs.purses.get(run_id or "")
    return _NO_POLICY if purse is None else purse.playbill.policy


def rule_of_joining(world: World, runs: Runs, caller: CreatureState, graph: GraphState) -> Rule:
    """Whether a creature may join another graph because of the runs in it. If it holds creatures of other runs, the
    strictest `other_runs` of the caller's run and of theirs applies (ADR 0055)."""
    others = [run_id for run_id in members_of(world, graph).runs if run_id != (caller.run_id or "")]
    if not others:
        return "allow"
    rules = [_policy_of_run(runs, run_id).other_runs for run_id in (caller.run_id, *others)]
    return max(rules, key=_FROM_MILD_TO_STRICT.index)


def rule_of_untrusted_edit(runs: Runs, caller: CreatureState, *, is_join_within_run: bool) -> Rule:
    """What happens to a change of a creature that strangers' words may have led to."""
    policy = policy_of(runs, caller)
    return (policy.untrusted_joins if is_join_within_run else None) or policy.untrusted_edits


def is_join_within_run(world: World, caller: CreatureState, graph: GraphState) -> bool:
    """Whether only creatures of the caller's run are in its graph and in another."""
    graphs = (world.graphs[caller.graph_id], graph)
    return all(run_id == (caller.run_id or "") for each in graphs for run_id in members_of(world, each).runs)


def is_protected(runs: Runs, creature: CreatureState) -> bool:
    """Whether the policy of a creature's own run protects it, by the handle that it began with."""
    purse = runs.purses.get(creature.run_id or "")
    if purse is None or not purse.playbill.policy.protected:
        return False
    return purse.cast.get(creature.id, creature.handle) in purse.playbill.policy.protected


def edits_left(runs: Runs, caller: CreatureState) -> int | None:
    """How many more changes a creature may make with tools in this turn; none if there is no limit."""
    most = policy_of(runs, caller).edits_per_turn_max
    return None if most is None else max(0, most - runs.edits_in_turn(caller.run_id, caller.graph_id))


def refusal_of_edit(runs: Runs, caller: CreatureState) -> Refused | None:
    """Why a creature may make no change at all now; none if it may."""
    if edits_left(runs, caller) != 0:
        return None
    most = policy_of(runs, caller).edits_per_turn_max
    if most == 0:
        return Refused("The policy of this run allows no changes by tools.", "Say what you need instead.")
    changes = "The one change" if most == 1 else f"All {most} changes"
    return Refused(
        f"{changes} that this turn allows {'is' if most == 1 else 'are'} made.", "Wait for the next turn."
    )


def refusal_of_birth(world: World, runs: Runs, caller: CreatureState) -> Refused | None:
    """Why no more creatures may be born in the caller's run; none if they may."""
    most = policy_of(runs, caller).population_max
    living = population_of(world, caller)
    if most is None or living < most:
        return None
    return Refused(
        f"There are {living} creatures, and the policy allows {most}.",
        "First take one away with group_remove_node.",
    )


def spawnable_by(runs: Runs, creature: CreatureState) -> dict[str, Json]:
    """Name -> manifest of the creatures that a creature may add: its own list, then that of its run."""
    purse = runs.purses.get(creature.run_id or "")
    of_run = {} if purse is None else purse.spawnable
    return of_run if creature.may_spawn is None else {**creature.may_spawn, **of_run, **creature.may_spawn}


def profiles_for(runs: Runs, creature: CreatureState) -> list[str]:
    """The model profiles that a creature may choose from for those that it adds."""
    purse = runs.purses.get(creature.run_id or "")
    own = [fields_of(manifest).model_profile for manifest in (creature.may_spawn or {}).values()]
    return list(dict.fromkeys([*([] if purse is None else purse.profiles), *own]))


def population_of(world: World, creature: CreatureState) -> int:
    """How many creatures of a creature's run are alive, itself included."""
    run = world.runs.get(creature.run_id or "")
    return 1 if run is None else run.creatures_living


def refusal_to_touch(runs: Runs, caller: CreatureState, target: CreatureState, deed: Deed) -> Refused | None:
    """Why a tool may not do this to a creature; none if it may. A creature may always leave a channel itself."""
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


def is_hidden(world: World, runs: Runs, caller: CreatureState, graph: GraphState) -> bool:
    """Whether a creature may not see another graph: one of its creatures belongs to a hidden run, or to another run, and one of the
    two is played apart."""
    if runs.hiding and any(world.creatures[name].run_id in runs.hiding for name in graph.creatures):
        return True
    if not runs.apart:
        return False
    others = [run_id for run_id in members_of(world, graph).runs if run_id != (caller.run_id or "")]
    return bool(others) and (caller.run_id in runs.apart or any(run_id in runs.apart for run_id in others))
