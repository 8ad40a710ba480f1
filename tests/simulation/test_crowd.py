"""Many concurrent tasks: each caller gets what it asked for, even if another task has removed it meanwhile."""

import asyncio

from glasshouse import Manifest, Terrarium
from glasshouse.views import Channel, Creature, Wire


async def pair(terrarium: Terrarium) -> tuple[str, str]:
    ada = await terrarium.add_creature(Manifest(name="ada"))
    bo = await terrarium.add_creature(Manifest(name="bo"))
    await terrarium.connect(ada.id, bo.id, channel="talk")
    return ada.id, bo.id


async def test_a_wire_that_is_taken_away_at_once_is_still_given_to_who_asked() -> None:
    async with Terrarium() as terrarium:
        ada, bo = await pair(terrarium)

        made, _ = await asyncio.gather(terrarium.wire(ada, bo), terrarium.unwire(ada, bo))

        assert isinstance(made, Wire)
        assert (made.source, made.target) == (ada, bo)


async def test_a_channel_that_is_closed_at_once_is_still_given_to_who_asked() -> None:
    async with Terrarium() as terrarium:
        ada, _ = await pair(terrarium)
        graph = terrarium.creature(ada).graph_id

        made, _ = await asyncio.gather(
            terrarium.add_channel(graph, "attic"), terrarium.remove_channel(graph, "attic")
        )

        assert isinstance(made, Channel)
        assert made.name == "attic"


async def test_a_creature_that_is_removed_at_once_is_still_given_to_who_asked() -> None:
    async with Terrarium() as terrarium:
        made, _ = await asyncio.gather(
            terrarium.add_creature(Manifest(name="ada")), terrarium.remove_creature("ada")
        )

        assert isinstance(made, Creature)
        assert made.id == "ada"
        assert terrarium.creatures() == ()


async def test_stopping_and_removing_a_creature_at_once_both_succeed() -> None:
    async with Terrarium() as terrarium:
        ada, _ = await pair(terrarium)

        stopped, _ = await asyncio.gather(terrarium.stop_creature(ada), terrarium.remove_creature(ada))

        assert stopped.id == ada
        assert not stopped.is_running
