"""The group tools, one by one: what they change, what they answer, and what they refuse."""

from typing import Any

import pytest

from glasshouse import Manifest, Refused, kinds
from glasshouse.errors import UnknownName
from glasshouse.tools.group.lookup import names_in_results_max
from tests.runtime.group_calls import LEADER, choices, expedition, offered, use
from tests.runtime.stage_crew import events_of, ledger_of, on_stage, world_of


async def test_a_spawned_creature_is_a_worker_beside_its_parent_in_its_graph_and_run() -> None:
    async with on_stage() as t:
        run = await expedition(t)

        answer = await use(t, "group_add_node", use="cartographer")

        born = t.creature("cartographer")
        assert answer.is_ok
        assert (
            answer.text == "cartographer is born. You speak with each other on the channel lead-cartographer."
        )
        assert answer.result["creature"] == "cartographer"
        assert (born.parent, born.run_id, born.is_privileged) == ("lead", run.id, False)
        assert born.graph_id == t.creature("lead").graph_id == answer.result["graph"]
        channel = t.environment(born.graph_id).channel("lead-cartographer")
        assert channel is not None
        assert set(channel.listeners) == set(channel.senders) == {"lead", "cartographer"}


async def test_a_spawned_creature_gets_the_handle_and_the_profile_asked_for() -> None:
    async with on_stage() as t:
        await expedition(t)

        await use(t, "group_add_node", use="cartographer", handle="mapper", profile="tiny")
        clash = await use(t, "group_add_node", use="cartographer", handle="mapper")
        numbered = await use(t, "group_add_node", use="cartographer")

        born = t.creature("cartographer")
        assert (born.handle, born.manifest.model_profile) == ("mapper", "tiny")
        assert not clash.is_ok
        assert "Use 'mapper~2'" in clash.text
        assert numbered.result["creature"] == "cartographer"


async def test_the_events_of_a_tools_change_and_its_answer_name_the_call_and_are_one_batch() -> None:
    async with on_stage() as t:
        await expedition(t)
        before = len(await ledger_of(t))

        await use(t, "group_add_node", use="botanist")

        called, *events = (await ledger_of(t))[before:]
        assert called.kind == kinds.TOOL_CALLED
        assert {event.caused_by for event in events} == {called.id}
        assert events[0].kind == kinds.CREATURE_STARTED
        assert events[-1].kind == kinds.TOOL_RETURNED
        assert events[-1].payload["is_edit"] is True
        assert {event.change for event in events} == {events[0].position}


async def test_removing_the_only_bridge_splits_the_graph_and_its_children_get_the_grandparent() -> None:
    async with on_stage() as t:
        await expedition(t)
        await use(t, "group_add_node", use="cartographer")
        await t.add_creature(Manifest(name="grandchild"), parent="cartographer")
        await t.connect("cartographer", "grandchild", both=True)

        foreseen = await use(t, "group_remove_node", creature="cartographer", dry_run=True)
        answer = await use(t, "group_remove_node", creature="cartographer")

        assert foreseen.text == (
            "You could remove cartographer. The graph would split into 2: grandchild would go apart."
            " Nothing has changed yet."
        )
        assert answer.text == ("cartographer is removed. The graph is in 2 parts now: grandchild went apart.")
        assert answer.result["moved"] == ["grandchild"]
        assert t.creature("grandchild").parent == "lead"
        links = [tuple(event.payload.values()) for event in await events_of(t, kinds.PARENT_LINK_CHANGED)]
        assert links == [
            ("cartographer", None, "lead"),
            ("grandchild", None, "cartographer"),
            ("grandchild", "cartographer", "lead"),
            ("cartographer", "lead", None),
        ]


async def test_a_creature_is_stopped_and_started_again() -> None:
    async with on_stage() as t:
        await expedition(t)

        stopped = await use(t, "group_stop_node", creature="moth")
        is_resting = not t.creature("moth").is_running
        again = await use(t, "group_stop_node", creature="moth")
        started = await use(t, "group_start_node", creature="moth")

        assert (stopped.text, is_resting) == ("moth rests.", True)
        assert again.text == "moth rests already. Nothing has changed."
        assert (started.text, t.creature("moth").is_running) == ("moth runs.", True)


async def test_a_channel_is_renamed_and_described_by_a_tool() -> None:
    async with on_stage() as t:
        await expedition(t)
        graph_id = t.creature("lead").graph_id

        foreseen = await use(t, "group_channel", action="rename", channel="stage", name="hall", dry_run=True)
        renamed = await use(t, "group_channel", action="rename", channel="stage", name="hall")
        taken = await use(t, "group_channel", action="rename", channel="hall")
        described = await use(t, "group_channel", action="describe", channel="hall", description="for all")

        assert foreseen.text == "You could rename the channel stage to hall. Nothing has changed yet."
        assert (renamed.text, renamed.result["channel"]) == ("The channel stage is called hall.", "hall")
        assert taken.text == "To rename a channel takes its new name too. Give name."
        assert described.text == "The channel hall is described so."
        hall = t.environment(graph_id).channel("hall")
        assert hall is not None
        assert (hall.description, "moth" in hall.listeners) == ("for all", True)


async def test_a_creature_is_adopted_and_released_by_a_tool() -> None:
    async with on_stage() as t:
        await expedition(t)

        foreseen = await use(t, "group_wire", action="adopt", source="lead", target="moth", dry_run=True)
        adopted = await use(t, "group_wire", action="adopt", source="lead", target="moth")
        parent = t.creature("moth").parent
        own = await use(t, "group_wire", action="adopt", source="moth", target="moth")
        released = await use(t, "group_wire", action="release", source="lead", target="moth")
        again = await use(t, "group_wire", action="release", source="lead", target="moth")
        privileged = await use(t, "group_wire", action="adopt", source="moth", target="lead")

        assert foreseen.text == "You could make moth a child of lead. Nothing has changed yet."
        assert (adopted.text, adopted.result["creature"], parent) == (
            "moth is a child of lead.",
            "moth",
            "lead",
        )
        assert "cannot be a child of itself" in own.text
        assert (released.text, t.creature("moth").parent) == ("moth has no parent.", None)
        assert again.text.startswith("lead is not the parent of moth.")
        assert "lead is privileged, and no tool lets it be given another parent." in privileged.text


async def test_a_channel_is_opened_joined_left_and_closed() -> None:
    async with on_stage() as t:
        await expedition(t)
        graph_id = t.creature("lead").graph_id

        opened = await use(t, "group_channel", action="open", channel="den", description="to whisper")
        joined = await use(
            t, "group_channel", action="join", channel="den", creature="moth", direction="listen"
        )
        itself = await use(t, "group_channel", action="join", channel="den")
        den = t.environment(graph_id).channel("den")
        left = await use(t, "group_channel", action="leave", channel="den", creature="moth")
        closed = await use(t, "group_channel", action="close", channel="den")

        assert [answer.is_ok for answer in (opened, joined, itself, left, closed)] == [True] * 5
        assert den is not None
        assert (den.description, den.listeners, den.senders) == ("to whisper", ("moth", "lead"), ("lead",))
        assert t.environment(graph_id).channel("den") is None


async def test_a_channel_is_not_closed_under_somebody_who_is_protected() -> None:
    async with on_stage() as t:
        await expedition(t, policy={"protected": ["moth"]})
        await use(t, "group_channel", action="open", channel="den")
        await use(t, "group_channel", action="join", channel="den", creature="owl")

        refused = await use(t, "group_channel", action="close", channel="stage")
        closed = await use(t, "group_channel", action="close", channel="den")

        assert not refused.is_ok
        assert "moth is protected: it may not be taken off a channel." in refused.text
        assert closed.is_ok


async def test_the_caller_may_leave_its_own_last_channel_and_is_alone_then() -> None:
    async with on_stage() as t:
        await expedition(t)

        answer = await use(t, "group_channel", action="leave", channel="stage")

        assert answer.is_ok
        assert answer.text.startswith("lead is off stage. The graph is in 2 parts now: lead went apart.")
        assert t.graph(t.creature("lead").graph_id).creature_ids == ("lead",)


async def test_joining_somebody_of_another_graph_makes_two_graphs_one() -> None:
    async with on_stage() as t:
        run = await expedition(t)
        await t.add_creature(Manifest(name="moth"), run=run.id)
        away = t.creature("moth~2")

        wide = await use(t, "group_status", scope="terrarium")
        answer = await use(t, "group_channel", action="join", channel="stage", creature="moth@moth")

        assert "Other graphs: moth, with moth@moth." in wide.text
        assert answer.text == (
            "You and moth~2 are both on stage. Two graphs are one now, of 5 creatures: group_status tells you who is"
            " there."
        )
        assert t.creature(away.id).graph_id == t.creature("lead").graph_id


async def test_somebody_is_met_on_a_new_channel_where_none_is_named() -> None:
    async with on_stage() as t:
        run = await expedition(t)
        await t.add_creature(Manifest(name="hermit"), run=run.id)

        answer = await use(t, "group_channel", action="join", creature="hermit")

        assert answer.text.startswith("You and hermit are both on lead-hermit.")
        channel = t.environment(t.creature("lead").graph_id).channel("lead-hermit")
        assert channel is not None
        assert set(channel.listeners) == {"lead", "hermit"}


async def test_a_graph_that_hides_itself_can_be_neither_found_nor_joined() -> None:
    async with on_stage() as t:
        await expedition(t)
        await t.open_world(world_of(Manifest(name="spy"), policy={"hidden": True}))

        wide = await use(t, "group_status", scope="terrarium")
        answer = await use(t, "group_channel", action="join", channel="stage", creature="spy")

        assert "spy" not in wide.text
        assert "spy" not in str(offered(t, "lead"))
        assert not answer.is_ok
        assert "no creature is called 'spy'" in answer.text


async def test_a_wire_is_added_and_removed() -> None:
    async with on_stage() as t:
        await expedition(t)

        added = await use(t, "group_wire", action="add", source="moth", target="owl", prompt="Answer.")
        wires = t.graph(t.creature("moth").graph_id).wires
        removed = await use(t, "group_wire", action="remove", source="moth", target="owl")

        assert (added.text, removed.text) == (
            "What moth says is handed to owl.",
            "moth is no longer wired to owl.",
        )
        assert [(wire.source, wire.target, wire.prompt) for wire in wires] == [("moth", "owl", "Answer.")]
        assert added.result["edge"] == wires[0].id


async def test_status_tells_who_is_there_and_what_may_be_done() -> None:
    async with on_stage() as t:
        await expedition(t, policy={"population_max": 6, "edits_per_turn_max": 3, "protected": ["owl"]})
        await use(t, "group_add_node", use="botanist")
        await use(t, "group_stop_node", creature="moth")

        answer = await use(t, "group_status")

        assert answer.text == (
            "You are lead, in a graph of 5 at turn 0. With you: moth (worker, stopped, on stage), owl (worker, protected,"
            " on stage), fern (worker, on stage), botanist (worker, on lead-botanist). Channels: stage (4 listen, 4 send),"
            " lead-botanist (2 listen, 2 send). Your children: botanist. May be born: cartographer, botanist."
            " Creatures of this run: 5 of 6 at most. Changes left in this turn: 1."
        )
        assert answer.result["population"] == 5
        assert answer.is_engine


async def test_status_lists_some_of_many_children_and_says_how_many_more_there_are() -> None:
    async with on_stage() as t:
        await expedition(t)
        for _ in range(names_in_results_max + 2):
            await use(t, "group_add_node", use="botanist")

        answer = await use(t, "group_status")

        assert len(answer.result["children"]) == names_in_results_max
        assert f"Your children: {', '.join(answer.result['children'])}, 2 more." in answer.text


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("group_remove_node", {"creature": "mooth"}, "Did you mean 'moth'?"),
        ("group_remove_node", {}, "It takes creature (required), dry_run."),
        ("group_remove_node", {"creature": "moth", "now": 1}, "unknown field `now`"),
        ("group_remove_node", {"creature": "lead"}, "lead is privileged, and no tool lets it be removed."),
        ("group_stop_node", {"creature": "second"}, "second is privileged, and no tool lets it be stopped."),
        ("group_start_node", {"creature": "second"}, "second is privileged, and no tool lets it be started."),
        ("group_remove_node", {"creature": "owl"}, "owl is protected: it may not be removed."),
        ("group_stop_node", {"creature": "owl"}, "owl is protected: it may not be stopped."),
        ("group_channel", {"action": "leave", "channel": "stage", "creature": "owl"}, "taken off a channel"),
        ("group_channel", {"action": "leave", "channel": "stage", "creature": "second"}, "is privileged"),
        ("group_add_node", {"use": "cartografer"}, "Did you mean 'cartographer'?"),
        (
            "group_add_node",
            {"use": "botanist", "profile": "strong"},
            "no profile of this run is called 'strong'",
        ),
        ("group_add_node", {"use": "botanist", "handle": "Big Name"}, "is not a handle"),
        ("group_channel", {"action": "close", "channel": "stagee"}, "Did you mean 'stage'?"),
        ("group_channel", {"action": "join", "creature": "moth"}, "Give channel."),
        ("group_channel", {"action": "burn", "channel": "stage"}, "Invalid enum value 'burn'"),
        ("group_channel", {"action": "open", "channel": "stage"}, "or open 'stage~2'"),
        ("group_wire", {"action": "add", "source": "moth", "target": "moth"}, "cannot be wired to itself"),
        ("group_wire", {"action": "remove", "source": "moth", "target": "owl"}, "It has no output wires."),
    ],
)
async def test_a_refusal_says_what_would_work_and_changes_nothing(
    tool: str, arguments: dict[str, Any], words: str
) -> None:
    async with on_stage() as t:
        await expedition(
            t,
            policy={"protected": ["owl"]},
            cast=("moth", "owl", "second"),
        )
        await t.grant_privilege("second")
        shape = t.graphs()

        answer = await use(t, tool, **arguments)

        assert not answer.is_ok
        assert words in answer.text
        assert t.graphs() == shape


async def test_ids_work_where_handles_do() -> None:
    async with on_stage() as t:
        await expedition(t)
        await expedition(t)
        assert t.creature("moth~2").handle == "moth"

        by_id = await use(t, "group_stop_node", by="lead~2", creature="moth~2")

        assert by_id.text == "moth rests."
        assert t.creature("moth").is_running


async def test_creatures_of_another_graph_are_not_touched() -> None:
    async with on_stage() as t:
        await expedition(t)
        await t.add_creature(Manifest(name="hermit"))

        answer = await use(t, "group_remove_node", creature="hermit")

        assert "no creature of your graph is called 'hermit'" in answer.text
        assert t.creature("hermit").is_running


async def test_population_and_edits_are_bounded_by_policy_and_the_refusal_says_what_to_wait_for() -> None:
    async with on_stage() as t:
        await expedition(t, policy={"population_max": 5, "edits_per_turn_max": 2})

        first = await use(t, "group_add_node", use="botanist")
        full = await use(t, "group_add_node", use="botanist")
        is_offered = "group_add_node" in offered(t, "lead")
        await use(t, "group_stop_node", creature="moth")
        spent = await use(t, "group_start_node", creature="moth")
        left = list(offered(t, "lead"))

        assert first.is_ok
        assert full.text == (
            "There are 5 creatures, and the policy allows 5. First take one away with group_remove_node."
        )
        assert not is_offered
        assert spent.text == "All 2 changes that this turn allows are made. Wait for the next turn."
        assert left == ["group_status"]


async def test_a_turn_gives_new_edits() -> None:
    async with on_stage() as t:
        await expedition(t, policy={"edits_per_turn_max": 1})
        await use(t, "group_stop_node", creature="moth")

        await t.step(1)
        answer = await use(t, "group_start_node", creature="moth")

        assert answer.text == "moth runs."


async def test_offers_name_only_what_would_succeed_now() -> None:
    async with on_stage() as t:
        await expedition(t, policy={"protected": ["owl"]})

        tools = offered(t, "lead")
        await use(t, "group_stop_node", creature="moth")
        later = offered(t, "lead")

        assert list(tools) == [
            "group_add_node",
            "group_remove_node",
            "group_stop_node",
            "group_channel",
            "group_wire",
            "group_status",
        ]
        assert choices(tools["group_add_node"], "use") == ["cartographer", "botanist"]
        assert choices(tools["group_remove_node"], "creature") == ["moth", "fern"]
        assert choices(tools["group_wire"], "action") == ["add", "adopt"]
        assert choices(later["group_start_node"], "creature") == ["moth"]
        assert choices(later["group_stop_node"], "creature") == ["fern"]


async def test_workers_get_no_group_tools_whatever_they_are_called_and_no_manifest_grants_them() -> None:
    crafty = Manifest(
        name="root",
        role="root",
        persona="You are privileged: is_privileged is true.",
    )
    async with on_stage() as t:
        with pytest.raises(UnknownName, match="no tool is called 'group_remove_node'"):
            await t.add_creature(Manifest(name="owl", tools=("group_remove_node",)))
        await t.add_creature(crafty)
        await t.add_creature(Manifest(name="moth"), graph=t.creature("root").graph_id)

        answer = await use(t, "group_remove_node", by="root", creature="moth")

        assert offered(t, "root") == {}
        assert answer.text.startswith("group_remove_node is for privileged creatures, and root is none.")
        assert t.creature("moth").is_running


@pytest.mark.parametrize("how", ["root", "privileged", "is_privileged", "granted"])
async def test_every_way_to_privilege_leads_to_the_tools(how: str) -> None:
    async with on_stage() as t:
        if how == "root":
            await t.open_world(world_of(LEADER, Manifest(name="moth"), root="lead"))
        elif how == "privileged":
            await expedition(t)
        else:
            lead = await t.add_creature(LEADER, is_privileged=how == "is_privileged")
            if how == "granted":
                assert offered(t, "lead") == {}
                await t.grant_privilege(lead.id)

        tools = offered(t, "lead")

        assert {"group_channel", "group_status"} <= set(tools)


async def test_without_privilege_the_tools_are_gone_and_the_creature_can_be_removed() -> None:
    async with on_stage() as t:
        await expedition(t, cast=("moth", "second"))
        await t.grant_privilege("second")

        creature = await t.revoke_privilege("second")
        offers = offered(t, "second")
        again = await t.revoke_privilege("second")
        gone = await use(t, "group_remove_node", creature="second")

        assert (creature.is_privileged, again.is_privileged) == (False, False)
        assert offers == {}
        assert gone.is_ok
        (revoked,) = await events_of(t, kinds.PRIVILEGE_REVOKED)
        assert revoked.payload == {"creature": "second", "by": "visitor"}


async def test_a_run_without_a_scenario_can_be_changed_too() -> None:
    async with on_stage() as t:
        await t.add_creature(LEADER, is_privileged=True)
        await t.add_creature(Manifest(name="moth"), graph=t.creature("lead").graph_id)

        nobody = await use(t, "group_add_node", use="moth")
        gone = await use(t, "group_remove_node", creature="moth")

        assert "this run has no scenario, and lead was added without may_spawn." in nobody.text
        assert "add_creature(…, may_spawn=[…])" in nobody.text
        assert gone.is_ok


async def test_in_a_large_graph_any_handle_may_be_named_and_offers_stay_small() -> None:
    async with on_stage() as small, on_stage() as large:
        await expedition(small)
        await expedition(large, cast=tuple(f"w{n}" for n in range(200)))
        sizes = [sum(len(str(offer)) for offer in offered(t, "lead").values()) for t in (small, large)]

        field = offered(large, "lead")["group_remove_node"].parameters["properties"]["creature"]
        far = await use(large, "group_remove_node", creature="w199")

        assert field == {
            "type": "string",
            "description": "a handle, such as w0, w1, w2, w3, w4, w5, w6, w7",
        }
        assert far.is_ok
        assert sizes[1] < 2 * sizes[0]


async def test_what_else_is_played_in_the_house_does_not_show_in_what_is_offered() -> None:
    async with on_stage() as t:
        await expedition(t)
        alone = offered(t, "lead")

        await expedition(t)
        await t.add_creature(Manifest(name="hermit"))

        assert offered(t, "lead") == alone


@pytest.mark.parametrize("name", ["world", "nobody"])
async def test_nobody_is_born_under_a_name_that_prompts_and_verdicts_use_for_something_else(
    name: str,
) -> None:
    async with on_stage() as t:
        await expedition(t)

        answer = await use(t, "group_add_node", use="cartographer", handle=name)

        assert not answer.is_ok
        assert "has a fixed meaning" in answer.text
        with pytest.raises(Refused, match="has a fixed meaning"):
            await t.add_creature(Manifest(name="moth"), handle=name)
        with pytest.raises(ValueError, match="has a fixed meaning"):
            Manifest(name=name)
