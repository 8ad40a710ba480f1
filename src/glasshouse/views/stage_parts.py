"""What a stage is made of: its lines, its cast, its runs, its counters."""

from __future__ import annotations

from typing import Literal

import msgspec

from glasshouse.events.event import Json


class Note(msgspec.Struct, frozen=True, gc=False):
    """One line: who said what, where and when. `private` is there for whoever may read it."""

    id: str
    actor: str
    handle: str
    kind: str
    text: str
    fields: Json
    channel: str | None
    turn: int
    private: Json | None = None


class CastMember(msgspec.Struct, frozen=True, gc=False):
    """A creature of the cast as the stage knows it."""

    handle: str
    role: str = "worker"
    is_running: bool = True
    profile: str = ""


class RunStatus(msgspec.Struct, frozen=True, gc=False):
    """How far a run is, and, once it is finished, how it went and what it took."""

    state: Literal["playing", "paused", "finished"] = "playing"
    title: str = ""
    goal: str = ""
    seed: str = ""
    budget: Json = {}
    """The limits it was started with, by name."""
    reason: str | None = None
    axis: str | None = None
    winner: str | None = None
    why: str | None = None
    turns: int | None = None
    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None


class Counters(msgspec.Struct):
    """How often things happened. Calls and tokens are counted from what models were asked, so by directors only."""

    events: int = 0
    turns: int = 0
    lines: int = 0
    calls: int = 0
    tokens: int = 0
    failures: int = 0
    passes: int = 0
