"""`make bench`: run everything, print a table against the bounds, write `bench/results.json`, fail if one is
missed, and say where its time went and how quiet the machine was."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table

from bench import (
    acts,
    appends,
    branching,
    commands,
    connectivity,
    finished_runs,
    grids,
    group_tools,
    histories,
    imports,
    listeners,
    memory,
    model_calls,
    page,
    postgres,
    quiet,
    reopening,
    scale,
    source,
    stage,
    telemetry,
    tool_calls,
    troupe,
    viewers,
    why,
)
from bench.result import Result

PARTS: dict[str, Callable[[], list[Result]]] = {
    "appends": appends.run,
    "postgres": postgres.run,
    "histories": histories.run,
    "why": why.run,
    "branching": branching.run,
    "reopening": reopening.run,
    "connectivity": connectivity.run,
    "scale": scale.run,
    "finished_runs": finished_runs.run,
    "grids": grids.run,
    "acts": acts.run,
    "telemetry": telemetry.run,
    "listeners": listeners.run,
    "memory": memory.run,
    "model_calls": model_calls.run,
    "group_tools": group_tools.run,
    "tool_calls": tool_calls.run,
    "stage": stage.run,
    "page": page.run,
    "viewers": viewers.run,
    "troupe": troupe.run,
    "commands": commands.run,
    "imports": imports.run,
    "source": source.run,
}


def main(names: list[str]) -> int:
    """Run the parts named, or all; 1 when a bound is missed, 2 when a name is unknown."""
    console = Console(width=None if sys.stdout.isatty() else 140)
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        console.print(f"There is no part {unknown[0]!r}. There is {', '.join(PARTS)}.")
        return 2
    results: list[Result] = []
    looks = [quiet.look()]
    for name in names or PARTS:
        console.print(f"measuring {name} …", style="dim")
        results += PARTS[name]()
        looks.append(quiet.look())
    console.print(_table(results))
    path = Path(__file__).with_name("results.json")
    path.write_bytes(msgspec.json.format(msgspec.json.encode(results)))
    missed = [result.name for result in results if not result.ok]
    bounds = len([result for result in results if result.bound])
    console.print(f"{bounds - len(missed)} of {bounds} bounds held; written to {path}.")
    console.print(quiet.in_words(looks))
    for result in results:
        if not result.ok:
            console.print(f"Missed: {result.name}", style="red")
            console.print(result.profile, markup=False, highlight=False)
    return 1 if missed else 0


def _table(results: list[Result]) -> Table:
    table = Table("what", "measured", "unit", "bound", "held")
    for result in results:
        held = ("yes" if result.ok else "[red]no[/red]") if result.bound else ""
        table.add_row(result.name, f"{result.value:g}", result.unit, result.bound, held)
    return table


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
