"""Observers that raise, are slow, modify events or never end: none of them changes, delays or stops the play."""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from glasshouse import Draft, Event, MemoryStore, Refused, kinds
from glasshouse.errors import StoreFailed
from glasshouse.events import digest_of
from glasshouse.runtime.ledger import observer as observers
from glasshouse.runtime.ledger import subscriptions
from glasshouse.runtime.ledger.observer import Observer, ObserverPump, Observers
from glasshouse.views.diff import ViewDiff
from glasshouse.views.stage import rebuild_stage
from tests.runtime.stores_around import GatedStore
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

        assert 0 < observer.view.counters.events < await store.position()
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


async def test_nobody_waits_for_one_who_never_ends(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(observers, "observer_close_seconds_max", 0.0)
    watching, observer = Observers(), Observer()
    async with terrarium_on(MemoryStore()) as t:
        observer.on_diff(never)
        pump = watching.admit(t.subscribe(after=0), observer)
        await born(t, "ada")
        await t.append("ada", line("unseen", None))
        await loop_turns()
        await t.close()

        await soon(watching.finish_reading())

        assert pump.task.cancelled()
        assert (pump.position, dropped_in(caplog)) == (0, [(4, 1)])


@pytest.mark.parametrize("closes", ["pump", "terrarium"])
async def test_closing_delivers_what_is_committed_however_slow_the_callbacks_are(
    closes: str, caplog: pytest.LogCaptureFixture
) -> None:
    texts = list[str]()

    async def slow(diff: ViewDiff) -> None:
        await loop_turns()
        texts.extend(note.text for note in diff.new_agent_notes)

    observer = Observer()
    observer.on_diff(slow)
    async with terrarium_on(MemoryStore()) as t:
        await born(t, "ada")
        pump = t.observe(observer)
        for n in range(19):
            await t.append("ada", line(f"{n}", None))
        assert not texts

        await observer.settle()
        await soon(pump.aclose() if closes == "pump" else t.close())

        assert texts == [f"{n}" for n in range(19)]
        assert dropped_in(caplog) == []


@pytest.mark.usefixtures("small_queues")
async def test_one_who_closes_while_it_is_behind_is_told_what_was_committed_and_no_more() -> None:
    store, observer = GatedStore(), Observer()
    async with terrarium_on(store) as t:
        await born(t, "ada")
        pump = t.observe(observer)
        await t.append_all("ada", [line(f"{n}", None) for n in range(30)])
        store.gate_of_reads.clear()
        closing = asyncio.create_task(pump.aclose())
        await loop_turns()

        await t.append_all("ada", [line("too late", None)] * 5)
        store.gate_of_reads.set()
        await soon(closing)

        assert lines_of(observer) == [f"{n}" for n in range(30)]


async def test_one_who_closes_too_slowly_is_cut_off_and_says_what_it_dropped(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(observers, "observer_close_seconds_max", 0.0)
    observer = Observer()
    async with terrarium_on(MemoryStore()) as t:
        await born(t, "ada")
        pump = t.observe(observer, after=None)
        await t.append("ada", line("seen", None))
        await soon(pump.caught_up())
        observer.on_diff(never)
        first = pump.position + 1
        for n in range(4):
            await t.append("ada", line(f"{n}", None))
        await loop_turns()

        await soon(pump.aclose())

        assert pump.task.cancelled()
        assert dropped_in(caplog) == [(4, first)]
        with pytest.raises(Refused, match=f"no longer watches.*position {first - 1}"):
            await pump.caught_up()


async def test_a_callback_that_does_not_let_itself_be_cancelled_does_not_keep_the_terrarium_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(observers, "observer_close_seconds_max", 0.0)
    monkeypatch.setattr(observers, "observer_cancel_seconds_max", 0.0)
    let_go, calls = asyncio.Event(), list[ViewDiff]()

    async def stubborn(diff: ViewDiff) -> None:
        calls.append(diff)
        while not let_go.is_set():
            with suppress(asyncio.CancelledError):
                await let_go.wait()

    observer = Observer()
    observer.on_diff(stubborn)
    async with terrarium_on(MemoryStore()) as t:
        pump = t.observe(observer)
        await born(t, "ada")
        await born(t, "bo")
        await loop_turns()

        await soon(t.close())

        assert not pump.task.done()
        let_go.set()
        await soon(asyncio.wait([pump.task]))
        assert len(calls) == 1


class VanishingStore(GatedStore):
    """A store whose disk is gone as soon as somebody waits for a page of it."""

    async def read_after(self, position: int, events_max: int) -> list[Event]:
        page = await super().read_after(position, events_max)
        if page:
            raise StoreFailed("The disk is gone.")
        return page


async def test_one_who_is_behind_a_store_that_fails_while_it_closes_says_what_it_dropped(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = VanishingStore()
    async with terrarium_on(store) as t:
        await born(t, "ada")
        store.gate_of_pages.clear()
        pump = t.observe(Observer())
        await loop_turns()
        closing = asyncio.create_task(t.close())
        await loop_turns()

        store.gate_of_pages.set()
        await soon(closing)

        assert pump.error is None
        assert dropped_in(caplog) == [(3, 1)]


async def test_who_awaits_an_observer_finds_everything_committed_folded_and_all_callbacks_ended() -> None:
    gate, texts = asyncio.Event(), list[str]()

    async def slow(diff: ViewDiff) -> None:
        await gate.wait()
        texts.extend(note.text for note in diff.new_agent_notes)

    observer = Observer()
    observer.on_diff(slow)
    async with terrarium_on(MemoryStore()) as t:
        await born(t, "ada")
        pump = t.observe(observer)
        for n in range(3):
            await t.append("ada", line(f"{n}", None))
        waiting = asyncio.create_task(pump.caught_up())
        given_up = asyncio.create_task(pump.caught_up())
        await loop_turns()
        assert (waiting.done(), texts) == (False, [])

        given_up.cancel()
        gate.set()
        await soon(waiting)

        assert texts == lines_of(observer) == ["0", "1", "2"]
        await soon(pump.caught_up())


async def test_nothing_is_awaited_of_one_who_watches_from_now_on() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await born(t, "ada")
        pump = t.observe(Observer(), after=None)

        assert pump.position == 3
        await soon(pump.caught_up())


async def test_who_awaits_an_observer_that_raises_is_told_where_it_stopped() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await born(t, "ada")
        pump = t.observe(Moody())

        with pytest.raises(Refused, match=r"no longer watches.*Enough.*position 1"):
            await soon(pump.caught_up())


async def test_a_callback_cannot_await_its_own_observer_but_may_close_it() -> None:
    pumps, texts = list[ObserverPump](), list[str]()

    async def waits(diff: ViewDiff) -> None:
        await pumps[0].caught_up()

    async def closes(diff: ViewDiff) -> None:
        texts.extend(note.text for note in diff.new_agent_notes)
        await pumps[0].aclose()

    observer = Observer()
    observer.on_diff(waits)
    observer.on_diff(closes)
    async with terrarium_on(MemoryStore()) as t:
        await born(t, "ada")
        pumps.append(t.observe(observer, after=None))

        await t.append_all("ada", [line("seen", None), line("committed with it", None)])
        await soon(asyncio.wait([pumps[0].task]))

        assert [type(wrong) for wrong in observer.errors] == [Refused]
        assert "callback" in str(observer.errors[0])
        assert texts == ["seen", "committed with it"]


def dropped_in(caplog: pytest.LogCaptureFixture) -> list[tuple[int, int]]:
    """How many events each warning says were dropped, and the position of the first."""
    words = "%d events were dropped, from position %d on"
    matches = [re.search(words.replace("%d", r"(\d+)"), record.getMessage()) for record in caplog.records]
    return [(int(match[1]), int(match[2])) for match in matches if match is not None]


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
