"""A seeded mix of all operations of a terrarium.

Always holds: the operation at step `k` is a function of the seed, `k` and the world after step `k - 1`. So an
interrupted play can continue from what its ledger holds, and two stores with the same seed get the same story.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from hashlib import blake2b

from glasshouse import Draft, Event, Manifest, Refused, Terrarium
from glasshouse.events.codec import encoded

Operation = Callable[[Terrarium, random.Random], Awaitable[str]]

creatures_max = 14
sessions_to_fork_from = 6


async def operate(terrarium: Terrarium, seed: int, step: int) -> str:
    """Do the operation of this step and say what it was. A refusal is an answer like any other."""
    chance = random.Random(f"{seed} {step}")
    names, weights = zip(*WEIGHTS.items(), strict=True)
    if len(terrarium.creatures()) < 3:
        operation: Operation = add
    else:
        operation = chance.choices(names, weights)[0]
    try:
        return await operation(terrarium, chance)
    except Refused as refused:
        return f"refused: {refused.reason}"


def some_creature(terrarium: Terrarium, chance: random.Random) -> str:
    return chance.choice([creature.id for creature in terrarium.creatures()])


def two_creatures(terrarium: Terrarium, chance: random.Random) -> tuple[str, str]:
    first, second = chance.sample([creature.id for creature in terrarium.creatures()], 2)
    return first, second


async def add(terrarium: Terrarium, chance: random.Random) -> str:
    if len(terrarium.creatures()) >= creatures_max:
        return await remove(terrarium, chance)
    beside = chance.choice([None, *[graph.id for graph in terrarium.graphs()]])
    made = await terrarium.add_creature(Manifest(name=chance.choice(["ada", "bo", "cy"])), graph=beside)
    return f"added {made.id}"


async def remove(terrarium: Terrarium, chance: random.Random) -> str:
    gone = some_creature(terrarium, chance)
    await terrarium.remove_creature(gone)
    return f"removed {gone}"


async def say(terrarium: Terrarium, chance: random.Random) -> str:
    speaker = some_creature(terrarium, chance)
    drafts = [a_draft(terrarium, speaker, chance) for _ in range(chance.choice([1, 1, 1, 3]))]
    said = await terrarium.append_all(speaker, drafts)
    return f"said {said[-1].id} {fingerprint(said[-1])}"


def fingerprint(event: Event) -> str:
    """Eight characters that stand for everything in an event."""
    return blake2b(encoded(event), digest_size=4).hexdigest()


def a_draft(terrarium: Terrarium, speaker: str, chance: random.Random) -> Draft:
    environment = terrarium.environment(terrarium.creature(speaker).graph_id)
    places = [channel.name for channel in environment.channels if speaker in channel.senders]
    text = "x" * chance.choice([3, 40, 400, 6_000])
    return Draft(kind="agent.spoke", channel=chance.choice([None, *places]), payload={"text": text})


async def connect(terrarium: Terrarium, chance: random.Random) -> str:
    first, second = two_creatures(terrarium, chance)
    channel = chance.choice([None, "talk", "yard"])
    change = await terrarium.connect(first, second, channel=channel, both=chance.random() < 0.5)
    return f"connected {first} {second}: {change.kind}"


async def disconnect(terrarium: Terrarium, chance: random.Random) -> str:
    places = [channel for graph in terrarium.graphs() for channel in terrarium.environment(graph.id).channels]
    edges = [(a, b) for channel in places for a in channel.senders for b in channel.listeners if a != b]
    if not edges:
        return await connect(terrarium, chance)
    first, second = chance.choice(edges)
    change = await terrarium.disconnect(first, second)
    return f"disconnected {first} {second}: {change.kind}"


async def wire(terrarium: Terrarium, chance: random.Random) -> str:
    first, second = two_creatures(terrarium, chance)
    made = await terrarium.wire(first, second, prompt=chance.choice([None, "go on"]))
    return f"wired {made.id}"


async def unwire(terrarium: Terrarium, chance: random.Random) -> str:
    wires = [wire for graph in terrarium.graphs() for wire in graph.wires]
    if not wires:
        return await wire(terrarium, chance)
    gone = chance.choice(wires)
    await terrarium.unwire(gone.source, gone.target)
    return f"unwired {gone.id}"


async def rest(terrarium: Terrarium, chance: random.Random) -> str:
    creature = terrarium.creature(some_creature(terrarium, chance))
    if creature.is_running:
        await terrarium.stop_creature(creature.id)
    else:
        await terrarium.start_creature(creature.id)
    return f"stopped or started {creature.id}"


async def fork(terrarium: Terrarium, chance: random.Random) -> str:
    graph = chance.choice(terrarium.graphs())
    history = await terrarium.events(graph.session_id)
    if not history:
        return "found nothing durable to fork from"
    at = chance.choice(history[-sessions_to_fork_from:]).id
    session = await terrarium.fork(graph.session_id, at=at)
    return f"forked {session.id}"


async def privilege(terrarium: Terrarium, chance: random.Random) -> str:
    creature = some_creature(terrarium, chance)
    change = (
        terrarium.revoke_privilege
        if terrarium.creature(creature).is_privileged
        else terrarium.grant_privilege
    )
    await change(creature)
    return f"privileged {creature}"


async def channel(terrarium: Terrarium, chance: random.Random) -> str:
    graph = chance.choice(terrarium.graphs())
    if graph.channels and chance.random() < 0.5:
        change = await terrarium.remove_channel(graph.id, chance.choice(graph.channels))
        return f"closed a channel: {change.kind}"
    opened = await terrarium.add_channel(graph.id, chance.choice(["talk", "yard", "attic"]))
    return f"opened {opened.id}"


WEIGHTS: dict[Operation, int] = {
    say: 30,
    connect: 16,
    disconnect: 14,
    add: 10,
    remove: 5,
    fork: 5,
    wire: 6,
    unwire: 3,
    rest: 5,
    channel: 5,
    privilege: 1,
}
