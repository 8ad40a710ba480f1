"""Tools in branches: while nothing differs, the record answers a call and its tool does not run."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from glasshouse import Draft, Event, MemoryStore, Toolbox, WhatIf, kinds, tool
from glasshouse.assembly import usual_tools
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.model_values import Tokens
from glasshouse.models.router import ModelRouter
from glasshouse.runtime.ports import Proposal
from glasshouse.runtime.tool_context import ToolContext
from glasshouse.terrarium import Terrarium, verify
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.prompt import Completion, Prompt, text_digest
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall
from glasshouse.world.decisions.intents import AddChannel
from tests.runtime.group_calls import expedition
from tests.runtime.stage_crew import Doing, hearing, on_stage, ticking, world_of
from tests.runtime.toolkits import OneTool
from tests.runtime.troupe import soon
from tests.simulation.test_cut_off_anywhere import NotingStore
from tests.simulation.worlds_with_tools import Consulting, CountingTools, rooms_with_tools


class Dice:
    """A tool that answers at random, and counts for whom it was really thrown."""

    def __init__(self) -> None:
        self.throws = 0
        self._chance = random.Random(7)

        @tool
        def weigh(thing: str) -> str:
            """Weigh a thing."""
            self.throws += 1
            return f"{thing} weighs {self._chance.random()}."

        self.box = Toolbox(weigh)


class WeighsTwice:
    """A model that weighs two things in each act, and says what hangs on all that it was shown."""

    name = "weighs-twice"
    is_free = True

    async def complete(self, prompt: Prompt) -> Completion:
        said = prompt.user.partition("\nWHAT YOUR TOOLS SAID\n")[2].count(" answered: ")
        if said < 2:
            reply = {
                "kind": "tool.called",
                "thought": "",
                "tool": "weigh",
                "arguments": {"thing": f"stone {said}"},
            }
        else:
            reply = {"kind": "agent.spoke", "thought": "", "text": text_digest(prompt.system + prompt.user)}
        return Completion(json.dumps(reply), self.name, Tokens(20, 10), usd=0.0)


def two_who_weigh() -> LoadedWorld:
    return world_of(
        ticking("ada", tools=("weigh",), persona="weighs things"),
        ticking("bo", tools=("weigh",), persona="weighs them again"),
        governor={"max_turns": 4, "max_calls_per_turn": 60},
    )


async def played(t: Terrarium, world: LoadedWorld) -> tuple[str, tuple[Event, ...]]:
    run = await t.open_world(world, rng_seed=5)
    await soon(t.run(run.id))
    return run.id, await t.run_events(run.id)


def calls_in(events: tuple[Event, ...], run_id: str) -> Counter[str]:
    """How many calls of tools everybody made in a run, by handle: incarnations of ada are ada."""
    actors = [e.actor.partition("~")[0] for e in events if e.kind == kinds.TOOL_CALLED and e.run_id == run_id]
    return Counter(actors)


async def test_an_unchanged_branch_of_any_event_has_the_digest_of_its_parent_and_uses_no_tool() -> None:
    dice = Dice()
    async with on_stage(models=ModelRouter(WeighsTwice()), tools=dice.box) as t:
        run_id, events = await played(t, two_who_weigh())
        digest, thrown = await t.digest(run_id), dice.throws

        for event in events:
            branch = await t.branch(event.session_id, event.id)
            await soon(t.run(branch.id))
            assert await t.digest(branch.id) == digest, event
            assert dice.throws == thrown, event

        assert thrown == sum(calls_in(events, run_id).values()) == 16


async def test_in_a_branch_of_a_branch_tools_are_left_alone_too() -> None:
    dice = Dice()
    async with on_stage(models=ModelRouter(WeighsTwice()), tools=dice.box) as t:
        run_id, events = await played(t, two_who_weigh())
        thrown = dice.throws
        called = [event for event in events if event.kind == kinds.TOOL_CALLED]
        first = await t.branch(called[1].session_id, called[1].id)
        await soon(t.run(first.id))
        own = [event for event in await t.run_events(first.id) if event.run_id == first.id]

        for event in [event for event in own if event.kind in kinds.MID_ACT][::3]:
            second = await t.branch(event.session_id, event.id)
            await soon(t.run(second.id))
            assert await t.digest(second.id) == await t.digest(run_id), event

        assert dice.throws == thrown


async def test_an_act_that_is_resumed_elsewhere_in_the_middle_leaves_tools_alone_that_have_answered(
    tmp_path: Path,
) -> None:
    dice, store = Dice(), NotingStore()
    async with on_stage(store, models=ModelRouter(WeighsTwice()), tools=dice.box) as t:
        _, events = await played(t, two_who_weigh())
    returned = [event for event in events if event.kind == kinds.TOOL_RETURNED][2]
    cut = MemoryStore()
    await cut.open(store.house_id)
    await cut.commit(store.batches[: _batch_of(store, returned)])
    await cut.close()
    async with on_stage(cut) as t:
        file = await t.export(returned.session_id, tmp_path / "cut.glass", role="director")
    dice.throws = 0

    async with on_stage(models=ModelRouter(WeighsTwice()), tools=dice.box) as t:
        imported = await t.import_file(file)
        again = await t.resume(imported.id, "as-was")
        await soon(t.run(again.id))
        story = await t.run_events(again.id)

    assert returned.payload["text"] in [event.payload.get("text") for event in story]
    assert dice.throws == sum(event.kind == kinds.TOOL_CALLED for event in story) - 3 > 0


def _batch_of(store: NotingStore, event: Event) -> int:
    """How many batches there are up to the one that holds an event."""
    events = 0
    for count, batch in enumerate(store.batches, start=1):
        events += sum(len(write.bodies) for write in batch.writes)
        if events >= (event.position or 0):
            return count
    raise AssertionError(event)


async def test_a_creature_that_is_another_uses_its_tools_and_one_that_has_not_heard_of_it_does_not() -> None:
    dice = Dice()
    async with on_stage(models=ModelRouter(WeighsTwice()), tools=dice.box) as t:
        _, events = await played(t, two_who_weigh())
        answers = {e.payload["text"] for e in events if e.kind == kinds.TOOL_RETURNED}
        begun = next(event for event in events if event.kind == kinds.TURN_STARTED)
        thrown = dice.throws

        branch = await t.branch(begun.session_id, begun.id, WhatIf(personas={"bo": "throws things"}))
        await soon(t.run(branch.id))

        own = [e for e in await t.run_events(branch.id) if e.run_id == branch.id]
        returned = [
            (e.turn, e.actor.partition("~")[0], e.payload["text"])
            for e in own
            if e.kind == kinds.TOOL_RETURNED
        ]
        as_then = [(turn, who) for turn, who, text in returned if text in answers]
        anew = [(turn, who) for turn, who, text in returned if text not in answers]
        assert dice.throws - thrown == len(anew) == 14
        assert as_then == [(1, "ada")] * 2
        assert anew[:2] == [(1, "bo")] * 2


async def test_tools_are_used_from_the_point_on_at_which_a_line_is_another() -> None:
    dice = Dice()
    async with on_stage(models=ModelRouter(WeighsTwice()), tools=dice.box) as t:
        run_id, events = await played(t, two_who_weigh())
        line = next(e for e in events if e.kind == kinds.AGENT_SPOKE and e.turn == 2)
        after = [e for e in events if e.kind == kinds.TOOL_CALLED and e.lamport > line.lamport]
        thrown = dice.throws

        branch = await t.branch(line.session_id, line.id, WhatIf(replace="A hen walks in."))
        await soon(t.run(branch.id))

        story = await t.run_events(branch.id)
        assert after
        assert dice.throws - thrown == sum(calls_in(story, branch.id).values()) > 0
        assert sum(calls_in(story, run_id).values()) + len(after) == sum(calls_in(events, run_id).values())


@pytest.mark.parametrize("rng_seed", [3, 4])
async def test_what_changed_the_graph_is_decided_anew_in_a_branch_and_comes_out_the_same(
    rng_seed: int,
) -> None:
    chance = random.Random(7)

    class Drawing(CountingTools):
        async def use(self, call: ToolCall, context: ToolContext) -> ToolAnswer:
            answer = await super().use(call, context)
            return ToolAnswer(True, f"{chance.random()}") if call.tool == "weigh" else answer

    tools = Drawing()
    async with on_stage(models=ModelRouter(Consulting()), tools=tools) as t:
        run = await t.open_world(rooms_with_tools(), rng_seed=rng_seed)
        await soon(t.run(run.id))
        events, digest = await t.run_events(run.id), await t.digest(run.id)
        edits = {e.caused_by for e in events if e.payload.get("is_edit")}
        tools.uses.clear()

        for event in events[:: max(1, len(events) // 25)]:
            branch = await t.branch(event.session_id, event.id)
            await soon(t.run(branch.id))
            assert await t.digest(branch.id) == digest, event

        used = [await t.event(name) for name in tools.uses]
        assert edits
        assert used
        assert "weigh" not in {event.payload["tool"] for event in used}


def tossing() -> tuple[list[str], Toolbox, Doing]:
    """A mind in Python that tosses a coin in each act, whatever it has heard, and says how that fell."""
    tossed: list[str] = []

    @tool
    def toss(coin: str) -> str:
        """Toss a coin."""
        tossed.append(coin)
        return f"{coin} fell on side {len(tossed)}"

    async def deed(moment: Moment) -> Draft:
        first = await moment.use("toss", coin="penny")
        second = await moment.use("toss", coin="dime")
        return Draft(kind=kinds.AGENT_SPOKE, payload={"text": f"{first.text}, {second.text}"})

    return tossed, Toolbox(toss), Doing(deed)


async def test_a_mind_in_python_gets_recorded_answers_as_long_as_it_sees_what_it_saw() -> None:
    tossed, box, mind = tossing()
    async with on_stage(None, {"ada": mind}, tools=box) as t:
        run_id, events = await played(
            t, world_of(ticking("ada", tools=("toss",)), hearing("bo"), governor={"max_turns": 3})
        )
        digest, count = await t.digest(run_id), len(tossed)

        for event in events:
            branch = await t.branch(event.session_id, event.id)
            await soon(t.run(branch.id))
            assert await t.digest(branch.id) == digest, event
        assert (len(tossed), count) == (6, 6)

        line = next(e for e in events if e.kind == kinds.AGENT_SPOKE and e.actor == "bo")
        other = await t.branch(line.session_id, line.id, WhatIf(replace="A hen walks in."))
        await soon(t.run(other.id))

        own = [e for e in await t.run_events(other.id) if e.run_id == other.id]
        assert len(tossed) - count == sum(e.kind == kinds.TOOL_CALLED for e in own) > 0


async def test_a_yes_that_was_given_stands_in_a_branch_in_which_nothing_differs() -> None:
    asked: list[Proposal] = []

    async def says_yes(proposal: Proposal) -> bool:
        asked.append(proposal)
        return len(asked) == 1

    async def deed(moment: Moment) -> None:
        if moment.turn == 1:
            await moment.use("group_remove_node", creature="moth")

    async with on_stage(None, {"lead": Doing(deed)}, tools=usual_tools(None, says_yes)) as t:
        run = await expedition(t, governor={"max_turns": 2, "max_calls_per_turn": 30})
        await t.disturb(run.id, "Send moth away.")
        await soon(t.run(run.id))
        events, digest = await t.run_events(run.id), await t.digest(run.id)

        spoken = next(index for index, event in enumerate(events) if event.kind == kinds.USER_INJECTED)
        for event in events[spoken :: max(1, len(events) // 10)]:
            branch = await t.branch(event.session_id, event.id)
            await soon(t.run(branch.id))
            assert await t.digest(branch.id) == digest, event

        decided = [e for e in events if e.kind == kinds.EDIT_DECIDED]
        assert [e.payload["is_approved"] for e in decided] == [True]
        assert len(asked) == 1


async def test_a_tool_that_is_not_the_engines_and_changed_the_graph_changes_that_of_a_branch_too() -> None:
    async def deed(call: ToolCall, context: ToolContext) -> ToolAnswer:
        mine = context.creature
        assert mine is not None
        intent = AddChannel(
            mine.graph_id, f"room-{len(context.folded.world.graphs[mine.graph_id].channels.owners)}"
        )
        return await context.edit(intent, lambda change, subject: ToolAnswer(is_ok=True, text="Opened."))

    async def opens(moment: Moment) -> None:
        await moment.use("lamp", how="low")

    box = OneTool(deed)
    async with on_stage(None, {"ada": Doing(opens)}, tools=box) as t:
        run_id, events = await played(t, world_of(ticking("ada", tools=("lamp",)), governor={"max_turns": 2}))
        first = next(event for event in events if event.kind == kinds.TURN_STARTED)

        branch = await t.branch(first.session_id, first.id)
        await soon(t.run(branch.id))
        replayed = await verify(t, run_id)

        assert await t.digest(branch.id) == await t.digest(run_id)
        assert {"room-1", "room-2"} <= set(t.graph(t.run_of(branch.id).graph_ids[0]).channels)
        assert replayed.is_same, (replayed.recorded_event, replayed.replayed_event)
