"""The studio: a world as texts that a director edits, checks, rehearses, saves and performs (ADR 0140).

Always holds: a director's alone. A world is named as it is listed, never by a path. Texts bring no code along, and code beside a world
can be neither read nor edited. A rehearsal is played by the offline troupe beside the store; a world is written only by a server
that answers this machine alone, over its own files only in `./worlds`.
"""

from __future__ import annotations

import asyncio
from pathlib import Path as FilePath
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Depends, Path, Request
from pydantic import BaseModel, Field

from glasshouse.errors import BadWorld, Refused, UnknownName
from glasshouse.events.event import Event
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.problem import Problem, likely_name_in
from glasshouse.manifests.texts import (
    digest_of_texts,
    save_texts,
    save_texts_as,
    text_bytes_max,
    texts_max,
    texts_of,
    world_and_problems,
)
from glasshouse.manifests.world_folders import FoundWorld, Where, folder_of, found_worlds
from glasshouse.terrarium import tools_of
from glasshouse.turns.moment.prompt import CONTEXT_TOKENS, REPLY_TOKENS
from glasshouse.web.access import Denied
from glasshouse.web.commands import Command, Directing, Driven, Name, Stage, directing_of, info_of
from glasshouse.web.editing import World, may_save_here
from glasshouse.web.refusals import COMMANDS
from glasshouse.web.rehearsals import Rehearsal, Rehearsals, sections_of
from glasshouse.web.run_info import RunInfo

turns_usual: Final = 20
turns_max: Final = 60
"""How many turns of each graph a rehearsal has at most."""
problems_told_max: Final = 100
"""How many mistakes of a world are told at once."""

Text = Annotated[str, Field(max_length=text_bytes_max)]
Texts = Annotated[
    dict[Name, Text],
    Field(max_length=texts_max, description="Every file, by its path from the world's folder."),
]
RehearsalName = Annotated[Name, Path(description="The rehearsal, as it was told.")]

router = APIRouter(prefix="/api/v1", responses=COMMANDS)


class TextInfo(BaseModel):
    """A file of a world."""

    path: str = Field(description="From the world's folder.")
    text: str


class TextsInfo(BaseModel):
    """A world as texts."""

    name: str
    where: Where
    folder: str
    files: list[TextInfo]
    digest: str = Field(description="Names these texts, so that a later save is over nothing else.")
    saves: Literal["over", "new", ""] = Field(
        description="How this server saves it: over its files, as a new world, or not at all."
    )


class EditedTexts(Command):
    """A world as it is edited."""

    texts: Texts


class Rehearse(EditedTexts):
    """A rehearsal to be played."""

    seed: Annotated[str, Field(max_length=200)] | None = None
    rng_seed: Annotated[int, Field(ge=0, le=2**53)] = 0
    turns: Annotated[int, Field(ge=1, le=turns_max)] = turns_usual
    after: Name | None = Field(
        default=None, description="The rehearsal before, whose record answers what is asked again."
    )


class Perform(EditedTexts, Driven):
    """An edited world to be played in the store."""

    seed: Annotated[str, Field(max_length=200)] | None = None
    rng_seed: Annotated[int, Field(ge=0, le=2**53)] = 0


class SaveTexts(EditedTexts):
    """Texts to be written."""

    digest: Name = Field(description="That of the texts as they were read.")
    name: Name | None = Field(default=None, description="The name of a new world. Left out: over the files.")


class Mistake(BaseModel):
    """One mistake, and its place."""

    path: str
    line: int = Field(description="0: no line is meant.")
    column: int
    field: str
    text: str = Field(description="What is wrong, and what to do.")
    wrong: str = Field("", description="The name that nothing has, if another was probably meant.")
    instead: str = Field("", description="The name that was probably meant.")


class CheckedTexts(BaseModel):
    """Whether edited texts are a world that can be played."""

    is_edited: bool = Field(description="Whether it would be another world than the one on the disk.")
    problems: list[Mistake]


class RehearsedLine(BaseModel):
    """A line of a rehearsal."""

    k: int = Field(description="The number of its event.")
    id: str
    turn: int
    voice: str
    who: str
    kind: str
    channel: str | None
    text: str
    is_kept: bool = Field(description="Whether its words come from the record of the rehearsal before.")
    has_prompt: bool = Field(description="Whether a model was asked for it.")


class RehearsalInfo(BaseModel):
    """A rehearsal."""

    id: str
    title: str
    seed: str
    rng_seed: int
    turns: int
    calls: int
    new_calls: int = Field(description="How many calls the record had no answer to.")
    events: int
    differs_at: int | None = Field(
        description="The place of the first line that differs from the rehearsal before; null: none does."
    )
    is_over: bool
    lines: list[RehearsedLine]


class SectionInfo(BaseModel):
    """A part of a prompt."""

    heading: str
    text: str
    tokens: int


class RehearsedPrompt(BaseModel):
    """What a model was asked for an event of a rehearsal."""

    event_id: str
    profile: str
    sections: list[SectionInfo]
    tokens: int
    tokens_max: int = Field(description="What a model of this size takes in all.")
    reply_tokens: int = Field(description="What is kept for the answer.")
    completion: str


class SavedTexts(BaseModel):
    """Texts that were written."""

    name: str
    folder: str
    digest: str = Field(description="Names the texts as they are on the disk now.")


@router.get("/worlds/{world}/texts", dependencies=[Depends(directing_of)])
def texts(request: Request, world: World) -> TextsInfo:
    """Tell the files of a world that may be edited as texts: its scenario and its creatures."""
    listed = _listed(world)
    read = texts_of(FilePath(listed.path))
    saves: Literal["over", "new", ""] = ""
    if may_save_here(request):
        saves = "over" if listed.where == "here" else "new"
    return TextsInfo(
        name=world,
        where=listed.where,
        folder=_folder_shown(listed),
        files=[TextInfo(path=path, text=text) for path, text in read.items()],
        digest=digest_of_texts(read),
        saves=saves,
    )


@router.post("/worlds/{world}/texts/check")
def check_texts(stage: Stage, world: World, command: EditedTexts) -> CheckedTexts:
    """Tell what is wrong with edited texts of a world, each mistake with its file and line. Nothing is written."""
    listed = _listed(world)
    edited, problems = world_and_problems(
        FilePath(listed.path), command.texts, tools=tools_of(stage.terrarium)
    )
    is_edited = edited is None or edited.edited_from is not None
    return CheckedTexts(is_edited=is_edited, problems=[_mistake(p) for p in problems[:problems_told_max]])


@router.post("/worlds/{world}/texts/save")
async def save_edited(stage: Stage, request: Request, world: World, command: SaveTexts) -> SavedTexts:
    """Write edited texts that pass every check: over the files of a world in `./worlds`, or as a new one there. Only a server that
    answers this machine alone does that."""
    if not may_save_here(request):
        raise Denied(
            403, "Only a server that answers this machine alone writes worlds. Save it where you work."
        )
    listed = _listed(world)
    tools = tools_of(stage.terrarium)
    path = FilePath(listed.path)
    if command.name is not None:
        folder = await asyncio.to_thread(save_texts_as, path, command.texts, command.name, tools=tools)
        return SavedTexts(
            name=command.name, folder=f"worlds/{command.name}", digest=digest_of_texts(texts_of(folder))
        )
    if listed.where != "here":
        raise Refused(f"{world} came with this program.", "Save it under a new name.")
    await asyncio.to_thread(save_texts, path, command.texts, command.digest, tools=tools)
    return SavedTexts(name=world, folder=_folder_shown(listed), digest=digest_of_texts(texts_of(path)))


@router.post("/worlds/{world}/rehearse")
async def rehearse(stage: Stage, request: Request, world: World, command: Rehearse) -> RehearsalInfo:
    """Have the offline troupe play some turns of an edited world beside the store. What the rehearsal before has asked already comes
    from its record."""
    edited = _sound(stage, world, command)
    made = await _rehearsals_of(request).rehearse(
        edited, command.seed, command.rng_seed, command.turns, command.after
    )
    return _rehearsal_info(made)


@router.get("/rehearsals/{rehearsal}/events/{event_id}/prompt", dependencies=[Depends(directing_of)])
async def rehearsed_prompt(request: Request, rehearsal: RehearsalName, event_id: Name) -> RehearsedPrompt:
    """Tell what a model was asked for an event of a rehearsal, by the sections of its prompt."""
    made = _rehearsals_of(request).of(rehearsal)
    event = _event_in(made, event_id)
    if event.model is None or not event.calls:
        raise Refused("No model was asked for this event.", "Choose a line of a creature.")
    call = event.calls[-1]
    messages = [await made.store.prompt(digest) or "" for digest in (call.system, call.user)]
    sections = [
        SectionInfo(heading=section.heading or "WHO YOU ARE", text=section.text, tokens=section.tokens)
        for message in messages
        for section in sections_of(message)
    ]
    size = event.model.profile
    return RehearsedPrompt(
        event_id=event_id,
        profile=size,
        sections=sections,
        tokens=sum(section.tokens for section in sections),
        tokens_max=CONTEXT_TOKENS[size],
        reply_tokens=REPLY_TOKENS[size],
        completion=call.completion,
    )


@router.post("/worlds/{world}/perform", status_code=201)
async def perform(stage: Stage, world: World, command: Perform) -> RunInfo:
    """Open an edited world in the store, with the models of this server, and play it."""
    edited = _sound(stage, world, command)
    run = await stage.terrarium.open_world(edited, command.seed, command.rng_seed)
    await stage.drivers.play(run.id, command.speed, continue_alone=command.continue_alone)
    return await info_of(stage, run.id)


def _listed(name: str) -> FoundWorld:
    listed = {world.name: world for world in found_worlds()}
    if name not in listed:
        raise UnknownName(noun="world", name=name, known=list(listed))
    return listed[name]


def _folder_shown(listed: FoundWorld) -> str:
    return f"worlds/{folder_of(FilePath(listed.path)).name}"


def _sound(stage: Directing, world: str, command: EditedTexts) -> LoadedWorld:
    path = FilePath(_listed(world).path)
    edited, problems = world_and_problems(path, command.texts, tools=tools_of(stage.terrarium))
    if edited is None:
        raise BadWorld(problems)
    return edited


def _mistake(problem: Problem) -> Mistake:
    wrong, instead = likely_name_in(problem.text) or ("", "")
    return Mistake(
        path=problem.path,
        line=problem.line,
        column=problem.column,
        field=problem.field,
        text=problem.text,
        wrong=wrong,
        instead=instead,
    )


def _rehearsals_of(request: Request) -> Rehearsals:
    rehearsals: Rehearsals = request.app.state.rehearsals
    return rehearsals


def _event_in(made: Rehearsal, event_id: str) -> Event:
    event = next((event for event in made.played.events if event.id == event_id), None)
    if event is None:
        raise UnknownName(noun="event", name=event_id, where=made.id)
    return event


def _rehearsal_info(made: Rehearsal) -> RehearsalInfo:
    run = made.played.run
    asked = {event.id for event in made.played.events if event.calls}
    lines = [
        RehearsedLine(
            k=made.numbers.get(line.id, 0),
            id=line.id,
            turn=line.turn,
            voice=line.voice,
            who=line.who,
            kind=line.kind,
            channel=line.channel,
            text=line.text,
            is_kept=line.id in made.kept,
            has_prompt=line.id in asked,
        )
        for line in made.lines
    ]
    return RehearsalInfo(
        id=made.id,
        title=run.title,
        seed=run.seed,
        rng_seed=run.rng_seed,
        turns=run.turns,
        calls=run.calls,
        new_calls=made.new_calls,
        events=len(made.played.events),
        differs_at=made.differs_at,
        is_over=run.finished is not None,
        lines=lines,
    )
