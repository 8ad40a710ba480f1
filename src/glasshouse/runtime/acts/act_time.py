"""The time that one act may take: its own bound in seconds, and what is left of its run's wall time (ADR 0056).

Always holds: when the time is over, whatever the act waits for is cancelled. The wall time counts always. The bound of
the act does not count while the act waits for others: for its turn among acts that think together, in the queue of a
model server, for a busy server, or for a model that is loaded; nor while its call makes progress (ADR 0124). All acts share one timer of the event loop, because
`asyncio.timeout` would set and cancel a timer for every act.
"""

from __future__ import annotations

import asyncio
from math import inf
from typing import Any, Final

import msgspec

from glasshouse.errors import BudgetExceeded, Refused, StoreFenced

act_seconds_max: Final = 300.0
"""The bound of an act, unless its manifest or its terrarium says otherwise."""


class ActTimer:
    """Ends the acts whose time is over. It rings at the earliest end, or earlier if that act has ended already."""

    def __init__(self) -> None:
        self.acts: dict[ActTime, None] = {}
        self.rings_at = inf
        self.fenced: StoreFenced | None = None
        """Why every act was ended: another process plays the store."""

    def end_all(self, fenced: StoreFenced) -> None:
        """End every act: another process has taken the store over, and will play them."""
        self.fenced = fenced
        for act in list(self.acts):
            act.end()

    def set(self, ends_at: float) -> None:
        """Ring at this time, which is earlier than the one set."""
        self.rings_at = ends_at
        asyncio.get_running_loop().call_at(ends_at, self._ring, ends_at)

    def _ring(self, at: float) -> None:
        if at != self.rings_at:
            return  # It was set to an earlier time meanwhile.
        self.rings_at = inf
        for act in list(self.acts):
            if act.ends_at <= at:
                act.end()
            elif act.ends_at < self.rings_at:
                self.set(act.ends_at)


class ActTime(msgspec.Struct, eq=False):
    """Bounds the code inside it. Raises `BudgetExceeded` at the end of the wall time, `Refused` at that of the act, `StoreFenced` if the
    store was taken over."""

    timer: ActTimer
    task: asyncio.Task[Any]
    seconds_max: float
    """The bound of the act; `inf` if there is none."""
    wall_seconds: float
    """What is left of the run's wall time; `inf` if it has no limit."""
    ends_at: float = inf
    _act_at: float = inf
    _wall_at: float = inf
    _seconds_left: float = inf
    _waits: int = 0
    """How often the act waits now: an agent may ask several times at once."""
    _is_over: bool = False
    _cancelling: int = 0

    def stop_counting(self) -> None:
        """The act waits for others: only the wall time counts."""
        if not self._waits:
            self._seconds_left = self._act_at - self.task.get_loop().time()
        self._waits += 1
        self.ends_at = self._wall_at

    def count(self) -> None:
        """The act goes on, with the time that is left of its bound."""
        self._waits -= 1
        if not self._waits and not self._is_over:
            self._end_at(self.task.get_loop().time() + self._seconds_left)

    def give_back(self, seconds: float) -> None:
        """Some time does not count, because a call made progress or a model was loaded in it. A negative time is taken back."""
        self.stop_counting()
        self._seconds_left += seconds
        self.count()

    def _end_at(self, act_at: float) -> None:
        self._act_at = act_at
        self.ends_at = ends_at = act_at if act_at < self._wall_at else self._wall_at
        if ends_at < self.timer.rings_at:
            self.timer.set(ends_at)

    def end(self) -> None:
        """Cancel whatever the act waits for."""
        self._is_over = True
        self.ends_at = inf
        self.task.cancel()

    def __enter__(self) -> None:
        now = self.task.get_loop().time()
        self._cancelling = self.task.cancelling()
        self._wall_at = now + self.wall_seconds
        self.timer.acts[self] = None
        self._end_at(now + self.seconds_max)

    def __exit__(self, kind: type[BaseException] | None, *_raised: object) -> None:
        del self.timer.acts[self]
        # As in `asyncio.timeout`: if somebody else cancelled the task as well, it stays cancelled.
        if not self._is_over or self.task.uncancel() > self._cancelling or kind is not asyncio.CancelledError:
            return  # It ended by itself, or somebody else cancelled it.
        if self.timer.fenced is not None:
            raise self.timer.fenced from None
        if self.task.get_loop().time() >= self._wall_at:
            raise BudgetExceeded("max_wall_minutes") from None
        raise Refused(
            f"The act took longer than {self.seconds_max:g} seconds and was ended.",
            "If it needs more time, write act_seconds_max in its manifest.",
        ) from None
