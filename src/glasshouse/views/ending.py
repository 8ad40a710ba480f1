"""How a run ended: one sentence, then the figures. Every face of a run says it with these words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from glasshouse.events.payloads import RunFinished

LIMITS: Final = {
    "max_turns": "turn limit",
    "max_total_calls": "call limit",
    "max_calls_per_turn": "limit of calls in a turn",
    "max_total_tokens": "token limit",
    "max_total_usd": "spend limit",
    "hourly_budget_usd": "spend limit of an hour",
    "max_wall_minutes": "time limit",
}
"""The limits that may end a run, in words."""


def how_it_ended(ended: RunFinished) -> str:
    """How a run ended, in a sentence: who won, else by which verdict or limit, else that it came to its end."""
    if ended.reason == "stopped" and not ended.winner:
        return "Stopped before its end."
    return f"The end: {_clause(ended, str, has_axis=True)}."


def outcome_of(ended: RunFinished, name_of: Callable[[str], str] = str) -> str:
    """The same sentence below a heading that says that it is the end. `name_of` says how a winner is shown."""
    clause = _clause(ended, name_of, has_axis=False)
    return f"{clause[:1].upper()}{clause[1:]}."


def _clause(ended: RunFinished, name_of: Callable[[str], str], *, has_axis: bool) -> str:
    if ended.reason == "budget":
        limit = LIMITS.get(ended.axis or "", "budget")
        won = f", and {name_of(ended.winner)} won" if ended.winner else ""
        return f"it stopped at the {limit}{f' ({ended.axis})' if ended.axis and has_axis else ''}{won}"
    if ended.winner:
        return f"{name_of(ended.winner)} won"
    match ended.reason:
        case "ended":
            return "a verdict, and nobody won" if ended.why else "the play ran its course"
        case "stopped":
            return "stopped before its end"
        case "no_contest":
            return "no contest, and nobody won"


def figures_of(ended: RunFinished) -> str:
    """What a run took, in a sentence."""
    full = f" ({ended.full_turns} full)" if ended.full_turns else ""
    parts = [
        _counted(ended.turns, "turn") + full,
        _counted(ended.calls, "call"),
        _counted(ended.tokens, "token"),
        "price unknown" if ended.usd is None else f"{ended.usd:.4f} USD" if ended.usd else "free",
    ]
    return f"It took {', '.join(parts)}."


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
