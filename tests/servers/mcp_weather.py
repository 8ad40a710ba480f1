"""A tool server as its users write it, with the SDK: on stdin and stdout, or over HTTP (`--http PORT`, `--sse PORT`).

Its tools do well, fail, die and hang. A file named by CALLS gets a line for each call, so that a test can count them.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Annotated, Literal

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

server = MCPServer("weather", log_level="CRITICAL")
reads = ToolAnnotations(read_only_hint=True)


def count(what: str) -> None:
    if path := os.environ.get("CALLS"):
        with Path(path).open("a") as file:
            file.write(f"{what}\n")


class Forecast(BaseModel):
    city: str
    degrees: int


@server.tool(annotations=reads)
def forecast(
    city: Annotated[str, Field(description="The name of a city")],
    days: int = 1,
    unit: Literal["c", "f"] = "c",
) -> Forecast:
    """The weather of the days to come."""
    count(f"forecast {city}")
    return Forecast(city=city, degrees=20 + days if unit == "c" else 68 + days)


@server.tool()
def book(kind: str, mood: str | None = None) -> str:
    """Book a table. This changes something."""
    count(f"book {kind}")
    return f"Booked: {kind}, {mood}."


@server.tool()
def fails(why: str) -> str:
    """Fail."""
    count("fails")
    raise ValueError(why)


@server.tool()
def dies() -> str:
    """End the server in the middle of a call."""
    count("dies")
    os._exit(3)


@server.tool()
def blocks(seconds: float) -> str:
    """Hold up the whole server."""
    count("blocks")
    time.sleep(seconds)
    return "done"


@server.tool()
async def waits(seconds: float) -> str:
    """Wait, and let others be served."""
    count("waits")
    await anyio.sleep(seconds)
    return "done"


@server.tool()
def environment() -> dict[str, str]:
    """The environment of the server."""
    return dict(os.environ)


@server.tool()
def large(length: int) -> str:
    """A long text."""
    return "x" * length


@server.tool()
async def changes(description: str, context: Context) -> str:
    """Change what the server says of its forecast."""
    server.remove_tool("forecast")
    server.add_tool(forecast, description=description, annotations=reads)
    await context.session.send_tool_list_changed()
    await context.notify_tools_changed()
    return "changed"


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--http", port]:
            server.run("streamable-http", port=int(port))
        case ["--sse", port]:
            server.run("sse", port=int(port))
        case _:
            server.run("stdio")
