"""Stores on the command line: which file to open, which process plays it, and which run, session or event a name means.

Always holds: what `read_store` opens asks no model and writes no event; `disturb` writes to the inbox. A number that `show
--numbers` prints can be given to every command that takes an event. What a name means is in `views.names`.
"""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from glasshouse.assembly import PostgresStore, SqliteStore, StoreAddress
from glasshouse.cli.command_line import CommandLine, store_path, world_to_try
from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.digest import digest_of
from glasshouse.events.event import Event, event_id
from glasshouse.events.redaction import Role, redacted
from glasshouse.runtime import event_loop
from glasshouse.runtime.ledger.session_file import FileHead, FileSegment
from glasshouse.runtime.ports import Route
from glasshouse.runtime.run import Run
from glasshouse.terrarium import Terrarium, skews_of
from glasshouse.views.names import (
    LAST,
    event_count_meant,
    event_meant,
    id_meant,
    session_and_seq_meant,
    session_at_end,
)
from glasshouse.views.stage import past_runs

T = TypeVar("T")

short_id_chars: Final = 8


def in_words(process: int) -> str:
    """The process that plays a store, within a sentence."""
    return f"process {process}" if process else "another process"


def short_ids(known: Sequence[str]) -> dict[str, str]:
    """Each id with its shortest unique prefix."""
    ordered = sorted(set(known))
    chars = dict.fromkeys(ordered, short_id_chars)
    for first, second in pairwise(ordered):
        alike = next((n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), len(first))
        chars[first] = max(chars[first], alike + 1)
        chars[second] = max(chars[second], alike + 1)
    return {known_id: known_id[: chars[known_id]] for known_id in ordered}


@dataclass(frozen=True)
class Story:
    """The events of a run, or of a session, in the order of histories."""

    name: str
    run_id: str | None
    events: tuple[Event, ...]
    run: Run | None = None
    """The current run; None for a session and for an imported story."""
    skews: Mapping[str, int] = field(default_factory=dict)
    """What the digest of a branch needs."""

    @cached_property
    def past_run_ids(self) -> tuple[str, ...]:
        """Of a branch or a resumed run: the runs whose past it has."""
        return past_runs(self.events, self.run_id)

    @cached_property
    def digest(self) -> str:
        """The digest of the events."""
        return digest_of(self.events, skews=self.skews)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each event by its id: 1 for the first."""
        return {event.id: number for number, event in enumerate(self.events, start=1)}

    @property
    def ids(self) -> dict[str, str | None]:
        """The ids for machines: the run, and the session if the user named one."""
        return {"run_id": self.run_id, "session_id": None if self.name == self.run_id else self.name}

    def seen_by(self, role: Role) -> list[Event]:
        """The events as a role may read them."""
        return [redacted(event, role) for event in self.events]


class StoreReader:
    """One store, and the terrarium that was opened on it."""

    def __init__(
        self, address: StoreAddress, store: SqliteStore | PostgresStore, terrarium: Terrarium
    ) -> None:
        self.address = address
        self.store = store
        self.terrarium = terrarium

    def run(self, name: str) -> Run:
        """The run that a name means. An imported run is refused: its creatures are not live here."""
        run_id = self.any_run(name)
        if run_id not in [run.id for run in self.terrarium.runs()]:
            advice = "Look at it, branch from it, or go to the store in which it was played."
            raise Refused(f"Run {run_id} was imported: its creatures are not live here.", advice)
        return self.terrarium.run_of(run_id)

    def any_run(self, name: str) -> str:
        """The id of the run that a name means, played here or imported."""
        here = [run.id for run in self.terrarium.runs()]
        return self._id_meant("run", name, [*self.terrarium.imported_runs(), *here])

    def _id_meant(self, noun: str, name: str, known: Sequence[str]) -> str:
        if name == LAST and not known:
            play = CommandLine.on(self.address).call("play", world_to_try())
            raise Refused("Nothing was played in this store yet.", f"Play a world first: {play}")
        return id_meant(noun, name, known)

    def parent_of(self, run: Run) -> str | None:
        """The run from which a branch or a resumed run grew, if it is in this store."""
        return run.branch_of if run.branch_of in [other.id for other in self.terrarium.runs()] else None

    async def run_or_session(self, name: str) -> tuple[str, Run | None]:
        """The id that a name means, and the run if it is that of one that was played here."""
        runs = {run.id: run for run in self.terrarium.runs()}
        known = [*await self.session_ids(), *self.terrarium.imported_runs(), *runs]
        named_id = self._id_meant("run or session", name, known)
        return named_id, runs.get(named_id)

    async def session_ids(self) -> list[str]:
        """Every session, oldest first, including imported ones."""
        return [segment.id for segment in await self.store.segments_after(0)]

    async def story(self, name: str) -> Story:
        """The story of the run or session that a name means."""
        named_id, run = await self.run_or_session(name)
        skews = skews_of(self.terrarium)
        if run is not None or named_id in self.terrarium.imported_runs():
            events = await self.terrarium.run_events(named_id)
            return Story(named_id, named_id, events, run, skews)
        events = await self.terrarium.events(named_id)
        begun = [event.run_id for event in events if event.kind == kinds.RUN_STARTED and event.run_id]
        is_one_run = bool(begun) and set(begun) == {begun[-1], *past_runs(events, begun[-1])}
        return Story(named_id, begun[-1] if is_one_run else None, events, skews=skews)

    async def session_at_end_of(self, name: str) -> str:
        """The session that a name means; of a run, the one with its end."""
        named_id, _ = await self.run_or_session(name)
        if named_id in await self.session_ids():
            return named_id
        return session_at_end(named_id, await self.terrarium.run_events(named_id))


class _NoModels:
    """The models of a reader: none."""

    def route(self, profile: str, _model: str | None = None, /) -> Route:
        """Refuse."""
        raise Refused(f"A reader asks no model, and {profile!r} was asked for.", "Play the run instead.")


@asynccontextmanager
async def open_reader(address: StoreAddress) -> AsyncIterator[StoreReader]:
    """Open a store for reading, beside the process that may play it."""
    store = address.guest()
    async with Terrarium(store, models=_NoModels()) as terrarium:
        yield StoreReader(address, store, terrarium)


def read_store(given: str | StoreAddress | None, read: Callable[[StoreReader], Awaitable[T]]) -> T:
    """Open a store, read something from it, and close it."""

    async def reading() -> T:
        async with open_reader(store_path(given)) as reader:
            return await read(reader)

    return event_loop.run(reading())


def contents_of(path: Path) -> tuple[dict[str, Any], list[str]]:
    """What a file that `export` wrote holds: its session and how many sessions and events, and the other sessions in
    which its run went on."""
    with path.open("rb") as raw:
        file = gzip.GzipFile(fileobj=raw) if raw.peek(2).startswith(b"\x1f\x8b") else raw
        head = msgspec.json.decode(file.readline(), type=FileHead)
        parts = [msgspec.json.decode(file.readline(), type=FileSegment) for _ in range(head.segments)]
    continued = {head.session, *[parent.session_id for part in parts for parent in part.segment.parents]}
    events = sum(part.upto for part in parts)
    about = {"session_id": head.session, "sessions": len(parts), "events": events}
    return about, [part.segment.id for part in parts if part.segment.id not in continued]


def event_count_at(story: Story, at: str | None) -> int:
    """How many events of a story `--at` means: a number, an event's id or the beginning of one, or `last`."""
    return event_count_meant(story.name, story.events, LAST if at is None else at)


@dataclass(frozen=True)
class NamedEvent:
    """One event, and the story in which people count it."""

    event: Event
    story: Story | None

    def number_of(self, id_of_event: str) -> int | None:
        """The number of an event in the story, if it is part of it."""
        return None if self.story is None else self.story.numbers.get(id_of_event)

    def name_of(self, id_of_event: str) -> str:
        """The name of an event for people: its number, or its id if it has none."""
        return str(self.number_of(id_of_event) or id_of_event)


def ask_about(
    store: str | None, name: str, run: str | None, ask: Callable[[Terrarium, str], Awaitable[T]]
) -> tuple[NamedEvent, T]:
    """The event that a name means, and what the terrarium answers about it."""

    async def asking(reader: StoreReader) -> tuple[NamedEvent, T]:
        named = await find_event(reader, name, run)
        return named, await ask(reader.terrarium, named.event.id)

    return read_store(store, asking)


async def find_event(reader: StoreReader, name: str, run: str | None) -> NamedEvent:
    """The event that a name means, counted in the run or session named, or else in the last run."""
    if (session_and_seq := session_and_seq_meant(name)) is not None:
        session_id = id_meant("session", session_and_seq[0], await reader.session_ids())
        event = await reader.terrarium.event(event_id(session_id, session_and_seq[1]))
        counted_in = run or await counted_in_of(reader, event)
        return NamedEvent(event, await reader.story(counted_in) if counted_in else None)
    story = await reader.story(run or LAST)
    return NamedEvent(event_meant(story.name, story.events, name), story)


async def counted_in_of(reader: StoreReader, event: Event) -> str | None:
    """The run in which an event is counted, or its session if the files do not say how that run began."""
    segments = await reader.store.segments_after(0)
    if any(segment.is_imported for segment in segments if segment.id == event.session_id):
        return event.run_id if event.run_id in reader.terrarium.imported_runs() else event.session_id
    return event.run_id if any(run.id == event.run_id for run in reader.terrarium.runs()) else None
