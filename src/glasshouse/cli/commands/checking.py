"""`glasshouse check`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from glasshouse.cli.exits import CHECK_FAILED, in_words
from glasshouse.cli.options import JsonOption

if TYPE_CHECKING:
    from glasshouse.manifests.problem import Problem

EXAMPLES: Final = """\b
Examples:
  glasshouse check worlds/my-world                       a world's folder, or its scenario.yaml
  glasshouse check worlds                                every world in a folder
  glasshouse check worlds/my-world/creatures/ada.yaml    one creature
  glasshouse check my-world --json                       by name; one problem a line"""


def add_to(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(epilog=EXAMPLES, short_help="Find everything that is wrong with a world's files.")(check)


def check(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="A world's folder or name, a folder of worlds, or a file.")
    ],
    *,
    as_json: JsonOption = False,
) -> None:
    """Find everything that is wrong with a world's files: all of it at once, each with file, line and field."""
    with in_words():
        from glasshouse.assembly import usual_tools
        from glasshouse.manifests.finding import find_world
        from glasshouse.manifests.loading import problems_in

        place = Path(path) if Path(path).exists() else find_world(path)
        problems = problems_in(place, tools=usual_tools().names())
        (_tell if as_json else _print)(place, problems)
        if problems:
            raise typer.Exit(CHECK_FAILED)


def _print(place: Path, problems: list[Problem]) -> None:
    from glasshouse.cli.drawing.screen import one_line
    from glasshouse.manifests.finding import shown_path

    for problem in problems:
        print(one_line(str(problem)))
    if problems:
        count = f"{len(problems)} problem{'s'[: len(problems) != 1]}"
        print(f"glasshouse: {shown_path(place)}: {count}.", file=sys.stderr)
    else:
        print(f"{shown_path(place)}: sound.")


def _tell(place: Path, problems: list[Problem]) -> None:
    from glasshouse.cli.drawing.screen import print_json

    for problem in problems:
        print_json(
            {
                "file": problem.path,
                "line": problem.line or None,
                "column": problem.column or None,
                "field": problem.field or None,
                "problem": problem.text,
            }
        )
    print_json({"path": str(place), "is_sound": not problems, "problems": len(problems)})
