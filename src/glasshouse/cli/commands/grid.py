"""`glasshouse grid` plays many runs: worlds by what-ifs by models by seeds by repeats. The work is in `live/grid_play.py`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import typer

from glasshouse.cli.command_line import checked_settings
from glasshouse.cli.exits import CHECK_FAILED
from glasshouse.cli.interrupts import run_until_interrupted
from glasshouse.cli.live.grid_play import play_grid
from glasshouse.cli.options import EnvFileOption, JsonOption, ToolsOption, YesOption, argument, option
from glasshouse.cli.tool_servers import servers_here
from glasshouse.grids.executors import at_once_usual
from glasshouse.grids.grid import Grid, at_once_max, processes_max

_FILE = "The grid file: worlds, rng_seeds, models, what_ifs and repeats, as YAML."
_FOLDER = "Where its stores and tables are. Default: beside FILE, named after it, with the ending .grid."
_AT_ONCE = "How many runs are in flight. They share the slots of a model server."
_PROCESSES = "How many processes play, for offline plays. They divide the slots of a model server."
_ON = (
    "Play on a Ray cluster: ray, or ray://HOST:PORT. Needs the extra [ray], and a token beyond this machine."
)
_MAX_USD = "What the whole grid may cost, in US dollars, earlier parts included."


def grid(
    file: Path = argument("FILE", _FILE),
    *,
    # A text: a path without a name would be this folder.
    folder: str | None = option("DIR", _FOLDER),
    at_once: int = option("N", _AT_ONCE, at_once_usual, min=1, max=at_once_max),
    processes: int = option("N", _PROCESSES, 1, min=1, max=processes_max),
    on: str | None = option("ray[://HOST:PORT]", _ON),
    max_usd: float | None = option("X", _MAX_USD, None, min=0),
    env_file: EnvFileOption = None,
    tools: ToolsOption = None,
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Play a grid: many runs, each a cell of worlds by what-ifs by models by seeds by repeats.

    Every cell is an ordinary run of a store in the grid's folder. After an interruption, also kill -9, the same command continues:
    it plays no finished cell again, and goes on with the others from their last acts. When it ends, cells.csv, summary.csv and
    summary.html are in the folder. Exit 1: some cells failed; they are tried again by the same command.

    \b
    Examples:
      glasshouse grid night.yaml                        play all cells, 64 at once
      glasshouse grid night.yaml --processes 8          offline plays on eight cores
      glasshouse grid night.yaml --on ray://head:6379   on the machines of a Ray cluster
      glasshouse grid night.yaml --max-usd 20 --yes     until the next call could cost more than that
      glasshouse grid night.yaml --json | head          a line for each cell, for machines
    """
    if file.is_dir():
        raise typer.BadParameter(f"{file} is a folder. Name the grid's YAML file.", param_hint="FILE")
    planned = Grid(
        file=file,
        folder=file.with_suffix(".grid") if folder is None else folder,
        at_once=at_once,
        processes=processes,
        max_usd=max_usd,
        env_file=env_file,
        tool_servers=servers_here(tools),
        act_seconds_max=checked_settings().act_seconds_max,
    )
    failed = run_until_interrupted(partial(play_grid, planned, is_agreed=yes, as_json=as_json, on=on))
    if failed:
        raise typer.Exit(CHECK_FAILED)
