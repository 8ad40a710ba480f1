"""What every store keeps as a `LedgerStore`: appending, all or nothing, reading, changes, positions and waiting for them."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from glasshouse.errors import Conflict
from glasshouse.events.codec import content_of, encoded
from glasshouse.events.event import Event
from glasshouse.runtime.store_port import Batch, Snapshot, Store
from glasshouse.testing.contracts.checking import Contract, check, check_each, refused_with
from glasshouse.testing.contracts.waiting import forever, loop_turns, soon
from glasshouse.testing.contracts.writing import (
    child,
    in_one_batch,
    ledger_of,
    line,
    lines,
    one_batch,
    opening,
    root,
    span,
    texts_of,
)

ADA = root("ada")
BO = root("bo", ordinal=2)
CY = root("cy", ordinal=3)


class LedgerContract(Contract):
    """A ledger: every store, and that of a replay, keeps this."""

    # Appending

    @check
    async def test_a_new_store_is_empty(self, store: Store) -> None:
        assert await store.position() == 0
        assert await store.read_after(0, 10) == []
        assert await store.segments_after(0) == []
        assert await store.lines(10) == []

    @check
    async def test_what_is_committed_is_read_back_whole(self, store: Store) -> None:
        first = await store.commit(one_batch(opening(ADA, "hello", "again")))

        events = await store.read([span(ADA)])

        assert first == 1
        assert [content_of(event) for event in events] == [
            content_of(line(ADA, 1, "hello")),
            content_of(line(ADA, 2, "again")),
        ]

    @check
    async def test_an_append_goes_behind_the_seq_it_expects(self, store: Store) -> None:
        await store.commit(one_batch(opening(ADA, "one")))

        first = await store.commit(one_batch(lines(ADA, 1, "two", "three")))

        assert first == 2
        assert texts_of(await store.read([span(ADA)])) == ["one", "two", "three"]

    @check_each("expected_head", [0, 3, 9])
    async def test_an_append_at_another_seq_is_a_conflict_that_says_where_it_stands(
        self, store: Store, expected_head: int
    ) -> None:
        await store.commit(one_batch(opening(ADA, "one", "two")))

        with refused_with(Conflict, match="stands at seq 2"):
            await store.commit(one_batch(lines(ADA, expected_head, "other")))

        assert await ledger_of(store) == ["one", "two"]

    @check_each("expected_head", [0, 4])
    async def test_an_append_to_a_session_that_never_began_is_a_conflict(
        self, store: Store, expected_head: int
    ) -> None:
        with refused_with(Conflict, match="no session s-ada"):
            await store.commit(one_batch(lines(ADA, expected_head, "hello")))

        assert await store.position() == 0

    @check
    async def test_the_same_id_with_other_content_is_a_conflict(self, store: Store) -> None:
        await store.commit(one_batch(opening(ADA, "one", "two")))

        with refused_with(Conflict):
            await store.commit(one_batch(lines(ADA, 1, "TWO")))

        assert await ledger_of(store) == ["one", "two"]

    @check
    async def test_events_that_begin_the_same_and_go_on_are_a_conflict(self, store: Store) -> None:
        await store.commit(one_batch(opening(ADA, "one", "two")))

        with refused_with(Conflict):
            await store.commit(one_batch(lines(ADA, 1, "two", "three")))

        assert await ledger_of(store) == ["one", "two"]

    # All or nothing

    @check
    async def test_one_batch_may_write_to_several_segments(self, store: Store) -> None:
        both = child("both", (ADA, 1), (BO, 1), base=1, ordinal=3)

        first = await store.commit(one_batch(opening(ADA, "a"), opening(BO, "b"), opening(both, "c", "d")))

        assert first == 1
        assert await ledger_of(store) == ["a", "b", "c", "d"]
        assert await store.segments_after(0) == [ADA, BO, both]

    @check
    async def test_several_batches_may_build_on_each_other_in_one_commit(self, store: Store) -> None:
        await store.commit([Batch((opening(ADA, "one"),)), Batch((lines(ADA, 1, "two", "three"),))])

        assert await ledger_of(store) == ["one", "two", "three"]
        assert [event.change for event in await store.read_after(0, 9)] == [1, 2, 2]

    @check
    async def test_a_store_goes_on_after_a_conflict_as_if_it_had_not_been(self, store: Store) -> None:
        await store.commit(one_batch(opening(ADA, "one")))
        with refused_with(Conflict):
            await store.commit([Batch((opening(BO, "b"), lines(ADA, 1, "two"))), Batch((lines(BO, 5, "x"),))])

        first = await store.commit(one_batch(lines(ADA, 1, "deux"), opening(BO, "be")))

        assert first == 2
        assert await ledger_of(store) == ["one", "deux", "be"]

    @check
    async def test_two_appends_at_one_seq_in_one_commit_are_a_conflict(self, store: Store) -> None:
        await store.commit(one_batch(opening(ADA, "one")))

        with refused_with(Conflict):
            await store.commit([Batch((lines(ADA, 1, "two"),)), Batch((lines(ADA, 1, "TWO"),))])

        assert await ledger_of(store) == ["one"]

    @check
    async def test_a_session_begun_in_two_ways_in_one_commit_is_a_conflict(self, store: Store) -> None:
        otherwise = root("ada", base=7)

        with refused_with(Conflict):
            await store.commit([Batch((opening(ADA, "one"),)), Batch((opening(otherwise, "one"),))])

        assert await store.position() == 0
        assert await store.segments_after(0) == []

    @check
    async def test_lines_of_several_sessions_in_one_batch_are_a_change_each_in_their_order(
        self,
        store: Store,
    ) -> None:
        await store.commit([*one_batch(opening(ADA, "a1")), *one_batch(opening(BO, "b1"))])

        said = in_one_batch(line(ADA, 2, "a2"), line(BO, 2, "b2"), line(ADA, 3, "a3"))
        first = await store.commit(
            [said, *one_batch(lines(ADA, 3, "a4", "a5")), in_one_batch(line(BO, 3, "b3"))]
        )

        assert first == 3
        assert texts_of(await store.read([span(ADA)])) == ["a1", "a2", "a3", "a4", "a5"]
        assert [
            (event.payload["text"], event.position, event.change) for event in await store.read_after(2, 9)
        ] == [
            ("a2", 3, 3),
            ("b2", 4, 4),
            ("a3", 5, 5),
            ("a4", 6, 6),
            ("a5", 7, 6),
            ("b3", 8, 8),
        ]

    @check_each("unfit", [line(ADA, 2, "other"), line(ADA, 9, "far off"), line(CY, 1, "nowhere")])
    async def test_a_line_that_does_not_fit_leaves_nothing_of_its_commit(
        self, store: Store, unfit: Event
    ) -> None:
        await store.commit(one_batch(opening(ADA, "one", "two")))

        with refused_with(Conflict):
            await store.commit([in_one_batch(line(ADA, 3, "three"), unfit)])

        await store.commit([in_one_batch(line(ADA, 3, "third"))])
        assert await ledger_of(store) == ["one", "two", "third"]

    @check
    async def test_a_commit_of_nothing_is_no_commit(self, store: Store) -> None:
        await store.commit(one_batch(opening(ADA, "one")))

        await store.commit([])
        await store.commit([Batch()])

        assert await store.position() == 1

    # Reading

    @check
    async def test_positions_are_dense_and_grow_in_the_order_of_commits(self, store: Store) -> None:
        firsts = [await store.commit(one_batch(opening(ADA, "a1", "a2"), opening(BO, "b1")))]
        firsts.append(await store.commit([Batch((lines(BO, 1, "b2"),)), Batch((lines(ADA, 2, "a3"),))]))

        events = await store.read_after(0, 100)

        assert firsts == [1, 4]
        assert [(event.position, event.payload["text"]) for event in events] == [
            (1, "a1"),
            (2, "a2"),
            (3, "b1"),
            (4, "b2"),
            (5, "a3"),
        ]
        assert await store.position() == 5

    @check_each(
        ("after", "events_max", "expected"),
        [(0, 2, "ab"), (2, 2, "cd"), (4, 9, "e"), (5, 9, ""), (99, 9, ""), (-3, 2, "ab")],
    )
    async def test_the_ledger_is_read_by_position_in_pieces(
        self, store: Store, after: int, events_max: int, expected: str
    ) -> None:
        await store.commit(one_batch(opening(ADA, *"abcde")))

        events = await store.read_after(after, events_max)

        assert texts_of(events) == list(expected)

    @check
    async def test_a_span_gives_the_events_from_its_first_to_its_last(self, store: Store) -> None:
        await store.commit(one_batch(opening(ADA, *"abcdef"), opening(BO, *"xyz")))

        events = await store.read([span(ADA, 3, 5)])

        assert texts_of(events) == ["c", "d", "e"]
        assert [event.position for event in events] == [3, 4, 5]

    @check
    async def test_spans_of_many_segments_come_in_one_order_of_time_then_segment(self, store: Store) -> None:
        early = root("early", base=0, ordinal=8)
        late = root("late", base=2, ordinal=3)
        await store.commit(one_batch(opening(late, "l3", "l4"), opening(early, "e1", "e2", "e3", "e4")))

        forwards = await store.read([span(early), span(late)])
        backwards = await store.read([span(late), span(early)])

        assert texts_of(forwards) == ["e1", "e2", "l3", "e3", "l4", "e4"]
        assert forwards == backwards

    @check
    async def test_segments_of_one_time_and_ordinal_are_ordered_by_their_ids(self, store: Store) -> None:
        others = [root(name) for name in "dbca"]
        await store.commit(one_batch(*[opening(segment, segment.id) for segment in others]))

        events = await store.read([span(segment) for segment in others])

        assert texts_of(events) == ["s-a", "s-b", "s-c", "s-d"]

    @check
    async def test_a_history_over_three_hundred_segments_is_read_in_order(self, store: Store) -> None:
        chain = [root(f"n{n:03}", base=2 * n, ordinal=n) for n in range(300)]
        await store.commit(
            one_batch(*[opening(s, f"{s.base + 1}", f"{s.base + 2}") for s in reversed(chain)])
        )

        events = await store.read([span(segment) for segment in chain])

        assert texts_of(events) == [str(n) for n in range(1, 601)]

    @check
    async def test_no_spans_and_spans_behind_the_end_are_empty(self, store: Store) -> None:
        await store.commit(one_batch(opening(ADA, "one")))

        assert await store.read([]) == []
        assert await store.read([span(ADA, 2, 9)]) == []

    @check
    async def test_a_session_that_nobody_wrote_reads_as_empty(self, store: Store) -> None:
        assert await store.read([span(BO)]) == []

    @check
    async def test_segments_keep_how_they_began(self, store: Store) -> None:
        split = child("split", (ADA, 2), base=2)
        merge = child("merge", (ADA, 1), (split, 1), (BO, 3), base=9, ordinal=3)
        imported = replace(child("carried", (ADA, 2), base=40, ordinal=4), is_imported=True)
        await store.commit(one_batch(opening(ADA, "a", "b"), opening(BO, *"xyz"), opening(split, "c")))
        await store.commit(one_batch(opening(merge, "m"), opening(imported, "i")))

        assert await store.segments_after(0) == [ADA, BO, split, merge, imported]

    @check
    async def test_segments_after_a_position_are_those_whose_first_event_lies_behind_it(
        self,
        store: Store,
    ) -> None:
        await store.commit(one_batch(opening(ADA, "a", "b")))
        await store.commit(one_batch(lines(ADA, 2, "c"), opening(BO, "x")))

        assert await store.segments_after(2) == [BO]
        assert await store.segments_after(3) == [BO]
        assert await store.segments_after(4) == []

    @check
    async def test_events_are_read_by_their_positions(self, store: Store) -> None:
        await store.commit(one_batch(opening(ADA, "a", "b", "c")))
        await store.commit(one_batch(lines(ADA, 3, "d", "e")))

        some = await store.read_at([5, 2, 2, 99, 0])

        assert [(event.position, event.change, event.seq) for event in some] == [(2, 1, 2), (5, 4, 5)]
        assert some == [event for event in await store.read_after(0, 9) if event.position in (2, 5)]

    # Changes

    @check
    async def test_the_events_of_a_batch_have_the_position_of_its_first_as_their_change(
        self,
        store: Store,
    ) -> None:
        await store.commit(one_batch(opening(ADA, "a", "b", "c")))
        await store.commit([Batch((lines(ADA, 3, "d"),)), Batch((lines(ADA, 4, "e", "f"), opening(BO, "x")))])

        assert [event.change for event in await store.read_after(0, 9)] == [1, 1, 1, 4, 5, 5, 5]
        assert [event.change for event in await store.read([span(ADA, 3, 5)])] == [1, 4, 5]
        assert [event.change for event in await store.read([span(BO)])] == [5]

    @check
    async def test_two_writes_of_one_batch_to_one_session_are_one_change(self, store: Store) -> None:
        await store.commit(one_batch(opening(ADA, "a"), opening(BO, "x"), lines(ADA, 1, "b")))

        assert [event.change for event in await store.read([span(ADA)])] == [1, 1]

    @check
    async def test_a_change_is_no_part_of_an_event_s_content(self, store: Store) -> None:
        await store.commit(one_batch(opening(CY, "before")))
        await store.commit(one_batch(opening(ADA, "a", "b")))

        second = (await store.read([span(ADA)]))[1]

        assert (second.position, second.change) == (3, 2)
        assert encoded(second) == encoded(line(ADA, 2, "b"))
        assert content_of(second) == content_of(line(ADA, 2, "b"))

    # Positions, and waiting for them

    @check
    async def test_the_position_is_that_of_the_last_committed_event(self, store: Store) -> None:
        positions = [await store.position()]
        for batches in (
            one_batch(opening(ADA, "a", "b")),
            [Batch(snapshot=Snapshot("", "world", "1", 0, b"w"))],
            [Batch((lines(ADA, 2, "c"),)), Batch((opening(BO, "x"),))],
        ):
            await store.commit(batches)
            positions.append(await store.position())

        assert positions == [0, 2, 2, 4]

    @check
    async def test_who_waits_for_a_position_that_is_there_does_not_wait(self, store: Store) -> None:
        await store.commit(one_batch(opening(ADA, "a", "b")))

        assert await soon(store.wait_beyond(1, forever)) == 2

    @check
    async def test_who_waits_beyond_the_last_position_gets_the_next_commit(self, store: Store) -> None:
        await store.commit(one_batch(opening(ADA, "a")))
        waiting = [asyncio.create_task(store.wait_beyond(1, forever)) for _ in range(2)]
        await loop_turns()
        assert not any(task.done() for task in waiting)

        await store.commit(one_batch(lines(ADA, 1, "b", "c")))

        assert await soon(asyncio.gather(*waiting)) == [3, 3]

    @check
    async def test_waiting_for_a_position_ends_when_its_time_is_over(self, store: Store) -> None:
        assert await soon(store.wait_beyond(0, 0.0)) == 0
        assert await soon(store.wait_beyond(7, 0.01)) == 0

    @check
    async def test_who_stops_to_wait_for_a_position_leaves_the_store_as_it_was(self, store: Store) -> None:
        waiting = asyncio.create_task(store.wait_beyond(0, forever))
        await loop_turns()

        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

        assert await store.commit(one_batch(opening(ADA, "a"))) == 1

    # A commit that nobody knows of

    @check
    async def test_a_commit_is_found_by_its_first_position_and_one_that_failed_is_not(
        self,
        store: Store,
    ) -> None:
        await store.commit(one_batch(opening(ADA, "a", "b")))
        with refused_with(Conflict):
            await store.commit(one_batch(lines(ADA, 7, "far")))

        assert [await store.committed(position) for position in (1, 2, 3)] == [True, True, False]
        assert await store.commit(one_batch(lines(ADA, 2, "c"))) == 3
        assert await store.committed(3)
