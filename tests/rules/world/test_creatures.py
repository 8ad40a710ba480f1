"""Spawning, joining and leaving as decisions: who is born of whom, with what, and where."""

import pytest

from glasshouse.errors import Refused, UnknownName
from glasshouse.events import kinds
from glasshouse.events.event import Json
from glasshouse.events.payloads import RunFinished, RunStarted
from glasshouse.manifests.manifest import Manifest
from glasshouse.world.decisions.decide import decide
from glasshouse.world.decisions.intents import (
    AddCreature,
    BeginRun,
    JoinChannel,
    LeaveChannel,
    MoveRun,
    RemoveCreature,
    Spawn,
)
from tests.rules.worlds_by_hand import HandWorld, chain, table

MAPPER: Json = Manifest(name="mapper", tools=("compass", "lamp"), model_profile="strong").as_json()


def with_parent(tools: tuple[str, ...] = ()) -> HandWorld:
    made = HandWorld()
    manifest = Manifest(name="ada", tools=tools)
    made.do(AddCreature("ada", manifest.as_json(), manifest.digest, is_privileged=True, run_id="r-1"))
    return made


def born(made: HandWorld, **more: str) -> Json:
    done = made.do(Spawn("ada", "mapper", MAPPER, **more))
    payload: Json = done.events[0].payload
    return payload


def test_who_is_spawned_is_never_privileged_and_belongs_to_its_parents_run_and_graph() -> None:
    made = with_parent()

    started = born(made)

    creature = made.world.creatures["mapper"]
    assert "is_privileged" not in started
    assert (creature.run_id, creature.parent, creature.ordinal) == ("r-1", "ada", 2)
    assert creature.graph_id == made.world.creatures["ada"].graph_id
    assert made.world.children_of == {"ada": {"mapper": None}}
    assert made.world.runs["r-1"].creatures_living == 2


@pytest.mark.parametrize(
    ("granted", "kept"), [((), None), (("lamp",), ["lamp"]), (("lamp", "compass"), ["compass", "lamp"])]
)
def test_its_tools_are_those_that_its_parent_has_too(
    granted: tuple[str, ...], kept: list[str] | None
) -> None:
    started = born(with_parent(granted))

    assert started["manifest"].get("tools") == kept


def test_the_digest_names_the_manifest_as_it_was_given() -> None:
    unchanged = born(with_parent(("compass", "lamp")))
    changed = born(with_parent(), profile="fast")

    assert unchanged["manifest_digest"] == Manifest.model_validate(MAPPER).digest
    assert "model_profile" not in changed["manifest"]
    assert changed["manifest_digest"] == Manifest.model_validate(changed["manifest"]).digest


def test_the_channel_between_parent_and_child_has_a_readable_name_that_is_free() -> None:
    made = with_parent()

    for _ in range(3):
        born(made)

    assert list(made.world.graphs[made.world.creatures["ada"].graph_id].channels.owners) == [
        "ada-mapper",
        "ada-mapper_2",
        "ada-mapper_3",
    ]


def test_nobody_is_born_to_a_run_that_is_over_or_to_nobody() -> None:
    made = with_parent()
    graph_id = made.world.creatures["ada"].graph_id
    made.do(BeginRun("r-1", graph_id, RunStarted()))
    made.do(MoveRun("r-1", RunFinished("stopped", 0, 0, 0, 0.0)))

    with pytest.raises(Refused, match="has finished"):
        decide(made.world, Spawn("ada", "mapper", MAPPER))
    with pytest.raises(UnknownName):
        decide(made.world, Spawn("bo", "mapper", MAPPER))


def test_the_removed_are_not_counted_among_the_living() -> None:
    made = with_parent()
    born(made)

    made.remove("mapper")

    assert made.world.runs["r-1"].creatures_living == 1
    assert made.world.runs["r-1"].creatures_born == 2


def test_joining_gives_the_directions_that_are_missing_and_no_others() -> None:
    made = chain("ada", "bo", "cy")
    channel_id = next(iter(made.world.topology.channels_of["ada"]))

    done = made.do(JoinChannel("cy", channel_id, ("listen", "send")))
    again = decide(made.world, JoinChannel("cy", channel_id, ("listen",)))

    assert [event.kind for event in done.events] == [
        kinds.CHANNEL_JOINED,
        kinds.CHANNEL_JOINED,
        kinds.TOPOLOGY_CHANGED,
    ]
    assert again.writes == ()


def test_leaving_in_one_direction_parts_nobody_and_in_both_it_does() -> None:
    made = table("ada", "bo", "cy")

    one_way = made.do(LeaveChannel("cy", "stage", ("send",)))
    both = made.do(LeaveChannel("cy", "stage"))

    assert (one_way.change.kind, both.change.kind) == ("nothing", "split")
    assert both.change.affected_creatures == ("cy",)


def test_who_is_not_on_a_channel_cannot_leave_it() -> None:
    made = chain("ada", "bo", "cy")
    names = list(made.world.graphs[made.world.creatures["ada"].graph_id].channels.owners)

    with pytest.raises(Refused, match="cy does not listen or send on") as refusal:
        decide(made.world, LeaveChannel("cy", names[0]))

    assert refusal.value.instead == f"It is on {names[1]}."


def test_who_is_dismissed_takes_along_the_channel_it_had_with_its_parent_alone() -> None:
    made = with_parent()
    born(made)
    before = set(made.world.channels)

    made.do(RemoveCreature("mapper"))

    assert len(before) == 1
    assert made.world.channels == {}
    assert "ada" in made.world.creatures
    assert made.world.topology.channels_of.get("ada", {}) == {}


def test_a_channel_that_others_are_on_stays_when_one_is_dismissed() -> None:
    made = with_parent()
    born(made)
    born(made)
    made.do(JoinChannel("mapper~2", made.world.channels[next(iter(made.world.channels))].name))

    made.do(RemoveCreature("mapper"))

    assert len(made.world.channels) == 2
