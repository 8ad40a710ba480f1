"""Renaming: gives the events of a past that a branch took over the names of the present (ADR 0031).

Always holds: only names change, never what was said or when. Anything without a new name keeps its old one.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import astuple, replace

from glasshouse.events.carried import CarriedNames
from glasshouse.events.event import Event
from glasshouse.world.state.lineage import visible_prefixes
from glasshouse.world.state.state import CreatureState, SessionState


class Renamed(CarriedNames, frozen=True):
    """Old name -> present name of creatures, places and runs."""

    def heard_now(self, event: Event) -> Event:
        """A line of the past with the names of the present."""
        return replace(
            event,
            actor=self.creatures.get(event.actor, event.actor),
            channel_id=self.places.get(event.channel_id or "", event.channel_id),
            graph_id=self.places.get(event.graph_id, event.graph_id),
            run_id=self.runs.get(event.run_id or "", event.run_id),
        )

    def then(self, newer: Renamed) -> Renamed:
        """The names after both renamings, this one first."""
        return Renamed(*map(_chained, astuple(self), astuple(newer)))


def _chained(older: dict[str, str], newer: dict[str, str]) -> dict[str, str]:
    return {**newer, **{was: newer.get(then, then) for was, then in older.items()}}


class NamesNow:
    """Renames the events of a past for the creatures of a branch that took this past over."""

    def __init__(self, sessions: Mapping[str, SessionState], renamed: dict[tuple[str, ...], Renamed]) -> None:
        self._sessions = sessions
        self._renamed = renamed
        self._pasts_cache: dict[tuple[str, ...], list[tuple[dict[str, int], Renamed]]] = {}

    def heard_by(self, creature: CreatureState, event: Event) -> Event:
        """The event with present names if it is from a past that the creature took over, else the event unchanged."""
        for prefixes, renamed in self.pasts_of(creature):
            if event.seq <= prefixes.get(event.session_id, 0):
                return renamed.heard_now(event)
        return event

    def pasts_of(self, creature: CreatureState) -> list[tuple[dict[str, int], Renamed]]:
        """The pasts that a creature took over, oldest first: what was seen of each session then, and the present names."""
        return self._pasts_of(creature.reborn) if creature.reborn else []

    def _pasts_of(self, reborn: tuple[str, ...]) -> list[tuple[dict[str, int], Renamed]]:
        """For each session that took a past over: what it sees of its ancestors, and the present names of that past."""
        pasts = self._pasts_cache.get(reborn)
        if pasts is None:
            pasts = []
            for number, session_id in enumerate(reborn):
                prefixes = visible_prefixes(self._sessions, session_id)
                del prefixes[session_id]
                renamed = self._renamed.get(reborn[number:])
                if renamed is not None:
                    pasts.append((prefixes, renamed))
            self._pasts_cache[reborn] = pasts
        return pasts
