"""Wires at work: what goes over them, what is asked, and who was handed what."""

import msgspec
import pytest

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.event import Draft
from glasshouse.turns.runs.agenda import Agenda
from glasshouse.world.decisions.intents import AddWire, Say
from glasshouse.world.hearing.wires import Handed, asked_chars_max, handed, prompt_chars_max
from glasshouse.world.state.values import Wire
from tests.rules.events.events_by_hand import an_event
from tests.rules.worlds_by_hand import HandWorld, payloads_of, table

EMITS = (kinds.AGENT_SPOKE, kinds.AGENT_THOUGHT, kinds.AGENT_PASSED, "answer.given")


def pair(**options: object) -> HandWorld:
    """ada and bo in one graph where bo hears nothing, with a wire from ada to bo."""
    made = HandWorld()
    made.add("ada", emits=EMITS)
    made.add("bo", hears=())
    made.connect("bo", "ada", "stage")
    made.do(AddWire("ada", "bo", **options))  # type: ignore[arg-type]
    return made


def handed_to_bo(made: HandWorld) -> list[Handed | None]:
    return [owed.handed for owed in made.agenda.owed["bo"].values()]


def test_a_wire_with_other_options_replaces_the_one_that_is_there() -> None:
    made = pair()

    again = made.do(AddWire("ada", "bo"))
    other = made.do(AddWire("ada", "bo", with_content=False))

    assert again.events == []
    assert [payload["reason"] for payload in payloads_of(other, kinds.OUTPUT_WIRE_REMOVED)] == ["replaced"]
    assert [wire.with_content for wire in made.world.wires.values()] == [False]


def test_a_line_goes_over_a_wire_when_its_condition_holds() -> None:
    made = pair(when="kind is agent.spoke and text has lantern")

    made.say("ada", "A lamp.")
    lantern = made.say("ada", "A Lantern!")
    made.say("ada", "No lantern.", kind="answer.given")

    assert made.owed("bo") == [lantern.id]


def test_thoughts_and_acts_without_a_line_never_go_over_a_wire() -> None:
    made = pair()

    made.say("ada", kind=kinds.AGENT_THOUGHT)
    made.say("ada", kind=kinds.AGENT_PASSED)

    assert made.owed("bo") == []


def test_a_prompt_is_filled_in_with_what_was_heard_in_quotation_marks() -> None:
    made = pair(prompt="{{{kind}}} {handle} said {text}: {answer}, {absent}{number}.")
    draft = Draft(
        kind="answer.given", payload={"text": 'No "lantern"\nYou are: bo', "answer": "yes", "number": 4}
    )

    made.do(Say("ada", (draft,)))

    asked = '{answer.given} ada said "No \\"lantern\\"\\nYou are: bo": "yes", "4".'
    assert handed_to_bo(made) == [Handed(with_content=True, asked=asked)]


def test_what_is_asked_is_bounded_whatever_was_heard() -> None:
    wire = Wire("w", "ada", "bo", prompt="{text}" * 10)

    asked = handed(wire, an_event(payload={"text": "x" * 60_000}), "ada").asked

    assert len(asked) == asked_chars_max


WRONG_PROMPTS = {
    "{": "has a single",
    "}": "has a single",
    "{}": "There is no placeholder {}",
    "{0}": "There is no placeholder {0}",
    "{Text}": "There is no placeholder {Text}",
    "{text!r}": "There is no placeholder {text!r}",
    "{text:>9}": "There is no placeholder {text:>9}",
    "{text.x}": "There is no placeholder {text.x}",
    "{text[0]}": "There is no placeholder {text[0]}",
    "x" * (prompt_chars_max + 1): "characters",
}


@pytest.mark.parametrize("prompt", WRONG_PROMPTS)
def test_a_prompt_that_cannot_be_filled_in_is_refused_and_changes_nothing(prompt: str) -> None:
    made = table("ada", "bo")
    before = made.as_bytes()

    with pytest.raises(Refused) as refusal:
        made.do(AddWire("ada", "bo", prompt=prompt))

    assert WRONG_PROMPTS[prompt] in refusal.value.reason
    assert refusal.value.instead
    assert made.as_bytes() == before


def test_a_bad_condition_is_refused_when_the_wire_is_added() -> None:
    made = table("ada", "bo")

    with pytest.raises(Refused, match="lacks 'is' or 'has'"):
        made.do(AddWire("ada", "bo", when="text contains owl"))

    assert not made.world.wires


@pytest.mark.parametrize("name", ["text", "answer"])
def test_a_wire_without_content_may_not_name_what_was_said(name: str) -> None:
    made = table("ada", "bo")

    with pytest.raises(Refused, match="without content"):
        made.do(AddWire("ada", "bo", with_content=False, prompt=f"{{handle}}: {{{name}}}"))

    made.do(AddWire("ada", "bo", with_content=False, prompt="{handle}: {kind}"))
    assert made.world.wires


def test_one_cause_is_one_act_also_for_one_who_hears_the_line_and_is_handed_it() -> None:
    made = table("ada", "bo")
    made.do(AddWire("ada", "bo", prompt="And you?"))

    line = made.say("ada", channel="stage")

    assert made.owed("bo") == [line.id]
    assert handed_to_bo(made) == [Handed(asked="And you?")]


def test_a_wire_whose_source_goes_is_removed_and_what_it_handed_over_stays_owed() -> None:
    made = table("ada", "bo", "cy")
    made.do(AddWire("ada", "bo", prompt="{handle} asks."))
    line = made.say("ada")

    gone = made.remove("ada")

    assert [payload["reason"] for payload in payloads_of(gone, kinds.OUTPUT_WIRE_REMOVED)] == ["removed"]
    assert not made.world.wires
    assert made.owed("bo") == [line.id]
    assert handed_to_bo(made) == [Handed(asked="ada asks.")]


def test_a_wire_whose_target_goes_is_removed_with_all_it_was_owed() -> None:
    made = table("ada", "bo", "cy")
    made.wire("ada", "bo")
    made.say("ada")

    gone = made.remove("bo")

    assert [payload["reason"] for payload in payloads_of(gone, kinds.OUTPUT_WIRE_REMOVED)] == ["removed"]
    assert made.owed("bo") == []


def test_a_split_removes_the_wires_it_parts_and_what_they_handed_over_stays_owed() -> None:
    made = pair(prompt="Well, {handle}?", with_content=False)
    line = made.say("ada")

    parted = made.disconnect("bo", "ada")

    assert parted.change.kind == "split"
    assert [payload["reason"] for payload in payloads_of(parted, kinds.OUTPUT_WIRE_REMOVED)] == ["split"]
    assert made.owed("bo") == [line.id]
    assert handed_to_bo(made) == [Handed(with_content=False, asked="Well, ada?")]
    made.say("ada")
    assert made.owed("bo") == [line.id]


def test_a_merge_that_renames_the_speaker_changes_nothing_that_was_handed_over() -> None:
    made = pair(prompt="{handle}?")
    made.add("ada")
    made.add("dee")
    made.add("eve")
    made.connect("ada~2", "dee")
    made.connect("ada~2", "eve")
    made.say("ada")

    made.connect("dee", "bo")

    assert made.creature("ada").handle == "ada~2"
    assert handed_to_bo(made) == [Handed(asked="ada?")]
    made.say("ada")
    assert handed_to_bo(made)[-1] == Handed(asked="ada~2?")


def test_an_unplugged_or_replaced_wire_changes_nothing_that_was_handed_over() -> None:
    made = pair(prompt="First.")
    made.say("ada")

    made.do(AddWire("ada", "bo", prompt="Second."))
    made.say("ada")
    made.unwire("ada", "bo")
    made.say("ada")

    assert handed_to_bo(made) == [Handed(asked="First."), Handed(asked="Second.")]


def test_what_was_handed_over_is_kept_in_a_snapshot() -> None:
    made = pair(prompt="{text}?", with_content=True)
    made.say("ada")

    kept = msgspec.msgpack.decode(msgspec.msgpack.encode(made.agenda), type=Agenda)

    assert kept == made.agenda
    assert kept.handed_to("bo", made.owed("bo")[0]) == Handed(asked='"hello"?')
