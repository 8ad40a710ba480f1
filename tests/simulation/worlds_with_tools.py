"""Worlds with tools for the simulations: a counting toolbox, edits of the graph, and a model that asks for both."""

from __future__ import annotations

import json
from collections import Counter
from hashlib import blake2b
from typing import Any, Final

from glasshouse.errors import Refused
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.manifest import Manifest, Schedule
from glasshouse.manifests.scenario import Scenario
from glasshouse.model_values import Tokens
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.tool_context import ToolContext
from glasshouse.turns.moment.prompt import Completion, Prompt
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall, ToolOffer
from glasshouse.world.decisions.intents import AddChannel, Connect, Disconnect, Intent
from glasshouse.world.state.state import CreatureState
from glasshouse.world.state.values import Change
from tests.made_up_words import word_for

NAMES: Final = frozenset({"weigh", "open_room", "join_others", "leave_others"})


class CountingTools:
    """One tool that counts how often it is really used, and three that change the graph."""

    def __init__(self) -> None:
        self.uses: Counter[str] = Counter()
        """How often each call, named by its event, was carried out."""

    def names(self) -> frozenset[str]:
        return NAMES

    def has(self, tool: str) -> bool:
        return tool in NAMES

    def offers(self, folded: Folded, creature: CreatureState) -> tuple[ToolOffer, ...]:
        granted = folded.world.facts_of(creature).manifest.get("tools", ())
        return tuple([_offer(name) for name in granted])

    async def use(self, call: ToolCall, context: ToolContext) -> ToolAnswer:
        self.uses[context.called.id] += 1
        if call.tool == "weigh":
            return ToolAnswer(
                is_ok=True, text=f"{call.arguments['thing']} weighs {len(call.arguments['thing'])}."
            )
        await (
            context.wait_for_room()
        )  # What it reads is then the world that its edit changes, in a replay too.
        intent = None if context.creature is None else _intent(call.tool, context, context.creature)
        if intent is None:
            return ToolAnswer(is_ok=False, text="There is nobody to do that with.", is_engine=True)
        try:
            return await context.edit(intent, _answer_to)
        except Refused as refusal:
            return ToolAnswer(is_ok=False, text=str(refusal), is_engine=True)


def _answer_to(change: Change, subject: str) -> ToolAnswer:
    return ToolAnswer(is_ok=True, text=f"That was a {change.kind}.", is_engine=True)


def _offer(name: str) -> ToolOffer:
    properties = {"thing": {"type": "string"}} if name == "weigh" else {}
    return ToolOffer(
        name, f"Does {name}.", {"type": "object", "properties": properties, "required": [*properties]}
    )


def _intent(tool: str, context: ToolContext, mine: CreatureState) -> Intent | None:
    world = context.folded.world
    graph = world.graphs[mine.graph_id]
    if tool == "open_room":
        return AddChannel(graph.id, f"room-{len(graph.channels.owners)}")
    others = [
        creature
        for creature in world.creatures.values()
        if (creature.cast_key, creature.run_id) == ("guest", mine.run_id)
    ]
    far = [other.id for other in others if other.graph_id != mine.graph_id]
    near = [other.id for other in others if other.graph_id == mine.graph_id]
    if tool == "join_others":
        return Connect(mine.id, far[0], "bridge") if far else None
    return Disconnect(mine.id, near[0], "bridge") if near and "bridge" in graph.channels.owners else None


class Consulting:
    """A model that hangs on nothing but its prompt: it uses some of the tools it is offered, then speaks."""

    name: Final = "consulting"
    is_free: Final = True

    async def complete(self, prompt: Prompt) -> Completion:
        chance = int.from_bytes(
            blake2b(f"{prompt.seed}/{prompt.user}".encode(), digest_size=4).digest(), "big"
        )
        said = prompt.user.partition("\nWHAT YOUR TOOLS SAID\n")[2].count(" answered: ")
        return Completion(json.dumps(self._reply(prompt, chance, said)), self.name, Tokens(20, 10), usd=0.0)

    def _reply(self, prompt: Prompt, chance: int, said: int) -> Any:
        branches = (prompt.schema or {"anyOf": []})["anyOf"]
        tools = [branch for branch in branches if "tool" in branch["properties"]]
        if tools and chance % (2 + said):
            branch = tools[chance % len(tools)]
            takes = branch["properties"]["arguments"]["properties"]
            things = {"thing": f"stone{chance % 97}"} if "thing" in takes else {}
            tool = branch["properties"]["tool"]["const"]
            return {"kind": "tool.called", "thought": f"t{chance % 89}", "tool": tool, "arguments": things}
        kind = branches[0]["properties"]["kind"]["const"]
        return {"kind": kind, "thought": "", "text": f"{word_for(chance % 1009)} after {said}"}


def rooms_with_tools() -> LoadedWorld:
    """Two graphs that a creature joins and parts; ticks alone and together, a reactor and one who hears of changes."""
    creatures = [
        Manifest(
            name="weigher",
            persona="weighs things",
            schedule=Schedule(tick_every=1, together=True),
            tools=("weigh",),
        ),
        Manifest(
            name="builder",
            persona="opens rooms",
            schedule=Schedule(tick_every=2),
            tools=("open_room", "weigh"),
        ),
        Manifest(
            name="bridge",
            persona="joins and parts",
            schedule=Schedule(tick_every=1),
            tools=("join_others", "leave_others", "weigh"),
        ),
        Manifest(name="guest", persona="waits", subscribes_to=("agent.spoke",), may_emit=("guest.noted",)),
        Manifest(
            name="watcher",
            persona="sees shapes",
            subscribes_to=("topology.changed",),
            may_emit=("guest.noted",),
        ),
    ]
    scenario = Scenario.model_validate(
        {
            "name": "rooms-with-tools",
            "opening": "Two rooms and a door.",
            "kinds": {"guest.noted": {"text": "string"}},
            "troupes": {
                "first": {
                    "cast": ["weigher", {"use": "weigher", "handle": "scale"}, "builder", "bridge", "watcher"]
                },
                "second": {"cast": ["guest", {"use": "weigher", "handle": "stone"}]},
            },
            "governor": {"max_turns": 5, "max_calls_per_turn": 400, "max_total_calls": 400},
        }
    )
    return LoadedWorld.of(scenario, creatures)
