"""Support for tests of observers: what an observer has seen, and waiting until it has seen everything."""

import asyncio

from glasshouse import MemoryStore
from glasshouse.model_values import Tokens
from glasshouse.runtime.ledger.observer import Observer, ObserverPump
from tests.rules.events.events_by_hand import a_call, an_event, asked

loop_turns_max = 1_000

A_THOUGHTFUL_LINE = an_event(
    private={"thought": "hm"},
    model=asked(a_call(usage=Tokens(5, 2))),
)


def lines_of(observer: Observer) -> list[str]:
    return [note.text for note in observer.view.agent_notes]


async def reached(pump: ObserverPump, store: MemoryStore) -> None:
    """Wait until an observer has read everything."""
    for _ in range(loop_turns_max):
        if pump.position >= await store.position() or pump.task.done():
            return
        await asyncio.sleep(0)
    raise AssertionError(f"still at {pump.position} of {await store.position()}")
