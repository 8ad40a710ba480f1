"""Refusals: each says why and what would work, and leaves the world byte for byte as it was."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest

from glasshouse.errors import Refused, UnknownName
from glasshouse.events import kinds
from glasshouse.events.event import VISITOR, Draft
from glasshouse.world.decisions.decide import DECISIONS, decide
from glasshouse.world.decisions.intents import (
    AddChannel,
    AddCreature,
    AddWire,
    Connect,
    Disconnect,
    Fork,
    GrantPrivilege,
    GraphEdit,
    Intent,
    RemoveChannel,
    RemoveCreature,
    RemoveWire,
    RevokePrivilege,
    Say,
    StartCreature,
    StopCreature,
)
from tests.rules.worlds_by_hand import HandWorld, table

MANIFEST = {"name": "eve", "may_emit": ["agent.spoke"], "subscribes_to": []}


def a_world() -> HandWorld:
    """Ada and bo at one table, ada wired to bo; cy alone with a channel nobody is on."""
    made = table("ada", "bo")
    made.add("cy")
    made.open(made.graph_of("cy"), "cellar")
    made.wire("ada", "bo")
    return made


def new(name: str = "eve", handle: str | None = None, graph: str | None = None) -> AddCreature:
    return AddCreature(name, MANIFEST, "d1", handle, graph)


def line(kind: str = kinds.AGENT_SPOKE, channel: str | None = None) -> Draft:
    return Draft(kind=kind, channel=channel, payload={"text": "hm"})


Asked = Callable[[HandWorld], Intent]

REFUSED: dict[str, tuple[Asked, str, str]] = {
    "a malformed name": (lambda w: new("Eve"), "'Eve' is not a creature name.", "lower-case letters"),
    "a numbered name": (lambda w: new("eve~2"), "'eve~2' is not a creature name.", "lower-case letters"),
    "the engine's name": (lambda w: new("conductor"), "reserved for the engine", "another creature name"),
    "a malformed handle": (lambda w: new(handle="E"), "'E' is not a handle.", "lower-case letters"),
    "the engine's handle": (lambda w: new(handle="visitor"), "reserved for the engine", "another handle"),
    "a taken handle": (
        lambda w: new(handle="ada", graph=w.graph_of("bo")),
        "The handle 'ada' is taken in graph ada.",
        "leave the handle out",
    ),
    "a parent nobody is": (
        lambda w: AddCreature("eve", MANIFEST, "d1", parent="adda"),
        "no creature is called 'adda'",
        "Did you mean 'ada'?",
    ),
    "a graph that is not open": (lambda w: new(graph="g-0"), "no open graph is called 'g-0'", "There are g-"),
    "removing nobody": (lambda w: RemoveCreature("boo"), "no creature is called 'boo'", "mean 'bo'?"),
    "starting nobody": (lambda w: StartCreature("boo"), "no creature is called 'boo'", "mean 'bo'?"),
    "stopping nobody": (lambda w: StopCreature("boo"), "no creature is called 'boo'", "mean 'bo'?"),
    "a channel in no graph": (lambda w: AddChannel("g-0", "hall"), "no open graph is called", "There are g-"),
    "a malformed channel": (
        lambda w: AddChannel(w.graph_of("ada"), "Hall"),
        "'Hall' is not a channel name.",
        "lower-case letters",
    ),
    "a channel that is there": (
        lambda w: AddChannel(w.graph_of("ada"), "stage"),
        "Graph ada has a channel 'stage' already.",
        "Use it, or open 'stage~2'.",
    ),
    "closing in no graph": (
        lambda w: RemoveChannel("g-0", "stage"),
        "no open graph is called",
        "There are g-",
    ),
    "closing no channel": (
        lambda w: RemoveChannel(w.graph_of("ada"), "stag"),
        "no channel of graph ada is called 'stag'",
        "Did you mean 'stage'?",
    ),
    "closing another graph's channel": (
        lambda w: RemoveChannel(w.graph_of("ada"), w.channel("cy", "cellar").id),
        "no channel of graph ada is called",
        "There is stage.",
    ),
    "connecting from nobody": (lambda w: Connect("boo", "ada"), "no creature is called 'boo'", "mean 'bo'?"),
    "connecting to nobody": (lambda w: Connect("ada", "boo"), "no creature is called 'boo'", "mean 'bo'?"),
    "connecting to itself": (
        lambda w: Connect("ada", "ada"),
        "ada cannot be connected to itself.",
        "another creature",
    ),
    "connecting on a malformed channel": (
        lambda w: Connect("ada", "cy", "The Hall"),
        "'The Hall' is not a channel name.",
        "lower-case letters",
    ),
    "disconnecting from nobody": (lambda w: Disconnect("boo", "ada"), "called 'boo'", "mean 'bo'?"),
    "disconnecting nobody": (lambda w: Disconnect("ada", "boo"), "called 'boo'", "mean 'bo'?"),
    "disconnecting strangers": (
        lambda w: Disconnect("ada", "cy"),
        "ada does not send to cy.",
        "environment(graph_id)",
    ),
    "disconnecting on a channel that is not there": (
        lambda w: Disconnect("ada", "bo", "stag"),
        "no channel of graph ada is called 'stag'",
        "Did you mean 'stage'?",
    ),
    "disconnecting a creature from itself": (
        lambda w: Disconnect("ada", "ada", "stage"),
        "ada",
        "another creature",
    ),
    "wiring from nobody": (lambda w: AddWire("boo", "ada"), "called 'boo'", "mean 'bo'?"),
    "wiring to nobody": (lambda w: AddWire("ada", "boo"), "called 'boo'", "mean 'bo'?"),
    "wiring to itself": (lambda w: AddWire("ada", "ada"), "ada cannot be wired to itself.", "another target"),
    "wiring across graphs": (
        lambda w: AddWire("ada", "cy"),
        "ada and cy are in two graphs",
        "First connect('ada', 'cy'), then wire them.",
    ),
    "unwiring nobody": (lambda w: RemoveWire("ada", "boo"), "called 'boo'", "mean 'bo'?"),
    "unwiring the wrong one": (
        lambda w: RemoveWire("ada", "cy"),
        "No wire leads from ada to cy.",
        "It is wired to bo.",
    ),
    "unwiring against the grain": (
        lambda w: RemoveWire("bo", "ada"),
        "No wire leads from bo to ada.",
        "It has no output wires.",
    ),
    "privilege for nobody": (lambda w: GrantPrivilege("boo", VISITOR), "called 'boo'", "mean 'bo'?"),
    "privilege by a creature of the graph": (lambda w: GrantPrivilege("ada", "bo"), "privilege", "outside"),
    "revoked privilege of nobody": (lambda w: RevokePrivilege("boo", VISITOR), "called 'boo'", "mean 'bo'?"),
    "revoked privilege by a creature": (lambda w: RevokePrivilege("ada", "bo"), "taken back only", "outside"),
    "privilege by oneself": (lambda w: GrantPrivilege("ada", "ada"), "privilege", "outside"),
    "a line of nobody": (lambda w: Say("boo", (line(),)), "no creature is called 'boo'", "mean 'bo'?"),
    "a kind that is not granted": (
        lambda w: Say("ada", (line(kinds.JUDGE_VERDICT),)),
        "ada may not emit judge.verdict.",
        "Its manifest grants agent.spoke; add judge.verdict to may_emit.",
    ),
    "a kind of the engine": (
        lambda w: Say("ada", (line(kinds.TOPOLOGY_CHANGED),)),
        "Only the engine writes topology.changed.",
        "connect()",
    ),
    "a second line that is not granted": (
        lambda w: Say("ada", (line(), line(kinds.JUDGE_VERDICT))),
        "ada may not emit judge.verdict.",
        "may_emit",
    ),
    "a line on no channel": (
        lambda w: Say("ada", (line(channel="stag"),)),
        "no channel of graph ada is called 'stag'",
        "Did you mean 'stage'?",
    ),
    "a line on another graph's channel": (
        lambda w: Say("ada", (line(channel=w.channel("cy", "cellar").id),)),
        "no channel of graph ada is called",
        "There is stage.",
    ),
    "a line where it may not send": (
        lambda w: Say("cy", (line(channel="cellar"),)),
        "cy does not send on cellar.",
        "Connect it to somebody there first.",
    ),
    "a line caused by what never happened": (
        lambda w: Say("ada", (line(),), f"{w.session_of('ada')}.900"),
        "so it cannot be a cause.",
        "Give the id of an event, or none.",
    ),
    "a fork of no session": (lambda w: Fork("s-0", "s-0.1", 1), "no session is called 's-0'", "There are s-"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_refusal_says_why_and_what_would_work_and_changes_nothing(what: str) -> None:
    asked, why, instead = REFUSED[what]
    made = a_world()
    intent, before = asked(made), made.as_bytes()

    with pytest.raises(Refused) as refusal:
        made.do(intent)

    assert why in refusal.value.reason
    assert instead in refusal.value.instead
    assert str(refusal.value) == f"{refusal.value.reason} {refusal.value.instead}"
    assert made.as_bytes() == before


def test_a_line_where_it_may_not_send_names_where_it_may() -> None:
    made = a_world()
    made.open(made.graph_of("ada"), "hall")

    with pytest.raises(Refused, match=r"bo does not send on hall\. It sends on stage\."):
        made.say("bo", channel="hall")


def test_a_creature_that_may_emit_nothing_is_told_so() -> None:
    made = HandWorld()
    made.add("mute", emits=())

    with pytest.raises(Refused, match=r"grants nothing; add agent\.spoke to may_emit"):
        made.say("mute")


@pytest.mark.parametrize("kind", sorted(kinds.NEVER_GRANTED))
def test_no_kind_that_creatures_never_write_can_be_said_even_if_a_manifest_grants_it(kind: str) -> None:
    made = HandWorld()
    manifest = {"name": "eve", "may_emit": sorted(kinds.NEVER_GRANTED), "subscribes_to": []}
    made.do(AddCreature("eve", manifest, "d1"))

    with pytest.raises(Refused, match=f"Only the engine writes {kind}"):
        made.say("eve", kind=kind)


def test_the_free_handle_that_a_refusal_proposes_is_accepted() -> None:
    made = a_world()
    graph = made.graph_of("ada")

    with pytest.raises(Refused) as refusal:
        made.do(new(handle="ada", graph=graph))
    proposed = refusal.value.instead.partition("'")[2].partition("'")[0]

    assert (
        not proposed or made.creature(made.do(new(handle=proposed, graph=graph)).subject).handle == proposed
    )


def test_the_free_channel_that_a_refusal_proposes_is_accepted() -> None:
    made = a_world()
    graph = made.graph_of("ada")

    with pytest.raises(Refused) as refusal:
        made.open(graph, "stage")
    proposed = refusal.value.instead.partition("'")[2].partition("'")[0]

    assert made.world.channels[made.open(graph, proposed)].name == "stage~2"


def test_following_the_advice_about_wires_works() -> None:
    made = a_world()

    made.connect("ada", "cy")
    made.wire("ada", "cy")

    assert len(made.world.wires) == 2


def test_saying_nothing_at_all_leaves_no_empty_write_behind() -> None:
    made = a_world()

    with suppress(Refused):
        decision = decide(made.world, Say("ada", ()))

        assert all(write.facts for write in decision.writes)


@pytest.mark.parametrize(
    "asked",
    [
        lambda w: StartCreature("ada"),
        lambda w: AddWire("ada", "bo"),
        lambda w: Connect("ada", "bo", "stage", both=True),
    ],
)
def test_asking_for_what_is_so_already_writes_nothing(asked: Asked) -> None:
    made = a_world()
    before = made.as_bytes()

    done = made.do(asked(made))

    assert done.events == []
    assert made.as_bytes() == before


def test_stopping_twice_and_granting_twice_write_once() -> None:
    made = a_world()
    made.stop("ada")
    made.grant("ada")
    before = made.as_bytes()

    assert made.stop("ada").events == made.grant("ada").events == []
    assert made.as_bytes() == before


def test_removing_one_creature_twice_is_one_success_and_one_refusal() -> None:
    made = a_world()
    made.remove("bo")
    before = made.as_bytes()

    with pytest.raises(UnknownName, match="no creature is called 'bo'"):
        made.remove("bo")

    assert made.as_bytes() == before


@pytest.mark.parametrize("upto", [0, -1, 10_000])
def test_a_fork_beyond_what_is_written_is_refused(upto: int) -> None:
    made = a_world()
    session = made.session_of("ada")

    with pytest.raises(Refused):
        made.do(Fork(session, f"{session}.{upto}", upto))

    assert len(made.world.sessions) == len(a_world().world.sessions)


def test_every_sort_of_intent_is_decided() -> None:
    assert {*Intent.__subclasses__(), *GraphEdit.__subclasses__()} - {GraphEdit} == set(DECISIONS)
