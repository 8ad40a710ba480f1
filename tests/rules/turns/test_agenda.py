"""The agenda: who owes an act for what, and what settles it."""

from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.codec import decoded
from glasshouse.events.event import Draft
from glasshouse.events.payloads import ToolReturned
from glasshouse.turns.runs.agenda import Agenda, Owed
from glasshouse.world.decisions.intents import CallTool, FollowCall, Say
from glasshouse.world.fold.evolve import begin, evolve
from glasshouse.world.hearing.hearing import visible_to
from glasshouse.world.hearing.wires import Handed
from glasshouse.world.state.state import World
from glasshouse.world.state.topology import SEND
from tests.rules.worlds_by_hand import HandWorld, chain, table

TALK = (kinds.AGENT_SPOKE, kinds.AGENT_PASSED)


def talkers(*names: str) -> HandWorld:
    """Creatures at one table who may also pass."""
    made = HandWorld()
    for name in names:
        made.add(name, emits=TALK)
    for name in names[1:]:
        made.connect(names[0], name, "stage", both=True)
    return made


def test_a_line_on_a_channel_is_owed_by_every_listener_and_never_by_its_actor() -> None:
    made = table("ada", "bo", "cy")

    line = made.say("ada", channel="stage")

    assert [made.owed(name) for name in ("ada", "bo", "cy")] == [[], [line.id], [line.id]]


def test_a_line_without_a_channel_is_owed_by_everybody_in_the_graph_and_never_by_its_actor() -> None:
    made = chain("ada", "bo", "cy")
    made.add("dee")

    line = made.say("ada")

    assert {name: made.owed(name) for name in made.world.creatures} == {
        "ada": [],
        "bo": [line.id],
        "cy": [line.id],
        "dee": [],
    }


def test_only_those_who_subscribe_to_the_kind_owe_an_act() -> None:
    made = HandWorld()
    made.add("ada", emits=["agent.spoke", "question.asked"])
    made.add("bo", hears=["question.asked"])
    made.add("cy", hears=["agent.spoke"])
    made.add("dee", hears=[])
    for name in ("bo", "cy", "dee"):
        made.connect("ada", name, "stage")

    spoken = [made.say("ada", channel="stage"), made.say("ada")]
    asked = [made.say("ada", channel="stage", kind="question.asked"), made.say("ada", kind="question.asked")]

    assert made.owed("bo") == [event.id for event in asked]
    assert made.owed("cy") == [event.id for event in spoken]
    assert made.owed("dee") == []


def test_who_only_sends_on_a_channel_owes_nothing_for_what_is_said_there() -> None:
    made = HandWorld()
    made.add_all("ada", "bo", "cy")
    made.connect("ada", "cy", "talk")
    made.connect("bo", "cy", "talk")

    made.say("ada", channel="talk")

    assert made.owed("bo") == []


def test_what_is_said_right_after_connecting_is_owed_and_what_was_said_before_is_not() -> None:
    made = table("ada", "bo")
    made.add("cy")
    made.say("ada", "before", channel="stage")

    made.connect("ada", "cy", "stage")
    after = made.say("ada", "after", channel="stage")

    assert made.owed("cy") == [after.id]


def test_what_is_said_right_after_disconnecting_is_not_owed() -> None:
    made = table("ada", "bo", "cy")

    made.disconnect("ada", "cy")
    line = made.say("bo", channel="stage")

    assert made.owed("cy") == []
    assert made.owed("ada") == [line.id]


def test_a_wire_owes_its_target_whatever_that_subscribes_to_and_not_its_source() -> None:
    made = chain("ada", "bo")
    made.add("cy", hears=[])
    made.connect("ada", "cy", "quiet")
    made.wire("ada", "cy")

    line = made.say("ada", channel="ada-bo")
    back = made.say("cy")

    assert made.owed("cy") == [line.id]
    assert made.owed("ada") == [back.id]


def test_one_cause_is_owed_once_even_if_it_comes_by_channel_and_by_wire() -> None:
    made = table("ada", "bo")
    made.wire("ada", "bo")

    line = made.say("ada", channel="stage")

    assert made.owed("bo") == [line.id]


def test_a_wire_that_is_gone_owes_nobody() -> None:
    made = chain("ada", "bo")
    made.add("cy", hears=[])
    made.connect("ada", "cy", "quiet")
    made.wire("ada", "cy")

    made.unwire("ada", "cy")
    made.say("ada")

    assert made.owed("cy") == []


def test_steps_on_the_way_of_an_act_are_not_handed_over_by_wires() -> None:
    made = talkers("ada", "bo")
    line = made.say("bo")
    made.wire("ada", "bo")

    called = made.do(CallTool("ada", line.id, "lantern", {}, 1)).events[0]
    made.do(FollowCall("ada", called.id, ToolReturned("lantern", 1, is_ok=True, text="lit")))

    assert made.owed("bo") == []


def test_mail_is_in_the_order_in_which_it_was_said() -> None:
    made = table("ada", "bo", "cy")

    lines = [made.say(name, channel="stage") for name in ("ada", "bo", "ada", "ada", "bo")]

    assert made.owed("cy") == [line.id for line in lines]
    assert [owed.lamport for owed in made.agenda.owed["cy"].values()] == [line.lamport for line in lines]


def test_an_act_settles_the_cause_it_names_and_no_other() -> None:
    made = table("ada", "bo")
    first, second, third = (made.say("ada", channel="stage") for _ in range(3))

    made.say("bo", channel="stage", caused_by=second.id)

    assert made.owed("bo") == [first.id, third.id]


def test_an_act_without_a_cause_settles_nothing() -> None:
    made = table("ada", "bo")
    line = made.say("ada", channel="stage")

    made.say("bo", channel="stage")

    assert made.owed("bo") == [line.id]


def test_an_act_settles_only_for_its_own_actor() -> None:
    made = table("ada", "bo", "cy")
    line = made.say("ada", channel="stage")

    answer = made.say("bo", channel="stage", caused_by=line.id)

    assert made.owed("bo") == []
    assert made.owed("cy") == [line.id, answer.id]
    assert made.owed("ada") == [answer.id]


def test_steps_on_the_way_of_an_act_do_not_settle_its_cause() -> None:
    made = talkers("ada", "bo")
    line = made.say("ada", channel="stage")

    called = made.do(CallTool("bo", line.id, "lantern", {}, 1)).events[0]
    made.do(FollowCall("bo", called.id, ToolReturned("lantern", 1, is_ok=True, text="lit")))
    assert made.owed("bo") == [line.id]
    made.say("bo", kind=kinds.AGENT_PASSED, caused_by=line.id)

    assert made.owed("bo") == []


def test_a_cause_that_is_settled_is_not_owed_again() -> None:
    made = table("ada", "bo")
    line = made.say("ada", channel="stage")
    made.say("bo", channel="stage", caused_by=line.id)

    made.say("bo", channel="stage", caused_by=line.id)

    assert made.owed("bo") == []
    assert "bo" not in made.agenda.owed


def test_several_lines_of_one_act_settle_once_and_are_each_owed_by_others() -> None:
    made = talkers("ada", "bo")
    line = made.say("ada", channel="stage")
    drafts = tuple(Draft(kind=kinds.AGENT_SPOKE, channel="stage", payload={"n": n}) for n in range(2))

    answers = made.do(Say("bo", drafts, line.id)).events

    assert made.owed("bo") == []
    assert made.owed("ada") == [answer.id for answer in answers]


def test_what_waited_for_a_stopped_creature_is_settled_by_one_act() -> None:
    made = table("ada", "bo")
    made.stop("bo")
    waited = [made.say("ada", channel="stage") for _ in range(4)]
    assert made.owed("bo") == [line.id for line in waited]

    made.start("bo")
    later = made.say("ada", channel="stage")
    made.say("bo", channel="stage", caused_by=waited[-1].id)

    assert made.owed("bo") == [later.id]


@pytest.mark.parametrize("which", range(3))
def test_an_answer_settles_its_bundle_up_to_the_cause_that_it_answers(which: int) -> None:
    made = table("ada", "bo")
    made.stop("bo")
    waited = [made.say("ada", channel="stage") for _ in range(3)]
    made.start("bo")

    made.say("bo", caused_by=waited[which].id)

    assert made.owed("bo") == [line.id for line in waited[which + 1 :]]


def test_an_act_under_way_when_its_creature_is_stopped_does_not_settle_what_comes_after() -> None:
    made = table("ada", "bo")
    before = made.say("ada", channel="stage")
    made.stop("bo")
    waited = made.say("ada", channel="stage")

    made.say("bo", caused_by=before.id)

    assert made.owed("bo") == [waited.id]


def test_two_stops_make_two_bundles() -> None:
    made = table("ada", "bo")
    made.stop("bo")
    first = made.say("ada", channel="stage")
    made.start("bo")
    made.stop("bo")
    second = made.say("ada", channel="stage")
    made.start("bo")

    made.say("bo", caused_by=first.id)

    assert made.owed("bo") == [second.id]


def test_an_act_that_ends_without_a_line_hands_nothing_over_by_wires() -> None:
    made = talkers("ada", "bo")
    made.wire("ada", "bo")
    made.wire("bo", "ada")

    made.say("ada", kind=kinds.AGENT_PASSED)

    assert made.owed("bo") == []


def test_a_wire_to_a_stopped_creature_waits_in_its_bundle_too() -> None:
    made = table("ada", "bo")
    made.wire("ada", "bo")
    made.stop("bo")

    said = [made.say("ada"), made.say("ada", channel="stage")]

    assert tuple(made.agenda.owed["bo"].values()) == tuple(
        Owed(line.id, line.lamport, 1, handed=Handed()) for line in said
    )


def test_a_removed_creature_is_owed_nothing_and_leaves_nothing_behind() -> None:
    made = table("ada", "bo", "cy")
    made.stop("bo")
    made.say("ada", channel="stage")

    made.remove("bo")
    line = made.say("ada", channel="stage")

    assert made.owed("bo") == []
    assert made.owed("cy")[-1] == line.id
    assert b"bo" not in msgspec.msgpack.encode(made.agenda)


def test_merges_and_splits_touch_no_mail() -> None:
    made = chain("ada", "bo", "cy")
    made.add("dee")
    first = made.say("ada", channel="ada-bo")
    second = made.say("bo")

    made.connect("cy", "dee")
    made.disconnect("bo", "cy")
    made.disconnect("ada", "bo")

    assert made.owed("bo") == [first.id]
    assert made.owed("cy") == [second.id]
    assert made.owed("dee") == []


def test_an_answer_given_after_a_split_settles_a_cause_from_before_it() -> None:
    made = chain("ada", "bo")
    line = made.say("ada", channel="ada-bo")

    made.disconnect("ada", "bo")
    made.say("bo", caused_by=line.id)

    assert made.owed("bo") == []


def test_an_event_of_the_engine_is_owed_by_those_who_subscribe_to_it() -> None:
    made = HandWorld()
    made.add("ada")
    made.add("bo", hears=[kinds.TOPOLOGY_CHANGED])
    made.connect("ada", "bo")
    before = made.owed("bo")

    made.add("cy", graph=made.graph_of("ada"))

    assert made.ledger[-1].kind == kinds.TOPOLOGY_CHANGED
    assert made.owed("bo") == [*before, made.ledger[-1].id]
    assert made.owed("ada") == made.owed("cy") == []


def played(choices: list[int]) -> HandWorld:
    """Five creatures who talk, answer, stop, start, come together and part at random."""
    made = HandWorld()
    for name in ("ada", "bo", "cy", "dee", "eve"):
        made.add(name, emits=TALK)
    for choice in choices:
        names = list(made.world.creatures)
        first, other = names[choice // 9 % len(names)], names[choice // 97 % len(names)]
        owed = made.owed(first)
        match choice % 9:
            case 0 | 1 if first != other:
                made.connect(first, other, both=bool(choice % 2))
            case 2 if first != other and made.graph_of(first) == made.graph_of(other):
                made.wire(first, other)
            case 3:
                made.stop(first)
            case 4:
                made.start(first)
            case 5 if owed:
                made.say(first, caused_by=owed[choice // 7 % len(owed)])
            case 6 if made.world.topology.channels_of.get(first):
                made.close(made.graph_of(first), next(iter(made.world.topology.channels_of[first])))
            case 7 if len(names) > 3:
                made.remove(first)
            case _:
                made.say(first)
    return made


@given(st.lists(st.integers(0, 1_000_000), min_size=10, max_size=60))
def test_folding_the_stored_bytes_again_gives_the_same_world_and_the_same_agenda(choices: list[int]) -> None:
    made = played(choices)
    segments = {name: state.segment for name, state in made.world.sessions.items()}

    world, agenda = World(), Agenda()
    for event in map(decoded, made.bodies):
        if event.session_id not in world.sessions:
            begin(world, segments[event.session_id])
        evolve(world, event)
        agenda.apply(world, event)

    assert world == made.world
    assert agenda == made.agenda


@given(st.lists(st.integers(0, 1_000_000), min_size=10, max_size=60))
def test_nobody_ever_owes_an_act_for_its_own_doing_or_for_one_it_has_answered(choices: list[int]) -> None:
    made = played(choices)
    by_id = {event.id: event for event in made.ledger}

    answered = {(event.actor, event.caused_by) for event in made.ledger if event.caused_by}

    for creature, mailbox in made.agenda.owed.items():
        assert creature in made.world.creatures
        assert mailbox
        for cause in mailbox:
            assert by_id[cause].actor != creature
            assert (creature, cause) not in answered


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(0, 4)), min_size=8, max_size=40))
def test_an_act_is_owed_exactly_by_those_who_see_a_line_and_by_those_wired_to_its_actor(
    choices: list[tuple[int, int, int]],
) -> None:
    names = ["ada", "bo", "cy", "dee", "eve"]
    made = talkers(*names)

    for what, first, other in choices:
        source, target = names[first], names[other]
        if what == 0 and source != target:
            made.connect(source, target, f"channel-{first}-{other}")
        elif (
            what == 1
            and source != target
            and made.world.creatures[source].graph_id == (made.world.creatures[target].graph_id)
        ):
            made.wire(source, target)
        elif what == 2:
            with suppress(Refused):
                made.disconnect(source, target)
        else:
            sends_on = [
                c
                for c, directions in made.world.topology.channels_of.get(source, {}).items()
                if directions & SEND
            ]
            line = made.say(source, channel=sends_on[0] if what == 3 and sends_on else None)
            for name in names:
                wired = any(made.world.wires[w].source == source for w in made.world.wires_of.get(name, {}))
                seen = visible_to(made.world.creatures[name], line)
                assert (line.id in made.owed(name)) is (name != source and (seen or wired))
