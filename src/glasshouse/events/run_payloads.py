"""The typed payloads of a run's own kinds: how it started, what its acts wrote, how it ended.

Always holds: `run.started` describes the run completely: with the ledger, no file is needed to know what was played.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from glasshouse.events import kinds
from glasshouse.events.event import Event, Json
from glasshouse.events.limits import Governor
from glasshouse.events.payloads import Payload
from glasshouse.reprs import repr_of

FinishReason = Literal["ended", "budget", "stopped", "no_contest"]


class Recipe(Payload, frozen=True):
    """The scenario file that a run was opened from, and the digest of what it said then."""

    path: str
    digest: str


class CastEntry(Payload, frozen=True):
    """One of the cast as its run began, and the model behind its profile."""

    creature: str
    handle: str
    cast_key: str
    profile: str
    model: str
    is_bound: bool = False
    """Whether the run asked for this model by name."""


class BranchOf(Payload, frozen=True):
    """The run that another continues, and the last event of their common past."""

    run_id: str
    at: str


class RunStarted(Payload, frozen=True):
    """A run began."""

    seed: str = ""
    rng_seed: int = 0
    goal: str = ""
    scenario: Json | None = None
    scenario_digest: str = ""
    recipe: Recipe | None = None
    cast: list[CastEntry] = msgspec.field(default_factory=list)
    competition: Json = msgspec.field(default_factory=dict)
    limits: Governor | None = None
    branch_of: BranchOf | None = None
    spawnable: dict[str, Json] = msgspec.field(default_factory=dict)
    """The creatures that may be born while it plays: each one's manifest by its name."""


class RunFinished(Payload, frozen=True, omit_defaults=False):
    """A run ended; written exactly once."""

    __repr__ = repr_of("reason", "axis", "winner", "turns", "calls", "why")

    reason: FinishReason
    turns: int
    calls: int
    tokens: int
    usd: float | None
    axis: str | None = None
    winner: str | None = None
    why: str | None = None
    members: list[str] | msgspec.UnsetType = msgspec.UNSET
    """The handles that share the win, where the winner is neither a team of the scenario nor one creature."""


class RunPaused(Payload, frozen=True):
    """No creature of this run acts until the run continues."""

    reason: str


class RunContinued(Payload, frozen=True):
    """A paused run continues."""


class ActEnd(Payload, frozen=True, omit_defaults=False):
    """Why an act ended without a line: its creature passed, or was removed meanwhile."""

    reason: str


class AgentFailed(Payload, frozen=True, omit_defaults=False):
    """Why an act failed, and how often a model was asked for it."""

    reason: str
    attempts: int


class UserInjected(Payload, frozen=True):
    """What the visitor said."""

    text: str


class ToolCalled(Payload, frozen=True):
    """A tool that an act asked for; `number` counts the calls of the act from 1."""

    tool: str
    arguments: Json
    number: int


class ToolReturned(Payload, frozen=True):
    """The result of the tool call of that number."""

    tool: str
    number: int
    is_ok: bool
    text: str
    result: Any = None
    is_edit: bool = False
    """Whether it changed the graph."""
    is_engine: bool = False
    """Whether these are words of the engine itself, which are trusted."""


class EditProposed(Payload, frozen=True):
    """A change that waits for somebody outside to allow it."""

    tool: str
    arguments: Json
    number: int
    why: str


class EditDecided(Payload, frozen=True):
    """Whether that change may be made, and who said so."""

    is_approved: bool
    by: str
    reason: str
    number: int


class TurnStarted(Payload, frozen=True):
    """A graph's clock moved on."""

    turn: int


class JudgeVerdict(msgspec.Struct, frozen=True):
    """What the engine reads of a `judge.verdict`. Creatures write it, so it may hold more, and what is no text is none."""

    winner: str | None = None
    text: str | None = None


def verdict_of(event: Event) -> JudgeVerdict:
    """The verdict that an event gives."""
    parts = (event.payload.get("winner"), event.payload.get("text"))
    return JudgeVerdict(*[part if isinstance(part, str) else None for part in parts])


class Sealed(Payload, frozen=True):
    """What an event says to some creatures and to referees alone."""

    to: list[str] = msgspec.field(default_factory=list)
    """The creatures that may read it."""
    facts: Json = msgspec.field(default_factory=dict)
    """By the names of the scenario's `deal`."""


def sealed_of(event: Event) -> Sealed:
    """What is sealed in an event. A creature written in Python may seal anything; what has another shape is for nobody."""
    try:
        return msgspec.convert(event.sealed or {}, Sealed)
    except msgspec.ValidationError:
        return Sealed()


RUN_PAYLOAD_TYPES: dict[str, type[Payload]] = {
    kinds.RUN_STARTED: RunStarted,
    kinds.RUN_FINISHED: RunFinished,
    kinds.RUN_PAUSED: RunPaused,
    kinds.RUN_CONTINUED: RunContinued,
    kinds.TURN_STARTED: TurnStarted,
    kinds.AGENT_PASSED: ActEnd,
    kinds.AGENT_FAILED: AgentFailed,
    kinds.ACT_DISCARDED: ActEnd,
    kinds.USER_INJECTED: UserInjected,
    kinds.TOOL_CALLED: ToolCalled,
    kinds.TOOL_RETURNED: ToolReturned,
    kinds.EDIT_PROPOSED: EditProposed,
    kinds.EDIT_DECIDED: EditDecided,
}
