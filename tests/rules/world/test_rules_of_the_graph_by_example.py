"""Each rule of the graph as one small story."""

from itertools import pairwise

import pytest

from glasshouse import Draft, Event, EventFilter, Manifest, MemoryStore, Refused, Terrarium, kinds
from glasshouse.views import Creature
from tests.rules.world.shape import Mute
from tests.runtime.troupe import born, line, mail_of, taken, terrarium_on, troupe


async def chain(t: Terrarium, *names: str) -> list[Creature]:
    """Creatures joined in a row, each pair by a channel of its own."""
    await born(t, *names)
    for first, other in pairwise(names):
        await t.connect(first, other, both=True)
    return [t.creature(name) for name in names]


async def last_events(t: Terrarium, session_id: str, count: int) -> list[Event]:
    return list(await t.events(session_id))[-count:]


async def test_two_creatures_are_in_one_graph_when_a_path_of_channels_joins_them() -> None:
    async with terrarium_on(MemoryStore()) as t:
        ada, _, cy = await chain(t, "ada", "bo", "cy")

        assert ada.graph_id == cy.graph_id
        assert t.graph(ada.graph_id).creature_ids == ("ada", "bo", "cy")


async def test_listening_alone_joins_and_a_wire_does_not() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await troupe(t, "ada", "bo")
        await born(t, "cy")
        await t.wire("ada", "bo")

        change = await t.connect("ada", "cy", channel="talk")

        assert change.kind == "merge"
        assert t.environment(t.creature("cy").graph_id).channels[0].senders == ("ada", "bo")
        await t.remove_channel(t.creature("ada").graph_id, "talk")
        assert len(t.graphs()) == 3


async def test_leaving_the_only_bridge_splits_the_graph() -> None:
    async with terrarium_on(MemoryStore()) as t:
        before, *_ = await chain(t, "ada", "bo", "cy")
        await t.disconnect("bo", "cy")

        change = await t.disconnect("cy", "bo")

        assert change.kind == "split"
        assert change.new_graph_ids == (before.graph_id, t.creature("cy").graph_id)
        assert change.affected_creatures == ("cy",)


async def test_leaving_one_of_two_bridges_splits_nothing() -> None:
    async with terrarium_on(MemoryStore()) as t:
        ada, *_ = await chain(t, "ada", "bo")
        await t.connect("ada", "bo", channel="second")

        change = await t.disconnect("ada", "bo", channel="second")

        assert (change.kind, change.new_graph_ids) == ("nothing", (ada.graph_id,))


async def test_in_a_merge_the_larger_graph_keeps_its_id() -> None:
    async with terrarium_on(MemoryStore()) as t:
        (lone,) = await born(t, "ada")
        bo, *_ = await chain(t, "bo", "cy")

        change = await t.connect("ada", "bo")

        assert change.old_graph_ids == (bo.graph_id, lone.graph_id)
        assert change.new_graph_ids == (bo.graph_id,)
        assert change.affected_creatures == ("ada",)


async def test_in_a_merge_of_equals_the_older_graph_keeps_its_id() -> None:
    async with terrarium_on(MemoryStore()) as t:
        ada, bo = await born(t, "ada", "bo")

        change = await t.connect("bo", "ada")

        assert change.new_graph_ids == (ada.graph_id,)
        assert t.creature("bo").graph_id == ada.graph_id != bo.graph_id


async def test_in_a_split_the_largest_part_keeps_the_id_and_in_a_tie_the_one_with_the_oldest() -> None:
    async with terrarium_on(MemoryStore()) as t:
        ada, *_ = await chain(t, "ada", "bo", "cy", "dee", "eve")

        by_size = await t.remove_creature("bo")
        assert t.creature("dee").graph_id == ada.graph_id
        assert by_size.affected_creatures == ("ada",)
        by_age = await t.remove_creature("dee")

        assert t.creature("cy").graph_id == ada.graph_id
        assert by_age.affected_creatures == ("eve",)


async def test_names_that_clash_in_a_merge_get_the_next_free_number_on_the_dropped_side() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await troupe(t, "ada", "bo", "cy")
        two = [(await t.add_creature(Manifest(name=name))).id for name in ("ada", "bo")]
        await t.connect(*two, channel="talk")
        kept = t.environment(t.creature("ada").graph_id).channels[0].id
        moved = t.environment(t.creature("ada~2").graph_id).channels[0].id

        await t.connect("cy", "bo~2", channel="bridge")

        handles = {creature.id: creature.handle for creature in t.creatures()}
        assert handles == {"ada": "ada", "bo": "bo", "cy": "cy", "ada~2": "ada~2", "bo~2": "bo~2"}
        names = {channel.id: channel.name for channel in t.environment(t.creature("cy").graph_id).channels}
        assert (names[kept], names[moved]) == ("talk", "talk~2")
        renames = [e.kind for e in await t.events(t.creature("cy").session_id) if e.kind.endswith(".renamed")]
        assert renames == [kinds.CREATURE_RENAMED, kinds.CREATURE_RENAMED, kinds.CHANNEL_RENAMED]


async def test_a_channel_asked_for_by_the_name_a_rename_would_take_keeps_it() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await troupe(t, "ada", "bo")
        await troupe(t, "cy", "dee")

        await t.connect("ada", "cy", channel="talk~2")

        graph = t.graph(t.creature("ada").graph_id)
        assert sorted(graph.channels) == ["talk", "talk~2", "talk~3"]
        assert len(t.environment(graph.id).channels) == 3


async def test_a_channel_named_by_the_engine_takes_no_name_that_a_rename_takes() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await chain(t, "ada", "bo")
        ada, bo = [await t.add_creature(Manifest(name=name)) for name in ("ada", "bo")]
        await t.connect(ada.id, bo.id)

        await t.connect("ada", "bo~2")

        graph = t.graph(t.creature("ada").graph_id)
        assert len(graph.channels) == len(set(graph.channels)) == 3
        assert {channel.name for channel in t.environment(graph.id).channels} == set(graph.channels)


async def test_a_freed_number_is_given_again_and_none_is_below_two() -> None:
    async with terrarium_on(MemoryStore()) as t:
        ada, *_ = await chain(t, "ada", "bo")
        await t.connect("ada", "bo")
        await t.connect("ada", "bo")
        await t.remove_channel(ada.graph_id, "ada-bo~2")

        await t.connect("ada", "bo")

        assert set(t.graph(ada.graph_id).channels) == {"ada-bo", "ada-bo~2", "ada-bo~3"}
        with pytest.raises(Refused, match="not a channel name"):
            await t.add_channel(ada.graph_id, "ada-bo~1")


async def test_on_a_split_channels_go_with_their_members_and_empty_ones_stay() -> None:
    async with terrarium_on(MemoryStore()) as t:
        ada, *_ = await chain(t, "ada", "bo", "cy", "dee")
        await t.add_channel(ada.graph_id, "empty")

        await t.remove_channel(ada.graph_id, "bo-cy")

        assert set(t.graph(ada.graph_id).channels) == {"ada-bo", "empty"}
        assert t.graph(t.creature("dee").graph_id).channels == ("cy-dee",)


async def test_wires_whose_ends_are_parted_are_removed_and_others_stay() -> None:
    async with terrarium_on(MemoryStore()) as t:
        ada, *_ = await chain(t, "ada", "bo", "cy")
        await t.wire("ada", "cy")
        await t.wire("ada", "bo")

        await t.remove_channel(ada.graph_id, "bo-cy")

        assert [(wire.source, wire.target) for wire in t.graph(ada.graph_id).wires] == [("ada", "bo")]
        events = await t.events(ada.session_id)
        removed = [event for event in events if event.kind == kinds.OUTPUT_WIRE_REMOVED]
        assert [(event.payload["target"], event.payload["reason"]) for event in removed] == [("cy", "split")]


async def test_a_wire_across_two_graphs_is_refused_with_the_call_that_would_work() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await born(t, "ada", "bo")

        with pytest.raises(Refused) as refused:
            await t.wire("ada", "bo")

        assert "connect('ada', 'bo')" in refused.value.instead


async def test_nobody_can_be_disconnected_from_itself() -> None:
    async with terrarium_on(MemoryStore()) as t:
        graph = await troupe(t, "ada", "bo")

        with pytest.raises(Refused):
            await t.disconnect("ada", "ada")

        assert set(t.environment(graph).channels[0].listeners) == {"ada", "bo"}


async def test_no_message_is_lost_or_doubled_by_merge_split_stop_or_start() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await troupe(t, "ada", "bo")
        await born(t, "cy")

        await t.append("ada", line("one"))
        await t.stop_creature("bo")
        await t.connect("cy", "bo", channel="talk")
        await t.append("cy", line("two"))
        await t.remove_creature("cy")
        await t.start_creature("bo")
        await t.append("ada", line("three"))

        assert await mail_of(t, "bo") == ["one", "two", "three"]


async def test_no_change_recreates_an_agent() -> None:
    async with terrarium_on(MemoryStore()) as t:
        mind = Mute()
        await t.add_creature(Manifest(name="ada"), agent=mind)
        await born(t, "bo", "cy")

        await t.connect("bo", "cy")
        await t.connect("ada", "bo")
        await t.stop_creature("ada")
        await t.disconnect("ada", "bo")

        assert t.agent("ada") is mind


async def test_an_id_is_the_name_if_free_and_is_never_given_again() -> None:
    async with terrarium_on(MemoryStore()) as t:
        first, second = [await t.add_creature(Manifest(name="ada")) for _ in range(2)]
        await t.remove_creature(second.id)

        third = await t.add_creature(Manifest(name="ada"))

        assert [first.id, second.id, third.id] == ["ada", "ada~2", "ada~3"]
        assert [first.handle, third.handle] == ["ada", "ada"]


async def test_opening_a_store_again_brings_everything_back_and_adds_nothing() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await chain(t, "ada", "bo", "cy")
        await t.stop_creature("bo")
        await t.grant_privilege("cy")
        graphs, creatures, position = t.graphs(), t.creatures(), await store.position()

    async with terrarium_on(store) as t:
        assert (t.graphs(), t.creatures(), await store.position()) == (graphs, creatures, position)


async def test_the_last_one_gone_closes_the_graph_and_its_session_stays_readable() -> None:
    async with terrarium_on(MemoryStore()) as t:
        (ada,) = await born(t, "ada")
        await t.append("ada", line("goodbye", None))

        change = await t.remove_creature("ada")

        assert (change.old_graph_ids, change.new_graph_ids) == ((ada.graph_id,), ())
        assert t.graphs() == ()
        assert not t.session(ada.session_id).is_open
        assert "goodbye" in [event.payload.get("text") for event in await t.events(ada.session_id)]


async def test_a_merge_is_told_first_in_the_new_session_and_a_split_last_in_the_old() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await born(t, "ada", "bo")
        await t.connect("ada", "bo", channel="talk")
        merged = t.creature("ada").session_id
        await t.disconnect("ada", "bo")

        own = [event for event in await t.events(merged) if event.session_id == merged]

        assert (own[0].kind, own[0].payload["kind"]) == (kinds.TOPOLOGY_CHANGED, "merge")
        assert (own[-1].kind, own[-1].payload["kind"]) == (kinds.TOPOLOGY_CHANGED, "split")
        assert t.session(merged).merged_at == own[0].id
        assert t.session(merged).began_at == own[0].created_at
        assert t.session(t.creature("bo").session_id).split_at == own[-1].id
        assert t.session(t.creature("bo").session_id).began_at == own[-1].created_at


async def test_one_added_to_a_graph_joins_its_only_channel() -> None:
    async with terrarium_on(MemoryStore()) as t:
        graph = await troupe(t, "ada", "bo")

        await t.add_creature(Manifest(name="cy"), graph=graph)

        (talk,) = t.environment(graph).channels
        assert (talk.name, talk.listeners, talk.senders) == ("talk", ("ada", "bo", "cy"), ("ada", "bo", "cy"))


async def test_one_added_to_a_graph_of_many_channels_speaks_with_its_oldest_member() -> None:
    async with terrarium_on(MemoryStore()) as t:
        graph = (await chain(t, "ada", "bo", "cy"))[0].graph_id

        await t.add_creature(Manifest(name="dee"), graph=graph)

        *_, new = t.environment(graph).channels
        assert (new.name, new.listeners, new.senders) == ("ada-dee", ("ada", "dee"), ("ada", "dee"))


async def test_one_added_to_a_graph_keeps_a_later_bridge_from_nothing() -> None:
    async with terrarium_on(MemoryStore()) as t:
        graph = (await chain(t, "ada", "bo", "cy"))[0].graph_id
        await t.add_creature(Manifest(name="dee"), graph=graph)

        parted = await t.remove_creature("bo")

        assert parted.kind == "split"
        assert [there.creature_ids for there in t.graphs()] == [("ada", "dee"), ("cy",)]


async def test_one_added_to_a_named_channel_is_on_that_one_alone() -> None:
    async with terrarium_on(MemoryStore()) as t:
        graph = (await chain(t, "ada", "bo", "cy"))[0].graph_id

        await t.add_creature(Manifest(name="dee"), graph=graph, channel="bo-cy")

        on = [channel.name for channel in t.environment(graph).channels if "dee" in channel.listeners]
        assert on == ["bo-cy"]


async def test_one_added_to_a_channel_with_nobody_on_it_meets_the_oldest_member_there() -> None:
    async with terrarium_on(MemoryStore()) as t:
        graph = (await chain(t, "ada", "bo", "cy"))[0].graph_id
        await t.add_channel(graph, "den")

        await t.add_creature(Manifest(name="dee"), graph=graph, channel="den")

        assert t.graph(graph).creature_ids == ("ada", "bo", "cy", "dee")
        den = t.environment(graph).channel("den")
        assert den is not None
        assert den.listeners == ("ada", "dee")


@pytest.mark.parametrize(
    ("is_in_graph", "words"),
    [(True, "no channel of graph ada is called 'tlak'. Did you mean 'talk'?"), (False, "Name the graph")],
)
async def test_a_channel_to_be_added_to_must_be_there(is_in_graph: bool, words: str) -> None:
    async with terrarium_on(MemoryStore()) as t:
        graph = await troupe(t, "ada", "bo")

        with pytest.raises(Refused) as refusal:
            await t.add_creature(Manifest(name="cy"), graph=graph if is_in_graph else None, channel="tlak")

        assert words in str(refusal.value)


async def test_every_change_of_a_parent_is_told_from_birth_to_removal() -> None:
    async with terrarium_on(MemoryStore()) as t:
        ada = await t.add_creature(Manifest(name="ada"))
        await t.add_creature(Manifest(name="bo"), parent=ada)
        await t.add_creature(Manifest(name="cy"), graph=ada.graph_id, parent="bo")
        foreseen = await t.set_parent("cy", ada, dry_run=True)
        assert await t.set_parent("cy", ada) == foreseen == t.creature("cy")
        await t.set_parent("cy", ada)
        await t.set_parent("cy", None)
        await t.set_parent("cy", "bo")
        reader = t.subscribe(EventFilter(kinds={kinds.PARENT_LINK_CHANGED}), after=0)

        await t.remove_creature("bo")
        await t.remove_creature("cy")

        links = [
            (e.payload["child"], e.payload["old_parent"], e.payload["new_parent"])
            for e in await taken(reader, 8)
        ]
    assert links == [
        ("bo", None, "ada"),
        ("cy", None, "bo"),
        ("cy", "bo", "ada"),
        ("cy", "ada", None),
        ("cy", None, "bo"),
        ("cy", "bo", "ada"),
        ("bo", "ada", None),
        ("cy", "ada", None),
    ]


@pytest.mark.parametrize("parent", ["ada", "bo", "cy"])
async def test_nobody_becomes_its_own_ancestor(parent: str) -> None:
    async with terrarium_on(MemoryStore()) as t:
        await t.add_creature(Manifest(name="ada"))
        await t.add_creature(Manifest(name="bo"), parent="ada")
        await t.add_creature(Manifest(name="cy"), parent="bo")

        with pytest.raises(Refused, match="cannot be a child of itself or of its own descendants"):
            await t.set_parent("ada", parent)


async def test_a_channel_is_renamed_and_described_and_everybody_hears_on() -> None:
    async with terrarium_on(MemoryStore()) as t:
        graph = await troupe(t, "ada", "bo")
        await t.append("ada", line("before"))

        foreseen = await t.rename_channel(graph, "talk", "den", dry_run=True)
        renamed = await t.rename_channel(graph, "talk", "den")
        described = await t.describe_channel(graph, "den", "to whisper in")
        await t.append("ada", line("after", "den"))

        assert foreseen == renamed
        assert (renamed.name, renamed.listeners) == ("den", ("ada", "bo"))
        assert (described.name, described.description) == ("den", "to whisper in")
        assert described == t.environment(graph).channel("den")
        assert await mail_of(t, "bo") == ["before", "after"]
        events = await t.events(t.creature("ada").session_id)
        changes = [
            (e.kind, e.payload["name"])
            for e in events
            if e.kind.startswith("channel.") and "name" in e.payload
        ]
        assert changes[1:] == [(kinds.CHANNEL_RENAMED, "den"), (kinds.CHANNEL_DESCRIBED, "den")]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("talk", "den", "Graph ada has a channel 'den' already. Use it, or choose 'den~2'."),
        ("tlak", "nest", "no channel of graph ada is called 'tlak'. Did you mean 'talk'?"),
        ("talk", "No Way", "'No Way' is not a channel name."),
    ],
)
async def test_a_channel_is_not_renamed_to_a_name_that_cannot_be(old: str, new: str, words: str) -> None:
    async with terrarium_on(MemoryStore()) as t:
        graph = await troupe(t, "ada", "bo")
        await t.add_channel(graph, "den")

        with pytest.raises(Refused) as refusal:
            await t.rename_channel(graph, old, new)

        assert words in str(refusal.value)


async def test_the_children_of_one_who_goes_answer_to_its_parent() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await t.add_creature(Manifest(name="ada"))
        await t.add_creature(Manifest(name="bo"), parent="ada")
        await t.add_creature(Manifest(name="cy"), parent="bo")

        await t.remove_creature("bo")

        assert t.creature("cy").parent == "ada"


async def test_a_creature_says_only_what_it_was_granted_where_it_sends() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await born(t, "ada", "bo")
        await t.connect("ada", "bo", channel="talk")

        with pytest.raises(Refused, match="may not emit"):
            await t.append("ada", Draft(kind=kinds.JUDGE_VERDICT))
        with pytest.raises(Refused, match="does not send on talk"):
            await t.append("bo", line("me too"))
