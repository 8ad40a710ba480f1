"""What a creature sees when its act begins: who is around it, and by which names.

Always holds: it is a function of the topology at that moment, and bounded, however large the graph is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from glasshouse.turns.moment import Around, Neighbour
from glasshouse.world.state import CreatureState, World
from glasshouse.world.topology import LISTEN, SEND

neighbours_max: Final = 12
channels_seen_max: Final = 12
members_looked_at_max: Final = 256


def around_of(world: World, creature: CreatureState) -> Around:
    """How a creature stands in its graph now."""
    edges = world.topology.channels_of.get(creature.id, {})
    names = {channel_id: world.channels[channel_id].name for channel_id in edges}
    shared: dict[str, list[str]] = {}
    for channel_id in list(edges)[:channels_seen_max]:
        for member in _some(world.topology.members_of.get(channel_id, {})):
            if member != creature.id:
                shared.setdefault(member, []).append(names[channel_id])
    wires = [world.wires[wire_id] for wire_id in world.wires_of.get(creature.id, ())][: 2 * neighbours_max]
    return Around(
        listens=tuple([names[c] for c, how in edges.items() if how & LISTEN][:channels_seen_max]),
        sends=tuple([names[c] for c, how in edges.items() if how & SEND][:channels_seen_max]),
        neighbours=tuple([_neighbour(world, name, shared[name]) for name in list(shared)[:neighbours_max]]),
        neighbours_count=len(shared),
        wired_to=tuple([world.creatures[w.target].handle for w in wires if w.source == creature.id]),
        wired_from=tuple([world.creatures[w.source].handle for w in wires if w.target == creature.id]),
    )


def _some(members: Iterable[str]) -> list[str]:
    return [name for name, _ in zip(members, range(members_looked_at_max), strict=False)]


def _neighbour(world: World, name: str, channels: list[str]) -> Neighbour:
    creature = world.creatures[name]
    role = str(world.facts_of(creature).manifest.get("role", "worker"))
    return Neighbour(creature.handle, role, tuple(channels))


def handles_of(world: World, creature: CreatureState, speakers: Iterable[str]) -> dict[str, str]:
    """The handles of whoever spoke, and of those around; one who is gone keeps its id for a name."""
    names = set(speakers)
    edges = world.topology.channels_of.get(creature.id, {})
    for channel_id in list(edges)[:channels_seen_max]:
        names.update(_some(world.topology.members_of.get(channel_id, {})))
    names.add(creature.id)
    found = world.creatures
    return {name: found[name].handle if name in found else name for name in sorted(names)}
