"""Namesakes: what things of a record are called in its replay.

Always holds: things are paired by the order in which they came to be, which is the same as long as the replay keeps to the
record. What stood in the past that a run began with has its own name in both.
"""

from __future__ import annotations

from collections.abc import Iterable

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.runtime.past.record import RunRecord
from glasshouse.runtime.ports import Store


class _Names:
    """Ids by first appearance, of graphs, sessions, creatures and channels."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.graphs: dict[str, None] = {}
        self.sessions: dict[str, None] = {}
        self.creatures: dict[str, None] = {}
        self.channels: dict[str, None] = {}
        for event in events:
            self.note(event)

    def note(self, event: Event) -> None:
        self.graphs[event.graph_id] = None
        self.sessions[event.session_id] = None
        if event.kind == kinds.CREATURE_STARTED:
            self.creatures[str(event.payload["creature"])] = None
        elif event.kind == kinds.CHANNEL_OPENED:
            self.channels[str(event.payload["channel_id"])] = None


class Namesakes:
    """Pairs the ids of a record with those of its replay, which is read as it grows."""

    def __init__(self, record: RunRecord, scratch: Store) -> None:
        self._scratch = scratch
        self._written = record.written
        self._then, self._now = _Names(record.written), _Names()
        self._common = _Names([event for part in record.regrown for event in part.events])
        self._followed = 0

    def begin_at(self, position: int) -> None:
        """Say where in the scratch store the replay itself begins."""
        self._followed = position

    async def follow(self) -> None:
        """Note what has come to be in the replay."""
        for event in await self._scratch.read_after(self._followed, self._scratch.position):
            self._followed = event.position or self._followed
            self._now.note(event)

    def graph(self, then: str) -> str:
        """The graph that stands for one of the record."""
        return _paired(then, self._common.graphs, self._then.graphs, self._now.graphs)

    def session(self, then: str) -> str:
        """The session that stands for one of the record."""
        return _paired(then, self._common.sessions, self._then.sessions, self._now.sessions)

    def creature(self, then: str) -> str:
        """The creature that stands for one of the record."""
        return _paired(then, self._common.creatures, self._then.creatures, self._now.creatures)

    def channel(self, then: str) -> str:
        """The channel that stands for one of the record."""
        return _paired(then, self._common.channels, self._then.channels, self._now.channels)

    def batch_of(self, first: Event) -> list[Event]:
        """The events of the record that belong to this one's change, in its session."""
        same = [event for event in self._written if event.change == first.change]
        return [event for event in same if event.session_id == first.session_id]


def _paired(name: str, common: dict[str, None], then: dict[str, None], now: dict[str, None]) -> str:
    """What a name of the record is in the replay; itself where nothing stands for it."""
    if name in common:
        return name
    fresh = [one for one in then if one not in common]
    born = [one for one in now if one not in common]
    return dict(zip(fresh, born, strict=False)).get(name, name)
