"""The events of a story: searched, filtered, in pages; and one by its id.

Always holds: every event is redacted for the role before anything looks for words in it, so no search tells what its
caller may not read. A request looks at a bounded number of events and then says where to go on.
"""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec
from fastapi import APIRouter, Depends, Query, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from glasshouse.errors import Refused
from glasshouse.events import codec, kinds
from glasshouse.events.event import Event, usage_in
from glasshouse.events.redaction import Role, redacted
from glasshouse.runtime.past.stories import Stories, Story
from glasshouse.web.csv_answers import cells_of, file_headers
from glasshouse.web.openapi import answered
from glasshouse.web.reading import (
    AsRole,
    Count,
    Reading,
    Source,
    event_in,
    json_of,
    runs_listed,
    search_chars_max,
)
from glasshouse.web.refusals import READS

events_searched_max: Final = 20_000
"""How many events of the store one request looks at. Then it answers what it has found, and where to go on."""
export_events_max: Final = 200_000
"""How many events of the store are looked at for one file."""
kinds_asked_max: Final = 32
"""A search for more kinds at once is refused."""
piece_bytes: Final = 64 * 1024
"""A file is sent in pieces of about this size."""

COLUMNS: Final = (
    "k", "id", "change", "created_at", "kind", "actor", "graph", "channel", "turn", "text", "tokens", "usd", "payload",
)  # fmt: skip
_SPOKEN_BESIDE: Final = frozenset({kinds.USER_INJECTED, kinds.WORLD_OBSERVED})

_AS_FILES: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "content": {name: {"schema": {"type": "string"}} for name in ("text/csv", "application/jsonl")},
    }
}

Show = Literal["speech", "topology", "world"]
Order = Literal["oldest", "newest"]
Word = Annotated[str, Query(max_length=search_chars_max)]

router = APIRouter(prefix="/api/v1/runs/{run_id}/events", responses=READS)


@dataclass(frozen=True)
class Filter:
    """Which events are wanted."""

    kinds: tuple[str, ...]
    show: Show | None
    actor: str | None
    graph: str | None
    channel: str | None
    text: str

    def wants(self, event: Event) -> bool:
        """Whether an event, as its reader may see it, is wanted."""
        return (
            (
                not self.kinds
                or any(event.kind == kind or event.kind.startswith(f"{kind}.") for kind in self.kinds)
            )
            and (self.show is None or _is_shown(event.kind, self.show))
            and (self.actor is None or event.actor == self.actor)
            and (self.graph is None or event.graph_id == self.graph)
            and (self.channel is None or event.channel == self.channel)
            and (not self.text or any(self.text in text.casefold() for text in _texts_of(event)))
        )


def _is_shown(kind: str, show: Show) -> bool:
    """Whether the feed shows a kind under this heading: what was said, how the graph changed, or the rest. Scenes and
    disturbances are both said and the world's own."""
    if kind in kinds.ENGINE:
        return show == "topology"
    if kind in _SPOKEN_BESIDE:
        return show != "topology"
    is_said = kind not in kinds.NO_LINES and kind not in kinds.INNER
    return show == ("speech" if is_said else "world")


def _texts_of(event: Event) -> Iterator[str]:
    yield from _texts_in(event.payload)
    if event.private is not None:
        yield from _texts_in(event.private)


def _texts_in(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for value in part.values():
            yield from _texts_in(value)
    elif isinstance(part, list | tuple):
        for value in part:
            yield from _texts_in(value)


def filter_of(
    kind: Annotated[
        list[Word] | None,
        Query(max_length=kinds_asked_max, description="Of one of these kinds: agent.spoke, or agent."),
    ] = None,
    show: Annotated[
        Show | None, Query(description="Speech, changes of the topology, or the world's own.")
    ] = None,
    actor: Annotated[Word | None, Query(description="Written by this creature, by its id.")] = None,
    graph: Annotated[Word | None, Query(description="In this graph, by its id.")] = None,
    channel: Annotated[Word | None, Query(description="On this channel, by its name.")] = None,
    text: Annotated[Word, Query(description="With these words, in capitals or not.")] = "",
) -> Filter:
    """What the query asks for."""
    return Filter(tuple(kind or ()), show, actor, graph, channel, text.casefold())


class Cursor(NamedTuple):
    """Where a search goes on: behind, or before, an event of the story and a position in the store."""

    k: int
    position: int

    def __str__(self) -> str:
        return f"{self.k}-{self.position}"


def cursor_of(text: str) -> Cursor:
    """The cursor that an answer gave."""
    k, _, position = text.partition("-")
    if not (k.isdecimal() and position.isdecimal() and len(text) <= 40):
        raise Refused(f"{text[:40]!r} is no cursor.", "Send what `next` of the last answer said.")
    return Cursor(int(k), int(position))


class EventInfo(BaseModel):
    """An event with its number in the story."""

    k: int
    change: int | None = Field(description="The number of its change: events of one change have the same.")
    event: dict[str, Any] = Field(description="The event, without what the role may not read.")


class EventsInfo(BaseModel):
    """A page of events."""

    events: list[EventInfo]
    next: str | None = Field(description="Send it as `cursor` for what follows; null if nothing does.")
    searched: int = Field(description="How many events of the store were looked at.")


class EventNumber(BaseModel):
    """The number of an event in a story."""

    k: int


@dataclass
class Search:
    """A search through a story, which can stop and go on."""

    stories: Stories
    story: Story
    role: Role
    wanted: Filter
    at: Cursor
    is_newest_first: bool
    upto: int
    """The number of the last event that may be found; with the newest first, that of the first one."""
    searched: int = 0
    is_over: bool = False

    async def matches(self, events_max: int) -> AsyncIterator[tuple[int, Event]]:
        """The events that match, until this many events of the store were searched."""
        async for position, page in self.stories.numbered(
            self.story, *self.at, newest_first=self.is_newest_first
        ):
            before = self.at.position
            for number, event in page:
                if self._is_beyond(number):
                    self.is_over = True
                    return
                self.at = Cursor(number, event.position or 0)
                shown = redacted(event, self.role)
                if self.wanted.wants(shown):
                    yield number, shown
            self.at = Cursor(self.at.k, position)
            self.searched += len(page) if self.story.is_imported else abs(position - before)
            if self.searched >= events_max:
                return
        self.is_over = True

    def _is_beyond(self, number: int) -> bool:
        return number < self.upto if self.is_newest_first else number > self.upto


async def search_of(
    source: Source,
    role: AsRole,
    run_id: str,
    wanted: Annotated[Filter, Depends(filter_of)],
    after: Annotated[int, Query(ge=0, le=2**53, description="Behind this event number.")] = 0,
    before: Annotated[int | None, Query(ge=1, le=2**53, description="Before this event number.")] = None,
    order: Annotated[Order, Query(description="Which come first.")] = "oldest",
    cursor: Annotated[str | None, Query(max_length=40, description="`next` of the last answer.")] = None,
) -> Search:
    """The search that the query asks for."""
    story = source.stories.of_run(run_id)
    stories = source.stories
    is_newest_first = order == "newest"
    upto = after + 1 if is_newest_first else (2**53 if before is None else before - 1)
    if cursor is not None:
        start = cursor_of(cursor)
    elif not is_newest_first:
        start = Cursor(after, await stories.position_of(story, role, after))
    else:
        end = (await source.feeds.of(run_id, role)).fold.view
        first = end["k"] + 1 if before is None or before > end["k"] else before
        at = end["position"] + 1 if first > end["k"] else await stories.position_of(story, role, first)
        start = Cursor(first, at)
    return Search(stories, story, role, wanted, start, is_newest_first, upto)


SearchAsked = Annotated[Search, Depends(search_of)]


@router.get("", response_model=EventsInfo, responses=_AS_FILES)
async def events(
    source: Source,
    search: SearchAsked,
    role: AsRole,
    run_id: str,
    limit: Count = runs_listed,
    format: Annotated[
        Literal["json", "jsonl", "csv"],
        Query(description="A page as JSON, or all that is found as a file: one JSON object a line, or CSV."),
    ] = "json",
) -> Response:
    """Search the events of a run's story. A long search stops, and `next` says where to go on."""
    if format != "json":
        return await _file(source, search, role, run_id, format)
    rows: list[dict[str, Any]] = []
    async for number, event in search.matches(events_searched_max):
        rows.append(_event_info(number, event))
        if len(rows) == limit:
            break
    following = None if search.is_over else str(search.at)
    return json_of({"events": rows, "next": following, "searched": search.searched})


async def _file(
    source: Reading, search: Search, role: Role, run_id: str, file: Literal["jsonl", "csv"]
) -> Response:
    """All that is found, written while it is read."""
    creatures = (await source.feeds.of(run_id, role)).fold.view["creatures"]
    handles = {name: creature["handle"] for name, creature in creatures.items()}
    lines = _csv_lines(search, handles) if file == "csv" else _json_lines(search)
    media_type = "text/csv; charset=utf-8" if file == "csv" else "application/jsonl"
    return StreamingResponse(lines, media_type=media_type, headers=file_headers(f"events.{file}"))


def _event_info(number: int, event: Event) -> dict[str, Any]:
    """An event as `EventInfo` describes it."""
    return {"k": number, "change": event.change, "event": msgspec.Raw(codec.encoded(event))}


async def _json_lines(search: Search) -> AsyncIterator[bytes]:
    piece = bytearray()
    async for number, event in search.matches(export_events_max):
        piece += msgspec.json.encode(_event_info(number, event)) + b"\n"
        if len(piece) >= piece_bytes:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)


async def _csv_lines(search: Search, handles: dict[str, str]) -> AsyncIterator[bytes]:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    async for number, event in search.matches(export_events_max):
        writer.writerow(cells_of(COLUMNS, _row(number, event, handles)))
        if text.tell() >= piece_bytes:
            yield text.getvalue().encode()
            text.seek(0)
            text.truncate()
    yield text.getvalue().encode()


def _row(number: int, event: Event, handles: dict[str, str]) -> dict[str, Any]:
    spent = usage_in([event])
    return {
        "k": number,
        "id": event.id,
        "change": event.change,
        "created_at": event.created_at,
        "kind": event.kind,
        "actor": handles.get(event.actor, event.actor),
        "graph": event.graph_id,
        "channel": event.channel,
        "turn": event.turn,
        "text": event.payload.get("text"),
        "tokens": spent.tokens,
        "usd": spent.usd,
        "payload": msgspec.json.encode(event.payload).decode(),
    }


@router.get("/{event_id}", responses=answered(Event))
async def event(source: Source, role: AsRole, run_id: str, event_id: str) -> Response:
    """Read one event of a run's story, as the role may read it."""
    read = await event_in(source, run_id, event_id)
    return Response(codec.encoded(redacted(read, role)), media_type="application/json")


@router.get("/{event_id}/number")
async def number(source: Source, role: AsRole, run_id: str, event_id: str) -> EventNumber:
    """Which number an event has in a run's story: what its link opens at."""
    story = source.stories.of_run(run_id)
    wanted = await source.terrarium.event(event_id)
    return EventNumber(k=await source.stories.number_of(story, role, wanted))
