"""`glasshouse check` lists everything that is wrong with a world's files.

The rules are in `manifests`; here they are only printed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import typer

from glasshouse.cli import completion
from glasshouse.cli.drawing.screen import Screen, counted, facts_of, one_line, print_json
from glasshouse.cli.exits import CHECK_FAILED
from glasshouse.cli.options import JsonOption, ToolsOption, argument
from glasshouse.cli.prose import say
from glasshouse.cli.shared_worlds import contents_of_pack, problems_of_pack
from glasshouse.cli.tool_servers import in_words, servers_here, servers_of_world, tool_names
from glasshouse.cli.world_path import check_world
from glasshouse.manifests.loading import load_world, problems_in, warnings_in
from glasshouse.manifests.world_folders import find_world, is_scenario, scenario_in
from glasshouse.manifests.yaml_source import shown_path


def check(
    path: str = argument(
        "PATH",
        "A world's folder or name, a folder of worlds, a packed world, or a file.",
        autocompletion=completion.worlds,
    ),
    *,
    tools_file: ToolsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find everything that is wrong with a world's files: all of it at once, each with file, line and field.

    A limit that cannot hold one round of the cast is a warning: the world can be played, and ends early. So is a name that the
    scenario leaves out.

    \b
    Examples:
      glasshouse check worlds/my-world                       a world's folder, or its scenario.yaml
      glasshouse check mystery.yaml                          a scenario of any name, beside its creatures
      glasshouse check worlds                                every world in a folder
      glasshouse check worlds/my-world/creatures/ada.yaml    one creature
      glasshouse check my-world.world.zip                    a packed world, and what it brings
      glasshouse check my-world --json                       by name; one problem a line
    """
    # Unlike Path.exists, this passes over a folder that must not be read.
    checked = Path(path)
    if not os.path.exists(path):
        check_world(path)
        checked = find_world(path)
    servers = servers_here(tools_file)
    tools = tool_names(servers)
    is_pack = checked.is_file() and checked.suffix == ".zip"
    if is_pack:
        problems, warnings = problems_of_pack(checked, tools)
    else:
        problems = problems_in(checked, tools=tools)
        warnings = warnings_in(checked, tools=tools)
    if as_json:
        for problem in [*problems, *warnings]:
            where = {
                name: value or None for name, value in facts_of(problem, "line", "column", "field").items()
            }
            noun = "warning" if problem in warnings else "problem"
            print_json({"file": problem.path, **where, noun: problem.text})
        facts = {"path": str(checked), "is_sound": not problems, "problems": len(problems)}
        print_json({**facts, "warnings": len(warnings)} if warnings else facts)
    elif problems:
        Screen().draw(*[one_line(str(problem)) for problem in problems])
        say(f"glasshouse: {shown_path(checked)}: {counted(len(problems), 'problem')}.", file=sys.stderr)
    else:
        Screen().draw(f"{shown_path(checked)}: sound.")
        if is_pack:
            Screen().draw(*contents_of_pack(checked))
        elif is_scenario(checked) if checked.is_file() else scenario_in(checked):
            declared = servers_of_world(load_world(checked, tools=tools))
            Screen().draw(*map(in_words, declared.facts(servers, only_granted=False)))
    for warning in () if as_json else warnings:
        Screen().draw(one_line(f"warning: {warning}"))
    if problems:
        raise typer.Exit(CHECK_FAILED)
