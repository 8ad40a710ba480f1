"""`glasshouse leaderboard`."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from glasshouse.cli.exits import in_words
from glasshouse.cli.options import JsonOption, StoreOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from glasshouse.cli.drawing.screen import Screen
    from glasshouse.cli.looking import Lookout
    from glasshouse.views.leaderboard import Standing

EXAMPLES: Final = """\b
Examples:
  glasshouse leaderboard                          by creature, over every contest in the store
  glasshouse leaderboard --by model               which model won more
  glasshouse leaderboard --world WORLD            of one world alone
  glasshouse leaderboard --branches               branches count as runs of their own
  glasshouse leaderboard --by team --json         for machines"""


class By(StrEnum):
    """What the lines of a leaderboard stand for."""

    CREATURE = "creature"
    TEAM = "team"
    MODEL = "model"


_NOTHING: Final = "No contest was played to its end yet. Play one: glasshouse play WORLD"
_NOTHING_OF_WORLD: Final = (
    "No contest of this world was played to its end here yet. Play it: glasshouse play {}"
)
_NOTHING_BY_MODEL: Final = (
    "No two models have played against each other yet. Let them: glasshouse tournament WORLD --models A,B"
)

ByOption = Annotated[By, typer.Option(help="What a line stands for.")]
WorldOption = Annotated[
    str | None, typer.Option(metavar="WORLD", help="Count the contests of this world alone.")
]


BranchesOption = Annotated[
    bool,
    typer.Option(
        "--branches", help="Count branches, too. By default they are left out: a past would count twice."
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(epilog=EXAMPLES, short_help="Say who has won how often.")(leaderboard)


def leaderboard(
    *,
    by: ByOption = By.CREATURE,
    world: WorldOption = None,
    branches: BranchesOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say who has won how often, over every contest in a store, and what it cost."""
    with in_words():
        from glasshouse.cli.drawing.screen import Screen, print_json
        from glasshouse.cli.looking import looked_up

        async def standings(lookout: Lookout) -> tuple[tuple[Standing, ...], int]:
            _check_world(world, lookout)
            found = lookout.terrarium.leaderboard(by.value, world=world, branches=branches)
            return found, 0 if branches else len(lookout.terrarium.branches_left_out(world=world))

        found, left_out = looked_up(store, standings)
        if as_json:
            for one in found:
                print_json({**facts_of(one, by.value), "branches_left_out": left_out})
            return
        if found:
            draw_standings(Screen(), found, by.value)
        else:
            Screen().draw(_nothing(by, world))
        if left_out:
            Screen().draw(_left_out(left_out))


def _check_world(world: str | None, lookout: Lookout) -> None:
    """Refuse a name that no world has, neither of those played in the store nor of those that can be played."""
    from glasshouse.errors import UnknownName
    from glasshouse.manifests.finding import found_worlds

    if world is None or any(run.scenario == world for run in lookout.runs()):
        return
    known = {run.scenario for run in lookout.runs() if run.scenario} | {one.name for one in found_worlds()}
    if world not in known:
        raise UnknownName(noun="world", name=world, known=known)


def _left_out(count: int) -> str:
    if count == 1:
        return "1 branch is left out; --branches counts it, too."
    return f"{count:,} branches are left out; --branches counts them, too."


def _nothing(by: By, world: str | None) -> str:
    if by is By.MODEL:
        return _NOTHING_BY_MODEL
    return _NOTHING if world is None else _NOTHING_OF_WORLD.format(world)


def facts_of(one: Standing, by: str) -> dict[str, Any]:
    """A line of the leaderboard for machines."""
    return {
        "by": by,
        "name": one.name,
        "played": one.played,
        "won": one.won,
        "lost": one.lost,
        "no_contest": one.no_contest,
        "win_rate": round(one.win_rate, 4),
        "calls": one.calls,
        "tokens": one.tokens,
        "usd": one.usd,
    }


def draw_standings(screen: Screen, found: Sequence[Standing], by: str) -> None:
    """The leaderboard as a table."""
    from glasshouse.cli.drawing.tables import draw_table

    rows = [
        (
            one.name,
            str(one.played),
            str(one.won),
            str(one.lost),
            str(one.no_contest),
            f"{one.win_rate:.0%}",
            f"{one.calls:,}",
            f"{one.tokens:,}",
            "unknown" if one.usd is None else f"{one.usd:.4f}",
        )
        for one in found
    ]
    headings = (by, "played", "won", "lost", "no contest", "rate", "calls", "tokens", "usd")
    draw_table(screen, headings, rows, loose=(by,), spare=("usd", "tokens", "calls"))
