"""Observers that raise, are slow, modify events or never end: none of them changes, delays or stops the play."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from glasshouse import Draft, Event, MemoryStore, Refused, kinds
from glasshouse.events import digest_of
from glasshouse.runtime.ledger import observer as observers
from glasshouse.runtime.ledger import subscriptions
from glasshouse.runtime.ledger.observer import Observer, ObserverPump, Observers
from glasshouse.views.diff import ViewDiff
from glasshouse.views.stage import rebuild_stage
from tests.runtime.troupe import all_events, born, line, loop_turns, soon, terrarium_on, troupe
from tests.runtime.watching import A_THOUGHTFUL_LINE, lines_of, reached


@pytest.fixture
def small_queues(monkeypatch: pytest.MonkeyPatch) -> None:
    """Queues that overflow after four events and catch up three at a time."""
    monkeypatch.setattr(subscriptions, "subscriber_events_max", 4)
    monkeypatch.setattr(subscriptions, "catch_up_events_max", 3)


async def test_a_callback_that_raises_is_let_go_and_everybody_else_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await born(t, "ada")
        diffs: list[ViewDiff] = []
        calls = list[ViewDiff]()

        def raises(diff: ViewDiff) -> None:
            calls.append(diff)
            raise ValueError("I cannot bear it.")

        observer = Observer()
        observer.on_diff(raises)
        observer.on_diff(diffs.append)
        pump = ObserverPump(t.subscribe(), observer)
        with caplog.at_level(logging.WARNING, "glasshouse.observers"):
            for n in range(3):
                await soon(t.append("ada", line(f"{n}", None)))
            await soon(reached(pump, store))

        assert (len(calls), len(diffs), lines_of(observer)) == (1, 3, ["0", "1", "2"])
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
        pump = ObserverPump(t.subscribe(), observer)
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
        pumps = [ObserverPump(t.subscribe(), Moody()), ObserverPump(t.subscribe(), steady)]

        for n in range(3):
            await soon(t.append("ada", line(f"{n}", None)))
        for pump in pumps:
            await soon(reached(pump, store))

        assert isinstance(pumps[0].error, ValueError)
        assert lines_of(steady) == ["0", "1", "2"]
        after = Observer()
        await soon(reached(ObserverPump(t.subscribe(after=pumps[0].position), after), store))
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
        pump = ObserverPump(subscription, observer)
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
        pump = ObserverPump(t.subscribe(after=0), observer)

        await asyncio.sleep(0)
        await asyncio.sleep(0)

        assert 0 < observer.view.counters.events < store.position
        await soon(reached(pump, store))


async def test_an_observer_that_scribbles_changes_nothing_for_anybody_else() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        reader, scribbler = t.subscribe(), Scribbler()
        pump = ObserverPump(t.subscribe(), scribbler)

        said = await t.append("ada", Draft(kind=kinds.AGENT_SPOKE, payload={"text": "Hush.", "to": ["bo"]}))
        await soon(reached(pump, store))

        assert scribbler.scribbled == 1
        assert said.payload == (await soon(anext(reader))).payload == {"text": "Hush.", "to": ["bo"]}


@pytest.mark.parametrize("observed", [0, 3])
async def test_with_and_without_observers_the_story_is_the_same(observed: int) -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        for watching in (Observer(), Observer(follow="bo"), Moody())[:observed]:
            ObserverPump(t.subscribe(after=0), watching)
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

        await soon(watching.finish_reading())

        assert pump.task.done()
        assert lines_of(observer) == ["0", "1", "2", "3", "4"]
        await watching.finish_reading()


async def test_nobody_waits_for_one_who_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observers, "observer_close_seconds_max", 0.0)
    watching, observer = Observers(), Observer()
    async with terrarium_on(MemoryStore()) as t:
        observer.on_diff(never)
        pump = watching.admit(t.subscribe(after=0), observer)
        await born(t, "ada")
        await loop_turns()
        await t.close()

        await soon(watching.finish_reading())

        assert pump.task.cancelled()


async def test_one_who_stops_watching_is_told_nothing_more() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await born(t, "ada")
        observer = Observer()
        pump = ObserverPump(t.subscribe(), observer)
        await loop_turns()

        await pump.aclose()
        await t.append("ada", line("behind its back", None))
        await loop_turns()

        assert lines_of(observer) == []


async def test_answers_nobody_awaits_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observers, "observer_answers_waiting_max", 2)
    diffs: list[ViewDiff] = []
    observer = Observer()
    observer.on_diff(later(diffs))
    for _ in range(2):
        observer.consume(A_THOUGHTFUL_LINE)

    with pytest.raises(Refused, match="settle"):
        observer.consume(A_THOUGHTFUL_LINE)

    await observer.settle()
    observer.consume(A_THOUGHTFUL_LINE)
    await observer.settle()
    assert len(diffs) == 3


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


def later(diffs: list[ViewDiff]) -> Callable[[ViewDiff], Awaitable[None]]:
    async def tell(diff: ViewDiff) -> None:
        await asyncio.sleep(0)
        diffs.append(diff)

    return tell
