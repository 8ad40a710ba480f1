"""What every store keeps as a `LedgerStore`: snapshots, opening and closing, a random life."""

import random

import pytest

from glasshouse import Manifest, Refused, Terrarium
from glasshouse.errors import Conflict
from glasshouse.runtime.store_port import (
    Batch,
    InboxLine,
    Snapshot,
    Store,
)
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


async def test_a_snapshot_of_another_version_is_dropped_or_stands_beside_but_is_never_given_for_it(
    store: Store,
) -> None:
    older = Snapshot("", "world", "1", 3, b"old")
    await store.commit([Batch(snapshot=older)])

    await store.commit([Batch(snapshot=Snapshot("", "world", "2", 3, b"new"))])

    assert await store.snapshot("", "world", "1") in (None, older)
    assert await store.snapshot("", "world", "2") == Snapshot("", "world", "2", 3, b"new")


async def test_a_newer_snapshot_of_the_same_place_replaces_the_older(store: Store) -> None:
    await store.commit([Batch(snapshot=Snapshot("", "world", "1", 3, b"old"))])

    await store.commit([Batch(snapshot=Snapshot("", "world", "1", 3, b"new"))])

    assert await store.snapshot("", "world", "1") == Snapshot("", "world", "1", 3, b"new")


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
