"""What every store keeps as `WordIndex`: the same lines give the same answers, whatever keeps them. A place is a name for
where lines stand."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from glasshouse.runtime.store_port import FoundLine, PlacedLine, PlaceRange, Store
from tests.contracts.writing import lines, one_batch, opening, root
from tests.every_store import Opener

ALWAYS = 10**9


def line(position: int, *words: str, place: str = "pond", lamport: int | None = None) -> PlacedLine:
    return PlacedLine(position, position if lamport is None else lamport, (place,), words)


def positions(matches: dict[str, list[FoundLine]]) -> dict[str, list[int]]:
    return {word: [line.position for line in lines] for word, lines in matches.items()}


async def test_an_index_is_empty_until_lines_are_added(store: Store) -> None:
    matches = await store.lines_with(["kettle"], [PlaceRange("pond", 0, ALWAYS)], 9)

    assert matches == {"kettle": []}
    assert await store.indexed() == 0
    assert await store.indexed_places() == {}


async def test_lines_are_found_by_word_the_newest_first(store: Store) -> None:
    await store.index_lines(0, 9, [line(2, "kettle", "sea"), line(5, "kettle"), line(9, "sea", "kettle")])

    matches = await store.lines_with(["kettle", "sea", "moon"], [PlaceRange("pond", 0, ALWAYS)], 2)

    assert positions(matches) == {"kettle": [9, 5], "sea": [9, 2], "moon": []}
    assert await store.indexed() == 9


async def test_only_the_places_and_times_that_are_asked_for_are_searched(store: Store) -> None:
    await store.index_lines(
        0, 9, [line(1, "kettle"), line(2, "kettle", place="mill"), line(3, "kettle"), line(4, "kettle")]
    )

    matches = await store.lines_with(["kettle"], [PlaceRange("pond", 2, 3), PlaceRange("shed", 0, ALWAYS)], 9)

    assert positions(matches) == {"kettle": [3]}
    assert await store.indexed_places() == {"pond": (1, 4), "mill": (2, 2)}


async def test_a_line_of_several_places_is_found_once(store: Store) -> None:
    await store.index_lines(0, 1, [PlacedLine(1, 7, ("pond", "@ada"), ("kettle",))])

    both = [PlaceRange("pond", 0, ALWAYS), PlaceRange("@ada", 0, ALWAYS)]

    assert await store.lines_with(["kettle"], both, 9) == {"kettle": [FoundLine(7, 1)]}


async def test_lines_are_added_only_where_the_index_ends(store: Store) -> None:
    await store.index_lines(0, 4, [line(3, "kettle")])

    await store.index_lines(0, 6, [line(5, "kettle")])
    await store.index_lines(4, 8, [line(7, "kettle")])

    matches = await store.lines_with(["kettle"], [PlaceRange("pond", 0, ALWAYS)], 9)
    assert positions(matches) == {"kettle": [7, 3]}
    assert await store.indexed() == 8


async def test_steps_without_a_line_move_the_index_on(store: Store) -> None:
    await store.index_lines(0, 4, [])
    await store.index_lines(4, 5, [line(5, "kettle")])

    assert await store.indexed() == 5


async def test_a_dropped_index_is_empty_and_can_be_made_again(store: Store) -> None:
    await store.index_lines(0, 4, [line(3, "kettle")])
    await store.drop_index()
    gone = await store.lines_with(["kettle"], [PlaceRange("pond", 0, ALWAYS)], 9)
    at = await store.indexed()

    await store.index_lines(0, 4, [line(3, "kettle")])

    assert (positions(gone), at) == ({"kettle": []}, 0)
    again = await store.lines_with(["kettle"], [PlaceRange("pond", 0, ALWAYS)], 9)
    assert positions(again) == {"kettle": [3]}


async def test_words_of_any_letters_are_kept(store: Store) -> None:
    words = ("käse", "чайник", "𐐨𐐨𐐨𐐨", "やかんです")
    await store.index_lines(0, 1, [line(1, *words)])

    matches = await store.lines_with(words, [PlaceRange("pond", 0, ALWAYS)], 9)

    assert positions(matches) == {word: [1] for word in words}


async def test_the_index_outlives_its_process(opener: Opener) -> None:
    first = opener()
    await first.open("house-one")
    await first.index_lines(0, 4, [line(3, "kettle")])
    await first.close()

    second = opener()
    await second.open("house-one")
    matches = await second.lines_with(["kettle"], [PlaceRange("pond", 0, ALWAYS)], 9)
    await second.close()

    assert positions(matches) == {"kettle": [3]}


async def test_events_are_read_by_their_positions(ledger_store: Store) -> None:
    ada = root("ada")
    await ledger_store.commit(one_batch(opening(ada, "a", "b", "c")))
    await ledger_store.commit(one_batch(lines(ada, 3, "d", "e")))

    some = await ledger_store.read_at([5, 2, 2, 99, 0])

    assert [(event.position, event.change, event.seq) for event in some] == [(2, 1, 2), (5, 4, 5)]
    assert some == [event for event in await ledger_store.read_after(0, 9) if event.position in (2, 5)]


placed = st.builds(
    lambda lamport, place, words: (lamport, place, tuple(words)),
    st.integers(1, 12),
    st.sampled_from(["pond", "mill", "@ada"]),
    st.sets(st.sampled_from(["kettle", "sea", "moon"])),
)
ranges = st.builds(
    lambda place, first, size: PlaceRange(place, first, first + size),
    st.sampled_from(["pond", "mill", "@ada", "shed"]),
    st.integers(0, 12),
    st.integers(0, 12),
)


@pytest.mark.parametrize("lines_max", [1, 3, 50])
@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(given_lines=st.lists(placed, max_size=30), asked=st.lists(ranges, max_size=5))
async def test_every_store_finds_what_a_plain_search_finds(
    store: Store, lines_max: int, given_lines: list[tuple[int, str, tuple[str, ...]]], asked: list[PlaceRange]
) -> None:
    all_lines = [
        PlacedLine(n, lamport, (place,), words) for n, (lamport, place, words) in enumerate(given_lines, 1)
    ]
    half = len(all_lines) // 2
    await store.drop_index()
    await store.index_lines(0, half, all_lines[:half])
    await store.index_lines(half, len(all_lines) + 1, all_lines[half:])

    matches = await store.lines_with(["kettle", "sea"], asked, lines_max)

    for word in ("kettle", "sea"):
        by_hand = {
            FoundLine(each.lamport, each.position)
            for each in all_lines
            for part in asked
            if word in each.words and part.place in each.places and part.first <= each.lamport <= part.last
        }
        assert matches[word] == sorted(by_hand, reverse=True)[:lines_max]
