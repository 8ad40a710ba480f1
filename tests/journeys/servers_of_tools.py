"""Support for journeys with tool servers: real processes, a world whose creature uses them, and a model that calls."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from glasshouse import Event, EventFilter, Manifest, Terrarium, kinds
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.models.router import ModelRouter
from glasshouse.models.scripted import ScriptedModel
from glasshouse.tools import ToolServer
from tests.runtime.stage_crew import ticking, world_of

SERVERS = Path(__file__).parents[1] / "servers"


def script(name: str, *words: str) -> list[str]:
    """The command of a test server."""
    return [sys.executable, str(SERVERS / f"{name}.py"), *words]


WEATHER = ToolServer("weather", command=script("mcp_weather"), variables=["CALLS"])


def calls(tool: str, **arguments: Any) -> str:
    """A reply that calls a tool."""
    return json.dumps({"kind": "tool.called", "thought": "Look.", "tool": tool, "arguments": arguments})


def speaks(text: str = "So it is.") -> str:
    """A reply that ends an act."""
    return json.dumps({"kind": "agent.spoke", "thought": "", "text": text})


def weather_world(*tools: str, turns: int = 1, **fields: Any) -> LoadedWorld:
    """A world of one creature that acts each turn and was granted these tools."""
    moth: Manifest = ticking("moth", tools=tools or ("weather/forecast",))
    return world_of(moth, governor={"max_turns": turns}, **fields)


def house(
    *replies: str, store: str | Path | None = None, servers: tuple[ToolServer, ...] = (WEATHER,), **more: Any
) -> tuple[Terrarium, ScriptedModel]:
    """A terrarium with these servers, and the model that plays in it."""
    model = ScriptedModel(*replies)
    return Terrarium(store, models=ModelRouter(model), tool_servers=servers, **more), model


async def events_of_kind(t: Terrarium, run_id: str, kind: str = kinds.TOOL_RETURNED) -> list[Event]:
    """The events of a run of one kind."""
    return [event for event in await t.run_events(run_id) if event.kind == kind]


async def first_event(t: Terrarium, kind: str) -> Event:
    """The first event of a kind, which a server causes, as soon as it is there."""
    async with asyncio.timeout(60):
        async for event in t.subscribe(EventFilter(kinds={kind}), after=0):
            return event
    raise AssertionError(f"there is no {kind}")
