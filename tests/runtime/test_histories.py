"""Histories: whole, after an event, up to an event, and forked; and the shape of the world at any event."""

import asyncio

import pytest

from glasshouse import Manifest, MemoryStore, Refused, Terrarium, kinds
from glasshouse.errors import UnknownName
from glasshouse.views import Graph
from glasshouse.world.state.lineage import page_events_max
from tests.runtime.stores_around import GatedStore
from tests.runtime.troupe import all_events, born, line, loop_turns, soon, terrarium_on, text_of, troupe


async def merged_and_split(t: Terrarium) -> str:
    """A session with a merge and a split in its past; its id."""
    await troupe(t, "ada", "bo")
    await troupe(t, "cy", "dee", "eve", channel="den")
    await t.append("ada", line("from the left"))
    await t.append("cy", line("from the right", "den"))
    await t.connect("bo", "cy", channel="bridge", both=True)
    await t.append("bo", line("together", "bridge"))
    await t.disconnect("bo", "cy", channel="bridge")
    await t.disconnect("cy", "bo", channel="bridge")
    await t.append("ada", line("apart"))
    return t.creature("ada").session_id


async def test_a_history_holds_each_event_once_in_causal_order() -> None:
    async with terrarium_on(MemoryStore()) as t:
        session_id = await merged_and_split(t)

        events = await t.events(session_id)

        assert len({event.id for event in events}) == len(events)
        assert [e.lamport for e in events] == sorted(e.lamport for e in events)
        spoken = [text_of(e) for e in events if e.kind == kinds.AGENT_SPOKE]
        assert sorted(spoken[:2]) == ["from the left", "from the right"]
        assert spoken[2:] == ["together", "apart"]
        assert [e async for e in t.history(session_id)] == list(events)


async def test_after_leaves_out_and_upto_takes_in_for_every_pair_of_events() -> None:
    async with terrarium_on(MemoryStore()) as t:
        session_id = await merged_and_split(t)
        whole = await t.events(session_id)

        for n, event in enumerate(whole):
            assert await t.events(session_id, after=event.id) == whole[n + 1 :]
            assert await t.events(session_id, upto=event.id) == whole[: n + 1]
            assert (
                await t.events(session_id, after=whole[n // 2].id, upto=event.id) == whole[n // 2 + 1 : n + 1]
            )


async def test_an_event_of_another_history_is_no_bound() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await born(t, "ada", "bo")
        foreign = (await t.events(t.creature("bo").session_id))[0].id

        with pytest.raises(Refused, match="has no event"):
            await t.events(t.creature("ada").session_id, after=foreign)
        with pytest.raises(UnknownName):
            await t.events("s-nowhere")


async def test_reading_the_tail_again_and_again_gives_each_event_once() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await troupe(t, "ada", "bo")
        session_id = t.creature("ada").session_id
        seen = list(await t.events(session_id))

        for n in range(10):
            await t.append("ada", line(f"{n}"))
            seen += await t.events(session_id, after=seen[-1].id)

        assert tuple(seen) == await t.events(session_id)


async def test_a_fork_remembers_the_past_up_to_the_end_of_the_batch_and_seals_nothing() -> None:
    async with terrarium_on(MemoryStore()) as t:
        session_id = await merged_and_split(t)
        whole = await t.events(session_id)
        batch = await t.append_all("ada", [line("a"), line("b"), line("c")])

        forked = await t.fork(session_id, at=batch[0].id)
        await t.append("ada", line("the parent goes on"))

        past = await t.events(forked.id)
        assert past[:-1] == (*whole, *batch)
        assert (past[-1].kind, past[-1].session_id) == (kinds.SESSION_FORKED, forked.id)
        assert (await t.events(session_id))[-1].payload == {"text": "the parent goes on"}
        assert t.session(session_id).child_session_ids == (forked.id,)


async def test_a_fork_in_the_past_counts_who_was_there_then() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await troupe(t, "ada", "bo")
        said = await t.append("ada", line("just us two"))
        await t.add_creature(Manifest(name="cy"), graph=said.graph_id)
        await t.remove_creature("bo")

        forked = await t.fork(said.session_id, at=said.id)

        assert set(forked.agents) == {"ada", "bo"}


async def test_forks_of_one_event_are_different_sessions() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await troupe(t, "ada", "bo")
        session_id = t.creature("ada").session_id

        forks = await asyncio.gather(*(t.fork(session_id) for _ in range(4)))

        assert len({fork.id for fork in forks}) == 4
        again = await t.fork(forks[0].id)
        assert again.parent_session_ids == (forks[0].id,)
        assert {s.id for s in t.lineage(session_id).descendants} == {again.id, *(fork.id for fork in forks)}


async def test_the_shape_at_any_event_is_the_shape_as_it_was_then() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        shapes: dict[int, tuple[Graph, ...]] = {}
        for call in (
            lambda: troupe(t, "ada", "bo", "cy"),
            lambda: t.append("ada", line("hello")),
            lambda: t.wire("ada", "cy"),
            lambda: t.add_creature(Manifest(name="ada")),
            lambda: t.connect("ada~2", "ada"),
            lambda: t.disconnect("ada", "bo", channel="talk"),
            lambda: t.disconnect("bo", "ada", channel="talk"),
            lambda: t.add_creature(Manifest(name="dee"), graph=t.creature("cy").graph_id),
            lambda: t.remove_creature("bo"),
        ):
            await call()
            shapes[await store.position()] = t.graphs()
        events = await all_events(store)

        for position, shape in shapes.items():
            assert await t.graphs_at(events[position - 1].id) == shape


async def test_the_shape_at_an_event_inside_a_change_is_the_shape_that_the_change_led_to() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        shapes: dict[int, tuple[Graph, ...]] = {}

        for call in (t.disconnect("ada", "bo"), t.disconnect("bo", "ada"), t.connect("bo", "ada")):
            first = await store.position() + 1
            await call
            shapes |= {position: t.graphs() for position in range(first, await store.position() + 1)}

        events = await all_events(store)
        for position, shape in shapes.items():
            assert await t.graphs_at(events[position - 1].id) == shape


async def test_a_history_read_while_much_is_under_way_has_no_gap() -> None:
    store = GatedStore()
    async with terrarium_on(store) as t:
        await born(t, "ada")
        session_id = t.creature("ada").session_id
        await t.append_all("ada", [line("old", None)] * (page_events_max - 1 - t.session(session_id).events))
        store.gate.clear()
        saying = [asyncio.create_task(t.append("ada", line("new", None))) for _ in range(4)]
        await loop_turns()

        async def read() -> list[int]:
            seqs: list[int] = []
            async for event in t.history(session_id):
                seqs.append(event.seq)
                store.gate.set()
                await asyncio.sleep(0)
            return seqs

        reading = asyncio.create_task(read())
        await loop_turns()
        store.gate.set()
        seqs = await soon(reading)

        assert seqs == list(range(1, len(seqs) + 1))
        await soon(asyncio.gather(*saying))


async def test_the_history_of_a_session_that_is_still_being_opened_can_be_asked_for() -> None:
    store = GatedStore()
    async with terrarium_on(store) as t:
        await born(t, "ada", "bo")
        store.gate.clear()
        merging = asyncio.create_task(t.connect("ada", "bo"))
        await loop_turns()

        reading = asyncio.create_task(t.events(t.creature("ada").session_id))
        await loop_turns()
        store.gate.set()
        await soon(merging)

        ids = [event.id for event in await soon(reading)]
        whole = [event.id for event in await t.events(t.creature("ada").session_id)]
        assert ids == whole[: len(ids)]
