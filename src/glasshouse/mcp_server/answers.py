"""What the tools answer: small values with texts of bounded length, as a spectator may read them.

Always holds: every text and every list has a bound. An assistant reads the names and descriptions of the fields, in the
schema of the answer.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, Field

from glasshouse.events.event import text_of
from glasshouse.events.payloads import RunPaused, total_usd_max
from glasshouse.events.redaction import Role
from glasshouse.manifests.problem import Problem
from glasshouse.runtime.run import Run
from glasshouse.views.page import Record, cut
from glasshouse.views.who_knew import WhoKnew
from glasshouse.views.why import Link, Why
from glasshouse.web.starting import WorldInfo

ROLE: Final[Role] = "spectator"
"""Assistants read what everybody may read: no thought, no mood, no prompt, nothing sealed."""
answer_chars_max: Final = 1_000
"""The length of one text in an answer."""
lines_listed_max: Final = 100
"""One answer of `read_stage` has no more; the next cursor goes on there."""
prompt_lines_listed_max: Final = 8
"""How many lines that were in sight are listed for one event; the newest."""
knowers_listed_max: Final = 100
"""`who_knew` lists no more; it counts all."""
worlds_listed_max: Final = 100
"""`list_worlds` lists no more; it counts all."""
names_listed_max: Final = 32
"""How many creatures or seeds of a world are listed."""
problems_listed_max: Final = 50
"""`check_world` lists no more; it counts all."""
runs_listed_max: Final = 50
"""`runs` lists the newest; it counts all."""

Words = Annotated[str, BeforeValidator(lambda text: cut(text, answer_chars_max))]

_UNSAID: Final = frozenset({"session", "channel", "wire", "turn", "thought", "silence", "copy"})
"""What is no news to somebody who follows the play."""


class World(BaseModel):
    """A world that can be played."""

    name: str = Field(description="What `play` takes.")
    title: Words
    synopsis: Words
    creatures: list[str]
    seeds: list[Words] = Field(description="What a play may start from. Any other text will do, too.")
    max_turns: int | None
    disturbances: list[Words] = Field(description="What a visitor might say.")
    problem: Words | None = Field(description="Why it cannot be played, if it cannot.")


class Worlds(BaseModel):
    """The worlds that can be played by name."""

    count: int
    worlds: list[World]


class Checked(BaseModel):
    """What is wrong with a world's files."""

    world: str
    is_sound: bool
    problems_count: int
    problems: list[Words] = Field(description="Each with file, line and field.")
    warnings: list[Words] = Field(description="It can be played, and may surprise.")


class Played(BaseModel):
    """A run, and how it stands."""

    run: str = Field(description="Its id, which the other tools take.")
    world: str
    title: Words
    state: Literal["playing", "paused", "finished"]
    is_played_here: bool = Field(description="Whether this server plays it now.")
    reason: Words | None = Field(description="Why it ended or is paused.")
    winner: Words | None
    seed: Words
    turns: int
    calls: int
    usd: float | None = Field(description="What it has cost; null: unknown.")
    max_turns: int | None
    max_calls: int | None
    max_usd: float | None = Field(description="At most this much in all; null: no limit.")
    hourly_usd: float | None = Field(description="At most this much in any hour; null: no limit.")
    branch_of: str | None
    branch_at: str | None
    prompting_note: str = Field(
        description="What differs when it goes on under another prompting number; empty: nothing."
    )


class Runs(BaseModel):
    """The runs of the store, the newest first."""

    count: int
    runs: list[Played]


class Line(BaseModel):
    """Something that happened on the stage."""

    event: str = Field(description="Its id, which `why`, `who_knew` and `branch` take.")
    kind: str = Field(description="line, judge, visitor, world, merge, split, error, tool, creature or run.")
    who: str
    turn: int
    channel: str | None
    text: Words


class Stage(BaseModel):
    """What happened since the cursor."""

    run: Played
    lines: list[Line]
    cursor: int = Field(description="Give it back to read what comes next.")
    has_more: bool = Field(description="Whether there is more to read right now.")


class Disturbed(BaseModel):
    """What became of a disturbance."""

    run: str
    event: str | None = Field(description="The event; null if another process will say it.")
    note: str


class SeenLine(BaseModel):
    """A line that was in sight when somebody spoke."""

    event: str
    who: str
    text: Words


class Cause(BaseModel):
    """An event on the way back to where it began."""

    event: str
    kind: str
    who: str
    turn: int
    text: Words
    came: str | None = Field(description="How its cause reached it: turn, channel, graph, wire, tool, asked.")
    cited_by: str = Field(description="The verdict that cites it, if it is listed for that; otherwise empty.")
    in_sight: list[SeenLine] = Field(description="The newest lines that its model was shown.")
    in_sight_count: int


class Causes(BaseModel):
    """Why something was said: the event first, then its cause, and so on; after a verdict, the lines that it cites."""

    event: str
    began: str = Field(description="disturbance, opening, turn, world, outside, or further.")
    causes: list[Cause]


class Knower(BaseModel):
    """A creature that could see an event."""

    who: str
    how: str = Field(description="said, heard, present, handed, joined, merged or reborn.")
    since: str = Field(description="The event since which it knew.")
    until: str | None = Field(description="The event by which it left; null if it is still there.")


class Knowers(BaseModel):
    """The creatures that could see an event."""

    event: str
    count: int
    knowers: list[Knower]


def world_of(info: WorldInfo) -> World:
    """A world as it is listed."""
    return World(
        name=info.name,
        title=info.title,
        synopsis=info.synopsis,
        creatures=[member.handle for member in info.cast][:names_listed_max],
        seeds=info.seeds[:names_listed_max],
        max_turns=None if info.limits is None else info.limits.max_turns,
        disturbances=info.disturbances[:names_listed_max],
        problem=info.problem,
    )


def checked_of(name: str, folder: str, problems: list[Problem], warnings: list[Problem]) -> Checked:
    """What is wrong with a world, without the path of its folder."""

    def listed(some: list[Problem]) -> list[str]:
        return [str(problem).replace(f"{folder}/", "") for problem in some[:problems_listed_max]]

    return Checked(
        world=name,
        is_sound=not problems,
        problems_count=len(problems),
        problems=listed(problems),
        warnings=listed(warnings),
    )


def played_of(run: Run, *, is_played_here: bool) -> Played:
    """A run, as it stands."""
    limits = run.governor
    return Played(
        run=run.id,
        world=run.scenario,
        title=run.title,
        state=run.status,
        is_played_here=is_played_here,
        reason=run.reason if run.paused is None else _reason_of(run.paused),
        winner=run.winner,
        seed=run.seed,
        turns=run.turns,
        calls=run.calls,
        usd=run.usd,
        max_turns=limits.max_turns,
        max_calls=limits.max_total_calls,
        max_usd=total_usd_max(limits),
        hourly_usd=limits.hourly_budget_usd,
        branch_of=run.branch_of,
        branch_at=run.branch_at,
        prompting_note=run.prompting_note,
    )


def _reason_of(paused: RunPaused) -> str:
    # The text of an outage may name a server.
    return "A model cannot be reached." if paused.is_outage else paused.reason


def lines_of(records: list[Record]) -> list[tuple[int, Line]]:
    """The records that tell something, each with its number."""
    return [
        (
            record.k,
            Line(
                event=record.id,
                kind=record.row.icon,
                who=record.row.actor,
                turn=record.row.turn,
                channel=record.row.channel,
                text=record.row.text,
            ),
        )
        for record in records
        if record.row.text and record.row.icon not in _UNSAID
    ]


def causes_of(why: Why) -> Causes:
    """Why something was said."""
    return Causes(event=why.event_id, began=why.began, causes=list(map(_cause_of, why.links)))


def _cause_of(link: Link) -> Cause:
    seen = link.lines[-prompt_lines_listed_max:]
    return Cause(
        event=link.event.id,
        kind=link.event.kind,
        who=link.who,
        turn=link.event.turn,
        text=text_of(link.event),
        came=link.came,
        cited_by=link.cited_by,
        in_sight=[SeenLine(event=line.event_id, who=line.who, text=line.text) for line in seen],
        in_sight_count=len(link.lines),
    )


def knowers_of(who_knew: WhoKnew) -> Knowers:
    """Who knew of an event."""
    listed = who_knew.knowers[:knowers_listed_max]
    return Knowers(
        event=who_knew.event_id,
        count=who_knew.count,
        knowers=[
            Knower(who=knower.handle, how=knower.how, since=knower.since, until=knower.until)
            for knower in listed
        ],
    )
