"""The record of a run: all that a replay needs, read from the ledger and checked to be of one run alone.

Always holds: what a run wrote is whole, also what was written in graphs that somebody outside joined to it; so whatever
stands in it without a cause came from outside. A run that goes on from a past has that past beside it, which is read and
never played again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.event import Event, event_id, place_of
from glasshouse.events.payloads import SessionRestated, restated_of
from glasshouse.events.run_payloads import BranchOf
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.folding import folded_from
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ledger.reading import HistoryReader
from glasshouse.runtime.ports import Store
from glasshouse.world.lineage import descendants_of, pages, span_of, visible_prefixes
from glasshouse.world.lookup import the_run
from glasshouse.world.state import CreatureState, ManifestFacts, Segment, SessionState
from glasshouse.world.values import GOES_ON


class Part(msgspec.Struct, frozen=True):
    """One segment, from its beginning on."""

    segment: Segment
    events: tuple[Event, ...]


class Known(msgspec.Struct, frozen=True):
    """A creature of the past, as this house knows it."""

    creature: CreatureState
    facts: ManifestFacts


class RunRecord(msgspec.Struct, frozen=True):
    """A run as it was recorded."""

    run_id: str
    story: tuple[Event, ...]
    """What the run tells, in the order of its story: what a replay is compared with."""
    written: tuple[Event, ...]
    """Everything that it wrote, in the order of commits; without what it began with, if that was a past."""
    times: dict[str, int]
    """The logical time of every event that is named as a cause, or as the last one that a prompt saw."""
    skews: dict[str, int] = {}
    past: tuple[Part, ...] = ()
    """Of a branch or a resumed run: what it grew from, parents first."""
    regrown: tuple[Part, ...] = ()
    """The batch that restates that past, a part for each graph."""
    grows_from: str | None = None
    """The run of this house that it goes on from."""
    worlds_before: dict[str, Folded] = {}
    """Where ticks that go together were cut off by the end of that past: the world before their first event, by its id."""
    known: dict[str, Known] = {}
    """Those who were in that past, and who are still known in this house: whose words are whose."""

    @property
    def taken(self) -> tuple[Event, ...]:
        """The events of the story that are its past's, and not its own."""
        own = {event.session_id for event in self.written} | {part.segment.id for part in self.regrown}
        return tuple([event for event in self.story if event.session_id not in own])


class Records:
    """Reads records."""

    def __init__(self, store: Store, ledger: Ledger, history: HistoryReader) -> None:
        self._store = store
        self._ledger = ledger
        self._history = history

    @property
    def _sessions(self) -> Mapping[str, SessionState]:
        return self._ledger.world.sessions

    async def of(self, run_id: str) -> RunRecord:
        """The record of a run, or a refusal if others had a part in what happened in its graphs."""
        story = await self._history.events_of_run(run_id)
        own = self._own_sessions(run_id)
        events = await self._read({name: self._sessions[name].head for name in own})
        events.sort(key=lambda event: event.position or 0)
        end = next((e.position for e in events if e.kind == kinds.RUN_FINISHED and e.run_id == run_id), None)
        events = [event for event in events if end is None or (event.position or 0) <= end]
        _check_is_alone(run_id, events)
        regrown = [self._first_change(name, events) for name in own if self._goes_on(name)]
        begun = {event.id for part in regrown for event in part.events}
        written = [event for event in events if event.id not in begun]
        branch_of = self._branch_of(run_id)
        past = await self._past(own, story, branch_of, regrown)
        return RunRecord(
            run_id=run_id,
            story=tuple(story),
            written=tuple(written),
            times=await self._times(written),
            skews={name: one.skew for name, one in self._sessions.items() if one.skew},
            past=past,
            regrown=tuple(sorted(regrown, key=lambda part: part.events[0].position or 0)),
            grows_from=self._grows_from(branch_of),
            worlds_before=await self._worlds_before(regrown),
            known=self._known(past),
        )

    def _known(self, past: Iterable[Part]) -> dict[str, Known]:
        world = self._ledger.world
        here = [part.segment.id for part in past if not part.segment.is_imported]
        names = dict.fromkeys([name for one in here for name in self._sessions[one].joined or ()])
        found = {name: world.ever(name) for name in names}
        return {name: Known(one, world.facts_of(one)) for name, one in found.items() if one is not None}

    def _own_sessions(self, run_id: str) -> list[str]:
        """The sessions that a run wrote, those that its creatures were in, and what these grew from in one life."""
        world = self._ledger.world
        run = the_run(world, run_id)
        begun = dict.fromkeys(run.grown_in or [run.session_id])
        for name, session in world.sessions.items():
            if not session.segment.is_imported and any(
                self._is_of(run_id, one) for one in session.joined or ()
            ):
                begun[name] = None
        found = dict(begun)
        for name in begun:
            found |= dict.fromkeys(descendants_of(world.sessions, name, in_one_life=True))
        waiting = list(found)
        while waiting:
            name = waiting.pop()
            if not self._goes_on(name):
                parents = [one.session_id for one in self._sessions[name].segment.parents]
                waiting += [parent for parent in parents if parent not in found]
                found |= dict.fromkeys(parents)
        return list(found)

    def _is_of(self, run_id: str, creature_id: str) -> bool:
        creature = self._ledger.world.ever(creature_id)
        return creature is not None and creature.run_id == run_id

    def _goes_on(self, session_id: str) -> bool:
        return self._sessions[session_id].segment.origin in GOES_ON

    async def _read(self, prefixes: Mapping[str, int]) -> list[Event]:
        spans = [span_of(self._sessions[name].segment, 1, upto) for name, upto in prefixes.items() if upto]
        spans.sort(key=lambda span: span.starts_at)
        await self._ledger.wait_for_durability()
        return [event for page in pages(spans) for event in await self._store.read(page)]

    def _first_change(self, session_id: str, events: Iterable[Event]) -> Part:
        own = [event for event in events if event.session_id == session_id]
        first = [event for event in own if event.change == own[0].change]
        return Part(self._sessions[session_id].segment, tuple(first))

    async def _past(
        self, own: list[str], story: Iterable[Event], branch_of: BranchOf | None, regrown: Iterable[Part]
    ) -> tuple[Part, ...]:
        """What the sessions of a run grew from: all that they see, all that its story tells, the event of the cut, and
        where the lines stand that were taken over."""
        prefixes: dict[str, int] = {}

        def see(found: Mapping[str, int]) -> None:
            for name, upto in found.items():
                prefixes[name] = max(upto, prefixes.get(name, 0))

        for name in own:
            if self._goes_on(name):
                see({**visible_prefixes(self._sessions, name), name: 0})
        named = [event.id for event in story] + ([] if branch_of is None else [branch_of.at])
        for told in _restated(regrown):
            tables = told.carried.tables.said.values()
            named += [event_id(part.session_id, part.last) for table in tables for part in table.spans]
        for session_id, seq in map(place_of, named):
            if seq > prefixes.get(session_id, 0) and session_id not in own:
                see({**visible_prefixes(self._sessions, session_id), session_id: seq})
        names = [name for name in prefixes if name not in own]
        names.sort(key=lambda name: (self._sessions[name].segment.base, name))
        return tuple([await self._part(name, prefixes[name]) for name in names])

    async def _part(self, session_id: str, upto: int) -> Part:
        return Part(self._sessions[session_id].segment, tuple(await self._read({session_id: upto})))

    def _branch_of(self, run_id: str) -> BranchOf | None:
        purse = self._ledger.folded.runs.purses.get(run_id)
        return None if purse is None else purse.branch_of

    def _grows_from(self, branch_of: BranchOf | None) -> str | None:
        is_here = branch_of is not None and self._history.is_of_this_house(branch_of)
        return branch_of.run_id if branch_of is not None and is_here else None

    async def _worlds_before(self, regrown: Iterable[Part]) -> dict[str, Folded]:
        ticks = [tick for told in _restated(regrown) for tick in told.carried.agenda.ticks.values()]
        firsts = [await self._history.event(name) for name in {tick.begun_by: None for tick in ticks} if name]
        return {first.id: await folded_from(self._store, (first.position or 1) - 1) for first in firsts}

    async def _times(self, events: Iterable[Event]) -> dict[str, int]:
        times = {event.id: event.lamport for event in events}
        for event in events:
            for named in (event.caused_by, event.as_of):
                if named is not None and named not in times:
                    times[named] = (await self._history.event(named)).lamport
        return times


def _restated(regrown: Iterable[Part]) -> list[SessionRestated]:
    events = [event for part in regrown for event in part.events]
    return [restated_of(event) for event in events if event.kind == kinds.SESSION_RESTATED]


def _check_is_alone(run_id: str, events: Iterable[Event]) -> None:
    """Refuse what cannot be verified soundly: what another run said is not on this run's record."""
    for event in events:
        if event.run_id is not None and event.run_id != run_id:
            raise Refused(
                f"Run {run_id} shared a graph with run {event.run_id}, which wrote {event.id} there: what one of two runs"
                " did cannot be played again without the other.",
                "Verify a run whose graphs were joined with nobody else's. Creatures added with run=… are of that run.",
            )
