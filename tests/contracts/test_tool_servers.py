"""Tool servers: real processes and real HTTP. Whatever a server does, a call ends in words, is made once, and nothing of
the server is left behind.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil

from glasshouse.events.described_tool import DescribedTool
from glasshouse.runtime.clock import HandMovedClock
from glasshouse.tools.mcp.connections import UNKNOWN, Connections
from glasshouse.tools.mcp.described import Described
from glasshouse.tools.mcp.tool_server import ToolServer
from glasshouse.turns.moment.tools import ToolAnswer

SERVERS = Path(__file__).parents[1] / "servers"
VALUES = {"PATH": "/usr/bin:/bin", "HOME": "/tmp"}


class Used:
    """Connections to one server, and what it said of its tools."""

    def __init__(self, server: ToolServer, **values: str) -> None:
        self.clock = HandMovedClock()
        self.name = server.name
        self.connections = Connections([server], lambda name: {**VALUES, **values}.get(name, ""), self.clock)
        self.heard: list[Described] = []
        self.connections.on_described(lambda _, tools: self.heard.append(tools))

    async def call(self, tool: str, **arguments: Any) -> ToolAnswer:
        """What a tool answers, by the description that came first."""
        full = f"{self.name}/{tool}"
        if not self.heard:
            await self.connections.describe(self.name)
        described = self.heard[0].get(full)
        digest = described.digest if isinstance(described, DescribedTool) else ""
        return await self.connections.call(full, arguments, digest)


def script(name: str, *words: str) -> list[str]:
    return [sys.executable, str(SERVERS / f"{name}.py"), *words]


@asynccontextmanager
async def used(server: ToolServer, **values: str) -> AsyncIterator[Used]:
    """Connections that are closed in the end, and leave no process behind."""
    here = psutil.Process()
    before = {child.pid for child in here.children(recursive=True)}
    using = Used(server, **values)
    try:
        yield using
    finally:
        await using.connections.close()
    assert {child.pid for child in here.children(recursive=True)} <= before


async def test_a_tool_of_a_process_is_described_and_called(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    weather = ToolServer("weather", command=script("mcp_weather"), variables=["CALLS"])
    async with used(weather, CALLS=str(calls)) as using:
        tools = await using.connections.describe("weather")
        answer = await using.call("forecast", city="Bern", days=2)
        failure = await using.call("fails", why="no wind")
        booked = await using.call("book", kind="a table", mood="glad")

    forecast = tools["weather/forecast"]
    assert isinstance(forecast, DescribedTool)
    assert forecast.description == "The weather of the days to come.; city: The name of a city"
    assert forecast.is_read_only
    assert answer.is_ok
    assert answer.result == {"city": "Bern", "degrees": 22}
    assert not failure.is_ok
    assert booked.text == "Booked: a table, glad."
    assert calls.read_text() == "forecast Bern\nfails\nbook a table\n"


async def test_a_server_that_dies_in_a_call_is_started_again_after_a_pause(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    weather = ToolServer("weather", command=script("mcp_weather"), variables=["CALLS"])
    async with used(weather, CALLS=str(calls)) as using:
        died = await using.call("dies")
        at_once = await using.call("book", kind="a table")
        using.clock.move(1)
        later = await using.call("book", kind="a chair")

    assert died.text == f"The server of weather/dies ended during the call. {UNKNOWN}"
    assert at_once.text == (
        "weather/book was not called. The tool server weather has failed 1 times in a row"
        " and is tried again in 1 seconds."
    )
    assert later.is_ok
    assert calls.read_text() == "dies\nbook a chair\n"
