"""Why, as a value: where a chain began, how a cause came, and what a line rests on."""

import pytest

from glasshouse.events import kinds
from glasshouse.views.why import Beginning, arrival, beginning, cited_in
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
