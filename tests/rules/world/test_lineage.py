"""The lineage: every visible event once and in order, whatever was split, merged and forked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from glasshouse.errors import Refused, UnknownName
from glasshouse.views.lineage import session_of
from glasshouse.world.state.lineage import (
    Span,
    ancestors_of,
    descendants_of,
    moment_of,
    pages,
    span_of,
    spans_between,
    visible_prefixes,
)
from tests.rules.world.segments_by_hand import EventKey, Segments, grown, placed, read
from tests.rules.worlds_by_hand import HandWorld

choices = st.lists(st.integers(0, 10_000), min_size=24, max_size=120)


@given(choices)
def test_every_visible_event_is_read_exactly_once_and_in_order(numbers: list[int]) -> None:
    made = grown(numbers)

    for session in made.names:
        assert read(made, session) == made.history(session)


@given(choices, st.integers(0, 10_000))
def test_every_stretch_between_two_events_is_read_exactly(numbers: list[int], which: int) -> None:
    made = grown(numbers)
    session = made.names[which % len(made.names)]
    history = made.history(session)
    # The ends and some in between; every pair of these, also the wrong way round.
    step = max(1, len(history) // 6)
    bounds: list[EventKey | None] = [None, *history[::step], history[-1]]

    for after in bounds:
        for upto in bounds:
            wanted = [p for p in history if (after is None or p > after) and (upto is None or p <= upto)]

            assert read(made, session, after, upto) == wanted


@given(choices)
def test_every_event_of_a_history_has_its_moment_and_others_are_refused(numbers: list[int]) -> None:
    made = grown(numbers)
    sessions = made.world.sessions
    everything = {key for name in made.names for key in made.own[name]}

    for session in made.names[-3:]:
        prefixes = visible_prefixes(sessions, session)
        history = made.history(session)
        moments = [moment_of(sessions, prefixes, f"{key[2]}.{key[3]}") for key in history]

        assert moments == [key[:3] for key in history]
        for key in everything.difference(history):
            with pytest.raises(Refused):
                moment_of(sessions, prefixes, f"{key[2]}.{key[3]}")


@given(choices, st.integers(1, 40))
def test_pages_follow_each_other_in_time_and_are_bounded(numbers: list[int], page_events: int) -> None:
    made = grown(numbers)
    sessions = made.world.sessions
    session = made.names[-1]
    spans = spans_between(sessions, visible_prefixes(sessions, session))

    cut = [sorted(placed(made, page)) for page in pages(spans, page_events)]

    assert [key for page in cut for key in page] == made.history(session)
    assert all(page for page in cut)
    assert all(len(page) >= page_events for page in cut[:-1])
    assert all(len(page) < page_events + max(page_events, len(spans)) for page in cut)


@given(choices)
def test_ancestors_and_descendants_are_each_others_mirror_oldest_first(numbers: list[int]) -> None:
    made = grown(numbers)
    sessions = made.world.sessions

    for session in made.names:
        ancestors, descendants = ancestors_of(sessions, session), descendants_of(sessions, session)

        assert set(ancestors) == made.ancestors(session)
        assert set(descendants) == {name for name in made.names if session in made.ancestors(name)}
        for family in (ancestors, descendants):
            assert len(family) == len(set(family))
            assert all(made.ancestors(name).isdisjoint(family[n:]) for n, name in enumerate(family))


def test_a_session_sees_itself_first_and_whole() -> None:
    made = Segments()
    root = made.begin()
    made.write(root, 4)

    prefixes = visible_prefixes(made.world.sessions, root)

    assert list(prefixes.items()) == [(root, 5)]


def test_what_the_parent_writes_after_a_fork_is_not_seen_by_the_fork() -> None:
    made = Segments()
    root = made.begin()
    made.write(root, 4)
    fork = made.fork(root, 3)

    made.write(root, 10)

    assert visible_prefixes(made.world.sessions, fork) == {fork: 1, root: 3}


@pytest.mark.parametrize("is_turned_round", [False, True])
def test_of_two_ways_to_one_ancestor_the_longer_prefix_is_seen(is_turned_round: bool) -> None:
    made = Segments()
    root = made.begin()
    made.write(root, 9)
    early_fork = made.fork(root, 3)
    later_child, _ = made.split(root)
    pair = (later_child, early_fork) if is_turned_round else (early_fork, later_child)

    merged = made.merge(*pair)

    assert visible_prefixes(made.world.sessions, merged)[root] == 10
    assert read(made, merged) == made.history(merged)
    assert len([key for key in read(made, merged) if key[2] == root]) == 10


def test_a_fork_of_a_grandparent_merged_with_a_grandchild_counts_the_common_past_once() -> None:
    made = Segments()
    root = made.begin()
    made.write(root, 5)
    left, right = made.split(root)
    made.write(left, 3)
    grandchild = made.merge(left, right)
    fork = made.fork(root, 2)
    made.write(fork, 20)

    merged = made.merge(fork, grandchild)

    history = read(made, merged)
    assert history == made.history(merged)
    assert len(history) == len(set(history)) == 6 + 4 + 1 + 1 + 21 + 1


def test_after_ten_splits_and_merges_the_old_history_counts_once() -> None:
    made = Segments()
    whole = made.begin()
    made.write(whole, 99)
    for _ in range(10):
        left, right = made.split(whole)
        whole = made.merge(left, right)

    history = read(made, whole)

    assert len(history) == len(set(history)) == 100 + 10 * 3
    assert history == made.history(whole)
    assert len(visible_prefixes(made.world.sessions, whole)) == 1 + 10 * 3


def test_segments_of_one_time_are_read_in_the_order_of_their_ordinals_and_not_of_their_names() -> None:
    made = Segments()
    first, second = made.begin(), made.begin()
    merged = made.merge(first, second)

    history = read(made, merged)

    assert first > second
    assert [key[2] for key in history] == [first, second, merged]


def test_imported_segments_of_one_ordinal_are_read_in_the_order_of_their_names() -> None:
    made = Segments()
    for name in ("s-b", "s-a"):
        segment = made.world.sessions[made.begin()].segment
        twin = type(segment)(id=name, graph_id="g", origin="import", ordinal=7, base=0, is_imported=True)
        made.world.sessions[name] = type(made.world.sessions[segment.id])(twin, head=2)

    sessions = made.world.sessions
    spans = spans_between(sessions, {"s-b": 2, "s-a": 2}, after=(1, 7, "s-a"), upto=(2, 7, "s-a"))

    assert {(span.session_id, span.first, span.last) for span in spans} == {("s-a", 2, 2), ("s-b", 1, 1)}


@pytest.mark.parametrize("page_events", range(1, 12))
def test_a_page_never_ends_within_a_moment_that_an_older_segment_shares(page_events: int) -> None:
    long_but_younger = Span("s-long", ordinal=9, base=0, first=1, last=10)
    short_but_older = Span("s-short", ordinal=1, base=4, first=1, last=3)

    read_in_order = [
        moment
        for page in pages([long_but_younger, short_but_older], page_events)
        for moment in sorted((s.base + seq, s.ordinal) for s in page for seq in range(s.first, s.last + 1))
    ]

    assert read_in_order == sorted(read_in_order)
    assert len(read_in_order) == 13


def test_a_page_of_many_parallel_segments_is_no_larger_than_one_of_few() -> None:
    made = Segments()
    roots = [made.begin() for _ in range(20)]
    for root in roots:
        made.write(root, 999)
    spans = [span_of(made.world.sessions[root].segment, 1, 1_000) for root in roots]

    sizes = [sum(span.last - span.first + 1 for span in page) for page in pages(spans, 100)]

    assert sum(sizes) == 20_000
    assert max(sizes) < 200


def test_a_family_is_told_oldest_first_even_if_its_oldest_was_imported_from_a_busier_house() -> None:
    made = Segments()
    imported = made.begin()
    state = made.world.sessions[imported]
    state.segment = replace(state.segment, ordinal=70, is_imported=True)
    child = made.fork(imported, 1)
    grandchild = made.fork(child, 1)

    assert ancestors_of(made.world.sessions, grandchild) == [imported, child]
    assert descendants_of(made.world.sessions, imported) == [child, grandchild]


def test_an_unknown_session_is_refused_with_the_likely_meant_one() -> None:
    made = Segments()
    made.begin()

    with pytest.raises(UnknownName, match="Did you mean 's999'"):
        visible_prefixes(made.world.sessions, "s998")
    with pytest.raises(UnknownName):
        descendants_of(made.world.sessions, "nothing-like-it")


@pytest.mark.parametrize("name", ["s999.0", "s999.3", "s999", "s998.1", "s999.", "", "s999.-1", "s999.1.1"])
def test_an_event_that_a_history_does_not_hold_is_refused_with_what_to_name(name: str) -> None:
    made = Segments()
    root = made.begin()
    made.write(root)
    prefixes = visible_prefixes(made.world.sessions, root)

    with pytest.raises(Refused) as refusal:
        moment_of(made.world.sessions, prefixes, name)

    assert repr(name) in refusal.value.reason
    assert "ancestors" in refusal.value.instead


def test_a_great_read_is_planned_without_looking_at_events() -> None:
    made = Segments()
    root = made.begin()
    made.world.sessions[root].head = 10_000_000
    span = span_of(made.world.sessions[root].segment, 1, 10_000_000)

    first = next(pages([span]))

    assert [(piece.first, piece.last) for piece in first] == [(1, 1_024)]


def lived(numbers: list[int]) -> tuple[HandWorld, dict[str, set[str]]]:
    """A world after random changes, and who was ever seen in the graph of each session."""
    made = HandWorld()
    seen: dict[str, set[str]] = {}
    for choice in numbers:
        creatures = list(made.world.creatures)
        creature = creatures[choice // 7 % len(creatures)] if creatures else ""
        other = creatures[choice // 91 % len(creatures)] if creatures else ""
        if choice % 7 < 2 or len(creatures) < 3:
            made.add("ada", graph=made.graph_of(creature) if choice % 7 == 1 and creatures else None)
        elif choice % 7 < 5 and creature != other:
            made.connect(creature, other)
        elif choice % 7 == 5:
            made.remove(creature)
        elif made.world.topology.channels_of.get(creature):
            channel = next(iter(made.world.topology.channels_of[creature]))
            made.close(made.graph_of(creature), channel)
        for graph in made.world.graphs.values():
            seen.setdefault(graph.session_id, set()).update(graph.creatures)
    return made, seen


@given(st.lists(st.integers(0, 100_000), min_size=15, max_size=50))
def test_the_agents_of_a_session_are_all_who_were_in_its_graph_while_it_was_written(
    numbers: list[int],
) -> None:
    made, seen = lived(numbers)

    for session, creatures in seen.items():
        agents = session_of(made.world, session).agents

        assert set(agents) == creatures
        assert len(agents) == len(creatures)


def test_the_agents_of_a_fork_are_those_who_were_there_at_the_event_it_forks_from() -> None:
    made = HandWorld()
    made.add("ada")
    graph = made.graph_of("ada")
    made.add("bo", graph=graph)
    both_there = made.say("ada")
    made.remove("ada")
    made.add("cy", graph=graph)

    fork = made.fork(both_there)

    assert set(session_of(made.world, fork).agents) == {"ada", "bo"}
    assert set(session_of(made.world, both_there.session_id).agents) == {"ada", "bo", "cy"}
