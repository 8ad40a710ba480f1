"""Results of contests, read from the ledger's folds: no history is read for them.

Always holds: a run counts when it is over and two or more could have won it; one that somebody stopped counts only if it
had a winner.
"""

from __future__ import annotations

from glasshouse.runtime.folded import Folded
from glasshouse.turns.runs import Account, Purse
from glasshouse.views.leaderboard import Player, Result, Seat


def results_of(folded: Folded) -> tuple[Result, ...]:
    """The result of every contest that was played to its end, the oldest first."""
    purses = folded.runs.purses
    found = [result_of(run_id, purse) for run_id, purse in purses.items()]
    return tuple([result for result in found if result is not None])


def result_of(run_id: str, purse: Purse) -> Result | None:
    """How one run came out; none if it is no contest, or not over."""
    competition, finished = purse.playbill.competition, purse.finished
    if finished is None or competition.kind == "none" or len(competition.may_win) < 2:
        return None
    winner = finished.get("winner")
    if winner is None and finished.get("reason") == "stopped":
        return None
    teams = competition.teams or {name: (name,) for name in competition.contestants}
    seats = [Seat(name, _players(purse, handles)) for name, handles in teams.items()]
    return Result(run_id, purse.playbill.name, tuple(seats), winner, tuple(finished.get("members") or ()))


def _players(purse: Purse, handles: tuple[str, ...]) -> tuple[Player, ...]:
    accounts = [
        (name, account) for name, account in purse.spent.accounts.items() if purse.cast.get(name) in handles
    ]
    return tuple([_player(purse.cast[name], account) for name, account in accounts])


def _player(handle: str, account: Account) -> Player:
    usd = None if account.is_unpriced else account.usd
    return Player(handle, account.cast_key, account.model, account.calls, account.tokens, usd)
