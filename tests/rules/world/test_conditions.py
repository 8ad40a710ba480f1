"""Conditions on wires: what they mean, and what is said about one that cannot be read."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import Refused
from glasshouse.world.hearing.conditions import EXAMPLE, clauses_max, condition_chars_max, condition_of, holds
from tests.rules.events.events_by_hand import an_event

LINE = an_event(
    kind="answer.given",
    payload={
        "text": "The Lantern is lit, and salt and pepper are on the table.",
        "answer": "Yes",
        "sure": True,
        "price": 3,
        "cites": ["oak", "elm tree"],
        "nested": {"text": "lantern"},
    },
)

TRUE = [
    "kind is answer.given",
    "kind is not agent.spoke",
    "kind has answer",
    "text has lantern",
    "text has LANTERN is lit",
    "text has not owl",
    'text has "salt and pepper"',
    "answer is yes",
    "answer is not no",
    'answer is not "not"',
    "sure is true",
    "price is 3",
    "cites has elm tree",
    "cites has not elm",
    "nested has not lantern",
    "absent is not here",
    "absent has not here",
    "kind is answer.given and text has lantern and answer is yes",
]
FALSE = [
    "kind is agent.spoke",
    "text is lantern",
    "text has not lantern",
    "answer is no",
    "sure is false",
    "price is 33",
    "cites has elm",
    "cites is oak",
    "nested has lantern",
    "absent is here",
    "kind is answer.given and answer is no",
]


@pytest.mark.parametrize("text", TRUE)
def test_a_condition_holds_of_a_line_that_is_or_has_what_it_says(text: str) -> None:
    assert holds(text, LINE)


@pytest.mark.parametrize("text", FALSE)
def test_a_condition_does_not_hold_of_any_other_line(text: str) -> None:
    assert not holds(text, LINE)


def test_without_a_condition_every_line_goes_over() -> None:
    assert holds(None, LINE)


WRONG = {
    "": "A clause of the condition is empty",
    "  ": "A clause of the condition is empty",
    "it is a question and": "A clause of the condition is empty",
    "Kind is agent.spoke": "not with 'Kind'",
    '"text" has x': "not with 'text'",
    "text": "After 'text' the condition lacks 'is' or 'has'",
    "text contains x": "After 'text' the condition lacks 'is' or 'has'",
    "text has": "does not say what 'text' has",
    "text has not": "does not say what 'text' has not",
    'text has ""': "does not say what 'text' has",
    'text has "x': "A quotation mark in the condition is not closed",
    "kind is spoke": "'spoke' is not an event kind",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_condition_that_cannot_be_read_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(Refused) as refusal:
        condition_of(text)

    assert WRONG[text] in refusal.value.reason
    assert EXAMPLE in refusal.value.instead
    condition_of(EXAMPLE.partition(": ")[2].rstrip("."))


def test_a_condition_is_bounded() -> None:
    with pytest.raises(Refused, match="characters"):
        condition_of("text has " + "x" * condition_chars_max)
    with pytest.raises(Refused, match="clauses"):
        condition_of(" and ".join(["text has x"] * (clauses_max + 1)))

    assert len(condition_of(" and ".join(["text has x"] * clauses_max))) == clauses_max


def test_one_that_was_recorded_before_conditions_were_read_still_hands_everything_over() -> None:
    assert holds("whenever it rains", LINE)


@given(st.text(max_size=80), st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=3))
def test_any_text_is_read_or_refused_and_any_line_is_answered(text: str, payload: dict[str, str]) -> None:
    with suppress(Refused):
        assert condition_of(text)

    assert holds(text, an_event(payload=payload)) in (True, False)
