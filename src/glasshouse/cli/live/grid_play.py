"""A grid as somebody at a terminal meets it: what it will cost, how far it is, and what came of it.

Always holds: however it ends, the tables have every cell that is over. What it costs is asked once: a grid that continues asks
again only if it will probably cost more than was agreed to.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import aclosing, suppress
from typing import Any, Final

from msgspec import to_builtins

from glasshouse.cli.drawing.screen import Screen, counted, draw_table, print_json
from glasshouse.cli.expected_cost import check_agreed
from glasshouse.cli.live.progress_lines import ProgressLines
from glasshouse.contests.expected_cost import Expected
from glasshouse.contests.measures import Measure, average, share
from glasshouse.errors import GridStopped
from glasshouse.grids.grid import Grid, Progress
from glasshouse.grids.rows import Row
from glasshouse.grids.summary import Group, groups_of, mean_usd, winners_of
from glasshouse.grids.tables import CELLS, PAGE, SUMMARY, verify_command

tables_seconds: Final = 30.0
"""How often the tables are written while a grid plays, so that somebody can look at them."""
tables_share_max: Final = 0.02
"""Which part of the time may be spent on that: a large grid writes them less often."""
groups_shown_max: Final = 40
"""More lines of the summary are left to its file."""


async def play_grid(grid: Grid, *, is_agreed: bool, as_json: bool, on: str | None = None) -> bool:
    """Play a grid and tell what came of it. Whether some of its cells failed."""
    progress = ProgressLines()
    if on is None:
        grid.check_code()
    else:
        grid.check_on(on)
    async with progress.watching(lambda: "Grid: looking for its models and for what was played."):
        await grid.open()
    try:
        _say_what_there_is(grid, progress)
        await _agree(grid, progress, is_agreed=is_agreed, as_json=as_json)
        stopped = await _play(grid, progress, as_json=as_json, on=on)
        unwritten = _unwritten_tables(grid)
        if unwritten is not None:
            stopped = GridStopped("store", f"{stopped} {unwritten}") if stopped else unwritten
        _tell(grid, stopped, as_json=as_json, has_tables=unwritten is None)
        if stopped is not None:
            raise GridStopped(stopped.why, f"{stopped} {_how_to_go_on(stopped, grid.progress)}")
        return bool(grid.progress.failed)
    finally:
        await grid.close()


def _say_what_there_is(grid: Grid, progress: ProgressLines) -> None:
    file = grid.read.file
    axes = [
        counted(len(file.worlds), "world"),
        *([counted(len(file.what_ifs), "what-if")] if len(file.what_ifs) > 1 else []),
        counted(len(file.models), "model"),
        counted(len(file.rng_seeds), "seed"),
        *([counted(file.repeats, "repeat")] if file.repeats > 1 else []),
    ]
    now = grid.progress
    played = f" {now.done:,} were played before." if now.done else ""
    product = " \u00d7 ".join(axes)
    for store in grid.gone:
        progress.say(f"Grid: {store} What was done in it is played again.")
    progress.say(f"Grid: {counted(now.cells, 'cell')} ({product}) in {grid.folder}.{played}")


async def _agree(grid: Grid, progress: ProgressLines, *, is_agreed: bool, as_json: bool) -> None:
    """Tell what the rest will probably cost, and ask if that is much."""
    if not grid.progress.left or not grid.is_priced:
        return
    async with progress.watching(
        lambda: "Grid: the offline troupe plays each variant once, to tell what it will cost."
    ):
        expected = await asyncio.to_thread(grid.expected)
    progress.say(f"Grid: the cells that are left will probably take {expected}.")
    total = _total(expected, grid.progress)
    agreed = grid.agreed_usd()
    if agreed is None or (total is None and agreed < float("inf")) or (total is not None and total > agreed):
        check_agreed(expected, is_agreed=is_agreed, as_json=as_json)
        grid.agree(float("inf") if total is None else total)


def _total(expected: Expected, now: Progress) -> float | None:
    """What the whole grid will probably cost, with what it has cost until now."""
    usd = expected.usd_at_most
    return None if usd is None or now.usd is None else usd + now.usd


async def _play(grid: Grid, progress: ProgressLines, *, as_json: bool, on: str | None) -> GridStopped | None:
    """Play what is left. What stopped it, if something did."""
    begun = time.monotonic()
    before = grid.progress
    written = begun
    pause = tables_seconds

    def words() -> str:
        return _how_far(grid.progress, before, time.monotonic() - begun)

    try:
        async with progress.watching(words), aclosing(grid.play(on=on)) as rows:
            async for row in rows:
                if as_json:
                    print_json(_facts(row, grid))
                if time.monotonic() - written > pause:
                    began = time.monotonic()
                    grid.write_tables()
                    written = time.monotonic()
                    pause = max(tables_seconds, (written - began) / tables_share_max)
        return None
    except GridStopped as stopped:
        return stopped
    except BaseException:
        with suppress(OSError):  # What ends the grid is told; the next command writes the tables.
            grid.write_tables()
        raise


def _unwritten_tables(grid: Grid) -> GridStopped | None:
    """Write the tables. What stopped that, if something did."""
    try:
        grid.write_tables()
    except OSError as wrong:
        reason = f"{wrong.filename}: {wrong.strerror}" if wrong.filename else str(wrong)
        return GridStopped(
            "store", f"The tables could not be written. {reason}. Make room, or take away what is in the way."
        )
    return None


def _how_far(now: Progress, before: Progress, seconds: float) -> str:
    """One line: cells done and failed, cost, time left."""
    parts = [f"{now.done:,} of {now.cells:,} cells done", f"{now.failed:,} failed", _dollars(now.usd)]
    if now.away:
        parts.append(f"{now.away:,} more over on the cluster")
    if now.begun_again:
        parts.append(_lost(now))
    played = now.cells - now.left - (before.cells - before.left)
    if played > 0 and now.left:
        parts.append(f"about {_duration(seconds / played * now.left)} left")
    return f"Grid: {', '.join(parts)}"


def _lost(now: Progress) -> str:
    bundles = counted(now.begun_again, "bundle")
    return f"{bundles} lost and begun again ({counted(now.lost_calls, 'call')} or more)"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return counted(max(1, round(seconds)), "second")
    minutes = seconds / 60
    return counted(round(minutes), "minute") if minutes < 90 else f"{minutes / 60:.1f} hours"


def _dollars(usd: float | None) -> str:
    return "cost unknown" if usd is None else f"${usd:.2f}" if usd >= 0.005 or not usd else f"${usd:.4f}"


def _how_to_go_on(stopped: GridStopped, now: Progress) -> str:
    if stopped.why != "budget":
        return "What was played is safe, and the same command continues."
    return f"{counted(now.left, 'cell')} left; what they have cost counts too. To go on: the same command with a higher --max-usd."


def _tell(grid: Grid, stopped: GridStopped | None, *, as_json: bool, has_tables: bool) -> None:
    now = grid.progress
    assert grid.folder is not None, "the command gives it one"
    if as_json:
        files = {"cells_csv": CELLS, "summary_csv": SUMMARY, "summary_html": PAGE}
        print_json(
            {
                "type": "grid",
                "cells": now.cells,
                "done": now.done,
                "failed": now.failed,
                "left": now.left,
                "usd": now.usd,
                "begun_again": now.begun_again,
                "lost_calls": now.lost_calls,
                "stopped_by": stopped and stopped.why,
                "folder": str(grid.folder),
                **{name: str(grid.folder / file) if has_tables else None for name, file in files.items()},
            }
        )
        return
    screen = Screen()
    table = grid.table()
    _draw_groups(screen, groups_of(table.rows))
    screen.draw("")
    screen.draw(f"{now.done:,} of {now.cells:,} cells done, {now.failed:,} failed, {_dollars(now.usd)}.")
    if now.begun_again:
        screen.draw(f"{_lost(now)}.")
    for error, count in _errors(table.rows):
        screen.draw(f"{counted(count, 'cell')} failed: {error}")
    if not has_tables:
        return
    screen.draw(f"Tables: {grid.folder / CELLS}, {grid.folder / SUMMARY}")
    screen.draw(f"Plots: {grid.folder / PAGE}")


def _errors(rows: Sequence[Row]) -> list[tuple[str, int]]:
    """Why cells failed, the most frequent first, at most three."""
    errors = [row.error for row in rows if row.error]
    each = sorted({*errors}, key=lambda error: (-errors.count(error), error))
    return [(error, errors.count(error)) for error in each[:3]]


def _draw_groups(screen: Screen, groups: Sequence[Group]) -> None:
    headings = ("world", "what if", "models", "cells", "won by", "turns", "calls", "usd")
    rows = [_group_line(group) for group in groups[:groups_shown_max]]
    draw_table(screen, headings, rows, loose=("world", "models", "won by"), spare=("calls", "turns"))
    if len(groups) > groups_shown_max:
        screen.draw(f"and {len(groups) - groups_shown_max:,} more lines in {SUMMARY}")


def _group_line(group: Group) -> tuple[str, ...]:
    done = group.done
    winners = [
        (winner or "nobody", share(row.winner == winner for row in done)) for winner in winners_of(done)
    ]
    won = ", ".join(f"{name} {_share(measure)}" for name, measure in winners)
    usd = mean_usd(done).value
    means = [average(row.turns for row in done).value, average(row.calls for row in done).value]
    return (
        group.world,
        group.what_if,
        group.models,
        f"{len(done):,}",
        won,
        *["" if mean is None else f"{mean:.1f}" for mean in means],
        ("unknown" if done else "") if usd is None else f"{usd:.4f}",
    )


def _share(measure: Measure) -> str:
    if measure.value is None or measure.low is None or measure.high is None:
        return ""
    return f"{measure.value:.0%} ({measure.low:.0%} to {measure.high:.0%})"


def _facts(row: Row, grid: Grid) -> dict[str, Any]:
    facts: dict[str, Any] = {name: getattr(row, name) for name in row.__struct_fields__}
    return {"type": "cell", **to_builtins(facts), "verify": verify_command(row, grid.folder)}
