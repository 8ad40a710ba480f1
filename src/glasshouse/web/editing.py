"""Worlds before their start: what a director may edit, whether the edits hold, and how they are kept as a new world.

Always holds: only a director reads a sheet, which has what creatures want. A world is named as it is listed, never by a path.
Edits bring no code along. A world is written only by a server that answers this machine alone, and over nothing.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Path, Request
from pydantic import BaseModel, Field

from glasshouse.errors import BadWorld
from glasshouse.manifests.editing import WorldEdits, judges_of, world_and_problems
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.manifest import Profile
from glasshouse.manifests.problem import field_named
from glasshouse.manifests.saving import has_code, save_world
from glasshouse.manifests.scenario import GovernorPlan
from glasshouse.manifests.validation import valid_or_complaints
from glasshouse.runtime.minds.code_beside import is_world_code_allowed
from glasshouse.terrarium import tools_of
from glasshouse.web.access import Denied
from glasshouse.web.commands import Command, Limits, Name, Stage, directing_of, listed_world, world_meant
from glasshouse.web.refusals import COMMANDS
from glasshouse.web.server import is_of_this_machine

title_chars_max: Final = 80
"""A longer title of a saved world is refused."""

World = Annotated[Name, Path(description="The world's name, as it is listed.")]

router = APIRouter(prefix="/api/v1", responses=COMMANDS)


class SeatInfo(BaseModel):
    """A creature of a cast, as a director may edit it."""

    handle: str
    persona: str
    wants: str
    tick_every: int | None = Field(
        description="It acts in every turn that is a multiple of this; null: never by itself."
    )
    together: bool
    model_profile: Profile


class Sheet(BaseModel):
    """What of a world may be edited before its start."""

    name: str
    cast: list[SeatInfo]
    judge: str = Field(description="The handle of whoever judges; empty: nobody.")
    referee: str = Field(description="The code that rules, if there is any.")
    may_save: bool = Field(description="Whether this server writes worlds.")


class Draft(Command):
    """Edits of a world, to be looked at."""

    edits: WorldEdits = WorldEdits()


class ProblemInfo(BaseModel):
    """One mistake in edits, and the field that it is about."""

    handle: str = Field(description="Whose field it is; empty: the world's.")
    field: str = Field(
        description="persona, wants, schedule, model_profile, cast, judge or limits; empty: none of them."
    )
    text: str = Field(description="What is wrong, and what to do.")


class Checked(BaseModel):
    """Whether an edited world can be played."""

    is_edited: bool
    problems: list[ProblemInfo]


class Save(Command):
    """A world to be written."""

    name: Name
    title: Annotated[str, Field(max_length=title_chars_max)] | None = None
    world: Name
    edits: WorldEdits = WorldEdits()
    seed: Annotated[str, Field(max_length=200)] | None = None
    limits: Limits | None = None


class Saved(BaseModel):
    """A world that was written."""

    name: str
    folder: str = Field(description="Where it is, from where the server was started.")
    note: str = Field(description="What it needs to be played; empty: nothing.")


@router.get("/worlds/{world}/sheet", dependencies=[Depends(directing_of)])
def sheet(request: Request, world: World) -> Sheet:
    """Tell what of a world may be edited before its start."""
    loaded = listed_world(world)
    return Sheet(
        name=world,
        cast=[_seat(loaded, handle, name) for handle, name in loaded.scenario.cast_by_handle.items()],
        judge=next(iter(judges_of(loaded)), ""),
        referee=loaded.scenario.competition.referee or "",
        may_save=may_save_here(request),
    )


def _seat(world: LoadedWorld, handle: str, name: str) -> SeatInfo:
    manifest = world.manifests[name]
    return SeatInfo(
        handle=handle,
        persona=manifest.persona,
        wants=manifest.wants,
        tick_every=manifest.schedule.tick_every,
        together=manifest.schedule.together,
        model_profile=manifest.model_profile,
    )


@router.post("/worlds/{world}/check")
def check(stage: Stage, world: World, draft: Draft) -> Checked:
    """Tell what is wrong with edits of a world, each mistake beside its field. Nothing is started."""
    loaded = listed_world(world)
    edited, problems = world_and_problems(loaded, draft.edits, tools=tools_of(stage.terrarium))
    answers = [ProblemInfo(handle=p.handle, field=p.field, text=p.text) for p in problems]
    return Checked(is_edited=edited is not loaded, problems=answers)


@router.post("/worlds", status_code=201)
async def save(stage: Stage, request: Request, command: Save) -> Saved:
    """Write a world, with edits, limits and the text it starts from, as a new one in `./worlds`. Only a server that answers this
    machine alone does that."""
    if not may_save_here(request):
        raise Denied(
            403, "Only a server that answers this machine alone writes worlds. Save it where you work."
        )
    world = _with_start(world_meant(command.world, command.edits), command)
    folder = await asyncio.to_thread(save_world, world, command.name, tools=tools_of(stage.terrarium))
    needs_leave = has_code(world) and not is_world_code_allowed()
    note = "It brings Python code along: set GLASSHOUSE_ALLOW_WORLD_CODE=1 to play it." if needs_leave else ""
    return Saved(name=command.name, folder=f"{folder.parent.name}/{folder.name}", note=note)


def may_save_here(request: Request) -> bool:
    """Whether this server is this machine's own, and whoever asks is at this machine."""
    client = request.client
    return bool(request.app.state.saves_worlds) and client is not None and is_of_this_machine(client.host)


def _with_start(world: LoadedWorld, command: Save) -> LoadedWorld:
    """The world with the limits, the seed and the title that it is saved with."""
    scenario = world.scenario
    changes: dict[str, Any] = {} if command.title is None else {"title": command.title}
    if command.seed:
        changes["seeds"] = tuple(dict.fromkeys((command.seed, *scenario.seeds)))
    if command.limits is not None:
        given = command.limits.model_dump(exclude_none=True)
        plan, faults = valid_or_complaints(
            {**scenario.governor.model_dump(mode="json"), **given}, GovernorPlan
        )
        if plan is None:
            raise BadWorld("; ".join(f"{field_named(fault.at)}: {fault.text}" for fault in faults))
        changes["governor"] = plan
    return replace(world, scenario=scenario.model_copy(update=changes))
