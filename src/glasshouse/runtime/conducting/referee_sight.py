"""The public lines of a run that its referee may look back on, from the tables of the ledger's folds.

Always holds: a referee sees the same lines, whether they were in memory or read again after a crash. If the tables
have dropped some of them, `was_cut` says so, and the ruling does not count.
"""

from __future__ import annotations

from collections.abc import Callable

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.runtime.folded import Folded
from glasshouse.turns.referees import match_lines_max
from glasshouse.turns.tables import RecentLines

Moment = tuple[int, int, int]


def is_public_line(run_id: str, line: Event) -> bool:
    """Whether a line is of a run, and one that everybody there may hear."""
    return line.run_id == run_id and line.kind not in kinds.NO_LINES and line.kind not in kinds.INNER


class RunPast:
    """The public lines of one run, looked for where it was heard."""

    def __init__(self, folded: Callable[[], Folded], run_id: str) -> None:
        self._folded = folded
        self._run_id = run_id
        self.was_cut = False
        """Whether the lines that were asked for last lacked some that had been there."""
        self._places = {
            place: None
            for place, table in folded().tables.said.items()
            if any(line.run_id == run_id for line in table.lines)
        }

    def note_place(self, line: Event) -> None:
        """There are lines of this run where this one was said."""
        self._places[line.channel_id or line.graph_id] = None
        self._places[line.graph_id] = None

    def lines(self) -> list[Event]:
        """Every public line of the run that is at hand, oldest first."""
        found = {line.id: line for table in self._tables() for line in table.lines}
        ours = [line for line in found.values() if is_public_line(self._run_id, line)]
        return sorted(ours, key=self._moment)

    def up_to(self, line: Event | None) -> Callable[[], tuple[Event, ...]]:
        """A look back from a line, which costs nothing until it is taken; without a line, from now."""
        self.was_cut = False

        def hear() -> tuple[Event, ...]:
            lines = self.lines()
            if line is not None:
                last = self._moment(line)
                lines = [one for one in lines if self._moment(one) <= last]
            shown = lines[-match_lines_max:]
            kept_from = max([table.lines[0].lamport for table in self._tables() if table.dropped], default=0)
            self.was_cut = line is not None and bool(shown) and shown[0].lamport < kept_from
            return tuple(shown)

        return hear

    def _tables(self) -> list[RecentLines]:
        said = self._folded().tables.said
        return [said[place] for place in self._places if place in said and said[place].lines]

    def _moment(self, line: Event) -> Moment:
        session = self._folded().world.sessions[line.session_id]
        return line.lamport - session.skew, session.rank, line.seq
