"""When a drive ends, and what it did.

Always holds: a turn of a graph counts once for a drive, whether the drive began it or found it begun.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from glasshouse.errors import Refused
from glasshouse.events.event import Event
from glasshouse.reprs import repr_of
from glasshouse.world.state import World

steps_in_a_turn_max: Final = 100_000
"""However a run's limits are set, a turn has an end."""

Because = Literal["nothing_due", "turns_played", "act_played", "runs_finished", "runs_paused", "held"]


@dataclass(frozen=True, slots=True)
class Conducted:
    """What came of a drive: why it returned, how many turns it played, and how runs ended in it."""

    __repr__ = repr_of("because", "turns", "ended", "last")

    because: Because
    """`nothing_due`, `turns_played` or `act_played`: as many as were asked for; `runs_finished`, `runs_paused`: every run
    that was named; `held`: the gate before an act said no."""
    turns: int = 0
    """The sum over all graphs."""
    ended: tuple[Event, ...] = ()
    """The `run.finished` of every run that ended."""
    last: Event | None = None
    """The event in which the last act ended, or that ended the last run."""

    def __bool__(self) -> bool:
        """Whether anything was played, so that `while await t.step(): ...` comes to an end."""
        return self.turns > 0 or self.last is not None


class Advanced(NamedTuple):
    """One step of a graph: a run's end, the beginning of a turn, or an act. Without an event, nothing was written."""

    kind: Literal["end", "turn", "act"]
    graph_id: str
    turn: int
    event: Event | None = None


class Until:
    """Counts what a drive has played, and says when that is enough."""

    def __init__(
        self,
        world: Callable[[], World],
        *,
        turns: int | None = None,
        acts: int | None = None,
        run_ids: Sequence[str] = (),
    ) -> None:
        self.run_ids = run_ids
        self.ended: list[Event] = []
        self.last: Event | None = None
        self.graph_ids: set[str] = set()
        """The graphs that something was played in."""
        self.turns_just_begun: set[str] = set()
        """The graphs whose last step was to begin a turn: the act that follows belongs to the same pass of a gate."""
        self.is_held = False
        """Whether a gate before an act said no."""
        self.has_used_up_turns = False
        """Whether a graph has had its turns that would have more to do."""
        self._gates: set[asyncio.Future[bool | None]] = set()
        self._world = world
        self._turns = turns
        self._acts = acts
        self._acts_played = 0
        self._played: Counter[str] = Counter()
        self._turn_of: dict[str, int] = {}
        self._steps: Counter[str] = Counter()

    async def has_passed(self, gate: Awaitable[bool | None]) -> bool:
        """Wait at a gate; false if it says no, or if the drive is over meanwhile."""
        waiting = asyncio.ensure_future(gate)
        self._gates.add(waiting)
        try:
            self.is_held = await waiting is False or self.is_held
        except asyncio.CancelledError:
            if self.reached() is None:
                raise
            return False
        finally:
            self._gates.discard(waiting)
            waiting.cancel()
        return not self.is_held

    def shut_gates(self) -> None:
        """The drive is over: nobody waits at a gate any more."""
        for gate in self._gates:
            gate.cancel()

    def allows(self, graph_id: str, turn: int) -> bool:
        """Whether a graph may play on in this turn. Zero is the end of a run, which needs no turn."""
        if self._turns is None or turn == 0 or self._turn_of.get(graph_id) == turn:
            return True
        if self._played[graph_id] < self._turns:
            return True
        self.has_used_up_turns = True
        return False

    def note(self, done: Advanced) -> None:
        """A step was taken."""
        self.graph_ids.add(done.graph_id)
        self.turns_just_begun.discard(done.graph_id)
        if done.kind == "turn":
            self.turns_just_begun.add(done.graph_id)
        if done.kind != "end" and self._turn_of.get(done.graph_id) != done.turn:
            self._turn_of[done.graph_id] = done.turn
            self._played[done.graph_id] += 1
            self._steps[done.graph_id] = 0
        self._steps[done.graph_id] += 1
        if self._steps[done.graph_id] > steps_in_a_turn_max:
            raise Refused(
                f"Graph {done.graph_id} did not come to an end of its turn.", "Lower max_calls_per_turn."
            )
        if done.event is not None and done.kind != "turn":
            self.last = done.event
            self._acts_played += 1
            self.graph_ids.add(done.event.graph_id)  # A creature may have moved in its act.
            if done.kind == "end":
                self.ended.append(done.event)

    def reached(self) -> Because | None:
        """Why the drive is over, whatever is still due; none if it is not."""
        if self.is_held:
            return "held"
        if self._acts is not None and self._acts_played >= self._acts:
            return "act_played"
        if not self.run_ids:
            return None
        runs = self._world().runs
        status = {run.status for name in self.run_ids if (run := runs.get(name)) is not None}
        if "playing" in status or not status:
            return None
        return "runs_paused" if "paused" in status else "runs_finished"

    @property
    def because_nobody_is_next(self) -> Because:
        """Why a drive is over that was not to be over yet."""
        return "turns_played" if self.has_used_up_turns else "nothing_due"

    def conducted(self, because: Because) -> Conducted:
        """What came of the drive."""
        return Conducted(because, self._played.total(), tuple(self.ended), self.last)
