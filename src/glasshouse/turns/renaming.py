"""Renaming: the lines of a past that was taken over, read with the names that everything has now.

Always holds: only names change, never what was said or when; what has no new name keeps its old one.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from glasshouse.events.event import Event


class Renamed(msgspec.Struct, frozen=True):
    """What creatures, places and runs are called now, by what they were called in the past."""

    creatures: dict[str, str]
    places: dict[str, str]
    runs: dict[str, str]

    def heard_now(self, event: Event) -> Event:
        """A line of the past with the names of the present."""
        return replace(
            event,
            actor=self.creatures.get(event.actor, event.actor),
            channel_id=None
            if event.channel_id is None
            else self.places.get(event.channel_id, event.channel_id),
            graph_id=self.places.get(event.graph_id, event.graph_id),
            run_id=None if event.run_id is None else self.runs.get(event.run_id, event.run_id),
        )

    def then(self, newer: Renamed) -> Renamed:
        """The names after both."""
        return Renamed(
            _chained(self.creatures, newer.creatures),
            _chained(self.places, newer.places),
            _chained(self.runs, newer.runs),
        )


def _chained(older: dict[str, str], newer: dict[str, str]) -> dict[str, str]:
    return {**newer, **{was: newer.get(then, then) for was, then in older.items()}}
