"""`Manifest`: one creature as data.

Always holds: an unknown field is an error; a manifest is a value, and its digest names its content.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.codec import canonical_json
from glasshouse.events.event import Json
from glasshouse.manifests.fields import Kinds, Player, Strict, Text, Texts, number_max
from glasshouse.world.names import check_name, check_not_spoken_for

Profile = Literal["tiny", "fast", "balanced", "strong"]


class Voice(Strict):
    """How a creature speaks."""

    examples: Texts = Field(default=(), description="Lines in its voice, as it would say them.")
    never: Texts = Field(default=(), description="What it never does or says.")
    say_words_max: int = Field(
        default=40, ge=1, le=number_max, description="How many words a line of it has at most."
    )


class Schedule(Strict):
    """When a creature acts unasked. Without `tick_every`: never."""

    tick_every: int | None = Field(
        default=None, ge=1, le=number_max, description="It acts in every turn that this number divides."
    )
    together: bool = Field(
        default=False, description="Whether it thinks at the same time as others due in the same turn."
    )


class Memory(Strict):
    """How much a creature keeps in mind."""

    window: int = Field(
        default=8, ge=0, le=number_max, description="How many of the latest lines it has before it."
    )


def _ticks(schedule: object) -> bool:
    if isinstance(schedule, Schedule):
        return schedule.tick_every is not None
    return isinstance(schedule, dict) and schedule.get("tick_every") is not None


class Manifest(Strict):
    """Persona, voice, subscriptions, what it may emit, schedule, profile, memory, tools."""

    name: str = Field(description="The creature's name: the name of its file.")
    role: Literal["worker", "judge", "narrator", "root"] = Field(
        default="worker", description="What it is in the play. A judge reads the whole discussion."
    )
    persona: Text = Field(default="", description="Who it is, told to it.")
    wants: Text = Field(default="", description="What it is after.")
    cares_about: Texts = Field(default=(), description="What catches its ear.")
    temper: Text = Field(default="", description="How it takes things, in a word or two.")
    voice: Voice = Field(default=Voice(), description="How it speaks.")
    subscribes_to: Kinds = Field(
        default=(),
        description="Kinds of events that it answers. Left out: what is said, unless it has a schedule.",
    )
    may_emit: Kinds = Field(
        default=(kinds.AGENT_SPOKE,), description="Kinds of events that it may write. It may always pass."
    )
    schedule: Schedule = Field(default=Schedule(), description="When it acts unasked. Left out: never.")
    model_profile: Profile = Field(default="fast", description="The size of model that it asks for.")
    memory: Memory = Field(default=Memory(), description="How much it keeps in mind.")
    tools: Texts = Field(default=(), description="Tools that it may use.")
    reply: Literal["json", "prose"] = Field(
        default="json", description="How its model answers: as JSON, or as THINK and SAY lines if very small."
    )
    played_by: Player | None = Field(
        default=None,
        description="Who plays it if no model does: visitor, or a Python class as package.module:Class.",
    )

    @model_validator(mode="before")
    @classmethod
    def _hears_if_nothing_else_wakes_it(cls, given: Any) -> Any:
        """A creature that neither ticks nor subscribes could never act: such a manifest hears what is said."""
        if not isinstance(given, dict) or given.get("subscribes_to") is not None:
            return given
        return {**given, "subscribes_to": () if _ticks(given.get("schedule")) else (kinds.AGENT_SPOKE,)}

    @field_validator("name")
    @classmethod
    def _name_is_sound(cls, name: str) -> str:
        try:
            check_name("creature name", name)
            check_not_spoken_for(name)
        except Refused as refusal:
            raise ValueError(str(refusal)) from refusal
        return name

    @field_validator("may_emit")
    @classmethod
    def _kinds_of_others_are_not_given(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        of_others = sorted(kinds.NEVER_GRANTED.intersection(given))
        if of_others:
            raise ValueError(f"{of_others[0]} is written by the engine alone; take it out of may_emit")
        return given

    def as_root(self) -> Manifest:
        """The same creature as the root of its graph: its role says so, and it answers the visitor."""
        answered = tuple(dict.fromkeys((*self.subscribes_to, kinds.USER_INJECTED)))
        return self.model_copy(update={"role": "root", "subscribes_to": answered})

    def as_json(self) -> Json:
        """The manifest as a plain object, with what is at its default left out, save the two lists the world reads."""
        plain: Json = self.model_dump(mode="json", exclude_defaults=True)
        plain["may_emit"] = list(self.may_emit)
        plain["subscribes_to"] = list(self.subscribes_to)
        return plain

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal characters that name this content."""
        return blake2b(canonical_json(self.as_json()), digest_size=8).hexdigest()
