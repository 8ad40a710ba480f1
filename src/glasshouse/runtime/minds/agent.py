"""`Agent`: what thinks for a creature. The runtime keeps the object; no change of the graph creates it again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from glasshouse.events.event import Draft
from glasshouse.turns.moment.moment import Moment


class Agent(ABC):
    """The mind of a creature."""

    asks_before_anything: ClassVar[bool] = False
    """Whether it does nothing before it asks a model, so that its call is all that need be reserved for its act."""

    goes_on_from_its_talk: ClassVar[bool] = False
    """Whether an act of it that was cut off goes on from what its tools have said; else it begins anew, and what it asks
    for again is answered from the record."""

    @abstractmethod
    async def act(self, moment: Moment) -> Draft | None:
        """Read the moment of this act and return one draft, or none to pass."""
