"""Finished runs cost nothing: a run takes the same steps after many finished ones, and what they held in memory is let go."""

import gc
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from types import FrameType
from typing import Any

import pytest

from glasshouse import Governor, MemoryStore, ModelRouter, Terrarium, kinds
from glasshouse.manifests import LoadedWorld
from glasshouse.manifests.loading import load_world
from glasshouse.models import Completion, Prompt, Tokens
from glasshouse.runtime.capabilities import Pacing
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.turns.moment import line_text
from glasshouse.turns.prompts import context, lines
from tests.made_up_words import word_for
from tests.runtime.stage_crew import ticking, world_of

first_counted = range(8, 11)
last_counted = range(58, 61)
"""Of neighbouring runs the one with the fewest steps counts: a snapshot may fall into one of them."""
steps_ratio_max = 1.005
"""Some loops depend a little on the ids of creatures, which are numbered. A look at every run would be fifty more."""
REFEREED = load_world("twenty-sprouts")
IN_SEVERAL_GRAPHS = load_world("three-ways-in")


class SaysTheSameInEveryRun:
    """A model that begins with the same lines again when it is told to."""

    name, is_free, answers_at_once = "the same", True, True

    def __init__(self) -> None:
        self.prompts: list[Prompt] = []
        self.begin_again()

    def begin_again(self) -> None:
        self._numbers = count()

    async def complete(self, prompt: Prompt) -> Completion:
        self.prompts.append(prompt)
        text = " ".join(word_for(next(self._numbers)) for _ in range(6))
        reply = {"kind": kinds.AGENT_SPOKE, "thought": "Hm.", "text": text, "mood": "calm"}
        return Completion(json.dumps(reply), self.name, Tokens(5, 5), usd=0.0)


@asynccontextmanager
async def house(model: SaysTheSameInEveryRun, **more: Any) -> AsyncIterator[Terrarium]:
    given = {"clock": HandMovedClock(), "ids": SeededIds(3), **more}
    async with Terrarium(MemoryStore(), models=ModelRouter(model), **given) as t:
        yield t


def short_world(**fields: Any) -> LoadedWorld:
    cast = [ticking(name) for name in ("ada", "bo", "cy")]
    return world_of(*cast, opening="It rains.", governor={"max_turns": 2}, **fields)


class Steps:
    """Counts the bytecodes that are executed while it traces, which also counts the turns of every loop."""

    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> "Steps":
        # Without the collector: it would call finalizers of whatever other tests left behind.
        gc.collect()
        gc.disable()
        sys.settrace(self._enter)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)
        gc.enable()

    def _enter(self, frame: FrameType, _event: str, _argument: object) -> Callable[..., Any]:
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._step

    def _step(self, _frame: FrameType, event: str, _argument: object) -> Callable[..., Any]:
        self.count += event == "opcode"
        return self._step


Play = Callable[[Terrarium, LoadedWorld], Awaitable[object]]


async def named(t: Terrarium, world: LoadedWorld) -> None:
    run = await t.open_world(world)
    await t.run(run.id)


async def unnamed(t: Terrarium, world: LoadedWorld) -> None:
    await t.open_world(world)
    await t.run()


async def by_hand(t: Terrarium, world: LoadedWorld) -> None:
    run = await t.open_world(world)
    await t.pause(run.id)
    await t.continue_run(run.id)
    await t.step_one()
    await t.disturb(run.id, "A bell.")
    await t.step()
    await t.finish(run.id)


async def without_a_world(t: Terrarium, _world: LoadedWorld) -> None:
    ada = await t.add_creature(ticking("ada"), run=(run_id := t._house.new_run_id()))
    await t.add_creature(ticking("bo"), graph=ada.graph_id, run=run_id)
    await t.step_one(ada.graph_id)
    await t.finish(run_id)


async def with_a_referee(t: Terrarium, _world: LoadedWorld) -> None:
    run = await t.open_world(REFEREED, rng_seed=2, governor=Governor(max_turns=2))
    await t.run(run.id)


async def in_several_graphs(t: Terrarium, _world: LoadedWorld) -> None:
    run = await t.open_world(IN_SEVERAL_GRAPHS, rng_seed=2, governor=Governor(max_turns=2))
    await t.run(run.id)


@pytest.mark.parametrize(
    ("play", "pacing"),
    [
        (named, "lockstep"),
        (named, "free"),
        (unnamed, "lockstep"),
        (unnamed, "free"),
        (by_hand, "lockstep"),
        (without_a_world, "lockstep"),
        (with_a_referee, "lockstep"),
        (in_several_graphs, "free"),
    ],
)
async def test_a_run_takes_as_many_steps_after_sixty_finished_ones_as_after_ten(
    play: Play, pacing: Pacing
) -> None:
    model, world, steps = SaysTheSameInEveryRun(), short_world(), dict[int, int]()
    async with house(model, pacing=pacing) as t:
        for number in range(1, last_counted.stop):
            model.begin_again()
            if number in first_counted or number in last_counted:
                with Steps() as taken:
                    await play(t, world)
                steps[number] = taken.count
            else:
                await play(t, world)
        assert {run.status for run in t.runs()} == {"finished"}

    first = min(steps[number] for number in first_counted)
    last = min(steps[number] for number in last_counted)
    assert last <= first * steps_ratio_max, steps


async def test_when_all_runs_of_a_graph_have_finished_nothing_of_its_lines_stays_in_memory() -> None:
    readings_before = {*line_text._reading_cache}
    ids = SeededIds(1905)  # No other test has a house of this id.
    async with house(SaysTheSameInEveryRun(), ids=ids) as t:
        run = await t.open_world(short_world())
        await t.run(run.id)

        folded, conductor = t._house.ledger.folded, t._stage._conductor
        tables = [table for table in folded.tables.said.values() if table.count]
        assert t.run_of(run.id).is_finished
        assert tables
        assert [table.lines_cache for table in tables] == [None] * len(tables)
        house_id = folded.world.house_id
        assert [key for key in lines._numbered_cache if key[0] == house_id] == []
        assert [key for key in context._frames_cache if key[0] == house_id] == []
        assert line_text._reading_cache.keys() <= readings_before
        assert (len(conductor.graphs), conductor._warm_lines._needed) == (0, {})
        assert folded.agenda.subscribers == {}


async def test_a_graph_keeps_its_lines_while_one_of_its_runs_still_plays() -> None:
    async with house(SaysTheSameInEveryRun()) as t:
        run = await t.open_world(short_world())
        guest = await t.add_creature(ticking("guest"), graph=t.run_of(run.id).graph_ids[0])
        await t.run(run.id)

        assert t.run_of(run.id).is_finished
        tables = t._house.ledger.folded.tables
        graph = t._house.ledger.world.graphs[guest.graph_id]
        assert tables.cold_places(t._house.ledger.world, graph) == []


async def test_a_creature_that_joins_a_finished_graph_hears_what_was_said_there() -> None:
    prompts: list[list[str]] = []
    for is_let_go in (True, False):
        model = SaysTheSameInEveryRun()
        with pytest.MonkeyPatch.context() as patch:
            if not is_let_go:
                patch.setattr("glasshouse.runtime.conducting.conductor.Conductor._let_go", lambda *_: None)
            async with house(model) as t:
                run = await t.open_world(short_world())
                await t.run(run.id)
                (graph_id,) = t.run_of(run.id).graph_ids
                dee = await t.add_creature(ticking("dee"))
                (channel,) = t.environment(graph_id).channels
                await t.connect("ada", dee, channel=channel.name, both=True)
                await t.step_one()
        prompts.append([prompt.user for prompt in model.prompts])

    of_the_run, of_dee = prompts[0][:-1], prompts[0][-1]
    assert prompts[0] == prompts[1]
    assert len(of_the_run) == 6
    assert " ".join(map(word_for, range(6))) in of_dee
