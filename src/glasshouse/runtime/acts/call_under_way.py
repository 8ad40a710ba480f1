"""A question to a model while it is under way, and each request of it: its time, its progress, and the time of its act.

Always holds: the bound of an act counts only the time in which its call shows no progress. The wall time of its run counts always.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Final

from glasshouse.runtime.acts.act_time import ActTime
from glasshouse.runtime.acts.backend_queue import BackendQueue
from glasshouse.runtime.acts.reservations import Reservation
from glasshouse.runtime.call_time import CallTime
from glasshouse.runtime.capabilities import ModelCapabilities
from glasshouse.runtime.ports import CallProgress, OnText

NO_PROGRESS: Final = CallProgress()


class CallUnderWay:
    """A question to a model that takes its time: from its first attempt to its answer."""

    __slots__ = ("can", "creature_id", "is_waiting", "model", "progress", "queue", "run_id", "since", "text")

    def __init__(self, mine: Reservation, model: str, queue: BackendQueue, can: ModelCapabilities) -> None:
        self.can = can
        self.creature_id = mine.creature_id
        self.run_id = mine.run_id
        self.model = model
        self.queue = queue
        self.since = asyncio.get_running_loop().time()
        self.is_waiting = False
        """Whether it waits for its turn, or for a server that is busy."""
        self.text = ""
        """What has come of the line that its creature will say aloud, if the server sends it in pieces."""
        self.progress = NO_PROGRESS
        """How far the present request is."""


def prompt_percent_of(progress: CallProgress) -> int | None:
    """How much of a prompt is read; None if the server does not tell, or writes already."""
    if progress.tokens or not progress.prompt_tokens:
        return None
    return min(100, 100 * progress.prompt_tokens_read // progress.prompt_tokens)


class Request:
    """One request of a question, while it is with a server. Each sign of progress gives it new time, and gives its act back the
    time that has passed: the bound of an act counts only the time in which a call shows no progress (ADR 0124)."""

    __slots__ = ("_act_time", "_hear", "_lent", "_since", "_tokens", "_under_way", "time")

    def __init__(
        self, under_way: CallUnderWay, time: CallTime, act_time: ActTime | None, hear: OnText | None
    ) -> None:
        self.time = time
        self._under_way = under_way
        self._act_time = act_time
        self._hear = hear
        self._since = 0.0
        """When it last showed progress."""
        self._lent = 0.0
        """What its act has in addition while a model may be loaded."""
        self._tokens = 0

    async def __aenter__(self) -> None:
        self._since = asyncio.get_running_loop().time()
        self._lent = self.time.load_seconds
        if self._act_time is not None and self._lent:
            self._act_time.give_back(self._lent)
        await self.time.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._under_way.progress = NO_PROGRESS
        self._give_back(0.0)
        await self.time.__aexit__(kind, raised, trace)

    def note(self, progress: CallProgress) -> None:
        """The model has made progress."""
        self._under_way.progress = progress
        if progress.tokens:
            self.time.note_token()
        else:
            self.time.note_read()
        now = asyncio.get_running_loop().time()
        self._give_back(now - self._since)
        self._since = now

    def note_text(self, piece: str) -> None:
        """A piece of text has come, from a model that tells no more than that."""
        self._tokens += 1
        self.note(CallProgress(tokens=self._tokens))
        if self._hear is not None:
            self._hear(piece)

    def note_answer(self, load_seconds: float) -> None:
        """The answer is whole. If it came in one piece, only loading the model took none of the act's time."""
        now = asyncio.get_running_loop().time()
        self._give_back(now - self._since if self.time.is_streamed else load_seconds)

    def _give_back(self, seconds: float) -> None:
        """Give the act some time back, and take what it was lent."""
        seconds -= self._lent
        self._lent = 0.0
        if self._act_time is not None and seconds:
            self._act_time.give_back(seconds)
