"""The leaderboard: games played, won and lost over many runs, and their cost, by creature, team or model.

Always holds: it is a function of the results alone. Every seat of a finished contest counts as played, and as either
won, lost or no contest; so `played` is the sum of the three.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from typing import Literal

import msgspec
from msgspec.structs import replace

from glasshouse.events.model_use import NOTHING, Usage
from glasshouse.reprs import repr_of

By = Literal["creature", "team", "model"]
Outcome = Literal["won", "lost", "no_contest"]


class Player(msgspec.Struct, frozen=True):
    """One creature on a seat, and what its model calls have cost."""

    handle: str
    cast_key: str
    model: str
    usage: Usage = NOTHING


class Seat(msgspec.Struct, frozen=True):
    """A team, or a contestant who plays for itself."""

    name: str
    players: tuple[Player, ...]


class Result(msgspec.Struct, frozen=True):
    """The result of one contest."""

    run_id: str
    world: str
    seats: tuple[Seat, ...]
    winner: str | None = None
    members: tuple[str, ...] = ()
    """The handles that share the win, if the winner is not a seat."""

    def has_won(self, seat: Seat) -> bool:
        """Whether this seat has won."""
        return seat.name == self.winner or any(player.handle in self.members for player in seat.players)


class Standing(msgspec.Struct, frozen=True):
    """One line of the leaderboard."""

    __repr__ = repr_of()

    name: str
    played: int = 0
    won: int = 0
    lost: int = 0
    no_contest: int = 0
    usage: Usage = NOTHING

    @property
    def win_rate(self) -> float:
        """The share of played games that were won, from 0 to 1."""
        return self.won / self.played if self.played else 0.0

    def plus(self, outcome: Outcome, players: Sequence[Player]) -> Standing:
        """The standing with the outcome of one more seat."""
        usage = reduce(Usage.plus, [player.usage for player in players], self.usage)
        counts = {"played": self.played + 1, outcome: getattr(self, outcome) + 1}
        return replace(self, **counts, usage=usage)


def leaderboard(
    results: Iterable[Result], by: By = "creature", *, world: str | None = None
) -> tuple[Standing, ...]:
    """The standings, the best first: by win rate, then by wins, then by name."""
    standings: dict[str, Standing] = {}
    for result in [result for result in results if world in (None, result.world)]:
        for name, outcome, players in _entries(result, by):
            standings[name] = standings.get(name, Standing(name)).plus(outcome, players)
    best_first = sorted(standings.values(), key=lambda each: (-each.win_rate, -each.won, each.name))
    return tuple(best_first)


def _entries(result: Result, by: By) -> Iterator[tuple[str, Outcome, tuple[Player, ...]]]:
    """The entries that a result adds. If all seats have the same model, the result says nothing about models."""
    is_decided = any(result.has_won(seat) for seat in result.seats)
    models = {player.model for seat in result.seats for player in seat.players}
    if by == "model" and len(models) < 2:
        return
    for seat in result.seats:
        outcome: Outcome = "no_contest"
        if is_decided:
            outcome = "won" if result.has_won(seat) else "lost"
        for name in dict.fromkeys(_name(seat, player, by) for player in seat.players):
            players = tuple([player for player in seat.players if _name(seat, player, by) == name])
            yield name, outcome, players


def _name(seat: Seat, player: Player, by: By) -> str:
    return {"creature": player.cast_key, "team": seat.name, "model": player.model}[by]
