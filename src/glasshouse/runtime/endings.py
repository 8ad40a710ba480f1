"""Whether a run has come to its end, and who has won: what its scenario says, a judge's verdict, a referee's word.

Always holds: it is answered from the ledger's folds alone; asked again after a crash, it says the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.events.run_payloads import FinishReason
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.referee_files import referee_named
from glasshouse.turns.referees import Match, Referee, Ruling
from glasshouse.turns.runs import Purse
from glasshouse.turns.tables import NOT_LINES
from glasshouse.world.state import GraphState

NOBODY: Final = frozenset({"", "nobody", "none"})


class Ending(NamedTuple):
    """How a run ends by itself."""

    reason: FinishReason
    winner: str | None = None
    why: str | None = None


class Endings:
    """Reads the end of runs from the folds."""

    def __init__(self, folded: Callable[[], Folded]) -> None:
        self._folded = folded
        self._referees_cache: dict[tuple[str, str | None], Referee] = {}
        self._looked_through: set[str] = set()
        self._rulings: dict[str, Ruling] = {}

    def of(self, run_id: str) -> Ending | None:
        """How a run ends now, if its end has come."""
        purse = self._folded().runs.purses.get(run_id)
        if purse is None or purse.finished is not None:
            return None
        ruling = self._ruling(run_id, purse)
        if ruling is not None and purse.playbill.ends_when.referee:
            return Ending("ended", ruling.winner, ruling.why)
        if not purse.has_come_to_its_end:
            return None
        return self._judged(run_id, purse)

    def at_the_end(self, run_id: str) -> tuple[str | None, str | None]:
        """Who has won a run that ends for another reason, and why."""
        purse = self._folded().runs.purses.get(run_id)
        if purse is None:
            return None, None
        ending = self._judged(run_id, purse)
        return ending.winner, ending.why

    def _judged(self, run_id: str, purse: Purse) -> Ending:
        """The referee's word counts before a judge's. A verdict that names nobody leaves a competition open."""
        ruling = self._ruling(run_id, purse) or self._last_word(purse)
        if ruling is not None:
            return Ending("ended", ruling.winner, ruling.why)
        winner = purse.winner if (purse.winner or "") not in NOBODY else None
        is_contest = purse.playbill.competition.kind != "none"
        return Ending("no_contest" if is_contest and winner is None else "ended", winner, purse.why)

    def _referee(self, purse: Purse) -> Referee | None:
        name = purse.playbill.competition.referee
        if name is None:
            return None
        found = self._referees_cache.get((name, purse.folder))
        if found is None:
            found = self._referees_cache[name, purse.folder] = referee_named(name, purse.folder)
        return found

    def _last_word(self, purse: Purse) -> Ruling | None:
        referee = self._referee(purse)
        return None if referee is None else referee(_match(purse, None))

    def _ruling(self, run_id: str, purse: Purse) -> Ruling | None:
        """The first ruling on a line of this run. After a look at all that was said, new lines come by `note`."""
        if run_id not in self._looked_through and self._referee(purse) is not None:
            self._looked_through.add(run_id)
            lines = [line for table in self._folded().tables.said.values() for line in table.lines]
            sessions = self._folded().world.sessions
            lines.sort(key=lambda line: (line.lamport, sessions[line.session_id].segment.ordinal, line.seq))
            for line in lines:
                self._rule(run_id, purse, line)
        return self._rulings.get(run_id)

    def note(self, line: Event) -> None:
        """Let the referee of a line's run look at it."""
        purse = self._folded().runs.purses.get(line.run_id or "")
        if purse is not None and purse.playbill.competition.referee is not None:
            self._rule(line.run_id or "", purse, line)

    def _rule(self, run_id: str, purse: Purse, line: Event) -> None:
        referee = self._referee(purse)
        if referee is None or run_id in self._rulings or line.run_id != run_id:
            return
        if line.kind in NOT_LINES or line.kind in kinds.INNER:
            return  # A referee hears what everybody may hear.
        ruling = referee(_match(purse, line))
        if ruling is not None:
            self._rulings[run_id] = ruling

    def forget(self) -> None:
        """Look again at all that was said: some of what was noted never came to be."""
        self._looked_through.clear()
        self._rulings.clear()

    def due(self, graph: GraphState) -> list[str]:
        """The runs that may be over: those whose scenario's end was counted, and those that a referee watches."""
        runs, world = self._folded().runs, self._folded().world
        if not runs.watched:
            return []
        here = {world.creatures[name].run_id for name in graph.creatures}
        return [run_id for run_id in runs.watched if run_id in here]


def _match(purse: Purse, line: Event | None) -> Match:
    teams = {
        team: tuple([creature for creature, handle in purse.cast.items() if handle in handles])
        for team, handles in purse.playbill.competition.teams.items()
    }
    return Match(line, purse.truth, teams, tuple(purse.knowers))
