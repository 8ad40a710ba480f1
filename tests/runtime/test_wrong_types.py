"""A value of the wrong type is refused in words that say what to write, and nothing changes."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from glasshouse import Agent, Draft, EventFilter, Governor, Manifest, ModelRouter, Moment, Terrarium, play
from glasshouse.errors import BadEvent, GlasshouseError, UnknownName, WrongType


def as_given(value: Any) -> Any:
    """A value whose type nobody checked."""
    return value


class Gardener(Agent):
    async def act(self, moment: Moment) -> Draft | None:
        return None


MADE: list[tuple[Callable[[], object], type[GlasshouseError], str]] = [
    (lambda: Terrarium(as_given(42)), WrongType, 'Terrarium("show.glasshouse")'),
    (lambda: Terrarium(models=as_given(42)), WrongType, "ModelRouter(model)"),
    (lambda: Terrarium(models="ollamma"), UnknownName, "'ollama'"),
    (lambda: Terrarium(tools=as_given([print])), WrongType, "Toolbox(function)"),
    (lambda: Terrarium(governor=as_given({"max_turns": 3})), WrongType, "Governor(max_turns=20)"),
    (lambda: Terrarium(pacing=as_given("fre")), UnknownName, "'free'"),
    (lambda: ModelRouter(as_given("gpt")), WrongType, "complete(prompt)"),
    (lambda: ModelRouter({"fast": as_given("gpt")}), WrongType, "complete(prompt)"),
    (lambda: Governor(max_turns=-3), WrongType, "max_turns=-3"),
    (lambda: Governor(max_turns=as_given("3")), WrongType, "max_turns='3'"),
    (lambda: Governor(hourly_budget_usd=float("nan")), WrongType, "hourly_budget_usd=nan"),
    (lambda: Governor(max_wall_minutes=float("inf")), WrongType, "None for no limit"),
    (lambda: EventFilter(kinds={"agent.spok"}), UnknownName, "'agent.spoke'"),
    (lambda: EventFilter(kinds={"spoke"}), BadEvent, "joined by dots"),
    (lambda: play(as_given(3)), WrongType, "LoadedWorld"),
    (lambda: play("twenty-sprouts", rng_seed=as_given("x")), WrongType, "rng_seed=7"),
    (lambda: play("twenty-sprouts", seed=as_given(3)), WrongType, "rng_seed=7"),
    (lambda: play("twenty-sprouts", turns=as_given("3")), WrongType, "turns=3"),
    (lambda: play("twenty-sprouts", governor=as_given(3)), WrongType, "Governor(max_turns=20)"),
]

Asked = Callable[[Terrarium, str], Awaitable[object]]
ADA = Manifest(name="ada", persona="keeps the seed drawers", may_emit=("agent.spoke", "judge.verdict"))


async def _observed(t: Terrarium, _ada: str) -> object:
    return t.observe(as_given(3))


async def _subscribed(t: Terrarium, _ada: str) -> object:
    return t.subscribe(as_given({"agent.spoke"}))


ASKED: list[tuple[Asked, type[GlasshouseError], str]] = [
    (lambda t, ada: t.add_creature(as_given({"name": "bo"})), WrongType, "Manifest(name="),
    (lambda t, ada: t.add_creature(ADA, agent=as_given(Gardener)), WrongType, "agent=Gardener()"),
    (lambda t, ada: t.add_creature(ADA, agent=as_given(3)), WrongType, "`act` method"),
    (lambda t, ada: t.append(ada, as_given("hello")), WrongType, "Draft(kind="),
    (lambda t, ada: t.append_all(ada, as_given(Draft(kind="agent.spoke"))), WrongType, "append_all(ada, ["),
    (lambda t, ada: t.append(ada, Draft(kind="agent.spoke")), BadEvent, "no text"),
    (lambda t, ada: t.append(ada, Draft(kind="agent.spoke", payload={"text": 3})), BadEvent, "no text"),
    (
        lambda t, ada: t.append(ada, Draft(kind="judge.verdict", payload=as_given("ada wins"))),
        BadEvent,
        "it is a str",
    ),
    (
        lambda t, ada: t.branch(t.creature(ada).session_id, None, as_given({"drop": "x"})),
        WrongType,
        "WhatIf(",
    ),
    (lambda t, ada: t.open_world(as_given(3)), WrongType, "its name, its path"),
    (lambda t, ada: t.step(as_given("3")), WrongType, "turns=3"),
    (lambda t, ada: t.run("nope"), UnknownName, "no run is called 'nope'"),
    (lambda t, ada: t.disturb(t.default_run_id, as_given(3)), WrongType, "a text, not 3"),
    (_observed, WrongType, "observe(Observer())"),
    (_subscribed, WrongType, "EventFilter(kinds={...})"),
]


@pytest.mark.parametrize(("made", "error", "words"), MADE, ids=[words for *_, words in MADE])
def test_a_wrong_value_is_refused_when_it_is_given(
    made: Callable[[], object], error: type[GlasshouseError], words: str
) -> None:
    with pytest.raises(error) as refusal:
        made()

    assert words in str(refusal.value)


@pytest.mark.parametrize(("asked", "error", "words"), ASKED, ids=[words for *_, words in ASKED])
async def test_a_wrong_argument_changes_nothing(
    asked: Asked, error: type[GlasshouseError], words: str
) -> None:
    async with Terrarium() as t:
        ada = await t.add_creature(ADA)
        before = await t.events(ada.session_id)

        with pytest.raises(error) as refusal:
            await asked(t, ada.id)

        assert words in str(refusal.value)
        assert await t.events(ada.session_id) == before


def test_a_kind_of_a_world_may_be_in_a_filter() -> None:
    assert EventFilter(kinds={"clue.found", "agent.sang"}).kinds == frozenset({"clue.found", "agent.sang"})
