"""Tales, debates, tables, near-twins and tools, each known by the shape of the answer that is asked for, in no world."""

from __future__ import annotations

import json

import msgspec
import pytest

from glasshouse.events import kinds
from glasshouse.troupe.model import answer
from glasshouse.troupe.skills.attributes import things
from glasshouse.troupe.skills.debating import points_of
from glasshouse.troupe.skills.pairing import clauses_of, told_in
from glasshouse.turns.moment.character import Character
from glasshouse.turns.moment.playbill import Playbill
from glasshouse.turns.moment.tools import ToolAnswer, ToolOffer, ToolTalk
from glasshouse.turns.prompts.context import prompt_for
from tests.contracts.offline_stage import OfflineStage

SEEDS = range(12)
PARTS = ["opening", "rebuttal", "closing"]
LOOK_UP = ToolOffer(
    "sky_book",
    "Tell the phase of the moon on a date.",
    {
        "type": "object",
        "properties": {"day": {"type": "string", "description": "a date such as 2026-03-01"}},
        "required": ["day"],
    },
)


def of_two(kind: str, fields: dict[str, object], **characters: str) -> OfflineStage:
    """A stage for two who may write one kind, each with wants of its own."""
    cast = tuple(Character(name=name, wants=wants, may_emit=(kind,)) for name, wants in characters.items())
    return OfflineStage(cast, Playbill(kinds={kind: fields}))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_teller_begins_from_what_the_scene_puts_behind_a_colon_and_goes_on_with_its_hero(seed: int) -> None:
    stage = of_two("story.spun", {"text": "string"}, pike="to win", roach="to win")
    stage.seed = seed
    stage.observes("Tonight it begins from this: a ladder without a house. Nobody sleeps.")
    first = stage.act("pike")
    call = stage.says("roach", "Now the ladder must get lost.")
    second = stage.act("pike", call)

    assert first is not None
    assert second is not None
    assert "a ladder without a house" in first.payload["text"]
    assert "ladder" in second.payload["text"]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_debater_opens_then_meets_the_other_side_on_its_own_ground(seed: int) -> None:
    stage = of_two(
        "speech.held",
        {"part": PARTS, "to": "event", "text": "string"},
        pike="To argue for it.",
        roach="To stand against it.",
    )
    stage.seed = seed
    stage.observes("The motion: a bridge over the pond. We begin with the opening.")
    opened = [stage.act(name) for name in ("pike", "roach")]
    stage.observes("Now the rebuttal.")
    met = stage.act("pike")

    assert [event.payload["part"] for event in opened if event] == ["opening", "opening"]
    assert met is not None
    assert opened[1] is not None
    assert met.payload["part"] == "rebuttal"
    assert met.payload["to"] == opened[1].id
    theirs = {point.ground for point in points_of(opened[1].payload["text"])}
    assert theirs & {point.ground for point in points_of(met.payload["text"]) if point.is_answer}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_guest_builds_on_a_thing_that_another_brought_and_in_the_end_speaks_for_it(seed: int) -> None:
    stage = of_two("dish.brought", {"builds_on": "event", "text": "string"}, pike="to help", roach="to help")
    stage.seed = seed
    stage.observes("What should become of it: a mill without a river? There is soup.")
    brought = stage.says("roach", "Put a copper kettle on the roof.", "dish.brought")
    built = stage.act("pike")
    stage.observes("The plates are stacked. Say what should be kept.")
    kept = stage.act("pike")

    assert built is not None
    assert kept is not None
    assert built.payload["builds_on"] == brought.id
    assert "copper kettle" in built.payload["text"]
    assert "Roach" in kept.payload["text"]


@pytest.mark.parametrize("seed", SEEDS)
def test_who_holds_another_word_than_the_rest_says_only_what_is_true_of_both(seed: int) -> None:
    cast = tuple(Character(name=name, may_emit=("hint.dropped", "finger.pointed")) for name in "abc")
    bill = Playbill(
        kinds={"hint.dropped": {"text": "string"}, "finger.pointed": {"at": "creature", "text": "string"}}
    )
    stage = OfflineStage(cast, bill, seed, known={"a": {"word": "toad"}})
    stage.observes("Say something true of your word.")
    stage.says(
        "b", "Mine leaves in one leap and is somewhere else. It leaves in one leap and is somewhere else."
    )
    stage.says("c", "I say that the French have opinions about its legs.")
    hint = stage.act("a")
    stage.observes("This is the vote.")
    vote = stage.act("a")

    assert hint is not None
    assert vote is not None
    assert {"frog", "toad"} <= told_in(hint.payload["text"])[0].holds
    assert vote.payload["at"] in {"b", "c"}
    assert stage.act("a") is None


@pytest.mark.parametrize("word", list(things()))
def test_what_can_be_said_of_a_thing_never_names_it(word: str) -> None:
    named = [clause for clause in clauses_of(word) if word in clause.split()]

    assert clauses_of(word)
    assert named == []


@pytest.mark.parametrize("seed", SEEDS)
def test_who_has_a_tool_for_dates_uses_it_first_and_then_says_what_it_said(seed: int) -> None:
    kind = "page.turned"
    stage = of_two(
        kind, {"date": "string", "lit": "number", "text": "string"}, pike="to be exact", roach="to know"
    )
    stage.seed = seed
    asked = stage.says("roach", "What of 2031-01-15, and of a pewter whistle?")
    moment = msgspec.structs.replace(stage.moment("pike", asked), tools=(LOOK_UP,))
    call = json.loads(answer(prompt_for(moment)))
    said = ToolAnswer(is_ok=True, text='{"day":"2031-01-15","moon":"waning gibbous","moon_lit_percent":61}')
    talk = (ToolTalk("sky_book", {"day": "2031-01-15"}, said),)
    reply = json.loads(answer(prompt_for(msgspec.structs.replace(moment, talk=talk))))

    assert (call["kind"], call["tool"]) == (kinds.TOOL_CALLED, "sky_book")
    assert call["arguments"] == {"day": "2031-01-15"}
    assert (reply["kind"], reply["date"], reply["lit"]) == (kind, "2031-01-15", 61)
    assert "61" in reply["text"] or "waning gibbous" in reply["text"]
    assert "pewter" in reply["text"]
    assert "{" not in reply["text"]


def test_a_tool_that_failed_is_not_asked_again_and_nothing_is_made_up() -> None:
    stage = of_two("page.turned", {"text": "string"}, pike="to be exact", roach="to know")
    asked = stage.says("roach", "What of 2031-01-15?")
    talk = (ToolTalk("sky_book", {"day": "2031-01-15"}, ToolAnswer(is_ok=False, text="The book is shut.")),)
    moment = msgspec.structs.replace(stage.moment("pike", asked), tools=(LOOK_UP,), talk=talk)
    reply = json.loads(answer(prompt_for(moment)))

    assert reply["kind"] == "page.turned"
    assert not any(sign.isdigit() for sign in reply["text"])
