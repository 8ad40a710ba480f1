"""Joining creatures of another run by a tool: one rule, `policy.other_runs`, however many names are offered."""

from typing import Any

import pytest

from glasshouse import Manifest, kinds
from glasshouse.runtime.replay.replay import verified
from glasshouse.terrarium import Terrarium
from glasshouse.tools.group.group_tools import GroupTools
from glasshouse.turns.moment.moment import Moment
from tests.runtime.group_calls import LEADER, Obedient, expedition, offered, playing, use
from tests.runtime.stage_crew import Doing, events_of, hearing, on_stage, world_of
from tests.runtime.test_group_approvals import Asked

JOIN: dict[str, Any] = {"action": "join", "channel": "stage", "creature": "medic@medic"}
SMALL = ("moth", "owl")
LARGE = tuple(f"w{number}" for number in range(40))


async def two_runs(
    t: Terrarium, mine: str = "ask", theirs: str = "ask", cast: tuple[str, ...] = SMALL
) -> None:
    await expedition(t, cast=cast, policy={"other_runs": mine})
    medics = [hearing("medic"), hearing("nurse")]
    await t.open_world(world_of(*medics, policy={"other_runs": theirs}))


def are_one(t: Terrarium) -> bool:
    return t.creature("lead").graph_id == t.creature("medic").graph_id


async def joined_in_an_act(t: Terrarium) -> str:
    """What the leader is told when it joins the other run in its act."""
    said: list[str] = []

    async def deed(moment: Moment) -> None:
        said.append((await moment.use("group_channel", **JOIN)).text)

    t._parts.minds.give("lead", Doing(deed))
    event = await t.step_one()
    assert event is not None
    assert event.kind == kinds.AGENT_SPOKE, event.payload
    return said[0]


@pytest.mark.parametrize("cast", [SMALL, LARGE], ids=["few names", "many names"])
@pytest.mark.parametrize(
    ("mine", "theirs", "is_joined", "is_asked"),
    [
        ("allow", "allow", True, False),
        ("allow", "ask", True, True),
        ("ask", "allow", True, True),
        ("ask", "ask", True, True),
        ("allow", "refuse", False, False),
        ("refuse", "allow", False, False),
        ("refuse", "ask", False, False),
    ],
)
async def test_the_stricter_policy_of_both_runs_decides_however_large_the_graph_is(
    cast: tuple[str, ...], mine: str, theirs: str, is_joined: bool, is_asked: bool
) -> None:
    somebody = Asked(says=True)
    async with playing(Obedient(), GroupTools(somebody)) as t:
        await two_runs(t, mine, theirs, cast)

        said = await joined_in_an_act(t)

        assert are_one(t) is is_joined
        assert bool(somebody.proposals) is is_asked
        assert ("policy refuses to join them" in said) is not is_joined


@pytest.mark.parametrize("cast", [SMALL, LARGE], ids=["few names", "many names"])
async def test_where_nobody_is_there_to_ask_another_run_is_not_joined(cast: tuple[str, ...]) -> None:
    async with playing(Obedient()) as t:
        await two_runs(t, cast=cast)

        said = await joined_in_an_act(t)

        assert not are_one(t)
        assert "needs a yes from outside, because creatures of another run are there." in said
        assert "Nobody is there to ask." in said


async def test_a_model_joins_whom_group_status_named_and_the_run_replays_without_asking_again() -> None:
    somebody = Asked(says=True)
    look = {"tool": "group_status", "scope": "terrarium"}
    model = Obedient(calls=(look, {"tool": "group_channel", **JOIN}))
    async with playing(model, GroupTools(somebody)) as t:
        await two_runs(t)
        run = t.runs()[0]

        await t.step_one()
        again = await verified(t._house, t._parts.tools, run.id)

        assert are_one(t)
        assert [proposal.why for proposal in somebody.proposals] == [
            "lead wants to join medic's graph, and creatures of another run are there."
        ]
        assert again.is_same, (again.recorded_event, again.replayed_event)


async def test_both_doubts_are_told_to_whoever_is_asked_once() -> None:
    somebody = Asked(says=True)
    async with on_stage() as t:
        await two_runs(t)

        await use(t, "group_channel", box=GroupTools(somebody), is_untrusted=True, **JOIN)

        assert are_one(t)
        assert [proposal.why for proposal in somebody.proposals] == [
            (
                "lead wants to join medic's graph, and a visitor's or a tool's words were in what it read and"
                " creatures of another run are there."
            )
        ]
        assert len(await events_of(t, kinds.EDIT_PROPOSED)) == 1


async def test_a_visitors_words_still_count_where_other_runs_are_allowed() -> None:
    async with on_stage() as t:
        await two_runs(t, "allow", "allow")

        refused = await use(t, "group_channel", is_untrusted=True, **JOIN)
        joined = await use(t, "group_channel", **JOIN)

        assert "needs a yes from outside" in refused.text
        assert joined.is_ok


async def test_status_and_offers_name_only_what_may_be_joined() -> None:
    async with on_stage() as t:
        await two_runs(t, "ask", "refuse")
        await t.open_world(world_of(Manifest(name="scout"), policy={"other_runs": "ask"}))

        status = await use(t, "group_status", scope="terrarium")

        assert "medic" not in status.text
        assert "scout, with scout@scout (of another run: joining needs a yes from outside)" in status.text
        assert status.result["others"] == [
            {"name": "scout", "creatures_count": 1, "creatures": ["scout@scout"], "is_asked": True}
        ]
        assert "medic" not in str(offered(t, "lead"))


async def test_a_graph_of_the_own_run_is_not_offered_while_a_run_in_it_refuses() -> None:
    async with on_stage() as t:
        await two_runs(t, "allow", "refuse")
        await t.add_creature(hearing("kin"), run=t.creature("lead").run_id)
        alone = "kin@kin" in str(offered(t, "lead"))

        await t.connect("kin", "medic")
        answer = await use(t, "group_channel", action="join", channel="stage", creature="kin")

        assert alone
        assert "kin" not in str(offered(t, "lead"))
        assert "policy refuses to join them" in answer.text


async def test_a_dry_run_says_that_somebody_will_be_asked() -> None:
    async with on_stage() as t:
        await two_runs(t)

        answer = await use(t, "group_channel", dry_run=True, **JOIN)

        assert answer.text.endswith("Somebody outside must say yes first. Nothing has changed yet.")
        assert await events_of(t, kinds.EDIT_PROPOSED) == []


async def test_graphs_of_one_run_join_as_before() -> None:
    async with on_stage() as t:
        run = await expedition(t, leader=LEADER, policy={"other_runs": "refuse"})
        await t.add_creature(hearing("kin"), run=run.id)

        answer = await use(t, "group_channel", action="join", channel="stage", creature="kin@kin")

        assert answer.is_ok


async def test_a_misspelt_name_is_answered_with_the_one_that_was_meant() -> None:
    said: list[str] = []

    async def deed(moment: Moment) -> None:
        joined = await moment.use("group_channel", action="join", channel="stage", creature="mooth")
        said.append(joined.text)

    async with playing(Obedient()) as t:
        await expedition(t)
        t._parts.minds.give("lead", Doing(deed))

        await t.step_one()

        assert "Did you mean 'moth'?" in said[0]


@pytest.mark.parametrize(("rule", "is_open"), [("allow", True), ("ask", False), ("refuse", False)])
async def test_where_other_runs_are_allowed_the_schema_takes_their_names(rule: str, *, is_open: bool) -> None:
    async with on_stage() as t:
        await two_runs(t, rule, "allow")

        field = offered(t, "lead")["group_channel"].parameters["properties"]["creature"]

        assert (field.get("type") == "string") is is_open
        assert "medic" not in str(field)


async def test_one_who_is_alone_and_on_no_channel_may_join_another_run_too() -> None:
    said: list[str] = []

    async def deed(moment: Moment) -> None:
        said.append((await moment.use("group_channel", action="join", creature="medic@medic")).text)

    async with playing(Obedient(), GroupTools(Asked(says=True))) as t:
        await t.open_world(world_of(hearing("medic")))
        await t.add_creature(LEADER, agent=Doing(deed), is_privileged=True)

        await t.step_one(t.creature("lead").graph_id)

        assert said[0].startswith("You and medic are both on lead-medic.")
        assert are_one(t)


async def test_a_name_means_the_creature_of_the_own_run_where_several_runs_have_it() -> None:
    async with on_stage() as t:
        for _ in range(2):
            run = await expedition(t, cast=SMALL)
            await t.add_creature(hearing("kin"), run=run.id)

        answer = await use(
            t, "group_channel", by="lead~2", action="join", channel="stage", creature="kin@kin"
        )

        assert answer.is_ok, answer.text
        assert t.creature("kin~2").graph_id == t.creature("lead~2").graph_id
