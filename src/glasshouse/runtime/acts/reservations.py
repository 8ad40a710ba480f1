"""Reservations: how parallel calls stay within one run's budget.

Always holds: a call reserves its worst case before it runs, and holds its true cost until its event is in the ledger.
So parallel calls never reserve more than a limit together. A reservation counts in the graph that its creature is in
now, also after merges and splits. A call that lacks room only because of open calls waits for them. An open call
waits for no other call, so there is no deadlock.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from math import inf

import msgspec

from glasshouse.errors import BudgetExceeded
from glasshouse.events.model_use import NOTHING, Usage
from glasshouse.events.payloads import Governor
from glasshouse.runtime.acts.act_time import ActTime
from glasshouse.runtime.acts.shared_purse import SharedPurse
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ports import Clock
from glasshouse.turns.runs.purses import (
    Spend,
    frees_at,
    no_ticks,
    tripped_by_call,
    tripped_by_time,
    wall_seconds_left,
)
from glasshouse.world.state.state import World


class Reservation(msgspec.Struct, eq=False):
    """What one act holds of its run's purse."""

    run_id: str
    creature_id: str
    graph_id: str
    done: Usage = NOTHING
    """Spent, and not yet in the ledger."""
    open: Usage = NOTHING
    """The worst case of the running call."""
    is_tick: bool = False
    """Whether the act is a tick whose first call is not in the ledger yet. A turn keeps a call for each of them."""
    time: ActTime | None = None
    """The time that the act may take. It is set when the act begins."""

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Wait for others: the time does not count against the bound of the act."""
        time = self.time
        if time is not None:
            time.stop_counting()
        try:
            yield
        finally:
            if time is not None:
                time.count()


class Held:
    """What all acts under way hold of one run's purse, and how many of its calls are in each graph."""

    __slots__ = ("calls_in", "usage")

    def __init__(self) -> None:
        self.usage = NOTHING
        self.calls_in: dict[str, int] = {}

    def move(self, graph_id: str, old: Usage, new: Usage) -> None:
        """Replace the usage `old` by `new`, in this graph."""
        if old is new:
            return  # Nothing has changed.
        held = self.usage
        calls = new.calls - old.calls
        # Written out instead of `plus` and `minus` for speed: acts that think together do this several times each.
        self.usage = Usage(
            held.calls + calls,
            held.tokens + (new.tokens - old.tokens),
            held.usd_known + (new.usd_known - old.usd_known),
        )
        self.calls_in[graph_id] = self.calls_in.get(graph_id, 0) + calls


class Reservations:
    """Keeps the reservations of every act that is under way, and their sums."""

    def __init__(self, ledger: Ledger, clock: Clock, *, is_limited: bool = True) -> None:
        self._is_limited = is_limited
        self._ledger = ledger
        self._clock = clock
        self._acts: dict[str, dict[Reservation, None]] = {}
        self._world_followed: World | None = None
        """The world in which the reservations last followed their creatures."""
        self._sessions_followed = 0
        """How many sessions it had then."""
        self._held: dict[str, tuple[Held, Held]] = {}
        """Done and open, for each run with several acts under way. An act that is alone needs no sums."""
        self._moved = asyncio.Event()
        self.shared: SharedPurse | None = None
        """A limit in dollars that holds for other terrariums too; None: there is none."""

    def begin(self, mine: Reservation) -> None:
        """Open the reservation of an act that begins."""
        acts = self._acts.setdefault(mine.run_id, {})
        acts[mine] = None
        if len(acts) == 2:
            done = Held()
            running = Held()
            self._held[mine.run_id] = done, running
            other, _ = acts
            done.move(other.graph_id, NOTHING, other.done)
            running.move(other.graph_id, NOTHING, other.open)

    def hold_again(self, mine: Reservation, cost: Usage) -> None:
        """Hold a cost that the ledger did not take after all. A reservation that was released is opened again."""
        if mine not in self._acts.get(mine.run_id, ()):
            mine.done = NOTHING
            mine.open = NOTHING
            self.begin(mine)
        self._hold(mine, mine.done.plus(cost), mine.open)

    async def reserve(self, mine: Reservation, worst: Usage) -> None:
        """Reserve the worst case of a call, waiting for open calls if need be. Raises `BudgetExceeded` if it cannot fit
        even when all open calls turn out to be free."""
        shared = self.shared
        if shared is not None:
            with mine.waiting():
                await shared.reserve(worst.usd_known)
        try:
            while True:
                # Every merge and split begins a session: while their number is the same, each creature is where it was.
                world = self._ledger.folded.world
                if world is not self._world_followed or len(world.sessions) != self._sessions_followed:
                    self._follow_the_creatures(world)
                axis = self._axis(mine, worst, with_open=False) if self._is_limited else None
                if axis is not None:
                    raise BudgetExceeded(
                        axis, self._frees_at(mine, worst) if axis == "hourly_budget_usd" else None
                    )
                if mine.run_id not in self._held:  # An act that is alone has no other open call to wait for.
                    mine.open = worst
                    return
                if not self._is_limited or self._axis(mine, worst, with_open=True) is None:
                    self._hold(mine, mine.done, worst)
                    return  # It fits, whatever the open calls will cost.
                self._moved.clear()
                with mine.waiting():
                    await self._moved.wait()
        except BaseException:
            if shared is not None:
                shared.settle(worst.usd_known, 0.0)
            raise

    def wall_seconds_left(self, run_id: str | None) -> float:
        """How long a run may still be played; `inf` if its wall time has no limit."""
        purse = self._ledger.folded.runs.purses.get(run_id or "")
        if purse is None or purse.limits.max_wall_minutes is None:
            return inf  # Its wall time has no limit.
        seconds_left = wall_seconds_left(purse, self._clock.now())
        return inf if seconds_left is None else seconds_left

    def settle(self, mine: Reservation, cost: Usage) -> None:
        """Replace the worst case of a call that has ended by its cost."""
        if self.shared is not None:
            self.shared.settle(mine.open.usd_known, cost.usd_known)
        done = cost if mine.done is NOTHING else mine.done if cost is NOTHING else mine.done.plus(cost)
        if mine.run_id in self._held:
            self._hold(mine, done, NOTHING)
        else:
            mine.done = done
            mine.open = NOTHING

    def tell(self, mine: Reservation, graph_id: str | None) -> None:
        """Drop the cost so far, which is in the ledger now. The act continues in the graph named, with the call that it may
        have open: an agent can use a tool in the middle of one."""
        running = mine.open
        mine.is_tick = False
        self._hold(mine, NOTHING, NOTHING)
        mine.graph_id = graph_id or mine.graph_id
        if running is not NOTHING:
            self._hold(mine, NOTHING, running)

    def release(self, mine: Reservation) -> None:
        """Close a reservation: its cost is in the ledger now, or there was none. Releasing twice is harmless."""
        acts = self._acts.get(mine.run_id)
        if acts is not None and mine in acts:
            if mine.run_id in self._held:
                self._hold(mine, NOTHING, NOTHING)
            del acts[mine]
            if len(acts) == 1:
                del self._held[mine.run_id]
            elif not acts:
                del self._acts[mine.run_id]

    def _follow_the_creatures(self, world: World) -> None:
        """Move every reservation to the graph that its creature is in now."""
        self._world_followed = world
        self._sessions_followed = len(world.sessions)
        for mine in [mine for acts in self._acts.values() for mine in acts]:
            creature = world.creatures.get(mine.creature_id)
            if creature is not None and creature.graph_id != mine.graph_id:
                done = mine.done
                running = mine.open
                self._hold(mine, NOTHING, NOTHING)
                mine.graph_id = creature.graph_id
                self._hold(mine, done, running)

    def _hold(self, mine: Reservation, done: Usage, running: Usage) -> None:
        """Change what an act holds: the cost of its calls that are done, and the worst case of the one that runs."""
        held = self._held.get(mine.run_id)
        if held is not None:
            held[0].move(mine.graph_id, mine.done, done)
            held[1].move(mine.graph_id, mine.open, running)
            self._moved.set()
        mine.done = done
        mine.open = running

    def _frees_at(self, mine: Reservation, worst: Usage) -> datetime | None:
        purse = self._ledger.folded.runs.purses.get(mine.run_id)
        held = self._held[mine.run_id][0].usage if mine.run_id in self._held else mine.done
        return None if purse is None else frees_at(purse, held, worst, self._clock.now())

    def _axis(self, mine: Reservation, worst: Usage, *, with_open: bool) -> str | None:
        runs = self._ledger.folded.runs
        now = self._clock.now()
        held = mine.done
        calls_here = held.calls
        if mine.run_id in self._held:
            done, running = self._held[mine.run_id]
            held = done.usage
            calls_here = done.calls_in.get(mine.graph_id, 0)
            if with_open:
                held = held.plus(running.usage.minus(mine.open))
                calls_here += running.calls_in.get(mine.graph_id, 0) - mine.open.calls
        purse = runs.purses.get(mine.run_id)
        if purse is None:
            # The run has not begun yet, so it has the usual limits.
            return tripped_by_call(Governor(), Spend(usage=held, calls_in_turn=calls_here), worst)
        spend = runs.spend(mine.run_id, mine.graph_id, now, held, calls_here)
        is_first_of_tick = mine.is_tick and not mine.done.calls
        ticks_left = no_ticks if is_first_of_tick else partial(self._ticks_left, mine, with_open=with_open)
        return tripped_by_time(purse, now) or tripped_by_call(purse.limits, spend, worst, ticks_left)

    def _ticks_left(self, mine: Reservation, *, with_open: bool) -> int:
        """How many ticks of the run in this graph have made no call yet. Open calls count as made only with `with_open`:
        otherwise they may still turn out to be free."""
        folded = self._ledger.folded
        graph = folded.world.graphs.get(mine.graph_id)
        if graph is None:
            return 0  # The graph has merged into another: its ticks are counted there.
        ticks = [act for act in self._acts[mine.run_id] if act.is_tick]
        called = {tick.creature_id for tick in ticks if tick.done.calls or (with_open and tick.open.calls)}
        return folded.agenda.ticks_without_a_call(folded.world, graph, mine.run_id, called)
