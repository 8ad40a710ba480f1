"""Connectivity: what it costs to find out whether a removed edge parts a graph. CPU time of the search alone."""

from __future__ import annotations

import gc
import random
from collections.abc import Iterable
from time import process_time

from bench.result import Result, judged, middle, percentile
from glasshouse.world.state.topology import LISTEN, SEND, Sort, Topology, parted

creatures = 100_000
chain_creatures = 10_000
edges_a_creature = 1.5
removals = 400
seed = 20_000


def run() -> list[Result]:
    """All connectivity figures."""
    sparse = _removals(_random_pairs())
    grid = _removals(_grid_pairs())
    star = _removals([(0, n) for n in range(1, creatures)])
    chain = [_middle_of_a_chain() for _ in range(5)]
    return [
        judged("remove an edge, 100k creatures, sparse random, p50", middle(sparse) * 1e3, "ms", "≤", 2),
        judged(
            "remove an edge, 100k creatures, sparse random, p99",
            percentile(sparse, 0.99) * 1e3,
            "ms",
            "≤",
            10,
        ),
        judged("remove an edge, 100k creatures, grid", middle(grid) * 1e6, "µs", "≤", 100),
        judged("remove an edge, 100k creatures, leaf of a star", middle(star) * 1e6, "µs", "≤", 50),
        judged("remove an edge, chain of 10k creatures, in its middle", middle(chain) * 1e3, "ms", "≤", 40),
    ]


def _random_pairs() -> list[tuple[int, int]]:
    chance = random.Random(seed)
    return [
        (chance.randrange(creatures), chance.randrange(creatures))
        for _ in range(int(creatures * edges_a_creature))
    ]


def _grid_pairs() -> list[tuple[int, int]]:
    side = int(creatures**0.5)
    across = [(y * side + x, y * side + x + 1) for y in range(side) for x in range(side - 1)]
    down = [(y * side + x, (y + 1) * side + x) for y in range(side - 1) for x in range(side)]
    return across + down


def _removals(pairs: list[tuple[int, int]], count: int = removals) -> list[float]:
    """Remove random edges one after another, as `disconnect` does: both ends leave their channel."""
    topology = Topology()
    for n, (first, other) in enumerate(pairs):
        topology.join(f"creature-{first}", f"channel-{n}", SEND)
        topology.join(f"creature-{other}", f"channel-{n}", LISTEN)
    gc.collect()
    gc.freeze()
    spent = []
    for n in random.Random(seed).sample(range(len(pairs)), count):
        left, right = (f"creature-{end}" for end in pairs[n])
        if left != right:
            spent.append(_removal(topology, left, right, f"channel-{n}"))
    gc.unfreeze()
    return spent


def _middle_of_a_chain() -> float:
    """The worst cut of a chain: both sides are as long."""
    topology = Topology()
    for n in range(chain_creatures - 1):
        topology.join(f"creature-{n}", f"channel-{n}", SEND)
        topology.join(f"creature-{n + 1}", f"channel-{n}", LISTEN)
    middle_of_it = chain_creatures // 2
    return _removal(
        topology, f"creature-{middle_of_it}", f"creature-{middle_of_it + 1}", f"channel-{middle_of_it}"
    )


def _removal(topology: Topology, first: str, second: str, channel: str) -> float:
    start = process_time()
    cut = [(first, channel), (second, channel)]
    parted(topology, _ends(first, second, channel), cut=cut)
    topology.leave(first, channel, SEND)
    topology.leave(second, channel, LISTEN)
    return process_time() - start


def _ends(first: str, second: str, channel: str) -> Iterable[tuple[Sort, str]]:
    return [("creature", first), ("channel", channel), ("creature", second)]
