"""What is dropped from memory can be loaded again: random histories of runs that meet give the same events and answers
whether nothing is let go, only finished graphs are, or every graph is let go before each step."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, NamedTuple

import pytest

from glasshouse.errors import Refused
from glasshouse.events.codec import encoded
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.runtime.conducting.conductor import Conductor
from glasshouse.runtime.conducting.order import Advanced
from glasshouse.stores.memory import MemoryStore
from glasshouse.terrarium import Terrarium
from tests.runtime.troupe import all_events
from tests.simulation.ledger_checks import check_runs_are_found
from tests.simulation.seeds import fresh_seeds, replayable, usual_seeds
from tests.simulation.test_replay_of_runs_that_met import Crowd

LettingGo = Literal["never", "when finished", "always"]
steps = 10
steps_at_the_end = 6
questions = 8


class Calm(random.Random):
    """Lets models answer at once and nobody meddle: the order of what happens must not depend on reads."""

    def random(self) -> float:
        return 1.0

    def randrange(self, *_given: object) -> int:
        return 0


class Outcome(NamedTuple):
    """All that somebody outside can see of a play."""

    events: list[bytes]
    answers: list[object]
    let_go: int


async def played(seed: int, letting_go: LettingGo, patch: pytest.MonkeyPatch) -> Outcome:
    let_go = _counted(letting_go, patch)
    store = MemoryStore()
    crowd = Crowd(seed, store, clock=HandMovedClock(), ids=SeededIds(seed))
    for model in crowd.models:
        model.chance = Calm()
    async with crowd.t as t:
        for step in range(steps):
            if len(crowd.runs) < 3 and (step % 3 == 0):
                await crowd.open_one()
            await crowd.change_something()
            await crowd.drive(side_by_side=False)
        for run_id in crowd.runs[:2]:
            if not t.run_of(run_id).is_finished:
                await t.finish(run_id)
        for _ in range(steps_at_the_end):  # Finished graphs are named again, and meet those that still play.
            await crowd.change_something()
            await crowd.drive(side_by_side=False)
        with suppress(Refused):
            await _continue_elsewhere(t, crowd)
        await t.run(turns=4)
        check_runs_are_found(t._house.ledger.world)
        events = await all_events(store)
        return Outcome([*map(encoded, events)], await _answers(t, crowd), let_go())


async def _continue_elsewhere(t: Terrarium, crowd: Crowd) -> None:
    """Branch and resume a run that has finished."""
    story = await t.run_events(crowd.runs[0])
    at = crowd.chance.choice(story)
    branch = await t.branch(at.session_id, at.id)
    await t.run(branch.id, turns=2)
    resumed = await t.resume(t.run_of(crowd.runs[0]).session_id, shape="as-was")
    await t.run(resumed.id, turns=2)


async def _answers(t: Terrarium, crowd: Crowd) -> list[object]:
    answers: list[object] = list(t.runs())
    for run_id in crowd.runs:
        story = await t.run_events(run_id)
        answers.append([event.id for event in story])
        for event in crowd.chance.sample(story, min(questions, len(story))):
            answers += [await t.why(event.id, role="director"), await t.who_knew(event.id)]
    for graph in t.graphs():
        answers.append([event.id async for event in t.history(graph.session_id)])
    return answers


def _counted(letting_go: LettingGo, patch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Let graphs go like this, and count how often one was."""
    let_go, advance = Conductor.let_go_graph, Conductor.advance
    count = 0

    def counted(self: Conductor, graph: object) -> None:
        nonlocal count
        count += 1
        let_go(self, graph)  # type: ignore[arg-type]

    async def after_letting_all_go(self: Conductor, graph_id: str) -> Advanced:
        if not self._in_flight.ahead and not self._in_flight.taken:
            for graph in self._ledger.world.graphs.values():
                self.let_go_graph(graph)
        return await advance(self, graph_id)

    patch.setattr(Conductor, "let_go_graph", counted if letting_go != "never" else lambda _self, _graph: None)
    patch.setattr(Conductor, "advance", after_letting_all_go if letting_go == "always" else advance)
    return lambda: count


async def check_a_play(seed: int) -> None:
    with replayable(seed, "test_letting_go.py"):
        outcomes: dict[LettingGo, Outcome] = {}
        for letting_go in ("never", "when finished", "always"):
            with pytest.MonkeyPatch.context() as patch:
                outcomes[letting_go] = await played(seed, letting_go, patch)

        never, usual, always = outcomes.values()
        assert never.let_go == 0 < usual.let_go < always.let_go
        for other in (usual, always):
            differing = [pair for pair in zip(never.events, other.events, strict=False) if pair[0] != pair[1]]
            assert differing[:1] == []
            assert len(never.events) == len(other.events)
            assert never.answers == other.answers


@pytest.mark.parametrize("seed", usual_seeds(6))
async def test_what_is_let_go_changes_no_event_and_no_answer(seed: int) -> None:
    await check_a_play(seed)


@pytest.mark.soak
async def test_what_is_let_go_changes_nothing_in_fresh_plays() -> None:
    for seed in fresh_seeds(40):
        await check_a_play(seed)
