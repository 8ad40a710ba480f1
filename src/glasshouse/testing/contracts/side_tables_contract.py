"""What every store keeps as `SideTables`: requests behind changes, labels, records, prompts and the lines shown in them."""

from __future__ import annotations

from glasshouse.errors import Conflict
from glasshouse.events.shown import Shown
from glasshouse.runtime.store_port import Batch, SideWrites, Store
from glasshouse.testing.contracts.checking import Contract, Opener, check, check_each, refused_with
from glasshouse.testing.contracts.writing import lines, one_batch, opening, root, span
from glasshouse.world.decisions.intents import Connect, RemoveWire
from glasshouse.world.decisions.requests import PauseRun, Request

ADA = root("ada")


class SideTablesContract(Contract):
    """The tables beside the ledger."""

    # Requests behind changes

    @check
    async def test_a_request_is_kept_under_the_number_of_its_change(self, store: Store) -> None:
        asked = Request("api", Connect("ada", "bo", "talk"), seen=4)
        request = Request("outage", PauseRun("r-1", "no model"))
        await store.commit(
            [
                Batch((opening(ADA, "a", "b"),)),
                Batch((lines(ADA, 2, "c", "d"),), side=SideWrites(request=asked)),
            ]
        )
        await store.commit(
            [Batch((lines(ADA, 4, "e"),), side=SideWrites(request=request)), Batch((lines(ADA, 5, "f"),))]
        )

        assert await store.requests(1, 99) == {3: asked, 5: request}
        assert await store.requests(4, 5) == {5: request}
        assert await store.requests(6, 99) == {}

    @check
    async def test_a_request_of_a_commit_that_fails_is_not_kept(self, store: Store) -> None:
        asked = Request("api", RemoveWire("ada", "bo"))
        await store.commit(one_batch(opening(ADA, "a")))

        with refused_with(Conflict):
            await store.commit(
                [Batch((lines(ADA, 1, "b"),), side=SideWrites(request=asked)), Batch((lines(ADA, 9, "far"),))]
            )

        assert await store.requests(1, 99) == {}
        await store.commit([Batch((lines(ADA, 1, "b"),), side=SideWrites(request=asked))])
        assert await store.requests(1, 99) == {2: asked}

    @check
    async def test_a_batch_that_is_there_already_keeps_its_request_once(self, store: Store) -> None:
        asked = Request("api", RemoveWire("ada", "bo"))
        batch = Batch((opening(ADA, "a"),), side=SideWrites(request=asked))

        await store.commit([batch])
        await store.commit([batch])

        assert await store.requests(1, 99) == {1: asked}

    # Labels and records

    @check
    async def test_records_of_other_houses_replace_those_before_and_survive_reopening(
        self, opener: Opener
    ) -> None:
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
        with refused_with(Conflict):
            await store.commit(
                [Batch((lines(ADA, 4, "heard"),), side=SideWrites(records=(("h-1 s-1", "lost"),)))]
            )
        await store.close()
        store = opener()
        await store.open("house-one")

        assert await store.records() == {"h-1 s-1": '{"a":"ü"}', "h-2 s-2": "{}"}
        assert await store.labels() == {"r-1": ("keep",)}
        await store.close()

    @check
    async def test_labels_replace_those_before_and_survive_reopening(self, opener: Opener) -> None:
        store = opener()
        await store.open("house-one")
        await store.commit([Batch(side=SideWrites(labels=(("r-1", ("keep", "ünlike")), ("r-2", ("dull",)))))])
        await store.commit([Batch(side=SideWrites(labels=(("r-2", ()), ("r-1", ("keep",)))))])
        with refused_with(Conflict):
            await store.commit(
                [Batch((lines(ADA, 4, "heard"),), side=SideWrites(labels=(("r-1", ("lost",)),)))]
            )
        await store.close()
        store = opener()
        await store.open("house-one")

        assert await store.labels() == {"r-1": ("keep",)}
        await store.close()

    # Prompts and lines shown

    @check
    async def test_what_calls_were_shown_is_kept_by_the_event_and_in_the_order_of_the_calls(
        self, store: Store
    ) -> None:
        first = Shown(discussion=("s-a.1", "s-a.2"))
        second = Shown(scene=("s-a.1",), answered=("s-b.7",))
        await store.commit(one_batch(opening(ADA, "a", "b")))

        await store.commit(
            [
                Batch((lines(ADA, 2, "c"),), side=SideWrites(shown=(first, second))),
                Batch((lines(ADA, 3, "d"),)),
            ]
        )

        (spoken, _) = await store.read([span(ADA, 3, 4)])
        assert await store.shown(spoken.position or 0) == (first, second)
        assert [await store.shown(position) for position in (1, 2, 4, 99)] == [None] * 4

    @check
    async def test_two_events_that_were_shown_other_lines_keep_their_own(self, store: Store) -> None:
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

    @check_each("chars", [0, 1, 2_047, 2_048, 9_000])
    async def test_a_prompt_of_any_length_is_read_as_it_was_kept(self, store: Store, chars: int) -> None:
        text = ("A kettle, ö, 鳥 and \N{OWL}. " * 400)[:chars]
        await store.commit(one_batch(opening(ADA, "a")))

        await store.commit([Batch((lines(ADA, 1, "b"),), side=SideWrites(prompts=(("digest", text),)))])

        assert await store.prompt("digest") == text
        assert await store.prompt("another") is None

    @check
    async def test_a_batch_that_is_there_already_changes_nothing_of_what_was_shown(
        self, store: Store
    ) -> None:
        batch = Batch((lines(ADA, 1, "b"),), side=SideWrites(shown=(Shown(discussion=("s-a.1",)),)))
        await store.commit(one_batch(opening(ADA, "a")))
        await store.commit([batch])
        await store.commit([Batch((lines(ADA, 2, "c"),))])

        await store.commit([batch])

        assert await store.shown(2) == batch.side.shown
        assert await store.shown(3) is None
