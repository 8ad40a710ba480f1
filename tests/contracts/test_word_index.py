"""Whatever a store keeps its index of words in: a random search finds what a search by hand finds."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from glasshouse.runtime.store_port import FoundLine, PlacedLine, PlaceRange, Store

placed = st.builds(
    lambda lamport, named, words: (lamport, named, tuple(words)),
    st.integers(1, 12),
    st.sampled_from(["pond", "mill", "@ada"]),
    st.sets(st.sampled_from(["kettle", "sea", "moon"])),
)
ranges = st.builds(
    lambda named, first, size: PlaceRange(named, first, first + size),
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
        PlacedLine(n, lamport, (named,), words) for n, (lamport, named, words) in enumerate(given_lines, 1)
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
