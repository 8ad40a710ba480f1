"""A run as lists show it: what it is, how it stands, what it cost, and where it comes from.

Always holds: it is told from folded state and at most two events, so a list of many runs reads no history. Only of a
run that came in a file are all events read, once.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final, Literal

from pydantic import BaseModel, Field

from glasshouse.events import kinds, payloads
from glasshouse.events.event import Event, usage_in
from glasshouse.events.payloads import payload_of
from glasshouse.events.recorded_fields import scenario_fields_of
from glasshouse.runtime.past.stories import Lane, Stories, Story
from glasshouse.runtime.run import Run
from glasshouse.terrarium import Terrarium, stories_of

lanes_shown_max: Final = 24
"""How many sessions the small picture of a run's lineage has."""

State = Literal["playing", "paused", "finished"]


class LaneInfo(BaseModel):
    """A session in the small picture of a run's lineage."""

    first: float = Field(description="Where it begins, from 0 to 1 of the story's time.")
    last: float = Field(description="Where it ends.")
    origin: str = Field(description="How it began: root, split, merge, fork, branch, resume or import.")
    parents: list[int] = Field(description="The places of its parents in this list.")


class RunInfo(BaseModel):
    """A run, as a list shows it."""

    id: str
    world: str
    title: str
    state: State = Field(description="`paused` also if it was not finished and nobody plays it here.")
    reason: str | None = Field(description="Why it ended; null if it has not.")
    winner: str | None
    seed: str
    rng_seed: int
    turns: int
    calls: int
    tokens: int
    usd: float | None = Field(description="Null: unknown.")
    events: int = Field(description="How many events its story has.")
    began: datetime
    ended: datetime | None
    branch_of: str | None = Field(description="The run whose past it shares.")
    branch_at: str | None = Field(description="The last event of that past.")
    prompting: int = Field(description="The number under which its models were asked at first.")
    prompting_note: str = Field(
        description="What differs when it goes on under this version's number; empty: nothing."
    )
    labels: list[str]
    is_imported: bool = Field(description="Whether it came in a file.")
    is_edited: bool = Field(description="Whether its world was edited before the start.")
    lanes: list[LaneInfo] = Field(description="Its sessions, the oldest first, for a small picture.")


async def run_info(
    terrarium: Terrarium, run: Run, state: State, labels: Iterable[str] | None = None
) -> RunInfo:
    """A run as lists show it."""
    stories = stories_of(terrarium)
    story = stories.of_run(run.id)
    mine = (await terrarium.labels()).get(run.id, ()) if labels is None else labels
    began = await terrarium.event(f"{run.session_id}.1")
    ended = None if run.ended_in is None else await terrarium.event(run.ended_in)
    return RunInfo(
        id=run.id,
        world=run.scenario,
        title=run.title,
        state=state,
        reason=run.reason,
        winner=run.winner,
        seed=run.seed,
        rng_seed=run.rng_seed,
        turns=run.turns,
        calls=run.calls,
        tokens=run.tokens,
        usd=run.usd,
        events=stories.length(story),
        began=began.created_at,
        ended=None if ended is None else ended.created_at,
        branch_of=run.branch_of,
        branch_at=run.branch_at,
        prompting=run.prompting,
        prompting_note=run.prompting_note,
        labels=list(mine),
        is_imported=False,
        is_edited=run.is_edited,
        lanes=_picture(stories, story),
    )


def _picture(stories: Stories, story: Story) -> list[LaneInfo]:
    """The newest sessions of a story, with their times from 0 to 1."""
    lanes: list[Lane] = stories.lanes(story)[-lanes_shown_max:]
    first = min(lane.first for lane in lanes) if lanes else 0
    width = max(1, max((lane.last for lane in lanes), default=0) - first)
    places = {lane.session: row for row, lane in enumerate(lanes)}
    return [
        LaneInfo(
            first=round((lane.first - first) / width, 4),
            last=round((lane.last - first) / width, 4),
            origin=lane.origin,
            parents=[places[name] for name in lane.parents if name in places],
        )
        for lane in lanes
    ]


def imported_info(run_id: str, events: tuple[Event, ...], stories: Stories) -> RunInfo:
    """A run that came in a file, told from its events."""
    own = [event for event in events if event.run_id == run_id]
    started = next((event for event in own if event.kind == kinds.RUN_STARTED), None)
    start = payloads.RunStarted() if started is None else payload_of(started, payloads.RunStarted)
    ended = next((event for event in own if event.kind == kinds.RUN_FINISHED), None)
    finished = None if ended is None else payload_of(ended, payloads.RunFinished)
    spent = usage_in(own)
    scenario = scenario_fields_of(start.scenario)
    return RunInfo(
        id=run_id,
        world=scenario.name,
        title=scenario.title,
        state="paused" if finished is None else "finished",
        reason=None if finished is None else finished.reason,
        winner=None if finished is None else finished.winner,
        seed=start.seed,
        rng_seed=start.rng_seed,
        turns=max((event.turn for event in own), default=0),
        calls=spent.calls,
        tokens=spent.tokens,
        usd=spent.usd,
        events=len(events),
        began=(started or events[0]).created_at,
        ended=None if ended is None else ended.created_at,
        branch_of=None if start.branch_of is None else start.branch_of.run_id,
        branch_at=None if start.branch_of is None else start.branch_of.at,
        prompting=start.prompting,
        prompting_note="",
        labels=[],
        is_imported=True,
        is_edited=start.is_edited,
        lanes=_picture(stories, stories.of_run(run_id)),
    )
