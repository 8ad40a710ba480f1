"""`ActCalls`: the model calls of one act so far. It is the one thing that changes while an act thinks.

The act makes it and owns it. Whoever asks models or uses tools for the act is given it, and adds to it; all else that they
are given are values. So the calls of an act that is cancelled in the middle of one are not lost.

Always holds: every attempt to ask a model is in `calls`, in order, until an event records it.
"""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from glasshouse.events.model_use import Call
from glasshouse.events.shown import Shown
from glasshouse.runtime.acts.reservations import Reservation
from glasshouse.runtime.store_port import SideWrites

INTERRUPTED: Final = "The act was interrupted and thought again."
"""What is recorded of an answer that was not used."""


class UnrecordedCalls(NamedTuple):
    """The calls of an act that are not recorded yet, with their prompts and the lines shown in them."""

    calls: list[Call]
    prompts: list[tuple[str, str]]
    shown: list[Shown]
    mine: Reservation
    """It holds their cost until they are recorded."""


class ActCalls(msgspec.Struct, eq=False):
    """The model calls of one act that no event records yet."""

    mine: Reservation
    """What the act holds of its run's purse for them."""
    calls: list[Call] = []
    prompts: list[tuple[str, str]] = []
    """The texts of their prompts, each with its digest."""
    shown: list[Shown] = []
    """For each call, the lines that its prompt held."""
    told: int = 0
    """How many calls were recorded before these, in the middle of the act."""
    before: int = 0
    """How many of these were made before the act was interrupted."""
    one_at_a_time: asyncio.Lock | None = None
    """For an agent of a program, which may ask several times at once: its act has one reservation, so its calls come one
    after another. The engine's own agents need no lock."""

    def take_up(self, unrecorded: UnrecordedCalls) -> None:
        """Continue the calls of an act that was interrupted."""
        self.calls, self.prompts, self.shown, self.mine = unrecorded
        self.before = len(unrecorded.calls)

    def put_back(self, unrecorded: UnrecordedCalls) -> None:
        """Put calls before those so far: the event that should have recorded them is not in the ledger."""
        self.calls[:0] = unrecorded.calls
        self.prompts[:0] = unrecorded.prompts
        self.shown[:0] = unrecorded.shown
        self.before += len(unrecorded.calls)

    def begin_anew(self) -> UnrecordedCalls:
        """Start a new list of calls, and return those so far: they are on their way to the ledger in the middle of the
        act."""
        sent = self.unrecorded
        self.told += len(self.calls)
        self.before = 0
        self.calls = []
        self.prompts = []
        self.shown = []
        return sent

    @property
    def side_writes(self) -> SideWrites:
        """What is stored beside the event that records the calls: their prompts, and the lines shown in them (ADR
        0044)."""
        return SideWrites(prompts=tuple(self.prompts), shown=tuple(self.shown))

    @property
    def unanswered(self) -> int:
        """How many attempts reached a model since one last answered. How often a server was too busy decides nothing."""
        attempts = 0
        for call in reversed(self.calls):
            if call.is_answered:
                break
            attempts += call.reached
        return attempts

    @property
    def has_reached_a_model(self) -> bool:
        """Whether a call since the last recorded one, or since an interruption, reached a model."""
        return any(call.reached for call in self.calls[self.before :])

    @property
    def is_answered(self) -> bool:
        """Whether a model answered a call since the last recorded one, or since an interruption."""
        return any(call.is_answered for call in self.calls[self.before :])

    @property
    def unrecorded(self) -> UnrecordedCalls:
        """What to keep of an interrupted act. It will be thought again, so its answers are not used."""
        calls = [
            replace(call, completion="", reasoning=None, error=call.error or INTERRUPTED)
            for call in self.calls
        ]
        return UnrecordedCalls(calls, self.prompts, self.shown, self.mine)
