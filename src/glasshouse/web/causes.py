"""Why something was said, what its model was asked, and who knew of it.

Always holds: the chain of causes holds what the role may read; what a model was asked is a director's alone.
"""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from glasshouse.views.who_knew import WhoKnew
from glasshouse.views.why import Why
from glasshouse.web.access import Denied
from glasshouse.web.openapi import answered
from glasshouse.web.reading import AsRole, Source, event_in, json_of
from glasshouse.web.refusals import READS, answers

calls_listed_max: Final = 8
"""How many model calls of one event are told with their texts; the last ones."""

router = APIRouter(prefix="/api/v1/runs/{run_id}/events/{event_id}", responses=READS)


class CallInfo(BaseModel):
    """One call of a model: what it was asked, and what it answered."""

    model: str
    system: str | None = Field(description="Null: the store does not keep it any more.")
    user: str | None = Field(description="Null: the store does not keep it any more.")
    completion: str
    reasoning: str | None
    error: str
    input_tokens: int
    output_tokens: int
    usd: float | None = Field(description="Null: unknown.")
    milliseconds: float
    queued_milliseconds: float
    form: str = Field(description="How the reply was asked for: schema, json or prose.")
    finish: str
    served_by: str


class PromptInfo(BaseModel):
    """The model calls behind an event."""

    event_id: str
    profile: str | None = Field(description="The size of the model; null if none was asked.")
    calls_count: int
    calls: list[CallInfo]


@router.get("/why", responses=answered(Why))
async def why(source: Source, role: AsRole, run_id: str, event_id: str) -> Response:
    """Tell why something was said: the causes back to where it began, each with what was in sight."""
    event = await event_in(source, run_id, event_id)
    return json_of(await source.terrarium.why(event.id, role=role))


@router.get("/who-knew", responses=answered(WhoKnew))
async def who_knew(
    source: Source,
    run_id: str,
    event_id: str,
    at: Annotated[str | None, Query(max_length=200, description="As it was after this event.")] = None,
) -> Response:
    """Tell which creatures could see an event, how, and since when; those who are gone, too."""
    event = await event_in(source, run_id, event_id)
    moment = None if at is None else (await event_in(source, run_id, at)).id
    return json_of(await source.terrarium.who_knew(event.id, at=moment))


@router.get("/prompt", responses=answers(403))
async def prompt(source: Source, role: AsRole, run_id: str, event_id: str) -> PromptInfo:
    """Tell what models were asked for an event, and what they answered. A director's alone."""
    if role != "director":
        raise Denied(403, "Only a director reads what models were asked.")
    event = await event_in(source, run_id, event_id)
    text = source.terrarium.prompt
    calls = [
        CallInfo(
            model=call.model,
            system=await text(call.system),
            user=await text(call.user),
            completion=call.completion,
            reasoning=call.reasoning,
            error=call.error,
            input_tokens=call.usage.input,
            output_tokens=call.usage.output,
            usd=call.usd,
            milliseconds=call.milliseconds,
            queued_milliseconds=call.queued_ms,
            form=call.form,
            finish=call.finish,
            served_by=call.served_by,
        )
        for call in event.calls[-calls_listed_max:]
    ]
    profile = None if event.model is None else event.model.profile
    return PromptInfo(event_id=event.id, profile=profile, calls_count=len(event.calls), calls=calls)
