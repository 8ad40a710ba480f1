"""The typed payloads of a run's own kinds: how it began, how it stands, how it ended.

Always holds: `run.started` describes itself: whoever has the ledger needs no file to know what was played.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from glasshouse.events import kinds
from glasshouse.events.event import Json
from glasshouse.events.payloads import Payload

FinishReason = Literal["ended", "budget", "stopped", "no_contest"]


class Recipe(msgspec.Struct, frozen=True, omit_defaults=True):
    """The scenario file that a run was opened from, and the digest of what it said then."""

    path: str
    digest: str


class BranchOf(msgspec.Struct, frozen=True, omit_defaults=True):
    """The run that another goes on from, and the event up to which the two have one past."""

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
    cast: list[Json] = msgspec.field(default_factory=list)
    """Who plays: creature, handle, cast key, profile, and the model behind it."""
    competition: Json = msgspec.field(default_factory=dict)
    limits: Json = msgspec.field(default_factory=dict)
    branch_of: BranchOf | None = None
    spawnable: dict[str, Json] = msgspec.field(default_factory=dict)
    """The creatures that may be born while it plays: each one's manifest by its name."""


class RunFinished(Payload, frozen=True, omit_defaults=False):
    """A run is over; told exactly once."""

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
    """Nobody of this run acts until it goes on."""

    reason: str


class RunContinued(Payload, frozen=True):
    """A paused run goes on."""


class TurnStarted(Payload, frozen=True):
    """A graph's clock moved on."""

    turn: int


RUN_PAYLOAD_TYPES: dict[str, type[Payload]] = {
    kinds.RUN_STARTED: RunStarted,
    kinds.RUN_FINISHED: RunFinished,
    kinds.RUN_PAUSED: RunPaused,
    kinds.RUN_CONTINUED: RunContinued,
    kinds.TURN_STARTED: TurnStarted,
}
