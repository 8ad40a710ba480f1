"""`glasshouse leaderboard` shows who won how often, over every contest in a store.

Standings are folded in `views.leaderboard`.
"""

from __future__ import annotations

from enum import StrEnum

import typer

from glasshouse.cli.command_line import CommandLine, store_path
from glasshouse.cli.drawing.screen import Screen, print_json
from glasshouse.cli.live.matches import draw_standings, standing_facts
from glasshouse.cli.options import JsonOption, StoreOption, flag, option
from glasshouse.cli.prose import say
from glasshouse.cli.store_reader import StoreReader, read_store
from glasshouse.errors import UnknownName
from glasshouse.manifests.world_folders import found_worlds
from glasshouse.runtime.results import branches_left_out
from glasshouse.terrarium import folded_of
from glasshouse.views.leaderboard import Standing


class By(StrEnum):
    """What the lines of a leaderboard stand for."""

    CREATURE = "creature"
    TEAM = "team"
    MODEL = "model"


def leaderboard(
    *,
    by: By = typer.Option(By.CREATURE, help="What a line stands for."),
    world: str | None = option("WORLD", "Count the contests of this world alone."),
    branches: bool = flag(
        "--branches",
        "Also count branches. By default they are left out, because a shared past would count twice.",
    ),
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show who has won how often, over every contest in a store, and what it cost.

    \b
    Examples:
      glasshouse leaderboard                          by creature, over every contest in the store
      glasshouse leaderboard --by model               which model won more
      glasshouse leaderboard --world WORLD            of one world alone
      glasshouse leaderboard --branches               branches count as runs of their own
      glasshouse leaderboard --by team --json         for machines
    """

    async def read(reader: StoreReader) -> tuple[tuple[Standing, ...], int]:
        _check_world(world, reader)
        standings = reader.terrarium.leaderboard(by.value, world=world, branches=branches)
        left_out = () if branches else branches_left_out(folded_of(reader.terrarium), world=world)
        return standings, len(left_out)

    standings, left_out = read_store(store, read)
    if as_json:
        print_json(*[{**standing_facts(s, by.value), "branches_left_out": left_out} for s in standings])
        return
    call = CommandLine.on(store_path(store)).call
    if standings:
        draw_standings(Screen(), standings, by.value)
    elif by is By.MODEL:
        command = call("tournament", "WORLD", "--models", "A,B")
        say(f"No two models have played against each other yet. Let them: {command}")
    elif world is None:
        say(f"No contest was played to its end yet. Play one: {call('play', 'WORLD')}")
    else:
        say(f"No contest of this world was played to its end here yet. Play it: {call('play', world)}")
    if left_out:
        are, them = ("branch is", "it") if left_out == 1 else ("branches are", "them")
        Screen().draw(f"{left_out:,} {are} left out; --branches counts {them}, too.")


def _check_world(world: str | None, reader: StoreReader) -> None:
    """Refuse a name that no world has, neither of those played in the store nor of those that can be played."""
    played = {run.scenario for run in reader.terrarium.runs() if run.scenario}
    if world is not None and world not in (known := played | {bundled.name for bundled in found_worlds()}):
        raise UnknownName(noun="world", name=world, known=known)
