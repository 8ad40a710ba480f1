"""Spend: an unknown price makes a sum unknown, never smaller; only directors read it."""

from hypothesis import given

from glasshouse.events.event import Event
from glasshouse.events.redaction import redacted
from glasshouse.views.spend import Spend, spend_of
from tests.rules.views.stories_on_stage import asked, said, stories, told


def test_calls_are_summed() -> None:
    story = told(
        said("ada", "One.", run_id="r-one", model=asked(model="small", usd=0.25)),
        said("ada", "Two.", run_id="r-two", model=asked(model="large", usd=0.5)),
        said("bo", "Three.", run_id="r-one", model=asked(model="small", usd=0.25)),
    )

    spend = spend_of(story)

    assert (spend.calls, spend.tokens, spend.usd, spend.milliseconds) == (3, 735, 1.0, 4.5)


def test_an_unknown_price_makes_the_sum_unknown() -> None:
    story = told(said("ada", "One.", model=asked(usd=0.25)), said("bo", "Two.", model=asked(usd=None)))

    spend = spend_of(story)

    assert (spend.usd, spend.usd_known, spend.unpriced_calls) == (None, 0.25, 1)
    assert spend_of(story[:1]).usd == 0.25


def test_an_attempt_that_reached_no_model_is_counted_and_free() -> None:
    (event,) = told(said("ada", "One.", model=asked(reached=False, usd=None)))

    spend = spend_of([event])

    assert (spend.attempts, spend.calls, spend.tokens, spend.usd) == (1, 0, 0, 0.0)


@given(story=stories())
def test_only_directors_read_spend(story: list[Event]) -> None:
    assert spend_of(redacted(event, "audience") for event in story) == Spend()
