"""What the page reads of a story: its view at any event, its records, its timeline and its stream. Also the parameters
that the other modules which read have in common.

Always holds: every answer is what the caller's role may read, redacted here and not on the page. Reading asks no model
and writes no event.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Final

import msgspec
from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from glasshouse.errors import UnknownName
from glasshouse.events.event import Event
from glasshouse.events.redaction import Role
from glasshouse.runtime.past.stories import Stories, Story
from glasshouse.terrarium import Terrarium, curtain_reader_of
from glasshouse.views.curtain import Curtain
from glasshouse.views.page import Record
from glasshouse.views.page import version as page_version
from glasshouse.views.page_state import EndNotes
from glasshouse.web.access import lower_of
from glasshouse.web.feeds import Feeds
from glasshouse.web.openapi import answered
from glasshouse.web.packed import PackedPages, content_tag, not_changed, packed, tagged
from glasshouse.web.refusals import READS

rows_max: Final = 1_000
"""How many runs, records or events one answer holds."""
runs_listed: Final = 100
search_chars_max: Final = 200
"""A longer search is refused."""
number_digits_max: Final = 18
"""A longer `Last-Event-ID` is taken for none."""

_encode: Final = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class Reading:
    """What the routes read from."""

    terrarium: Terrarium
    stories: Stories
    feeds: Feeds
    pages: PackedPages = field(default_factory=PackedPages)


def reading_of(request: Request) -> Reading:
    """What the app of a request reads from."""
    reading: Reading = request.app.state.reading
    return reading


def role_of(
    request: Request, role: Annotated[Role | None, Query(description="Look as this role.")] = None
) -> Role:
    """The role that a request is answered for: the one it asks for, if its token grants that."""
    return lower_of(request.state.role, role)


Source = Annotated[Reading, Depends(reading_of)]
AsRole = Annotated[Role, Depends(role_of)]
Count = Annotated[int, Query(ge=1, le=rows_max)]
Number = Annotated[int, Query(ge=0, le=2**53)]

router = APIRouter(prefix="/api/v1", responses=READS)


class TimelineInfo(BaseModel):
    """Tokens per bin and graph, what is marked, and the sessions of a story as lanes."""

    events: int
    width: int
    bins: list[dict[str, int]]
    marks: list[list[int | str]] = Field(description="Pairs: the number of an event, and what it is.")
    lanes: dict[str, Any]


@router.get("/runs/{run_id}/view", response_model=dict[str, Any])
async def view(
    request: Request,
    source: Source,
    role: AsRole,
    run_id: str,
    at: Annotated[int | None, Query(ge=0, le=2**53, description="Right after this event number.")] = None,
) -> Response:
    """The whole view of a run's story right after event number `at`; without a number, now."""
    if at is None:
        feed = await source.feeds.of(run_id, role)
        return packed(request, _encode(feed.fold.view))
    story = source.stories.of_run(run_id)
    tag = _tag(source, story, role, "view", at)
    return not_changed(request, tag) or tagged(
        request, tag, _encode((await source.stories.view_at(story, role, at)).view)
    )


@router.get("/runs/{run_id}/diffs", responses=answered(Record, many=True))
async def diffs(
    request: Request,
    source: Source,
    role: AsRole,
    run_id: str,
    after: Annotated[int, Query(ge=0, le=2**53, description="Behind this event number.")] = 0,
    limit: Count = rows_max,
) -> Response:
    """The records behind event number `after`. A full page does not change unless another run joins the story."""
    story = source.stories.of_run(run_id)
    stories = source.stories

    async def page() -> tuple[bytes, bool]:
        records = await stories.records(story, role, after, limit)
        return _encode(records), len(records) == limit

    count = limit if story.is_imported else min(limit, stories.length(story) - after)
    tag = _tag(source, story, role, after, count)
    if (answer := not_changed(request, tag)) is not None:
        return answer
    if count == limit and not story.is_imported:
        return tagged(request, tag, await source.pages.of(tag, page), is_packed=True)
    return tagged(request, tag, (await page())[0])


def _tag(source: Reading, story: Story, role: Role, *parts: object) -> str:
    """A name for an answer that changes only with these parts."""
    of_file = [str(lane.last) for lane in source.stories.lanes(story)] if story.is_imported else []
    return content_tag(story.id, str(page_version), role, *of_file, *map(str, parts))


@router.get("/runs/{run_id}/timeline", response_model=TimelineInfo)
async def timeline(request: Request, source: Source, role: AsRole, run_id: str) -> Response:
    """What a story spent along its events, and where something happened."""
    feed = await source.feeds.of(run_id, role)
    view = feed.fold.view
    line = feed.fold.behind.timeline
    parts = {"events": view["k"], "width": line.width, "bins": line.bins, "marks": line.marks}
    return packed(request, _encode({**parts, "lanes": view["lanes"]}))


@router.get("/runs/{run_id}/curtain", responses=answered(Curtain))
async def curtain(source: Source, role: AsRole, run_id: str) -> Response:
    """Tell how a run ended: in a sentence, on which lines that rests, what it revealed, and where a branch could go otherwise."""
    feed = await source.feeds.of(run_id, role)
    notes = feed.fold.behind.end_notes.get(run_id, EndNotes())
    reader = curtain_reader_of(source.terrarium)
    return json_of(await reader.curtain(run_id, role, feed.fold.view, notes))


async def event_in(source: Source, run_id: str, event_id: str) -> Event:
    """An event of a run's story, as it is in the ledger."""
    event = await source.terrarium.event(event_id)
    story = source.stories.of_run(run_id)
    if not (story.is_imported or story.has(event)):
        raise UnknownName(noun="event", name=event_id, where=run_id)
    return event


@router.get(
    "/runs/{run_id}/stream",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def stream(
    source: Source,
    role: AsRole,
    run_id: str,
    *,
    last_event_id: Annotated[str | None, Header(description="The id of the last block that came.")] = None,
    after: Annotated[
        int | None,
        Query(alias="last_event_id", ge=0, le=2**53, description="The same, where no header can be sent."),
    ] = None,
    once: Annotated[
        bool, Query(description="Only what there is now, for whoever asks again and again.")
    ] = False,
) -> Response:
    """The story as it happens: the whole view first, or what was missed since `Last-Event-ID`, then a record an event."""
    source.stories.of_run(run_id)  # A run that is not here is refused before anything is streamed.
    is_number = (
        last_event_id is not None and last_event_id.isdecimal() and len(last_event_id) <= number_digits_max
    )
    position = int(last_event_id or 0) if is_number else after
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    if once:
        feed = await source.feeds.of(run_id, role)
        return Response(source.feeds.once(feed, position), media_type="text/event-stream", headers=headers)
    return StreamingResponse(
        source.feeds.stream(run_id, role, position), media_type="text/event-stream", headers=headers
    )


def json_of(value: object) -> Response:
    """A value as an answer."""
    return Response(_encode(value), media_type="application/json")
