"""Running a Python tool: bounded in time and size, and unable to break anything else.

Always holds: every call gets an answer, unless it is strict, which is for debugging. An exception, a timeout, or a result that is too large or not data becomes a
failure with a message. A plain function runs in its own thread. If it does not end in time, the thread is abandoned,
because Python cannot stop a thread.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from contextvars import copy_context
from typing import Any, Final

import msgspec

from glasshouse.errors import BadEvent
from glasshouse.events import kinds
from glasshouse.events.codec import json_copy
from glasshouse.events.event import Json
from glasshouse.runtime.acts.inside import be_a_thread_of_the_act, be_part_of_the_act
from glasshouse.runtime.minds.faults import fault_in_words
from glasshouse.tools.function import Tool
from glasshouse.turns.moment.line_text import compact_json, cut, one_line
from glasshouse.turns.moment.tools import ToolAnswer

failure_chars_max: Final = 300
"""The message about a tool's exception is cut here."""
threads_left_behind_max: Final = 16
"""The maximum number of running threads. At this number, no plain function starts until one ends."""

_left_behind: set[threading.Thread] = set()


async def run_tool(tool: Tool[..., Any], arguments: Json, *, is_strict: bool = False) -> ToolAnswer:
    """Run a tool and return its answer. With `is_strict`, what the tool raises is raised."""
    _left_behind.difference_update([thread for thread in _left_behind if not thread.is_alive()])
    if not tool.is_async and len(_left_behind) >= threads_left_behind_max:
        return _failure(f"{tool.name} is not to be had now: too many calls before it have not ended.")
    running: asyncio.Future[Any] = (
        asyncio.ensure_future(_guarded(tool, arguments))
        if tool.is_async
        else asyncio.wrap_future(_begun_in_thread(tool, arguments))
    )
    try:
        done, _ = await asyncio.wait([running], timeout=tool.seconds_max)
    finally:
        running.cancel()
    if not done:
        running.add_done_callback(_forget)
        return _failure(f"{tool.name} took longer than {tool.seconds_max:g} seconds and was given up.")
    if running.cancelled():
        return _failure(f"{tool.name} gave up by itself.")
    wrong = running.exception()
    if wrong is not None:
        raised = wrong.__cause__ or wrong if isinstance(wrong, _Left) else wrong
        if is_strict:
            raise raised if isinstance(raised, Exception) else wrong
        return _failure(fault_in_words(raised))
    return _answer(tool, running.result())


class _Left(RuntimeError):
    """What a tool raised is its cause. No future can hold a `StopIteration`, and no task a `SystemExit`."""


async def _guarded(tool: Tool[..., Any], arguments: Json) -> Any:
    be_part_of_the_act()
    try:
        return await tool.function(**arguments)
    except SystemExit as leaving:
        raise _Left from leaving


def _begun_in_thread(tool: Tool[..., Any], arguments: Json) -> Future[Any]:
    """Run a plain function in a daemon thread, so that a function that never ends cannot keep the program alive."""
    done: Future[Any] = Future()
    context = copy_context()
    context.run(be_a_thread_of_the_act)

    def run() -> None:
        if not done.set_running_or_notify_cancel():
            return
        try:
            done.set_result(context.run(tool.function, **arguments))
        except BaseException as wrong:
            left = _Left()
            left.__cause__ = wrong
            done.set_exception(left)

    thread = threading.Thread(target=run, name=f"tool {tool.name}", daemon=True)
    _left_behind.add(thread)
    done.add_done_callback(lambda _: _left_behind.discard(thread))
    thread.start()
    return done


def _forget(running: asyncio.Future[Any]) -> None:
    """Read the exception of an abandoned call, so that asyncio does not log it as never retrieved."""
    if not running.cancelled():
        running.exception()


def _answer(tool: Tool[..., Any], value: Any) -> ToolAnswer:
    if value is None:
        return ToolAnswer(is_ok=True, text="Done.")
    if isinstance(value, str):
        text = str.encode(value, "utf-8", "replace").decode()
        result = None
    else:
        try:
            result = json_copy(kinds.TOOL_RETURNED, {"value": msgspec.to_builtins(value)})["value"]
            text = compact_json(result).encode("utf-8", "replace").decode()
        except (BadEvent, TypeError, ValueError, RecursionError):
            return _failure(f"{tool.name} returned something that is not data: {type(value).__name__}.")
    size = len(text.encode())
    if size > tool.bytes_max:
        return _failure(
            f"{tool.name} gave back {size:,} bytes, and at most {tool.bytes_max:,} are taken. Ask for less."
        )
    return ToolAnswer(is_ok=True, text=text or "Done.", result=result)


def _failure(text: str) -> ToolAnswer:
    return ToolAnswer(is_ok=False, text=cut(one_line(text), failure_chars_max))
