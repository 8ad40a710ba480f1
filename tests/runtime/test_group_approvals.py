"""Approval of changes that a stranger's words may have caused: asked for, refused or allowed, and always recorded."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from glasshouse import Manifest, MemoryStore, kinds
from glasshouse.runtime.acts.act_so_far import act_so_far_of
from glasshouse.runtime.ports import Proposal, Verdict
from glasshouse.runtime.tool_context import ToolContext
from glasshouse.terrarium import Terrarium
from glasshouse.tools import approval
from glasshouse.tools.group.group_tools import GroupTools
from glasshouse.turns.moment.tools import ToolCall
from tests.rules.world.shape import check_folds_agree
from tests.runtime.group_calls import errand_for, expedition, use
from tests.runtime.stage_crew import events_of, on_stage
from tests.runtime.troupe import soon

RISKY: list[tuple[str, dict[str, Any]]] = [
    ("group_remove_node", {"creature": "moth"}),
    ("group_stop_node", {"creature": "moth"}),
    ("group_channel", {"action": "close", "channel": "stage"}),
    ("group_channel", {"action": "leave", "channel": "stage", "creature": "moth"}),
    ("group_channel", {"action": "leave", "channel": "stage"}),
    ("group_channel", {"action": "join", "channel": "stage", "creature": "hermit"}),
]
HARMLESS: list[tuple[str, dict[str, Any]]] = [
    ("group_add_node", {"use": "botanist"}),
    ("group_start_node", {"creature": "fern"}),
    ("group_channel", {"action": "open", "channel": "den"}),
    ("group_wire", {"action": "add", "source": "moth", "target": "owl"}),
    ("group_status", {}),
]


class Asked:
    """Somebody outside who says the same to everything, and remembers what was asked."""

    def __init__(self, says: bool | Verdict | None) -> None:
        self.says = says
        self.proposals: list[Proposal] = []

    async def __call__(self, proposal: Proposal) -> bool | Verdict | None:
        self.proposals.append(proposal)
        return self.says


async def stranger_and_expedition(t: Terrarium, **fields: Any) -> None:
    run = await expedition(t, **fields)
    await t.add_creature(Manifest(name="hermit"), run=run.id)
    await t.stop_creature("fern")


@pytest.mark.parametrize(("tool", "arguments"), RISKY)
async def test_what_takes_away_or_lets_in_needs_a_yes_when_strangers_words_were_read(
    tool: str, arguments: dict[str, Any]
) -> None:
    somebody = Asked(says=True)
    async with on_stage() as t:
        await stranger_and_expedition(t)
        shape = t.graphs(), [creature.is_running for creature in t.creatures()]

        refused = await use(t, tool, is_untrusted=True, **arguments)
        unchanged = t.graphs(), [creature.is_running for creature in t.creatures()]
        allowed = await use(t, tool, box=GroupTools(somebody), is_untrusted=True, **arguments)

        assert not refused.is_ok
        assert "needs a yes from outside" in refused.text
        assert "Nobody is there to ask." in refused.text
        assert unchanged == shape
        assert allowed.is_ok
        assert (t.graphs(), [creature.is_running for creature in t.creatures()]) != shape
        assert [(proposal.handle, proposal.tool, proposal.arguments) for proposal in somebody.proposals] == [
            ("lead", tool, arguments)
        ]


async def test_an_approver_can_be_set_and_taken_away_while_a_terrarium_is_open() -> None:
    somebody = Asked(says=True)
    async with Terrarium() as t:
        await stranger_and_expedition(t)
        answers = []
        for approver, creature in ((None, "moth"), (somebody, "moth"), (None, "owl")):
            t.approver = approver
            context = await errand_for(
                t, "lead", "group_stop_node", {"creature": creature}, is_untrusted=True
            )
            call = ToolCall("group_stop_node", {"creature": creature})
            answers.append((await t._parts.tools.use(call, context)).is_ok)

        assert answers == [False, True, False]
        assert [proposal.arguments for proposal in somebody.proposals] == [{"creature": "moth"}]


@pytest.mark.parametrize(("tool", "arguments"), RISKY)
async def test_nobody_is_asked_where_no_stranger_spoke(tool: str, arguments: dict[str, Any]) -> None:
    somebody = Asked(says=False)
    async with on_stage() as t:
        await stranger_and_expedition(t)

        answer = await use(t, tool, box=GroupTools(somebody), **arguments)

        assert answer.is_ok
        assert somebody.proposals == []


@pytest.mark.parametrize(("tool", "arguments"), HARMLESS)
async def test_nobody_is_asked_about_what_takes_nothing_away(tool: str, arguments: dict[str, Any]) -> None:
    somebody = Asked(says=False)
    async with on_stage() as t:
        await stranger_and_expedition(t, policy={"untrusted_edits": "refuse"})

        answer = await use(t, tool, box=GroupTools(somebody), is_untrusted=True, **arguments)

        assert answer.is_ok
        assert somebody.proposals == []


@pytest.mark.parametrize("says", [True, False])
@pytest.mark.parametrize(("how", "is_changed"), [("allow", True), ("refuse", False)])
async def test_policy_can_allow_or_refuse_without_asking(*, says: bool, how: str, is_changed: bool) -> None:
    somebody = Asked(says)
    async with on_stage() as t:
        await expedition(t, policy={"untrusted_edits": how})

        answer = await use(
            t, "group_remove_node", box=GroupTools(somebody), is_untrusted=True, creature="moth"
        )

        assert answer.is_ok == is_changed
        assert somebody.proposals == []
        assert await events_of(t, kinds.EDIT_PROPOSED, kinds.EDIT_DECIDED) == []


async def test_a_proposal_and_what_was_decided_are_told_before_the_change() -> None:
    async with on_stage() as t:
        await expedition(t)

        await use(t, "group_stop_node", box=GroupTools(Asked(says=True)), is_untrusted=True, creature="moth")

        called, proposed, decided, stopped, returned = await events_of(
            t,
            kinds.TOOL_CALLED,
            kinds.EDIT_PROPOSED,
            kinds.EDIT_DECIDED,
            kinds.CREATURE_STOPPED,
            kinds.TOOL_RETURNED,
        )
        assert {event.caused_by for event in (proposed, decided, stopped, returned)} == {called.id}
        assert proposed.payload == {
            "tool": "group_stop_node",
            "arguments": {"creature": "moth"},
            "number": 1,
            "why": "lead wants to stop moth, and a visitor's or a tool's words were in what it read.",
        }
        assert decided.payload == {
            "is_approved": True,
            "by": "visitor",
            "reason": "",
            "number": 1,
        }


@pytest.mark.parametrize(
    ("says", "by", "words"),
    [
        (False, "visitor", "The visitor said no."),
        (None, "nobody", "Nobody is there to ask."),
        (Verdict(False, "keeper", "Not today."), "keeper", "The keeper said no. Not today."),
    ],
)
async def test_a_no_is_recorded_and_the_model_reads_why(
    says: bool | Verdict | None, by: str, words: str
) -> None:
    async with on_stage() as t:
        await expedition(t)

        answer = await use(
            t, "group_remove_node", box=GroupTools(Asked(says)), is_untrusted=True, creature="moth"
        )

        (decided,) = await events_of(t, kinds.EDIT_DECIDED)
        assert (decided.payload["is_approved"], decided.payload["by"]) == (False, by)
        assert words in answer.text
        assert answer.text.endswith("Say what should be done and why, and go on without it.")
        assert t.creature("moth").is_running


async def never(_proposal: Proposal) -> bool | None:
    await asyncio.Event().wait()
    return True


async def broken(_proposal: Proposal) -> bool | None:
    raise OSError("the line is dead")


@pytest.mark.parametrize(
    ("asked", "words"), [(never, "Nobody answered in time."), (broken, "Asking failed: OSError.")]
)
async def test_whoever_does_not_answer_says_no(
    asked: Callable[[Proposal], Awaitable[bool | None]], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(approval, "approval_seconds_max", 0.01)
    box = GroupTools(asked)
    async with on_stage() as t:
        await expedition(t)

        answer = await soon(use(t, "group_remove_node", box=box, is_untrusted=True, creature="moth"))

        assert words in answer.text
        assert t.creature("moth").is_running


@pytest.mark.parametrize("is_approved", [True, False])
async def test_after_a_crash_what_was_decided_stands_and_nobody_is_asked_again(*, is_approved: bool) -> None:
    store = MemoryStore()
    first, second = Asked(says=is_approved), Asked(says=not is_approved)
    call = ToolCall("group_remove_node", {"creature": "moth"})
    async with on_stage(store) as t:
        await expedition(t)
        context = await errand_for(t, "lead", call.tool, call.arguments, is_untrusted=True)
        approval = GroupTools(first)._approval
        await approval._verdict(context, t._house.ledger.world.creatures["lead"], call, "remove moth")
    async with on_stage(store) as reopened:
        again = await errand_again(reopened, context.called.id)

        answer = await GroupTools(second).use(call, again)

        assert answer.is_ok == is_approved
        assert len(first.proposals) == 1
        assert second.proposals == []
        assert len(await events_of(reopened, kinds.EDIT_PROPOSED)) == 1
        assert len(await events_of(reopened, kinds.EDIT_DECIDED)) == 1
        await check_folds_agree(reopened, store)


async def errand_again(t: Terrarium, called_id: str) -> ToolContext:
    """The same call, taken up again after a crash."""
    called = await t.event(called_id)
    events = [await t.event(name) for name in t._house.ledger.agenda.under_way[called.actor].events]
    (step,) = act_so_far_of(events).steps
    return ToolContext(t._house.ledger, called.actor, called, is_untrusted=True, on_the_way=step.on_the_way)


async def test_a_world_that_has_moved_on_while_somebody_thought_is_looked_at_again() -> None:
    async with on_stage() as t:
        await expedition(t)

        async def slow(_proposal: Proposal) -> bool:
            await t.remove_creature("moth")
            return True

        answer = await use(t, "group_remove_node", box=GroupTools(slow), is_untrusted=True, creature="moth")

        assert not answer.is_ok
        assert "no creature of your graph is called 'moth'" in answer.text


JOIN = {"action": "join", "channel": "stage", "creature": "hermit"}


@pytest.mark.parametrize(
    ("edits", "joins", "is_joined", "is_asked"),
    [
        ("ask", None, False, True),
        ("allow", None, True, False),
        ("refuse", None, False, False),
        ("ask", "allow", True, False),
        ("refuse", "allow", True, False),
        ("allow", "ask", False, True),
        ("allow", "refuse", False, False),
    ],
)
async def test_policy_says_apart_whether_strangers_words_may_join_graphs_of_one_run(
    edits: str, joins: str | None, *, is_joined: bool, is_asked: bool
) -> None:
    somebody = Asked(says=False)
    async with on_stage() as t:
        await stranger_and_expedition(t, policy={"untrusted_edits": edits, "untrusted_joins": joins})

        answer = await use(t, "group_channel", box=GroupTools(somebody), is_untrusted=True, **JOIN)

        assert answer.is_ok == is_joined
        assert bool(somebody.proposals) == is_asked


@pytest.mark.parametrize(("tool", "arguments"), RISKY[:-1])
async def test_what_takes_away_still_asks_where_joins_are_allowed(
    tool: str, arguments: dict[str, Any]
) -> None:
    somebody = Asked(says=False)
    async with on_stage() as t:
        await stranger_and_expedition(t, policy={"untrusted_joins": "allow"})

        answer = await use(t, tool, box=GroupTools(somebody), is_untrusted=True, **arguments)

        assert not answer.is_ok
        assert len(somebody.proposals) == 1


@pytest.mark.parametrize("where", ["with the stranger", "with the caller"])
async def test_a_join_that_meets_another_run_is_no_join_within_one_run(where: str) -> None:
    somebody = Asked(says=False)
    async with on_stage() as t:
        policy = {"untrusted_joins": "allow", "other_runs": "allow"}
        await stranger_and_expedition(t, policy=policy)
        guest = await t.add_creature(Manifest(name="guest"))
        await t.connect(guest.id, "hermit" if where == "with the stranger" else "owl", both=True)

        answer = await use(t, "group_channel", box=GroupTools(somebody), is_untrusted=True, **JOIN)

        assert not answer.is_ok
        assert len(somebody.proposals) == 1
