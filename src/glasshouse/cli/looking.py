"""`Lookout`: reads a store as a guest, also while somebody runs it, and finds what the command line names.

Always holds: looking writes nothing and asks no model.
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
from glasshouse.cli.naming import the_one
from glasshouse.cli.storing import store_path
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
    """What a name led to: the events of a run, or of a session, in the order of histories."""

    name: str
    run_id: str | None
    events: tuple[Event, ...]
    run: Run | None = None
    """The run as it stands; none of a session and of what was imported."""
    skews: Mapping[str, int] = field(default_factory=dict)
    """Of sessions that grew from a branch: what their digest has to know."""

    @cached_property
    def past_run_ids(self) -> tuple[str, ...]:
        """Of a branch or a resumed run: the runs whose past it has."""
        return past_runs(self.events, self.run_id)

    @property
    def digest(self) -> str:
        """The digest of these events."""
        return digest_of(self.events, self.skews)

    @property
    def ids(self) -> dict[str, str | None]:
        """What it is called, for machines: the run, and the session if one was asked for."""
        return {"run_id": self.run_id, "session_id": None if self.run is not None else self.name}

    def seen_by(self, role: Role) -> list[Event]:
        """The events as a role may read them."""
        return [redacted(event, role) for event in self.events]


class Lookout:
    """One store, looked at."""

    def __init__(self, store: SqliteStore, terrarium: Terrarium) -> None:
        self.store = store
        self.terrarium = terrarium

    def runs(self) -> tuple[Run, ...]:
        """Every run, the oldest first."""
        return self.terrarium.runs()

    def run(self, name: str) -> Run:
        """The run that a name means."""
        return self.terrarium.run_of(the_one("run", name, [run.id for run in self.runs()]))

    async def session_ids(self) -> list[str]:
        """Every session, imported ones too, the oldest first."""
        return [segment.id for segment in await self.store.segments_after(0)]

    async def is_imported(self, session_id: str) -> bool:
        """Whether a session came in a file."""
        return any(one.is_imported for one in await self.store.segments_after(0) if one.id == session_id)

    async def story(self, name: str) -> Story:
        """What the run or session of a name tells."""
        runs = [run.id for run in self.runs()]
        found = the_one("run or session", name, [*await self.session_ids(), *runs])
        if found in runs:
            events = await self.terrarium.run_events(found)
            return Story(found, found, events, self.terrarium.run_of(found), self._skews(events))
        events = await self.terrarium.events(found)
        begun = [event.run_id for event in events if event.kind == kinds.RUN_STARTED and event.run_id]
        is_one_run = bool(begun) and set(begun) == {begun[-1], *past_runs(events, begun[-1])}
        return Story(found, begun[-1] if is_one_run else None, events, skews=self._skews(events))

    def _skews(self, events: tuple[Event, ...]) -> dict[str, int]:
        sessions = [self.terrarium.session(name) for name in {event.session_id for event in events}]
        return {session.id: session.skew for session in sessions if session.skew}

    async def session_to_carry(self, name: str) -> tuple[str, list[str]]:
        """The session of a name; of a run, the one that knows its end. And where else the run went on."""
        runs = [run.id for run in self.runs()]
        found = the_one("run or session", name, [*await self.session_ids(), *runs])
        if found not in runs:
            return found, []
        ends = await self._ends_of(found)
        return ends[-1], ends[:-1]

    async def _ends_of(self, run_id: str) -> list[str]:
        """The sessions in which a run was last heard of, the one with its end last."""
        events = [e for e in await self.terrarium.run_events(run_id) if e.run_id == run_id]
        written = list(dict.fromkeys(event.session_id for event in reversed(events)))
        past = {a.id for session_id in written for a in self.terrarium.lineage(session_id).ancestors}
        last = next((e.session_id for e in events if e.kind == kinds.RUN_FINISHED), written[0])
        return [one for one in written if one not in past and one != last] + [last]


class _NoModels:
    """What stands behind every profile for somebody who only looks."""

    def route(self, profile: str, _model: str | None = None, /) -> Route:
        """Nothing."""
        raise Refused(f"Who looks on asks no model, and {profile!r} was asked for.", "Play the run instead.")


@asynccontextmanager
async def lookout_on(path: Path) -> AsyncIterator[Lookout]:
    """Open a store as a guest."""
    store = SqliteStore(path, is_guest=True)
    async with Terrarium(store, models=_NoModels()) as terrarium:
        yield Lookout(store, terrarium)


def looked_up(given: Path | None, look: Callable[[Lookout], Awaitable[T]]) -> T:
    """What a look at the store finds."""

    async def looking() -> T:
        async with lookout_on(store_path(given)) as lookout:
            return await look(lookout)

    return asyncio.run(looking())


def place_in(story: Story, at: str | None) -> int:
    """How many events of a story `--at` means: a number, an event's id or the beginning of one, or `last`."""
    count = len(story.events)
    if at is None or at == "last":
        return count
    if at.isascii() and at.isdigit():
        if int(at[:18]) > count:
            raise Refused(f"{story.name} has {count:,} events.", f"Give a number from 0 to {count}.")
        return int(at)
    names = [event.id for event in story.events]
    return names.index(the_one("event", at, names)) + 1
