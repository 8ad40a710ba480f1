"""What the start dialog reads, over a real server: worlds, models and the expected cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from glasshouse import MemoryStore, ModelRouter, Terrarium
from glasshouse.contests import expected_cost
from glasshouse.events.model_use import Price
from glasshouse.manifests.card import about_chars_max
from glasshouse.manifests.loading import load_world
from glasshouse.manifests.world_folders import bundled_worlds
from glasshouse.models.router import offline_names
from glasshouse.runtime.ports import Route
from glasshouse.web import starting
from glasshouse.web.access import Access
from tests.web.served import Served, served

SECRET = "a secret of more than sixteen characters"
ESTIMATE = "/api/v1/estimate"


class NeverAsked:
    """A hosted model that no estimate may ask."""

    name = "hosted"

    async def complete(self, _prompt: Any) -> Any:
        raise AssertionError("an estimate asks no model")


def priced(price: Price | None) -> ModelRouter:
    return ModelRouter(Route(NeverAsked(), "hosted", 8_000, 500, price))  # type: ignore[arg-type]


async def post(page: Served, body: dict[str, Any]) -> Any:
    answer = await page.client.post(ESTIMATE, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_every_world_tells_what_a_start_needs_to_know() -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        listed = {world["name"]: world for world in await page.get("/api/v1/worlds")}

    assert set(listed) == {world.name for world in bundled_worlds()}
    for world in listed.values():
        assert world["problem"] is None
        assert 20 < len(world["synopsis"]) <= about_chars_max
        assert world["kind"]
        assert world["shows"]
        assert 1 <= world["minutes"] <= 20
        assert world["cast"]
        assert world["profiles"]
        assert world["has_script"]
    roots = listed["mystery-roots"]
    assert roots["synopsis"] == "Five have a key to the garden. One of them did it."
    assert (roots["kind"], roots["shows"]) == ("contest", "Every claim cites a clue")
    assert listed["three-ways-in"]["kind"] == "several graphs"
    assert roots["seed"] == "the bell from the pear tree"
    assert (roots["limits"]["max_turns"], roots["limits"]["max_total_calls"]) == (20, 200)
    assert roots["limits"]["hourly_budget_usd"] is None
    assert [member["handle"] for member in roots["cast"]] == [
        "clue-gatherer", "hypothesis-former", "devils-advocate", "gate-snail", "mystery-judge",
    ]  # fmt: skip
    by_handle = {member["handle"]: member for member in roots["cast"]}
    assert by_handle["mystery-judge"]["role"] == "judge"
    assert by_handle["devils-advocate"]["title"] == "The Devil's Advocate"
    assert roots["ending"] == "at judge.verdict number 2"


async def test_a_world_with_a_mistake_is_listed_with_its_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "worlds" / "broken"
    broken.mkdir(parents=True)
    (broken / "scenario.yaml").write_text("name: broken\ntitle: Broken\ncast: [nobody]\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    access = Access(SECRET)
    async with Terrarium(MemoryStore()) as t, served(t, access) as page:
        for role, is_told in (("director", True), ("spectator", False)):
            bearer = {"authorization": f"Bearer {access.token_for(role)}"}  # type: ignore[arg-type]
            answer = await page.client.get("/api/v1/worlds", headers=bearer)
            (world,) = [world for world in answer.json() if world["name"] == "broken"]
            assert (world["title"], world["where"], world["cast"]) == ("Broken", "here", [])
            assert ("nobody" in world["problem"]) is is_told
        (broken / "scenario.yaml").write_text("name: broken\ntitle: Mended\ncast: [ada]\n", encoding="utf-8")
        (broken / "creatures").mkdir()
        ada = "name: ada\npersona: A gardener.\nschedule: {tick_every: 1}\n"
        (broken / "creatures" / "ada.yaml").write_text(ada, encoding="utf-8")
        bearer = {"authorization": f"Bearer {access.token_for('spectator')}"}
        answer = await page.client.get("/api/v1/worlds", headers=bearer)
        (world,) = [world for world in answer.json() if world["name"] == "broken"]
        assert (world["title"], world["problem"], world["cast"][0]["title"]) == ("Mended", None, "Ada")


async def test_models_tell_their_price_and_what_may_be_chosen() -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        offline = await page.get("/api/v1/models")
    assert [size["size"] for size in offline["sizes"]] == ["tiny", "fast", "balanced", "strong"]
    assert all(size["is_local"] and size["is_free"] for size in offline["sizes"])
    assert offline["names"] == list(offline_names())

    for price, shown in ((Price(1.0, 2.0), {"input": 1.0, "output": 2.0}), (None, None)):
        async with Terrarium(MemoryStore(), models=priced(price)) as t, served(t) as page:
            (size, *_) = (await page.get("/api/v1/models"))["sizes"]
        assert (size["model"], size["is_local"], size["is_free"]) == ("hosted", False, False)
        assert size["usd_per_million"] == shown


async def test_an_estimate_is_that_of_the_command_line() -> None:
    models = priced(Price(3.0, 15.0))
    world = load_world("twenty-sprouts")
    expected = expected_cost.expected_of_world(models, world, None, 0, None)
    async with Terrarium(MemoryStore(), models=models) as t, served(t) as page:
        answer = await post(page, {"world": "twenty-sprouts"})
        assert (answer["calls"], answer["usd"], answer["minutes"]) == (
            expected.calls,
            pytest.approx(expected.usd),
            expected.minutes,
        )
        assert answer["says"] == f"{str(expected).capitalize()}."
        shorter = await post(page, {"world": "twenty-sprouts", "limits": {"max_turns": 2}})
        assert shorter["calls"] < answer["calls"]
        free = await post(
            page, {"world": "twenty-sprouts", "models": {"secret-keeper": "offline", "guesser": "offline"}}
        )
        assert 0 <= free["usd"] < answer["usd"]
        capped = await post(page, {"world": "twenty-sprouts", "limits": {"hourly_budget_usd": 0.001}})
        assert capped["says"].endswith("it stops when an hour has cost $0.00.")
        assert expected.usd is not None
        assert expected.usd > 0.02
        in_all = await post(page, {"world": "twenty-sprouts", "limits": {"max_total_usd": 0.02}})
        assert in_all["says"].endswith("it stops before it costs more than $0.02.")
        assert (in_all["calls"], in_all["usd"]) == (answer["calls"], answer["usd"])
        enough = await post(page, {"world": "twenty-sprouts", "limits": {"max_total_usd": 900}})
        assert enough["says"] == answer["says"]
        assert t.runs() == ()


async def test_an_unknown_price_is_null_and_a_free_play_costs_nothing() -> None:
    async with Terrarium(MemoryStore(), models=priced(None)) as t, served(t) as page:
        answer = await post(page, {"world": "twenty-sprouts"})
        assert answer["usd"] is None
        assert "an unknown price" in answer["says"]
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        answer = await post(page, {"world": "twenty-sprouts"})
        assert answer["usd"] == 0
        assert answer["says"].endswith("calls, free of charge.")


async def test_a_long_play_is_estimated_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "estimate_calls_max", 5)
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        answer = await post(page, {"world": "twenty-sprouts"})
    assert (answer["calls"], answer["is_at_least"]) == (5, True)
    assert answer["says"].startswith("At least about 5 calls")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"world": "../../etc"}, 404),
        ({"world": "twenty-sprouts", "models": {"nobody": "offline"}}, 404),
        ({"world": "twenty-sprouts", "models": {"guesser": "no-such-model"}}, 404),
        ({"world": "twenty-sprouts", "limits": {"max_turns": 0}}, 422),
    ],
)
async def test_what_cannot_be_estimated_is_refused_in_words(body: dict[str, Any], status: int) -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        assert (await page.client.post(ESTIMATE, json=body)).status_code == status


async def test_limits_that_are_left_out_are_those_of_the_world() -> None:
    async with Terrarium(MemoryStore()) as t, served(t) as page:
        body = {"world": "mystery-roots", "limits": {"max_turns": 3}, "speed": "fast"}
        begun = await page.client.post("/api/v1/runs", json=body)
        limits = t.run_of(begun.json()["id"]).governor
        assert (limits.max_turns, limits.max_total_calls) == (3, 200)
