"""Ids and handles: made from what they name, never given twice, and renamed only where two meet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import Refused, UnknownName
from glasshouse.events import kinds
from glasshouse.world.state.ids import (
    channel_id_for,
    check_channel_name,
    check_handle,
    check_name,
    graph_id_for,
    name_chars_max,
    session_id_for,
    the_channel,
    the_creature,
    the_graph,
    wire_id_for,
)
from glasshouse.world.state.state import Register, free_name
from tests.rules.worlds_by_hand import HandWorld, chain, payloads_of

BAD_NAMES = [
    "",
    "Ada",
    "ada bo",
    "ada\n",
    "-ada",
    "_ada",
    "ada.bo",
    "ada/bo",
    "ad\u00e4",
    "ada\u0663",
    "a" * 65,
    "~2",
    "ada~",
    "ada~x",
]
GOOD_NAMES = ["ada", "a", "7", "clue-gatherer", "a_b-c9", "a" * name_chars_max]


@pytest.mark.parametrize("name", [*BAD_NAMES, "ada~2"])
def test_a_malformed_creature_name_is_refused_with_what_is_allowed(name: str) -> None:
    with pytest.raises(Refused) as refusal:
        check_name("creature name", name)

    assert repr(name) in refusal.value.reason
    assert "lower-case letters" in refusal.value.instead
    assert "64 characters" in refusal.value.instead


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_malformed_channel_name_is_refused_with_what_is_allowed(name: str) -> None:
    with pytest.raises(Refused) as refusal:
        check_channel_name(name)

    assert "channel name" in refusal.value.reason
    assert refusal.value.instead


@pytest.mark.parametrize("name", GOOD_NAMES)
def test_a_sound_name_passes_for_creatures_and_channels(name: str) -> None:
    check_name("creature name", name)
    check_channel_name(name)


@pytest.mark.parametrize("name", ["terrarium", "conductor", "visitor"])
def test_the_engines_own_names_are_refused_for_creatures_and_fine_for_channels(name: str) -> None:
    with pytest.raises(Refused, match="reserved for the engine"):
        check_name("handle", name)

    check_channel_name(name)


@pytest.mark.parametrize("name", ["world", "nobody", "nobody~2"])
def test_what_prompts_and_verdicts_call_something_else_is_nobodys_handle(name: str) -> None:
    with pytest.raises(Refused, match="has a fixed meaning"):
        check_handle(name)

    check_channel_name(name)


NAMES = ["talk", "talk~0", "talk~1", "talk~01", "talk~2", "talk~3", "talk~4", "talk~6", "walk"]


def next_free(name: str, taken: set[str]) -> str:
    stem = name.split("~", maxsplit=1)[0]
    numbered = (f"{stem}~{number}" for number in range(2, 99))
    return name if name not in taken else next(free for free in numbered if free not in taken)


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.sampled_from(NAMES)), max_size=25))
def test_the_next_free_name_is_the_smallest_number_that_nobody_has(
    steps: list[tuple[bool, bool, str]],
) -> None:
    registers, taken = (Register(), Register()), (set[str](), set[str]())
    for which, is_taken, name in steps:
        if is_taken:
            registers[which].take(name, "somebody")
            taken[which].add(name)
        else:
            registers[which].release(name, "somebody")
            taken[which].discard(name)

    for name in NAMES:
        assert free_name(name, registers[0]) == next_free(name, taken[0])
        assert free_name(name, *registers) == next_free(name, taken[0] | taken[1])
        assert free_name(name, *registers, also_taken={"talk~2"}) == next_free(
            name, taken[0] | taken[1] | {"talk~2"}
        )


def test_a_name_stays_with_whom_it_is_until_that_one_gives_it_back() -> None:
    register = Register()
    register.take("talk", "first")

    register.take("talk", "second")
    register.release("talk", "second")
    assert register.owners["talk"] == "first"
    register.release("talk", "first")

    assert not register.owners


def test_a_name_that_is_free_stays_as_it_is() -> None:
    register = Register()
    register.take("talk", "somebody")

    assert free_name("talk~5", register) == "talk~5"


def test_a_creature_id_is_its_name_and_after_that_numbered_even_when_the_first_is_gone() -> None:
    made = HandWorld()

    ids = [made.add("ada"), made.add("ada")]
    made.remove("ada~2")
    made.remove("ada")
    ids += [made.add("ada"), made.add("bo")]

    assert ids == ["ada", "ada~2", "ada~3", "bo"]


def test_the_handle_is_the_name_in_every_graph_where_it_is_free() -> None:
    made = HandWorld()
    made.add_all("ada", "ada")

    third = made.add("ada", graph=made.graph_of("ada~2"))
    fourth = made.add("ada", graph=made.graph_of("ada"), handle="bo")

    assert {name: creature.handle for name, creature in made.world.creatures.items()} == {
        "ada": "ada",
        "ada~2": "ada",
        third: "ada~2",
        fourth: "bo",
    }


def test_ids_of_sessions_hang_on_operation_parents_ordinal_and_house() -> None:
    ids = {
        session_id_for("split", ("s-1",), 0),
        session_id_for("fork", ("s-1",), 0),
        session_id_for("split", ("s-2",), 0),
        session_id_for("split", ("s-1",), 1),
        session_id_for("split", ("s-1", "s-2"), 0),
        session_id_for("split", ("s-2", "s-1"), 0),
        session_id_for("split", ("s-1",), 0, "house"),
        session_id_for("split", (), 0, "s-1"),
    }

    assert len(ids) == 8
    assert session_id_for("split", ("s-1",), 0) in ids


def test_ids_do_not_change_from_version_to_version() -> None:
    assert session_id_for("merge", ("s-1", "s-2"), 0) == "s-4e25b5b29532b015"
    assert graph_id_for("s-4e25b5b29532b015") == "g-4e25b5b29532b015"
    assert channel_id_for("s-1", 3) == "c-dcd55a1fbf5874d4"
    assert wire_id_for("ada", "bo") == "w-0ad4e5aaeb59b3f1"


def test_a_wire_there_and_a_wire_back_are_two() -> None:
    assert wire_id_for("ada", "bo") != wire_id_for("bo", "ada")


def test_the_same_story_gives_the_same_ids_and_another_house_gives_others() -> None:
    def ids(house: str) -> list[str]:
        made = HandWorld(house)
        made.add_all("ada", "bo")
        made.connect("ada", "bo")
        return [event.id for event in made.ledger] + list(made.world.channels)

    assert ids("one") == ids("one")
    assert set(ids("one")).isdisjoint(ids("two"))


def two_halls_of_one_name(name: str = "hall") -> HandWorld:
    """Ada, bo and a third in one graph, cy and dee in another, each with a channel of the same name."""
    made = HandWorld()
    made.add_all("ada", "bo", "eve", "cy", "dee")
    made.connect("ada", "bo", name)
    made.connect("ada", "eve", name)
    made.connect("cy", "dee", name)
    return made


def test_where_two_channels_of_one_name_meet_the_dropped_sides_is_renamed_and_the_renaming_recorded() -> None:
    made = two_halls_of_one_name()
    kept, dropped = made.channel("ada", "hall").id, made.channel("cy", "hall").id

    merge = made.connect("eve", "cy", "bridge")

    assert payloads_of(merge, kinds.CHANNEL_RENAMED) == [
        {"channel_id": dropped, "old_name": "hall", "name": "hall~2"}
    ]
    assert made.channel("ada", "hall").id == kept
    assert made.channel("cy", "hall~2").id == dropped


def test_where_two_handles_meet_the_dropped_sides_gets_the_next_free_one() -> None:
    made = HandWorld()
    for _ in range(3):
        made.add("ada")
    made.connect("ada", "ada~2")

    merge = made.connect("ada~2", "ada~3")

    assert made.creature("ada~2").handle == "ada~2"
    assert payloads_of(merge, kinds.CREATURE_RENAMED) == [
        {"creature": "ada~3", "old_handle": "ada", "handle": "ada~3"}
    ]


def names_are_consistent(made: HandWorld) -> bool:
    graphs = made.world.graphs.values()
    channels = {channel.id: channel.name for channel in made.world.channels.values()}
    names = {channel_id: name for graph in graphs for name, channel_id in graph.channels.owners.items()}
    handles = {creature.id: creature.handle for creature in made.world.creatures.values()}
    told_handles = {creature: handle for graph in graphs for handle, creature in graph.handles.owners.items()}
    return channels == names and handles == told_handles


def test_a_new_channel_does_not_take_the_name_that_a_renamed_one_gets_in_the_same_merge() -> None:
    made = two_halls_of_one_name()

    made.connect("eve", "cy", "hall~2")

    assert names_are_consistent(made)


def test_a_channel_named_by_itself_does_not_take_the_name_of_a_renamed_one_either() -> None:
    made = HandWorld()
    made.add_all("ada", "bo", "eve", "ada", "bo")
    made.connect("ada", "bo")
    made.connect("ada", "eve")
    made.connect("ada~2", "bo~2")

    made.connect("ada", "bo~2")

    assert names_are_consistent(made)


def test_a_channel_renamed_at_a_merge_can_still_be_named_however_long_its_name_is() -> None:
    longest = "h" * name_chars_max
    made = two_halls_of_one_name(longest)
    made.connect("eve", "cy", "bridge")

    again = made.connect("cy", "eve", longest + "~2")

    assert again.subject == made.channel("cy", longest + "~2").id


def test_channels_are_found_by_name_or_id_in_their_own_graph_only() -> None:
    made = two_halls_of_one_name()
    graph, other = (made.world.graphs[made.graph_of(name)] for name in ("ada", "cy"))
    hall = made.channel("ada", "hall")

    assert the_channel(made.world, graph, "hall") is hall
    assert the_channel(made.world, graph, hall.id) is hall
    with pytest.raises(UnknownName):
        the_channel(made.world, other, hall.id)


def test_an_unknown_name_is_answered_with_the_likely_meant_one() -> None:
    made = chain("echo", "moss")

    with pytest.raises(UnknownName) as refusal:
        the_creature(made.world, "ehco")

    assert refusal.value.instead == "Did you mean 'echo'?"
    assert refusal.value.noun == "creature"
    assert set(refusal.value.known) == {"echo", "moss"}
    assert isinstance(refusal.value, Refused)


def test_a_message_quotes_no_more_of_a_name_than_can_be_read() -> None:
    with pytest.raises(Refused) as refusal:
        check_handle("x" * 5_000)

    assert len(str(refusal.value)) < 300
    assert len(str(UnknownName(noun="creature", name="y" * 5_000, known=["fern"]))) < 300


def test_capitals_do_not_hide_the_likely_meant_name() -> None:
    assert "Did you mean 'lead'?" in str(UnknownName(noun="creature", name="LEAD", known=["fern", "lead"]))


def test_the_likeliest_of_the_known_names_comes_first() -> None:
    refusal = UnknownName(noun="creature", name="mos", known=["ada", "echo", "moss"])

    assert refusal.known[0] == "moss"
    assert sorted(refusal.known) == ["ada", "echo", "moss"]


def test_an_unknown_name_like_no_other_is_answered_with_some_that_exist() -> None:
    many = [f"creature-{n:02}" for n in range(12)]

    assert UnknownName(noun="creature", name="xyz", known=[]).instead == "There is no creature yet."
    assert UnknownName(noun="creature", name="xyz", known=["ada", "bo"]).instead == "There are ada, bo."
    assert UnknownName(noun="creature", name="xyz", known=many).instead.endswith("creature-07 and 4 more.")
    assert str(UnknownName(noun="graph", name="g", where="a.yaml:3")).startswith(
        "a.yaml:3: no graph is called"
    )


def test_an_unknown_graph_is_refused() -> None:
    with pytest.raises(UnknownName, match="no open graph is called 'g-1'"):
        the_graph(HandWorld().world, "g-1")
