"""Hindsight: the lines of a prompt are read back from its text and found again among the events they were."""

from hypothesis import given
from hypothesis import strategies as st

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.turns.character import Character, Memory
from glasshouse.turns.context import prompt_for, repair_prompt
from glasshouse.turns.hindsight import by_words, found_again, in_sight, lines_in
from glasshouse.views.why import SeenLine
from tests.rules.turns.moments_by_hand import HANDLES, a_moment, injected, said
from tests.rules.worlds_by_hand import table

texts = st.text(max_size=40)


def lines_of(events: list[Event], **more: object) -> list[SeenLine]:
    """What echo's prompt showed of these events, found again."""
    user = prompt_for(a_moment(events, **more)).user  # type: ignore[arg-type]
    return found_again(lines_in(user), by_words(events), HANDLES, events[-1].lamport)


def test_every_line_of_a_prompt_is_found_again() -> None:
    events = [said(n, "moth-id", f"Line {n} of the pond.") for n in range(1, 7)]

    lines = lines_of(events)

    assert [(line.who, line.text, line.event_id) for line in lines] == [
        ("moth", event.payload["text"], event.id) for event in events
    ]
    assert {line.section for line in lines} == {"discussion"}


@given(st.lists(texts, min_size=1, max_size=12))
def test_no_text_hides_a_line_or_puts_it_into_another_mouth(spoken: list[str]) -> None:
    events = [said(n, ("moth-id", "fern-id")[n % 2], text) for n, text in enumerate(spoken, start=1)]

    lines = lines_of(events, character=Character(name="echo", memory=Memory(window=12)))

    # Lines that read alike are told apart by their letters.
    assert [line.event_id for line in lines] == [event.id for event in events]


def test_of_two_lines_with_the_same_words_each_is_its_own() -> None:
    events = [said(1, "moth-id", "Yes."), said(2, "fern-id", "Why?"), said(3, "moth-id", "Yes.")]

    lines = lines_of(events)

    assert [line.event_id for line in lines] == [event.id for event in events]


def test_a_line_that_cites_others_is_found_again() -> None:
    first = said(1, "moth-id", "The gate was open.")
    second = said(
        2, "fern-id", "So it was the heron.", "hypothesis.formed", cites=[first.id], suspect="heron"
    )

    lines = lines_of([first, second])

    assert [line.event_id for line in lines] == [first.id, second.id]


def test_the_scene_a_disturbance_and_what_is_known_alone_have_their_own_places() -> None:
    scene = said(1, "conductor", "A pond at dusk.", kinds.WORLD_OBSERVED)
    thrown = injected(2, "A hen walks in.")
    events = [scene, thrown, said(3, "moth-id", "A hen?")]

    lines = lines_of(
        events, known={"word": "fern"}, character=Character(name="echo", memory=Memory(window=1))
    )

    assert {line.section: line.event_id for line in lines} == {
        "discussion": events[2].id,
        "scene": scene.id,
        "known": None,
        "remembered": thrown.id,
    }
    assert [line.text for line in lines if line.section == "known"] == ['word: "fern"']


def test_what_was_said_later_is_not_taken_for_a_line_of_the_prompt() -> None:
    early = said(1, "moth-id", "Yes.")
    later = said(9, "moth-id", "Yes.")
    user = prompt_for(a_moment([early])).user

    lines = found_again(lines_in(user), by_words([early, later]), HANDLES, lamport=1)

    assert [line.event_id for line in lines] == [early.id]


def test_a_line_that_nobody_said_stays_without_an_event() -> None:
    user = prompt_for(a_moment([said(1, "moth-id", "Yes.")])).user

    lines = found_again(lines_in(user), by_words([said(1, "fern-id", "Yes.")]), HANDLES, lamport=1)

    assert [line.event_id for line in lines] == [None]


def test_a_line_of_somebody_who_was_renamed_since_is_found_by_its_words() -> None:
    events = [said(1, "moth-id", "Yes."), said(2, "fern-id", "No.")]
    lines = lines_in(prompt_for(a_moment(events)).user)

    found = found_again(lines, by_words(events), {**HANDLES, "moth-id": "moth~2"}, lamport=2)

    assert [line.event_id for line in found] == [event.id for event in events]


def test_an_answer_that_did_not_count_is_no_line() -> None:
    prompt = prompt_for(a_moment([said(1, "moth-id", "Yes.")]))

    repaired = repair_prompt(prompt, '[#12345] moth (cast, agent.spoke): "No."', "It was no JSON.")

    assert lines_in(repaired.user) == lines_in(prompt.user)


def test_without_its_prompt_the_newest_lines_in_its_sight_are_told() -> None:
    made = table("ada", "bo", "cy")
    lines = [made.say("ada", f"line {n}", channel="stage") for n in range(12)]
    made.say("cy", kind=kinds.AGENT_SPOKE, text="later", channel="stage")

    seen = in_sight(made.world, made.creature("bo"), made.ledger, lines[-1].lamport, lines[-1])

    assert [line.event_id for line in seen] == [line.id for line in lines[-8:]]
    assert {line.who for line in seen} == {"ada"}


def test_without_its_prompt_what_was_answered_is_told_even_if_it_is_old() -> None:
    made = table("ada", "bo")
    lines = [made.say("ada", f"line {n}", channel="stage") for n in range(12)]

    seen = in_sight(made.world, made.creature("bo"), made.ledger, lines[-1].lamport, lines[0])

    assert (seen[-1].section, seen[-1].event_id) == ("answered", lines[0].id)


def test_lines_on_a_channel_that_it_joined_later_were_not_in_sight_then() -> None:
    made = table("ada", "bo")
    line = made.say("ada", channel="stage")
    made.add("cy")
    made.connect("ada", "cy", "stage")

    then = in_sight(made.world, made.creature("cy"), made.ledger, line.lamport, None)
    now = in_sight(made.world, made.creature("cy"), made.ledger, made.ledger[-1].lamport, None)

    assert ([one.event_id for one in then], [one.event_id for one in now]) == ([], [line.id])
