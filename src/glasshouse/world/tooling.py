"""Tools in an act: what a creature calls, and what it is told, as facts of the graph it is in at that moment.

Always holds: a call names the act's cause, an answer names its call. Nobody calls a tool who is gone or whose run has
finished. Telling an answer never fails: what is too long is cut, and what cannot be kept is left out.
"""

from __future__ import annotations

from typing import Any, Final

from glasshouse.errors import BadEvent, Refused
from glasshouse.events import kinds
from glasshouse.events.codec import canonical_json, json_copy
from glasshouse.events.event import Json
from glasshouse.world.decision import Decision, Fact, Write
from glasshouse.world.intents import CallTool, ReturnTool
from glasshouse.world.speaking import check_may_act
from glasshouse.world.state import CreatureState, World

answer_text_chars_max: Final = 8_192
answer_result_bytes_max: Final = 16_384


def tool_called(world: World, intent: CallTool) -> Decision:
    """A creature asks for a tool in the middle of its act."""
    creature = world.creatures.get(intent.creature)
    if creature is None:
        raise Refused(f"{intent.creature} was removed in the middle of its act.", "Let the act end here.")
    check_may_act(world, creature)
    payload = {"tool": intent.tool, "arguments": intent.arguments, "number": intent.number}
    fact = Fact(
        kinds.TOOL_CALLED,
        json_copy(kinds.TOOL_CALLED, payload),
        creature.id,
        private=intent.private,
        caused_by=intent.cause,
        run_id=creature.run_id,
        model=intent.model,
    )
    return _in_its_graph(world, creature, fact)


def tool_returned(world: World, intent: ReturnTool) -> Decision:
    """What came of a call. Nothing is told to one who is gone, or of a run that has finished."""
    creature = world.creatures.get(intent.creature)
    run = None if creature is None else world.runs.get(creature.run_id or "")
    if creature is None or (run is not None and run.status == "finished"):
        return Decision(subject=intent.creature)
    payload: Json = {
        "tool": intent.tool,
        "number": intent.number,
        "is_ok": intent.is_ok,
        "text": _storable(intent.text),
    }
    if (result := _kept(intent.result)) is not None:
        payload["result"] = result
    payload.update({name: True for name in ("is_edit", "is_engine") if getattr(intent, name)})
    fact = Fact(kinds.TOOL_RETURNED, payload, creature.id, caused_by=intent.called, run_id=creature.run_id)
    return _in_its_graph(world, creature, fact)


def _in_its_graph(world: World, creature: CreatureState, fact: Fact) -> Decision:
    graph = world.graphs[creature.graph_id]
    return Decision((Write(graph.session_id, graph.id, (fact,)),), subject=creature.id)


def _storable(text: str) -> str:
    return text[:answer_text_chars_max].encode("utf-8", "replace").decode()


def _kept(result: Any) -> Any:
    """A result as the ledger can keep it; none if it cannot."""
    if result is None:
        return None
    try:
        kept = json_copy(kinds.TOOL_RETURNED, {"result": result})
        size = len(canonical_json(kept))
    except (BadEvent, ValueError, OverflowError):
        return None
    return kept["result"] if size <= answer_result_bytes_max else None
