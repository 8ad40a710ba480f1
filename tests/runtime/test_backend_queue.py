"""The queue of a model server: fair by run, then by creature; never over its slots; safe to cancel; with a circuit."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import ModelUnreachable
from glasshouse.models.scripted import ScriptedModel
from glasshouse.runtime.acts.backend_queue import BackendQueue, queue_of
from glasshouse.runtime.capabilities import capabilities_of
from glasshouse.runtime.ports import Model
from tests.runtime.troupe import loop_turns, soon

AWAY = ModelUnreachable("Nobody answers.")


def queue_with(parallel: int) -> BackendQueue:
    queue = BackendQueue("server")
    queue.set_parallel_max(parallel)
    return queue


async def entering(queue: BackendQueue, caller: str) -> None:
    if not queue.enter_now():
        await queue.wait_for_slot(caller[0], caller[1])


async def entered(queue: BackendQueue, *callers: str) -> list[asyncio.Task[None]]:
    """One call of each caller, named by run and creature, in this order."""
    tasks = []
    for caller in callers:
        tasks.append(asyncio.create_task(entering(queue, caller), name=caller))
        await loop_turns()
    return tasks


def inside(tasks: list[asyncio.Task[None]]) -> list[str]:
    return [task.get_name() for task in tasks if task.done() and not task.cancelled()]


async def order_of(queue: BackendQueue, tasks: list[asyncio.Task[None]]) -> list[str]:
    """The order in which calls get in, if each that is inside leaves in turn."""
    order: list[str] = []
    while len(order) < len(tasks):
        order += [name for name in inside(tasks) if name not in order]
        queue.leave()
        await loop_turns()
    return order


async def test_a_slot_goes_to_the_run_and_then_to_the_creature_that_waited_longest() -> None:
    queue = queue_with(1)
    tasks = await entered(queue, "Aa", "Ab", "Ac", "Ad", "Ba", "Bb", "Ca")

    assert await order_of(queue, tasks) == ["Aa", "Ab", "Ba", "Ca", "Ac", "Bb", "Ad"]


@given(
    callers=st.lists(
        st.sampled_from([f"{run}{who}" for run in "ABC" for who in "abcd"]), min_size=1, unique=True
    )
)
async def test_the_numbers_of_those_who_wait_are_the_order_in_which_they_get_in(callers: list[str]) -> None:
    queue = queue_with(1)
    tasks = await entered(queue, "Zz", *callers)

    numbers = sorted(queue.numbers().items(), key=lambda entry: entry[1])

    assert [f"{run}{who}" for (run, who), _ in numbers] == (await order_of(queue, tasks))[1:]
    assert queue.numbers() == {}


async def test_a_creature_that_asks_twice_does_not_go_before_others_of_its_run() -> None:
    queue = queue_with(1)
    first = await entered(queue, "Ax", "Ay")
    more = [asyncio.create_task(entering(queue, "Ay"), name="again"), *(await entered(queue, "Az"))]

    assert await order_of(queue, [*first, *more]) == ["Ax", "Ay", "Az", "again"]


async def test_a_cancelled_call_gives_its_place_or_its_slot_back() -> None:
    queue = queue_with(1)
    first, second, third = await entered(queue, "Aa", "Ab", "Ac")
    second.cancel()
    await loop_turns()
    assert len(queue) == 1

    queue.leave()
    third.cancel()  # It got the slot and has not run since.
    await loop_turns()
    (fourth,) = await entered(queue, "Ad")

    assert first.done()
    assert fourth.done()
    assert len(queue) == 0


async def test_a_busy_server_is_left_alone_and_then_gets_fewer_calls_at_once() -> None:
    queue = queue_with(4)
    await entered(queue, "Aa", "Ab", "Ac", "Ad")
    with queue.busy():
        queue.leave()
        waiting = await entered(queue, "Ae", "Af", "Ag")
        for _ in range(3):
            queue.leave()
        await loop_turns()
        assert inside(waiting) == []
    await loop_turns()
    assert inside(waiting) == ["Ae", "Af"]

    queue.note_reached()
    await loop_turns()
    assert inside(waiting) == ["Ae", "Af", "Ag"]


async def test_three_calls_that_reach_nobody_open_the_circuit_and_one_trial_closes_it() -> None:
    queue = queue_with(2)
    inside_now = await entered(queue, "Aa", "Ab")
    waiting = await entered(queue, "Ac", "Bd")
    for _ in range(3):
        queue.note_failure(AWAY)
    for task in waiting:
        with pytest.raises(ModelUnreachable, match="Nobody answers"):
            await soon(task)
    for _ in inside_now:
        queue.leave()
    was_open = queue.is_open

    trial, other = await entered(queue, "Aa", "Ab")
    assert inside([trial, other]) == ["Aa"]
    queue.note_reached()
    await loop_turns()

    assert (was_open, queue.is_open) == (True, False)
    assert inside([trial, other]) == ["Aa", "Ab"]


async def test_models_of_one_server_share_a_queue() -> None:
    class Served(ScriptedModel):
        def __init__(self, backend: str, max_parallel: int) -> None:
            super().__init__("-")
            self.backend, self.max_parallel = backend, max_parallel

    first, other = Served("http://127.0.0.1:1", 2), Served("http://127.0.0.1:1", 3)
    own = ScriptedModel("-")

    queue = _queue_of(first, "one")
    assert queue is _queue_of(other, "other")
    assert queue is not None
    assert (queue.name, queue.parallel_max) == ("http://127.0.0.1:1", 3)
    assert _queue_of(own, "mine") is _queue_of(own, "mine") is not None
    assert _queue_of(ScriptedModel("-"), "mine") is not _queue_of(own, "mine")


def _queue_of(model: Model, name: str) -> BackendQueue:
    return queue_of(model, name, capabilities_of(model))


class _Call:
    def __init__(self) -> None:
        self.is_inside = False
        self.ends = asyncio.Event()


@given(
    parallel=st.integers(1, 4),
    callers=st.lists(st.sampled_from(["Aa", "Ab", "Ba", "Bb", "Ca"]), min_size=1, max_size=12),
    moves=st.lists(
        st.tuples(st.sampled_from(["end", "cancel", "busy", "away"]), st.integers(0, 11)), max_size=30
    ),
)
def test_whatever_ends_or_is_cancelled_no_slot_is_lost_and_none_is_given_twice(
    parallel: int, callers: list[str], moves: list[tuple[str, int]]
) -> None:
    async def played() -> None:
        queue, at_once = queue_with(parallel), [0, 0]

        async def called(caller: str, call: _Call) -> None:
            await entering(queue, caller)
            call.is_inside = True
            at_once[0] += 1
            at_once[1] = max(at_once)
            try:
                await call.ends.wait()
            finally:
                at_once[0] -= 1
                queue.leave()

        calls = [_Call() for _ in callers]
        tasks = [asyncio.create_task(called(*pair)) for pair in zip(callers, calls, strict=True)]
        await _turns()
        for move, number in moves:
            task, call = tasks[number % len(tasks)], calls[number % len(tasks)]
            if move == "end":
                call.ends.set()
            elif move == "cancel":
                task.cancel()
            elif move == "away":
                queue.note_failure(AWAY)
            else:
                with queue.busy():
                    await _turns()
            await _turns()
        queue.note_reached()
        for call in calls:
            call.ends.set()
        await soon(asyncio.gather(*tasks, return_exceptions=True))
        assert at_once[0] == 0
        assert at_once[1] <= parallel
        assert (len(queue), queue._running) == (0, 0)
        await soon(entering(queue, "Zz"))  # The queue still works.

    asyncio.run(played())


async def _turns() -> None:
    for _ in range(4):
        await asyncio.sleep(0)
