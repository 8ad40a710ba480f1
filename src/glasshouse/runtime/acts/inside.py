"""Calls from inside an act: code that an act waits for must not wait for the end of that act.

Theory of operation. An act marks the context it runs in. Tasks, and threads that get the context, inherit the mark.
The act waits for what the engine started for it: its agent, its tools, the approver. Calls from those that would wait
for the act are refused at once. A task that an agent or a tool started may outlive the act, or the act may wait for it;
the engine cannot tell which. A call from such a task first waits for the end of the act, at most `own_act_seconds_max`.
A mark belongs to one house, because a tool may play a world in another house.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Final

from glasshouse.errors import Refused

own_act_seconds_max: Final = 60.0
"""How long a task that an act started waits for the end of that act. After this, the act is probably waiting for the
task."""


class ActUnderWay:
    """An act under way in one house. Used as a context manager: code that runs inside it belongs to the act."""

    def __init__(self, house: object) -> None:
        self.house = house
        self.parts: set[asyncio.Task[object] | None] = {asyncio.current_task()}
        self.has_ended = False
        self.awaited: asyncio.Event | None = None
        """Set at the end of the act. Made only when somebody waits for that."""

    def __enter__(self) -> None:
        acts = _acts.get()
        others = tuple([act for act in acts if not act.has_ended]) if acts else ()
        self._token = _acts.set((*others, self))

    def __exit__(self, *_raised: object) -> None:
        _acts.reset(self._token)
        self.has_ended = True
        if self.awaited is not None:
            self.awaited.set()

    async def wait_for_end(self) -> None:
        """Wait until the act has ended."""
        self.awaited = self.awaited or asyncio.Event()
        await self.awaited.wait()


_acts: ContextVar[tuple[ActUnderWay, ...]] = ContextVar("acts that this is inside of", default=())
_acts_of_thread: ContextVar[tuple[ActUnderWay, ...]] = ContextVar(
    "acts that wait for this thread", default=()
)


def be_part_of_the_act() -> None:
    """Mark the current task as one that the surrounding acts wait for."""
    task = asyncio.current_task()
    for act in _acts.get():
        act.parts.add(task)


def be_a_thread_of_the_act() -> None:
    """Mark the thread that will run in this context, and the tasks that it starts in a loop, as ones that the acts
    wait for."""
    _acts_of_thread.set(_acts.get())


def check_is_outside(house: object) -> None:
    """Refuse a call that is part of an act and would wait for the end of that act."""
    task = asyncio.current_task()
    if any(task in act.parts or act in _acts_of_thread.get() for act in _under_way(house)):
        raise Refused(
            "This waits for the end of the act that asks for it.",
            "Let the act end, and ask from outside, or in a task that it leaves behind.",
        )


def check_gives_no_right(house: object) -> None:
    """Refuse to grant privilege from inside an act: agents and tools cannot give a right that only an outside caller
    has."""
    if _under_way(house):
        raise Refused("Privilege is not given from inside an act.", "Let somebody outside grant it.")


async def wait_to_be_outside(house: object, seconds_max: float | None = None) -> None:
    """Refuse a call that is part of an act; let a task that an act started wait until that act has ended."""
    check_is_outside(house)
    for act in _under_way(house):
        try:
            await asyncio.wait_for(act.wait_for_end(), seconds_max or own_act_seconds_max)
        except TimeoutError:
            raise Refused(
                "The act that began this task does not end. It may be waiting for the task.",
                "Begin the task in the act, and do not wait for it there.",
            ) from None


def _under_way(house: object) -> list[ActUnderWay]:
    return [act for act in _acts.get() if act.house is house and not act.has_ended]
