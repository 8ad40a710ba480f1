"""The archive: lists of runs, searched and filtered; their labels, their lineage, and who won how often.

Always holds: an answer is bounded whatever the store holds. A run whose cost is unknown is in no list of a cost.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, Field

from glasshouse.events.redaction import Role
from glasshouse.runtime.archive import label_chars_max, labels_max
from glasshouse.runtime.past.stories import Lane, Stories, Story
from glasshouse.runtime.results import branches_left_out
from glasshouse.runtime.run import Run
from glasshouse.terrarium import Terrarium, folded_of
from glasshouse.web.commands import Command, Stage
from glasshouse.web.csv_answers import AS_CSV, csv_of
from glasshouse.web.driving import Drivers
from glasshouse.web.reading import (
    AsRole,
    Count,
    Number,
    Reading,
    Source,
    json_of,
    runs_listed,
    search_chars_max,
)
from glasshouse.web.refusals import COMMANDS, READS
from glasshouse.web.run_info import RunInfo, State, imported_info, run_info

sessions_listed_max: Final = 1_000
"""How many sessions a lineage lists; of more, the newest."""
family_runs_max: Final = 500
"""How many branches a lineage lists."""
forks_shown_max: Final = 24
"""Of how many branches a lineage tells where they leave the story."""
imported_listed_max: Final = 256
"""How many runs that came in files are listed."""
times_kept_max: Final = 10_000
"""Of how many runs it is kept when they began."""

Label = Annotated[str, Field(min_length=1, max_length=label_chars_max)]
Format = Annotated[Literal["json", "csv"], Query(description="How the list is answered.")]

router = APIRouter(prefix="/api/v1", responses=READS)

RUN_COLUMNS: Final = tuple([name for name in RunInfo.model_fields if name != "lanes"])
STANDING_COLUMNS: Final = (
    "name", "played", "won", "lost", "no_contest", "win_rate", "calls", "tokens", "usd",
)  # fmt: skip


class Wanted(BaseModel):
    """Which runs a list shows."""

    search: str
    world: str | None
    state: State | None
    since: datetime | None
    until: datetime | None
    usd_min: float | None
    usd_max: float | None
    label: list[str]


def wanted_of(
    search: Annotated[
        str, Query(max_length=search_chars_max, description="In its id, title, world, seed or labels.")
    ] = "",
    world: Annotated[str | None, Query(max_length=search_chars_max, description="Of this world.")] = None,
    state: Annotated[State | None, Query(description="In this state.")] = None,
    since: Annotated[datetime | None, Query(description="Began then or later. UTC unless it says.")] = None,
    until: Annotated[datetime | None, Query(description="Began before then.")] = None,
    usd_min: Annotated[float | None, Query(ge=0, le=1e9, description="Cost at least this.")] = None,
    usd_max: Annotated[float | None, Query(ge=0, le=1e9, description="Cost at most this.")] = None,
    label: Annotated[list[Label] | None, Query(max_length=labels_max, description="Has all these.")] = None,
) -> Wanted:
    """What the query of a list asks for."""
    return Wanted(
        search=search.lower(),
        world=world,
        state=state,
        since=_in_utc(since),
        until=_in_utc(until),
        usd_min=usd_min,
        usd_max=usd_max,
        label=label or [],
    )


def _in_utc(moment: datetime | None) -> datetime | None:
    return moment if moment is None or moment.tzinfo is not None else moment.replace(tzinfo=UTC)


WantedRuns = Annotated[Wanted, Depends(wanted_of)]


class Runs:
    """The runs of a store as lists show them. What it keeps is a cache."""

    def __init__(self, terrarium: Terrarium, stories: Stories, drivers: Drivers) -> None:
        self._terrarium = terrarium
        self._stories = stories
        self.drivers = drivers
        self._imported_cache: dict[str, tuple[list[Lane], RunInfo]] = {}
        self._began_cache: OrderedDict[str, datetime] = OrderedDict()

    async def listed(self, wanted: Wanted, limit: int, offset: int) -> tuple[int, list[RunInfo]]:
        """How many runs are wanted, and a page of them: the newest first, then those that came in files."""
        labels = await self._terrarium.labels()
        own = [run for run in reversed(self._terrarium.runs()) if self._is_wanted(run, wanted, labels)]
        if wanted.since is not None or wanted.until is not None:
            own = [run for run in own if _is_between(await self._began(run), wanted)]
        imported = [
            info for info in await self._imported(labels) if _is_wanted_info(info, wanted)
        ]  # There are few, and what is known of them is kept.
        page: list[RunInfo] = []
        rows: list[Run | RunInfo] = [*own, *imported]
        for row in rows[offset : offset + limit]:
            if isinstance(row, Run):
                state = self.drivers.state_of(row)
                page.append(await run_info(self._terrarium, row, state, labels.get(row.id, ())))
            else:
                page.append(row)
        return len(own) + len(imported), page

    def _is_wanted(self, run: Run, wanted: Wanted, labels: Mapping[str, tuple[str, ...]]) -> bool:
        mine = labels.get(run.id, ())
        words = f"{run.id} {run.title} {run.scenario} {run.seed} {' '.join(mine)}"
        return _fits(wanted, words, run.scenario, self.drivers.state_of(run), run.usd, mine)

    async def _began(self, run: Run) -> datetime:
        kept = self._began_cache.get(run.id)
        if kept is None:
            kept = (await self._terrarium.event(f"{run.session_id}.1")).created_at
            self._began_cache[run.id] = kept
            if len(self._began_cache) > times_kept_max:
                self._began_cache.popitem(last=False)
        return kept

    async def _imported(self, labels: Mapping[str, tuple[str, ...]]) -> list[RunInfo]:
        infos = []
        for run_id in self._terrarium.imported_runs()[-imported_listed_max:]:
            lanes = self._stories.lanes(self._stories.of_run(run_id))
            kept, info = self._imported_cache.get(run_id, (None, None))
            if info is None or kept != lanes:  # A later file may have brought more of it.
                info = imported_info(run_id, await self._terrarium.run_events(run_id), self._stories)
                self._imported_cache[run_id] = lanes, info
            infos.append(info.model_copy(update={"labels": list(labels.get(run_id, ()))}))
        return infos


def _fits(
    wanted: Wanted, words: str, world: str, state: str, usd: float | None, labels: tuple[str, ...]
) -> bool:
    is_cost_asked = wanted.usd_min is not None or wanted.usd_max is not None
    return (
        (wanted.world is None or world == wanted.world)
        and (wanted.state is None or state == wanted.state)
        and wanted.search in words.lower()
        and set(wanted.label) <= set(labels)
        and not (is_cost_asked and usd is None)
        and (wanted.usd_min is None or (usd or 0) >= wanted.usd_min)
        and (wanted.usd_max is None or (usd or 0) <= wanted.usd_max)
    )


def _is_between(began: datetime, wanted: Wanted) -> bool:
    return (wanted.since is None or began >= wanted.since) and (wanted.until is None or began < wanted.until)


def _is_wanted_info(info: RunInfo, wanted: Wanted) -> bool:
    words = f"{info.id} {info.title} {info.world} {info.seed} {' '.join(info.labels)}"
    fits = _fits(wanted, words, info.world, info.state, info.usd, tuple(info.labels))
    return fits and _is_between(info.began, wanted)


def runs_of(request: Request) -> Runs:
    """The lists of the app of a request."""
    runs: Runs = request.app.state.runs
    return runs


Lists = Annotated[Runs, Depends(runs_of)]


@router.get("/runs", response_model=list[RunInfo], responses=AS_CSV)
async def runs(
    lists: Lists,
    wanted: WantedRuns,
    limit: Count = runs_listed,
    offset: Number = 0,
    format: Format = "json",
) -> Response:
    """List the runs of the store, the newest first. The header X-Total-Count says how many there are in all."""
    total, page = await lists.listed(wanted, limit, offset)
    answer = _as_csv("runs", page) if format == "csv" else _as_json(page)
    answer.headers["x-total-count"] = str(total)
    return answer


class ArchiveInfo(BaseModel):
    """A page of the archive, and what it can be filtered by."""

    total: int = Field(description="How many runs are wanted in all.")
    runs: list[RunInfo]
    worlds: dict[str, int] = Field(description="Every world that was played, with the number of its runs.")
    labels: dict[str, int] = Field(description="Every label, with the number of runs that have it.")


@router.get("/archive", response_model=ArchiveInfo, responses=AS_CSV)
async def archive(
    lists: Lists,
    source: Source,
    wanted: WantedRuns,
    limit: Count = runs_listed,
    offset: Number = 0,
    format: Format = "json",
) -> Response:
    """List the runs of the store with what they can be filtered by."""
    total, page = await lists.listed(wanted, limit, offset)
    if format == "csv":
        return _as_csv("archive", page)
    worlds = dict[str, int]()
    labels = dict[str, int]()
    for run in source.terrarium.runs():
        worlds[run.scenario] = worlds.get(run.scenario, 0) + 1
    for mine in (await source.terrarium.labels()).values():
        for label in mine:
            labels[label] = labels.get(label, 0) + 1
    return _as_json(ArchiveInfo(total=total, runs=page, worlds=worlds, labels=dict(sorted(labels.items()))))


def _as_json(value: BaseModel | list[RunInfo]) -> Response:
    plain = (
        [info.model_dump(mode="json") for info in value]
        if isinstance(value, list)
        else value.model_dump(mode="json")
    )
    return json_of(plain)


def _as_csv(name: str, page: list[RunInfo]) -> Response:
    rows = [{**info.model_dump(), "labels": ", ".join(info.labels)} for info in page]
    return csv_of(name, RUN_COLUMNS, rows)


class Labels(Command):
    """The labels of a run, in place of those it had."""

    labels: list[Label] = Field(max_length=labels_max)


class LabelsGiven(BaseModel):
    """The labels that a run has now."""

    labels: list[str]


@router.post("/runs/{run_id}/labels", responses=COMMANDS)
async def label(stage: Stage, run_id: str, command: Labels) -> LabelsGiven:
    """Give a run these labels in place of those it had. No event is written."""
    return LabelsGiven(labels=list(await stage.terrarium.label_run(run_id, command.labels)))


class SessionInfo(BaseModel):
    """A session of a story: one line of its lineage."""

    session: str
    graph: str
    origin: str = Field(description="How it began: root, split, merge, fork, branch, resume or import.")
    first: int = Field(description="The logical time of its first event in this story.")
    last: int
    parents: list[str]


class RelatedRun(BaseModel):
    """A run that shares its past with others."""

    id: str
    title: str
    state: State
    winner: str | None
    branch_of: str | None
    branch_at: str | None = Field(description="The last event of the past that it shares.")
    leaves_at: int | None = Field(
        description="The number of the last event that it shares with the story asked for; null if that is not near."
    )
    session: str | None = Field(description="The session of that event.")
    events: int = Field(description="How many events its story has.")
    labels: list[str]


class LineageInfo(BaseModel):
    """The sessions of a run's story, and all runs that grew from the same beginning."""

    run_id: str
    sessions: list[SessionInfo]
    sessions_count: int
    family: list[RelatedRun]
    family_count: int


@router.get("/runs/{run_id}/lineage")
async def lineage(source: Source, lists: Lists, role: AsRole, run_id: str) -> LineageInfo:
    """Tell how the sessions of a run's story came about, and which runs branched from one another."""
    story = source.stories.of_run(run_id)
    lanes = source.stories.lanes(story)
    family = _family(run_id, source.terrarium.runs())
    labels = await source.terrarium.labels()
    leaves = await _leaves(source, role, story, run_id, family)
    return LineageInfo(
        run_id=run_id,
        sessions=[SessionInfo(**_plain(lane)) for lane in lanes[-sessions_listed_max:]],
        sessions_count=len(lanes),
        family=[
            RelatedRun(
                id=run.id,
                title=run.title,
                state=lists.drivers.state_of(run),
                winner=run.winner,
                branch_of=run.branch_of,
                branch_at=run.branch_at,
                leaves_at=leaves.get(run.id, (None, None))[0],
                session=leaves.get(run.id, (None, None))[1],
                events=source.stories.length(source.stories.of_run(run.id)),
                labels=list(labels.get(run.id, ())),
            )
            for run in family[:family_runs_max]
        ],
        family_count=len(family),
    )


async def _leaves(
    source: Reading, role: Role, story: Story, run_id: str, family: list[Run]
) -> dict[str, tuple[int, str]]:
    """Where other runs leave a story: a branch where it began, an ancestor where the story branched from it."""
    by_id = {run.id: run for run in family}
    at: dict[str, str] = {}
    child = by_id.get(run_id)
    while child is not None and child.branch_of is not None and child.branch_of not in at:
        at[child.branch_of] = child.branch_at or ""
        child = by_id.get(child.branch_of)
    for run in family:
        if run.id != run_id and run.branch_at is not None:
            at.setdefault(run.id, run.branch_at)
    forks: dict[str, tuple[int, str]] = {}
    for name, event_id in at.items():
        if len(forks) == forks_shown_max:
            break
        event = await source.terrarium.event(event_id)
        if story.has(event):
            forks[name] = await source.stories.number_of(story, role, event), event.session_id
    return forks


def _plain(lane: Lane) -> dict[str, Any]:
    return {**lane._asdict(), "parents": list(lane.parents)}


def _family(run_id: str, runs: tuple[Run, ...]) -> list[Run]:
    """The runs that grew from the same beginning as this one, the oldest first."""
    by_id = {run.id: run for run in runs}

    def beginning(name: str) -> str:
        seen = set[str]()  # Runs of two houses may have the same id.
        while (run := by_id.get(name)) is not None and run.branch_of is not None and name not in seen:
            seen.add(name)
            name = run.branch_of
        return name

    mine = beginning(run_id)
    return [run for run in runs if beginning(run.id) == mine]


class StandingInfo(BaseModel):
    """One line of the leaderboard."""

    name: str
    played: int
    won: int
    lost: int
    no_contest: int
    win_rate: float = Field(description="From 0 to 1.")
    calls: int
    tokens: int
    usd: float | None = Field(description="Null: unknown.")


class LeaderboardInfo(BaseModel):
    """Who won how often."""

    by: Literal["creature", "team", "model"]
    standings: list[StandingInfo]
    branches_left_out: int = Field(description="Runs that would count the result of another one again.")


@router.get("/leaderboard", response_model=LeaderboardInfo, responses=AS_CSV)
async def leaderboard(
    source: Source,
    *,
    by: Annotated[Literal["creature", "team", "model"], Query(description="What a line is.")] = "creature",
    world: Annotated[
        str | None, Query(max_length=search_chars_max, description="Of this world alone.")
    ] = None,
    branches: Annotated[bool, Query(description="Whether branches count, too.")] = False,
    limit: Count = runs_listed,
    format: Format = "json",
) -> Response:
    """Tell who won how often, over all finished contests of the store, the best first."""
    terrarium = source.terrarium
    lines = [
        StandingInfo(
            **{name: getattr(line, name) for name in ("name", "played", "won", "lost", "no_contest")},
            win_rate=round(line.win_rate, 4),
            calls=line.usage.calls,
            tokens=line.usage.tokens,
            usd=line.usage.usd,
        )
        for line in terrarium.leaderboard(by, world=world, branches=branches)[:limit]
    ]
    if format == "csv":
        return csv_of("leaderboard", STANDING_COLUMNS, [line.model_dump() for line in lines])
    left_out = 0 if branches else len(branches_left_out(folded_of(terrarium), world=world))
    return _as_json(LeaderboardInfo(by=by, standings=lines, branches_left_out=left_out))
