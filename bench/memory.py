"""What a search of long memory costs at 100,000 lines, also where others said nearly all that has its words, and what the first search costs. CPU time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from time import process_time

from bench.acts import ENDLESS
from bench.creatures import store_file
from bench.result import Result, judged, middle
from glasshouse import Draft, Manifest, ModelRouter, SqliteStore, Terrarium
from glasshouse.runtime import event_loop
from glasshouse.runtime.acts.long_memory import LongMemory, scope_of

lines_said = 100_000
fill_lines = 5_000
asked_times = 30
WORDS = (
    "kettle",
    "lantern",
    "willow",
    "ferry",
    "pocket",
    "thimble",
    "ladder",
    "orchard",
    "needle",
    "barrel",
    "candle",
    "meadow",
)
own_share = 100
"""One of so many lines is for the ears of the creature that searches."""


def run() -> list[Result]:
    """All figures about long memory."""
    results = []
    for name, is_shared in (("of one's own", True), ("99 % for others", False)):
        with store_file() as path:
            search, first, step = event_loop.run(_searched(str(path), is_shared=is_shared))
        results.append(judged(f"search at 100k lines, {name}", search * 1e3, "ms", "≤", 5))
        if is_shared:
            results.append(judged("the first search at 100k lines", first, "s", "≤", 20))
            results.append(judged("search after one more line", step * 1e3, "ms", "≤", 5))
    return results


async def _searched(path: str, *, is_shared: bool) -> tuple[float, float, float]:
    """What a search costs, the first one, and one after another line was said."""
    async with Terrarium(SqliteStore(path), models=ModelRouter(), governor=ENDLESS) as terrarium:
        for name in ("cora", "ada", "bo"):
            await terrarium.add_creature(Manifest(name=name, subscribes_to=()))
        await terrarium.connect("cora", "ada", channel="mill", both=True)
        await terrarium.connect("ada", "bo", channel="den", both=True)
        for first, last in pairwise(range(0, lines_said + 1, fill_lines)):
            await terrarium.append_all("ada", [*_lines(first, last, is_shared=is_shared)])
        house = terrarium._house
        memory = LongMemory(house.store, house.ledger, house.history.event)

        async def search() -> float:
            ledger = house.ledger
            creature = ledger.world.creatures["cora"]
            upto = ledger.world.session_of(ledger.world.graphs[creature.graph_id]).lamport
            start = process_time()
            lines = await memory.lines_about(scope_of(ledger.folded, creature, upto, ledger.position), WORDS)
            assert lines
            return process_time() - start

        first_search = await search()
        usual = middle([await search() for _ in range(asked_times)])
        after = []
        for number in range(asked_times):
            await terrarium.append("ada", next(_lines(number, number + 1, is_shared=True)))
            after.append(await search())
        return usual, first_search, middle(after)


def _lines(first: int, last: int, *, is_shared: bool) -> Iterator[Draft]:
    for number in range(first, last):
        channel = "mill" if is_shared or number % own_share == 0 else "den"
        words = [WORDS[(number * step) % len(WORDS)] for step in (1, 5, 7)]
        text = f"The {words[0]} and the {words[1]} stood beside a {words[2]} number {number}."
        yield Draft(kind="agent.spoke", channel=channel, payload={"text": text})
