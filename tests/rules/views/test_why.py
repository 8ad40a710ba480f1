"""Why, as a value: where a chain began, what a line rests on, and what each role may read of it."""

import pytest

from glasshouse.events import kinds
from glasshouse.events.model_use import ModelUse
from glasshouse.events.redaction import Role
from glasshouse.views.why import Asked, Beginning, Link, SeenLine, arrival, beginning, cited_in, for_role
from tests.rules.events.events_by_hand import an_event
from tests.rules.worlds_by_hand import chain, table

CLUE, DOUBT = "s-00112233445566aa.3", "s-00112233445566aa.4"


@pytest.mark.parametrize(
    ("actor", "kind", "turn", "began"),
    [
        ("visitor", kinds.USER_INJECTED, 3, "disturbance"),
        ("conductor", kinds.TURN_STARTED, 3, "turn"),
        ("conductor", kinds.WORLD_OBSERVED, 0, "opening"),
        ("conductor", kinds.WORLD_OBSERVED, 7, "world"),
        ("terrarium", kinds.CHANNEL_OPENED, 0, "opening"),
        ("terrarium", kinds.CHANNEL_OPENED, 7, "outside"),
        ("ada", kinds.AGENT_SPOKE, 7, "outside"),
    ],
)
def test_a_chain_says_how_it_began(actor: str, kind: str, turn: int, began: Beginning) -> None:
    oldest = an_event(actor=actor, kind=kind, turn=turn, caused_by=None)

    assert beginning(oldest) == began


def test_a_chain_that_was_cut_goes_back_further() -> None:
    assert beginning(an_event(caused_by=CLUE)) == "further"


def test_a_line_rests_on_the_events_that_its_fields_name_each_once() -> None:
    line = an_event(payload={"text": CLUE + "!", "cites": [CLUE, DOUBT, CLUE], "against": DOUBT, "n": [1]})

    assert cited_in(line) == [CLUE, DOUBT]


def test_a_subscriber_that_is_wired_as_well_heard_it_on_the_channel() -> None:
    made = table("ada", "bo")
    made.wire("ada", "bo")
    line = made.say("ada", channel="stage")

    answer = made.say("bo", channel="stage", caused_by=line.id)

    assert arrival(made.world, answer, line) == ("channel", "stage")


def test_one_who_hears_nothing_of_it_was_handed_it_by_the_wire() -> None:
    made = chain("ada", "bo", "cy")
    wire = made.wire("ada", "cy")
    line = made.say("ada", channel="ada-bo")

    answer = made.say("cy", caused_by=line.id)

    assert arrival(made.world, answer, line) == ("wire", wire.subject)


@pytest.mark.parametrize("role", ["spectator", "audience"])
def test_what_is_sealed_and_what_models_were_asked_is_for_a_director_alone(role: Role) -> None:
    mused = SeenLine("discussion", CLUE, "ada", kinds.AGENT_THOUGHT, "I wonder.")
    event = an_event(private={"thought": "Hm."}, model=ModelUse("fast"), sealed={"to": ["ada"]})
    link = Link(event, "ada", lines=(mused,), prompts=(Asked("m", "You are ada.", "Hello"),))

    seen = for_role(link, role)

    assert for_role(link, "director") == link
    assert (seen.prompts, seen.event.model, seen.event.sealed) == ((), None, None)
    assert [line.text for line in seen.lines] == (["I wonder."] if role == "audience" else [""])
    assert seen.thought == ("Hm." if role == "audience" else "")
