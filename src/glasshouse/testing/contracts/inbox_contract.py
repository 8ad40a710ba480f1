"""What every store keeps as an `Inbox`: lines and requests of other processes, and waiting for them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from glasshouse.errors import Conflict
from glasshouse.runtime.store_port import (
    Batch,
    InboxLine,
    InboxRequest,
    InboxWrites,
    Store,
)
from glasshouse.stores.placing import answers_kept_max
from glasshouse.testing.contracts.checking import Contract, Opener, check, refused_with
from glasshouse.testing.contracts.waiting import forever, loop_turns, soon
from glasshouse.testing.contracts.writing import lines, opening, root, texts_of

ADA = root("ada")


class InboxContract(Contract):
    """The inbox of a store."""

    # Lines

    @check
    async def test_lines_are_read_oldest_first_and_stay_until_they_are_done(self, store: Store) -> None:
        numbers = [
            await store.put_line(text, run) for text, run in [("one", "r-1"), ("two", None), ("three", None)]
        ]

        assert await store.lines(2) == [
            InboxLine(numbers[0], "r-1", "one"),
            InboxLine(numbers[1], None, "two"),
        ]
        assert [kept.text for kept in await store.lines(9)] == ["one", "two", "three"]
        assert [kept.text for kept in await store.lines(9, numbers[0])] == ["two", "three"]

    @check
    async def test_a_line_goes_out_with_the_batch_that_answers_it(self, store: Store) -> None:
        first = await store.put_line("one")
        second = await store.put_line("two")

        await store.commit([Batch((opening(ADA, "heard one"),), inbox=InboxWrites((first,)))])

        assert await store.lines(9) == [InboxLine(second, None, "two")]
        assert texts_of(await store.read_after(0, 9)) == ["heard one"]

    @check
    async def test_a_line_is_kept_if_its_answer_is_refused(self, store: Store) -> None:
        number = await store.put_line("one")

        with refused_with(Conflict):
            await store.commit([Batch((lines(ADA, 4, "heard"),), inbox=InboxWrites((number,)))])

        assert [kept.number for kept in await store.lines(9)] == [number]

    @check
    async def test_a_number_is_never_given_twice(self, opener: Opener) -> None:
        store = opener()
        await store.open("house-one")
        first = await store.put_line("one")
        await store.commit([Batch(inbox=InboxWrites((first,)))])
        await store.close()
        store = opener()
        await store.open("house-one")

        second = await store.put_line("two")
        await store.commit([Batch(inbox=InboxWrites((first,)))])

        assert second > first
        assert await store.lines(9) == [InboxLine(second, None, "two")]
        await store.close()

    # Requests

    @check
    async def test_requests_are_read_oldest_first_until_they_are_answered(self, store: Store) -> None:
        first, second = [await store.put_request(body) for body in ("{1}", "{2}")]

        await store.commit([Batch((opening(ADA, "done"),), inbox=InboxWrites(answers=((first, "yes"),)))])

        assert await store.open_requests(9) == [InboxRequest(second, "{2}")]
        assert await store.request(first) == InboxRequest(first, "{1}", answer="yes")
        assert await store.request(second + 1) is None

    @check
    async def test_a_request_is_withdrawn_only_before_it_is_taken(self, store: Store) -> None:
        first, second = [await store.put_request(body) for body in ("{1}", "{2}")]

        assert await store.take_request(first)
        assert not await store.withdraw_request(first)
        assert await store.withdraw_request(second)

        assert not await store.take_request(second)
        assert not await store.withdraw_request(second)
        assert await store.open_requests(9) == [InboxRequest(first, "{1}", is_taken=True)]

    @check
    async def test_the_first_answer_stands_and_none_is_kept_if_its_batch_is_refused(
        self, store: Store
    ) -> None:
        number = await store.put_request("{}")
        with refused_with(Conflict):
            await store.commit(
                [Batch((lines(ADA, 4, "done"),), inbox=InboxWrites(answers=((number, "refused"),)))]
            )
        unanswered = await store.request(number)

        for answer in ("first", "second"):
            await store.commit([Batch(inbox=InboxWrites(answers=((number, answer),)))])

        assert unanswered == InboxRequest(number, "{}")
        assert await store.request(number) == InboxRequest(number, "{}", answer="first")

    @check
    async def test_old_answers_are_dropped_and_open_requests_never_are(self, store: Store) -> None:
        waiting = await store.put_request("waits")
        numbers = [await store.put_request("{}") for _ in range(answers_kept_max + 3)]

        for number in numbers:
            await store.commit([Batch(inbox=InboxWrites(answers=((number, "yes"),)))])

        kept = [number for number in numbers if await store.request(number) is not None]
        assert kept == numbers[-answers_kept_max:]
        assert [request.number for request in await store.open_requests(9)] == [waiting]

    # Waiting

    @check
    async def test_the_first_mark_is_given_at_once_and_stays_while_nothing_changes(
        self, store: Store
    ) -> None:
        first = await soon(store.wait_for_more("", forever))
        await store.commit([Batch((opening(ADA, "a"),))])
        await store.lines(9)

        assert first
        assert await soon(store.wait_for_more(first, 0.0)) == first

    @check
    async def test_every_change_of_the_inbox_has_a_mark_of_its_own(self, store: Store) -> None:
        marks = [await store.wait_for_more("", 0.0)]
        line = await store.put_line("one")
        marks.append(await soon(store.wait_for_more(marks[-1], forever)))
        first, second = [await store.put_request(body) for body in ("{1}", "{2}")]
        marks.append(await soon(store.wait_for_more(marks[-1], forever)))

        await store.commit([Batch(inbox=InboxWrites((line,)))])
        marks.append(await soon(store.wait_for_more(marks[-1], forever)))
        await store.take_request(first)
        marks.append(await soon(store.wait_for_more(marks[-1], forever)))
        await store.withdraw_request(second)
        marks.append(await soon(store.wait_for_more(marks[-1], forever)))
        await store.commit([Batch(inbox=InboxWrites(answers=((first, "yes"),)))])
        marks.append(await soon(store.wait_for_more(marks[-1], forever)))

        assert len({*marks}) == len(marks) == 7

    @check
    async def test_who_waits_for_more_is_woken_by_a_line_and_by_an_answer(self, store: Store) -> None:
        number = await store.put_request("{}")
        changes: list[Callable[[], Awaitable[int]]] = [
            lambda: store.put_line("one"),
            lambda: store.commit([Batch(inbox=InboxWrites(answers=((number, "yes"),)))]),
        ]
        mark = await store.wait_for_more("", 0.0)
        for change in changes:
            waiting = asyncio.create_task(store.wait_for_more(mark, forever))
            await loop_turns()
            assert not waiting.done()

            await change()

            mark = await soon(waiting)

    @check
    async def test_what_changed_between_the_mark_and_the_waiting_is_not_missed(self, store: Store) -> None:
        mark = await store.wait_for_more("", 0.0)
        assert await store.lines(9) == []
        await store.put_line("just now")

        assert await soon(store.wait_for_more(mark, forever)) != mark

    @check
    async def test_an_answer_that_pushes_an_old_one_out_changes_the_mark(self, store: Store) -> None:
        numbers = [await store.put_request("{}") for _ in range(answers_kept_max + 1)]
        marks = {await store.wait_for_more("", 0.0)}

        for number in numbers:
            await store.commit([Batch(inbox=InboxWrites(answers=((number, "yes"),)))])
            marks.add(await store.wait_for_more("", 0.0))

        assert len(marks) == len(numbers) + 1
