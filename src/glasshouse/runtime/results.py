"""Results of contests, computed from the ledger's folds without reading histories.

Always holds: a run has a result if it is a competition, has finished, and at least two could have won. A stopped run
has one only if it had a winner.
"""

from __future__ import annotations

from glasshouse.events.event import session_and_seq
from glasshouse.runtime.folded import Folded
from glasshouse.turns.runs.purses import Purse
from glasshouse.views.leaderboard import Player, Result, Seat


def results_of(folded: Folded) -> tuple[Result, ...]:
    """The result of every finished contest, the oldest first."""
    results = [_result_of(run_id, purse) for run_id, purse in folded.runs.purses.items()]
    return tuple([result for result in results if result is not None])


def branches_left_out(folded: Folded, *, world: str | None = None) -> tuple[str, ...]:
    """The runs that a leaderboard leaves out, because they would count the result of another run again."""
    results = results_of(folded)
    counted = {result.run_id for result in results}
    of_world = [result.run_id for result in results if world in (None, result.world)]
    return tuple([run_id for run_id in of_world if _is_repeated(folded, run_id, counted)])


def _is_repeated(folded: Folded, run_id: str, counted: set[str]) -> bool:
    """Whether the result of a run repeats that of another run that is counted: so it is for branches, runs resumed from
    a branch, and runs resumed from a run that had a result already. An interrupted run that was resumed has one
    result, which repeats none."""
    while (purse := folded.runs.purses.get(run_id)) is not None and purse.branch_of is not None:
        begun_in = folded.world.runs[run_id].session_id
        if folded.world.sessions[begun_in].segment.origin == "branch":
            return True
        if folded.world.sessions[session_and_seq(purse.branch_of.at)[0]].segment.is_imported:
            return False  # Results of an imported past are not counted in this house.
        if purse.branch_of.run_id in counted:
            return True
        run_id = purse.branch_of.run_id
    return False


def _result_of(run_id: str, purse: Purse) -> Result | None:
    """The result of one run; None if it is no contest, is not over, or was stopped without a winner."""
    competition = purse.playbill.competition
    finished = purse.finished
    if finished is None or competition.kind == "none" or len(competition.may_win) < 2:
        return None
    if finished.winner is None and finished.reason == "stopped":
        return None
    teams = competition.teams or {name: (name,) for name in competition.contestants}
    seats = [Seat(name, _players(purse, handles)) for name, handles in teams.items()]
    return Result(run_id, purse.playbill.name, tuple(seats), finished.winner, tuple(finished.members or ()))


def _players(purse: Purse, handles: tuple[str, ...]) -> tuple[Player, ...]:
    return tuple(
        [
            Player(purse.cast[name], account.cast_key, account.model, account.usage)
            for name, account in purse.spent.accounts.items()
            if purse.cast.get(name) in handles
        ]
    )
