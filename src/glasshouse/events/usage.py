"""`Usage`: calls, tokens and money of a call, an act, a creature or a run, in one struct.

Always holds: a call that reached no model counts nothing; a call of unknown price makes the sum of money unknown,
never lower.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from glasshouse.events.event import Event
from glasshouse.events.model_use import Call


class Usage(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """What something cost, or at worst may cost."""

    calls: int = 0
    tokens: int = 0
    """Of prompts and answers together."""
    usd_known: float = 0.0
    """What the calls of a known price cost."""
    is_unpriced: bool = False
    """Whether the price of some call is unknown."""

    @property
    def usd(self) -> float | None:
        """The whole price; none if that of some call is unknown."""
        return None if self.is_unpriced else self.usd_known

    def plus(self, other: Usage) -> Usage:
        """Both together."""
        return Usage(
            self.calls + other.calls,
            self.tokens + other.tokens,
            self.usd_known + other.usd_known,
            self.is_unpriced or other.is_unpriced,
        )

    def minus(self, other: Usage) -> Usage:
        """The difference to an earlier count."""
        return Usage(
            self.calls - other.calls,
            self.tokens - other.tokens,
            self.usd_known - other.usd_known,
            self.is_unpriced,
        )


NOTHING: Final = Usage()


def usage_of(call: Call) -> Usage:
    """What one call cost."""
    if not call.reached:
        return NOTHING
    return Usage(1, call.usage.input + call.usage.output, call.usd or 0.0, call.usd is None)


def usage_in(events: Iterable[Event]) -> Usage:
    """What the calls behind these events cost. Only a director's events say anything of their calls."""
    usage = NOTHING
    for event in events:
        for call in event.calls:
            usage = usage.plus(usage_of(call))
    return usage
