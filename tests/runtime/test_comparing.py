"""Comparing two stories: they diverge where their digests do."""

from collections.abc import Sequence

from glasshouse.events.digest import digest_of
from glasshouse.events.event import Event
from glasshouse.events.redaction import redacted
from glasshouse.testing import play_offline
from glasshouse.views.comparison import compared

WORLD = "thousand-token-wood"


def played(*, seed: str | None = None, turns: int = 4, rng_seed: int = 0) -> Sequence[Event]:
    return play_offline(WORLD, turns=turns, seed=seed, rng_seed=rng_seed).events


def test_the_same_story_played_twice_is_one() -> None:
    first, second = played(), played()

    comparison = compared(("a", first), ("b", second))

    assert comparison.is_same
    assert digest_of(first) == digest_of(second)
    assert comparison.shared_events == comparison.first.events == len(first)
    assert comparison.shared_lines == comparison.first.lines
    assert (comparison.first.only_here, comparison.second.only_here) == ((), ())
    assert (comparison.first.cost, comparison.first.cost_apart.calls) == (comparison.second.cost, 0)


def test_a_story_that_ends_before_parts_from_the_other_at_its_end() -> None:
    short, long = played(turns=2), played(turns=4)

    comparison = compared(("short", short), ("long", long))

    assert comparison.shared_events == len(short)
    assert (comparison.first.parts_with, comparison.second.parts_with) == (None, long[len(short)])
    assert not comparison.is_same
    assert comparison.second.only_here
    assert comparison.second.cost_apart.calls > 0
    assert comparison.second.cost.calls > comparison.second.cost_apart.calls


def test_stories_of_two_seeds_part_at_once_and_share_no_line_by_chance() -> None:
    first, second = played(rng_seed=1), played(rng_seed=2)

    comparison = compared(("a", first), ("b", second))

    assert not comparison.is_same
    assert (comparison.shared_events, comparison.first.parts_with) == (0, redacted(first[0], "audience"))
    assert {line.text for line in comparison.first.only_here}.isdisjoint(
        {line.text for line in comparison.second.only_here}
    )


def test_a_line_in_another_place_is_not_told_as_missing() -> None:
    story = played()
    spoken = [n for n, event in enumerate(story) if event.kind == "agent.spoke"]
    without = [event for n, event in enumerate(story) if n != spoken[0]]

    comparison = compared(("whole", story), ("without", without))

    assert [line.id for line in comparison.first.only_here] == [story[spoken[0]].id]
    assert comparison.second.only_here == ()


def test_nothing_compared_with_nothing_is_the_same() -> None:
    comparison = compared(("a", []), ("b", []))

    assert comparison.is_same
    assert (comparison.shared_events, comparison.first.turns, comparison.first.reason) == (0, 0, None)
