"""The lines of a leaderboard, for machines and as a table."""

from __future__ import annotations

from collections.abc import Sequence

from glasshouse.cli.drawing.screen import Screen
from glasshouse.cli.drawing.tables import draw_table
from glasshouse.events.event import Json
from glasshouse.views.leaderboard import Standing


def standing_facts(standing: Standing, by: str) -> Json:
    """A line for machines."""
    return {
        "by": by,
        "name": standing.name,
        "played": standing.played,
        "won": standing.won,
        "lost": standing.lost,
        "no_contest": standing.no_contest,
        "win_rate": round(standing.win_rate, 4),
        "calls": standing.usage.calls,
        "tokens": standing.usage.tokens,
        "usd": standing.usage.usd,
    }


def draw_standings(screen: Screen, standings: Sequence[Standing], by: str) -> None:
    """All lines as a table."""
    rows = []
    for standing in standings:
        counts = (standing.played, standing.won, standing.lost, standing.no_contest)
        usd = "unknown" if standing.usage.usd is None else f"{standing.usage.usd:.4f}"
        spent = (f"{standing.usage.calls:,}", f"{standing.usage.tokens:,}", usd)
        rows.append((standing.name, *map(str, counts), f"{standing.win_rate:.0%}", *spent))
    headings = (by, "played", "won", "lost", "no contest", "rate", "calls", "tokens", "usd")
    draw_table(screen, headings, rows, loose=(by,), spare=("usd", "tokens", "calls"))
