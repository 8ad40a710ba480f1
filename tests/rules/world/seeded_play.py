"""A fixed, seeded play of random calls, run as a script: prints what must not hang on hashes or on who watches."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from hashlib import blake2b
from typing import Any

from glasshouse import Draft, Manifest, MemoryStore, Refused, Terrarium, kinds
from glasshouse.events import digest_of
from glasshouse.events.codec import encoded
from glasshouse.runtime.clock import HandMovedClock, SeededIds

calls_in_play = 250
NAMES = ("ada", "bo", "cy", "dee")
CHANNELS = (None, "talk", "den")


def calls(t: Terrarium, dice: random.Random) -> list[Callable[[], Awaitable[Any]]]:
    """What could be asked now, of whom chance names."""
    alive = [creature.id for creature in t.creatures()]
    first, other = dice.choice(alive), dice.choice(alive)
    graph, channel = t.creature(first).graph_id, dice.choice(CHANNELS)
    heard = (kinds.AGENT_SPOKE, kinds.TOPOLOGY_CHANGED, "question.asked", "tale.told")
    manifest = Manifest(name=dice.choice(NAMES), subscribes_to=heard)
    line = Draft(
        kind=kinds.AGENT_SPOKE, channel=channel, payload={"text": f"{dice.random()}", "b": 1, "a": 2}
    )
    return [
        lambda: t.add_creature(manifest),
        lambda: t.add_creature(manifest, graph=graph, parent=other),
        lambda: t.connect(first, other, channel=channel, both=True),
        lambda: t.connect(other, first, channel=channel),
        lambda: t.connect(first, other),
        lambda: t.disconnect(first, other),
        lambda: t.remove_creature(first),
        lambda: t.remove_channel(graph, channel or "talk"),
        lambda: t.wire(first, other),
        lambda: t.append(first, line),
        lambda: t.fork(t.creature(first).session_id),
    ]


async def play(seed: int, watchers: int) -> str:
    dice, store, clock = random.Random(seed), MemoryStore(), HandMovedClock()
    async with Terrarium(store, clock=clock, ids=SeededIds(seed)) as t:
        watching = [t.subscribe(after=0) for _ in range(watchers)]
        for name in NAMES:
            await t.add_creature(Manifest(name=name))
        for _ in range(calls_in_play):
            clock.move(1)
            if len(t.creatures()) < 4:
                await t.add_creature(Manifest(name="ada"))
            with suppress(Refused):
                await dice.choice(calls(t, dice))()
        graphs = [(graph.id, graph.creature_ids, graph.channels, graph.wires) for graph in t.graphs()]
        ids_read = [[(await anext(reader)).id for _ in range(await store.position())] for reader in watching]
    events = await store.read_after(0, 1_000_000)
    assert all(ids == [event.id for event in events] for ids in ids_read)
    story = blake2b(b"\n".join(map(encoded, events)), digest_size=16).hexdigest()
    fingerprint = blake2b(repr(graphs).encode(), digest_size=16).hexdigest()
    return f"{len(events)} events {digest_of(events)} {story} {fingerprint}"


if __name__ == "__main__":
    print(asyncio.run(play(seed=int(sys.argv[1]), watchers=int(sys.argv[2]))))
