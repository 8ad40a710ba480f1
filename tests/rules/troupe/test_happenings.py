"""What a sentence tells, read as an event: told again, asked about, or only quoted."""

from __future__ import annotations

import pytest

from glasshouse.troupe.grammar import cores
from glasshouse.troupe.talk.happenings import event_told_by_visitor, happenings_in
from glasshouse.troupe.talk.situation import ABOUT_EVENTS, without_news
from glasshouse.troupe.talk.understanding import TALK, part_chars_min


@pytest.mark.parametrize(
    ("text", "said_again", "question"),
    [
        ("It starts to snow.", "it started to snow", "why did it start to snow"),
        ("Someone put salt in the sugar jar.", "someone put salt in the sugar jar", "who put salt in the sugar jar"),
        ("Two of the guards start kissing", "two of the guards started kissing", "why did two of the guards start kissing"),
        ("The mayor resigns", "the mayor resigned", "why did the mayor resign"),
        ("breaking news: the king is dead", "the king is dead", "why is the king dead"),
        ("Suddenly all the lights go out", "all the lights went out", "why did all the lights go out"),
        ("It's snowing", "it is snowing", "why is it snowing"),
        ("There's a bomb under the stage", "there is a bomb under the stage", "where did the bomb come from"),
        ("There has been a murder", "there has been a murder", ""),
        ("Blood on the pear tree", "there is blood on the pear tree", "where did the blood come from"),
    ],
)  # fmt: skip
def test_a_sentence_is_told_again_and_asked_about(text: str, said_again: str, question: str) -> None:
    happening = happenings_in(text)[0]

    assert (happening.told, happening.question) == (said_again, question)


@pytest.mark.parametrize("text", ["Land ahoy!"])
def test_what_cannot_be_told_with_certainty_is_only_quoted(text: str) -> None:
    happening = happenings_in(text)[0]

    assert (happening.quoted, happening.told, happening.question) == (text.rstrip("!"), "", "")


@pytest.mark.parametrize("text", ["Who are you?", "What do you want?", "Who wants tea?"])
def test_a_question_that_takes_nothing_for_granted_tells_nothing(text: str) -> None:
    assert happenings_in(text) == ()


@pytest.mark.parametrize("move", sorted(ABOUT_EVENTS - {"note-quoted"}))
def test_whoever_hears_a_sentence_about_what_happened_recognises_it(move: str) -> None:
    for pattern in cores(TALK, move):
        assert max(len(text.strip()) for text in pattern.texts) >= part_chars_min, pattern.texts


def test_a_line_of_a_script_is_found_behind_what_happened() -> None:
    assert (
        without_news("It started to snow. You all saw it. The mule has turned round.")
        == "The mule has turned round."
    )
    assert without_news("The mule has turned round.") == "The mule has turned round."


@pytest.mark.parametrize(
    ("typed", "clause"),
    [
        (
            "can we have a pizza delivered to the table",
            'somebody asked "can we have a pizza delivered to the table?"',
        ),
        ("what time is it in tokyo", 'somebody asked "what time is it in tokyo?"'),
        ("the door is open", "the door is open"),
        ("what a day it was", 'somebody said "what a day it was"'),
    ],
)
def test_a_visitors_question_without_its_mark_is_a_question(typed: str, clause: str) -> None:
    assert event_told_by_visitor(typed).told == clause


def test_a_question_about_what_somebody_has_done_leaves_out_what_they_do_besides() -> None:
    (happening,) = happenings_in("A child has lost her shoe and thinks that the dog has it.")[:1]

    assert happening.question == "why has the child lost her shoe"
