"""Ticks that go together and are cut off after any batch continue as if they were never cut off.

A creature whose act is not written yet thinks again on the graph that all of them saw, whatever earlier acts changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import accumulate
from typing import Any, NamedTuple

import pytest

from glasshouse import Agent, Draft, Event, MemoryStore, WhatIf, kinds
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.model_values import Tokens
from glasshouse.models.router import ModelRouter
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.tool_context import ToolContext
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.prompt import Completion, Prompt, text_digest
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall, ToolOffer
from glasshouse.world.decisions.intents import Connect, Disconnect
from glasshouse.world.state.state import CreatureState, Segment
from tests.runtime.stage_crew import Doing, on_stage, ticking, world_of
from tests.runtime.troupe import soon
from tests.simulation.ledger_checks import check_ends
from tests.simulation.test_cut_off_anywhere import NotingStore


class Doors:
    """A tool that opens a channel between its creature and another, or closes it again: everybody there can see that."""

    def names(self) -> frozenset[str]:
        return frozenset({"door"})

    def has(self, tool: str) -> bool:
        return tool == "door"

    def offers(self, folded: Folded, creature: CreatureState) -> tuple[ToolOffer, ...]:
        others = [other.handle for other in _cast(folded, creature) if other.id != creature.id]
        how = {"to": {"enum": others}}
        return (
            ToolOffer(
                "door", "Open or shut a door.", {"type": "object", "properties": how, "required": ["to"]}
            ),
        )

    async def use(self, call: ToolCall, context: ToolContext) -> ToolAnswer:
        caller, world = context.creature, context.folded.world
        assert caller is not None
        ids = {creature.handle: creature.id for creature in _cast(context.folded, caller)}
        mine, other = caller.id, ids[str(call.arguments["to"])]
        name = "-".join(sorted((caller.handle, str(call.arguments["to"]))))
        is_open = name in world.graphs[caller.graph_id].channels.owners
        intent = Disconnect(mine, other, name) if is_open else Connect(mine, other, name, both=True)
        return await context.edit(
            intent, lambda change, _: ToolAnswer(is_ok=True, text=change.kind, is_engine=True)
        )


def _cast(folded: Folded, creature: CreatureState) -> list[CreatureState]:
    return [other for other in folded.world.creatures.values() if other.run_id == creature.run_id]


class Opening:
    """A model that opens a door in most acts, and says what hangs on all that it was shown."""

    name = "opening"
    is_free = True

    async def complete(self, prompt: Prompt) -> Completion:
        digest = text_digest(prompt.system + prompt.user)
        number = int(digest, 16)
        doors = [
            branch["properties"]["arguments"]["properties"]["to"]
            for branch in (prompt.schema or {})["anyOf"]
            if "tool" in branch["properties"]
        ]
        said = prompt.user.partition("\nWHAT YOUR TOOLS SAID\n")[2].count("door {")
        reply: dict[str, Any] = {"kind": "agent.spoke", "thought": "", "text": digest}
        if doors and said < number % 3:
            to = doors[0]["enum"][number % len(doors[0]["enum"])]
            reply = {"kind": "tool.called", "thought": "", "tool": "door", "arguments": {"to": to}}
        return Completion(json.dumps(reply), self.name, Tokens(20, 10), usd=0.0)


def rooms(order: str, **governor: int) -> LoadedWorld:
    """Creatures in this order: those in capitals go alone, `q` and `Q` have no tools. `f` is in another graph."""
    cast = [
        ticking(name.lower(), together=name.islower(), tools=() if name in "qQ" else ("door",))
        for name in order
    ]
    troupes = {
        "first": {"cast": [creature.name for creature in cast if creature.name != "f"]},
        "second": {"cast": [creature.name for creature in cast if creature.name == "f"]},
    }
    limits = {"max_turns": 5, "max_calls_per_turn": 90, **governor}
    return world_of(
        *cast, governor=limits, troupes={name: troupe for name, troupe in troupes.items() if troupe["cast"]}
    )


async def played_on(
    store: MemoryStore, run_id: str, minds: dict[str, Agent]
) -> tuple[str, tuple[Event, ...]]:
    async with on_stage(store, minds, models=ModelRouter(Opening()), tools=Doors()) as t:
        await soon(t.run(run_id))
        assert t.run_of(run_id).is_finished
        await check_ends(store)
        return await t.digest(run_id), await t.run_events(run_id)


class Whole(NamedTuple):
    """A run that was never cut off."""

    store: NotingStore
    events: tuple[Event, ...]

    @property
    def edits(self) -> int:
        return sum(bool(event.payload.get("is_edit")) for event in self.events)

    def batch_of(self, wanted: Callable[[Event], bool]) -> int:
        """How many batches there are up to the first such event, or all."""
        positions = [event.position or 0 for event in self.events if wanted(event)]
        sizes = [sum(len(write.bodies) for write in batch.writes) for batch in self.store.batches]
        ends = list(accumulate(sizes))
        return next(
            (n for n, end in enumerate(ends, start=1) if positions and end >= min(positions)), len(ends)
        )


async def cut_anywhere(world: LoadedWorld, minds: dict[str, Agent]) -> tuple[Whole, list[int]]:
    """The whole run, and after how many batches it was cut where it came out otherwise."""
    store = NotingStore()
    async with on_stage(store, minds, models=ModelRouter(Opening()), tools=Doors()) as t:
        run_id = (await t.open_world(world, rng_seed=3, run_id="r-cut")).id
    digest, events = await played_on(store, run_id, minds)
    wrong: list[int] = []
    for count in range(1, len(store.batches) + 1):
        cut = MemoryStore()
        await cut.open(store.house_id)
        await cut.commit(store.batches[:count])
        await cut.close()
        if (await played_on(cut, run_id, minds))[0] != digest:
            wrong.append(count)
    return Whole(store, events), wrong


@pytest.mark.parametrize("order", ["abq", "aqb", "aBq", "Aqb", "qab", "afqb"])
async def test_whoever_was_not_written_yet_sees_the_graph_that_all_of_them_saw(order: str) -> None:
    whole, wrong = await cut_anywhere(rooms(order), {})

    assert whole.edits > 3
    assert wrong == []


async def test_a_mind_in_python_that_begins_anew_sees_that_graph_too() -> None:
    async def looks(moment: Moment) -> Draft:
        around = f"{moment.around.listens} {[offer.parameters for offer in moment.tools]}"
        others = moment.tools[0].parameters["properties"]["to"]["enum"]
        for other in others[: 1 + moment.turn % 2]:
            await moment.use("door", to=other)
        return Draft(kind=kinds.AGENT_SPOKE, payload={"text": around})

    minds: dict[str, Agent] = {name: Doing(looks) for name in "ab"}
    whole, wrong = await cut_anywhere(rooms("abq"), minds)

    assert whole.edits > 3
    assert wrong == []


@pytest.mark.parametrize("limit", [{"max_total_calls": 3}, {"max_total_calls": 8}, {"max_calls_per_turn": 4}])
@pytest.mark.parametrize("order", ["abq", "aBq", "afqb"])
async def test_a_purse_that_is_all_but_used_up_runs_out_for_the_same_act(
    order: str, limit: dict[str, int]
) -> None:
    whole, wrong = await cut_anywhere(rooms(order, **limit), {})

    ran_out = whole.batch_of(lambda event: event.kind == kinds.AGENT_FAILED)
    assert whole.events[-1].payload["reason"] == "budget"
    assert [count for count in wrong if count < ran_out] == []


class CountingFolds(MemoryStore):
    """A memory store that counts how often a past is folded from it."""

    folds = 0

    async def segments_after(self, position: int) -> list[Segment]:
        self.folds += 1
        return await super().segments_after(position)


async def test_a_batch_that_is_not_cut_off_folds_no_past() -> None:
    store = CountingFolds()
    async with on_stage(store, models=ModelRouter(Opening()), tools=Doors()) as t:
        run = await t.open_world(rooms("afqBc"))
        opened = store.folds

        await soon(t.run(run.id))

        assert store.folds == opened


@pytest.mark.parametrize("order", ["abq", "aBq", "afqb"])
async def test_an_unchanged_branch_from_the_middle_of_a_batch_has_the_digest_of_its_parent(
    order: str,
) -> None:
    async with on_stage(models=ModelRouter(Opening()), tools=Doors()) as t:
        run = await t.open_world(rooms(order, max_turns=2), rng_seed=3)
        await soon(t.run(run.id))
        digest = await t.digest(run.id)

        for event in (await t.run_events(run.id))[::2]:
            branch = await t.branch(event.session_id, event.id)
            again = await t.branch(t.graph(branch.graph_ids[0]).session_id)
            await soon(t.run())
            assert await t.digest(branch.id) == digest, event
            assert await t.digest(again.id) == digest, event


async def test_in_a_branch_with_another_graph_the_rest_of_a_batch_sees_that_graph() -> None:
    saw: list[tuple[str, ...]] = []

    async def looks(moment: Moment) -> None:
        saw.append(moment.around.sends)

    minds: dict[str, Agent] = {"b": Doing(looks)}
    async with on_stage(None, minds, models=ModelRouter(Opening()), tools=Doors()) as t:
        run = await t.open_world(rooms("abq", max_turns=1))
        await soon(t.run(run.id))
        first = next(e for e in await t.run_events(run.id) if e.actor == "a" and e.kind == kinds.AGENT_SPOKE)

        other = await t.branch(first.session_id, first.id, WhatIf(connect=(("b", "q", "aside"),)))
        await soon(t.run(other.id))

        assert ["aside" in sends for sends in saw] == [False, True]
