"""How a run ended: one sentence, then the figures, the same on every face."""

from typing import Any

import pytest

from glasshouse.events import kinds
from glasshouse.events.payloads import RunFinished, builtins_of
from glasshouse.views.ending import figures_of, how_it_ended, outcome_of
from glasshouse.views.page_fold import PageFold
from glasshouse.views.transcript import transcript_of
from tests.rules.views.stories_on_stage import birth, by_conductor, run_started, said, story_of


def ended(reason: Any = "ended", **fields: Any) -> RunFinished:
    return RunFinished(reason=reason, turns=1, calls=1_200, tokens=9, usd=0.0, **fields)


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        (ended(winner="bo", why="The word was named."), "The end: bo won."),
        (ended(why="Nobody was heard."), "The end: a verdict, and nobody won."),
        (ended(), "The end: the play ran its course."),
        (ended("stopped"), "Stopped before its end."),
        (ended("no_contest"), "The end: no contest, and nobody won."),
        (
            ended("budget", axis="max_total_tokens"),
            "The end: it stopped at the token limit (max_total_tokens).",
        ),
        (
            ended("budget", axis="max_turns", winner="bo"),
            "The end: it stopped at the turn limit (max_turns), and bo won.",
        ),
        (ended("budget"), "The end: it stopped at the budget."),
    ],
)
def test_a_sentence_tells_how_a_run_ended(run: RunFinished, sentence: str) -> None:
    assert how_it_ended(run) == sentence


@pytest.mark.parametrize(
    ("run", "sentence"),
    [
        (ended(winner="bo"), "BO won."),
        (ended(), "The play ran its course."),
        (ended("stopped"), "Stopped before its end."),
        (ended("budget", axis="max_turns", winner="bo"), "It stopped at the turn limit, and BO won."),
    ],
)
def test_below_a_heading_the_same_sentence_stands_without_the_end(run: RunFinished, sentence: str) -> None:
    assert outcome_of(run, str.upper) == sentence


def test_the_figures_are_counted_in_words() -> None:
    dear = RunFinished("ended", turns=2, calls=1, tokens=10, usd=0.5, full_turns=1)

    assert figures_of(ended()) == "It took 1 turn, 1,200 calls, 9 tokens, free."
    assert figures_of(dear) == "It took 2 turns (1 full), 1 call, 10 tokens, 0.5000 USD."
    assert figures_of(RunFinished("ended", 1, 1, 1, None)).endswith("price unknown.")


def test_a_transcript_and_the_feed_of_the_page_end_with_it() -> None:
    finished = by_conductor(kinds.RUN_FINISHED, **builtins_of(ended(winner="bo")))
    story = story_of(run_started(), birth("bo"), said("bo", "Mine."), finished)
    fold = PageFold("spectator")

    *_, last = transcript_of(story, "r-one")
    *_, row = [fold.fold(event).row for event in story]

    assert last.plain == "The end: bo won. It took 1 turn, 1,200 calls, 9 tokens, free."
    assert (last.voice, last.id) == ("ending", story[-1].id)
    assert row.text == f"finished: {last.plain}"
