"""Who knew of an event: everybody who could see it, how, and since when; those who are gone, too."""

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.views.who_knew import sightings_of
from glasshouse.world.decisions.intents import AddWire
from tests.rules.worlds_by_hand import HandWorld, chain, table


def known(made: HandWorld, event: Event) -> dict[str, str]:
    return {seen.creature.id: seen.how for seen in sightings_of(made.world, event)}


def test_who_listens_heard_it_and_who_spoke_said_it() -> None:
    made = chain("ada", "bo", "cy")

    line = made.say("ada", channel="ada-bo")

    assert known(made, line) == {"ada": "said", "bo": "heard"}


def test_who_comes_to_a_full_channel_later_knows_it_since_then() -> None:
    made = table("ada", "bo")
    line = made.say("ada", channel="stage")
    made.add("cy")

    joined = made.connect("ada", "cy", "stage").events

    (late,) = [seen for seen in sightings_of(made.world, line) if seen.creature.id == "cy"]
    listened = next(e for e in joined if e.kind == kinds.CHANNEL_JOINED and e.payload["creature"] == "cy")
    assert (late.how, late.since) == ("joined", listened.lamport)


def test_a_channel_that_keeps_its_past_tells_newcomers_nothing() -> None:
    made = table("ada", "bo", history="since_joined")
    line = made.say("ada", channel="stage")
    made.add("cy")

    made.connect("ada", "cy", "stage")

    assert "cy" not in known(made, line)


def test_whoever_is_gone_knew_until_its_end() -> None:
    made = table("ada", "bo", "cy")
    line = made.say("ada", channel="stage")

    gone = made.remove("bo").events
    after = made.say("ada", channel="stage")

    end = next(e for e in gone if e.kind == kinds.CREATURE_STOPPED)
    assert {s.creature.id: s.until for s in sightings_of(made.world, line)} == {
        "ada": None,
        "bo": end.id,
        "cy": None,
    }
    assert "bo" not in known(made, after)


def test_what_was_said_to_everybody_is_known_by_who_was_there() -> None:
    made = table("ada", "bo")
    made.add("cy")

    line = made.say("ada")
    made.connect("bo", "cy", "stage")

    assert known(made, line) == {"ada": "said", "bo": "present"}


def test_a_wire_hands_a_line_to_one_who_cannot_hear_it_while_it_is_there() -> None:
    made = chain("ada", "bo", "cy")
    before = made.say("ada", channel="ada-bo")
    made.wire("ada", "cy")
    handed = made.say("ada", channel="ada-bo")
    made.unwire("ada", "cy")
    after = made.say("ada", channel="ada-bo")

    assert [known(made, line).get("cy") for line in (before, handed, after)] == [None, "handed", None]


def test_thoughts_are_known_to_their_own_actor_alone() -> None:
    made = HandWorld()
    made.add("ada", emits=(kinds.AGENT_THOUGHT,))
    made.add("bo")
    made.connect("ada", "bo", "talk", both=True)

    thought = made.say("ada", kind=kinds.AGENT_THOUGHT)

    assert known(made, thought) == {"ada": "said"}


def test_a_wire_without_content_tells_that_something_was_said_and_not_what() -> None:
    made = chain("ada", "bo", "cy")
    made.do(AddWire("ada", "cy", with_content=False, when="text has lantern"))

    carried = made.say("ada", "A lantern.", channel="ada-bo")
    kept = made.say("ada", "A kettle.", channel="ada-bo")

    (sighting,) = [seen for seen in sightings_of(made.world, carried) if seen.creature.id == "cy"]
    assert (sighting.how, sighting.with_content) == ("handed", False)
    assert "cy" not in known(made, kept)


def test_a_root_heard_every_channel_of_its_graph() -> None:
    made = chain("ada", "bo")
    root = made.add("rue", graph=made.graph_of("ada"))
    made.creature(root).is_root = True

    line = made.say("ada", channel="ada-bo")

    assert known(made, line) == {"ada": "said", "bo": "heard", "rue": "heard"}
