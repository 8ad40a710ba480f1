"""How it stands between somebody who asks for help and whoever is asked."""

import pytest

from glasshouse.troupe.talk.dealings import (
    BROKEN,
    GRANTED,
    OPEN,
    PROMISED,
    REFUSED,
    TERMS,
    MoveTold,
    dealings_in,
)

ASKED = ("nora", "tom", "ask-help")


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ([], OPEN),
        ([("tom", "nora", "help-yes")], GRANTED),
        ([("tom", "nora", "help-no")], REFUSED),
        ([("tom", "nora", "set-term")], TERMS),
        ([("tom", "nora", "hold-back"), ("nora", "tom", "promise-care")], PROMISED),
        ([("tom", "nora", "help-if"), ("nora", "tom", "agree"), ("tom", "nora", "settle")], GRANTED),
        ([("tom", "nora", "set-term"), ("nora", "tom", "refuse-term")], REFUSED),
        ([("tom", "nora", "help-yes"), ("tom", "nora", "break-word")], BROKEN),
        ([("tom", "nora", "help-yes"), ("tom", "nora", "hold-word")], GRANTED),
    ],
)
def test_each_move_brings_a_request_to_its_next_state(
    moves: list[tuple[str, str, str]], expected: str
) -> None:
    said = [MoveTold(str(at), *move) for at, move in enumerate([ASKED, *moves], 1)]

    dealing = dealings_in(said)[0]

    assert (dealing.asker, dealing.asked, dealing.state) == ("nora", "tom", expected)
    assert dealing.ref == str(len(said))


def test_a_condition_that_nobody_met_is_no_promise() -> None:
    said = [
        MoveTold("1", *ASKED),
        MoveTold("2", "tom", "nora", "set-term"),
        MoveTold("3", "tom", "nora", "hold-word"),
    ]

    assert [dealing.state for dealing in dealings_in(said)] != [PROMISED]


@pytest.mark.parametrize(("condition", "met"), [("help-if", "agree"), ("set-term", "promise")])
def test_who_pays_for_help_has_given_their_word_too(condition: str, met: str) -> None:
    said = [MoveTold("1", *ASKED), MoveTold("2", "tom", "nora", condition), MoveTold("3", "nora", "tom", met)]

    assert [(dealing.asker, dealing.asked, dealing.state) for dealing in dealings_in(said)] == [
        ("nora", "tom", PROMISED),
        ("tom", "nora", GRANTED),
    ]


def test_two_who_ask_each_other_have_two_dealings() -> None:
    said = [
        MoveTold("1", *ASKED),
        MoveTold("2", "tom", "nora", "help-no"),
        MoveTold("3", "tom", "nora", "ask-help"),
        MoveTold("4", "nora", "tom", "help-yes"),
    ]

    assert [(dealing.asker, dealing.state) for dealing in dealings_in(said)] == [
        ("nora", REFUSED),
        ("tom", GRANTED),
    ]


@pytest.mark.parametrize(
    ("move", "expected"),
    [("thank", GRANTED), ("bear-no", REFUSED), ("betrayed", BROKEN), ("ask-hold", GRANTED)],
)
def test_what_the_asker_says_later_shows_what_is_out_of_sight(move: str, expected: str) -> None:
    assert [dealing.state for dealing in dealings_in([MoveTold("9", "nora", "tom", move)])] == [expected]


def test_a_move_to_nobody_changes_nothing() -> None:
    assert dealings_in([MoveTold("1", "tom", "", "thank"), MoveTold("2", "tom", "", "help-yes")]) == []
