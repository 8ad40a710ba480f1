"""The thread of a store: its answers reach the tasks that await them, and no cancelled one stops it."""

import asyncio
import threading
from collections.abc import Iterator
from contextvars import Context, ContextVar

import pytest

from glasshouse.stores.sqlite.thread import Answer, WorkThread
from tests.runtime.troupe import soon


@pytest.fixture
def thread() -> Iterator[WorkThread]:
    thread = WorkThread("under test")
    yield thread
    thread.stop()


async def test_everybody_who_awaits_an_answer_gets_it_early_or_late(thread: WorkThread) -> None:
    gate = threading.Event()
    answer = thread.call(gate.wait)

    waiting = [asyncio.create_task(soon(answer)) for _ in range(2)]
    await asyncio.sleep(0)
    gate.set()

    assert await asyncio.gather(*waiting) == [True, True]
    assert await soon(answer) is True


async def test_an_exception_is_raised_where_the_answer_is_awaited(thread: WorkThread) -> None:
    answer = thread.call(int, "no number")

    with pytest.raises(ValueError, match="no number"):
        await soon(answer)

    assert await soon(thread.call(int, "7")) == 7


async def test_a_cancelled_task_ends_at_once_and_its_call_goes_on(thread: WorkThread) -> None:
    gate, done = threading.Event(), threading.Event()

    def work() -> None:
        gate.wait()
        done.set()

    async def ask() -> None:
        await thread.call(work)

    task = asyncio.create_task(ask())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await soon(task)
    gate.set()

    assert await soon(thread.call(done.is_set)) is True


async def test_a_task_that_is_cancelled_when_its_answer_is_there_is_woken_once(thread: WorkThread) -> None:
    gate, is_posted, ends = threading.Event(), threading.Event(), list[str]()

    async def ask() -> None:
        try:
            await thread.call(gate.wait)
            ends.append("answered")
        except asyncio.CancelledError:
            ends.append("cancelled")
            raise

    task = asyncio.create_task(ask())
    await asyncio.sleep(0)
    gate.set()
    after = thread.call(is_posted.set)
    is_posted.wait()  # The loop has not run since: the first answer lies ready.
    task.cancel()
    await asyncio.wait([task])
    await soon(after)

    assert ends == ["cancelled"]


async def test_an_answer_that_is_awaited_for_too_long_can_be_awaited_again(thread: WorkThread) -> None:
    gate = threading.Event()
    answer = thread.call(gate.wait)

    done, _ = await asyncio.wait([answer], timeout=0)
    gate.set()

    assert not done
    assert await soon(answer) is True


async def test_who_awaits_an_answer_first_goes_on_as_soon_as_it_comes_and_all_others_soon() -> None:
    answer, called = Answer(loop=asyncio.get_running_loop()), list[str]()
    answer.add_done_callback(lambda _: called.append("first"))
    answer.add_done_callback(lambda _: called.append("second"))

    answer.settle(7, None)

    assert called == ["first"]
    assert await soon(answer) == 7
    await asyncio.sleep(0)
    assert called == ["first", "second"]


async def test_what_a_task_sets_after_its_first_answer_stays_set(thread: WorkThread) -> None:
    name: ContextVar[str] = ContextVar("name")

    async def ask() -> str:
        await thread.call(int, "7")
        name.set("Fern")
        await asyncio.sleep(0)
        return name.get("forgotten")

    # In a program that sets no context variable, every task begins with an empty context.
    assert await soon(asyncio.create_task(ask(), context=Context())) == "Fern"
