"""Tools of servers in a played world: real processes and real HTTP, granted, offered, called, recorded and replayed."""

from __future__ import annotations

from pathlib import Path

import pytest

from glasshouse import Manifest, Terrarium, WhatIf, kinds
from glasshouse.errors import Refused, UnknownName
from glasshouse.terrarium import verify
from glasshouse.tools import ToolServer
from tests.journeys.servers_of_tools import WEATHER, calls, house, script, speaks, told, weather_world

FORECAST = calls("weather/forecast", city="Bern", days=2)


async def test_a_creature_uses_a_tool_of_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    t, model = house(FORECAST, speaks())
    async with t:
        run = await t.open_world(weather_world())
        await t.run(run.id)

        (returned,) = await told(t, run.id)
        (born,) = await told(t, run.id, kinds.CREATURE_STARTED)
        outcome = await verify(t, run.id)

    assert returned.payload["is_ok"]
    assert returned.payload["result"] == {"city": "Bern", "degrees": 22}
    assert [granted["tool"]["name"] for granted in born.payload["granted"]] == ["weather/forecast"]
    assert "The weather of the days to come." in model.prompts[0].user
    assert "The weather of the days to come." not in model.prompts[0].system
    assert "degrees" in model.prompts[1].user
    assert (tmp_path / "calls").read_text() == "forecast Bern\n"
    assert outcome.is_same


async def test_a_run_is_replayed_and_branched_without_its_server(tmp_path: Path) -> None:
    store = tmp_path / "show.glasshouse"
    t, _ = house(FORECAST, speaks(), store=store)
    async with t:
        run = await t.open_world(weather_world(turns=2))
        await t.run(run.id)
        digest = await t.digest(run.id)

    gone = ToolServer("weather", command=["/nowhere/weather"])
    elsewhere, model = house(FORECAST, speaks(), store=store, servers=(gone,))
    async with elsewhere:
        outcome = await verify(elsewhere, run.id)
        line = (await told(elsewhere, run.id, kinds.AGENT_SPOKE))[0]
        branch = await elsewhere.branch(line.session_id, line.id, WhatIf(disturb="A bell rings."))
        await elsewhere.run(branch.id)
        failed = (await told(elsewhere, branch.id))[-1]

    assert outcome.is_same
    assert outcome.recorded_digest == digest
    assert "The weather of the days to come." in model.prompts[0].user
    assert not failed.payload["is_ok"]
    assert "/nowhere/weather" in failed.payload["text"]


async def test_a_server_that_is_not_there_opens_nothing() -> None:
    missing = ToolServer("weather", command=["/nowhere/weather"])
    t, _ = house(speaks(), servers=(missing,))
    async with t:
        with pytest.raises(Refused, match="/nowhere/weather"):
            await t.open_world(weather_world())

        assert t.runs() == ()
        assert t.creatures() == ()


async def test_a_tool_that_its_server_does_not_have_opens_nothing() -> None:
    t, _ = house(speaks())
    async with t:
        with pytest.raises(UnknownName, match="weather/forecast"):
            await t.open_world(weather_world("weather/forecats"))

        assert t.creatures() == ()


async def test_a_creature_that_is_added_is_granted_what_its_servers_say() -> None:
    t, _ = house(speaks())
    async with t:
        await t.add_creature(Manifest(name="ada", tools=["weather/forecast"]))

        with pytest.raises(UnknownName, match="tools of bo"):
            await t.add_creature(Manifest(name="bo", tools=["library/find"]))
        assert [one.handle for one in t.creatures()] == ["ada"]


async def test_two_servers_of_one_name_are_refused() -> None:
    with pytest.raises(Refused, match="Two tool servers are called weather"):
        Terrarium(tool_servers=[WEATHER, ToolServer("weather", command=script("mcp_weather"))])
