"""Support for tests of tools that are withheld: a creature that was granted one, and a server that changes it."""

from __future__ import annotations

from msgspec.structs import replace

from glasshouse import Manifest, Terrarium
from glasshouse.events.described_tool import DescribedTool, GrantedTool
from glasshouse.world.decisions.intents import AddCreature, ChangeTool

NAME = "weather/forecast"
FORECAST = DescribedTool(NAME, "The weather of the days to come.", {"type": "object"}, False, "d1")


async def granted(t: Terrarium, run_id: str, *names: str) -> None:
    """Creatures come in that were granted the tool; no server is needed for that."""
    for name in names:
        manifest = Manifest(name=name, tools=[NAME])
        born = AddCreature(
            name, manifest.as_json(), manifest.digest, run_id=run_id, granted=(GrantedTool(FORECAST),)
        )
        await t._house.ledger.change(born)


async def changed(t: Terrarium, *names: str, digest: str = "d2", description: str) -> None:
    """The server describes the tool otherwise, and marks it as read-only."""
    now = replace(FORECAST, description=description, is_read_only=True, digest=digest)
    await t._house.ledger.change(ChangeTool(now, names))
