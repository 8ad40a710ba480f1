"""`group_status`: the graph around a privileged creature, as text and as data.

Always holds: the size is bounded, however large the graph and the terrarium are. The nearest creatures come first.
Graphs that the caller may not join are left out. The text says nothing that is not in the data, except how many
channels and children there are where the data lists only some.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice
from typing import Final

import msgspec

from glasshouse.runtime.folded import Folded
from glasshouse.tools.group import lookup
from glasshouse.tools.group.lookup import names_in_results_max, names_in_words_max
from glasshouse.turns.moment.line_text import and_more
from glasshouse.turns.moment.tools import ToolAnswer
from glasshouse.turns.runs.policy import (
    edits_left,
    is_protected,
    policy_of,
    population_of,
    rule_of_joining,
    spawnable_by,
)
from glasshouse.world.state.state import ChannelState, CreatureState, GraphState, World
from glasshouse.world.state.topology import LISTEN, SEND

creatures_told_max: Final = 32
"""`group_status` lists the caller and this many others, nearest first."""
wires_told_max: Final = 32
"""`group_status` lists at most this many wires."""
graphs_told_max: Final = 16
"""`group_status` lists at most this many other graphs."""
description_chars_told_max: Final = 200
"""`group_status` cuts the description of a channel here."""


class CreatureStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """A creature, and the channels it is on."""

    handle: str
    role: str
    channels: list[str]
    is_stopped: bool = False
    is_privileged: bool = False
    is_protected: bool = False

    def __str__(self) -> str:
        marks = [mark for mark in ("stopped", "privileged", "protected") if getattr(self, f"is_{mark}")]
        shown = self.channels[:names_in_words_max]
        where = [f"on {and_more(shown, len(self.channels))}"] if shown else []
        return f"{self.handle} ({', '.join([self.role, *marks, *where])})"


class ChannelStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """A channel, and the number of its members."""

    name: str
    listeners: int
    senders: int
    description: str = ""

    def __str__(self) -> str:
        if not self.listeners and not self.senders:
            return f"{self.name} (empty)"
        return f"{self.name} ({self.listeners} listen, {self.senders} send)"


class WireStatus(msgspec.Struct, frozen=True, rename={"source": "from", "target": "to"}):
    """A wire between two handles."""

    source: str
    target: str

    def __str__(self) -> str:
        return f"{self.source} to {self.target}"


class OtherGraph(msgspec.Struct, frozen=True, omit_defaults=True):
    """Another graph of the terrarium that the caller may join, with its creatures as `handle@graph`."""

    name: str
    creatures_count: int
    creatures: list[str]
    is_asked: bool = False
    """Whether joining it needs a yes from outside, because creatures of another run are in it."""

    def __str__(self) -> str:
        asked = " (of another run: joining needs a yes from outside)" if self.is_asked else ""
        return (
            f"{self.name}, with {and_more(self.creatures[:names_in_words_max], self.creatures_count)}{asked}"
        )


class Status(msgspec.Struct, frozen=True, omit_defaults=True):
    """The caller's graph, and what the caller may still do."""

    graph: str
    turn: int
    creatures_count: int
    creatures: list[CreatureStatus]
    """The caller first, then the nearest."""
    channels: list[ChannelStatus]
    wires: list[WireStatus]
    children: list[str]
    spawnable: list[str]
    population: int
    may_write: bool = False
    """Whether the caller may also write a new creature itself."""
    population_max: int | None = None
    edits_left_in_turn: int | None = None
    others: list[OtherGraph] | None = None
    """None if the call asked only for the caller's own graph."""


def status_of(folded: Folded, caller: CreatureState, *, is_wide: bool) -> ToolAnswer:
    """The status of the caller's graph; with `is_wide`, also of the other graphs that it may join."""
    world = folded.world
    graph = folded.world.graphs[caller.graph_id]
    around = [caller, *lookup.nearest(world, caller)[:creatures_told_max]]
    children = world.children_of.get(caller.id, {})
    policy = policy_of(folded.runs, caller)
    others = lookup.joinable(folded, caller, lookup.other_graphs(folded, caller))
    status = Status(
        graph=graph.id,
        turn=graph.turn,
        creatures_count=len(graph.creatures),
        creatures=[_creature(folded, creature) for creature in around],
        channels=[_channel(world, channel) for channel in lookup.channels_near(world, around)],
        wires=_wires(world, around),
        children=[world.creatures[name].handle for name in islice(children, names_in_results_max)],
        spawnable=[*islice(spawnable_by(folded.runs, caller), names_in_results_max)],
        may_write=policy.spawn == "written",
        population=population_of(world, caller),
        population_max=policy.population_max,
        edits_left_in_turn=edits_left(folded.runs, caller),
        others=[_other(folded, caller, graph) for graph in islice(others, graphs_told_max)]
        if is_wide
        else None,
    )
    words = _in_words(status, channels_count=len(graph.channels.owners), children_count=len(children))
    return ToolAnswer(True, words, msgspec.to_builtins(status), is_engine=True)


def _in_words(status: Status, *, channels_count: int, children_count: int) -> str:
    caller, *around = status.creatures
    sentences = [
        f"You are {caller.handle}, in a graph of {status.creatures_count} at turn {status.turn}.",
        *_sentence("With you", around, status.creatures_count - 1),
        *_sentence("Channels", status.channels, channels_count),
        *_sentence("Wires", status.wires),
        *_sentence("Your children", status.children, children_count),
        *_sentence("May be born", [*status.spawnable, *["whom you write yourself"] * status.may_write]),
    ]
    if status.population_max is not None:
        sentences.append(f"Creatures of this run: {status.population} of {status.population_max} at most.")
    if status.edits_left_in_turn is not None:
        sentences.append(f"Changes left in this turn: {status.edits_left_in_turn}.")
    if status.others:
        sentences.append(f"Other graphs: {'; '.join(map(str, status.others))}.")
    elif status.others is not None:
        sentences.append("There is no other graph to be found.")
    return " ".join(sentences)


def _sentence(what: str, parts: Sequence[object], count: int = 0) -> list[str]:
    return [f"{what}: {and_more([str(part) for part in parts], count)}."] if parts else []


def _other(folded: Folded, caller: CreatureState, graph: GraphState) -> OtherGraph:
    is_asked = rule_of_joining(folded.world, folded.runs, caller, graph) == "ask"
    names = lookup.names_in(graph, names_in_results_max)
    return OtherGraph(graph.name, len(graph.creatures), names, is_asked)


def _creature(folded: Folded, creature: CreatureState) -> CreatureStatus:
    world = folded.world
    channel_ids = islice(world.topology.channels_of.get(creature.id, ()), lookup.channels_looked_at_max)
    channels = [world.channels[channel_id].name for channel_id in channel_ids]
    marks = (not creature.is_running, creature.is_privileged, is_protected(folded.runs, creature))
    return CreatureStatus(creature.handle, world.facts_of(creature).role, channels, *marks)


def _channel(world: World, channel: ChannelState) -> ChannelStatus:
    members = world.topology.members_of.get(channel.id, {}).values()
    listeners, senders = [sum([how & wanted > 0 for how in members]) for wanted in (LISTEN, SEND)]
    return ChannelStatus(channel.name, listeners, senders, channel.description[:description_chars_told_max])


def _wires(world: World, around: list[CreatureState]) -> list[WireStatus]:
    ids = dict.fromkeys(chain.from_iterable(world.wires_of.get(creature.id, ()) for creature in around))
    wires = [world.wires[wire_id] for wire_id in islice(ids, wires_told_max)]
    creatures = world.creatures
    return [WireStatus(creatures[wire.source].handle, creatures[wire.target].handle) for wire in wires]
