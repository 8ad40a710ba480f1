"""What the page reads of runs: lists, views, records, timelines, events, lineage, and the stream of a story.

Always holds: every answer is what the caller's role may read, redacted here and not on the page. Reading asks no model
and writes no event.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final

import msgspec
from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from glasshouse.errors import UnknownName
from glasshouse.events.event import Event
from glasshouse.events.redaction import Role
from glasshouse.runtime.past.stories import Stories
from glasshouse.terrarium import Terrarium
from glasshouse.web.access import lower_of
from glasshouse.web.feeds import Feeds

rows_max: Final = 1_000
"""How many runs, records or events one answer holds."""
runs_listed: Final = 100
search_chars_max: Final = 200

_encode: Final = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class Reading:
    """What the routes read from."""

    terrarium: Terrarium
    stories: Stories
    feeds: Feeds


def reading_of(request: Request) -> Reading:
    """What the app of a request reads from."""
    found: Reading = request.app.state.reading
    return found


def role_of(
    request: Request, role: Annotated[Role | None, Query(description="Look as this role.")] = None
) -> Role:
    """The role that a request is answered for: the one it asks for, if its token grants that."""
    return lower_of(request.state.role, role)


Source = Annotated[Reading, Depends(reading_of)]
AsRole = Annotated[Role, Depends(role_of)]
Count = Annotated[int, Query(ge=1, le=rows_max)]
Number = Annotated[int, Query(ge=0, le=2**53)]

router = APIRouter(prefix="/api/v1")


class TimelineInfo(BaseModel):
    """Tokens per bin and graph, what is marked, and the sessions of a story as lanes."""

    events: int
    width: int
    bins: list[dict[str, int]]
    marks: list[tuple[int, str]]
    lanes: dict[str, Any]


@router.get("/runs/{run_id}/view")
async def view(source: Source, role: AsRole, run_id: str, at: Number | None = None) -> Response:
    """The whole view of a run's story right after event number `at`; without a number, now."""
    if at is None:
        feed = await source.feeds.of(run_id, role)
        return json_of(feed.fold.view)
    fold = await source.stories.view_at(source.stories.of_run(run_id), role, at)
    return json_of(fold.view)


@router.get("/runs/{run_id}/diffs")
async def diffs(
    source: Source, role: AsRole, run_id: str, after: Number = 0, limit: Count = rows_max
) -> Response:
    """The records behind event number `after`. A full page never changes, so it may be kept for ever."""
    story = source.stories.of_run(run_id)
    records = await source.stories.records(story, role, after, limit)
    answer = json_of(records)
    is_full = len(records) == limit
    answer.headers["cache-control"] = "private, max-age=31536000, immutable" if is_full else "no-store"
    answer.headers["etag"] = f'"{story.id}-{role}-{after}-{len(records)}"'
    return answer


@router.get("/runs/{run_id}/timeline")
async def timeline(source: Source, role: AsRole, run_id: str) -> TimelineInfo:
    """What a story spent along its events, and where something happened."""
    feed = await source.feeds.of(run_id, role)
    told = feed.fold.behind.timeline
    return TimelineInfo(
        events=feed.fold.view["k"],
        width=told.width,
        bins=told.bins,
        marks=told.marks,
        lanes=feed.fold.view["lanes"],
    )


async def event_in(source: Source, run_id: str, event_id: str) -> Event:
    """An event of a run's story, as it is in the ledger."""
    found = await source.terrarium.event(event_id)
    story = source.stories.of_run(run_id)
    if not (story.is_imported or story.has(found)):
        raise UnknownName(noun="event", name=event_id, where=run_id)
    return found


@router.get("/runs/{run_id}/stream")
async def stream(
    source: Source,
    role: AsRole,
    run_id: str,
    last_event_id: Annotated[str | None, Header()] = None,
    after: Annotated[int | None, Query(alias="last_event_id", ge=0, le=2**53)] = None,
) -> StreamingResponse:
    """The story as it happens: the whole view first, or what was missed since `Last-Event-ID`, then a record an event."""
    feed = await source.feeds.of(run_id, role)
    position = int(last_event_id) if last_event_id is not None and last_event_id.isdecimal() else after
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(
        source.feeds.stream(feed, position), media_type="text/event-stream", headers=headers
    )


def json_of(value: object) -> Response:
    """A value as an answer."""
    return Response(_encode(value), media_type="application/json")
