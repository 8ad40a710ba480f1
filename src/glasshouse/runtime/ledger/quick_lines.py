"""The quick path for lines: a public line that answers nothing, the most frequent write of a program.

It takes the same steps as any other change and writes the same event. Only the first two are shorter: instead of deciding a
`Say` and stamping its fact, the line is made from the line before it that went the same way. Where such a line goes, and
whether folding it changes more than the tables of recent lines, is found out once and kept until the shape of the world
changes. Without this path an append costs half as much again (ADR 0077).
"""

from __future__ import annotations

from asyncio import Future
from datetime import UTC, datetime
from typing import Final, NamedTuple

from msgspec.structs import replace

from glasshouse.events import codec, kinds
from glasshouse.events.codec import json_copy, payload_within_bounds
from glasshouse.events.event import Draft, Event
from glasshouse.runtime.ledger.folds import fold, is_only_a_line
from glasshouse.runtime.ledger.pending import Pending
from glasshouse.runtime.ledger.writer import Writer
from glasshouse.runtime.ports import Clock
from glasshouse.runtime.store_port import EventNames
from glasshouse.turns.heard.recent_lines import RecentLines, note_line
from glasshouse.world.decisions.acts import line_of, voice_of
from glasshouse.world.decisions.decision import event_of
from glasshouse.world.state.state import GraphState, SessionState

_NO_TIME: Final = datetime.min.replace(tzinfo=UTC)


class _Route(NamedTuple):
    """Where a creature's lines of one kind on one channel go. It is kept until the shape of the world changes."""

    session: SessionState
    graph: GraphState
    like: Event
    """One of these lines. The next is made from it, with its own id, times and payload."""
    names: EventNames
    """What a store may keep once for all of these lines."""
    tables: list[RecentLines] | None
    """The recent lines that each of these lines joins. None if folding a line changes more than these."""


class QuickLines:
    """Writes lines on the quick path."""

    def __init__(self, pending: Pending, writer: Writer, clock: Clock) -> None:
        self._pending = pending
        self._writer = writer
        self._clock = clock

    def say(self, creature_id: str, draft: Draft) -> tuple[Event, Future[None], bool] | None:
        """Write a line, as `Ledger.submit` does. None, and nothing has happened, if it cannot take the quick path."""
        if draft.private is not None or draft.sealed is not None:
            return None  # Only its own creature, or nobody yet, may read all of it: that is decided.
        pending = self._pending
        kind = draft.kind
        # Decide: the world's `shape_cache` is emptied when its shape changes, and with it what was decided before.
        kept = pending.world.shape_cache.get((_Route, creature_id, kind, draft.channel))
        route = kept or self._route_of(creature_id, draft)
        if route is None:
            return None  # Lines like this one need more than a place to go to.
        session, graph, like, names, tables = route
        # Stamp.
        seq = session.head + 1
        event = replace(
            like,
            id=f"{like.session_id}.{seq}",
            seq=seq,
            lamport=session.segment.base + seq,
            turn=graph.turn,
            payload=json_copy(kind, draft.payload),
            created_at=self._clock.now(),
        )
        # Encode: if that is refused, the world has not changed yet.
        payload = payload_within_bounds(event)
        # Fold.
        try:
            if tables is None:
                fold(pending.folded, event)
                is_kept = True
            else:
                session.head = seq
                is_kept = note_line(tables, event)
            if kept is None:
                self._keep_route(draft, route)
        except BaseException as unforeseen:
            self._writer.give_up_world(unforeseen)
            raise
        # Note. The same as `Pending.note`, for one event.
        pending.graphs_moved[graph.id] = None
        if pending.awaited:
            pending.wake_for((event,))
        pending.position += 1
        # Queue.
        return event, self._writer.queue_line(event, names, payload), is_kept

    def _route_of(self, creature_id: str, draft: Draft) -> _Route | None:
        """Where the lines of a creature go that are like this draft. None if such lines cannot take the quick path."""
        world = self._pending.world
        kind = draft.kind
        voice = voice_of(world, creature_id, kind, draft.channel)
        graph = voice.graph
        session = world.sessions[graph.session_id]
        if kind == kinds.JUDGE_VERDICT or kind in codec.VERSIONS or session.segment.graph_id != graph.id:
            return None  # A verdict is checked; the others need more than the values of a line, which have no version and no graph.
        fact = line_of(world, voice, replace(draft, payload={}), None)
        like = event_of(fact, graph.session_id, graph.id, 0, 0, 0, _NO_TIME)
        names = (like.actor, like.kind, like.run_id, like.channel_id, like.channel)
        return _Route(session, graph, like, names, None)

    def _keep_route(self, draft: Draft, route: _Route) -> None:
        """Keep where a line went, for the lines after it."""
        folded = self._pending.folded
        world = folded.world
        like = route.like
        if is_only_a_line(folded, like):
            route = route._replace(tables=folded.tables.tables_of(world, like))
        world.shape_cache[_Route, like.actor, draft.kind, draft.channel] = route
