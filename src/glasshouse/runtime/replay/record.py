"""The record of a run: every change of its house from the run's first event to its end, with the requests.

Always holds: changes and requests are read from the store, never guessed from events. Runs that shared a graph are
replayed together. Changes that touched only graphs of other runs are adopted as they are (ADR 0048).
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from itertools import groupby

import msgspec

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.runtime.acts.act_calls import INTERRUPTED
from glasshouse.runtime.acts.act_so_far import act_so_far_of
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.house import House
from glasshouse.runtime.ledger.folds import fold_page_events, load_folded
from glasshouse.runtime.store_port import Store
from glasshouse.world.decisions.requests import Request
from glasshouse.world.state.ids import the_run
from glasshouse.world.state.state import Segment, Standing


class RecordedChange(msgspec.Struct, frozen=True):
    """The events of one change, and its request if one was kept."""

    events: tuple[Event, ...]
    request: Request | None = None

    @property
    def first(self) -> Event:
        """The first event of the change."""
        return self.events[0]

    @property
    def restates_a_past(self) -> bool:
        """Whether the change begins a branch or a resumed session."""
        return any(event.kind == kinds.SESSION_RESTATED for event in self.events)

    @property
    def is_answer_of_program(self) -> bool:
        """Whether a program answered for a creature. Such a line looks like the end of an act, and is none (ADR 0098)."""
        return self.request is not None and self.request.by == "api" and self.request.intent is None

    @property
    def tells_calls_of_nobody(self) -> bool:
        """Whether the change only tells what an act has cost that came to nothing: it was interrupted, and then given up."""
        end = self.first
        is_end = end.kind in (kinds.ACT_DISCARDED, kinds.AGENT_FAILED) and len(self.events) == 1
        is_told = any(call.error == INTERRUPTED for call in end.calls)
        return is_end and is_told and not any(call.is_answered for call in end.calls)


class RunRecord(msgspec.Struct, frozen=True):
    """A recorded run, with everything that was written in its house during the run."""

    run_id: str
    story: tuple[Event, ...]
    """The events of the run, in the order of its story. A replay is compared with them."""
    skews: dict[str, int]
    starts_after: int
    """The position before the first change of the run; or before the oldest look of an act that was written after that, or
    the oldest tool call that was without an answer then. A replay begins with the house as it was then."""
    before: Folded
    """The house as it was at that position."""
    taken: int
    """How many events of the story belong to the past that the run continues."""
    changes: tuple[RecordedChange, ...]
    run_ids: frozenset[str]
    """The run, the runs that shared a graph with it, the runs that shared a graph with those, and so on."""
    sessions: frozenset[str]
    """The sessions of these runs that were played here. Changes that touch no such session are adopted."""
    segments: dict[str, Segment]
    """The segments that began after `starts_after`, by session id."""
    later: tuple[RecordedChange, ...] = ()
    """The changes after the run's end, if other runs shared a graph with it. They hold the answers of acts that had
    begun before that end."""
    grows_from: str | None = None
    """The run of this house that a branch or a resumed run continues."""
    standings: dict[int, Standing] = {}
    """Of a run that came in a file: the counters of its house before the change at a position, where others had moved them."""

    @property
    def events(self) -> list[Event]:
        """The events of all changes."""
        return [event for change in self.changes for event in change.events]


async def record_of(house: House, run_id: str) -> RunRecord:
    """Read the record of a run."""
    await house.ledger.writer.wait_for_durability()
    position = await house.store.position()
    own = await house.history.events_of_its_own(the_run(house.ledger.world, run_id).id)
    own = [event for event in own if (event.position or 0) <= position]
    if not own:
        raise Refused(f"Run {run_id} has not begun.", "Drive it first.")
    starts_after = min(event.change or 0 for event in own) - 1
    end = next((event for event in own if event.kind == kinds.RUN_FINISHED and event.run_id == run_id), None)
    upto = position if end is None else end.position or 0
    story = [event for event in await house.history.events_of_run(run_id) if (event.position or 0) <= upto]
    taken = len([event for event in story if (event.position or 0) <= starts_after])
    run_ids, company = house.history.company_of(run_id)
    sessions = frozenset(company)
    while True:
        changes = await changes_between(house.store, starts_after, upto)
        before = await load_folded(house.store, starts_after)
        begins = [*_looks(changes, sessions), *await _open_calls(house, before, sessions)]
        if min(begins, default=starts_after) >= starts_after:
            break
        starts_after = min(begins)
    parent = house.history.parent_of(run_id)
    return RunRecord(
        run_id=run_id,
        story=tuple(story),
        skews=house.history.skews(),
        starts_after=starts_after,
        before=before,
        taken=taken,
        changes=changes,
        later=await changes_between(house.store, upto, position) if len(run_ids) > 1 else (),
        run_ids=run_ids,
        sessions=sessions,
        segments={segment.id: segment for segment in await house.store.segments_after(starts_after)},
        grows_from=None if parent is None else parent.run_id,
    )


def _looks(changes: Iterable[RecordedChange], sessions: Set[str]) -> list[int]:
    """The positions at which acts of these sessions looked at the world, as far as they are on record."""
    acts = [change for change in changes if change.first.session_id in sessions]
    return [seen for act in acts if act.request and (seen := act.request.seen) is not None]


async def _open_calls(house: House, before: Folded, sessions: Set[str]) -> list[int]:
    """The positions before the tool calls that acts of these sessions had made and that were not answered yet.

    A tool looks at the world before it waits, for example for approval, and the world may change while it waits.
    """
    positions: list[int] = []
    for act in before.agenda.under_way.values():
        step = act_so_far_of([await house.history.event(name) for name in act.events]).steps[-1]
        if step.returned is None and step.called.session_id in sessions:
            positions.append((step.called.change or 0) - 1)
    return positions


async def _events(store: Store, after: int, upto: int) -> list[Event]:
    events: list[Event] = []
    while (left := upto - after - len(events)) > 0:
        events += await store.read_after(upto - left, min(fold_page_events, left))
    return events


async def changes_between(store: Store, after: int, upto: int) -> tuple[RecordedChange, ...]:
    """The changes after one position, up to another."""
    requests = await store.requests(after + 1, upto)
    together = groupby(await _events(store, after, upto), key=lambda event: event.change or 0)
    return tuple([RecordedChange(tuple(events), requests.get(number)) for number, events in together])
