"""Subscribers: each gets every matching event once and in order, and none can block the terrarium."""

import asyncio
import gc
import weakref
from itertools import product
from pathlib import Path

import pytest

from glasshouse import Event, EventFilter, Manifest, MemoryStore, SqliteStore, Terrarium, kinds
from glasshouse.runtime.ledger import subscriptions
from tests.runtime.stores_around import GatedStore
from tests.runtime.troupe import (
    all_events,
    born,
    line,
    loop_turns,
    new_terrarium,
    soon,
    taken,
    terrarium_on,
    text_of,
    troupe,
)


@pytest.fixture
def small_queues(monkeypatch: pytest.MonkeyPatch) -> None:
    """Queues that overflow after four events and catch up three at a time."""
    monkeypatch.setattr(subscriptions, "subscriber_events_max", 4)
    monkeypatch.setattr(subscriptions, "catch_up_events_max", 3)


async def test_one_who_starts_at_the_beginning_is_told_everything() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        reader = t.subscribe(after=0)

        await t.append("ada", line("hello"))

        events = await taken(reader, await store.position())
        assert [event.position for event in events] == list(range(1, await store.position() + 1))
        assert events == await all_events(store)


async def test_one_who_starts_behind_a_position_is_told_what_comes_after_it() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        for after in range(await store.position() + 1):
            reader = t.subscribe(after=after)

            events = await taken(reader, await store.position() - after)

            assert [event.position for event in events] == list(range(after + 1, await store.position() + 1))


async def test_one_who_starts_now_is_told_what_is_committed_from_now_on() -> None:
    store = GatedStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        store.gate.clear()
        under_way = asyncio.create_task(t.append("ada", line("under way")))
        await loop_turns()
        reader = t.subscribe()

        store.gate.set()
        await soon(under_way)
        await t.append("ada", line("next"))

        assert [text_of(event) for event in await taken(reader, 2)] == ["under way", "next"]


@pytest.mark.usefixtures("small_queues")
async def test_a_slow_one_misses_nothing_and_holds_nobody_up() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        slow, first = t.subscribe(), await store.position() + 1

        for n in range(25):
            await soon(t.append("ada", line(f"{n}")))

        assert len(slow._queue) <= 4
        events = await taken(slow, 25)
        assert [event.position for event in events] == list(range(first, first + 25))
        await t.append("ada", line("live again"))
        assert [text_of(event) for event in await taken(slow, 1)] == ["live again"]


@pytest.mark.usefixtures("small_queues")
@pytest.mark.parametrize("pause", range(7))
async def test_reading_and_writing_at_once_gives_no_gap_and_no_double(pause: int) -> None:
    store = GatedStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        reader, received = t.subscribe(after=2), list[Event]()

        async def read_on() -> None:
            async for event in reader:
                received.append(event)
                for _ in range(pause):
                    await asyncio.sleep(0)

        reading = asyncio.create_task(read_on())
        for n in range(30):
            await asyncio.gather(t.append("ada", line(f"{n}")), t.append("bo", line(f"{n}")))
        await t.close()
        await soon(reading)

        assert [event.position for event in received] == list(range(3, await store.position() + 1))


async def test_one_who_catches_up_sees_nothing_that_was_not_yet_told_and_nothing_twice() -> None:
    store = GatedStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        before = await store.position()
        store.gate_of_answers.clear()
        saying = asyncio.create_task(t.append("ada", line("written, not told")))
        await loop_turns()
        assert await store.position() == before + 1

        reader = t.subscribe(after=0)
        events = await taken(reader, before)
        waiting = asyncio.create_task(anext(reader))
        await loop_turns()
        assert not waiting.done()
        store.gate_of_answers.set()
        events.append(await soon(waiting))
        await soon(saying)
        await t.append("ada", line("next"))
        events += await taken(reader, 1)

        assert [event.position for event in events] == list(range(1, before + 3))


@pytest.mark.parametrize("follows", [EventFilter(creature_ids={"ada"}), EventFilter(channels={"talk"})])
async def test_what_is_published_while_a_filtered_reader_looks_at_the_store_is_not_missed(
    follows: EventFilter,
) -> None:
    store = GatedStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        reader = t.subscribe(follows, after=await store.position())
        store.gate_of_pages.clear()
        reading = asyncio.create_task(anext(reader))
        await loop_turns()
        store.gate_of_pages.set()  # The first page is folded, to know where everybody is.
        store.gate_of_pages.clear()
        await loop_turns()
        assert store.pages[-1] == 0

        await soon(t.append("ada", line("while it looked")))
        store.gate_of_pages.set()
        await loop_turns()

        assert reading.done()
        assert text_of(await reading) == "while it looked"
        await t.append("ada", line("next"))
        assert [text_of(event) for event in await taken(reader, 1)] == ["next"]


async def test_one_who_raises_or_leaves_disturbs_nobody() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await troupe(t, "ada", "bo")
        steady = t.subscribe()

        async def raises() -> None:
            async for _ in t.subscribe():
                raise ValueError("I cannot bear it.")

        async def leaves() -> None:
            async with t.subscribe() as reader:
                await anext(reader)

        troubled = [asyncio.create_task(raises()), asyncio.create_task(leaves())]
        await loop_turns()
        for n in range(5):
            await soon(t.append("ada", line(f"{n}")))

        assert [text_of(event) for event in await taken(steady, 5)] == ["0", "1", "2", "3", "4"]
        answers = await soon(asyncio.gather(*troubled, return_exceptions=True))
        assert [type(answer) for answer in answers] == [ValueError, type(None)]


async def test_a_dropped_subscription_is_forgotten() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await troupe(t, "ada", "bo")
        reader = t.subscribe()
        forgotten = weakref.ref(reader)

        del reader
        gc.collect()
        await t.append("ada", line("to nobody"))

        assert forgotten() is None


async def test_one_who_left_is_told_nothing_more() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await troupe(t, "ada", "bo")
        reader = t.subscribe()

        await reader.aclose()
        await t.append("ada", line("behind its back"))

        assert len(reader._queue) == 0


async def test_closing_ends_iteration_after_all_was_read() -> None:
    t = new_terrarium(MemoryStore())
    await t.open()
    await born(t, "ada")
    waiting, late = t.subscribe(), t.subscribe()
    reading = asyncio.create_task(_texts(waiting))
    await t.append("ada", line("last words", None))

    await t.close()

    assert await soon(reading) == ["last words"]
    assert await soon(_texts(late)) == ["last words"]


async def _texts(reader: subscriptions.Subscription) -> list[str]:
    return [text_of(event) async for event in reader]


async def test_filters_combine_with_and() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo", "cy")
        await t.append("ada", line("on talk"))
        await t.append("bo", line("to nobody in particular", None))
        await t.add_creature(Manifest(name="dee"))
        graph_id, other_id = t.creature("ada").graph_id, t.creature("dee").graph_id
        everything = await all_events(store)

        def is_of_graph(event: Event) -> bool:
            """Whether the graph of ada and bo changed: not before bo was there."""
            is_there = event.graph_id == graph_id and _named(event) != {"ada"}
            return event.kind in kinds.OF_GRAPHS and is_there

        for wanted_kinds, names, graphs, channels in product(
            [None, {kinds.AGENT_SPOKE}, {kinds.TOPOLOGY_CHANGED, kinds.CHANNEL_JOINED}],
            [None, {"ada"}, {"bo", "dee"}],
            [None, {graph_id}, {other_id}],
            [None, {"talk"}],
        ):
            chosen = EventFilter(wanted_kinds, names, graphs, channels)
            expected = [
                event.id
                for event in everything
                if (wanted_kinds is None or event.kind in wanted_kinds)
                and (names is None or event.actor in names or names & _named(event) or is_of_graph(event))
                and (graphs is None or event.graph_id in graphs)
                and (channels is None or event.channel in channels or event.kind.startswith("channel."))
            ]
            events = await taken(t.subscribe(chosen, after=0), len(expected))
            assert [event.id for event in events] == expected


def _named(event: Event) -> set[str]:
    """Every creature that an engine event names anywhere in its payload."""
    values = [] if event.kind == kinds.AGENT_SPOKE else list(event.payload.items())
    named = {value for field, value in values if field in {"creature", "child", "source", "target"}}
    return named | {
        name for f, value in values if f in {"creatures", "stayed", "affected_creatures"} for name in value
    }


async def test_one_who_follows_a_creature_follows_it_through_merges_and_splits() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await troupe(t, "ada", "bo")
        await troupe(t, "cy", "dee", "eve", channel="den")
        spoken = EventFilter(kinds={kinds.AGENT_SPOKE}, creature_ids={"bo"})
        moved = EventFilter(kinds={kinds.TOPOLOGY_CHANGED}, creature_ids={"bo"})
        voice, journey = t.subscribe(spoken), t.subscribe(moved)
        homes = [t.creature("bo").graph_id]

        await t.append("bo", line("at home"))
        await t.connect("bo", "cy", channel="bridge")
        homes.append(t.creature("bo").graph_id)
        await t.append("bo", line("merged", "bridge"))
        await t.append("cy", line("not bo", "den"))
        await t.disconnect("bo", "cy", channel="bridge")
        homes.append(t.creature("bo").graph_id)
        await t.append("bo", line("split"))

        events = await taken(voice, 3)
        assert [text_of(event) for event in events] == ["at home", "merged", "split"]
        assert [event.graph_id for event in events] == homes
        assert [event.payload["kind"] for event in await taken(journey, 2)] == ["merge", "split"]


async def test_one_who_follows_a_creature_is_told_what_becomes_of_a_graph_that_survives() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        await born(t, "cy")
        follows = EventFilter(creature_ids={"ada"})
        live = t.subscribe(follows)
        position = (await all_events(store))[-1].position
        home = t.creature("ada").graph_id

        await t.connect("bo", "cy", channel="bridge")
        merged = t.creature("ada").session_id
        await t.fork(merged)
        await t.disconnect("bo", "cy", channel="bridge")

        changes = [(e.kind, e.payload.get("kind") or e.payload.get("how")) for e in await taken(live, 7)]
        assert changes == [
            (kinds.TOPOLOGY_CHANGED, "merge"),
            (kinds.CREATURE_SESSION_ATTACHED, None),
            (kinds.SESSION_FORKED, "fork"),
            (kinds.TOPOLOGY_CHANGED, "split"),
            (kinds.SESSION_FORKED, "split"),
            (kinds.CREATURE_SESSION_ATTACHED, None),
            (kinds.SESSION_FORKED, "split"),
        ]
        assert t.creature("ada").graph_id == home
        read_back = await taken(t.subscribe(follows, after=position), 7)
        assert [(e.kind, e.payload.get("kind") or e.payload.get("how")) for e in read_back] == changes


async def test_one_who_follows_a_channel_is_told_what_becomes_of_it() -> None:
    async with terrarium_on(MemoryStore()) as t:
        by_name = t.subscribe(EventFilter(channels={"talk"}))
        await troupe(t, "ada", "bo")
        talk_id = t.environment(t.creature("ada").graph_id).channels[0].id
        by_id = t.subscribe(EventFilter(channels={talk_id}))
        opened = await taken(by_name, 5)
        await troupe(t, "cy", "dee", "eve")
        await taken(by_name, 7)

        await t.connect("cy", "ada", channel="bridge")
        await t.disconnect("ada", "bo", channel="talk~2")
        await t.remove_channel(t.creature("ada").graph_id, "talk~2")
        await t.disconnect("cy", "dee", channel="talk")

        assert [e.kind for e in opened] == [kinds.CHANNEL_OPENED, *[kinds.CHANNEL_JOINED] * 4]
        of_id = [(e.kind, e.payload["channel_id"]) for e in await taken(by_id, 4)]
        left = (kinds.CHANNEL_LEFT, talk_id)
        assert of_id == [(kinds.CHANNEL_RENAMED, talk_id), left, left, (kinds.CHANNEL_CLOSED, talk_id)]
        renamed, *others = await taken(by_name, 3)
        assert (renamed.kind, renamed.payload["name"]) == (kinds.CHANNEL_RENAMED, "talk~2")
        assert [(e.kind, e.payload["channel_id"] == talk_id) for e in others] == [
            (kinds.CHANNEL_LEFT, False)
        ] * 2


async def test_a_reader_who_scribbles_on_an_event_changes_neither_world_nor_ledger() -> None:
    async with terrarium_on(MemoryStore()) as t:
        reader = t.subscribe()
        await t.add_creature(Manifest(name="ada", persona="calm"))

        scribbled = (await taken(reader, 1))[0]
        scribbled.payload["manifest"]["persona"] = "wild"

        assert (await t.event(scribbled.id)).payload["manifest"]["persona"] == "calm"
        assert _persona_in_the_world(t, "ada") == "calm"


def _persona_in_the_world(terrarium: Terrarium, name: str) -> object:
    world = terrarium._house.ledger.world
    return world.facts_of(world.creatures[name]).manifest["persona"]


@pytest.mark.parametrize("is_durable", [False, True])
async def test_one_who_is_behind_when_the_terrarium_closes_ends_and_can_go_on_by_position(
    is_durable: bool, tmp_path: Path
) -> None:
    store = SqliteStore(tmp_path / "s.glasshouse") if is_durable else MemoryStore()
    t = new_terrarium(store)
    await t.open()
    await troupe(t, "ada", "bo")
    behind = t.subscribe(after=0)
    await t.append_all("ada", [line(f"{n}") for n in range(3_000)])
    first = await anext(behind)
    await t.close()

    seen = [first, *[event async for event in behind]]

    async with new_terrarium(store) as again:
        await again.append("ada", line("and more"))
        following = await soon(anext(again.subscribe(after=seen[-1].position)))
    assert [event.position for event in seen] == list(range(1, len(seen) + 1))
    assert following.position == len(seen) + 1
