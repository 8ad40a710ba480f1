"""Observers: every view of the show, live or afterwards; none of them changes, delays or stops it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import cast

import pytest

from glasshouse import Draft, Event, Manifest, MemoryStore, Refused, digest_of, kinds
from glasshouse.events.redaction import Role
from glasshouse.runtime import observer as observers
from glasshouse.runtime import subscriptions
from glasshouse.runtime.observer import Observer, ObserverPump, Observers, attach
from glasshouse.views.diff import ViewDiff, patched
from glasshouse.views.following import Following
from glasshouse.views.stage import StageProjection, rebuild_stage
from tests.rules.events.events_by_hand import an_event
from tests.runtime.troupe import all_events, born, line, loop_turns, soon, terrarium_on, troupe

loop_turns_max = 1_000

A_THOUGHTFUL_LINE = an_event(
    private={"thought": "hm"},
    model={"calls": [{"model": "offline", "usage": {"input": 5, "output": 2}, "reached": True}]},
)


@pytest.fixture
def small_queues(monkeypatch: pytest.MonkeyPatch) -> None:
    """Queues that overflow after four events and catch up three at a time."""
    monkeypatch.setattr(subscriptions, "subscriber_events_max", 4)
    monkeypatch.setattr(subscriptions, "catch_up_events_max", 3)


def lines_of(observer: Observer) -> list[str]:
    return [note.text for note in observer.view.agent_notes]


async def reached(pump: ObserverPump, store: MemoryStore) -> None:
    """Wait until an observer has read everything."""
    for _ in range(loop_turns_max):
        if pump.position >= store.position or pump.task.done():
            return
        await asyncio.sleep(0)
    raise AssertionError(f"still at {pump.position} of {store.position}")


async def test_one_who_watches_from_the_beginning_sees_the_stage_that_a_rebuild_gives() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        diffs: list[ViewDiff] = []
        watching, other = Observer(), Observer()
        watching.on_diff(diffs.append)
        pumps = [attach(t.subscribe(after=0), one) for one in (watching, other)]

        for text in ("Hush.", "Hush."):
            await t.append("ada", line(text))
        for pump in pumps:
            await soon(reached(pump, store))

        assert watching.view == other.view == rebuild_stage(await all_events(store))
        assert patched(StageProjection(), diffs) == watching.view
        assert lines_of(watching) == ["Hush.", "Hush."]


async def test_consuming_gives_the_diff_and_tells_every_callback() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await born(t, "ada")
        event = await t.append("ada", line("Hush.", None))
        told: list[tuple[str, ViewDiff]] = []
        observer = Observer()
        observer.on_diff(lambda diff: told.append(("one", diff)))
        observer.on_diff(lambda diff: told.append(("other", diff)))

        diff = observer.consume(event)

        assert [note.text for note in diff.new_agent_notes] == ["Hush."]
        assert told == [("one", diff), ("other", diff)]


async def test_a_saved_log_fed_afterwards_gives_the_live_view() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        live = Observer()
        pump = attach(t.subscribe(after=0), live)
        await t.append("bo", line("for later"))
        await soon(reached(pump, store))

        afterwards = Observer()
        for event in await t.events(t.creature("ada").session_id):
            afterwards.consume(event)

        assert lines_of(afterwards) == lines_of(live) == ["for later"]
        assert afterwards.view.cast == live.view.cast


@pytest.mark.parametrize(
    ("role", "thought", "calls"), [("spectator", None, 0), ("audience", "hm", 0), ("director", "hm", 1)]
)
def test_each_role_sees_what_it_may(role: Role, thought: str | None, calls: int) -> None:
    observer = Observer(role=role)

    diff = observer.consume(A_THOUGHTFUL_LINE)

    (note,) = diff.new_agent_notes
    assert (note.private or {}).get("thought") == thought
    assert observer.view.counters.calls == calls


def test_there_is_no_other_role() -> None:
    with pytest.raises(Refused, match="spectator, audience, director"):
        Observer(role=cast("Role", "critic"))


async def test_one_who_watches_a_run_sees_no_other() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        ada = await t.add_creature(Manifest(name="ada"), run="r-one")
        bo = await t.add_creature(Manifest(name="bo"), run="r-two")
        observer = Observer(run_id="r-one")
        pump = attach(t.subscribe(after=0), observer)

        await t.append(ada.id, line("Mine.", None))
        await t.append(bo.id, line("Theirs.", None))
        await soon(reached(pump, store))

        assert lines_of(observer) == ["Mine."]
        assert list(observer.view.cast) == ["ada"]
        assert observer.view == rebuild_stage(await all_events(store), run_id="r-one")


@pytest.mark.parametrize("followed", ["ada", "cy"])
async def test_one_who_follows_a_creature_follows_it_through_merges_and_splits(followed: str) -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        diffs: list[ViewDiff] = []
        observer, homes = Observer(follow=followed), list[set[str]]()
        observer.on_diff(diffs.append)
        pump = attach(t.subscribe(after=0), observer)

        async def everybody_says(word: str) -> None:
            for creature in t.creatures():
                await t.append(creature.id, line(f"{creature.id} {word}", None))
            await soon(reached(pump, store))
            homes.append(set(t.graph(t.creature(followed).graph_id).creature_ids))
            assert set(observer.view.cast) == homes[-1]

        await troupe(t, "ada", "bo")
        await troupe(t, "cy", "dee", "eve", channel="den")
        await everybody_says("apart")
        await t.connect("ada", "cy", channel="bridge")
        await everybody_says("merged")
        await t.disconnect("ada", "cy", channel="bridge")
        await everybody_says("split")

        mine = {"ada", "bo"} if followed == "ada" else {"cy", "dee", "eve"}
        assert homes == [mine, {"ada", "bo", "cy", "dee", "eve"}, mine]
        expected = [
            f"{name} {word}"
            for here, word in zip(homes, ("apart", "merged", "split"), strict=True)
            for name in ("ada", "bo", "cy", "dee", "eve")
            if name in here
        ]
        assert lines_of(observer) == expected
        assert patched(StageProjection(), diffs) == observer.view
        following = Following(followed)
        moves = [event for event in await all_events(store) if following.sees(event) and _is_move(event)]
        assert [event.payload["kind"] for event in moves] == ["merge"] * len(mine) + ["split"]


def _is_move(event: Event) -> bool:
    return event.kind == kinds.TOPOLOGY_CHANGED and event.payload["kind"] != "nothing"


async def test_those_met_in_a_merge_are_known_by_the_handles_they_have_then() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        judge = await t.add_creature(Manifest(name="judy", role="judge"), handle="ada")
        observer = Observer(follow="ada")
        pump = attach(t.subscribe(after=0), observer)

        await t.connect("ada", judge.id, both=True)
        await t.append(judge.id, line("Order!", None))
        await soon(reached(pump, store))

        (note,) = observer.view.judge_notes
        assert note.handle == t.creature(judge.id).handle != "ada"


async def test_one_who_follows_a_creature_that_was_removed_sees_nothing_more() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        observer = Observer(follow="ada")
        pump = attach(t.subscribe(after=0), observer)

        await t.remove_creature("ada")
        await soon(reached(pump, store))
        seen = observer.view.counters.events
        await t.append("bo", line("alone", None))
        await born(t, "cy")
        await soon(reached(pump, store))

        assert (lines_of(observer), observer.view.cast) == ([], {})
        assert observer.view.counters.events == seen


async def test_one_who_begins_in_the_middle_follows_from_the_creature_s_next_act_on() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        observer = Observer(follow="ada")
        pump = attach(t.subscribe(), observer)

        for name in ("bo", "ada", "bo"):
            await t.append(name, line(f"{name} speaks"))
        await soon(reached(pump, store))

        assert lines_of(observer) == ["ada speaks", "bo speaks"]


async def test_a_callback_that_raises_is_let_go_and_everybody_else_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await born(t, "ada")
        told: list[ViewDiff] = []
        calls = list[ViewDiff]()

        def raises(diff: ViewDiff) -> None:
            calls.append(diff)
            raise ValueError("I cannot bear it.")

        observer = Observer()
        observer.on_diff(raises)
        observer.on_diff(told.append)
        pump = attach(t.subscribe(), observer)
        with caplog.at_level(logging.WARNING, "glasshouse.observers"):
            for n in range(3):
                await soon(t.append("ada", line(f"{n}", None)))
            await soon(reached(pump, store))

        assert (len(calls), len(told), lines_of(observer)) == (1, 3, ["0", "1", "2"])
        assert [str(wrong) for wrong in observer.errors] == ["I cannot bear it."]
        assert "not called again" in caplog.text


async def test_an_asynchronous_callback_that_raises_is_let_go_as_well() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await born(t, "ada")

        async def raises(diff: ViewDiff) -> None:
            raise ValueError("Not later either.")

        observer = Observer()
        observer.on_diff(raises)
        pump = attach(t.subscribe(), observer)
        for n in range(2):
            await soon(t.append("ada", line(f"{n}", None)))
        await soon(reached(pump, store))

        assert [str(wrong) for wrong in observer.errors] == ["Not later either."]
        assert lines_of(observer) == ["0", "1"]


async def test_an_observer_that_raises_is_let_go_and_another_can_go_on_where_it_was() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await born(t, "ada")
        steady = Observer()
        pumps = [attach(t.subscribe(), Moody()), attach(t.subscribe(), steady)]

        for n in range(3):
            await soon(t.append("ada", line(f"{n}", None)))
        for pump in pumps:
            await soon(reached(pump, store))

        assert isinstance(pumps[0].error, ValueError)
        assert lines_of(steady) == ["0", "1", "2"]
        after = Observer()
        await soon(reached(attach(t.subscribe(after=pumps[0].position), after), store))
        assert lines_of(after) == ["1", "2"]


@pytest.mark.usefixtures("small_queues")
async def test_a_slow_one_delays_nobody_stays_bounded_and_catches_up_by_position() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await born(t, "ada")
        gate, subscription, observer = asyncio.Event(), t.subscribe(after=0), Observer()

        async def slow(diff: ViewDiff) -> None:
            await gate.wait()

        observer.on_diff(slow)
        pump = attach(subscription, observer)
        for n in range(30):
            await soon(t.append("ada", line(f"{n}", None)))

        assert observer.view.counters.events <= 1
        assert len(subscription._queue) <= 4
        gate.set()
        await soon(reached(pump, store))
        assert observer.view == rebuild_stage(await all_events(store))


async def test_one_who_catches_up_lets_the_others_run_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observers, "observer_events_between_pauses_max", 4)
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await born(t, "ada")
        for n in range(40):
            await t.append("ada", line(f"{n}", None))
        observer = Observer()
        pump = attach(t.subscribe(after=0), observer)

        await asyncio.sleep(0)
        await asyncio.sleep(0)

        assert 0 < observer.view.counters.events < store.position
        await soon(reached(pump, store))


async def test_an_observer_that_scribbles_changes_nothing_for_anybody_else() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        reader, scribbler = t.subscribe(), Scribbler()
        pump = attach(t.subscribe(), scribbler)

        said = await t.append("ada", Draft(kind=kinds.AGENT_SPOKE, payload={"text": "Hush.", "to": ["bo"]}))
        await soon(reached(pump, store))

        assert scribbler.scribbled == 1
        assert said.payload == (await soon(anext(reader))).payload == {"text": "Hush.", "to": ["bo"]}


@pytest.mark.parametrize("observed", [0, 3])
async def test_with_and_without_observers_the_story_is_the_same(observed: int) -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        for watching in (Observer(), Observer(follow="bo"), Moody())[:observed]:
            attach(t.subscribe(after=0), watching)
        await troupe(t, "ada", "bo")
        for n in range(5):
            await t.append("ada", line(f"{n}"))

        assert digest_of(await all_events(store)) == await the_story_unobserved()


async def the_story_unobserved() -> str:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        for n in range(5):
            await t.append("ada", line(f"{n}"))
        return digest_of(await all_events(store))


async def test_observers_read_to_the_end_when_the_show_closes() -> None:
    store, watching, observer = MemoryStore(), Observers(), Observer()
    async with terrarium_on(store) as t:
        await born(t, "ada")
        pump = watching.admit(t.subscribe(after=0), observer)
        for n in range(5):
            await t.append("ada", line(f"{n}", None))
        await t.close()

        await soon(watching.farewell())

        assert pump.task.done()
        assert lines_of(observer) == ["0", "1", "2", "3", "4"]
        await watching.farewell()


async def test_nobody_waits_for_one_who_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observers, "observer_farewell_seconds_max", 0.0)
    watching, observer = Observers(), Observer()
    async with terrarium_on(MemoryStore()) as t:
        observer.on_diff(never)
        pump = watching.admit(t.subscribe(after=0), observer)
        await born(t, "ada")
        await loop_turns()
        await t.close()

        await soon(watching.farewell())

        assert pump.task.cancelled()


async def test_one_who_stops_watching_is_told_nothing_more() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await born(t, "ada")
        observer = Observer()
        pump = attach(t.subscribe(), observer)
        await loop_turns()

        await pump.aclose()
        await t.append("ada", line("behind its back", None))
        await loop_turns()

        assert lines_of(observer) == []


async def test_answers_nobody_awaits_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observers, "observer_answers_waiting_max", 2)
    told: list[ViewDiff] = []
    observer = Observer()
    observer.on_diff(later(told))
    for _ in range(2):
        observer.consume(A_THOUGHTFUL_LINE)

    with pytest.raises(Refused, match="settle"):
        observer.consume(A_THOUGHTFUL_LINE)

    await observer.settle()
    observer.consume(A_THOUGHTFUL_LINE)
    await observer.settle()
    assert len(told) == 3


class Moody(Observer):
    """Bears one event and no more."""

    def consume(self, event: Event) -> ViewDiff:
        if self.view.counters.events:
            raise ValueError("Enough.")
        return super().consume(event)


class Scribbler(Observer):
    """Writes on whatever it is given."""

    scribbled = 0

    def consume(self, event: Event) -> ViewDiff:
        event.payload["text"] = "scribbled"
        event.payload["to"].append("everybody")
        self.scribbled += 1
        return super().consume(event)


async def never(_diff: ViewDiff) -> None:
    await asyncio.get_running_loop().create_future()


def later(told: list[ViewDiff]) -> Callable[[ViewDiff], Awaitable[None]]:
    async def tell(diff: ViewDiff) -> None:
        await asyncio.sleep(0)
        told.append(diff)

    return tell
