"""Random plays in which everything happens at once, compared with the table of an act's states.

Several drives play two runs, whose graphs merge and split, whose creatures are removed, and whose limits are small. Commits
fail, or are in doubt. Drives are cancelled, the house is closed, or killed, and opened again. Whatever the order: no act is
lost and none is written twice, every call that a model answered is in the ledger once, and every reservation is released.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

import pytest

from glasshouse import Draft, Governor, MemoryStore, Refused, kinds
from glasshouse.errors import (
    GlasshouseError,
    ModelFailed,
    ModelUnreachable,
    OutcomeUnknown,
    StoreError,
    StoreFailed,
)
from glasshouse.model_values import Tokens
from glasshouse.models.router import ModelRouter
from glasshouse.runtime.acts.in_flight import TABLE, Act, ActsInFlight, Cause, InFlight, State
from glasshouse.runtime.clock import HandMovedClock
from glasshouse.runtime.ledger.folds import fold_from_start
from glasshouse.runtime.replay.replay_answers import act_of
from glasshouse.runtime.store_port import Batch
from glasshouse.turns.moment.prompt import Completion, Prompt
from tests.made_up_words import word_for
from tests.runtime.limits_by_hand import NO_LIMIT
from tests.runtime.reflecting_model import (
    asks_for_reflection,
    cadences,
    lines_that_owe,
    reflection,
    reflection_acts,
)
from tests.runtime.stage_crew import hearing, show, ticking, world_of
from tests.runtime.stores_around import StoreAround
from tests.runtime.toolkits import OneTool, speaks, uses
from tests.runtime.troupe import soon
from tests.simulation.ledger_checks import check_ends, check_folds, ledger_of
from tests.simulation.seeds import fresh_seeds, replayable, usual_seeds

deeds_in_a_play = 60
turns_of_the_loop_max = 40
seeds_in_a_test = 12

Move = tuple[State, Cause]


class Faulty(StoreAround):
    """A store over a memory that outlives it. Some commits fail; of those in doubt, nobody knows that they were written."""

    def __init__(self, inner: MemoryStore) -> None:
        super().__init__()
        self.inner = inner
        self.faults: list[str] = []
        """How the next commits fail."""
        self.is_dead = False

    async def commit(self, batches: Sequence[Batch]) -> int:
        if self.is_dead:
            raise StoreFailed("The process was killed.")
        if not self.faults:
            return await super().commit(batches)
        fault = self.faults.pop(0)
        if fault == "full":
            raise StoreFailed("The disk is full. Make room.")
        if fault != "lost":
            await super().commit(batches)
        # A store should not say that it wrote nothing if it did. The refold finds it all the same.
        raise StoreFailed("It lies.") if fault == "lie" else OutcomeUnknown("The disk does not answer.")


class Numbered:
    """A model that gives each answer a number, after some turns of the loop. Some of its calls fail, or are not reached."""

    name = backend = "numbered"
    is_free = True

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.answered: list[str] = []
        self.calls_away = 0
        """How many of the next calls do not reach it."""

    async def complete(self, prompt: Prompt) -> Completion:
        for _ in range(self.chance.randrange(12)):
            await asyncio.sleep(0)
        mood = self.chance.random()
        if mood < 0.04:
            self.calls_away = self.chance.randrange(1, 12)
        if self.calls_away:
            self.calls_away -= 1
            raise ModelUnreachable("Nobody answers.")
        if mood < 0.1:
            raise ModelFailed("It broke.")
        number = len(self.answered)
        self.answered.append(f"answer {number}")
        text = " ".join(word_for(6 * number + at) for at in range(6))
        line = reflection(prompt, text) if asks_for_reflection(prompt) else speaks(text)
        reply = "?" if mood < 0.2 else uses() if mood < 0.35 else line
        return Completion(reply, self.name, Tokens(5, 5), usd=0.25, response_id=self.answered[-1])


class Play:
    """One play: a house that is opened again and again, its model, and what its acts in flight did."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.memory = MemoryStore()
        self.model = Numbered(self.chance)
        self.drives: list[asyncio.Future[Any]] = []
        self.moves: Counter[Move] = Counter()
        self.lost: set[str] = set()
        """The answers that no event held when the process was killed."""
        self.runs: list[str] = []

    async def open(self) -> None:
        self.store = Faulty(self.memory)
        self.t = show(
            self.store,
            models=ModelRouter(self.model),
            tools=OneTool(),
            clock=HandMovedClock(),
            pacing=self.chance.choice(("lockstep", "free")),
        )
        self.in_flight = self.t._parts.conductor._in_flight
        self.ends: Counter[Act] = Counter()
        """How many ends of each act became durable, as its records say."""
        self._watch(self.in_flight)
        await self.t.open()

    def _watch(self, in_flight: ActsInFlight) -> None:
        """Follow every record by the table, from outside."""
        move = in_flight._move

        def watched(record: InFlight, cause: Cause) -> None:
            before = record.state
            move(record, cause)
            self.moves[before, cause] += 1
            expected = TABLE[before, cause].state
            # Without calls to keep, nothing is left of an act but what the ledger owes.
            assert record.state in (expected, "owed"), (before, cause, record.state)
            if record.state == "ended":
                self.ends[record.act] += 1

        in_flight._move = watched  # type: ignore[method-assign]

    # What can happen

    async def do_something(self) -> None:
        deeds: list[Callable[[], Awaitable[object]]] = [
            *[self.drive] * 8,
            *[self.change_the_graphs] * 4,
            *[self.let_a_commit_fail] * 4,
            *[self.cancel] * 3,
            self.answer_for_somebody,
            *[self.pause_or_continue] * 4,
            self.finish_one,
            self.close_and_open,
            self.kill_and_open,
        ]
        with suppress(Refused, StoreError):
            await soon(self.chance.choice(deeds)())
        for _ in range(self.chance.randrange(turns_of_the_loop_max)):
            await asyncio.sleep(0)

    async def drive(self) -> None:
        t, chance = self.t, self.chance
        ways: list[Callable[[], Awaitable[object]]] = [t.step_one, t.step, lambda: t.run(turns=2), t.run]
        self.drives.append(asyncio.ensure_future(chance.choice(ways)()))

    async def cancel(self) -> None:
        if self.drives:
            self.chance.choice(self.drives).cancel()

    async def let_a_commit_fail(self) -> None:
        self.store.faults += self.chance.choices(
            ("full", "lost", "written", "lie"), k=self.chance.choice((1, 1, 2))
        )

    async def change_the_graphs(self) -> None:
        t, chance = self.t, self.chance
        alive = [creature.id for creature in t.creatures()]
        first, other = chance.choice(alive), chance.choice(alive)
        match chance.randrange(7):
            case 0 | 1 | 2:
                await t.connect(first, other, both=True)
            case 3 | 4:
                await t.disconnect(first, other)
            case 5 if len(alive) > 3:
                await t.remove_creature(first)
            case _:
                manifest = ticking("kid", together=chance.random() < 0.5)
                await t.add_creature(manifest, graph=t.creature(first).graph_id, run=t.creature(first).run_id)

    async def answer_for_somebody(self) -> None:
        agenda = self.t._house.ledger.agenda
        owed = [(name, cause) for name, causes in agenda.owed.items() for cause in causes]
        if owed:
            name, cause = self.chance.choice(owed)
            await self.t.append(name, Draft(kind=kinds.AGENT_SPOKE, payload={"text": "Me."}), caused_by=cause)

    async def pause_or_continue(self) -> None:
        runs = [self.t.run_of(run_id) for run_id in self.runs]
        paused = [run.id for run in runs if run.status == "paused"]
        await (self.t.continue_run(paused[0]) if paused else self.t.pause(self.chance.choice(self.runs)))

    async def finish_one(self) -> None:
        if self.chance.random() < 0.1:
            await self.t.finish(self.chance.choice(self.runs))

    async def close_and_open(self) -> None:
        self.store.faults.clear()
        await self._leave()
        await self.check_answers()
        await self.open()

    async def kill_and_open(self) -> None:
        self.store.is_dead = True
        await self._leave()
        self.lost |= {*self.model.answered} - {*await self.recorded()}
        await self.open()

    async def _leave(self) -> None:
        for drive in self.drives:
            drive.cancel()
        await asyncio.gather(*self.drives, return_exceptions=True)
        self.drives.clear()
        with suppress(GlasshouseError):
            await soon(self.t.close())
        await self.memory.close()

    # What must hold

    async def recorded(self) -> list[str]:
        ledger = await ledger_of(self.memory)
        return [call.response_id for event in ledger for call in event.calls if call.response_id]

    async def check_answers(self) -> None:
        """Every answer is in the ledger once, apart from those that a kill took."""
        recorded = Counter(await self.recorded())
        assert [answer for answer, count in recorded.items() if count > 1] == []
        lacking = {*self.model.answered} - self.lost - {*recorded}
        assert lacking == set()

    async def check_ends(self) -> None:
        """What the records say has ended is what the ledger holds, once each, and what they left is owed still."""
        await check_ends(self.memory)
        ends = Counter(act_of(event) for event in await ledger_of(self.memory) if event.ends_its_act)
        assert {act for act in self.ends if not ends[act]} == set()
        assert {act: count for act, count in self.ends.items() if count > 1} == {}

    async def check_reflections(self) -> None:
        """One act at most for every Nth line, none for another; what has no end is owed, or nobody can end it any more, or
        a turn began after it and left it out."""
        ledger = await ledger_of(self.memory)
        every = cadences(ledger)
        owing = lines_that_owe(ledger, every)
        ends = reflection_acts(ledger)
        assert ends.keys() <= {*owing}
        assert [act for act, how in ends.items() if len(how) > 1] == []
        agenda = (await fold_from_start(self.memory, await self.memory.position())).agenda
        over = {event.run_id for event in ledger if event.kind == kinds.RUN_FINISHED}
        gone = {
            event.payload["creature"]
            for event in ledger
            if event.kind == kinds.CREATURE_STOPPED and event.payload["reason"] == "removed"
        }
        index = {event.id: at for at, event in enumerate(ledger)}
        for name, line in {*owing} - ends.keys():
            caused_in = ledger[index[line]]
            is_left_out = any(event.kind == kinds.TURN_STARTED for event in ledger[index[line] :])
            assert (
                agenda.owes_reflection(name, line) or name in gone or caused_in.run_id in over or is_left_out
            ), (name, line)

    async def end(self) -> None:
        """Let everything come to its end, and check that nothing is left."""
        self.store.faults.clear()
        for drive in self.drives:
            drive.cancel()
        await asyncio.gather(*self.drives, return_exceptions=True)
        self.drives.clear()
        await self.t._house.ledger.writer.wait_for_durability()
        for run_id in self.runs:
            if self.t.run_of(run_id).status == "paused":
                await self.t.continue_run(run_id)
        with suppress(StoreError):  # A commit failed whose drive was cancelled: the next drive is told.
            await soon(self.t.run(turns=2))
        await self.t._house.ledger.writer.wait_for_durability()
        await self.check_reflections()
        for run in self.t.runs():
            if not run.is_finished:
                await soon(self.t.finish(run.id))
        in_flight = self.in_flight
        assert (in_flight.ahead, in_flight.taken, in_flight.kept) == ({}, {}, {})
        assert self.t._parts.model_access.reservations._acts == {}
        await self.check_ends()
        await check_folds(self.memory)
        await self.check_answers()
        calls = sum(call.reached for event in await ledger_of(self.memory) for call in event.calls)
        assert sum(run.calls for run in self.t.runs()) >= calls
        await self._leave()


def cadence(chance: random.Random) -> dict[str, int]:
    """After how many lines of its own a creature reflects; most do, and soon."""
    every = chance.choice((None, 1, 1, 2, 3))
    return {} if every is None else {"reflect_every": every}


async def played(seed: int) -> Counter[Move]:
    """A play; how often each move of the table was made."""
    play = Play(seed)
    chance = play.chance
    await play.open()
    for names in ("abc", "de"):
        limits: dict[str, Any] = {"max_turns": chance.randint(6, 20)}
        if chance.random() < 0.4:
            limits["max_total_calls"] = chance.randint(6, 60)
        if chance.random() < 0.4:
            limits |= {"max_calls_per_turn": chance.randint(1, 4), "on_turn_limit": "defer"}
        limits["on_budget"] = chance.choice(("finish", "pause"))
        cast = [
            *[ticking(name, together=chance.random() < 0.6, tools=("lamp",)) for name in names[:1]],
            *[ticking(name, together=chance.random() < 0.6, memory=cadence(chance)) for name in names[1:]],
            hearing(f"{names}-hears", memory=cadence(chance)),
        ]
        run = await play.t.open_world(world_of(*cast), governor=Governor(**{**NO_LIMIT, **limits}))
        play.runs.append(run.id)
    for _ in range(deeds_in_a_play):
        await play.do_something()
    await play.end()
    return play.moves


@pytest.mark.parametrize("seed", usual_seeds(seeds_in_a_test))
async def test_no_act_is_lost_or_written_twice_and_no_answer_is_lost_whatever_happens(seed: int) -> None:
    with replayable(seed, "test_acts_in_flight.py"):
        await played(seed)


@pytest.mark.soak
async def test_acts_in_flight_for_a_long_time() -> None:
    for seed in fresh_seeds(1_000):
        with replayable(seed, "test_acts_in_flight.py"):
            await played(seed)
