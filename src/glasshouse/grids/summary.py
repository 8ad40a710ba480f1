"""The summary of a grid: for each world, what-if and entry of `models`, who won how often, how long it took, what it cost. Pure.

Always holds: a rate has Wilson's interval and a mean the normal one, as in rehearsals; failed cells count in `failed` and nowhere
else. A cost is unknown if that of one cell is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from glasshouse.contests.measures import Measure, average, share
from glasshouse.grids.rows import Row
from glasshouse.reprs import shown


class Group(NamedTuple):
    """The rows of one world, one what-if and one entry of `models`."""

    world: str
    what_if: str
    models: str
    rows: tuple[Row, ...]

    @property
    def done(self) -> tuple[Row, ...]:
        """Those that were played to their end."""
        return tuple([row for row in self.rows if row.is_done])


class Figure(NamedTuple):
    """One line of the summary."""

    world: str
    what_if: str
    models: str
    measure: str
    """`failed`, `won by WINNER`, `nobody won`, `ended: REASON`, `turns`, `calls`, `tokens` or `usd`."""
    value: Measure

    def __repr__(self) -> str:
        return shown(
            self,
            measure=self.measure,
            value=self.value,
            world=self.world,
            what_if=self.what_if,
            models=self.models,
        )


def groups_of(rows: Iterable[Row]) -> list[Group]:
    """The rows by world, what-if and models, in the order in which these first appear."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.world, row.what_if, row.models), []).append(row)
    return [Group(*key, tuple(mine)) for key, mine in groups.items()]


def winners_of(rows: Iterable[Row]) -> list[str | None]:
    """Everybody who won a cell of these rows, by name; at last none, if in one of them nobody won."""
    winners = {row.winner for row in rows if row.is_done}
    named = sorted(winner for winner in winners if winner is not None)
    return [*named, *([None] if None in winners else [])]


def summary_of(rows: Sequence[Row]) -> list[Figure]:
    """All figures, group by group."""
    groups = groups_of(rows)
    return [
        Figure(*group[:3], measure, value) for group in groups for measure, value in _figures(group, groups)
    ]


def _figures(group: Group, groups: Sequence[Group]) -> Iterator[tuple[str, Measure]]:
    done = group.done
    played = [row for each in groups if each.world == group.world for row in each.done]
    yield "failed", share(not row.is_done for row in group.rows)
    for winner in winners_of(played):
        yield won_by(winner), share(row.winner == winner for row in done)
    for reason in sorted({row.reason for row in played}):
        yield f"ended: {reason}", share(row.reason == reason for row in done)
    yield "turns", average(row.turns for row in done)
    yield "calls", average(row.calls for row in done)
    yield "tokens", average(row.tokens for row in done)
    yield "usd", mean_usd(done)


def won_by(winner: str | None) -> str:
    """How the summary calls that somebody won."""
    return "nobody won" if winner is None else f"won by {winner}"


def mean_usd(rows: Sequence[Row]) -> Measure:
    """What a cell cost on average; without a value if a price is unknown."""
    known = [row.usd for row in rows if row.usd is not None]
    return average(known) if len(known) == len(rows) else Measure(n=len(rows))
