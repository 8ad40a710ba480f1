"""What creatures write has any shape; what the engine reads of it is typed, and never breaks a fold."""

from typing import Any

import pytest

from glasshouse.events import kinds
from glasshouse.events.event import text_of
from glasshouse.events.payloads import JudgeVerdict, Private, Sealed, private_of, sealed_of, verdict_of
from tests.rules.events.events_by_hand import an_event


@pytest.mark.parametrize(
    ("sealed", "read"),
    [
        (None, Sealed()),
        ({"to": ["ada"], "facts": {"word": "fern"}}, Sealed(["ada"], {"word": "fern"})),
        ({"word": "fern"}, Sealed()),
        ({"to": 5}, Sealed()),
        ({"to": ["ada"], "facts": ["fern"]}, Sealed()),
    ],
)
def test_what_is_sealed_in_another_shape_is_for_nobody(sealed: Any, read: Sealed) -> None:
    assert sealed_of(an_event(sealed=sealed)) == read


@pytest.mark.parametrize(
    ("payload", "read"),
    [
        ({"winner": "ada", "text": "She knew."}, JudgeVerdict("ada", "She knew.")),
        ({"winner": "ada", "colour": "green"}, JudgeVerdict("ada")),
        ({"winner": ["ada"], "text": 5, "cites": "s-1.4"}, JudgeVerdict()),
        ({"winner": "ada", "cites": ["s-1.4", 5]}, JudgeVerdict("ada", cites=["s-1.4"])),
        ({}, JudgeVerdict()),
    ],
)
def test_what_is_no_text_in_a_verdict_is_none(payload: Any, read: JudgeVerdict) -> None:
    assert verdict_of(an_event(kind=kinds.JUDGE_VERDICT, payload=payload)) == read


@pytest.mark.parametrize(
    ("private", "read"),
    [
        (None, Private()),
        ({"thought": "Hm.", "mood": "wary", "masked": ["word"]}, Private("Hm.", "wary")),
        ({"thought": 5, "mood": "wary", "colour": "green"}, Private("", "wary")),
    ],
)
def test_what_is_no_text_among_private_notes_is_empty(private: Any, read: Private) -> None:
    assert private_of(private) == read


@pytest.mark.parametrize(("payload", "text"), [({"text": "Hm."}, "Hm."), ({"text": ["Hm."]}, ""), ({}, "")])
def test_what_is_no_text_in_a_line_is_empty(payload: Any, text: str) -> None:
    assert text_of(an_event(payload=payload)) == text
