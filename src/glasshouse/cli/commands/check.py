"""`glasshouse check` lists everything that is wrong with a world's files.

The rules are in `manifests`; here they are only printed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from glasshouse.assembly import usual_tools
from glasshouse.cli.drawing.screen import counted, facts_of, one_line, print_json
from glasshouse.cli.exits import CHECK_FAILED
from glasshouse.cli.options import JsonOption, argument
from glasshouse.manifests.loading import problems_in
from glasshouse.manifests.world_folders import find_world
from glasshouse.manifests.yaml_source import shown_path


def check(
    path: str = argument("PATH", "A world's folder or name, a folder of worlds, or a file."),
    *,
    as_json: JsonOption = False,
) -> None:
    """Find everything that is wrong with a world's files: all of it at once, each with file, line and field.

    \b
    Examples:
      glasshouse check worlds/my-world                       a world's folder, or its scenario.yaml
      glasshouse check worlds                                every world in a folder
      glasshouse check worlds/my-world/creatures/ada.yaml    one creature
      glasshouse check my-world --json                       by name; one problem a line
    """
    checked = Path(path) if Path(path).exists() else find_world(path)
    problems = problems_in(checked, tools=usual_tools().names())
    if as_json:
        for problem in problems:
            where = {
                name: value or None for name, value in facts_of(problem, "line", "column", "field").items()
            }
            print_json({"file": problem.path, **where, "problem": problem.text})
        print_json({"path": str(checked), "is_sound": not problems, "problems": len(problems)})
    elif problems:
        print(*[one_line(str(problem)) for problem in problems], sep="\n")
        print(f"glasshouse: {shown_path(checked)}: {counted(len(problems), 'problem')}.", file=sys.stderr)
    else:
        print(f"{shown_path(checked)}: sound.")
    if problems:
        raise typer.Exit(CHECK_FAILED)
