"""What a creature sees when its act begins: who is around it, and by which names.

Always holds: it is a function of the topology at that moment, and bounded, however large the graph is. Nobody is seen
but those on a creature's own channels, at the other ends of its wires, and its children; a root sees those on every
channel of its graph. Whoever is in another graph now is known by the name it had when they parted, so that nothing that
happens there shows here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from msgspec.structs import replace

from glasshouse.events.event import RESERVED_ACTORS, Event
from glasshouse.turns.moment import Around, Moment, Neighbour
from glasshouse.turns.newest_lines import public_part
from glasshouse.world.hearing import visible_to
from glasshouse.world.state import CreatureState, Stay, World
from glasshouse.world.topology import LISTEN, SEND
from glasshouse.world.wiring import Handed

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
    for number, (channel_id, how) in enumerate(_channels_seen(world, creature)):
        if number >= channels_seen_max <= min(len(listens), len(sends)):
            break
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
        *_of_the_privileged(world, creature),
    )


def _channels_seen(world: World, creature: CreatureState) -> Iterator[tuple[str, int]]:
    """The channels a creature has to do with, and how; for a root also some that it hears without an edge."""
    own = world.topology.channels_of.get(creature.id, _NOTHING)
    if not creature.is_root:
        yield from own.items()
        return
    for channel_id, how in own.items():
        yield channel_id, how | LISTEN
    for channel_id in islice(world.graphs[creature.graph_id].channels.values(), 2 * channels_seen_max):
        if channel_id not in own:
            yield channel_id, LISTEN


def _of_the_privileged(world: World, creature: CreatureState) -> tuple[int, tuple[str, ...], int]:
    """How many channels a root hears in all; some of a privileged creature's children, and how many it has."""
    heard = len(world.graphs[creature.graph_id].channels) if creature.is_root else 0
    children = world.children_of.get(creature.id) if creature.is_privileged else None
    if not children:
        return heard, (), 0
    shown = [name_for(world, creature, child) for child in islice(children, neighbours_max)]
    return heard, tuple(shown), len(children)


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
    """The handles of whoever spoke, and of those around; each as this creature knows it."""
    names = set(speakers)
    topology, found, here = world.topology, world.creatures, creature.graph_id
    for channel_id, _ in islice(_channels_seen(world, creature), channels_seen_max):
        names.update(_some(topology.members_of.get(channel_id, _NOTHING)))
    names.add(creature.id)
    handles: dict[str, str] = {}
    for name in sorted(names):
        other = found.get(name)
        is_here = other is not None and other.graph_id == here
        handles[name] = other.handle if other is not None and is_here else name_for(world, creature, name)
    return handles


def visitors_among(world: World, moment: Moment) -> frozenset[str]:
    """Those whose words a moment holds and whom a visitor plays, or played until they went. Whoever this house does not
    know, or knows no longer, may have been one."""
    names = {moment.cause.actor, *[event.actor for event in moment.recent_events]} - RESERVED_ACTORS
    return frozenset([name for name in names if _may_be_a_visitor(world, world.ever(name))])


def _may_be_a_visitor(world: World, creature: CreatureState | None) -> bool:
    return creature is None or world.facts_of(creature).manifest.get("played_by") == PLAYED_BY_VISITOR


def name_for(world: World, creature: CreatureState, name: str) -> str:
    """What a creature calls another by its id: its handle, or, if they have parted, the one it had where they last met.

    Whoever it never met in a graph is known by the id.
    """
    other = world.creatures.get(name)
    if other is not None and other.graph_id == creature.graph_id:
        return other.handle
    ever = world.ever(name)
    stays = (*world.remembered.get(name, ()), *(() if ever is None else ever.stays))
    for stay in reversed(stays):
        if any(_met(stay, mine) for mine in creature.stays):
            return stay.handle or (name if other is None else other.handle)
    return next((stay.handle for stay in stays if not stay.graph_id), name)


def _met(theirs: Stay, mine: Stay) -> bool:
    """Whether somebody came to a graph of mine before I left it. What came after does not show any more."""
    return theirs.graph_id == mine.graph_id and (mine.until is None or theirs.since < mine.until)


def cause_as_seen(creature: CreatureState, cause: Event, handed: Handed | None) -> Event:
    """What an act's cause shows its creature: the public part, without the words if a wire kept them back."""
    seen = public_part(cause)
    is_kept_back = handed is not None and not handed.with_content and not visible_to(creature, cause)
    return replace(seen, payload={}) if is_kept_back else seen
