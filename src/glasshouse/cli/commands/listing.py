"""`glasshouse runs`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import typer

from glasshouse.cli.exits import in_words
from glasshouse.cli.options import JsonOption, StoreOption

if TYPE_CHECKING:
    from glasshouse.cli.looking import Lookout

EXAMPLES: Final = """\b
Examples:
  glasshouse runs                              every run in the store, the oldest first
  glasshouse runs --store other.glasshouse     of another store
  glasshouse runs --json | tail -n 1           the last one, for machines"""


HEADINGS: Final = ("world", "status", "winner", "turns", "calls", "began", "seed")


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(epilog=EXAMPLES, short_help="List the runs in a store.")(runs)


def runs(*, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """List the runs in a store, also while one is being played."""
    with in_words():
        from glasshouse.cli.drawing.screen import print_json
        from glasshouse.cli.looking import looked_up

        found = looked_up(store, _facts)
        if as_json:
            for facts in found:
                print_json(facts)
        else:
            _draw(found)


async def _facts(lookout: Lookout) -> list[dict[str, Any]]:
    """What is told of each run."""
    facts = []
    for run in lookout.runs():
        first = await lookout.terrarium.event(f"{run.session_id}.1")
        how = lookout.terrarium.session(run.session_id).origin
        facts.append(
            {
                "run_id": run.id,
                "world": run.scenario,
                "title": run.title,
                "status": run.status,
                "reason": (run.finished or {}).get("reason"),
                "winner": run.winner,
                "branch_of": run.branch_of,
                "how": None if run.branch_of is None else how,
                "seed": run.seed,
                "rng_seed": run.rng_seed,
                "turns": run.turns,
                "calls": run.calls,
                "tokens": run.tokens,
                "usd": run.usd,
                "session_id": run.session_id,
                "graph_ids": list(run.graph_ids),
                "began": first.created_at.isoformat(),
            }
        )
    return facts


def _draw(found: list[dict[str, Any]]) -> None:
    from glasshouse.cli.drawing.screen import Screen
    from glasshouse.cli.drawing.tables import draw_table
    from glasshouse.cli.naming import short_ids

    screen = Screen()
    if not found:
        screen.draw("There is no run yet. Play one: glasshouse play WORLD")
        return
    short = short_ids([facts["run_id"] for facts in found])
    has_grown = any(facts["branch_of"] is not None for facts in found)
    headings = ["run", *(["grown from"] if has_grown else []), *HEADINGS]
    rows = []
    for facts in found:
        grown = [_grown_from(short, facts)] if has_grown else []
        rows.append((short[facts["run_id"]], *grown, *_row(facts)))
    draw_table(screen, headings, rows, loose=("world", "winner", "seed"), spare=("seed", "calls", "began"))


def _grown_from(short: dict[str, str], facts: dict[str, Any]) -> str:
    """The run that one is a branch of, or was resumed from."""
    parent = facts["branch_of"]
    if parent is None:
        return ""
    from glasshouse.cli.naming import short_id_chars

    how = "branch" if facts["how"] == "branch" else "resumed"
    return f"{short.get(parent, parent[:short_id_chars])} ({how})"


def _row(facts: dict[str, Any]) -> tuple[str, ...]:
    status = facts["status"] if facts["reason"] is None else facts["reason"]
    began = facts["began"][5:16].replace("T", " ")
    turns, calls = str(facts["turns"]), str(facts["calls"])
    return (facts["world"], status, facts["winner"] or "", turns, calls, began, facts["seed"])
