"""Decisions about tools of servers: a server describes one otherwise, and somebody outside accepts that.

Always holds: only a creature that was granted a tool is named. A tool that changed is withheld from it until the new
description is accepted, or the old one is back. What was accepted is what was recorded before (ADR 0089).
"""

from __future__ import annotations

from collections.abc import Callable

from glasshouse.errors import Refused, UnknownName
from glasshouse.events import payloads
from glasshouse.events.payloads import Payload, affected_creatures_max
from glasshouse.world.decisions.decision import Decision, Write, engine_fact
from glasshouse.world.decisions.intents import AcceptTool, ChangeTool
from glasshouse.world.state import ids
from glasshouse.world.state.state import CreatureState, World


def tool_changed(world: World, intent: ChangeTool) -> Decision:
    """Note a description for those of these creatures that know another one."""
    living = [world.creatures[name] for name in intent.creatures if name in world.creatures]
    knowing_another = [creature for creature in living if _is_news(world, creature, intent)]
    return _written(
        world, knowing_another, intent.tool.name, lambda names: payloads.ToolChanged(intent.tool, names)
    )


def _is_news(world: World, creature: CreatureState, intent: ChangeTool) -> bool:
    grant = (creature.grants or {}).get(intent.tool.name)
    return grant is not None and world.tools[grant.now or grant.granted].digest != intent.tool.digest


def tool_accepted(world: World, intent: AcceptTool) -> Decision:
    """Let the creatures of a run use a tool as its server describes it now."""
    run = ids.the_unfinished_run(world, intent.run_id)
    if intent.by in world.creatures:
        raise Refused(
            f"{intent.by} is a creature, and a tool is accepted only from outside.",
            "Accept it from outside the graph.",
        )
    withheld: dict[str, list[CreatureState]] = {}
    for creature in world.creatures.values():
        for name, grant in (creature.grants or {}).items() if creature.run_id == run.id else ():
            if grant.now is not None:
                withheld.setdefault(name, []).append(creature)
    if intent.tool not in withheld:
        raise UnknownName(noun="tool that is withheld", name=intent.tool, known=withheld)
    holders = withheld[intent.tool]
    if intent.digest:
        digests = {world.tools[(holder.grants or {})[intent.tool].now or ""].digest for holder in holders}
        if digests != {intent.digest}:
            raise Refused(f"{intent.tool} has changed again.", "Read what its server says of it now.")
    return _written(
        world, holders, intent.tool, lambda names: payloads.ToolAccepted(intent.tool, names, intent.by)
    )


def _written(
    world: World, creatures: list[CreatureState], tool: str, payload: Callable[[list[str]], Payload]
) -> Decision:
    """One fact in each graph of these creatures, or several if they are many."""
    by_graph: dict[str, list[str]] = {}
    for creature in creatures:
        by_graph.setdefault(creature.graph_id, []).append(creature.id)
    writes: list[Write] = []
    for graph_id, names in by_graph.items():
        parts = range(0, len(names), affected_creatures_max)
        facts = [engine_fact(payload(names[start : start + affected_creatures_max])) for start in parts]
        writes.append(Write(world.graphs[graph_id].session_id, graph_id, tuple(facts)))
    return Decision(tuple(writes), subject=tool)
