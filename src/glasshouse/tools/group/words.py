"""What a group tool tells its caller: a change, a forecast, how things stand; in words for the model, as data for programs.

Always holds: bounded, however large the graph is. Creatures are named by their handles alone, because ids differ from
store to store and words of tools go into prompts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from glasshouse.errors import Refused
from glasshouse.events.event import Json
from glasshouse.tools.group.requests import Request
from glasshouse.turns.moment.tools import ToolAnswer
from glasshouse.world.decisions.intents import Spawn
from glasshouse.world.state.state import World
from glasshouse.world.state.values import Change

names_in_words_max: Final = 8
names_in_results_max: Final = 32


def refused(refusal: Refused) -> ToolAnswer:
    """A refusal as an answer: what is wrong, and what would work."""
    return ToolAnswer(is_ok=False, text=str(refusal), is_engine=True)


def already(request: Request) -> ToolAnswer:
    """Nothing had to be done."""
    return ToolAnswer(
        True, f"{request.done} already. Nothing has changed.", {"change": "nothing"}, is_engine=True
    )


def forecast(world: World, request: Request, change: Change) -> ToolAnswer:
    """What would come of a request, in the world as it is."""
    shape = _shape_ahead(world, change)
    text = f"You could {request.deed}.{shape} Nothing has changed yet."
    return ToolAnswer(True, text, {"is_forecast": True, **_result(world, change)}, is_engine=True)


def done(world: World, request: Request, change: Change, subject: str) -> ToolAnswer:
    """What came of a request, in the world right after it."""
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
    return ToolAnswer(True, text + _shape_now(world, change), result, is_engine=True)


def _result(world: World, change: Change) -> Json:
    result: Json = {"change": change.kind, "graphs": len(change.new_graph_ids)}
    if change.kind != "nothing":
        moved = _handles(world, change.affected_creatures)
        result |= {"moved": moved[:names_in_results_max], "moved_count": len(change.affected_creatures)}
    return result


def _handles(world: World, creatures: Sequence[str]) -> list[str]:
    some = creatures[: names_in_results_max + 1]
    return [world.creatures[name].handle if name in world.creatures else name for name in some]


def _shape_now(world: World, change: Change) -> str:
    if change.kind == "merge":
        count = len(world.graphs[change.new_graph_ids[0]].creatures)
        return f" Two graphs are one now, of {count} creatures: group_status tells you who is there."
    if change.kind == "split":
        return f" The graph is in {len(change.new_graph_ids)} parts now: {_moved(world, change)} went apart."
    return ""


def _shape_ahead(world: World, change: Change) -> str:
    if change.kind == "merge":
        count = sum(len(world.graphs[name].creatures) for name in change.old_graph_ids)
        return f" Two graphs would become one, of {count} creatures."
    if change.kind == "split":
        return f" The graph would split into {len(change.new_graph_ids)}: {_moved(world, change)} would go apart."
    return ""


def _moved(world: World, change: Change) -> str:
    return and_more(_handles(world, change.affected_creatures), len(change.affected_creatures))


def and_more(names: Sequence[str], count: int) -> str:
    """Some names, and how many more there are."""
    shown = list(names[:names_in_words_max])
    more = [f"{count - len(shown)} more"] if count > len(shown) else []
    return ", ".join(shown + more)
