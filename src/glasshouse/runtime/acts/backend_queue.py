"""The queue and the circuit of a model server, shared by all models, runs and terrariums of one event loop.

Theory of operation. A call enters the queue when its money is reserved, and leaves it when it is answered or has failed.
So a call that waits for money holds no slot, and a call with a slot waits for nobody: there is no deadlock. A free slot
goes to the run that has waited longest since its last slot, then to the creature of that run that has.

A busy server (HTTP 429 or 503) holds the whole queue until it wants to be asked again, and then gets fewer calls at once;
each answer lets one more in. Three calls in a row that reach no server open the circuit: everybody who waits is told at
once. While it is open, one call at a time goes through as a trial. The first one that is answered closes it (ADR 0068).
A server that takes calls and answers none is counted too: after `failed_in_a_row_max` of them, acts that fail pause their
runs, before a whole story is played as failures that are charged.

Always holds: at most `parallel_max` calls are at the server. A cancelled call gives its slot or its place back. The queue
is never longer than the number of calls that acts under way make.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import zip_longest
from math import inf
from typing import Final
from weakref import WeakKeyDictionary

from glasshouse.errors import ModelFailed, ModelUnreachable
from glasshouse.runtime.capabilities import ModelCapabilities
from glasshouse.runtime.ports import Model

unreached_in_a_row_max: Final = 3
"""After this many calls in a row that reached no model, the circuit of their server opens and its runs pause."""

failed_in_a_row_max: Final = 9
"""After this many calls in a row that a server failed to answer, runs pause, since it will hardly answer the next one."""

trial_seconds_min: Final = 30.0
"""How long a server whose circuit is open is left alone by those who have a fallback."""


class BackendQueue:
    """The calls to one server: those that are there, and those that wait."""

    def __init__(self, name: str, model: Model | None = None) -> None:
        self.name = name
        self._model = model
        """Kept, so that the key of a queue that has no name of its own stays taken."""
        self.parallel_max: float = inf
        self._parallel: float = inf
        """How many calls at once the server takes now. It is lowered if the server is busy."""
        self._running = 0
        self._holds = 0
        """How many calls wait because the server said that it is busy."""
        self._unreached = 0
        self._unreached_at = 0.0
        self.failed_in_a_row = 0
        """How many calls the server took and did not answer, since it last answered one."""
        self._waiting: dict[str, dict[str, deque[asyncio.Future[None]]]] = {}
        """Run -> creature -> its calls; first the run, and in it the creature, whose turn it is."""

    def __len__(self) -> int:
        return sum([len(calls) for creatures in self._waiting.values() for calls in creatures.values()])

    @property
    def is_open(self) -> bool:
        """Whether the circuit is open: the server was not reached again and again, and not since."""
        return self._unreached >= unreached_in_a_row_max

    def numbers(self) -> dict[tuple[str, str], int]:
        """The number in the queue of each run's creature that waits, from 1 on, as turns would come now."""
        rows = []
        for run_id, creatures in self._waiting.items():
            rounds = max(map(len, creatures.values()))
            of_round = [[who for who, calls in creatures.items() if len(calls) > n] for n in range(rounds)]
            rows.append([(run_id, who) for each in of_round for who in each])
        order = [call for turn in zip_longest(*rows) for call in turn if call is not None]
        return {call: number for number, call in reversed([*enumerate(order, start=1)])}

    def set_parallel_max(self, parallel_max: float) -> None:
        """Say how many calls the server takes at once from now on."""
        self.parallel_max = self._parallel = max(1, parallel_max)
        self._let_in()

    @property
    def was_away_lately(self) -> bool:
        """Whether the circuit is open, and a trial a moment ago has failed. Whoever has a fallback takes that."""
        now = asyncio.get_running_loop().time()
        return self.is_open and now - self._unreached_at < trial_seconds_min

    def enter_now(self) -> bool:
        """Take a slot if one is free and nobody waits for it. False: wait for one."""
        if self._waiting or self._running >= self._limit:
            return False  # Others were first, or the server is full.
        self._running += 1
        return True

    async def wait_for_slot(self, run_id: str, creature_id: str) -> None:
        """Wait for a slot. Raises `ModelUnreachable` if the circuit opens meanwhile."""
        call: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(run_id, {}).setdefault(creature_id, deque()).append(call)
        try:
            await call
        except asyncio.CancelledError:
            if call.cancelled():
                self._forget(run_id, creature_id, call)
            elif call.exception() is None:  # It got its slot and was cancelled before it could run.
                self.leave()
            raise

    def leave(self) -> None:
        """Give a slot back."""
        self._running -= 1
        self._let_in()

    @property
    def is_failing(self) -> bool:
        """Whether the server takes calls and answers none."""
        return self.failed_in_a_row >= failed_in_a_row_max

    def note_reached(self) -> None:
        """The server answered."""
        self.failed_in_a_row = 0
        self._close()

    def _close(self) -> None:
        """The server answered, or failed while it answered: close the circuit, and let one more call in at once."""
        if self._unreached or self._parallel < self.parallel_max:
            self._unreached = 0
            self._parallel = min(self._parallel + 1, self.parallel_max)
            self._let_in()

    def note_failure(self, wrong: BaseException) -> None:
        """A call failed. Only a call that was cut off says nothing about the server."""
        if isinstance(wrong, ModelUnreachable) and wrong.retry_after is None:
            self._note_unreached(wrong)
        elif isinstance(wrong, Exception):
            self.failed_in_a_row += isinstance(wrong, ModelFailed)
            self._close()

    def _note_unreached(self, away: ModelUnreachable) -> None:
        """If this opens the circuit, or it is open, everybody who waits is told."""
        self._unreached += 1
        self._unreached_at = asyncio.get_running_loop().time()
        if self.is_open:
            waiting = self._waiting
            self._waiting = {}
            for call in [
                call for creatures in waiting.values() for calls in creatures.values() for call in calls
            ]:
                if not call.done():
                    call.set_exception(ModelUnreachable(str(away), away.model))

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Let no call in as long as the server wants to be left alone, and half as many at once from then on."""
        self._parallel = max(1, min(self._parallel, self._running) // 2)
        self._holds += 1
        try:
            yield
        finally:
            self._holds -= 1
            self._let_in()

    @property
    def _limit(self) -> float:
        return 0 if self._holds else 1 if self.is_open else self._parallel

    def _let_in(self) -> None:
        while self._waiting and self._running < self._limit:
            call = self._next()
            if not call.done():
                self._running += 1
                call.set_result(None)

    def _next(self) -> asyncio.Future[None]:
        """The call whose turn it is. Its run and its creature go to the end of their rows."""
        run_id = next(iter(self._waiting))
        creatures = self._waiting.pop(run_id)
        creature_id = next(iter(creatures))
        calls = creatures.pop(creature_id)
        call = calls.popleft()
        if calls:
            creatures[creature_id] = calls
        if creatures:
            self._waiting[run_id] = creatures
        return call

    def _forget(self, run_id: str, creature_id: str, call: asyncio.Future[None]) -> None:
        creatures = self._waiting.get(run_id, {})
        calls = creatures.get(creature_id)
        if calls is not None and call in calls:
            calls.remove(call)
            if not calls:
                del creatures[creature_id]
            if not creatures:
                del self._waiting[run_id]


_queues: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str | int, BackendQueue]] = WeakKeyDictionary()


def queue_of(model: Model, name: str, can: ModelCapabilities) -> BackendQueue:
    """The queue of a model's server. Models with the same `backend` share it. A model without one has its own, which is
    named after its route."""
    queues = _queues.setdefault(asyncio.get_running_loop(), {})
    key = can.backend or id(model)
    queue = queues.get(key)
    if queue is None:
        queue = queues[key] = BackendQueue(can.backend or name, model)
    if can.max_parallel != queue.parallel_max:
        queue.set_parallel_max(can.max_parallel)
    return queue
