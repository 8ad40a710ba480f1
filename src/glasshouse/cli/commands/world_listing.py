"""`glasshouse worlds`."""

from __future__ import annotations

from typing import Any, Final

import typer

from glasshouse.cli.exits import in_words
from glasshouse.cli.options import JsonOption

EXAMPLES: Final = """\b
Examples:
  glasshouse worlds                            what can be played by its name from here
  glasshouse worlds --json                     with the folder of each"""


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(epilog=EXAMPLES, short_help="List the worlds that can be played by name.")(worlds)


def worlds(*, as_json: JsonOption = False) -> None:
    """List the worlds that can be played by name: those in ./worlds, then those that come with Glasshouse."""
    with in_words():
        from glasshouse.manifests.finding import found_worlds

        found = [
            {"world": w.name, "title": w.title, "where": w.where, "cast": _cast_size(w.path), "path": w.path}
            for w in found_worlds()
        ]
        (_tell if as_json else _draw)(found)


def _tell(found: list[dict[str, Any]]) -> None:
    from glasshouse.cli.drawing.screen import print_json

    for world in found:
        print_json(world)


def _draw(found: list[dict[str, Any]]) -> None:
    from glasshouse.cli.drawing.screen import Screen
    from glasshouse.cli.drawing.tables import draw_table

    screen = Screen()
    if not found:
        screen.draw("There is no world here. Make one: glasshouse new world NAME")
        return
    rows = [[world["world"], world["title"], world["where"], str(world["cast"])] for world in found]
    draw_table(screen, ("world", "title", "where", "cast"), rows, loose=("world", "title"))


def _cast_size(path: str) -> int:
    """How many a world's file lists; whether they are sound is what `check` finds out."""
    from pathlib import Path

    from glasshouse.manifests.finding import SCENARIO_FILE, source_at

    data = source_at(Path(path) / SCENARIO_FILE).data
    if not isinstance(data, dict):
        return 0
    troupes = data.get("troupes")
    casts = [data.get("cast"), *(_casts_in(troupes) if isinstance(troupes, dict) else ())]
    return sum(len(cast) for cast in casts if isinstance(cast, list))


def _casts_in(troupes: dict[str, Any]) -> list[object]:
    return [troupe.get("cast") for troupe in troupes.values() if isinstance(troupe, dict)]
