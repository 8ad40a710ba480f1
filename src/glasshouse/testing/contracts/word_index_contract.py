"""What every store keeps as `WordIndex`: the same lines give the same answers, whatever keeps them. A place is a name for
where lines stand."""

from __future__ import annotations

from typing import Final

from glasshouse.runtime.store_port import FoundLine, PlacedLine, PlaceRange, Store
from glasshouse.testing.contracts.checking import Contract, Opener, check

ALWAYS: Final = 10**9
"""Later than any line of these checks."""


def line(position: int, *words: str, place: str = "pond", lamport: int | None = None) -> PlacedLine:
    """A line with these words."""
    return PlacedLine(position, position if lamport is None else lamport, (place,), words)


def positions(matches: dict[str, list[FoundLine]]) -> dict[str, list[int]]:
    """Where each word was found."""
    return {word: [line.position for line in lines] for word, lines in matches.items()}


def letters_of_four_bytes(count: int) -> str:
    """Letters that no store can press together."""
    return "".join([chr(0x20000 + (number * 7_919) % 32_768) for number in range(count)])


class WordIndexContract(Contract):
    """The index of words, a cache that can be made again."""

    @check
    async def test_an_index_is_empty_until_lines_are_added(self, store: Store) -> None:
        matches = await store.lines_with(["kettle"], [PlaceRange("pond", 0, ALWAYS)], 9)

        assert matches == {"kettle": []}
        assert await store.indexed() == 0
        assert await store.indexed_places() == {}

    @check
    async def test_lines_are_found_by_word_the_newest_first(self, store: Store) -> None:
        await store.index_lines(0, 9, [line(2, "kettle", "sea"), line(5, "kettle"), line(9, "sea", "kettle")])

        matches = await store.lines_with(["kettle", "sea", "moon"], [PlaceRange("pond", 0, ALWAYS)], 2)

        assert positions(matches) == {"kettle": [9, 5], "sea": [9, 2], "moon": []}
        assert await store.indexed() == 9

    @check
    async def test_only_the_places_and_times_that_are_asked_for_are_searched(self, store: Store) -> None:
        await store.index_lines(
            0, 9, [line(1, "kettle"), line(2, "kettle", place="mill"), line(3, "kettle"), line(4, "kettle")]
        )

        matches = await store.lines_with(
            ["kettle"], [PlaceRange("pond", 2, 3), PlaceRange("shed", 0, ALWAYS)], 9
        )

        assert positions(matches) == {"kettle": [3]}
        assert await store.indexed_places() == {"pond": (1, 4), "mill": (2, 2)}

    @check
    async def test_a_line_of_several_places_is_found_once(self, store: Store) -> None:
        await store.index_lines(0, 1, [PlacedLine(1, 7, ("pond", "@ada"), ("kettle",))])

        both = [PlaceRange("pond", 0, ALWAYS), PlaceRange("@ada", 0, ALWAYS)]

        assert await store.lines_with(["kettle"], both, 9) == {"kettle": [FoundLine(7, 1)]}

    @check
    async def test_lines_are_added_only_where_the_index_ends(self, store: Store) -> None:
        await store.index_lines(0, 4, [line(3, "kettle")])

        await store.index_lines(0, 6, [line(5, "kettle")])
        await store.index_lines(4, 8, [line(7, "kettle")])

        matches = await store.lines_with(["kettle"], [PlaceRange("pond", 0, ALWAYS)], 9)
        assert positions(matches) == {"kettle": [7, 3]}
        assert await store.indexed() == 8

    @check
    async def test_steps_without_a_line_move_the_index_on(self, store: Store) -> None:
        await store.index_lines(0, 4, [])
        await store.index_lines(4, 5, [line(5, "kettle")])

        assert await store.indexed() == 5

    @check
    async def test_a_dropped_index_is_empty_and_can_be_made_again(self, store: Store) -> None:
        await store.index_lines(0, 4, [line(3, "kettle")])
        await store.drop_index()
        gone = await store.lines_with(["kettle"], [PlaceRange("pond", 0, ALWAYS)], 9)
        at = await store.indexed()

        await store.index_lines(0, 4, [line(3, "kettle")])

        assert (positions(gone), at) == ({"kettle": []}, 0)
        again = await store.lines_with(["kettle"], [PlaceRange("pond", 0, ALWAYS)], 9)
        assert positions(again) == {"kettle": [3]}

    @check
    async def test_words_of_any_letters_are_kept(self, store: Store) -> None:
        words = ("käse", "чайник", "𐐨𐐨𐐨𐐨", "やかんです")
        await store.index_lines(0, 1, [line(1, *words)])

        matches = await store.lines_with(words, [PlaceRange("pond", 0, ALWAYS)], 9)

        assert positions(matches) == {word: [1] for word in words}

    @check
    async def test_words_of_64_characters_are_kept_apart_by_the_last(self, store: Store) -> None:
        stem = letters_of_four_bytes(63)
        words = (f"{stem}a", f"{stem}b")
        await store.index_lines(0, 2, [line(1, words[0]), line(2, words[1])])

        matches = await store.lines_with(words, [PlaceRange("pond", 0, ALWAYS)], 9)

        assert positions(matches) == {words[0]: [1], words[1]: [2]}

    @check
    async def test_a_place_without_words_is_kept(self, store: Store) -> None:
        named = f"&ada {letters_of_four_bytes(512)}"
        await store.index_lines(0, 1, [PlacedLine(0, 0, (named,), ()), line(1, "kettle")])

        assert await store.indexed_places() == {named: (0, 0), "pond": (1, 1)}

    @check
    async def test_the_index_outlives_its_process(self, opener: Opener) -> None:
        first = opener()
        await first.open("house-one")
        await first.index_lines(0, 4, [line(3, "kettle")])
        await first.close()

        second = opener()
        await second.open("house-one")
        matches = await second.lines_with(["kettle"], [PlaceRange("pond", 0, ALWAYS)], 9)
        await second.close()

        assert positions(matches) == {"kettle": [3]}
