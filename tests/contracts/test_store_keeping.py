"""What every store keeps beside its events: snapshots, the inbox, its own id; and that it keeps them when closed."""

import random

import pytest

from glasshouse import Manifest, Refused, Terrarium
from glasshouse.errors import Conflict
from glasshouse.events.shown import Shown
from glasshouse.runtime.store_port import (
    Batch,
    InboxLine,
    InboxRequest,
    InboxWrites,
    SideWrites,
    Snapshot,
    Store,
)
from glasshouse.stores.placing import answers_kept_max
from glasshouse.world.state.state import Segment
from tests.contracts.writing import lines, one_batch, opening, root, span, texts_of
from tests.every_store import Opener

ADA = root("ada")


# Snapshots


async def test_a_snapshot_is_given_back_under_its_own_key_only(store: Store) -> None:
    kept = Snapshot("s-ada", "stage", "1.a", 7, b"\x00whatever")

    await store.commit([Batch(snapshot=kept)])

    assert await store.snapshot("s-ada", "stage", "1.a") == kept
    assert await store.snapshot("s-ada", "stage", "2.a") is None
    assert await store.snapshot("s-ada", "spend", "1.a") is None
    assert await store.snapshot("s-bo", "stage", "1.a") is None


async def test_a_newer_snapshot_replaces_the_older_whatever_its_key(store: Store) -> None:
    await store.commit([Batch(snapshot=Snapshot("", "world", "1", 3, b"old"))])

    await store.commit([Batch(snapshot=Snapshot("", "world", "2", 5, b"new"))])

    assert await store.snapshot("", "world", "1") is None
    assert await store.snapshot("", "world", "2") == Snapshot("", "world", "2", 5, b"new")


async def test_snapshots_are_kept_through_time_and_found_by_the_moment(store: Store) -> None:
    for at in (3, 9, 6):
        await store.commit([Batch(snapshot=Snapshot("", "world", "1", at, b"%d" % at))])

    snapshots = [await store.snapshot("", "world", "1", at_most) for at_most in (2, 3, 8, 9, 100, None)]

    assert [snapshot and snapshot.at for snapshot in snapshots] == [None, 3, 6, 9, 9, 9]
    assert snapshots[2] == Snapshot("", "world", "1", 6, b"6")


@pytest.mark.parametrize("lines_behind", [0, 2])
async def test_a_snapshot_without_a_place_stands_behind_what_was_committed_before_it(
    store: Store, lines_behind: int
) -> None:
    await store.commit(one_batch(opening(ADA, "a")))
    behind = [Batch((lines(ADA, 3 + n, "later"),)) for n in range(lines_behind)]

    await store.commit(
        [Batch((lines(ADA, 1, "b", "c"),)), Batch(snapshot=Snapshot("", "world", "1", 0, b"w")), *behind]
    )

    kept = await store.snapshot("", "world", "1")
    assert kept is not None
    assert kept.at == 3
    assert await store.position() == 3 + lines_behind


# The inbox


async def test_lines_are_read_oldest_first_and_stay_until_they_are_done(store: Store) -> None:
    numbers = [
        await store.put_line(text, run) for text, run in [("one", "r-1"), ("two", None), ("three", None)]
    ]

    assert await store.lines(2) == [
        InboxLine(numbers[0], "r-1", "one"),
        InboxLine(numbers[1], None, "two"),
    ]
    assert [kept.text for kept in await store.lines(9)] == ["one", "two", "three"]
    assert [kept.text for kept in await store.lines(9, numbers[0])] == ["two", "three"]


async def test_a_line_goes_out_with_the_batch_that_answers_it(store: Store) -> None:
    first = await store.put_line("one")
    second = await store.put_line("two")

    await store.commit([Batch((opening(ADA, "heard one"),), inbox=InboxWrites((first,)))])

    assert await store.lines(9) == [InboxLine(second, None, "two")]
    assert texts_of(await store.read_after(0, 9)) == ["heard one"]


async def test_a_line_is_kept_if_its_answer_is_refused(store: Store) -> None:
    number = await store.put_line("one")

    with pytest.raises(Conflict):
        await store.commit([Batch((lines(ADA, 4, "heard"),), inbox=InboxWrites((number,)))])

    assert [kept.number for kept in await store.lines(9)] == [number]


async def test_a_number_is_never_given_twice(opener: Opener) -> None:
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


# Requests of the inbox


async def test_requests_are_read_oldest_first_until_they_are_answered(store: Store) -> None:
    first, second = [await store.put_request(body) for body in ("{1}", "{2}")]

    await store.commit([Batch((opening(ADA, "done"),), inbox=InboxWrites(answers=((first, "yes"),)))])

    assert await store.open_requests(9) == [InboxRequest(second, "{2}")]
    assert await store.request(first) == InboxRequest(first, "{1}", answer="yes")
    assert await store.request(second + 1) is None


async def test_a_request_is_withdrawn_only_before_it_is_taken(store: Store) -> None:
    first, second = [await store.put_request(body) for body in ("{1}", "{2}")]

    assert await store.take_request(first)
    assert not await store.withdraw_request(first)
    assert await store.withdraw_request(second)

    assert not await store.take_request(second)
    assert not await store.withdraw_request(second)
    assert await store.open_requests(9) == [InboxRequest(first, "{1}", is_taken=True)]


async def test_the_first_answer_stands_and_none_is_kept_if_its_batch_is_refused(store: Store) -> None:
    number = await store.put_request("{}")
    with pytest.raises(Conflict):
        await store.commit(
            [Batch((lines(ADA, 4, "done"),), inbox=InboxWrites(answers=((number, "refused"),)))]
        )
    unanswered = await store.request(number)

    for answer in ("first", "second"):
        await store.commit([Batch(inbox=InboxWrites(answers=((number, answer),)))])

    assert unanswered == InboxRequest(number, "{}")
    assert await store.request(number) == InboxRequest(number, "{}", answer="first")


async def test_old_answers_are_dropped_and_open_requests_never_are(store: Store) -> None:
    waiting = await store.put_request("waits")
    numbers = [await store.put_request("{}") for _ in range(answers_kept_max + 3)]

    for number in numbers:
        await store.commit([Batch(inbox=InboxWrites(answers=((number, "yes"),)))])

    kept = [number for number in numbers if await store.request(number) is not None]
    assert kept == numbers[-answers_kept_max:]
    assert [request.number for request in await store.open_requests(9)] == [waiting]


# Labels of runs


async def test_records_of_other_houses_replace_those_before_and_survive_reopening(opener: Opener) -> None:
    store = opener()
    await store.open("house-one")
    await store.commit(
        [
            Batch(
                side=SideWrites(
                    records=(("h-1 s-1", '{"a":1}'), ("h-2 s-2", "{}")), labels=(("r-1", ("keep",)),)
                )
            )
        ]
    )
    await store.commit([Batch((opening(ADA),), side=SideWrites(records=(("h-1 s-1", '{"a":"ü"}'),)))])
    with pytest.raises(Conflict):
        await store.commit(
            [Batch((lines(ADA, 4, "heard"),), side=SideWrites(records=(("h-1 s-1", "lost"),)))]
        )
    await store.close()
    store = opener()
    await store.open("house-one")

    assert await store.records() == {"h-1 s-1": '{"a":"ü"}', "h-2 s-2": "{}"}
    assert await store.labels() == {"r-1": ("keep",)}
    await store.close()


async def test_labels_replace_those_before_and_survive_reopening(opener: Opener) -> None:
    store = opener()
    await store.open("house-one")
    await store.commit([Batch(side=SideWrites(labels=(("r-1", ("keep", "ünlike")), ("r-2", ("dull",)))))])
    await store.commit([Batch(side=SideWrites(labels=(("r-2", ()), ("r-1", ("keep",)))))])
    with pytest.raises(Conflict):
        await store.commit([Batch((lines(ADA, 4, "heard"),), side=SideWrites(labels=(("r-1", ("lost",)),)))])
    await store.close()
    store = opener()
    await store.open("house-one")

    assert await store.labels() == {"r-1": ("keep",)}
    await store.close()


# Opening and closing


async def test_a_store_keeps_the_id_of_its_first_opening(opener: Opener) -> None:
    store = opener()
    await store.open("house-one")
    await store.close()
    store = opener()

    await store.open("house-two")

    assert store.house_id == "house-one"
    await store.close()


async def test_a_reopened_store_is_as_it_was_and_goes_on(opener: Opener) -> None:
    store = opener()
    await store.open("house-one")
    await store.commit(one_batch(opening(ADA, "a", "b", "c")))
    await store.commit([Batch(snapshot=Snapshot("", "world", "1", 0, b"w"))])
    number = await store.put_line("hello")
    before = await store.read_after(0, 9)
    await store.close()
    store = opener()
    await store.open("house-one")

    assert await store.position() == 3
    assert await store.read_after(0, 9) == before
    assert await store.segments_after(0) == [ADA]
    assert [event.change for event in before] == [1, 1, 1]
    assert await store.snapshot("", "world", "1") == Snapshot("", "world", "1", 3, b"w")
    assert await store.lines(9) == [InboxLine(number, None, "hello")]
    assert await store.commit(one_batch(lines(ADA, 3, "d"))) == 4
    assert texts_of(await store.read([span(ADA)])) == list("abcd")
    await store.close()


async def test_closing_twice_is_harmless_and_so_is_closing_before_opening(opener: Opener) -> None:
    store = opener()
    await store.close()
    await store.open("house-one")

    await store.close()
    await store.close()


async def test_opening_an_open_store_is_refused_and_leaves_it_open(store: Store) -> None:
    with pytest.raises(Refused, match=r"open already.*store of its own"):
        await store.open("house-two")

    assert await store.commit(one_batch(opening(ADA, "a"))) == 1
    assert store.house_id == "house-one"


async def test_two_terraria_never_share_a_store_but_may_follow_each_other(opener: Opener) -> None:
    shared = opener()
    async with Terrarium(shared) as first:
        with pytest.raises(Refused, match="open already"):
            await Terrarium(shared).open()
        await first.add_creature(Manifest(name="ada"))

    async with Terrarium(shared) as second:
        assert [creature.id for creature in second.creatures()] == ["ada"]


# At random, against a plain list


class Plain:
    """A ledger as one would write it in a minute: a list, and a head for each session."""

    def __init__(self) -> None:
        self.ledger: list[tuple[str, int, str]] = []
        self.begun: dict[str, Segment] = {}

    def head(self, segment: Segment) -> int:
        return sum(1 for name, _, _ in self.ledger if name == segment.id)

    def of(self, segment: Segment) -> list[str]:
        return [text for name, _, text in self.ledger if name == segment.id]


@pytest.mark.parametrize("seed", range(6))
async def test_a_random_life_of_a_store_equals_a_plain_list(opener: Opener, seed: int) -> None:
    chance = random.Random(seed)
    segments = [root(name, base=chance.randrange(9), ordinal=n) for n, name in enumerate("abcd")]
    plain, store = Plain(), opener()
    await store.open("house-one")

    for step in range(80):
        planned, batches, is_sound = planned_commit(chance, plain, segments, step)
        if is_sound:
            assert await store.commit(batches) == len(plain.ledger) + 1
            plain.ledger += planned
            plain.begun.update(
                {w.opens.id: w.opens for b in batches for w in b.writes if w.opens is not None}
            )
        else:
            with pytest.raises(Conflict):
                await store.commit(batches)
        if chance.random() < 0.05:
            await store.close()
            store = opener()
            await store.open("house-two")

    events = await store.read_after(0, 10_000)
    assert [(event.session_id, event.seq, event.payload["text"]) for event in events] == plain.ledger
    assert [event.position for event in events] == list(range(1, await store.position() + 1))
    assert await store.segments_after(0) == list(plain.begun.values())
    for segment in plain.begun.values():
        assert texts_of(await store.read([span(segment)])) == plain.of(segment)
    await store.close()


def planned_commit(
    chance: random.Random, plain: Plain, segments: list[Segment], step: int
) -> tuple[list[tuple[str, int, str]], list[Batch], bool]:
    """A few batches, each behind the one before; one commit in five expects a wrong seq somewhere."""
    planned: list[tuple[str, int, str]] = []
    batches: list[Batch] = []
    is_sound = chance.random() < 0.8
    for n in range(chance.randint(1, 4)):
        segment = chance.choice(segments)
        head = plain.head(segment) + sum(1 for name, _, _ in planned if name == segment.id)
        texts = [f"{step}/{n}/{k}" for k in range(chance.randint(1, 3))]
        write = lines(segment, head, *texts) if head else opening(segment, *texts)
        batches.append(Batch((write,)))
        planned += [(segment.id, seq, text) for seq, text in enumerate(texts, head + 1)]
    if not is_sound:
        batches.insert(
            chance.randint(0, len(batches)), Batch((lines(chance.choice(segments), 5_000, "far"),))
        )
    return planned, batches, is_sound


# What model calls were shown


async def test_what_calls_were_shown_is_kept_by_the_event_and_in_the_order_of_the_calls(store: Store) -> None:
    first, second = Shown(discussion=("s-a.1", "s-a.2")), Shown(scene=("s-a.1",), answered=("s-b.7",))
    await store.commit(one_batch(opening(ADA, "a", "b")))

    await store.commit(
        [Batch((lines(ADA, 2, "c"),), side=SideWrites(shown=(first, second))), Batch((lines(ADA, 3, "d"),))]
    )

    (spoken, _) = await store.read([span(ADA, 3, 4)])
    assert await store.shown(spoken.position or 0) == (first, second)
    assert [await store.shown(position) for position in (1, 2, 4, 99)] == [None] * 4


async def test_two_events_that_were_shown_other_lines_keep_their_own(store: Store) -> None:
    await store.commit(one_batch(opening(ADA, "a")))

    await store.commit(
        [
            Batch(
                (lines(ADA, 1, "b"),),
                side=SideWrites(prompts=(("same", "text"),), shown=(Shown(discussion=("s-a.1",)),)),
            ),
            Batch(
                (lines(ADA, 2, "b"),),
                side=SideWrites(prompts=(("same", "text"),), shown=(Shown(discussion=("s-a.2",)),)),
            ),
        ]
    )

    assert await store.shown(2) == (Shown(discussion=("s-a.1",)),)
    assert await store.shown(3) == (Shown(discussion=("s-a.2",)),)


@pytest.mark.parametrize("chars", [0, 1, 2_047, 2_048, 9_000])
async def test_a_prompt_of_any_length_is_read_as_it_was_kept(store: Store, chars: int) -> None:
    text = ("A kettle, ö, 鳥 and \N{OWL}. " * 400)[:chars]
    await store.commit(one_batch(opening(ADA, "a")))

    await store.commit([Batch((lines(ADA, 1, "b"),), side=SideWrites(prompts=(("digest", text),)))])

    assert await store.prompt("digest") == text
    assert await store.prompt("another") is None


async def test_a_batch_that_is_there_already_changes_nothing_of_what_was_shown(store: Store) -> None:
    batch = Batch((lines(ADA, 1, "b"),), side=SideWrites(shown=(Shown(discussion=("s-a.1",)),)))
    await store.commit(one_batch(opening(ADA, "a")))
    await store.commit([batch])
    await store.commit([Batch((lines(ADA, 2, "c"),))])

    await store.commit([batch])

    assert await store.shown(2) == batch.side.shown
    assert await store.shown(3) is None
