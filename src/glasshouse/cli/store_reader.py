"""`StoreReader`: reads a store as a guest, also while a process plays it, and finds what the command line names.

Always holds: reading writes nothing and asks no model.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from glasshouse.assembly import SqliteStore
from glasshouse.cli.ids import id_meant
from glasshouse.cli.store_file import store_path
from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.digest import digest_of
from glasshouse.events.event import Event
from glasshouse.events.redaction import Role, redacted
from glasshouse.runtime.ports import Route
from glasshouse.runtime.run import Run
from glasshouse.terrarium import Terrarium
from glasshouse.views.stage import past_runs

T = TypeVar("T")


@dataclass(frozen=True)
class Story:
    """The events of a run, or of a session, in the order of histories."""

    name: str
    run_id: str | None
    events: tuple[Event, ...]
    run: Run | None = None
    """The run as it stands; none of a session and of what was imported."""
    skews: Mapping[str, int] = field(default_factory=dict)
    """What the digest of a branch needs."""

    @cached_property
    def past_run_ids(self) -> tuple[str, ...]:
        """Of a branch or a resumed run: the runs whose past it has."""
        return past_runs(self.events, self.run_id)

    @cached_property
    def digest(self) -> str:
        """The digest of these events."""
        return digest_of(self.events, self.skews)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each event by its id: 1 for the first."""
        return {event.id: number for number, event in enumerate(self.events, start=1)}

    @property
    def ids(self) -> dict[str, str | None]:
        """What it is called, for machines: the run, and the session if one was asked for."""
        return {"run_id": self.run_id, "session_id": None if self.run is not None else self.name}

    def seen_by(self, role: Role) -> list[Event]:
        """The events as a role may read them."""
        return [redacted(event, role) for event in self.events]


class StoreReader:
    """One store, and the terrarium that was opened on it."""

    def __init__(self, store: SqliteStore, terrarium: Terrarium) -> None:
        self.store = store
        self.terrarium = terrarium

    def run(self, name: str) -> Run:
        """The run that a name means."""
        return self.terrarium.run_of(id_meant("run", name, [run.id for run in self.terrarium.runs()]))

    async def run_or_session(self, name: str) -> tuple[str, Run | None]:
        """The id that a name means, and the run if it is that of one."""
        runs = {run.id: run for run in self.terrarium.runs()}
        named_id = id_meant("run or session", name, [*await self.session_ids(), *runs])
        return named_id, runs.get(named_id)

    async def session_ids(self) -> list[str]:
        """Every session, imported ones too, the oldest first."""
        return [segment.id for segment in await self.store.segments_after(0)]

    async def is_imported(self, session_id: str) -> bool:
        """Whether a session came in a file."""
        segments = await self.store.segments_after(0)
        return any(segment.is_imported for segment in segments if segment.id == session_id)

    async def story(self, name: str) -> Story:
        """The story of the run or session that a name means."""
        named_id, run = await self.run_or_session(name)
        if run is not None:
            events = await self.terrarium.run_events(named_id)
            return Story(named_id, named_id, events, run, self._skews(events))
        events = await self.terrarium.events(named_id)
        begun = [event.run_id for event in events if event.kind == kinds.RUN_STARTED and event.run_id]
        is_one_run = bool(begun) and set(begun) == {begun[-1], *past_runs(events, begun[-1])}
        return Story(named_id, begun[-1] if is_one_run else None, events, skews=self._skews(events))

    def _skews(self, events: tuple[Event, ...]) -> dict[str, int]:
        sessions = [self.terrarium.session(name) for name in {event.session_id for event in events}]
        return {session.id: session.skew for session in sessions if session.skew}

    async def session_at_end_of(self, name: str) -> tuple[str, list[str]]:
        """The session that a name means; of a run, the one with its end, and the others in which it was last heard of."""
        named_id, run = await self.run_or_session(name)
        if run is None:
            return named_id, []
        events = [event for event in await self.terrarium.run_events(named_id) if event.run_id == named_id]
        written = list(dict.fromkeys(event.session_id for event in reversed(events)))
        past = {a.id for session_id in written for a in self.terrarium.lineage(session_id).ancestors}
        last = next((e.session_id for e in events if e.kind == kinds.RUN_FINISHED), written[0])
        return last, [session_id for session_id in written if session_id not in past and session_id != last]


class _NoModels:
    """The models of a reader: none."""

    def route(self, profile: str, _model: str | None = None, /) -> Route:
        """Refuse."""
        raise Refused(f"A reader asks no model, and {profile!r} was asked for.", "Play the run instead.")


@asynccontextmanager
async def open_reader(path: Path) -> AsyncIterator[StoreReader]:
    """Open a store as a guest."""
    store = SqliteStore(path, is_guest=True)
    async with Terrarium(store, models=_NoModels()) as terrarium:
        yield StoreReader(store, terrarium)


def read_store(given: Path | None, read: Callable[[StoreReader], Awaitable[T]]) -> T:
    """Open a store, read something from it, and close it."""

    async def reading() -> T:
        async with open_reader(store_path(given)) as reader:
            return await read(reader)

    return asyncio.run(reading())


def event_count_at(story: Story, at: str | None) -> int:
    """How many events of a story `--at` means: a number, an event's id or the beginning of one, or `last`."""
    count = len(story.events)
    if at is None or at == "last":
        return count
    if at.isascii() and at.isdigit():
        if int(at[:18]) > count:
            raise Refused(f"{story.name} has {count:,} events.", f"Give a number from 0 to {count}.")
        return int(at)
    return story.numbers[id_meant("event", at, list(story.numbers))]
