"""`Manifest`: one creature as data.

Always holds: an unknown field is an error; a manifest is a value, and its digest names its content.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.codec import canonical_json
from glasshouse.events.event import Json
from glasshouse.world.names import check_name

number_max = 1_000_000
text_chars_max = 16_384
list_items_max = 256

Text = Annotated[str, Field(max_length=text_chars_max)]
Texts = Annotated[tuple[Text, ...], Field(max_length=list_items_max)]

Profile = Literal["tiny", "fast", "balanced", "strong"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Voice(_Strict):
    """How a creature speaks."""

    examples: Texts = ()
    never: Texts = ()
    say_words_max: int = Field(default=40, ge=1, le=number_max)


class Schedule(_Strict):
    """When a creature acts unasked. Without `tick_every`: never."""

    tick_every: int | None = Field(default=None, ge=1, le=number_max)
    together: bool = False


class Memory(_Strict):
    """How much a creature keeps in mind."""

    window: int = Field(default=8, ge=0, le=number_max)


def _ticks(schedule: object) -> bool:
    if isinstance(schedule, Schedule):
        return schedule.tick_every is not None
    return isinstance(schedule, dict) and schedule.get("tick_every") is not None


class Manifest(_Strict):
    """Persona, voice, subscriptions, what it may emit, schedule, profile, memory, tools."""

    name: str
    role: Literal["worker", "judge", "narrator", "root"] = "worker"
    persona: Text = ""
    wants: Text = ""
    cares_about: Texts = ()
    temper: Text = ""
    voice: Voice = Voice()
    subscribes_to: Texts = ()
    may_emit: Texts = (kinds.AGENT_SPOKE,)
    schedule: Schedule = Schedule()
    model_profile: Profile = "fast"
    memory: Memory = Memory()
    tools: Texts = ()
    reply: Literal["json", "prose"] = "json"

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
        except Refused as refusal:
            raise ValueError(str(refusal)) from refusal
        return name

    @field_validator("subscribes_to", "may_emit")
    @classmethod
    def _kinds_are_sound(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        for kind in given:
            kinds.check_kind(kind)
        return given

    @field_validator("may_emit")
    @classmethod
    def _engine_kinds_are_not_given(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        engine = sorted(kinds.ENGINE.intersection(given))
        if engine:
            raise ValueError(f"{engine[0]} is written by the engine alone; take it out of may_emit")
        return given

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
