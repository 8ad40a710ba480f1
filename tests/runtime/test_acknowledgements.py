"""`append_nowait`: it decides or refuses at once, and the line is durable when the result is awaited."""

import pytest

from glasshouse import MemoryStore, Refused
from glasshouse.errors import StoreFailed
from glasshouse.runtime.ledger import writer
from tests.runtime.stores_around import GatedStore
from tests.runtime.troupe import (
    all_events,
    line,
    loop_turns,
    mail_of,
    new_terrarium,
    soon,
    terrarium_on,
    troupe,
)


async def test_lines_sent_without_waiting_are_durable_in_their_order_when_awaited() -> None:
    store = GatedStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        store.gate.clear()

        sent = [t.append_nowait("ada", line(f"{n}")) for n in range(5)]
        await loop_turns()
        before = await store.position()
        store.gate.set()
        events = [await soon(acknowledgement) for acknowledgement in sent]

        assert [event.payload["text"] for event in events] == ["0", "1", "2", "3", "4"]
        assert [event.position for event in events] == [before + n for n in range(1, 6)]
        assert await mail_of(t, "bo") == ["0", "1", "2", "3", "4"]


async def test_a_line_that_nobody_awaits_is_written_all_the_same() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")

        _ = t.append_nowait("ada", line("unheeded"))

    assert (await all_events(store))[-1].payload == {"text": "unheeded"}


async def test_a_line_that_may_not_be_said_is_refused_at_once() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await troupe(t, "ada", "bo")

        with pytest.raises(Refused, match="no channel"):
            _ = t.append_nowait("ada", line("hello", "nowhere"))


async def test_without_room_nothing_is_taken_and_the_error_says_what_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = GatedStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        monkeypatch.setattr(writer, "pending_events_max", 3)
        store.gate.clear()
        for n in range(3):
            _ = t.append_nowait("ada", line(f"{n}"))

        with pytest.raises(StoreFailed, match=r"Await append\(\)"):
            _ = t.append_nowait("ada", line("too many"))

        store.gate.set()
        await soon(t.append("ada", line("after a while")))
        assert await mail_of(t, "bo") == ["0", "1", "2", "after a while"]


async def test_a_closed_terrarium_takes_nothing() -> None:
    t = new_terrarium(MemoryStore())
    await t.open()
    await troupe(t, "ada", "bo")
    await t.close()

    with pytest.raises(StoreFailed):
        _ = t.append_nowait("ada", line("too late"))
