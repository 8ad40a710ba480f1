"""What a creature sees when its act begins: who is around it, and by which names.

Always holds: it is a function of the topology at that moment, and bounded, however large the graph is.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

from glasshouse.turns.moment import Around, Moment, Neighbour
from glasshouse.world.state import CreatureState, World
from glasshouse.world.topology import LISTEN, SEND

neighbours_max: Final = 12
channels_seen_max: Final = 12
members_looked_at_max: Final = 256

PLAYED_BY_VISITOR: Final = "visitor"

_NOTHING: Final[dict[str, int]] = {}


def around_of(world: World, creature: CreatureState) -> Around:
    """How a creature stands in its graph now."""
    topology, mine = world.topology, creature.id
    listens: list[str] = []
    sends: list[str] = []
    shared: dict[str, list[str]] = {}
    for number, (channel_id, how) in enumerate(topology.channels_of.get(mine, _NOTHING).items()):
        name = world.channels[channel_id].name
        if how & LISTEN:
            listens.append(name)
        if how & SEND:
            sends.append(name)
        if number < channels_seen_max:
            for member in _some(topology.members_of.get(channel_id, _NOTHING)):
                if member in shared:
                    shared[member].append(name)
                elif member != mine:
                    shared[member] = [name]
    neighbours = [_neighbour(world, *one) for one in islice(shared.items(), neighbours_max)]
    wired_to, wired_from = _wired(world, mine) if mine in world.wires_of else ((), ())
    return Around(
        tuple(listens[:channels_seen_max]),
        tuple(sends[:channels_seen_max]),
        tuple(neighbours),
        len(shared),
        wired_to,
        wired_from,
    )


def _wired(world: World, mine: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The handles at the other ends of a creature's wires: of those that hear it, and of those that it hears."""
    wires = [world.wires[wire_id] for wire_id in world.wires_of[mine]][: 2 * neighbours_max]
    return (
        tuple([world.creatures[wire.target].handle for wire in wires if wire.source == mine]),
        tuple([world.creatures[wire.source].handle for wire in wires if wire.target == mine]),
    )


def _some(members: dict[str, int]) -> Iterable[str]:
    return members if len(members) <= members_looked_at_max else islice(members, members_looked_at_max)


def _neighbour(world: World, name: str, channels: list[str]) -> Neighbour:
    creature = world.creatures[name]
    role = world.manifests[creature.manifest_digest].manifest.get("role", "worker")
    return Neighbour(creature.handle, role if isinstance(role, str) else str(role), tuple(channels))


def handles_of(world: World, creature: CreatureState, speakers: Iterable[str]) -> dict[str, str]:
    """The handles of whoever spoke, and of those around; one who is gone keeps its id for a name."""
    names = set(speakers)
    topology, found = world.topology, world.creatures
    for channel_id in islice(topology.channels_of.get(creature.id, _NOTHING), channels_seen_max):
        names.update(_some(topology.members_of.get(channel_id, _NOTHING)))
    names.add(creature.id)
    return {name: found[name].handle if name in found else name for name in sorted(names)}


def visitors_among(world: World, moment: Moment) -> frozenset[str]:
    """Those whose words a moment holds and whom a visitor plays."""
    names = {moment.cause.actor, *[event.actor for event in moment.recent_events]}
    creatures = [world.creatures[name] for name in names if name in world.creatures]
    return frozenset(
        [one.id for one in creatures if world.facts_of(one).manifest.get("played_by") == PLAYED_BY_VISITOR]
    )
