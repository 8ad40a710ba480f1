"""What the engine itself costs for one act: scheduling, prompt, reply, governor, ledger; the model answers at once."""

from __future__ import annotations

import asyncio
import time
from random import Random

from bench.creatures import store_file
from bench.parts import looking
from bench.result import Result, judged, profiled
from glasshouse import Draft, Governor, Manifest, MemoryStore, ModelRouter, SqliteStore, Terrarium
from glasshouse.manifests.manifest import Schedule
from glasshouse.model_values import Tokens
from glasshouse.runtime import event_loop
from glasshouse.turns.moment.prompt import Completion, Prompt

histories = (100, 1_000, 10_000, 100_000)
turns_a_round = 60
rounds = 20
rounds_looked_at = 150
graphs_side_by_side = 50
turns_in_each_graph = 6
slow_seconds = 0.1
crowd = 16

ENDLESS = Governor(max_turns=None, max_calls_per_turn=None, max_total_calls=None)
REPLY = '{"kind":"agent.spoke","thought":"The pond is rising again.","mood":"calm","text":"%s"}'
WORDS = (
    "the a our that row bed well gate pond hedge barrel ladder shears compost heron toad bee hen slug frost rain noon "
    "water mint garlic leek pear squash bean lettuce wants counted left found covers carries trades grafts smells drips "
    "rots sings ripens before behind under near without until early late green dry cold heavy slowly again twice nobody"
)
LINES = [" ".join(Random(number).choices(WORDS.split(), k=8)) for number in range(4_099)]
"""What is said in turn: lines that differ. A line like one of the last dozen would not count, and would be asked again."""


class AnswersAtOnce:
    """A model without latency that has a line at hand."""

    name = "at once"
    answers_at_once = True

    def __init__(self) -> None:
        self._lines = 0

    async def complete(self, prompt: Prompt) -> Completion:
        """The next line."""
        self._lines += 1
        line = f"{LINES[self._lines % len(LINES)]} {self._lines}{'.' if self._lines % 12 else '?'}"
        return Completion(REPLY % line, self.name, Tokens(300, 30), usd=0.0)


class AnswersSlowly(AnswersAtOnce):
    """The same, after a while."""

    answers_at_once = False

    async def complete(self, prompt: Prompt) -> Completion:
        """The line, later."""
        await asyncio.sleep(slow_seconds)
        return await super().complete(prompt)


def _speaker(name: str, *, together: bool = False) -> Manifest:
    return Manifest(
        name=name,
        persona="Keeps the bean rows and says what is missing.",
        cares_about=("water", "rows", "noon"),
        schedule=Schedule(tick_every=1, together=together),
    )


def _listener(name: str) -> Manifest:
    return Manifest(
        name=name, persona="Answers everybody.", subscribes_to=("rows.said",), schedule=Schedule(tick_every=2)
    )


async def _pair(t: Terrarium) -> str:
    ada = await t.add_creature(_speaker("ada"))
    bo = await t.add_creature(_listener("bo"))
    await t.connect(ada.id, bo.id, channel="talk", both=True)
    return ada.id


async def stage_after(history: int) -> Terrarium:
    """A pair that has talked that much already, and is warmed up."""
    t = Terrarium(MemoryStore(), models=ModelRouter(AnswersAtOnce()), governor=ENDLESS)
    await t.open()
    ada = await _pair(t)
    for start in range(0, history, 1_000):
        lines = [
            Draft(kind="agent.spoke", channel="talk", payload={"text": f"Bean {n} stands in row {n % 7}."})
            for n in range(start, min(history, start + 1_000))
        ]
        await t.append_all(ada, lines)
    await t.step(40)
    return t


async def cpu_per_act(t: Terrarium, turns: int) -> float:
    """Microseconds of CPU that an act takes, over this many turns."""
    calls, began = t.runs()[0].calls, time.process_time()
    await t.step(turns)
    return (time.process_time() - began) / (t.runs()[0].calls - calls) * 1e6


async def _cpu_per_act_after_each() -> dict[int, float]:
    """All histories take turns in short rounds, and the quickest round of each counts: others use these cores, too."""
    stages = {history: await stage_after(history) for history in histories}
    figures: dict[int, list[float]] = {history: [] for history in histories}
    for _ in range(rounds):
        for history, t in stages.items():
            figures[history].append(await cpu_per_act(t, turns_a_round))
    for t in stages.values():
        await t.close()
    return {history: min(costs) for history, costs in figures.items()}


async def _cpu_per_act_of_many() -> float:
    with store_file() as path:
        models = ModelRouter(AnswersAtOnce())
        async with Terrarium(SqliteStore(path), models=models, governor=ENDLESS, pacing="free") as t:
            for _ in range(graphs_side_by_side):
                await _pair(t)
            await t.step(4)
            return min([await cpu_per_act(t, turns_in_each_graph) for _ in range(rounds)])


def _parts_of_an_act() -> str:
    """Where the time of an act goes, part by part, and the functions that take most of it."""

    async def measured(rounds: int) -> list[float]:
        t = await stage_after(histories[0])
        costs = [await cpu_per_act(t, turns_a_round) for _ in range(rounds)]
        await t.close()
        return costs

    with looking() as looks:
        costs = event_loop.run(measured(rounds_looked_at))
    return f"{looks.table(min(costs))}\n\n{profiled(measured(rounds))}"


async def _crowd_against_one() -> float:
    seconds = []
    for count in (1, crowd):
        async with Terrarium(MemoryStore(), models=ModelRouter(AnswersSlowly()), governor=ENDLESS) as t:
            first = await t.add_creature(_speaker("first", together=True))
            for _ in range(count - 1):
                await t.add_creature(_speaker("next", together=True), graph=first.graph_id)
            await t.step(1)
            began = time.perf_counter()
            await t.step(3)
            seconds.append((time.perf_counter() - began) / 3)
    return seconds[1] / seconds[0]


def run() -> list[Result]:
    """Every figure of acts."""
    after = event_loop.run(_cpu_per_act_after_each())
    results = [
        judged(f"an act after {history:,} events, memory", cost, "µs CPU", "≤", 220, profile=_parts_of_an_act)
        for history, cost in after.items()
    ]
    growth = after[histories[-1]] / after[histories[0]]
    results.append(judged("an act after 100,000 events against 100", growth, "×", "≤", 1.25))
    many = event_loop.run(_cpu_per_act_of_many())
    results.append(
        judged(
            f"an act, {graphs_side_by_side} graphs on SQLite",
            many,
            "µs CPU",
            "≤",
            300,
            profile=lambda: profiled(_cpu_per_act_of_many()),
        )
    )
    together = event_loop.run(_crowd_against_one())
    results.append(judged(f"{crowd} together on a model of 100 ms against one call", together, "×", "≤", 1.3))
    return results
