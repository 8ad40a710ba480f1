"""Calls of tools as facts: where they are told, what they name, and to whom nothing is told any more."""

import pytest

from glasshouse.errors import BadEvent, Refused
from glasshouse.events import kinds
from glasshouse.events.event import Draft
from glasshouse.events.payloads import ToolReturned
from glasshouse.manifests.manifest import Manifest
from glasshouse.world.decisions.acts import answer_result_bytes_max, answer_text_chars_max
from glasshouse.world.decisions.decide import decide
from glasshouse.world.decisions.intents import CallTool, FollowCall, Say
from tests.rules.worlds_by_hand import HandWorld, table


def called(made: HandWorld, who: str = "bo") -> str:
    line = made.say("ada", channel="stage")
    return made.do(CallTool(who, line.id, "lamp", {"how": "low"}, 1, {"thought": "Hm."})).events[0].id


def test_a_call_names_the_cause_of_its_act_and_an_answer_names_its_call() -> None:
    made = table("ada", "bo")

    call = called(made)
    returned = made.do(
        FollowCall("bo", call, ToolReturned("lamp", 1, is_ok=True, text="lit", result={"lux": 3}))
    ).events[0]

    first = next(event for event in made.ledger if event.id == call)
    assert (first.actor, first.channel, first.private) == ("bo", None, {"thought": "Hm."})
    assert returned.caused_by == call
    assert returned.payload == {
        "tool": "lamp",
        "number": 1,
        "is_ok": True,
        "text": "lit",
        "result": {"lux": 3},
    }


def test_an_answer_is_told_where_its_creature_is_then() -> None:
    made = table("ada", "bo")
    call = called(made)

    made.disconnect("ada", "bo")
    made.disconnect("bo", "ada")
    returned = made.do(FollowCall("bo", call, ToolReturned("lamp", 1, is_ok=False, text="dark"))).events[0]

    assert returned.graph_id == made.world.creatures["bo"].graph_id != made.world.creatures["ada"].graph_id


def test_one_who_is_gone_calls_nothing_and_is_told_nothing() -> None:
    made = table("ada", "bo", "cy")
    call = called(made)
    made.remove("bo")

    decision = decide(made.world, FollowCall("bo", call, ToolReturned("lamp", 1, is_ok=True, text="lit")))

    assert decision.writes == ()
    with pytest.raises(Refused, match="removed in the middle"):
        decide(made.world, CallTool("bo", call, "lamp", {}, 2))


@pytest.mark.parametrize("result", [object(), float("nan"), "x" * answer_result_bytes_max, {1: 2}, "\ud800"])
def test_telling_an_answer_never_fails_and_leaves_out_what_cannot_be_kept(result: object) -> None:
    made = table("ada", "bo")
    call = called(made)

    returned = made.do(
        FollowCall(
            "bo", call, ToolReturned("lamp", 1, is_ok=True, text="\ud800" + "x" * 99_999, result=result)
        )
    )

    payload = returned.events[0].payload
    assert "result" not in payload
    assert len(payload["text"]) == answer_text_chars_max


@pytest.mark.parametrize("kind", sorted(kinds.MID_ACT))
def test_no_draft_can_say_that_a_tool_was_used_or_an_edit_decided(kind: str) -> None:
    made = table("ada", "bo")

    with pytest.raises(Refused, match=r"[Oo]nly the engine writes"):
        made.do(Say("ada", (Draft(kind=kind, payload={"tool": "lamp"}),)))
    with pytest.raises(ValueError, match=r"[Oo]nly the engine writes"):
        Manifest(name="ada", may_emit=(kind,))


def test_arguments_that_are_no_data_are_refused_before_anything_is_told() -> None:
    made = table("ada", "bo")
    line = made.say("ada", channel="stage")

    with pytest.raises(BadEvent):
        made.do(CallTool("bo", line.id, "lamp", {"how": object()}, 1))
