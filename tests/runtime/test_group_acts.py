"""Group tools in real acts: an act that changes its graph ends in one event, and a replay gives the same."""

import pytest

from glasshouse import Manifest, MemoryStore, kinds
from glasshouse.runtime.tool_context import ToolContext
from glasshouse.terrarium import verify
from glasshouse.tools.group.group_tools import GroupTools
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall
from tests.rules.world.shape import check_folds_agree
from tests.runtime.group_calls import ORDER, Obedient, expedition, playing
from tests.runtime.stage_crew import Doing, events_of, hearing, ledger_of, words
from tests.runtime.test_group_approvals import Asked
from tests.runtime.troupe import line, soon

QUIET = {"moth": "Well.", "owl": "Well.", "fern": "Well.", "hermit": "Well.", "cartographer": "A map."}
ADD = {"tool": "group_add_node", "use": "cartographer"}
WIRE = {"tool": "group_wire", "action": "add", "source": "lead", "target": "cartographer"}
JOIN = {"tool": "group_channel", "action": "join", "creature": "hermit@hermit"}
LEAVE = {"tool": "group_channel", "action": "leave", "channel": "stage"}
STATUS = {"tool": "group_status", "scope": "graph"}
BOUNDED = {"max_calls_per_turn": 12, "max_turns": 3, "on_turn_limit": "defer"}


async def test_a_creature_woken_by_a_message_merges_its_own_graph_and_finishes_that_act() -> None:
    async with playing(Obedient(QUIET, calls=(JOIN,))) as t:
        run = await expedition(t, leader=hearing("lead"), cast=("moth",), governor=BOUNDED)
        await t.add_creature(Manifest(name="hermit", subscribes_to=(kinds.JUDGE_VERDICT,)), run=run.id)
        woken_by = await t.append("moth", line("Help!", "stage"))

        ended = await t.step_one()

        merged = t.creature("lead").graph_id
        assert t.creature("hermit").graph_id == merged
        assert ended is not None
        assert (ended.kind, ended.actor, ended.caused_by) == (kinds.AGENT_SPOKE, "lead", woken_by.id)
        assert ended.session_id == t.creature("lead").session_id
        called, returned = await events_of(t, kinds.TOOL_CALLED, kinds.TOOL_RETURNED)
        assert called.caused_by == woken_by.id
        assert called.session_id != ended.session_id
        assert returned.session_id == ended.session_id
        (merge,) = [e for e in await events_of(t, kinds.TOPOLOGY_CHANGED) if e.payload["kind"] == "merge"]
        assert merge.caused_by == called.id


async def test_a_creature_that_leaves_its_only_channel_finishes_its_act_alone() -> None:
    store = MemoryStore()
    async with playing(Obedient(QUIET, calls=(LEAVE,)), store=store) as t:
        await expedition(t, governor=BOUNDED)

        ended = await t.step_one()

        assert ended is not None
        assert (ended.kind, ended.actor) == (kinds.AGENT_SPOKE, "lead")
        assert t.graph(ended.graph_id).creature_ids == ("lead",)
        await check_folds_agree(t, store)


async def test_a_spawned_creature_answers_its_parent_and_draws_on_its_purse() -> None:
    async with playing(Obedient(QUIET, calls=(ADD, WIRE))) as t:
        run = await expedition(t, cast=(), policy={"population_max": 2}, governor={**BOUNDED, "max_turns": 2})

        await t.run(run.id)

        lines = [e for e in await events_of(t, kinds.AGENT_SPOKE) if e.actor == "cartographer"]
        assert lines
        assert {line.run_id for line in lines} == {run.id}
        assert t.creature("cartographer").parent == "lead"
        calls = [call for event in await ledger_of(t) for call in event.calls]
        (end,) = await events_of(t, kinds.RUN_FINISHED)
        assert end.payload["calls"] == len(calls)


async def test_what_a_tool_said_stands_in_the_next_prompt_of_the_act_and_in_no_other() -> None:
    model = Obedient(QUIET, calls=(ADD, STATUS))
    async with playing(model) as t:
        await expedition(t, cast=(), policy={"population_max": 2})

        await t.step_one()

        first, second, third = model.prompts[:3]
        assert "WHAT YOUR TOOLS SAID" not in first.user
        assert 'group_add_node {"use":"cartographer"} answered: "cartographer is born.' in second.user
        assert "group_add_node" in str(first.schema)
        assert "group_add_node" not in str(second.schema), "the population is full"
        assert 'group_status {"scope":"graph"} answered: "You are lead, in a graph of 2' in third.user


@pytest.mark.parametrize("says", [True, False, None])
async def test_a_run_with_edits_and_decisions_is_replayed_to_the_same_digest_and_nobody_is_asked(
    says: bool | None,
) -> None:
    lines = {name: text for name, text in QUIET.items() if name != "lead"}
    somebody = Asked(says)
    async with playing(Obedient(lines, calls=(ADD, STATUS)), GroupTools(somebody)) as t:
        run = await expedition(t, policy={"population_max": 5}, governor=BOUNDED)
        await t.disturb(run.id, ORDER)
        await t.run(run.id)
        asked = len(somebody.proposals)

        verified = await verify(t, run.id)

        assert asked
        assert verified.prompt_diffs == ()
        assert verified.recorded_event is None, (verified.recorded_event, verified.replayed_event)
        assert verified.is_same
        assert len(somebody.proposals) == asked


async def test_a_mind_in_python_is_offered_anew_after_each_tool_it_has_used() -> None:
    said: list[str] = []

    async def deed(moment: Moment) -> None:
        for tool, arguments in (
            ("group_add_node", {"use": "cartographer"}),
            ("group_wire", {"action": "add", "source": "lead", "target": "cartographer"}),
            ("group_stop_node", {"creature": "cartographer"}),
            ("group_start_node", {"creature": "cartographer"}),
        ):
            said.append((await moment.use(tool, **arguments)).text)

    async with playing(Obedient()) as t:
        await expedition(t, cast=("moth",))
        t._parts.minds.give("lead", Doing(deed))

        await t.step_one()

        assert said == [
            "cartographer is born. You speak with each other on the channel lead-cartographer.",
            "What lead says is handed to cartographer.",
            "cartographer rests.",
            "cartographer runs.",
        ]


class CutOff(GroupTools):
    """Group tools whose program ends right after an edit is in the ledger, or right before."""

    def __init__(self, *, is_after: bool) -> None:
        super().__init__()
        self.is_after = is_after

    async def use(self, call: ToolCall, context: ToolContext) -> ToolAnswer:
        if self.is_after:
            await super().use(call, context)
        raise KeyboardInterrupt


@pytest.mark.parametrize("is_after", [True, False])
async def test_an_edit_is_never_doubled_by_a_crash_and_the_act_goes_on(*, is_after: bool) -> None:
    store = MemoryStore()
    async with playing(Obedient(QUIET, calls=(ADD,)), CutOff(is_after=is_after), store) as t:
        run = await expedition(t, cast=(), governor=BOUNDED)
        with pytest.raises(KeyboardInterrupt):
            await t.step_one()
    model = Obedient(QUIET, calls=(ADD,))
    async with playing(model, store=store) as t:
        ended = await soon(t.step_one())

        assert ended is not None
        assert ended.kind == kinds.AGENT_SPOKE
        assert [creature.id for creature in t.creatures()] == ["lead", "cartographer"]
        assert len(await events_of(t, kinds.TOOL_CALLED)) == len(await events_of(t, kinds.TOOL_RETURNED)) == 1
        assert model.prompts[0].user.count("group_add_node {") == 1
        assert words(await ledger_of(t)) == ["Well."]
        assert run.id == ended.run_id
        await check_folds_agree(t, store)
