"""A cook who may look into the larder: a tool of any server of the Model Context Protocol, granted by name.

This file is both: run plainly it is the show, and with the word `serve` it is the server that the show starts.

    pip install "glasshouse-agents[mcp]"
    python mcp_tool.py
"""

import asyncio
import sys

from mcp.server import MCPServer
from mcp.types import ToolAnnotations

from glasshouse import Manifest, ModelRouter, Terrarium
from glasshouse.testing import ScriptedModel
from glasshouse.tools import ToolServer

larder = MCPServer("larder", log_level="WARNING")


@larder.tool(annotations=ToolAnnotations(read_only_hint=True))
def count(food: str) -> str:
    """Count what is left of a food."""
    return {"eggs": "two eggs, and one of them is warm"}.get(
        food, f"no {food}, but a mouse who looks innocent"
    )


COOK = Manifest(
    name="cook", persona="Looks before she promises.", schedule={"tick_every": 1}, tools=["larder/count"]
)
ASKS = '{"kind": "tool.called", "thought": "", "tool": "larder/count", "arguments": {"food": "eggs"}}'
SAYS = '{"kind": "agent.spoke", "thought": "", "text": "One omelette, and a chicken in three weeks."}'


async def main() -> None:
    """Let the cook look, then speak. The model is scripted here; with a real one, write `Terrarium(models="ollama", …)`."""
    server = ToolServer("larder", command=[sys.executable, __file__, "serve"])
    async with Terrarium(models=ModelRouter(ScriptedModel(ASKS, SAYS)), tool_servers=[server]) as t:
        await t.add_creature(COOK)
        await t.step_one()
        (run,) = t.runs()
        for line in (await t.played(run.id)).lines:
            print(f"{line.who} ({line.voice}): {line.text}")
        (granted,) = t.granted_tools(run.id)
        print(
            f"Granted: {granted.name}. Read-only: {granted.tool.is_read_only}. Recorded as its server described it: {granted.tool.description}"
        )


if __name__ == "__main__":
    larder.run("stdio") if sys.argv[1:] == ["serve"] else asyncio.run(main())
