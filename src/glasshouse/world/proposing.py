"""Changes that wait for a word from outside: they are proposed in the middle of an act, and decided.

Always holds: both name the call that asked for the change. Nothing is told of a creature that is gone meanwhile,
or whose run is over.
"""

from __future__ import annotations

from glasshouse.events import kinds
from glasshouse.events.codec import json_copy
from glasshouse.events.event import Json
from glasshouse.world.decision import Decision, Fact, Write
from glasshouse.world.intents import DecideEdit, ProposeEdit
from glasshouse.world.state import World


def edit_proposed(world: World, intent: ProposeEdit) -> Decision:
    """A creature's change waits for somebody to allow it."""
    payload: Json = {
        "tool": intent.tool,
        "arguments": intent.arguments,
        "number": intent.number,
        "why": intent.why,
    }
    return _told(world, intent, kinds.EDIT_PROPOSED, json_copy(kinds.EDIT_PROPOSED, payload))


def edit_decided(world: World, intent: DecideEdit) -> Decision:
    """Somebody outside has spoken, or nobody was there."""
    payload: Json = {
        "is_approved": intent.is_approved,
        "by": intent.by,
        "reason": intent.reason,
        "number": intent.number,
    }
    return _told(world, intent, kinds.EDIT_DECIDED, payload)


def _told(world: World, intent: ProposeEdit | DecideEdit, kind: str, payload: Json) -> Decision:
    creature = world.creatures.get(intent.creature)
    run = None if creature is None else world.runs.get(creature.run_id or "")
    if creature is None or (run is not None and run.status == "finished"):
        return Decision(subject=intent.creature)
    graph = world.graphs[creature.graph_id]
    fact = Fact(kind, payload, creature.id, caused_by=intent.called, run_id=creature.run_id)
    return Decision((Write(graph.session_id, graph.id, (fact,)),), subject=creature.id)
