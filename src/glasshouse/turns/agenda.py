"""The agenda: the acts now owed, as a set of (creature, cause), folded from the ledger.

Always holds: an event is owed to each creature that hears it when it is said and has its kind in
`subscribes_to`, never to its own actor; wires owe their target. One cause, one act: the event that an act ends
in names its cause and settles it. What a stopped creature hears waits for it as one bundle, which one act
settles. Merges and splits do not touch the agenda at all, because it is kept by creature id.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Final

import msgspec

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.events.payloads import CreatureStarted, CreatureStopped, payload_of
from glasshouse.world.speaking import ends_its_act
from glasshouse.world.state import CreatureState, World
from glasshouse.world.topology import LISTEN

version: Final = 2
"""Goes up when the fold changes, so that snapshots of the old fold are not used."""


class Owed(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One cause that a creature owes an act for. Causes of one bundle are settled by one act."""

    cause: str
    lamport: int
    bundle: int = 0


class Agenda(msgspec.Struct):
    """What is owed, by creature and then by cause, each in the order of the ledger."""

    owed: dict[str, dict[str, Owed]] = msgspec.field(default_factory=dict)
    stops: dict[str, int] = msgspec.field(default_factory=dict)
    subscribers: dict[str, dict[str, None]] = msgspec.field(default_factory=dict)

    def owed_to(self, creature_id: str) -> tuple[Owed, ...]:
        """A creature's mailbox, oldest cause first."""
        return tuple(self.owed.get(creature_id, {}).values())

    def owed_since(self, creature_id: str, lamport: int) -> tuple[Owed, ...]:
        """What of a creature's mailbox came after a time, oldest cause first; found from the newest backwards."""
        newest_first = reversed(self.owed.get(creature_id, {}).values())
        return tuple(takewhile(lambda owed: owed.lamport > lamport, newest_first))[::-1]

    def apply(self, world: World, event: Event) -> None:
        """Move the agenda on by one event, which the world has already taken in."""
        if event.caused_by is not None and ends_its_act(event):
            self._settle(event.actor, event.caused_by)
        if event.kind == kinds.CREATURE_STARTED:
            self._note_start(world, event)
        elif event.kind == kinds.CREATURE_STOPPED:
            self._note_stop(event)
        if event.kind not in self.subscribers:
            pass
        elif event.channel_id is not None:
            for name, directions in world.topology.members_of.get(event.channel_id, {}).items():
                if directions & LISTEN and name != event.actor:
                    self._owe(world, world.creatures[name], event)
        elif event.graph_id in world.graphs:
            self._owe_members(world, event)
        if event.actor in world.wires_of and ends_its_act(event) and event.kind not in kinds.WITHOUT_A_LINE:
            self._owe_wired(world, event)

    def _owe_members(self, world: World, event: Event) -> None:
        members, subscribers = world.graphs[event.graph_id].creatures, self.subscribers[event.kind]
        fewer, more = sorted((members, subscribers), key=len)
        for name in fewer:
            if name in more and name != event.actor:
                self._add(world.creatures[name], event)

    def _owe_wired(self, world: World, event: Event) -> None:
        for wire_id in world.wires_of[event.actor]:
            wire = world.wires[wire_id]
            if wire.source == event.actor:
                self._add(world.creatures[wire.target], event)

    def _owe(self, world: World, creature: CreatureState, event: Event) -> None:
        if event.kind in world.manifests[creature.manifest_digest].subscribes_to:
            self._add(creature, event)

    def _add(self, creature: CreatureState, event: Event) -> None:
        bundle = 0 if creature.is_running else self.stops.get(creature.id, 0)
        mailbox = self.owed.setdefault(creature.id, {})
        mailbox.setdefault(event.id, Owed(event.id, event.lamport, bundle))

    def _settle(self, creature_id: str, cause: str) -> None:
        mailbox = self.owed.get(creature_id)
        settled = None if mailbox is None else mailbox.pop(cause, None)
        if mailbox is None or settled is None:
            return
        if settled.bundle:
            for owed in [owed for owed in mailbox.values() if owed.bundle == settled.bundle]:
                del mailbox[owed.cause]
        if not mailbox:
            del self.owed[creature_id]

    def _note_start(self, world: World, event: Event) -> None:
        creature = world.creatures[payload_of(event, CreatureStarted).creature]
        for kind in world.facts_of(creature).subscribes_to:
            self.subscribers.setdefault(kind, {})[creature.id] = None

    def _note_stop(self, event: Event) -> None:
        told = payload_of(event, CreatureStopped)
        if told.reason == "removed":
            self.owed.pop(told.creature, None)
            self.stops.pop(told.creature, None)
            for subscribers in self.subscribers.values():
                subscribers.pop(told.creature, None)
        else:
            self.stops[told.creature] = self.stops.get(told.creature, 0) + 1
