"""`Projection`: what every fold of events into a view shares.

Always holds: applying reads the event and nothing else, so equal events in equal order give equal views. `version` goes
up whenever a view's shape or its rules change, and a kept snapshot of another version is not used.
"""

from __future__ import annotations

from typing import ClassVar, Protocol

from glasshouse.events.event import Event


class Projection(Protocol):
    """A view in the making."""

    version: ClassVar[int]

    def apply(self, event: Event) -> object:
        """Take the next event in."""
