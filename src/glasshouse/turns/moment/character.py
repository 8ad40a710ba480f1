"""`Character`: the fields of a manifest that the rules of turns need.

Always holds: its manifest was checked when its creature was added, so it is not checked again here.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from glasshouse.events import kinds
from glasshouse.events.event import Json
from glasshouse.model_values import Form

Profile = Literal["tiny", "fast", "balanced", "strong"]
Role = Literal["worker", "judge", "narrator", "root"]


class Voice(msgspec.Struct, frozen=True):
    """How a creature speaks."""

    examples: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    say_words_max: int = 40
    may_repeat: bool = False


class Schedule(msgspec.Struct, frozen=True):
    """When a creature acts without a line to answer: its ticks."""

    tick_every: int | None = None
    together: bool = False


class Memory(msgspec.Struct, frozen=True):
    """How many lines of the discussion a creature's prompt shows, and how far back it remembers."""

    window: int | None = None
    """None: as many as suit the size of the model that plays."""
    long: bool = False
    """Whether it remembers everything that it ever heard or said."""


class Character(msgspec.Struct, frozen=True, cache_hash=True):
    """One creature's manifest."""

    name: str
    role: Role = "worker"
    title: str = ""
    persona: str = ""
    wants: str = ""
    cares_about: tuple[str, ...] = ()
    temper: str = ""
    voice: Voice = Voice()
    subscribes_to: tuple[str, ...] = ()
    may_emit: tuple[str, ...] = (kinds.AGENT_SPOKE,)
    schedule: Schedule = Schedule()
    model_profile: Profile = "fast"
    memory: Memory = Memory()
    tools: tuple[str, ...] = ()
    reply: Form | Literal["auto"] = "auto"
    played_by: str | None = None
    act_seconds_max: float | None = None


def character_of(manifest: Json) -> Character:
    """The character that a manifest in the ledger describes."""
    return msgspec.convert(manifest, Character, strict=False)
