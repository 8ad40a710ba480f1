"""The worlds of other houses, folded from imported events and kept apart from this house's world (ADR 0040).

A *life* is a set of sessions that are connected by merges, splits and forks. A branch or a resumed session begins
another life, because it restates its past. It may be in another house, where the same id may name another creature.

Always holds: nothing of a life enters this house's world. A life is folded from imported sessions alone. The cache key
holds how far each session is known, so a life is folded again after an import has added events to it.
"""

from __future__ import annotations

from typing import Final

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.events.payloads import TopologyChanged, payload_of
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.past.past_world import begin_from_file, ends_in_a_split
from glasshouse.runtime.store_port import Store
from glasshouse.world.fold.evolve import evolve
from glasshouse.world.fold.members import part_unseen
from glasshouse.world.state.lineage import descendants_of, pages, span_of
from glasshouse.world.state.state import SessionState, World
from glasshouse.world.state.values import GOES_ON

lives_kept_max: Final = 8
"""How many folded lives are cached. The least recently used one is dropped first."""

Life = tuple[tuple[str, int], ...]
"""The sessions of a life, oldest first, each with its last known seq."""


class OtherHouses:
    """Folds the lives of imported sessions."""

    def __init__(self, store: Store, ledger: Ledger) -> None:
        self._store = store
        self._ledger = ledger
        self._folded_cache: dict[Life, Folded] = {}

    @property
    def _sessions(self) -> dict[str, SessionState]:
        return self._ledger.world.sessions

    def wrote(self, session_id: str) -> bool:
        """Whether a session was written in another house and imported from a file."""
        return self._sessions[session_id].segment.is_imported

    async def around(self, session_id: str) -> Folded:
        """The world of an imported session, as far as the files tell. The refusal names what they lack."""
        return await self._of(self._life(session_id))

    async def after(self, session_id: str) -> list[Folded]:
        """The worlds of other houses that continue a session's past by a branch or a resumed session."""
        lives = {
            self._life(name): None for name in descendants_of(self._sessions, session_id) if self.wrote(name)
        }
        own = self._life(session_id) if self.wrote(session_id) else None
        return [await self._of(life) for life in lives if life != own]

    def _life(self, session_id: str) -> Life:
        """Every session that is connected with this one, with no branch or resumed session between them."""
        life = {session_id: None}
        waiting = [session_id]
        while waiting:
            session = self._sessions[waiting.pop()]
            parents = () if self._goes_on(session.segment.id) else session.segment.parents
            before = [parent.session_id for parent in parents]
            after = [name for name in session.children or () if self.wrote(name) and not self._goes_on(name)]
            fresh = [name for name in (*before, *after) if name not in life]
            life |= dict.fromkeys(fresh)
            waiting += fresh
        in_order = sorted(life, key=lambda name: (self._sessions[name].segment.base, name))
        return tuple([(name, self._sessions[name].head) for name in in_order])

    def _goes_on(self, session_id: str) -> bool:
        return self._sessions[session_id].segment.origin in GOES_ON

    async def _of(self, life: Life) -> Folded:
        folded = self._folded_cache.pop(life, None)
        if folded is None:
            folded = await self._fold(life)
        self._folded_cache[life] = folded
        while len(self._folded_cache) > lives_kept_max:
            del self._folded_cache[next(iter(self._folded_cache))]
        return folded

    async def _fold(self, life: Life) -> Folded:
        folded = Folded(World())
        for name, _ in life:
            begin_from_file(folded.world, self._sessions, name)
        spans = [span_of(self._sessions[name].segment, 1, head) for name, head in life if head]
        spans.sort(key=lambda span: span.starts_at)
        graph_ids_in_files = {self._sessions[name].segment.graph_id for name, _ in life}
        await self._ledger.writer.wait_for_durability()
        for page in pages(spans):
            for event in await self._store.read(page):
                _take(folded, event, graph_ids_in_files)
        return folded


def _take(folded: Folded, event: Event, graph_ids_in_files: set[str]) -> None:
    """Fold one event into a life. `graph_ids_in_files` are the graphs whose sessions the files contain."""
    try:
        evolve(folded.world, event)
        if event.kind == kinds.SESSION_RESTATED:
            folded.tables.apply(folded.world, event)
        if ends_in_a_split(event) and not graph_ids_in_files.issuperset(
            payload_of(event, TopologyChanged).new_graph_ids
        ):
            # The files lack a session of a new graph. The creatures that left for it are taken from this event.
            part_unseen(folded.world, event)
    except KeyError as lacking:
        raise Refused(
            f"{event.id} is a {event.kind} that tells of {lacking.args[0]!r}, and nothing in the file says what that is.",
            "Import the whole session from the store it was played in.",
        ) from lacking
