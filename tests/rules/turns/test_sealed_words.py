"""Sealed words: what counts as saying one's own word aloud, and what a mask leaves."""

from typing import Any

import pytest

from glasshouse.events import kinds
from glasshouse.events.event import Draft
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.playbill import DealRule, Playbill
from glasshouse.turns.moment.tools import ToolCall
from glasshouse.turns.replies.reply import Passed
from glasshouse.turns.replies.sealed_words import masked_words, sealed_facts_said, with_masked_notes
from tests.rules.turns.moments_by_hand import a_moment, said

KEPT = DealRule()


def at(*heard: str, word: Any = "fern", rule: DealRule = KEPT) -> Moment:
    events = [said(n, "moth-id", text) for n, text in enumerate(heard, start=1)]
    kinds_of_world = {"hint.given": {"hint": "string", "more": "strings", "sure": ["fern", "moss"]}}
    return a_moment(
        events, known={"word": word}, playbill=Playbill(deal={"word": rule}, kinds=kinds_of_world)
    )


def spoke(text: str, kind: str = kinds.AGENT_SPOKE) -> Draft:
    return Draft(kind=kind, payload={"text": text})


@pytest.mark.parametrize(
    "text", ["It is a fern.", "FERN!", "Two ferns, no more.", "the fern's shade", "a *fern*-like thing"]
)
def test_a_line_with_ones_own_word_says_it(text: str) -> None:
    assert sealed_facts_said(spoke(text), at("Is it green?")) == {"word": "fern"}


@pytest.mark.parametrize("text", ["It is green.", "Fernando is here.", "refern", ""])
def test_a_line_without_it_does_not(text: str) -> None:
    assert sealed_facts_said(spoke(text), at()) == {}


def test_what_others_have_said_is_no_secret_any_more() -> None:
    assert sealed_facts_said(spoke("Yes, a fern."), at("Is it a fern?")) == {}


def test_a_fact_that_may_be_said_or_is_made_for_telling_does_not_count() -> None:
    assert sealed_facts_said(spoke("A fern."), at(rule=DealRule(may_say=True))) == {}
    assert (
        sealed_facts_said(spoke("The fern was wet that night."), at(word="The fern was wet that night."))
        == {}
    )
    assert sealed_facts_said(spoke("A fern."), at(word=["fern"])) == {}
    assert sealed_facts_said(spoke("A tree fern, old."), at(word="tree-fern")) == {"word": "tree-fern"}


def test_a_fact_may_be_said_in_the_kinds_that_the_scenario_names_and_in_no_other() -> None:
    rule = DealRule(may_say=("hint.given",))

    lifted = Draft(kind="hint.given", payload={"hint": "A fern."})

    assert sealed_facts_said(lifted, at(rule=rule)) == {}
    assert sealed_facts_said(spoke("A fern."), at(rule=rule)) == {"word": "fern"}


@pytest.mark.parametrize("kind", [kinds.AGENT_THOUGHT, kinds.AGENT_REFLECTED, kinds.JUDGE_VERDICT])
def test_thoughts_and_verdicts_may_say_it(kind: str) -> None:
    assert sealed_facts_said(spoke("A fern.", kind), at()) == {}


def test_a_mask_covers_the_word_in_free_text_alone_and_the_private_part_names_the_fact() -> None:
    draft = Draft(
        kind="hint.given",
        payload={"hint": "A fern, two ferns.", "more": ["Fern?", "no"], "sure": "fern"},
        private={"thought": "It is a fern."},
    )
    facts = sealed_facts_said(draft, at())

    masked = masked_words(draft, at(), facts)

    assert masked.payload == {
        "hint": "A [sealed], two [sealed].",
        "more": ["[sealed]?", "no"],
        "sure": "fern",
    }
    assert masked.private == {"thought": "It is a fern.", "masked": ["word"]}


def test_notes_that_an_audience_reads_are_masked_too_until_the_word_was_said() -> None:
    notes = {"thought": "It is a fern.", "mood": "fern-ish"}
    drafted = Draft(kind=kinds.AGENT_SPOKE, payload={"text": "Hm."}, private=notes)

    assert with_masked_notes(drafted, at()).private == {
        "thought": "It is a [sealed].",
        "mood": "[sealed]-ish",
    }
    assert with_masked_notes(Passed("Not the fern.", notes), at()) == Passed(
        "Not the [sealed].", {"thought": "It is a [sealed].", "mood": "[sealed]-ish"}
    )
    assert with_masked_notes(ToolCall("look", {}, notes), at()).private != notes
    assert with_masked_notes(Passed("Not the moss."), at()) == Passed("Not the moss.")
    assert with_masked_notes(drafted, at("Is it a fern?")) == drafted
