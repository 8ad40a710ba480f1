"""What lasts beyond its end, because somebody may ask later who knew of a line: creatures that are gone, wires that were.

Always holds: what is kept here is asked by no decision about the world. It is a fold like the rest, and goes into snapshots.
"""

from __future__ import annotations

from typing import Final

from glasshouse.events.event import Event
from glasshouse.world.state import CreatureState, Departed, Handing, World
from glasshouse.world.values import Wire

departed_creatures_max: Final = 10_000
"""So many creatures that are gone are remembered; older ones by their ids alone."""


def leave(creature: CreatureState, lamport: int) -> None:
    """A creature leaves a graph: keep what it was called there, for the lines that others still remember of it."""
    creature.stays[-1].until = lamport
    creature.stays[-1].handle = creature.handle


def depart(world: World, creature: CreatureState, event: Event) -> None:
    """A creature is gone: keep what it was called, and what it could hear until its end."""
    while len(world.departed) >= departed_creatures_max:
        del world.departed[next(iter(world.departed))]
    leave(creature, event.lamport)
    for ear in creature.ears.values():
        if ear.is_open:
            ear.spans.append(event.lamport)
    world.departed[creature.id] = Departed(creature, event.id)


def note_wired(world: World, wire: Wire, lamport: int) -> None:
    """From here on a wire hands lines to its target."""
    world.creatures[wire.target].handed.setdefault(wire.id, []).append(Handing(wire, lamport))


def note_unwired(world: World, target_id: str, wire_id: str, lamport: int) -> None:
    """It does so no longer."""
    target = world.ever(target_id)
    for handing in () if target is None else target.handed.get(wire_id, ())[-1:]:
        handing.until = lamport
