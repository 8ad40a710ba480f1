"""Sessions and their lineage as values."""

import pytest

from glasshouse.errors import UnknownName
from glasshouse.views.lineage import lineage_of, session_of
from tests.rules.worlds_by_hand import HandWorld, chain


def test_a_first_session_has_no_parents_and_is_open() -> None:
    made = HandWorld()
    made.add("ada")

    session = session_of(made.world, made.session_of("ada"))

    assert (session.origin, session.parent_session_ids, session.child_session_ids) == ("root", (), ())
    assert session.is_open
    assert session.agents == ("ada",)
    assert session.events == len(made.ledger)
    assert (session.merged_at, session.split_at, session.forked_at) == (None, None, None)
    assert session.config_path is None


def test_a_merge_ends_two_sessions_and_begins_one_with_both_as_parents() -> None:
    made = HandWorld()
    made.add_all("ada", "bo")
    ended = [made.session_of("ada"), made.session_of("bo")]

    made.connect("ada", "bo")

    merged = session_of(made.world, made.session_of("ada"))
    assert merged.origin == "merge"
    assert merged.parent_session_ids == tuple(ended)
    assert merged.merged_at == f"{merged.id}.1"
    assert merged.agents == ("ada", "bo")
    assert merged.is_open
    for session in (session_of(made.world, name) for name in ended):
        assert session.child_session_ids == (merged.id,)
        assert not session.is_open


def test_a_split_ends_one_session_and_begins_one_for_each_part() -> None:
    made = chain("ada", "bo", "cy")
    whole = made.session_of("ada")

    made.disconnect("bo", "cy")

    ended, left, right = (
        session_of(made.world, name) for name in (whole, made.session_of("ada"), made.session_of("cy"))
    )
    assert ended.child_session_ids == (left.id, right.id)
    assert left.parent_session_ids == right.parent_session_ids == (whole,)
    assert left.split_at == right.split_at == f"{whole}.{ended.events}"
    assert (left.agents, right.agents) == (("ada", "bo"), ("cy",))
    assert [session.is_open for session in (ended, left, right)] == [False, True, True]


def test_a_fork_seals_nothing_and_is_open_to_nobody() -> None:
    made = chain("ada", "bo")
    line = made.say("ada")

    fork = session_of(made.world, made.fork(line))

    parent = session_of(made.world, line.session_id)
    assert (fork.origin, fork.forked_at, fork.parent_session_ids) == ("fork", line.id, (parent.id,))
    assert not fork.is_open
    assert parent.is_open
    assert parent.child_session_ids == (fork.id,)


def test_two_forks_at_one_event_are_two_sessions() -> None:
    made = chain("ada", "bo")
    line = made.say("ada")

    first, other = made.fork(line), made.fork(line)

    assert first != other
    assert session_of(made.world, line.session_id).child_session_ids == (first, other)


def test_a_lineage_shows_ancestors_and_descendants_oldest_first() -> None:
    made = HandWorld()
    made.add_all("ada", "bo", "cy")
    made.connect("ada", "bo")
    middle = made.session_of("ada")
    made.connect("bo", "cy")
    made.disconnect("ada", "bo")

    lineage = lineage_of(made.world, middle)

    assert [session.agents for session in lineage.ancestors] == [("ada",), ("bo",)]
    assert lineage.session.id == lineage.session_id == middle
    assert [session.origin for session in lineage.descendants] == ["merge", "split", "split"]


def test_a_session_whose_last_creature_is_gone_stays_readable() -> None:
    made = HandWorld()
    made.add("ada")
    session_id = made.session_of("ada")

    made.remove("ada")

    session = session_of(made.world, session_id)
    assert not session.is_open
    assert session.agents == ("ada",)
    assert session.events == len(made.ledger)


def test_an_unknown_session_is_refused_in_words() -> None:
    made = HandWorld()
    made.add("ada")

    for view in (session_of, lineage_of):
        with pytest.raises(UnknownName, match="no session is called 's-0'"):
            view(made.world, "s-0")
