"""Spend: sums by creature, model and run; an unknown price makes a sum unknown, never smaller."""

import msgspec
from hypothesis import given

from glasshouse.events.event import Event
from glasshouse.events.redaction import redacted
from glasshouse.views.spend import Spend, SpendProjection, spend_of
from tests.rules.views.stories_on_stage import asked, said, stories, told


def test_calls_are_summed_by_creature_by_model_and_by_run() -> None:
    story = told(
        said("ada", "One.", run_id="r-one", model=asked(model="small", usd=0.25)),
        said("ada", "Two.", run_id="r-two", model=asked(model="large", usd=0.5)),
        said("bo", "Three.", run_id="r-one", model=asked(model="small", usd=0.25)),
    )

    spend = spend_of(story)

    assert {name: of.usd for name, of in spend.by_creature.items()} == {"ada": 0.75, "bo": 0.25}
    assert {name: of.usd for name, of in spend.by_model.items()} == {"small": 0.5, "large": 0.5}
    assert {name: of.calls for name, of in spend.by_run.items()} == {"r-one": 2, "r-two": 1}
    assert (spend.total.tokens, spend.total.usd, spend.total.milliseconds) == (735, 1.0, 4.5)


def test_an_unknown_price_makes_the_sum_unknown_and_only_there() -> None:
    story = told(said("ada", "One.", model=asked(usd=0.25)), said("bo", "Two.", model=asked(usd=None)))

    spend = spend_of(story)

    assert (spend.by_creature["ada"].usd, spend.by_creature["bo"].usd, spend.total.usd) == (0.25, None, None)
    assert (spend.total.usd_known, spend.total.unpriced_calls) == (0.25, 1)


def test_an_attempt_that_reached_no_model_is_counted_and_free() -> None:
    (event,) = told(said("ada", "One.", model=asked(reached=False, usd=None)))

    total = spend_of([event]).total

    assert (total.attempts, total.calls, total.tokens, total.usd) == (1, 0, 0, 0.0)


@given(story=stories())
def test_only_directors_read_spend_and_a_snapshot_keeps_it(story: list[Event]) -> None:
    spend = spend_of(story)

    kept = msgspec.json.decode(msgspec.json.encode(spend), type=SpendProjection)

    assert kept == spend
    assert spend_of(redacted(event, "audience") for event in story).total == Spend()
    assert spend.total.calls == sum(of.calls for of in spend.by_creature.values())
