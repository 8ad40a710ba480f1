"""Calls from inside an act: code that an act waits for must not wait for the end of that act, and gives no rights.

Theory of operation. An act marks the context it runs in, by a context variable. Tasks inherit it, and so do callbacks and threads
that get a copy of the context: `asyncio.to_thread`, and the threads of tools. The act waits for what the engine
started for it: its agent, its tools, the approver. Calls from those that would wait for the act are refused at once. A task
that an agent or a tool started may outlive the act, or the act may wait for it; the engine cannot tell which. A call from
such a task first waits for the end of the act, at most `own_act_seconds_max`. Rights are refused to it also after that. A mark
belongs to one house, because a tool may play a world in another house.

What runs in an empty context counts as outside: a task or a callback that was given one, and a thread begun by
`threading.Thread`. docs/security.md says so. If an act waits for a call from there that waits for the act, the bound of the
act in seconds ends both (ADR 0115).
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar, Token
from typing import Any, Final

import msgspec

from glasshouse.errors import Refused

Task = asyncio.Task[Any]

own_act_seconds_max: Final = 60.0
"""How long a task that an act started waits for the end of that act. After this, the act is probably waiting for the
task."""


class ActUnderWay(msgspec.Struct, eq=False):
    """An act under way in one house. Used as a context manager: code that runs inside it belongs to the act."""

    house: object
    task: Task | None = msgspec.field(default_factory=asyncio.current_task)
    helpers: frozenset[Task | None] = frozenset()
    """The tasks that it waits for, beside its own."""
    has_ended: bool = False
    awaited: asyncio.Event | None = None
    """Set at the end of the act. Made only when somebody waits for that."""
    _token: Token[tuple[ActUnderWay, ...]] | None = None

    def __enter__(self) -> None:
        mine: tuple[ActUnderWay, ...] = (self,)
        if around := _acts.get():  # A tool of an act plays a world of its own.
            mine = (*[act for act in around if not act.has_ended], self)
        self._token = _acts.set(mine)

    def __exit__(self, *_raised: object) -> None:
        assert self._token is not None, "it was entered"
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
        act.helpers |= {task}


def be_a_thread_of_the_act() -> None:
    """Mark the thread that will run in this context, and the tasks that it starts in a loop, as ones that the acts
    wait for."""
    _acts_of_thread.set(_acts.get())


def check_is_outside(house: object) -> list[ActUnderWay]:
    """Refuse a call that is part of an act and would wait for the end of that act. Returns the acts under way that began the
    task of the call."""
    acts = [act for act in _acts.get() if act.house is house and not act.has_ended]
    if acts:
        task = asyncio.current_task()
        of_thread = _acts_of_thread.get()
        if any(task is act.task or task in act.helpers or act in of_thread for act in acts):
            raise Refused(
                "This waits for the end of the act that asks for it.",
                "Let the act end, and ask from outside, or in a task that it leaves behind.",
            )
    return acts


def check_gives_no_right(house: object, right: str = "Privilege is not given") -> None:
    """Refuse to grant privilege, or another right, from inside an act or a task that an act began: agents and tools cannot
    give a right that only an outside caller has."""
    if any(act.house is house for act in _acts.get()):
        raise Refused(f"{right} from inside an act.", "Let somebody outside do it.")


async def wait_to_be_outside(house: object) -> None:
    """Refuse a call that is part of an act; let a task that an act started wait until that act has ended."""
    if not _acts.get():
        return  # It is inside of no act, like nearly every call.
    for act in check_is_outside(house):
        try:
            await asyncio.wait_for(act.wait_for_end(), own_act_seconds_max)
        except TimeoutError:
            raise Refused(
                "The act that began this task does not end. It may be waiting for the task.",
                "Begin the task in the act, and do not wait for it there.",
            ) from None
