"""What the page does: it opens, plays, pauses, disturbs and branches runs, and changes the graph.

Always holds: only a director's command is carried out. Each goes through the same door as a program's call and returns
once its events are durable; the page shows them when they come down the stream. A world is named as it is listed, never
by a path, and no command brings code along.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from glasshouse.errors import Refused, UnknownName
from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.events.payloads import Governor, RunStarted, payload_of, with_limits
from glasshouse.events.recorded_fields import scenario_fields_of
from glasshouse.manifests.editing import WorldEdits, edited_world
from glasshouse.manifests.loading import LoadedWorld, load_world
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.world_folders import found_worlds
from glasshouse.runtime.ledger.ledger import sent_by
from glasshouse.runtime.past.stories import Stories
from glasshouse.runtime.past.what_if import WhatIf
from glasshouse.terrarium import Terrarium, guest_of
from glasshouse.views.names import session_at_end
from glasshouse.web.access import Denied
from glasshouse.web.driving import Drivers, Speed
from glasshouse.web.refusals import COMMANDS
from glasshouse.web.run_info import RunInfo, run_info
from glasshouse.world.state.values import Change

text_chars_max: Final = 4_000
"""A longer line from the page is refused."""
name_chars_max: Final = 200
"""A longer name in a command is refused."""

Name = Annotated[str, Field(min_length=1, max_length=name_chars_max)]
Text = Annotated[str, Field(min_length=1, max_length=text_chars_max)]


class Command(BaseModel):
    """The body of a command. A field that it does not have is refused."""

    model_config = ConfigDict(extra="forbid")


class Limits(Command):
    """The limits of a run. Left out: as its world says."""

    max_turns: Annotated[int, Field(ge=1, le=10_000)] | None = None
    max_total_calls: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    max_total_tokens: Annotated[int, Field(ge=1, le=10**12)] | None = None
    max_total_usd: Annotated[float, Field(ge=0, le=10_000, allow_inf_nan=False)] | None = None
    hourly_budget_usd: Annotated[float, Field(ge=0, le=10_000, allow_inf_nan=False)] | None = None
    max_wall_minutes: Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False)] | None = None
    max_calls_per_turn: Annotated[int, Field(ge=1, le=1_000_000)] | None = None

    def over(self, limits: Governor) -> Governor:
        """These limits, and for the rest the others."""
        return with_limits(limits, self.model_dump(exclude_none=True))


class Driven(Command):
    """How a run is played."""

    speed: Speed = "reading"
    continue_alone: bool = Field(
        default=False, description="Whether a run that costs something continues with no director there."
    )


class Start(Driven):
    """A new run."""

    world: Name
    seed: Annotated[str, Field(max_length=name_chars_max)] | None = None
    rng_seed: Annotated[int, Field(ge=0, le=2**53)] = 0
    limits: Limits | None = None
    models: dict[Name, Name] = Field(default_factory=dict, max_length=100)
    edits: WorldEdits | None = Field(
        default=None, description="What is changed of the world before the start."
    )


class Play(Command):
    """How to play on. Left out: as before."""

    speed: Speed | None = None
    continue_alone: bool | None = None


class Disturb(Command):
    """What the visitor says, and in which graph. Left out: in each graph of the run."""

    text: Text
    graph: Name | None = None


class Branch(Driven):
    """Where a branch begins, and what is changed in it."""

    at: Name
    disturb: Text | None = None
    replace: Text | None = None
    drop: bool = False
    limits: Limits | None = None
    play: bool = True


class Raise(Driven):
    """Higher limits for a run that a limit has stopped."""

    limits: Limits


class Edit(Command):
    """A change of the graph, named as the method of `Terrarium`; with `dry_run`, what it would do."""

    what: Literal[
        "add_creature", "remove_creature", "start_creature", "stop_creature", "connect", "disconnect", "join_channel",
        "leave_channel", "add_channel", "rename_channel", "remove_channel", "wire", "unwire", "set_parent",
        "grant_privilege", "revoke_privilege", "accept_tool",
    ]  # fmt: skip
    creature: Name | None = None
    target: Name | None = None
    graph: Name | None = None
    channel: Name | None = None
    both: bool = False
    manifest: dict[str, Any] | None = None
    run: Name | None = None
    digest: Name | None = None
    dry_run: bool = False


class Edited(BaseModel):
    """What a change did, or would do, to the graphs."""

    kind: Literal["merge", "split", "nothing"] = "nothing"
    old_graph_ids: list[str] = []
    new_graph_ids: list[str] = []
    affected_creatures: list[str] = []


@dataclass(frozen=True)
class Directing:
    """What commands act on."""

    terrarium: Terrarium
    stories: Stories
    drivers: Drivers


_BY_INBOX: Final = ("/disturb", "/edits", "/estimate")
"""What a director can do while another process plays the store."""


async def directing_of(request: Request) -> Directing:
    """What the app of a request acts on; a director's alone."""
    if request.state.role != "director":
        raise Denied(403, "Only a director does that. Ask whoever serves this page for a director's link.")
    directing: Directing = request.app.state.directing
    guest = guest_of(directing.terrarium)
    if guest is not None and not request.url.path.endswith(_BY_INBOX):
        raise await guest.refused()
    return directing


Stage = Annotated[Directing, Depends(directing_of)]
router = APIRouter(prefix="/api/v1", responses=COMMANDS)


def listed_world(name: str) -> LoadedWorld:
    """The world that is listed under a name. A path is no name."""
    folders = {world.name: world.path for world in found_worlds()}
    if name not in folders:
        raise UnknownName(noun="world", name=name, known=list(folders))
    return load_world(Path(folders[name]))


def world_meant(name: str, edits: WorldEdits | None) -> LoadedWorld:
    """The world that is listed under a name, with these edits. They bring no code along."""
    world = listed_world(name)
    return world if edits is None else edited_world(world, edits)


def limits_in(world: LoadedWorld, given: Limits | None) -> Governor:
    """The limits of a run of a world: those given, and for the rest the world's own."""
    limits = world.scenario.limits
    return limits if given is None else given.over(limits)


@router.post("/runs", status_code=201)
async def start(stage: Stage, command: Start) -> RunInfo:
    """Open a world, as it is listed or edited, and play it."""
    world = world_meant(command.world, command.edits)
    limits = None if command.limits is None else limits_in(world, command.limits)
    run = await stage.terrarium.open_world(
        world, command.seed, command.rng_seed, limits, models=command.models or None
    )
    await stage.drivers.play(run.id, command.speed, continue_alone=command.continue_alone)
    return await info_of(stage, run.id)


async def info_of(stage: Directing, run_id: str) -> RunInfo:
    """A run as it stands after a command."""
    run = stage.terrarium.run_of(run_id)
    return await run_info(stage.terrarium, run, stage.drivers.state_of(run))


@router.post("/runs/{run_id}/play")
async def play(stage: Stage, run_id: str, command: Play) -> RunInfo:
    """Play a run on, or at another speed."""
    await stage.drivers.play(run_id, command.speed, continue_alone=command.continue_alone)
    return await info_of(stage, run_id)


@router.post("/runs/{run_id}/pause")
async def pause(stage: Stage, run_id: str) -> RunInfo:
    """Pause a run, and runs that share a graph with it. Acts that have begun end first. No event is written."""
    stage.drivers.pause(run_id)
    return await info_of(stage, run_id)


@router.post("/runs/{run_id}/step")
async def step(stage: Stage, run_id: str) -> RunInfo:
    """Play one turn of a run that is not being played."""
    await stage.drivers.step(run_id)
    return await info_of(stage, run_id)


@router.post("/runs/{run_id}/next")
async def next_line(stage: Stage, run_id: str) -> RunInfo:
    """Go on to the next line of a run that is played, without waiting until the one shown can have been read. No event is
    written."""
    stage.drivers.next_line(run_id)
    return await info_of(stage, run_id)


@router.post("/runs/{run_id}/finish")
async def finish(stage: Stage, run_id: str) -> RunInfo:
    """Finish a run. Acts that have begun end first."""
    with sent_by("page"):
        await stage.drivers.finish(run_id)
    return await info_of(stage, run_id)


@router.post("/runs/{run_id}/disturb")
async def disturb(stage: Stage, run_id: str, command: Disturb) -> dict[str, str]:
    """Say something to a run. An idle run continues. If another process plays the run, the line goes to its inbox and
    `event_id` is empty."""
    guest = guest_of(stage.terrarium)
    if guest is not None:
        if command.graph is not None:
            raise Refused(
                "The inbox takes lines for whole runs.", "Say it to all, or ask who plays the store."
            )
        await guest.disturb(stage.terrarium.run_of(run_id).id, command.text)
        return {"event_id": ""}
    event = await stage.terrarium.disturb(run_id, command.text, graph_id=command.graph)
    await stage.drivers.play_on_if_disturbed(run_id)
    return {"event_id": event.id}


@router.post("/runs/{run_id}/branch", status_code=201)
async def branch(stage: Stage, run_id: str, command: Branch) -> RunInfo:
    """Play on from any event of a run, with something changed."""
    at = await stage.terrarium.event(command.at)
    story = stage.stories.of_run(run_id)
    if not (story.is_imported or story.has(at)):
        raise UnknownName(noun="event", name=command.at, where=run_id)
    limits = None
    if command.limits is not None:
        limits = command.limits.over(
            Governor() if story.is_imported else stage.terrarium.run_of(run_id).governor
        )
    change = WhatIf(disturb=command.disturb, replace=command.replace, drop=command.drop, limits=limits)
    run = await stage.terrarium.branch(at.session_id, at.id, change)
    if command.play:
        await stage.drivers.play(run.id, command.speed, continue_alone=command.continue_alone)
    return await info_of(stage, run.id)


@router.post("/runs/{run_id}/limits", status_code=201)
async def raise_limits(stage: Stage, run_id: str, command: Raise) -> RunInfo:
    """Play on a run that a limit has stopped, in a branch of it with higher limits: the limits of a run never change."""
    run = stage.terrarium.run_of(run_id)
    axis = run.axis
    if axis is None:
        raise Refused("No limit has stopped this run.", "Branch from it to give it other limits.")
    limits = command.limits.over(run.governor)
    before = getattr(run.governor, axis)
    after = getattr(limits, axis)
    if after is not None and after <= before:
        raise Refused(f"{axis} stopped this run at {before:,}.", "Give it a higher one.")
    if not run.graph_ids:
        raise Refused("Nobody of this run is left to play on.", "Branch from an event of it.")
    last = max(map(stage.terrarium.graph, run.graph_ids), key=lambda graph: graph.turn)
    raised = await stage.terrarium.branch(last.session_id, None, WhatIf(limits=limits))
    await stage.drivers.play(raised.id, command.speed, continue_alone=command.continue_alone)
    return await info_of(stage, raised.id)


@router.post("/runs/{run_id}/resume", status_code=201)
async def resume(stage: Stage, run_id: str, command: Driven) -> RunInfo:
    """Play on what is over here, in a child: a run that came in a file unfinished as it was, a finished one as its world is now
    if that is listed here, or as it was edited before the start; otherwise as it was."""
    events = await stage.terrarium.run_events(run_id)
    session_id = session_at_end(run_id, events)
    started = _start_of_finished(run_id, events)
    world = None if started is None else _listed_path(started)
    if started is not None and started.is_edited:
        child = await stage.terrarium.resume(session_id)  # Its record has the world that was edited.
    elif world is None:
        child = await stage.terrarium.resume(session_id, "as-was")
    else:
        child = await stage.terrarium.resume(session_id, world=world)
    await stage.drivers.play(child.id, command.speed, continue_alone=command.continue_alone)
    return await info_of(stage, child.id)


def _start_of_finished(run_id: str, events: Sequence[Event]) -> RunStarted | None:
    """How a run began, if it is over."""
    own = [event for event in events if event.run_id == run_id]
    if not any(event.kind == kinds.RUN_FINISHED for event in own):
        return None
    started = next((event for event in own if event.kind == kinds.RUN_STARTED), None)
    return None if started is None else payload_of(started, RunStarted)


def _listed_path(started: RunStarted) -> str | None:
    """Where the world of a run lies, if it is listed here. The path in the record is not followed: a file may name any."""
    name = scenario_fields_of(started.scenario).name
    return next((world.path for world in found_worlds() if world.name == name), None)


@router.post("/edits")
async def edit(stage: Stage, command: Edit) -> Edited:
    """Change the graph, or tell what a change would do."""
    with sent_by("page"):
        change = await _changed(stage.terrarium, command)
    if not isinstance(change, Change):
        return Edited()
    return Edited(
        kind=change.kind,
        old_graph_ids=list(change.old_graph_ids),
        new_graph_ids=list(change.new_graph_ids),
        affected_creatures=list(change.affected_creatures),
    )


_FIELDS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    **dict.fromkeys(
        ("remove_creature", "start_creature", "stop_creature", "grant_privilege", "revoke_privilege"),
        (("creature",), ()),
    ),
    **dict.fromkeys(("join_channel", "leave_channel"), (("creature", "channel"), ())),
    **dict.fromkeys(("add_channel", "remove_channel"), (("graph", "channel"), ())),
    **dict.fromkeys(("wire", "unwire"), (("creature", "target"), ())),
    "rename_channel": (("graph", "channel", "target"), ()),
    "connect": (("creature", "target"), ("channel", "both")),
    "disconnect": (("creature", "target"), ("channel",)),
    "accept_tool": (("run", "target"), ("digest",)),
}
"""The fields that each change needs, in the order of its method, and those that it may have."""


async def _changed(terrarium: Terrarium, command: Edit) -> object:
    """Call the method that a command names."""
    if command.what == "add_creature":
        return await _add_creature(terrarium, command)
    if command.what == "set_parent":  # No target: the creature has no parent any more.
        creature = _given(command, "creature")
        return await terrarium.set_parent(creature, command.target, dry_run=command.dry_run)
    needed, optional = _FIELDS[command.what]
    given = [_given(command, name) for name in needed]
    named = {name: getattr(command, name) for name in optional}
    return await getattr(terrarium, command.what)(*given, **named, dry_run=command.dry_run)


def _given(command: Edit, name: str) -> str:
    value = getattr(command, name)
    if value is None:
        raise Refused(f"{command.what} needs a {name}.", f"Send it as {name!r}.")
    return str(value)


async def _add_creature(terrarium: Terrarium, command: Edit) -> object:
    try:
        manifest = Manifest.model_validate(command.manifest or {})
    except ValidationError as wrong:
        first = wrong.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise Refused(
            f"The manifest is invalid: {field}: {first['msg']}.", "Correct it and send it again."
        ) from None
    if manifest.played_by not in (None, "visitor") or any(":" in tool for tool in manifest.tools):
        raise Refused(
            "A creature that is sent here brings no code along.", "Leave out played_by and tools from files."
        )
    return await terrarium.add_creature(
        manifest, graph=command.graph, channel=command.channel, run=command.run, dry_run=command.dry_run
    )
