"""What every store keeps through its life: events that come again, snapshots, opening and closing, a random life."""

from __future__ import annotations

import random

from msgspec.structs import replace

from glasshouse import Manifest, Refused, Terrarium
from glasshouse.errors import Conflict
from glasshouse.runtime.store_port import Batch, InboxLine, InboxWrites, SegmentWrite, Snapshot, Store
from glasshouse.testing.contracts.checking import Contract, Opener, check, check_each, refused_with
from glasshouse.testing.contracts.plain_ledger import Plain, planned_commit
from glasshouse.testing.contracts.writing import (
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


class LivesContract(Contract):
    """A store from its first opening to its last."""

    # Appending

    @check_each("again", [(0, "one", "two", "three"), (0, "one"), (1, "two", "three"), (2, "three")])
    async def test_the_same_events_again_change_nothing(self, store: Store, again: tuple[int, str]) -> None:
        await store.commit(one_batch(opening(ADA, "one", "two", "three")))

        await store.commit(one_batch(lines(ADA, *again)))

        assert await store.position() == 3
        assert await ledger_of(store) == ["one", "two", "three"]

    @check
    async def test_opening_again_with_the_same_events_changes_nothing(self, store: Store) -> None:
        await store.commit(one_batch(opening(ADA, "one", "two")))

        await store.commit(one_batch(opening(ADA, "one", "two")))

        assert await ledger_of(store) == ["one", "two"]
        assert await store.segments_after(0) == [ADA]

    @check
    async def test_the_same_content_in_other_bytes_is_the_same_event(self, store: Store) -> None:
        await store.commit(one_batch(opening(ADA, "one")))
        spaced = lines(ADA, 0, "one").bodies[0].replace(b'":', b'": ')

        await store.commit(one_batch(SegmentWrite(ADA.id, 0, (spaced,))))

        assert await store.position() == 1

    @check
    async def test_a_session_that_began_otherwise_is_a_conflict(self, store: Store) -> None:
        await store.commit(one_batch(opening(ADA, "one")))

        with refused_with(Conflict, match="began otherwise"):
            await store.commit(one_batch(opening(root("ada", base=7), "one")))

        assert await store.segments_after(0) == [ADA]

    # All or nothing

    @check
    async def test_a_conflict_in_the_last_write_leaves_nothing_of_the_others(self, opener: Opener) -> None:
        store = opener()
        await store.open("house-one")
        await store.commit(one_batch(opening(ADA, "one")))
        number = await store.put_line("a lantern whispers")
        good = Batch(
            (lines(ADA, 1, "two"), opening(BO, "b")),
            inbox=InboxWrites((number,)),
            snapshot=Snapshot("", "world", "1", 0, b"w"),
        )

        with refused_with(Conflict):
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

    @check
    async def test_the_same_events_twice_in_one_commit_are_kept_once(self, store: Store) -> None:
        twice = Batch((opening(ADA, "one", "two"),))

        await store.commit([twice, twice])

        assert await store.position() == 2
        assert await ledger_of(store) == ["one", "two"]

    @check
    async def test_lines_that_are_there_already_are_kept_once(self, store: Store) -> None:
        await store.commit([*one_batch(opening(ADA, "one")), in_one_batch(line(ADA, 2, "two"))])

        again = in_one_batch(line(ADA, 2, "two"), line(ADA, 3, "three"), line(ADA, 3, "three"))
        await store.commit([again])

        assert await ledger_of(store) == ["one", "two", "three"]

    # Changes

    @check
    async def test_an_import_says_itself_which_of_its_events_are_one_change(self, store: Store) -> None:
        await store.commit(one_batch(opening(CY, "before")))
        ada = replace(opening(ADA, *"abcd"), changes=("one", "one", "two", "three"))
        bo = replace(opening(BO, *"xy"), changes=("three", "four"))

        await store.commit(one_batch(ada, bo))

        assert [event.change for event in await store.read_after(1, 9)] == [2, 2, 4, 5, 5, 7]

    # The owner

    @check
    async def test_a_store_that_commits_is_an_owner_and_says_so_while_it_is_open(
        self, opener: Opener
    ) -> None:
        store = opener()
        assert store.role == "owner"

        await store.open("house-one")
        assert await store.owner()
        await store.close()

        assert await store.owner() == ""

    # Snapshots

    @check
    async def test_a_snapshot_is_given_back_under_its_own_key_only(self, store: Store) -> None:
        kept = Snapshot("s-ada", "stage", "1.a", 7, b"\x00whatever")

        await store.commit([Batch(snapshot=kept)])

        assert await store.snapshot("s-ada", "stage", "1.a") == kept
        assert await store.snapshot("s-ada", "stage", "2.a") is None
        assert await store.snapshot("s-ada", "spend", "1.a") is None
        assert await store.snapshot("s-bo", "stage", "1.a") is None

    @check
    async def test_a_snapshot_of_another_version_is_dropped_or_stands_beside_but_is_never_given_for_it(
        self,
        store: Store,
    ) -> None:
        older = Snapshot("", "world", "1", 3, b"old")
        await store.commit([Batch(snapshot=older)])

        await store.commit([Batch(snapshot=Snapshot("", "world", "2", 3, b"new"))])

        assert await store.snapshot("", "world", "1") in (None, older)
        assert await store.snapshot("", "world", "2") == Snapshot("", "world", "2", 3, b"new")

    @check
    async def test_a_newer_snapshot_of_the_same_place_replaces_the_older(self, store: Store) -> None:
        await store.commit([Batch(snapshot=Snapshot("", "world", "1", 3, b"old"))])

        await store.commit([Batch(snapshot=Snapshot("", "world", "1", 3, b"new"))])

        assert await store.snapshot("", "world", "1") == Snapshot("", "world", "1", 3, b"new")

    @check
    async def test_snapshots_are_kept_through_time_and_found_by_the_moment(self, store: Store) -> None:
        for at in (3, 9, 6):
            await store.commit([Batch(snapshot=Snapshot("", "world", "1", at, b"%d" % at))])

        snapshots = [await store.snapshot("", "world", "1", at_most) for at_most in (2, 3, 8, 9, 100, None)]

        assert [snapshot and snapshot.at for snapshot in snapshots] == [None, 3, 6, 9, 9, 9]
        assert snapshots[2] == Snapshot("", "world", "1", 6, b"6")

    @check_each("lines_behind", [0, 2])
    async def test_a_snapshot_without_a_place_stands_behind_what_was_committed_before_it(
        self, store: Store, lines_behind: int
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

    @check
    async def test_a_store_keeps_the_id_of_its_first_opening(self, opener: Opener) -> None:
        store = opener()
        await store.open("house-one")
        await store.close()
        store = opener()

        await store.open("house-two")

        assert store.house_id == "house-one"
        await store.close()

    @check
    async def test_a_reopened_store_is_as_it_was_and_goes_on(self, opener: Opener) -> None:
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

    @check
    async def test_closing_twice_is_harmless_and_so_is_closing_before_opening(self, opener: Opener) -> None:
        store = opener()
        await store.close()
        await store.open("house-one")

        await store.close()
        await store.close()

    @check
    async def test_opening_an_open_store_is_refused_and_leaves_it_open(self, store: Store) -> None:
        with refused_with(Refused, match=r"open already.*store of its own"):
            await store.open("house-two")

        assert await store.commit(one_batch(opening(ADA, "a"))) == 1
        assert store.house_id == "house-one"

    @check
    async def test_two_terraria_never_share_a_store_but_may_follow_each_other(self, opener: Opener) -> None:
        shared = opener()
        async with Terrarium(shared) as first:
            with refused_with(Refused, match="open already"):
                await Terrarium(shared).open()
            await first.add_creature(Manifest(name="ada"))

        async with Terrarium(shared) as second:
            assert [creature.id for creature in second.creatures()] == ["ada"]

    # At random, against a plain list

    @check_each("seed", range(6))
    async def test_a_random_life_of_a_store_equals_a_plain_list(self, opener: Opener, seed: int) -> None:
        chance = random.Random(seed)
        segments = [root(name, base=chance.randrange(9), ordinal=n) for n, name in enumerate("abcd")]
        plain = Plain()
        store = opener()
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
                with refused_with(Conflict):
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
