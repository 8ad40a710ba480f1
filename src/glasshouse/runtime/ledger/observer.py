"""`Observer` folds events into a stage and reports what each event changed. A pump feeds it from a live terrarium.

Always holds: an observer only reads, and gets its own copy of what its role may see, so it cannot change anything.
Live, it has its own task and a bounded queue: if it is slow, it falls behind and catches up from the store by
position. A callback that raises is not called again; an observer that raises is detached. The show continues either
way, and the exception is kept and logged. Closing, of an observer or of the terrarium, delivers what is committed. It waits a
bounded time, and logs how many events it dropped.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from inspect import isawaitable
from typing import Final

from msgspec.structs import replace

from glasshouse.errors import Refused
from glasshouse.events.event import Event
from glasshouse.events.redaction import Role, check_role, redacted
from glasshouse.reprs import repr_of
from glasshouse.runtime.creature import CreatureOrId, id_of
from glasshouse.runtime.ledger.subscriptions import Subscription
from glasshouse.views.diff import UNCHANGED, ViewDiff, diff_of
from glasshouse.views.follower import OF_THE_CAST, Follower
from glasshouse.views.stage import StageProjection

observer_events_between_pauses_max: Final = 64
"""An observer that catches up pauses after this many events, so that others can run."""
observer_close_seconds_max: Final = 5.0
"""How long closing delivers what is committed."""
observer_cancel_seconds_max: Final = 1.0
"""How long closing waits for callbacks that it has cancelled."""
observer_answers_waiting_max: Final = 256
"""With this many pending asynchronous callbacks, `consume` refuses the next event."""
observer_errors_max: Final = 16
"""An observer keeps this many of the latest exceptions of its callbacks."""

Callback = Callable[[ViewDiff], Awaitable[None] | None]
"""Called with every diff that changes the stage or its counters. Make a slow callback asynchronous."""

_log = logging.getLogger("glasshouse.observers")


class Observer:
    """A view of the show: everything, one run, or wherever one creature is. Feed it events live or from a saved log."""

    __repr__ = repr_of("role", "view")

    def __init__(
        self,
        follow: CreatureOrId | None = None,
        *,
        run_id: str | None = None,
        role: Role = "audience",
        past_run_ids: tuple[str, ...] = (),
    ) -> None:
        """For a branch, `past_run_ids` are the runs whose past it shares (see `views.stage.past_runs`)."""
        check_role(role)
        self.role: Role = role
        self.errors: list[Exception] = []
        """The exceptions that callbacks raised, the latest last."""
        self._view = StageProjection(run_id=run_id, past_run_ids=past_run_ids)
        self._follower = None if follow is None else Follower(id_of(follow))
        self._callbacks: list[Callback] = []
        self._answers: list[tuple[Callback, Awaitable[None]]] = []

    @property
    def view(self) -> StageProjection:
        """The stage as it is now. It changes with the next event; `copy()` it to keep it."""
        return self._view

    def on_diff(self, callback: Callback) -> None:
        """Call `callback` with every diff from now on."""
        self._callbacks.append(callback)

    def consume(self, event: Event) -> ViewDiff:
        """Fold the next event, call the callbacks if anything changed, and return the diff."""
        if len(self._answers) >= observer_answers_waiting_max:
            raise Refused(
                f"{len(self._answers)} answers of asynchronous callbacks wait to be awaited.",
                "Await observer.settle() between events.",
            )
        diff = self._diff(redacted(event, self.role))
        if diff.patch:
            for callback in tuple(self._callbacks):
                self._tell(callback, diff)
        return diff

    async def settle(self) -> None:
        """Await the asynchronous callbacks that `consume` has called. In a live terrarium the pump does this: await its
        `caught_up` instead."""
        answers = self._answers
        self._answers = []
        for callback, answer in answers:
            await self._settled(callback, answer)

    def _diff(self, event: Event) -> ViewDiff:
        view = self._view
        follower = self._follower
        if follower is not None and not follower.sees(event):
            return UNCHANGED
        before = replace(view.counters)
        touched = view.apply(event)
        if follower is not None and event.kind in OF_THE_CAST:
            touched += follower.cast_brought_to(view)
        return diff_of(view, touched, before)

    def _tell(self, callback: Callback, diff: ViewDiff) -> None:
        try:
            answer = callback(diff)
        except Exception as wrong:
            self._let_go(callback, wrong)
            return
        if isawaitable(answer):
            self._answers.append((callback, answer))

    async def _settled(self, callback: Callback, answer: Awaitable[None]) -> None:
        try:
            await answer
        except Exception as wrong:
            self._let_go(callback, wrong)

    def _let_go(self, callback: Callback, wrong: Exception) -> None:
        if callback in self._callbacks:
            self._callbacks.remove(callback)
        self.errors.append(wrong)
        del self.errors[:-observer_errors_max]
        _log.warning("An observer's callback raised and is not called again.", exc_info=wrong)


class ObserverPump:
    """The task that feeds one observer from one subscription, which has no filter. Keep a reference: a dropped pump may
    end."""

    __repr__ = repr_of("position", "error")

    def __init__(self, subscription: Subscription, observer: Observer) -> None:
        self.position = subscription.position
        """The position of the last event that the observer has folded and whose callbacks have ended. Another pump can
        continue there."""
        self.error: Exception | None = None
        self._subscription = subscription
        self._observer = observer
        self._given = 0
        self._is_cut_off = False
        self._awaited: list[tuple[int, asyncio.Future[None]]] = []
        """The positions that are awaited, each with the future of who awaits it."""
        self.task = asyncio.create_task(self._read_on(), name="glasshouse observer")
        self.task.add_done_callback(self._note_end)

    async def caught_up(self) -> None:
        """Wait until everything committed so far is folded and all its callbacks have ended. Raises `Refused` if the
        observer stopped before."""
        if asyncio.current_task() is self.task:
            raise Refused(
                "A callback cannot wait until all callbacks have ended.", "Await caught_up() outside."
            )
        last_position = self._subscription.published
        if self.position < last_position and not self.task.done():
            reached = asyncio.get_running_loop().create_future()
            self._awaited.append((last_position, reached))
            await reached
        if self.position < last_position:
            why = "" if self.error is None else f" because it raised {self.error!r}"
            raise Refused(
                f"This observer no longer watches{why}. It has seen everything up to position {self.position}.",
                "Attach another observer after that position.",
            )

    async def aclose(self) -> None:
        """Deliver what is committed, then stop watching. Waits a bounded time, and logs how many events were dropped.

        A callback may close its own observer. Then it does not wait.
        """
        self._subscription.end()
        if asyncio.current_task() is not self.task:
            await _wait_for_the_end([self])

    def cut_off(self) -> None:
        """Stop watching at once, and log how many events are dropped."""
        self._is_cut_off = True
        self._log_dropped()
        self.task.cancel()

    async def _read_on(self) -> None:
        try:
            async with self._subscription as events:
                async for event in events:
                    await self._give(event)
                    if self._is_cut_off:  # A callback has caught its cancellation.
                        return
        except Exception as wrong:
            self.error = wrong
            _log.warning("An observer raised and is let go at position %d.", self.position, exc_info=wrong)

    async def _give(self, event: Event) -> None:
        """Feed one event to the observer. Let other tasks run now and then."""
        self._observer.consume(event)
        await self._observer.settle()
        self.position = event.position or self.position
        if self._awaited:
            self._wake_those_who_await(self.position)
        self._given += 1
        # Whoever closes it counts the seconds, also if callbacks are slow and never wait.
        if self._given % observer_events_between_pauses_max == 0 or self._subscription.is_ending:
            await asyncio.sleep(0)

    def _wake_those_who_await(self, upto: int) -> None:
        for position, reached in self._awaited:
            if position <= upto and not reached.done():  # Who awaited it may have been cancelled.
                reached.set_result(None)
        self._awaited = [(position, reached) for position, reached in self._awaited if position > upto]

    def _note_end(self, _task: asyncio.Task[None]) -> None:
        self._wake_those_who_await(self._subscription.published)
        if self._subscription.is_ending and self.error is None and not self._is_cut_off:
            self._log_dropped()

    def _log_dropped(self) -> None:
        dropped = self._subscription.last_position - self.position
        if dropped > 0:
            _log.warning(
                "An observer was closed before it had seen everything: %d events were dropped, from position %d on.",
                dropped,
                self.position + 1,
            )


async def _wait_for_the_end(pumps: Collection[ObserverPump]) -> None:
    """Wait a bounded time until pumps whose subscriptions end have delivered everything. Cut off those that are late."""
    tasks = [pump.task for pump in pumps]
    try:
        await asyncio.wait(tasks, timeout=observer_close_seconds_max)
    finally:
        for pump in pumps:
            if not pump.task.done():
                pump.cut_off()
    await asyncio.wait(tasks, timeout=observer_cancel_seconds_max)


class Observers:
    """All observers of one terrarium."""

    def __init__(self) -> None:
        self._pumps: dict[asyncio.Task[None], ObserverPump] = {}

    def admit(self, subscription: Subscription, observer: Observer) -> ObserverPump:
        """Start a pump for an observer. It ends when it is closed, when the observer raises, or with the terrarium."""
        pump = ObserverPump(subscription, observer)
        self._pumps[pump.task] = pump
        pump.task.add_done_callback(self._pumps.pop)
        return pump

    async def finish_reading(self) -> None:
        """After subscriptions are closed: wait a bounded time until every observer has read to the end."""
        if self._pumps:
            await _wait_for_the_end(tuple(self._pumps.values()))
