"""What may surprise whoever plays a sound world."""

from __future__ import annotations

from typing import Any

import pytest

from glasshouse.manifests import Manifest, Scenario, load_world
from glasshouse.manifests.advice import advice_on
from glasshouse.manifests.loops import Waking, loops_in
from glasshouse.manifests.world_folders import bundled_worlds


def cast(**creatures: dict[str, Any]) -> dict[str, Manifest]:
    return {name: Manifest(name=name, **fields) for name, fields in creatures.items()}


def world(manifests: dict[str, Manifest], **fields: Any) -> Scenario:
    kinds = {kind: {"text": "string"} for kind in ("clue.found", "doubt.raised")}
    return Scenario.model_validate({"name": "w", "cast": [*manifests], "kinds": kinds, **fields})


def advice(manifests: dict[str, Manifest], **fields: Any) -> list[str]:
    return [complaint.text for complaint in advice_on(world(manifests, **fields), manifests)]


TALKER = {"subscribes_to": ["agent.spoke"]}


def test_two_who_answer_each_other_are_a_loop_and_two_ways_out_are_told() -> None:
    (text,) = advice(cast(ada=TALKER, bo=TALKER))

    assert text == (
        "ada wakes bo by agent.spoke, bo wakes ada by agent.spoke: nothing ends this by itself, so each turn takes its 16 calls"
        " (max_calls_per_turn), and the run its whole budget. Two ways out: let one of them tick (schedule: {tick_every: 1})"
        " instead of hearing that kind, or let it answer in a kind that the other does not hear (may_emit)."
    )


def test_with_finish_the_advice_tells_when_the_run_ends() -> None:
    (text,) = advice(
        cast(ada=TALKER, bo=TALKER), governor={"on_turn_limit": "finish", "max_calls_per_turn": 7}
    )

    assert "the run ends in the first turn that takes 7 calls" in text


def test_a_long_loop_is_told_in_part() -> None:
    (text,) = advice(cast(**dict.fromkeys(["ada", "bo", "cy"], TALKER)))

    assert text.startswith(
        "ada wakes bo by agent.spoke, ada wakes cy by agent.spoke, bo wakes ada by agent.spoke, and 3 more:"
    )


@pytest.mark.parametrize(
    ("ada", "bo"),
    [
        (TALKER, {"subscribes_to": []}),
        (TALKER, {"subscribes_to": ["user.injected"], "schedule": {"tick_every": 1}}),
        ({**TALKER, "may_emit": ["clue.found"]}, TALKER),
        ({"subscribes_to": ["doubt.raised"], "may_emit": ["clue.found", "agent.spoke"]},
         {"subscribes_to": ["clue.found"], "may_emit": ["doubt.raised"]}),
        (TALKER, {**TALKER, "played_by": "visitor"}),
    ],
    ids=["one is deaf", "one ticks", "another kind", "a way out", "a visitor"],
)  # fmt: skip
def test_a_chain_that_can_end_is_no_loop(ada: dict[str, Any], bo: dict[str, Any]) -> None:
    manifests = cast(ada=ada, bo=bo)

    assert loops_in(world(manifests), manifests) == []


def test_a_circle_over_several_kinds_that_nobody_can_leave_is_a_loop() -> None:
    manifests = cast(
        ada={"subscribes_to": ["doubt.raised"], "may_emit": ["clue.found"]},
        bo={"subscribes_to": ["clue.found"], "may_emit": ["doubt.raised"]},
        cy={"subscribes_to": ["clue.found"], "may_emit": ["agent.spoke"]},
    )

    assert loops_in(world(manifests), manifests) == [
        [Waking("ada", "bo", "clue.found"), Waking("bo", "ada", "doubt.raised")]
    ]


def test_who_does_not_hear_the_channel_is_not_woken() -> None:
    manifests = cast(ada=TALKER, bo=TALKER)
    apart = [
        {"use": "ada", "channels": {"listen": ["attic"], "send": ["hall"]}},
        {"use": "bo", "channels": {"listen": ["hall"], "send": ["hall"]}},
    ]

    assert loops_in(world(manifests, cast=apart, channels={"attic": "", "hall": ""}), manifests) == []


def test_a_wire_wakes_its_target_by_every_line() -> None:
    manifests = cast(ada={"subscribes_to": []}, bo={"subscribes_to": []})
    wired = [{"use": "ada", "wires": ["bo"]}, {"use": "bo", "wires": ["ada"]}]

    assert loops_in(world(manifests, cast=wired), manifests) == [
        [Waking("ada", "bo", "agent.spoke"), Waking("bo", "ada", "agent.spoke")]
    ]


def test_more_ticks_than_a_full_turn_keeps_calls_for_are_told() -> None:
    ticking = {"subscribes_to": [], "schedule": {"tick_every": 2}}

    (text,) = advice(cast(**{f"t{n}": ticking for n in range(3)}), governor={"max_calls_per_turn": 5})

    assert text == (
        "in turn 2, 3 creatures tick. A full turn of 5 calls keeps 2 for ticks, so the others tick later."
        " Write max_calls_per_turn: 6 or more."
    )


@pytest.mark.parametrize("name", [world.name for world in bundled_worlds()])
def test_nothing_surprises_in_a_bundled_world(name: str) -> None:
    loaded = load_world(name)

    assert [*advice_on(loaded.scenario, loaded.manifests)] == []
