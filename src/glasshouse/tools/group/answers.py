"""The answers of group tools that change something: what changed, or would change, in words and as data.

Always holds: the size of an answer is bounded, however large the graph is. Living creatures are named by handle,
because ids differ between stores and answers go into prompts.
"""

from __future__ import annotations

from typing import Final

from glasshouse.events.event import Json
from glasshouse.tools.group.requests import Request
from glasshouse.turns.moment.tools import ToolAnswer
from glasshouse.world.decisions.intents import Spawn
from glasshouse.world.state.state import World
from glasshouse.world.state.values import Change

names_in_words_max: Final = 8
names_in_results_max: Final = 32


def unchanged(request: Request) -> ToolAnswer:
    """The answer when nothing had to be done."""
    text = f"{request.done} already. Nothing has changed."
    return ToolAnswer(True, text, {"change": "nothing"}, is_engine=True)


def forecast(world: World, request: Request, change: Change) -> ToolAnswer:
    """The answer to a dry run: what the request would change in the current world."""
    shape = ""
    if change.kind == "merge":
        count = sum(len(world.graphs[graph_id].creatures) for graph_id in change.old_graph_ids)
        shape = f" Two graphs would become one, of {count} creatures."
    elif change.kind == "split":
        parts = len(change.new_graph_ids)
        shape = f" The graph would split into {parts}: {_moved(world, change)} would go apart."
    text = f"You could {request.deed}.{shape} Nothing has changed yet."
    return ToolAnswer(True, text, {"is_forecast": True, **_result(world, change)}, is_engine=True)


def done(world: World, request: Request, change: Change, subject: str) -> ToolAnswer:
    """The answer to a request that was carried out, read from the world right after it."""
    result = _result(world, change)
    text = f"{request.done}."
    if isinstance(request.intent, Spawn):
        born = world.creatures[subject]
        channel = world.channels[next(iter(world.topology.channels_of[born.id]))].name
        result |= {"creature": born.handle, "channel": channel, "graph": born.graph_id}
        text = f"{born.handle} is born. You speak with each other on the channel {channel}."
    elif subject in world.channels:
        result["channel"] = world.channels[subject].name
        if request.stranger is not None:
            text = f"You and {world.creatures[request.stranger].handle} are both on {result['channel']}."
    elif subject in world.wires:
        result["edge"] = subject
    elif subject in world.creatures:
        result["creature"] = world.creatures[subject].handle
    if change.kind == "merge":
        count = len(world.graphs[change.new_graph_ids[0]].creatures)
        text += f" Two graphs are one now, of {count} creatures: group_status tells you who is there."
    elif change.kind == "split":
        parts = len(change.new_graph_ids)
        text += f" The graph is in {parts} parts now: {_moved(world, change)} went apart."
    return ToolAnswer(True, text, result, is_engine=True)


def _result(world: World, change: Change) -> Json:
    result: Json = {"change": change.kind, "graphs": len(change.new_graph_ids)}
    if change.kind != "nothing":
        moved = _handles(world, change, names_in_results_max)
        result |= {"moved": moved, "moved_count": len(change.affected_creatures)}
    return result


def _moved(world: World, change: Change) -> str:
    return and_more(_handles(world, change, names_in_words_max), len(change.affected_creatures))


def _handles(world: World, change: Change, names_max: int) -> list[str]:
    some = change.affected_creatures[:names_max]
    return [world.creatures[name].handle if name in world.creatures else name for name in some]


def and_more(names: list[str], count: int) -> str:
    """Some names, and how many more of `count` there are."""
    more = [f"{count - len(names)} more"] if count > len(names) else []
    return ", ".join(names + more)
