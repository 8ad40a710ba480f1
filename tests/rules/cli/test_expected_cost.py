"""What a play will probably cost, against the limits in dollars, and when somebody is asked about it."""

import shlex

import pytest

from glasshouse.assembly import models_named
from glasshouse.cli import expected_cost
from glasshouse.cli.expected_cost import check_agreed, how_to_price, usd_unasked_max
from glasshouse.contests.expected_cost import Expected, expected_of_world
from glasshouse.errors import Refused
from glasshouse.events.payloads import Governor
from glasshouse.manifests import LoadedWorld, Manifest, Scenario
from glasshouse.models.router import ModelRouter

DEAR = Expected(120, 3.0)


@pytest.mark.parametrize(
    ("limits", "spent", "words"),
    [
        (Governor(), 0.0, ""),
        (Governor(max_total_usd=4), 0.0, ""),
        (Governor(max_total_usd=2), 0.0, "; it stops before it costs more than $2.00"),
        (Governor(max_total_usd=4), 1.5, "; it stops before it costs more than $2.50"),
        (Governor(hourly_budget_usd=2), 0.0, "; it stops when an hour has cost $2.00"),
        (Governor(max_total_usd=1, hourly_budget_usd=2), 0.0, "; it stops before it costs more than $1.00"),
    ],
)
def test_an_estimate_says_which_limit_in_dollars_it_will_reach(
    limits: Governor, spent: float, words: str
) -> None:
    assert str(DEAR.within(limits, spent)) == f"about 120 calls, 6 minutes and $3.00{words}"


def test_nobody_is_asked_about_a_play_whose_limit_is_small() -> None:
    small = Governor(max_total_usd=usd_unasked_max)

    check_agreed(DEAR.within(small), is_agreed=False, as_json=True)

    for dear in (DEAR, DEAR.within(Governor(max_total_usd=0.6)), DEAR.within(small).times(2)):
        with pytest.raises(Refused, match="This will probably take about"):
            check_agreed(dear, is_agreed=False, as_json=True)


@pytest.mark.parametrize(
    ("fields", "turns", "governor", "calls"),
    [
        ({}, None, None, 160),
        ({}, 4, None, 64),
        ({"max_total_calls": 50}, None, None, 50),
        ({}, None, Governor(max_turns=2), 32),
        ({"on_turn_limit": "finish"}, None, None, 16),
    ],
    ids=["its turns", "fewer turns", "its budget", "limits given", "it ends when a turn is full"],
)
def test_creatures_that_wake_each_other_are_expected_to_fill_every_turn(
    fields: dict[str, object], turns: int | None, governor: Governor | None, calls: int
) -> None:
    talkers = [Manifest(name=name, subscribes_to=("agent.spoke", "world.observed")) for name in ("ada", "bo")]
    plan = {"name": "pair", "cast": ["ada", "bo"], "opening": "Go.", "governor": {"max_turns": 10, **fields}}
    world = LoadedWorld.of(Scenario.model_validate(plan), talkers)

    expected = expected_of_world(ModelRouter(), world, None, 0, turns, governor=governor)

    assert expected.calls == calls


def test_a_model_of_unknown_price_comes_with_the_command_that_proposes_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hosted = models_named("openai:gpt-5 mini")
    own = models_named("http://8.8.8.8/v1#mine")

    monkeypatch.setattr(expected_cost, "has_price_list", lambda: True)
    sentence, line, *rest = how_to_price(hosted)
    monkeypatch.setattr(expected_cost, "has_price_list", lambda: False)

    assert sentence.startswith("Nobody knows what gpt-5 mini costs.")
    assert 'model: "gpt-5 mini"' in line
    assert shlex.split(rest[-1])[-3:] == ["models", "price", "openai:gpt-5 mini"]
    assert len(how_to_price(own)) == 2
    assert len(how_to_price(hosted)) == 2, "a command that would only ask for an extra is not printed"
