"""Usage: an unknown price makes a sum unknown, never smaller; everybody reads it."""

from hypothesis import given
from hypothesis import strategies as st

from glasshouse.events import kinds
from glasshouse.events.event import CONDUCTOR, Event, costs_of, usage_in
from glasshouse.events.model_use import NOTHING, ModelUse, Usage
from glasshouse.events.redaction import ROLES, Role, redacted
from tests.rules.events.events_by_hand import an_event
from tests.rules.views.stories_on_stage import asked, said, stories, story_of


def test_calls_are_summed() -> None:
    story = story_of(
        said("ada", "One.", run_id="r-one", model=asked(model="small", usd=0.25)),
        said("ada", "Two.", run_id="r-two", model=asked(model="large", usd=0.5)),
        said("bo", "Three.", run_id="r-one", model=asked(model="small", usd=0.25)),
    )

    usage = usage_in(story)

    assert (usage.calls, usage.tokens, usage.usd) == (3, 735, 1.0)


def test_an_unknown_price_makes_the_sum_unknown() -> None:
    story = story_of(said("ada", "One.", model=asked(usd=0.25)), said("bo", "Two.", model=asked(usd=None)))

    usage = usage_in(story)

    assert (usage.usd, usage.usd_known, usage.calls) == (None, 0.25, 2)
    assert usage_in(story[:1]).usd == 0.25


def test_an_attempt_that_reached_no_model_is_free() -> None:
    (event,) = story_of(said("ada", "One.", model=asked(reached=False, usd=None)))

    usage = usage_in([event])

    assert len(event.calls) == 1
    assert usage == NOTHING


def test_a_run_pays_for_calls_that_reached_a_model_or_for_one_call_of_an_act_that_reached_none() -> None:
    answered = an_event(model=asked(usd=0.25))
    unreached, unasked = an_event(model=asked(reached=False)), an_event(model=None)
    after_tools, in_an_act = an_event(model=ModelUse("fast")), an_event(model=None, kind=kinds.TOOL_CALLED)
    by_conductor, no_answer = an_event(model=None, actor=CONDUCTOR), an_event(model=None, caused_by=None)

    assert costs_of(answered) == [Usage(1, 245, 0.25)]
    assert costs_of(unreached) == costs_of(unasked) == [Usage(calls=1)]
    assert costs_of(after_tools) == costs_of(in_an_act) == []
    assert costs_of(by_conductor) == costs_of(no_answer) == []


@given(story=stories(), role=st.sampled_from(ROLES))
def test_every_role_reads_the_same_usage(story: list[Event], role: Role) -> None:
    assert usage_in(redacted(event, role) for event in story) == usage_in(story)


def test_what_was_added_can_be_taken_away_again() -> None:
    held, more = Usage(2, 40, 0.5), Usage(1, 10, 0.25)

    assert held.plus(more).minus(more) == held
    assert held.plus(Usage(1, 5, is_unpriced=True)).usd is None
