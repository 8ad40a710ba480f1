"""The clocks of a graph: how many turns each run has played there, and what happened in the present turn.

Always holds: turns are counted along each graph's line. A split gives both sides what was counted before; a merge keeps the
longer count, so what two graphs shared counts once when they meet again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec


class Counted(msgspec.Struct):
    """Calls and edits of each run in one stretch of a turn."""

    calls: dict[str, int] = msgspec.field(default_factory=dict)
    edits: dict[str, int] = msgspec.field(default_factory=dict)


class Clocks(msgspec.Struct):
    """How one graph stands: turns of each run along its line; calls and edits of each run in its present turn."""

    turns: dict[str, int] = msgspec.field(default_factory=dict)
    calls: dict[str, int] = msgspec.field(default_factory=dict)
    turn: int = 0
    edits: dict[str, int] = msgspec.field(default_factory=dict)
    shared: dict[str, Counted] = msgspec.field(default_factory=dict)
    """What of it others have counted too: of each parting in this turn, what came before it."""

    def begin_turn(self, turn: int) -> None:
        """Nothing is done yet in a new turn."""
        self.turn = turn
        self.calls, self.edits, self.shared = {}, {}, {}

    def part(self, at: str) -> Clocks:
        """The clocks of a graph that parts from this one, at an event; both share what was counted until then."""
        own = self.own()
        if own.calls or own.edits:
            self.shared = {**self.shared, at: own}
        return Clocks(dict(self.turns), dict(self.calls), self.turn, dict(self.edits), dict(self.shared))

    def own(self) -> Counted:
        """What was counted here since the last parting."""
        before = self.shared.values()
        return Counted(
            _less(self.calls, [one.calls for one in before]), _less(self.edits, [one.edits for one in before])
        )

    def renamed(self, runs: Mapping[str, str]) -> Clocks:
        """The same with other names for the runs."""
        shared = {
            at: Counted(_renamed(one.calls, runs), _renamed(one.edits, runs))
            for at, one in self.shared.items()
        }
        return Clocks(
            _renamed(self.turns, runs),
            _renamed(self.calls, runs),
            self.turn,
            _renamed(self.edits, runs),
            shared,
        )


def merged(parts: Sequence[Clocks]) -> Clocks:
    """The clocks of graphs that become one."""
    shared = {at: one for part in parts for at, one in part.shared.items()}
    counted = [*shared.values(), *[part.own() for part in parts]]
    turns: dict[str, int] = {}
    for part in parts:
        for run_id, count in part.turns.items():
            turns[run_id] = max(count, turns.get(run_id, 0))
    return Clocks(
        turns,
        _sum([one.calls for one in counted]),
        max(part.turn for part in parts),
        _sum([one.edits for one in counted]),
        shared,
    )


def _sum(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    whole: dict[str, int] = {}
    for one in counts:
        for run_id, count in one.items():
            whole[run_id] = whole.get(run_id, 0) + count
    return whole


def _less(counts: Mapping[str, int], before: Iterable[Mapping[str, int]]) -> dict[str, int]:
    gone = _sum(before)
    rest = {run_id: count - gone.get(run_id, 0) for run_id, count in counts.items()}
    return {run_id: count for run_id, count in rest.items() if count}


def _renamed(counts: Mapping[str, int], runs: Mapping[str, str]) -> dict[str, int]:
    return {runs.get(run_id, run_id): count for run_id, count in counts.items()}
