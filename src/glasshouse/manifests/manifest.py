"""`Manifest`: one creature as data.

Always holds: an unknown field is an error; a manifest is immutable, and its digest is a hash of its content.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from pydantic import Field, ValidationInfo, field_validator, model_validator

from glasshouse.events import kinds
from glasshouse.events.codec import canonical_json
from glasshouse.events.described_tool import LOOK_UP, RECALL
from glasshouse.events.event import Json
from glasshouse.manifests import fields
from glasshouse.manifests.fields import CreatureName, Items, Kind, Player, Strict, Text, Texts, number_max
from glasshouse.reprs import repr_of

digest_cache_manifests_max = 1_024
"""How many are kept: digests of manifests, and their JSON; more are computed again."""

reflect_every_max = 1_000
"""A longer cadence is refused: no creature says so many lines in a play."""

Profile = Literal["tiny", "fast", "balanced", "strong"]
Role = Literal["worker", "judge", "narrator", "root"]
Reply = Literal["auto", "schema", "json", "prose"]


class Voice(Strict):
    """How a creature speaks."""

    __repr__ = repr_of("say_words_max", "examples", "never")

    examples: Texts = ()
    """Lines in its voice."""
    never: Texts = ()
    """What it never does or says."""
    say_words_max: int = Field(default=40, ge=1, le=number_max)
    """How many words a line has at most."""
    may_repeat: bool = False
    """Whether it may say again what was said lately, such as a refrain. Else it is asked once more, and then skipped."""


class Schedule(Strict):
    """When a creature acts by itself. Without `tick_every`: never."""

    tick_every: int | None = Field(default=None, ge=1, le=number_max)
    """It acts in every turn that is a multiple of this number."""
    together: bool = False
    """Whether it thinks at the same time as others due in the same turn."""


class Memory(Strict):
    """How many lines a creature's prompt shows, how far back it remembers, and when it reflects."""

    window: int | None = Field(default=None, ge=0, le=number_max)
    """How many of the latest lines its prompt shows. Left out: as many as suit the size of the model that plays."""
    reflect_every: int | None = Field(default=None, ge=1, le=reflect_every_max)
    """After every so many lines of its own it acts once more, to write a reflection that only it reads. Left out: never."""
    long: bool = Field(default=False, exclude_if=operator.not_)
    """Whether it remembers everything that it ever heard or said, not only the last 256 lines. It is granted recall."""


class Manifest(Strict):
    """Persona, voice, subscriptions, what it may emit, schedule, profile, memory, tools."""

    __repr__ = repr_of("name", "role", "persona")

    name: CreatureName
    """The creature's name; the same as its file's name."""
    role: Role = "worker"
    """Its part in the play. A judge reads the whole discussion."""
    title: fields.Title = ""
    """Its name as others say it, such as The Devil's Advocate. Left out: its name with capital letters."""
    bio: fields.Bio = ""
    """One sentence about it that everybody may read, spectators too. It is not part of any prompt."""
    persona: Text = ""
    """Who it is; part of its prompt."""
    wants: Text = ""
    """What it wants."""
    cares_about: Texts = ()
    """Topics that interest it."""
    temper: Text = ""
    """Its temperament, in a word or two."""
    voice: Voice = Voice()
    """How it speaks."""
    subscribes_to: Items[Kind] = ()
    """Kinds of events that it answers. Left out: agent.spoke, unless it has a tick_every."""
    may_emit: Items[Kind] = (kinds.AGENT_SPOKE,)
    """Kinds of events that it may write. It may always pass."""
    schedule: Schedule = Schedule()
    """When it acts by itself. Left out: never."""
    model_profile: Profile = "fast"
    """The size of its model."""
    memory: Memory = Memory()
    """How many lines its prompt shows, how far back it remembers, and after how many of its own lines it reflects."""
    tools: Texts = ()
    """Tools that it may use."""
    documents: Texts = Field(default=(), exclude_if=operator.not_)
    """Files beside its world that it may look things up in, as paths or patterns such as notes/*.md. It is granted look_up."""
    reply: Reply = "auto"
    """How its model is asked to reply: as JSON that the server holds to a schema, as JSON, or as labelled lines (prose)
    for very small models. Left out: as the model's binding says."""
    played_by: Player | None = None
    """Who plays it instead of a model: visitor, or a Python class as package.module:Class."""
    act_seconds_max: float | None = Field(default=None, gt=0, le=number_max, allow_inf_nan=False)
    """How many seconds one of its acts may take; for a visitor: how long its seat waits for a line."""

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            name: str,
            role: Role = "worker",
            title: str = "",
            bio: str = "",
            persona: str = "",
            wants: str = "",
            cares_about: Sequence[str] = (),
            temper: str = "",
            voice: Voice | Mapping[str, Any] = ...,
            subscribes_to: Sequence[str] = ...,
            may_emit: Sequence[str] = (kinds.AGENT_SPOKE,),
            schedule: Schedule | Mapping[str, Any] = ...,
            model_profile: Profile = "fast",
            memory: Memory | Mapping[str, Any] = ...,
            tools: Sequence[str] = (),
            documents: Sequence[str] = (),
            reply: Reply = "auto",
            played_by: str | None = None,
            act_seconds_max: float | None = None,
        ) -> None:
            """What a program may give: lists and mappings as well as the types that the fields have."""

    @model_validator(mode="before")
    @classmethod
    def _hears_if_nothing_else_wakes_it(cls, given: Any) -> Any:
        """A creature that neither ticks nor subscribes could never act, so it hears `agent.spoke`."""
        if not isinstance(given, dict) or given.get("subscribes_to") is not None:
            return given
        schedule = given.get("schedule")
        ticks = isinstance(schedule, dict | Schedule) and dict(schedule).get("tick_every") is not None
        return {**given, "subscribes_to": () if ticks else (kinds.AGENT_SPOKE,)}

    @model_validator(mode="before")
    @classmethod
    def _may_look_up_in_its_documents(cls, given: Any) -> Any:
        """Documents are of no use without the tool that searches them, so whoever has some is granted it."""
        if not isinstance(given, dict) or not given.get("documents"):
            return given
        tools = given.get("tools", ())
        has_it = not isinstance(tools, list | tuple) or LOOK_UP in tools
        return given if has_it else {**given, "tools": (*tools, LOOK_UP)}

    @model_validator(mode="before")
    @classmethod
    def _may_search_its_long_memory(cls, given: Any) -> Any:
        """Whoever has long memory may also search it."""
        memory = given.get("memory") if isinstance(given, dict) else None
        if not isinstance(memory, dict | Memory) or dict(memory).get("long") is not True:
            return given
        tools = given.get("tools", ())
        has_it = not isinstance(tools, list | tuple) or RECALL in tools
        return given if has_it else {**given, "tools": (*tools, RECALL)}

    @field_validator("may_emit")
    @classmethod
    def _grants_no_engine_kind(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        forbidden = sorted(kinds.NEVER_GRANTED.intersection(given))
        if forbidden:
            raise ValueError(f"only the engine writes {forbidden[0]}; remove it from may_emit")
        return given

    @field_validator("played_by")
    @classmethod
    def _visitors_reflect_for_themselves(cls, given: str | None, others: ValidationInfo) -> str | None:
        """A reflection is written by a model or a program. A visitor is asked for lines only."""
        memory = others.data.get("memory")
        if given == "visitor" and isinstance(memory, Memory) and memory.reflect_every is not None:
            raise ValueError(
                "a visitor is asked for no reflections; remove memory.reflect_every, or let a model play this creature"
            )
        return given

    def as_root(self) -> Manifest:
        """The same creature as a root: with that role, and subscribed to the visitor."""
        answered = tuple(dict.fromkeys((*self.subscribes_to, kinds.USER_INJECTED)))
        return self.model_copy(update={"role": "root", "subscribes_to": answered})

    def as_json(self) -> Json:
        """The manifest as a plain object without defaults, except the two lists that the world reads."""
        plain: Json = msgspec.json.decode(_encoded(self))
        return plain

    @property
    def digest(self) -> str:
        """A hash of the content: sixteen hexadecimal characters."""
        return _digest(self)


@lru_cache(maxsize=digest_cache_manifests_max)
def _encoded(manifest: Manifest) -> bytes:
    # Kept as bytes, so that each caller gets an object of its own. To dump a manifest takes ten times as long as to decode it.
    plain: Json = manifest.model_dump(mode="json", exclude_defaults=True)
    plain["may_emit"] = list(manifest.may_emit)
    plain["subscribes_to"] = list(manifest.subscribes_to)
    return msgspec.json.encode(plain)


@lru_cache(maxsize=digest_cache_manifests_max)
def _digest(manifest: Manifest) -> str:
    # Kept, so that thousands of creatures of one manifest share one text.
    return blake2b(canonical_json(manifest.as_json()), digest_size=8).hexdigest()
