"""`Agent`: what thinks for a creature. The runtime keeps the object; no change of the graph re-creates it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from glasshouse.events.event import Draft
from glasshouse.turns.moment import Moment


class Agent(ABC):
    """The mind of a creature."""

    asks_before_anything: ClassVar[bool] = False
    """Whether it does nothing before it asks a model, so that its call is all that need be reserved for its act."""

    @abstractmethod
    async def act(self, moment: Moment) -> Draft | None:
        """Read what was assembled for this act, and give back one draft, or none to pass."""
