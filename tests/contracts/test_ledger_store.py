"""What every store keeps as a `LedgerStore`: appending, all or nothing, reading, changes, positions and waiting for them."""

import asyncio
from itertools import chain

import pytest
from msgspec.structs import replace

from glasshouse.errors import Conflict
from glasshouse.events.codec import content_of, encoded, payload_within_bounds
from glasshouse.events.event import Event
from glasshouse.runtime.store_port import Batch, InboxWrites, Lines, SegmentWrite, Snapshot, Store
from tests.contracts.writing import child, line, lines, one_batch, opening, root, span, texts_of
from tests.every_store import Opener, forever
from tests.runtime.troupe import loop_turns, soon

ADA, BO, CY = root("ada"), root("bo", ordinal=2), root("cy", ordinal=3)


async def ledger_of(store: Store) -> list[str]:
    return texts_of(await store.read_after(0, 1_000))


# Appending


async def test_a_new_store_is_empty(ledger_store: Store) -> None:
    assert await ledger_store.position() == 0
    assert await ledger_store.read_after(0, 10) == []
    assert await ledger_store.segments_after(0) == []
    assert await ledger_store.lines(10) == []


async def test_what_is_committed_is_read_back_whole(ledger_store: Store) -> None:
    first = await ledger_store.commit(one_batch(opening(ADA, "hello", "again")))

    events = await ledger_store.read([span(ADA)])

    assert first == 1
    assert [content_of(event) for event in events] == [
        content_of(line(ADA, 1, "hello")),
        content_of(line(ADA, 2, "again")),
    ]


async def test_an_append_goes_behind_the_seq_it_expects(ledger_store: Store) -> None:
    await ledger_store.commit(one_batch(opening(ADA, "one")))

    first = await ledger_store.commit(one_batch(lines(ADA, 1, "two", "three")))

    assert first == 2
    assert texts_of(await ledger_store.read([span(ADA)])) == ["one", "two", "three"]


@pytest.mark.parametrize("expected_head", [0, 3, 9])
async def test_an_append_at_another_seq_is_a_conflict_that_says_where_it_stands(
    ledger_store: Store, expected_head: int
) -> None:
    await ledger_store.commit(one_batch(opening(ADA, "one", "two")))

    with pytest.raises(Conflict, match="stands at seq 2"):
        await ledger_store.commit(one_batch(lines(ADA, expected_head, "other")))

    assert await ledger_of(ledger_store) == ["one", "two"]


@pytest.mark.parametrize("expected_head", [0, 4])
async def test_an_append_to_a_session_that_never_began_is_a_conflict(
    ledger_store: Store, expected_head: int
) -> None:
    with pytest.raises(Conflict, match="no session s-ada"):
        await ledger_store.commit(one_batch(lines(ADA, expected_head, "hello")))

    assert await ledger_store.position() == 0


@pytest.mark.parametrize("again", [(0, "one", "two", "three"), (0, "one"), (1, "two", "three"), (2, "three")])
async def test_the_same_events_again_change_nothing(store: Store, again: tuple[int, str]) -> None:
    await store.commit(one_batch(opening(ADA, "one", "two", "three")))

    await store.commit(one_batch(lines(ADA, *again)))

    assert await store.position() == 3
    assert await ledger_of(store) == ["one", "two", "three"]


async def test_opening_again_with_the_same_events_changes_nothing(store: Store) -> None:
    await store.commit(one_batch(opening(ADA, "one", "two")))

    await store.commit(one_batch(opening(ADA, "one", "two")))

    assert await ledger_of(store) == ["one", "two"]
    assert await store.segments_after(0) == [ADA]


async def test_the_same_content_in_other_bytes_is_the_same_event(store: Store) -> None:
    await store.commit(one_batch(opening(ADA, "one")))
    spaced = lines(ADA, 0, "one").bodies[0].replace(b'":', b'": ')

    await store.commit(one_batch(SegmentWrite(ADA.id, 0, (spaced,))))

    assert await store.position() == 1


async def test_the_same_id_with_other_content_is_a_conflict(ledger_store: Store) -> None:
    await ledger_store.commit(one_batch(opening(ADA, "one", "two")))

    with pytest.raises(Conflict):
        await ledger_store.commit(one_batch(lines(ADA, 1, "TWO")))

    assert await ledger_of(ledger_store) == ["one", "two"]


async def test_events_that_begin_the_same_and_go_on_are_a_conflict(ledger_store: Store) -> None:
    await ledger_store.commit(one_batch(opening(ADA, "one", "two")))

    with pytest.raises(Conflict):
        await ledger_store.commit(one_batch(lines(ADA, 1, "two", "three")))

    assert await ledger_of(ledger_store) == ["one", "two"]


async def test_a_session_that_began_otherwise_is_a_conflict(store: Store) -> None:
    await store.commit(one_batch(opening(ADA, "one")))

    with pytest.raises(Conflict, match="began otherwise"):
        await store.commit(one_batch(opening(root("ada", base=7), "one")))

    assert await store.segments_after(0) == [ADA]


# All or nothing


async def test_one_batch_may_write_to_several_segments(ledger_store: Store) -> None:
    both = child("both", (ADA, 1), (BO, 1), base=1, ordinal=3)

    first = await ledger_store.commit(one_batch(opening(ADA, "a"), opening(BO, "b"), opening(both, "c", "d")))

    assert first == 1
    assert await ledger_of(ledger_store) == ["a", "b", "c", "d"]
    assert await ledger_store.segments_after(0) == [ADA, BO, both]


async def test_several_batches_may_build_on_each_other_in_one_commit(ledger_store: Store) -> None:
    await ledger_store.commit([Batch((opening(ADA, "one"),)), Batch((lines(ADA, 1, "two", "three"),))])

    assert await ledger_of(ledger_store) == ["one", "two", "three"]
    assert [event.change for event in await ledger_store.read_after(0, 9)] == [1, 2, 2]


async def test_a_conflict_in_the_last_write_leaves_nothing_of_the_others(opener: Opener) -> None:
    store = opener()
    await store.open("house-one")
    await store.commit(one_batch(opening(ADA, "one")))
    number = await store.put_line("a lantern whispers")
    good = Batch(
        (lines(ADA, 1, "two"), opening(BO, "b")),
        inbox=InboxWrites((number,)),
        snapshot=Snapshot("", "world", "1", 0, b"w"),
    )

    with pytest.raises(Conflict):
        await store.commit([good, Batch((lines(ADA, 9, "far"),))])

    for _ in ("as it is", "and opened again"):
        assert await store.position() == 1
        assert await ledger_of(store) == ["one"]
        assert await store.segments_after(0) == [ADA]
        assert await store.snapshot("", "world", "1") is None
        assert [kept.number for kept in await store.lines(9)] == [number]
        await store.close()
        store = opener()
        await store.open("another house")
    await store.close()


async def test_a_store_goes_on_after_a_conflict_as_if_it_had_not_been(ledger_store: Store) -> None:
    await ledger_store.commit(one_batch(opening(ADA, "one")))
    with pytest.raises(Conflict):
        await ledger_store.commit(
            [Batch((opening(BO, "b"), lines(ADA, 1, "two"))), Batch((lines(BO, 5, "x"),))]
        )

    first = await ledger_store.commit(one_batch(lines(ADA, 1, "deux"), opening(BO, "be")))

    assert first == 2
    assert await ledger_of(ledger_store) == ["one", "deux", "be"]


async def test_the_same_events_twice_in_one_commit_are_kept_once(store: Store) -> None:
    twice = Batch((opening(ADA, "one", "two"),))

    await store.commit([twice, twice])

    assert await store.position() == 2
    assert await ledger_of(store) == ["one", "two"]


async def test_two_appends_at_one_seq_in_one_commit_are_a_conflict(ledger_store: Store) -> None:
    await ledger_store.commit(one_batch(opening(ADA, "one")))

    with pytest.raises(Conflict):
        await ledger_store.commit([Batch((lines(ADA, 1, "two"),)), Batch((lines(ADA, 1, "TWO"),))])

    assert await ledger_of(ledger_store) == ["one"]


async def test_a_session_begun_in_two_ways_in_one_commit_is_a_conflict(ledger_store: Store) -> None:
    otherwise = root("ada", base=7)

    with pytest.raises(Conflict):
        await ledger_store.commit([Batch((opening(ADA, "one"),)), Batch((opening(otherwise, "one"),))])

    assert await ledger_store.position() == 0
    assert await ledger_store.segments_after(0) == []


def in_one_batch(*events: Event) -> Batch:
    rows = [
        (
            event.session_id,
            event.seq,
            (event.actor, event.kind, event.run_id, event.channel_id, event.channel),
            event.turn,
            event.created_at,
            payload_within_bounds(event),
        )
        for event in events
    ]
    return Batch(lines=Lines(list(events), [*chain(*rows)]))


async def test_lines_of_several_sessions_in_one_batch_are_a_change_each_in_their_order(
    ledger_store: Store,
) -> None:
    await ledger_store.commit([*one_batch(opening(ADA, "a1")), *one_batch(opening(BO, "b1"))])

    said = in_one_batch(line(ADA, 2, "a2"), line(BO, 2, "b2"), line(ADA, 3, "a3"))
    first = await ledger_store.commit(
        [said, *one_batch(lines(ADA, 3, "a4", "a5")), in_one_batch(line(BO, 3, "b3"))]
    )

    assert first == 3
    assert texts_of(await ledger_store.read([span(ADA)])) == ["a1", "a2", "a3", "a4", "a5"]
    assert [
        (event.payload["text"], event.position, event.change) for event in await ledger_store.read_after(2, 9)
    ] == [
        ("a2", 3, 3),
        ("b2", 4, 4),
        ("a3", 5, 5),
        ("a4", 6, 6),
        ("a5", 7, 6),
        ("b3", 8, 8),
    ]


async def test_lines_that_are_there_already_are_kept_once(store: Store) -> None:
    await store.commit([*one_batch(opening(ADA, "one")), in_one_batch(line(ADA, 2, "two"))])

    again = in_one_batch(line(ADA, 2, "two"), line(ADA, 3, "three"), line(ADA, 3, "three"))
    await store.commit([again])

    assert await ledger_of(store) == ["one", "two", "three"]


@pytest.mark.parametrize("unfit", [line(ADA, 2, "other"), line(ADA, 9, "far off"), line(CY, 1, "nowhere")])
async def test_a_line_that_does_not_fit_leaves_nothing_of_its_commit(
    ledger_store: Store, unfit: Event
) -> None:
    await ledger_store.commit(one_batch(opening(ADA, "one", "two")))

    with pytest.raises(Conflict):
        await ledger_store.commit([in_one_batch(line(ADA, 3, "three"), unfit)])

    await ledger_store.commit([in_one_batch(line(ADA, 3, "third"))])
    assert await ledger_of(ledger_store) == ["one", "two", "third"]


async def test_a_commit_of_nothing_is_no_commit(ledger_store: Store) -> None:
    await ledger_store.commit(one_batch(opening(ADA, "one")))

    await ledger_store.commit([])
    await ledger_store.commit([Batch()])

    assert await ledger_store.position() == 1


# Reading


async def test_positions_are_dense_and_grow_in_the_order_of_commits(ledger_store: Store) -> None:
    firsts = [await ledger_store.commit(one_batch(opening(ADA, "a1", "a2"), opening(BO, "b1")))]
    firsts.append(await ledger_store.commit([Batch((lines(BO, 1, "b2"),)), Batch((lines(ADA, 2, "a3"),))]))

    events = await ledger_store.read_after(0, 100)

    assert firsts == [1, 4]
    assert [(event.position, event.payload["text"]) for event in events] == [
        (1, "a1"),
        (2, "a2"),
        (3, "b1"),
        (4, "b2"),
        (5, "a3"),
    ]
    assert await ledger_store.position() == 5


@pytest.mark.parametrize(
    ("after", "events_max", "expected"),
    [(0, 2, "ab"), (2, 2, "cd"), (4, 9, "e"), (5, 9, ""), (99, 9, ""), (-3, 2, "ab")],
)
async def test_the_ledger_is_read_by_position_in_pieces(
    ledger_store: Store, after: int, events_max: int, expected: str
) -> None:
    await ledger_store.commit(one_batch(opening(ADA, *"abcde")))

    events = await ledger_store.read_after(after, events_max)

    assert texts_of(events) == list(expected)


async def test_a_span_gives_the_events_from_its_first_to_its_last(ledger_store: Store) -> None:
    await ledger_store.commit(one_batch(opening(ADA, *"abcdef"), opening(BO, *"xyz")))

    events = await ledger_store.read([span(ADA, 3, 5)])

    assert texts_of(events) == ["c", "d", "e"]
    assert [event.position for event in events] == [3, 4, 5]


async def test_spans_of_many_segments_come_in_one_order_of_time_then_segment(ledger_store: Store) -> None:
    early, late = root("early", base=0, ordinal=8), root("late", base=2, ordinal=3)
    await ledger_store.commit(one_batch(opening(late, "l3", "l4"), opening(early, "e1", "e2", "e3", "e4")))

    forwards = await ledger_store.read([span(early), span(late)])
    backwards = await ledger_store.read([span(late), span(early)])

    assert texts_of(forwards) == ["e1", "e2", "l3", "e3", "l4", "e4"]
    assert forwards == backwards


async def test_segments_of_one_time_and_ordinal_are_ordered_by_their_ids(ledger_store: Store) -> None:
    others = [root(name) for name in "dbca"]
    await ledger_store.commit(one_batch(*[opening(segment, segment.id) for segment in others]))

    events = await ledger_store.read([span(segment) for segment in others])

    assert texts_of(events) == ["s-a", "s-b", "s-c", "s-d"]


async def test_a_history_over_three_hundred_segments_is_read_in_order(ledger_store: Store) -> None:
    chain = [root(f"n{n:03}", base=2 * n, ordinal=n) for n in range(300)]
    await ledger_store.commit(
        one_batch(*[opening(s, f"{s.base + 1}", f"{s.base + 2}") for s in reversed(chain)])
    )

    events = await ledger_store.read([span(segment) for segment in chain])

    assert texts_of(events) == [str(n) for n in range(1, 601)]


async def test_no_spans_and_spans_behind_the_end_are_empty(ledger_store: Store) -> None:
    await ledger_store.commit(one_batch(opening(ADA, "one")))

    assert await ledger_store.read([]) == []
    assert await ledger_store.read([span(ADA, 2, 9)]) == []


async def test_a_session_that_nobody_wrote_reads_as_empty(ledger_store: Store) -> None:
    assert await ledger_store.read([span(BO)]) == []


async def test_segments_keep_how_they_began(ledger_store: Store) -> None:
    split = child("split", (ADA, 2), base=2)
    merge = child("merge", (ADA, 1), (split, 1), (BO, 3), base=9, ordinal=3)
    imported = replace(child("carried", (ADA, 2), base=40, ordinal=4), is_imported=True)
    await ledger_store.commit(one_batch(opening(ADA, "a", "b"), opening(BO, *"xyz"), opening(split, "c")))
    await ledger_store.commit(one_batch(opening(merge, "m"), opening(imported, "i")))

    assert await ledger_store.segments_after(0) == [ADA, BO, split, merge, imported]


async def test_segments_after_a_position_are_those_whose_first_event_lies_behind_it(
    ledger_store: Store,
) -> None:
    await ledger_store.commit(one_batch(opening(ADA, "a", "b")))
    await ledger_store.commit(one_batch(lines(ADA, 2, "c"), opening(BO, "x")))

    assert await ledger_store.segments_after(2) == [BO]
    assert await ledger_store.segments_after(3) == [BO]
    assert await ledger_store.segments_after(4) == []


# Changes


async def test_the_events_of_a_batch_have_the_position_of_its_first_as_their_change(
    ledger_store: Store,
) -> None:
    await ledger_store.commit(one_batch(opening(ADA, "a", "b", "c")))
    await ledger_store.commit(
        [Batch((lines(ADA, 3, "d"),)), Batch((lines(ADA, 4, "e", "f"), opening(BO, "x")))]
    )

    assert [event.change for event in await ledger_store.read_after(0, 9)] == [1, 1, 1, 4, 5, 5, 5]
    assert [event.change for event in await ledger_store.read([span(ADA, 3, 5)])] == [1, 4, 5]
    assert [event.change for event in await ledger_store.read([span(BO)])] == [5]


async def test_two_writes_of_one_batch_to_one_session_are_one_change(ledger_store: Store) -> None:
    await ledger_store.commit(one_batch(opening(ADA, "a"), opening(BO, "x"), lines(ADA, 1, "b")))

    assert [event.change for event in await ledger_store.read([span(ADA)])] == [1, 1]


async def test_an_import_says_itself_which_of_its_events_are_one_change(store: Store) -> None:
    await store.commit(one_batch(opening(CY, "before")))
    ada = replace(opening(ADA, *"abcd"), changes=("one", "one", "two", "three"))
    bo = replace(opening(BO, *"xy"), changes=("three", "four"))

    await store.commit(one_batch(ada, bo))

    assert [event.change for event in await store.read_after(1, 9)] == [2, 2, 4, 5, 5, 7]


async def test_a_change_is_no_part_of_an_event_s_content(ledger_store: Store) -> None:
    await ledger_store.commit(one_batch(opening(CY, "before")))
    await ledger_store.commit(one_batch(opening(ADA, "a", "b")))

    second = (await ledger_store.read([span(ADA)]))[1]

    assert (second.position, second.change) == (3, 2)
    assert encoded(second) == encoded(line(ADA, 2, "b"))
    assert content_of(second) == content_of(line(ADA, 2, "b"))


# Positions, and waiting for them


async def test_the_position_is_that_of_the_last_committed_event(ledger_store: Store) -> None:
    positions = [await ledger_store.position()]
    for batches in (
        one_batch(opening(ADA, "a", "b")),
        [Batch(snapshot=Snapshot("", "world", "1", 0, b"w"))],
        [Batch((lines(ADA, 2, "c"),)), Batch((opening(BO, "x"),))],
    ):
        await ledger_store.commit(batches)
        positions.append(await ledger_store.position())

    assert positions == [0, 2, 2, 4]


async def test_who_waits_for_a_position_that_is_there_does_not_wait(ledger_store: Store) -> None:
    await ledger_store.commit(one_batch(opening(ADA, "a", "b")))

    assert await soon(ledger_store.wait_beyond(1, forever)) == 2


async def test_who_waits_beyond_the_last_position_gets_the_next_commit(ledger_store: Store) -> None:
    await ledger_store.commit(one_batch(opening(ADA, "a")))
    waiting = [asyncio.create_task(ledger_store.wait_beyond(1, forever)) for _ in range(2)]
    await loop_turns()
    assert not any(task.done() for task in waiting)

    await ledger_store.commit(one_batch(lines(ADA, 1, "b", "c")))

    assert await soon(asyncio.gather(*waiting)) == [3, 3]


async def test_waiting_for_a_position_ends_when_its_time_is_over(ledger_store: Store) -> None:
    assert await soon(ledger_store.wait_beyond(0, 0.0)) == 0
    assert await soon(ledger_store.wait_beyond(7, 0.01)) == 0


async def test_who_stops_to_wait_for_a_position_leaves_the_store_as_it_was(ledger_store: Store) -> None:
    waiting = asyncio.create_task(ledger_store.wait_beyond(0, forever))
    await loop_turns()

    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)

    assert await ledger_store.commit(one_batch(opening(ADA, "a"))) == 1


# A commit that nobody knows of


async def test_a_commit_is_found_by_its_first_position_and_one_that_failed_is_not(
    ledger_store: Store,
) -> None:
    await ledger_store.commit(one_batch(opening(ADA, "a", "b")))
    with pytest.raises(Conflict):
        await ledger_store.commit(one_batch(lines(ADA, 7, "far")))

    assert [await ledger_store.committed(position) for position in (1, 2, 3)] == [True, True, False]
    assert await ledger_store.commit(one_batch(lines(ADA, 2, "c"))) == 3
    assert await ledger_store.committed(3)


# The owner


async def test_a_store_that_commits_is_an_owner_and_says_so_while_it_is_open(opener: Opener) -> None:
    store = opener()
    assert store.role == "owner"

    await store.open("house-one")
    assert await store.owner()
    await store.close()

    assert await store.owner() == ""
