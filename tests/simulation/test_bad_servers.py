"""Seeded plays of the bundled worlds on servers that fail, lie and misbehave at random.

Whatever the server does, nothing crashes, every request is one recorded attempt, the sums of the ledger are those of the
server, and the record replays to the same digest.
"""

import random
from typing import get_args

import pytest

from glasshouse.events.model_use import Price
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.world_folders import bundled_worlds
from tests.servers.answers import Lie, Manner
from tests.servers.imitating_server import Behaviour, imitating_server
from tests.servers.imitations import Personality
from tests.servers.plays import (
    BROKEN,
    BUSY,
    assert_sums_agree,
    on_imitation,
    play_on,
    record_of,
    terrarium_on,
)
from tests.simulation.ledger_checks import check_ends
from tests.simulation.seeds import fresh_seeds, replayable, usual_seeds
from tests.simulation.worlds_by_code import two_troupes

WORLDS: list[str | LoadedWorld] = [*(world.name for world in bundled_worlds()), two_troupes()]
turns = 8
completions_max = 400
spoiling: list[Behaviour] = [
    *[lie for lie in get_args(Lie) if lie != "redirects"],
    *get_args(Manner),
    *BROKEN,
    *BUSY,
]
left_early: list[Behaviour] = ["whitespace loop", "huge"]
"""The client leaves such a stream before the server has told what it used."""


async def play_badly(seed: int) -> None:
    dice = random.Random(seed)
    world, personality = dice.choice(WORLDS), dice.choice(get_args(Personality))
    share = dice.choice([0.1, 0.4, 0.8])
    price, hear = dice.choice([None, Price(1.0, 2.0)]), dice.choice([None, [""].append])
    behaviours = spoiling if hear is None else [name for name in spoiling if name not in left_early]
    with imitating_server(personality) as server:
        server.next(
            *[dice.choice(behaviours) if dice.random() < share else "fine" for _ in range(completions_max)]
        )
        async with terrarium_on(on_imitation(server, personality), price=price, hear=hear) as terrarium:
            run = await terrarium.open_world(world, rng_seed=seed)
            await play_on(terrarium, run.id, turns=turns)
            record = await record_of(terrarium, run.id)
            await check_ends(terrarium._house.store)

    assert_sums_agree(record, server)
    assert record.acts


@pytest.mark.parametrize("seed", usual_seeds(7))
async def test_a_play_on_a_bad_server_keeps_its_record(seed: int) -> None:
    with replayable(seed, "test_bad_servers.py"):
        await play_badly(seed)


@pytest.mark.soak
async def test_many_plays_on_bad_servers_keep_their_records() -> None:
    for seed in fresh_seeds(200):
        with replayable(seed, "test_bad_servers.py"):
            await play_badly(seed)
