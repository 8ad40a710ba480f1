"""What is kept until the shape of the world changes is never kept too long: a play without it writes the same ledger."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from glasshouse import Draft, MemoryStore, Refused, kinds
from glasshouse.events.codec import encoded
from glasshouse.terrarium import Terrarium
from glasshouse.world.state.state import World
from tests.runtime.troupe import all_events
from tests.simulation.ledger_checks import check_ends
from tests.simulation.seeds import rig_seeds
from tests.simulation.test_resumed_as_was import branch_somewhere, house, make_history, one_step

steps = 40


async def speak_or_pause(terrarium: Terrarium, chance: random.Random) -> None:
    creature = chance.choice(terrarium.creatures())
    channels = terrarium.environment(creature.graph_id).channels
    match chance.choice(["say", "say", "rename", "pause", "continue", "continue"]):
        case "say":
            channel = chance.choice([None, *[c.name for c in channels if creature.id in c.senders]])
            for number in range(2):  # The second line goes where the first one went.
                draft = Draft(kind=kinds.AGENT_SPOKE, channel=channel, payload={"text": f"{number}"})
                await terrarium.append(creature.id, draft)
        case "rename" if channels:
            new = f"room-{chance.randrange(1000)}"
            await terrarium.rename_channel(creature.graph_id, chance.choice(channels).name, new)
        case "pause" if creature.run_id is not None:
            await terrarium.pause(creature.run_id)
        case "continue" if creature.run_id is not None:
            await terrarium.continue_run(creature.run_id)
        case _:
            await terrarium.step(1)


async def ledger_of(seed: int) -> list[bytes]:
    """The ledger after a play in which everything changes that something is kept of."""
    chance, store = random.Random(f"kept {seed}"), MemoryStore()
    async with house(store) as terrarium:
        await make_history(terrarium, seed)
        await branch_somewhere(terrarium, chance)
        for _ in range(steps):
            with suppress(Refused):  # Chance asks for much that cannot be.
                await chance.choice([one_step, speak_or_pause])(terrarium, chance)
        await check_ends(store)
        return list(map(encoded, await all_events(store)))


@pytest.mark.parametrize("seed", rig_seeds(4))
async def test_a_house_that_keeps_no_answers_writes_the_same(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = await ledger_of(seed)
    forgetful = property(lambda _world: {}, lambda _world, _cache: None)
    monkeypatch.setattr(World, "shape_cache", forgetful, raising=False)

    assert await ledger_of(seed) == kept
