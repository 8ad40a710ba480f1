"""Calls from inside an act: nobody may wait there for the end of that same act.

Theory of operation. An act marks the context it runs in, and whatever is started there inherits the mark: tasks, and
threads that get the context. The act waits for what the engine started for it: its agent, its tools, the approver.
Calls from those are refused at once. A task that an agent or a tool started by itself may outlive the act, or the act
may wait for it: nobody can tell. Its call waits for the end of the act first, up to a bound. A mark belongs to one
house: a tool may play a show of another.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Final

from glasshouse.errors import Refused

own_act_seconds_max: Final = 60.0
"""So long a task that an act began waits for the end of it; then the act may well be waiting for the task."""


class ActUnderWay:
    """An act that is under way in one house; as a context, what happens inside it belongs to the act."""

    def __init__(self, house: object) -> None:
        self.house = house
        self.parts: set[asyncio.Task[object] | None] = {asyncio.current_task()}
        self.end = asyncio.Event()

    def __enter__(self) -> None:
        acts = _acts.get()
        others = tuple([act for act in acts if not act.end.is_set()]) if acts else ()
        self._token = _acts.set((*others, self))

    def __exit__(self, *_raised: object) -> None:
        _acts.reset(self._token)
        self.end.set()


_acts: ContextVar[tuple[ActUnderWay, ...]] = ContextVar("acts that this is inside of", default=())
_acts_of_thread: ContextVar[tuple[ActUnderWay, ...]] = ContextVar(
    "acts that wait for this thread", default=()
)


def be_part_of_the_act() -> None:
    """The task that says this is waited for by the acts it was begun in."""
    task = asyncio.current_task()
    for act in _acts.get():
        act.parts.add(task)


def be_a_thread_of_the_act() -> None:
    """The same for the thread that is to run in this context, and for whatever it asks of a loop."""
    _acts_of_thread.set(_acts.get())


def check_is_outside(house: object) -> None:
    """Refuse whoever asks, as part of an act, for something that would wait for that very act."""
    task = asyncio.current_task()
    if any(task in act.parts or act in _acts_of_thread.get() for act in _under_way(house)):
        raise Refused(
            "This waits for the end of the act that asks for it.",
            "Let the act end, and ask from outside, or in a task that it leaves behind.",
        )


def check_gives_no_right(house: object) -> None:
    """Refuse whoever would give privilege from inside an act: no mind, no tool and nobody they ask has it to give."""
    if _under_way(house):
        raise Refused("Privilege is not given from inside an act.", "Let somebody outside grant it.")


async def wait_to_be_outside(house: object, seconds_max: float | None = None) -> None:
    """The same, and let a task that an act has left behind wait until that act has ended."""
    check_is_outside(house)
    for act in _under_way(house):
        try:
            await asyncio.wait_for(act.end.wait(), seconds_max or own_act_seconds_max)
        except TimeoutError:
            raise Refused(
                "The act that began this task does not end. It may be waiting for the task.",
                "Begin the task in the act, and do not wait for it there.",
            ) from None


def _under_way(house: object) -> list[ActUnderWay]:
    return [act for act in _acts.get() if act.house is house and not act.end.is_set()]
