"""`VisitorAgent`: a creature played by the visitor. Its act waits for a line, or passes after a while."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.event import Draft
from glasshouse.runtime.minds.agent import Agent
from glasshouse.turns.moment.moment import Moment

visitor_seconds_max: Final = 120.0
visitor_lines_waiting_max: Final = 16


class VisitorAgent(Agent):
    """Says the lines it is given, one an act; lines that come early wait."""

    def __init__(self, seconds_max: float = visitor_seconds_max) -> None:
        self._seconds_max = seconds_max
        self._lines: deque[str] = deque()
        self._arrived = asyncio.Event()

    def say(self, text: str) -> None:
        """Give it the next line to say."""
        if not text.strip():
            raise Refused("The visitor said nothing.", "Write a sentence.")
        if len(self._lines) >= visitor_lines_waiting_max:
            raise Refused(
                f"{visitor_lines_waiting_max} lines wait already.", "Let the creature have its turn first."
            )
        self._lines.append(text)
        self._arrived.set()

    def go_away(self) -> None:
        """Nobody is there to speak: waiting lines are still said, then it passes at once."""
        self._seconds_max = 0.0

    async def act(self, moment: Moment) -> Draft | None:
        """The next line, once it is there; none after a while."""
        while not self._lines:
            self._arrived.clear()
            try:
                await asyncio.wait_for(self._arrived.wait(), self._seconds_max)
            except TimeoutError:
                return Draft(kind=kinds.AGENT_PASSED, payload={"reason": "The visitor said nothing in time."})
        kind = moment.character.may_emit[0] if moment.character.may_emit else kinds.AGENT_SPOKE
        return Draft(kind=kind, payload={"text": self._lines.popleft()})
