"""`glasshouse new world` and `glasshouse new creature`: files to begin from, written from templates.

Always holds: no file that is there already is written over.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from string import Template
from typing import Annotated, Final

import typer

from glasshouse.cli.command_line import CommandLine
from glasshouse.cli.commands import add_command
from glasshouse.cli.drawing.screen import print_json
from glasshouse.cli.options import JsonOption, option
from glasshouse.cli.program import examples_to_paste, program_called
from glasshouse.cli.prose import say
from glasshouse.errors import Refused
from glasshouse.manifests.world_folders import SCENARIO_FILE, SCRIPT_FILE, scenario_in
from glasshouse.world.state.ids import check_name

TEMPLATES: Final = Path(__file__).resolve().parent / "templates"
YAML_WORDS: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "none"})
"""Words that YAML does not read as text."""

EXAMPLES: Final = """\b
Examples:
  glasshouse new world my-world
  glasshouse new creature ada --in worlds/my-world"""
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Small letters, digits and dashes.")]

new = typer.Typer(
    no_args_is_help=True, add_completion=False, rich_markup_mode=None, epilog=examples_to_paste(EXAMPLES)
)


@new.callback()
def begin() -> None:
    """Create a world or a creature from templates that can be played at once."""


def new_world(
    name: NameArgument,
    *,
    folder: Path = option("DIR", "The folder to make the world's folder in.", Path("worlds"), "--in"),
    as_json: JsonOption = False,
) -> None:
    """Write a small world: a scenario, two creatures and a script for plays without a model, with comments. It is valid and
    can be played at once.

    \b
    Examples:
      glasshouse new world my-world                          in ./worlds, where it is found by its name
      glasshouse new world my-world --in elsewhere           in another folder
    """
    check_name("world name", name)
    world = folder / name
    _check_is_free(world)
    (world / "creatures").mkdir(parents=True)
    title = name.replace("-", " ").replace("_", " ").title()
    values = {
        "name": _as_yaml(name),
        "title": _as_yaml(title),
        "path": shlex.quote(str(world)),
        "program": program_called(),
    }
    files = [_write(world / SCENARIO_FILE, SCENARIO_FILE, values)]
    files += [_write(world / "creatures" / file, file) for file in ("gardener.yaml", "wanderer.yaml")]
    files.append(_write(world / SCRIPT_FILE, SCRIPT_FILE))
    if as_json:
        print_json({"new": "world", "name": name, "path": str(world), "files": [str(file) for file in files]})
    else:
        say(f"{world} has a new world, {name}:", *[f"  {file}" for file in files])
        path = name if folder == Path("worlds") else str(world)
        call = CommandLine(program_called()).call
        say(f"Play it: {call('play', path)}\nAfter changes: {call('check', str(world))}")


def new_creature(
    name: NameArgument,
    *,
    folder: Path = option("DIR", "A world's folder, or any folder to write the file in.", Path(), "--in"),
    as_json: JsonOption = False,
) -> None:
    """Write one creature's file, with comments. It is sound; list it in a cast to let it play.

    \b
    Examples:
      glasshouse new creature ada --in worlds/my-world       among the creatures of a world
      glasshouse new creature ada                            in this folder
    """
    check_name("creature name", name)
    if not folder.is_dir():
        raise Refused(f"{folder} is not a folder.", "Name one that is there, such as worlds/my-world.")
    among = folder / "creatures" if scenario_in(folder) else folder
    file = among / f"{name}.yaml"
    _check_is_free(file)
    among.mkdir(exist_ok=True)
    _write(file, "creature.yaml", {"name": _as_yaml(name)})
    if as_json:
        print_json({"new": "creature", "name": name, "path": str(file), "files": [str(file)]})
    else:
        say(f"{file} is a new creature.\nLet it play: list {name} under `cast` in a world's scenario.yaml.")


def _check_is_free(path: Path) -> None:
    if os.path.lexists(path):
        raise Refused(f"{path} exists already, and nothing is written over.", "Choose another name.")


def _write(path: Path, template: str, values: dict[str, str] | None = None) -> Path:
    text = Template((TEMPLATES / template).read_text(encoding="utf-8"))
    with path.open("x", encoding="utf-8") as file:
        file.write(text.substitute(values) if values else text.template)
    return path


def _as_yaml(text: str) -> str:
    """A text that YAML reads back as text: a name such as 12 or no stands between quotation marks."""
    return text if text[:1].isalpha() and text.lower() not in YAML_WORDS else f'"{text}"'


add_command(new, "world", "Write a small world that plays at once.", new_world)
add_command(new, "creature", "Write one creature's file.", new_creature)
