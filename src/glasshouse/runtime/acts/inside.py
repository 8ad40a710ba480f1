"""Calls from inside an act: code that an act waits for must not wait for the end of that act, and gives no rights.

Theory of operation. An act marks the context and the task it runs in. Tasks, and threads that get the context, inherit
the mark of the context. A task can be begun in an empty context, so a task factory also notes which task began it. The
act waits for what the engine started for it: its agent, its tools, the approver. Calls from those that would wait
for the act are refused at once. A task that an agent or a tool started may outlive the act, or the act may wait for it;
the engine cannot tell which. A call from such a task first waits for the end of the act, at most `own_act_seconds_max`.
Rights are refused to it also after that. A mark belongs to one house, because a tool may play a world in another house.

A task that no task began, such as one that a thread hands to the loop, may come from an act or from outside. It gives
no right if it was begun while code of an act ran. What is left is written in docs/security.md: a thread that waits for
the end of all acts, and `asyncio.Task(...)` made by hand in an empty context.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
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
    runs_code: bool = True
    """Whether code that is not the engine's has run in it: an agent of a program, a tool, the approver."""
    task: Task | None = msgspec.field(default_factory=asyncio.current_task)
    helpers: frozenset[Task | None] = frozenset()
    """The tasks that it waits for, beside its own."""
    has_ended: bool = False
    awaited: asyncio.Event | None = None
    """Set at the end of the act. Made only when somebody waits for that."""
    _before: tuple[ActUnderWay, ...] | None = None
    _token: Token[tuple[ActUnderWay, ...]] | None = None

    def __enter__(self) -> None:
        task = self.task
        self._before = before = _acts_of_tasks.get(task)
        mine: tuple[ActUnderWay, ...] = (self,)
        if before or _acts.get():
            mine = (*[act for act in _acts_here(task) if not act.has_ended], self)
        self._token, _acts_of_tasks[task] = _acts.set(mine), mine

    def __exit__(self, *_raised: object) -> None:
        assert self._token is not None, "it was entered"
        _acts.reset(self._token)
        if self._before is None:
            del _acts_of_tasks[self.task]
        else:
            _acts_of_tasks[self.task] = self._before
        self.has_ended = True
        if self.awaited is not None:
            self.awaited.set()

    async def wait_for_end(self) -> None:
        """Wait until the act has ended."""
        self.awaited = self.awaited or asyncio.Event()
        await self.awaited.wait()


_acts: ContextVar[tuple[ActUnderWay, ...]] = ContextVar("acts that this is inside of", default=())
_acts_of_tasks: dict[Task | None, tuple[ActUnderWay, ...]] = {}
"""The acts that a task plays, or that it was begun in, in whatever context."""
_acts_perhaps: dict[Task | None, tuple[ActUnderWay, ...]] = {}
"""The acts whose code ran when a task was begun by no task."""
_acts_of_thread: ContextVar[tuple[ActUnderWay, ...]] = ContextVar(
    "acts that wait for this thread", default=()
)


def be_part_of_the_act() -> None:
    """Mark the current task as one that the surrounding acts wait for."""
    task = asyncio.current_task()
    for act in _acts.get():
        act.runs_code = True
        act.helpers |= {task}


def be_a_thread_of_the_act() -> None:
    """Mark the thread that will run in this context, and the tasks that it starts in a loop, as ones that the acts
    wait for."""
    for act in _acts.get():
        act.runs_code = True
    _acts_of_thread.set(_acts.get())


class TaskWatch:
    """A task factory that notes in which acts a task is begun. It is installed while a house is open in its loop."""

    def __init__(self, before: Callable[..., Task] | None) -> None:
        self.before = before
        """The task factory that the loop had; None if it had none."""
        self.houses = 0

    def __call__(
        self, loop: asyncio.AbstractEventLoop, coro: Coroutine[Any, Any, Any], **options: Any
    ) -> Task:
        """Begin a task as the loop would, and note its acts."""
        task = (self.before or _plain_task)(loop, coro, **options)
        if _acts_of_tasks:
            _note_begun(task, asyncio.current_task(loop))
        return task


def _plain_task(loop: asyncio.AbstractEventLoop, coro: Coroutine[Any, Any, Any], **options: Any) -> Task:
    return asyncio.Task(coro, loop=loop, **options)


def _note_begun(task: Task, beginner: Task | None) -> None:
    if beginner is not None:
        acts, noted = _acts_of_tasks.get(beginner, ()), _acts_of_tasks
    else:
        under_way = [act for acts in list(_acts_of_tasks.values()) for act in acts if not act.has_ended]
        acts, noted = tuple([act for act in under_way if act.runs_code]), _acts_perhaps
    if acts:
        noted[task] = acts
        task.add_done_callback(lambda ended: noted.pop(ended, None))


def watch_tasks() -> None:
    """Note from now on in which acts the tasks of the running loop are begun."""
    loop = asyncio.get_running_loop()
    watch: Any = loop.get_task_factory()
    if not isinstance(watch, TaskWatch):
        watch = TaskWatch(watch)
        loop.set_task_factory(watch)
    watch.houses += 1


def unwatch_tasks() -> None:
    """Take back one `watch_tasks`. After the last one, the loop has the task factory that it had before."""
    loop = asyncio.get_running_loop()
    watch: Any = loop.get_task_factory()
    if isinstance(watch, TaskWatch):
        watch.houses -= 1
        if not watch.houses:
            loop.set_task_factory(watch.before)


def check_is_outside(house: object) -> list[ActUnderWay]:
    """Refuse a call that is part of an act and would wait for the end of that act. Returns the acts under way that began the
    task of the call."""
    task, acts = asyncio.current_task(), _under_way(house)
    if any(task is act.task or task in act.helpers or act in _acts_of_thread.get() for act in acts):
        raise Refused(
            "This waits for the end of the act that asks for it.",
            "Let the act end, and ask from outside, or in a task that it leaves behind.",
        )
    return acts


def check_gives_no_right(house: object, right: str = "Privilege is not given") -> None:
    """Refuse to grant privilege, or another right, from inside an act or a task that an act began: agents and tools cannot
    give a right that only an outside caller has."""
    task = asyncio.current_task()
    if any(act.house is house for act in _acts_here(task)):
        raise Refused(f"{right} from inside an act.", "Let somebody outside do it.")
    if any(act.house is house for act in _acts_perhaps.get(task, ())):
        raise Refused(
            "This call may come from an act: it was handed to the loop while an act ran.",
            "Call it in a task that your program began, or while nobody acts.",
        )


async def wait_to_be_outside(house: object) -> None:
    """Refuse a call that is part of an act; let a task that an act started wait until that act has ended."""
    for act in check_is_outside(house):
        try:
            await asyncio.wait_for(act.wait_for_end(), own_act_seconds_max)
        except TimeoutError:
            raise Refused(
                "The act that began this task does not end. It may be waiting for the task.",
                "Begin the task in the act, and do not wait for it there.",
            ) from None


def _under_way(house: object) -> list[ActUnderWay]:
    acts = _acts_here(asyncio.current_task())
    return [act for act in acts if act.house is house and not act.has_ended]


def _acts_here(task: Task | None) -> Iterable[ActUnderWay]:
    """The acts that the running code belongs to, by its context or by its task, ended or not."""
    by_context, by_task = _acts.get(), _acts_of_tasks.get(task, ())
    return dict.fromkeys((*by_context, *by_task)) if by_context and by_task else by_context or by_task
