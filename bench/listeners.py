"""One line that many hear: what each reaction to it costs, and what a whole durable turn costs. CPU time.

Models answer a line on a channel: what prompts and replies cost is in it. Code answers a line to the whole graph: that is
the engine alone. In the first round everybody speaks for the first time, and new names are learnt; the second is the usual case.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from pathlib import Path
from time import process_time

from bench.acts import ENDLESS, LINES, AnswersAtOnce
from bench.creatures import LINE, store_file
from bench.result import Result, judged, profiled
from glasshouse import Agent, Draft, Manifest, MemoryStore, ModelRouter, Moment, SqliteStore, Terrarium
from glasshouse.runtime import event_loop
from glasshouse.runtime.store_port import Batch

few, many, most = 10, 1_000, 10_000
lines_before = 512
"""So many lines were said before, in the small graph and in the large: prompts are of one length."""
rounds = {few: 40, many: 4}
rounds_of_code = {many: 8, most: 3}
stages_of_code = {many: 4, most: 1}
turns_a_round, turn_rounds = 50, 20
turns_weighed = (500, 2_500)

SPEAKER = Manifest(
    name="speaker", persona="Tells the news.", subscribes_to=(), may_emit=("news.told", "agent.spoke")
)
LISTENER = Manifest(name="listener", persona="Has an opinion.", subscribes_to=("news.told",))


class Reacts(Agent):
    """Code that has an answer to everything."""

    def __init__(self) -> None:
        self.lines = 0

    async def act(self, moment: Moment) -> Draft:
        """The next line."""
        self.lines += 1
        text = f"{LINES[self.lines % len(LINES)]} {self.lines}"
        return Draft(kind="agent.spoke", channel="talk", payload={"text": text})


def run() -> list[Result]:
    """What a reaction costs in a small graph and in a large one, and a durable turn."""
    return [*_reactions_of_models(), *_reactions_of_code(), *_durable_turns()]


def _reactions_of_models() -> list[Result]:
    small = event_loop.run(_cpu_a_reaction(few))
    large = event_loop.run(_cpu_a_reaction(many))
    return [
        judged(
            f"one line to {many:,} listeners, a reaction",
            large * 1e6,
            "µs CPU",
            "≤",
            300,
            profile=lambda: profiled(_cpu_a_reaction(many)),
        ),
        judged(f"one line to {many:,} listeners against {few}, a reaction", large / small, "×", "≤", 1.3),
    ]


def _reactions_of_code() -> list[Result]:
    first, later = event_loop.run(_cpu_a_reaction_of_code(many))
    first_of_most, later_of_most = event_loop.run(_cpu_a_reaction_of_code(most))
    name = f"one line to a graph of {many:,}, a reaction of code"
    against = f"one line to a graph of {most:,} against {many:,}, a reaction of code"
    return [
        judged(f"{name}: first round", first * 1e6, "µs CPU", "≤", 170),
        judged(
            f"{name}: second round",
            later * 1e6,
            "µs CPU",
            "≤",
            110,
            profile=lambda: profiled(_cpu_a_reaction_of_code(many)),
        ),
        judged(f"{against}: first round", first_of_most / first, "×", "≤", 3),
        judged(f"{against}: second round", later_of_most / later, "×", "≤", 1.3),
    ]


def _durable_turns() -> list[Result]:
    turn, commits = event_loop.run(_durable_turn())
    return [
        judged(
            "a durable turn: line in, act, line out",
            turn * 1e3,
            "ms CPU",
            "≤",
            1.0,
            profile=lambda: profiled(_durable_turn()),
        ),
        judged("a durable turn: commits", commits, "commits", "≤", 2),
        judged("a durable turn played by code: the file grows by", _bytes_a_turn(), "bytes", "≤", 700),
    ]


class SaysTheNext(Agent):
    """A mind in Python that says a line of the usual length."""

    def __init__(self) -> None:
        self._lines = 0

    async def act(self, moment: Moment) -> Draft:
        """The next line."""
        self._lines += 1
        return Draft(kind="agent.spoke", channel="talk", payload={"text": f"{LINE} {self._lines}"})


def _bytes_a_turn() -> float:
    """How much longer the file of a store becomes with each turn: events, their index, and snapshots. There are no prompts."""
    sizes: list[int] = []
    for turns in turns_weighed:
        with store_file() as path:
            event_loop.run(played_by_code(path, turns))
            sizes.append(path.stat().st_size)
    return (sizes[1] - sizes[0]) / (turns_weighed[1] - turns_weighed[0])


async def played_by_code(path: Path, turns: int) -> None:
    """Play so many turns on a new store: a line is said, and code answers it."""
    async with Terrarium(SqliteStore(path), governor=ENDLESS) as t:
        speaker = await t.add_creature(SPEAKER)
        listener = await t.add_creature(LISTENER, agent=SaysTheNext())
        await t.connect(speaker.id, listener.id, channel="talk", both=True)
        for number in range(turns):
            news = Draft(kind="news.told", channel="talk", payload={"text": f"{LINE} {number}"})
            await t.append(speaker.id, news)
            await t.step(1)


async def _cpu_a_reaction(listeners: int) -> float:
    """The quickest round: others use these cores, too."""
    async with Terrarium(MemoryStore(), models=ModelRouter(AnswersAtOnce()), governor=ENDLESS) as t:
        speaker = await t.add_creature(SPEAKER)
        for _ in range(listeners):
            listener = await t.add_creature(LISTENER, graph=speaker.graph_id)
            await t.connect(speaker.id, listener.id, channel="talk", both=True)
        past = [
            Draft(kind="agent.spoke", channel="talk", payload={"text": f"{LINES[0]} {n}."})
            for n in range(lines_before)
        ]
        await t.append_all(speaker.id, past)
        spent = []
        for number in range(rounds[listeners]):
            gc.collect()
            await t.append(
                speaker.id, Draft(kind="news.told", channel="talk", payload={"text": f"News {number}."})
            )
            calls, began = t.runs()[0].calls if t.runs() else 0, process_time()
            await t.step(1)
            seconds, reactions = process_time() - began, t.runs()[0].calls - calls
            if reactions != listeners:
                raise RuntimeError(f"{reactions} of {listeners} listeners reacted")
            spent.append(seconds / reactions)
        return min(spent[1:])


async def _cpu_a_reaction_of_code(listeners: int) -> tuple[float, float]:
    """The quickest first round of a few stages, and the quickest later one."""
    figures = [await _rounds_of_code(listeners) for _ in range(stages_of_code[listeners])]
    return min(spent[0] for spent in figures), min(min(spent[1:]) for spent in figures)


async def _rounds_of_code(listeners: int) -> list[float]:
    """One line to the whole graph after another: what each reaction of a round cost."""
    agent = Reacts()
    async with Terrarium(MemoryStore(), governor=ENDLESS) as t:
        speaker = await t.add_creature(SPEAKER)
        for _ in range(listeners):
            listener = await t.add_creature(LISTENER, agent=agent)
            await t.connect(speaker.id, listener.id, channel="talk", both=True)
        spent = []
        for number in range(rounds_of_code[listeners]):
            gc.collect()
            await t.append(speaker.id, Draft(kind="news.told", payload={"text": f"News {number}."}))
            lines, began = agent.lines, process_time()
            await t.step(1)
            seconds, reactions = process_time() - began, agent.lines - lines
            if reactions != listeners:
                raise RuntimeError(f"{reactions} of {listeners} listeners reacted")
            spent.append(seconds / reactions)
        return spent


class CountsCommits(SqliteStore):
    """A store that counts how often it was asked to make something durable."""

    commits = 0

    async def commit(self, batches: Sequence[Batch]) -> int:
        """Make the batches durable, and count that."""
        self.commits += 1
        return await super().commit(batches)


async def _durable_turn() -> tuple[float, float]:
    """A line is said, one creature answers it: seconds of CPU in all threads, and commits, of each such turn."""
    with store_file() as path:
        store = CountsCommits(path)
        async with Terrarium(store, models=ModelRouter(AnswersAtOnce()), governor=ENDLESS) as t:
            speaker = await t.add_creature(SPEAKER)
            listener = await t.add_creature(LISTENER)
            await t.connect(speaker.id, listener.id, channel="talk", both=True)
            figures = [await _turns(t, store, speaker.id) for _ in range(turn_rounds)]
        return min(seconds for seconds, _ in figures), min(commits for _, commits in figures)


async def _turns(t: Terrarium, store: CountsCommits, speaker: str) -> tuple[float, float]:
    commits, began = store.commits, process_time()
    for number in range(turns_a_round):
        await t.append(speaker, Draft(kind="news.told", channel="talk", payload={"text": f"News {number}."}))
        await t.step(1)
    return (process_time() - began) / turns_a_round, (store.commits - commits) / turns_a_round
