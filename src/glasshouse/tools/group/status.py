"""`group_status`: how things stand around a privileged creature, as words and as data.

Always holds: bounded, however large the graph and the terrarium are; nearest first. Graphs that hide themselves are not told.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from glasshouse.events.event import Json
from glasshouse.runtime.folded import Folded
from glasshouse.tools.group.names import OF_GRAPH, nearest, other_graphs
from glasshouse.tools.group.words import and_more, names_in_results_max
from glasshouse.turns.moment.tools import ToolAnswer
from glasshouse.turns.runs.policy import is_protected, policy_of, population_of
from glasshouse.world.state.state import CreatureState, GraphState, World
from glasshouse.world.state.topology import LISTEN, SEND

creatures_told_max: Final = 32
channels_told_max: Final = 16
wires_told_max: Final = 32
graphs_told_max: Final = 16


def status_of(folded: Folded, caller: CreatureState, *, is_wide: bool) -> ToolAnswer:
    """How the caller's graph stands; with `is_wide`, the other graphs of the terrarium that do not hide, too."""
    words, result = _graph_told(folded, caller)
    if is_wide:
        others = list(islice(other_graphs(folded, caller), graphs_told_max))
        result["others"] = [_other(graph) for graph in others]
        told = "; ".join(_other_in_words(graph) for graph in others)
        words += f" Other graphs: {told}." if told else " There is no other graph to be found."
    return ToolAnswer(True, words, result, is_engine=True)


def _graph_told(folded: Folded, caller: CreatureState) -> tuple[str, Json]:
    world, graph = folded.world, folded.world.graphs[caller.graph_id]
    around = nearest(world, caller)[:creatures_told_max]
    creatures = [_creature(folded, one) for one in (caller, *around)]
    channels = [_channel(world, channel_id) for channel_id in _channels(world, caller, around)]
    wires = _wires(world, [caller, *around])
    children = [world.creatures[name].handle for name in world.children_of.get(caller.id, {})]
    rights = _rights(folded, caller)
    result: Json = {
        "graph": graph.id,
        "turn": graph.turn,
        "creatures_count": len(graph.creatures),
        "creatures": creatures,
        "channels": channels,
        "wires": wires,
        "children": children[:names_in_results_max],
        **rights,
    }
    told = [
        f"You are {caller.handle}, in a graph of {len(graph.creatures)} at turn {graph.turn}.",
        *_line("With you", [_creature_in_words(one) for one in creatures[1:]], len(graph.creatures) - 1),
        *_line("Channels", [_channel_in_words(one) for one in channels], len(graph.channels)),
        *_line("Wires", [f"{one['from']} to {one['to']}" for one in wires], len(wires)),
        *_line("Born of you", children, len(children)),
        *_rights_in_words(rights),
    ]
    return " ".join(told), result


def _line(what: str, names: list[str], count: int) -> list[str]:
    if not names:
        return []
    more = [f"{count - len(names)} more"] if count > len(names) else []
    return [f"{what}: {', '.join([*names, *more])}."]


def _creature(folded: Folded, one: CreatureState) -> Json:
    world = folded.world
    told: Json = {
        "handle": one.handle,
        "role": world.facts_of(one).role,
        "channels": [
            world.channels[name].name
            for name in islice(world.topology.channels_of.get(one.id, ()), channels_told_max)
        ],
    }
    if not one.is_running:
        told["is_stopped"] = True
    if one.is_privileged:
        told["is_privileged"] = True
    if is_protected(folded.runs, one):
        told["is_protected"] = True
    return told


def _creature_in_words(told: Json) -> str:
    marks = [
        name.removeprefix("is_") for name in ("is_stopped", "is_privileged", "is_protected") if name in told
    ]
    where = [f"on {and_more(told['channels'], len(told['channels']))}"] if told["channels"] else []
    return f"{told['handle']} ({', '.join([told['role'], *marks, *where])})"


def _channels(world: World, caller: CreatureState, around: list[CreatureState]) -> list[str]:
    """The channels of the caller first, then of those around it, then those that nobody is on."""
    found: dict[str, None] = {}
    for one in (caller, *around):
        found.update(dict.fromkeys(world.topology.channels_of.get(one.id, ())))
        if len(found) >= channels_told_max:
            break
    else:
        found.update(
            dict.fromkeys(islice(world.graphs[caller.graph_id].channels.values(), channels_told_max))
        )
    return list(found)[:channels_told_max]


def _channel(world: World, channel_id: str) -> Json:
    channel, members = world.channels[channel_id], world.topology.members_of.get(channel_id, {})
    told: Json = {
        "name": channel.name,
        "listeners": sum(1 for how in members.values() if how & LISTEN),
        "senders": sum(1 for how in members.values() if how & SEND),
    }
    if channel.description:
        told["description"] = channel.description[:200]
    return told


def _channel_in_words(told: Json) -> str:
    if not told["listeners"] and not told["senders"]:
        return f"{told['name']} (empty)"
    return f"{told['name']} ({told['listeners']} listen, {told['senders']} send)"


def _wires(world: World, creatures: list[CreatureState]) -> list[Json]:
    found: dict[str, None] = {}
    for one in creatures:
        found.update(dict.fromkeys(world.wires_of.get(one.id, ())))
    wires = [world.wires[name] for name in islice(found, wires_told_max)]
    return [
        {"from": world.creatures[wire.source].handle, "to": world.creatures[wire.target].handle}
        for wire in wires
    ]


def _rights(folded: Folded, caller: CreatureState) -> Json:
    """What the caller may still do."""
    policy, purse = policy_of(folded.runs, caller), folded.runs.purses.get(caller.run_id or "")
    rights: Json = {
        "spawnable": [] if purse is None else list(purse.spawnable)[:names_in_results_max],
        "population": population_of(folded.world, caller),
    }
    if policy.population_max is not None:
        rights["population_max"] = policy.population_max
    if policy.edits_per_turn_max is not None:
        made = folded.runs.edits_in_turn(caller.run_id, caller.graph_id)
        rights["edits_left_in_turn"] = max(0, policy.edits_per_turn_max - made)
    return rights


def _rights_in_words(rights: Json) -> list[str]:
    told = _line("May be born", rights["spawnable"], len(rights["spawnable"]))
    if "population_max" in rights:
        told.append(f"Creatures of this run: {rights['population']} of {rights['population_max']} at most.")
    if "edits_left_in_turn" in rights:
        told.append(f"Changes left in this turn: {rights['edits_left_in_turn']}.")
    return told


def _other(graph: GraphState) -> Json:
    handles = list(islice(graph.handles, names_in_results_max))
    return {
        "name": graph.name,
        "creatures_count": len(graph.creatures),
        "creatures": [f"{handle}{OF_GRAPH}{graph.name}" for handle in handles],
    }


def _other_in_words(graph: GraphState) -> str:
    told = _other(graph)
    return f"{graph.name}, with {and_more(told['creatures'], told['creatures_count'])}"
