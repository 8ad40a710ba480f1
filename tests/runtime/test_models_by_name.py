"""Models named for seats: a run records them, and uses the same ones after a crash."""

import pytest

from glasshouse import MemoryStore, ModelRouter, Terrarium, kinds
from glasshouse.errors import Refused, UnknownName
from glasshouse.model_values import Tokens
from glasshouse.terrarium import verify
from glasshouse.turns.moment.prompt import Completion, Prompt
from tests.runtime.stage_crew import ANSWER, events_of, ticking, world_of

TEAMS = {
    "competition": {"kind": "versus", "teams": {"sun": ["a", "b"], "rain": ["c"]}},
    "governor": {"max_turns": 2},
}


class _Called:
    """A model by a name, free or not."""

    def __init__(self, name: str, *, is_free: bool = True) -> None:
        self.name = name
        self.is_free = is_free

    async def complete(self, prompt: Prompt) -> Completion:
        return Completion(ANSWER, self.name, Tokens(8, 8), usd=0.0)


def _router() -> ModelRouter:
    return ModelRouter(_Called("usual"), named={"one": _Called("one"), "two": _Called("two")})


async def _models_asked(t: Terrarium) -> dict[str, set[str]]:
    asked: dict[str, set[str]] = {}
    for event in await events_of(t, kinds.AGENT_SPOKE):
        asked.setdefault(event.actor, set()).update(call.model for call in event.calls)
    return asked


async def test_a_run_puts_models_by_name_behind_teams_and_handles_and_goes_on_with_them() -> None:
    store = MemoryStore()
    world = world_of(ticking("a"), ticking("b"), ticking("c"), ticking("j"), **TEAMS)
    async with Terrarium(store, models=_router()) as t:
        run = await t.open_world(world, models={"sun": "one", "c": "two"})
        await t.step_one()

    async with Terrarium(store, models=_router()) as t:
        await t.run()
        asked = await _models_asked(t)
        (started,) = [event for event in await t.run_events(run.id) if event.kind == kinds.RUN_STARTED]

    assert asked == {"a": {"one"}, "b": {"one"}, "c": {"two"}, "j": {"usual"}}
    cast = {
        creature["handle"]: (creature["model"], creature.get("is_bound"))
        for creature in started.payload["cast"]
    }
    assert cast == {"a": ("one", True), "b": ("one", True), "c": ("two", True), "j": ("usual", None)}


async def test_a_run_with_models_by_name_comes_out_the_same_when_it_is_verified() -> None:
    store = MemoryStore()
    deal = {"word": {"to": ["a", "b", "c"], "from": [["pond", "puddle"]], "odd_one": True}}
    world = world_of(ticking("a"), ticking("b"), ticking("c"), ticking("j"), deal=deal, **TEAMS)
    async with Terrarium(store, models=_router()) as t:
        run = await t.open_world(world, models={"sun": "one", "c": "two"})
        await t.run(run.id)

        verified = await verify(t, run.id)

    assert verified.is_same, verified


async def test_nobody_and_no_model_by_that_name_is_refused_before_anything_begins() -> None:
    world = world_of(ticking("a"), ticking("b"), ticking("c"), **TEAMS)
    async with Terrarium(models=_router()) as t:
        with pytest.raises(UnknownName, match=r"no creature or team of the cast .*'snow'"):
            await t.open_world(world, models={"snow": "one"})
        with pytest.raises(UnknownName, match=r"'three'.*one"):
            await t.open_world(world, models={"sun": "three"})

        assert t.runs() == ()


async def test_a_hasty_player_of_the_offline_troupe_plays_otherwise() -> None:
    async def lines(models: dict[str, str]) -> list[str]:
        async with Terrarium() as t:
            run = await t.open_world("mystery-roots", models=models)
            await t.run(run.id)
            return [str(event.payload.get("text")) for event in await t.run_events(run.id)]

    usual = await lines({})

    assert await lines({"hypothesis-former": "offline"}) == usual
    assert await lines({"hypothesis-former": "offline:hasty"}) != usual


async def test_a_limit_of_money_asks_for_the_price_of_models_by_name_too() -> None:
    world = world_of(
        ticking("a"), ticking("b"), ticking("c"), **{**TEAMS, "governor": {"hourly_budget_usd": 1.0}}
    )

    dear = _Called("dear", is_free=False)
    async with Terrarium(models=ModelRouter(_Called("usual"), named={"dear": dear})) as t:
        with pytest.raises(Refused, match="price of dear"):
            await t.open_world(world, models={"rain": "dear"})
