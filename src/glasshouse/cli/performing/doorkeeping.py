"""Who is asked about changes that strangers' words may have led to: whoever sits at the desk, if anybody does.

Always holds: in a pipe nobody is there, and nothing waits.
"""

from __future__ import annotations

from glasshouse.cli.performing.desk import Desk
from glasshouse.cli.performing.following import Reader
from glasshouse.runtime.ports import Proposal


class Doorkeeper:
    """Hands a proposal on to the desk, once somebody sits there."""

    def __init__(self) -> None:
        self._desk: Desk | None = None

    def seat(self, reader: Reader) -> None:
        """Somebody reads along from now on."""
        self._desk = reader if isinstance(reader, Desk) else None

    async def __call__(self, proposal: Proposal, /) -> bool | None:
        """What is said at the desk."""
        return None if self._desk is None else await self._desk.decide(proposal)
