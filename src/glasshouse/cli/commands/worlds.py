"""`glasshouse worlds` lists the worlds that can be played by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from glasshouse.cli.drawing.screen import Screen, draw_table, print_json
from glasshouse.cli.options import JsonOption
from glasshouse.cli.program import program_called
from glasshouse.cli.prose import say
from glasshouse.manifests.world_folders import found_worlds, scenario_of
from glasshouse.manifests.yaml_source import source_at


def worlds(*, as_json: JsonOption = False) -> None:
    """List the worlds that can be played by name: those in ./worlds, then those that come with Glasshouse.

    \b
    Examples:
      glasshouse worlds                            what can be played by its name from here
      glasshouse worlds --json                     with the path of each
    """
    listed = [
        {"world": w.name, "title": w.title, "where": w.where, "cast": _cast_size(w.path), "path": w.path}
        for w in found_worlds()
    ]
    if as_json:
        print_json(*listed)
    elif not listed:
        say(f"There is no world here. Make one: {program_called()} new world NAME")
    else:
        headings = ("world", "title", "where", "cast")
        rows = [[str(world[heading]) for heading in headings] for world in listed]
        draw_table(Screen(), headings, rows, loose=("world", "title"))


def _cast_size(world: str) -> int:
    """How many creatures a world's file lists. Whether they are sound, `check` finds out."""
    scenario: Any = source_at(scenario_of(Path(world))).data
    if not isinstance(scenario, dict):
        return 0
    troupes = scenario.get("troupes")
    parts = [scenario, *(troupes.values() if isinstance(troupes, dict) else ())]
    casts = [part.get("cast") for part in parts if isinstance(part, dict)]
    return sum(len(cast) for cast in casts if isinstance(cast, list))
