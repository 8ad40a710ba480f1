"""`Character`: the fields of a manifest that the rules of turns need.

Always holds: its manifest was checked when its creature was added, so it is not checked again here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from glasshouse.events import kinds
from glasshouse.events.event import Json
from glasshouse.model_values import Form

reflection_words_max: Final = 30
"""A reflection is asked for in at most so many words; `say_words_max` may ask for fewer."""
reflecting_cache_characters_max: Final = 1_024
"""How many are kept: characters as they reflect; more are made again."""

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
    """How many lines of the discussion a creature's prompt shows, how far back it remembers, and when it reflects."""

    window: int | None = None
    """None: as many as suit the size of the model that plays."""
    reflect_every: int | None = None
    """It reflects after every so many lines of its own. None: never by cadence."""
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
    reflects: bool = False
    """Whether it reflects in this act. No manifest says so: see `reflecting`."""


def character_of(manifest: Json) -> Character:
    """The character that a manifest in the ledger describes."""
    return msgspec.convert(manifest, Character, strict=False)


@lru_cache(maxsize=reflecting_cache_characters_max)
def reflecting(character: Character) -> Character:
    """The same creature in an act in which it reflects: it writes a short reflection or passes, and has no tools."""
    words = min(character.voice.say_words_max, reflection_words_max)
    voice = replace(character.voice, say_words_max=words)
    return replace(character, may_emit=(kinds.AGENT_REFLECTED,), voice=voice, tools=(), reflects=True)
