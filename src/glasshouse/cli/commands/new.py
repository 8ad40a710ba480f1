"""`glasshouse new world` and `glasshouse new creature`: files to begin from, written from templates.

What a world consists of is in `cli/world_plan.py`, which is imported when one is made, so that help is quick. Always holds: no file that
is there already is written over, and nothing is written of a world that would not be sound. Nobody is asked anything without a
terminal: then what no option says has its default.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Annotated, Final, TypeVar

import typer

from glasshouse.cli.command_line import CommandLine
from glasshouse.cli.commands import add_command
from glasshouse.cli.drawing.screen import print_json
from glasshouse.cli.file_errors import writing
from glasshouse.cli.model_choice import answer_to, is_asked
from glasshouse.cli.options import JsonOption, option
from glasshouse.cli.program import examples_to_paste, program_called
from glasshouse.cli.prose import say
from glasshouse.errors import GlasshouseError, Refused, UnknownName
from glasshouse.manifests.world_folders import SCRIPT_FILE, is_bundled, scenario_in
from glasshouse.world.state.ids import check_name

if TYPE_CHECKING:
    from glasshouse.cli.world_plan import WorldPlan

T = TypeVar("T")

TEMPLATES: Final = Path(__file__).resolve().parent / "templates"
SCHEMA_LINE: Final = "# yaml-language-server: $schema="
"""What tells an editor where the schema of a file is."""

EXAMPLES: Final = """\b
Examples:
  glasshouse new world my-world
  glasshouse new creature ada --in worlds/my-world"""
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Small letters, digits and dashes.")]


class Contest(StrEnum):
    """How a new world is played."""

    NONE = "none"
    JUDGED = "judged"
    VERSUS = "versus"


class NewTool(StrEnum):
    """What somebody in a new world can look things up with."""

    NONE = "none"
    LOOK_UP = "look_up"
    ALMANAC = "almanac"
    CALENDAR = "calendar"


_SCRIPT: Final = "Whether it has lines for the offline troupe. Default: it has."
ScriptOption = Annotated[bool | None, typer.Option("--script/--no-script", help=_SCRIPT, show_default=False)]
YesOption = Annotated[
    bool, typer.Option("--yes", help="Ask nothing: whatever no option says has its default.")
]

new = typer.Typer(
    no_args_is_help=True, add_completion=False, rich_markup_mode=None, epilog=examples_to_paste(EXAMPLES)
)


@new.callback()
def begin() -> None:
    """Create a world or a creature from templates that can be played at once."""


def new_world(
    name: NameArgument,
    *,
    title: str | None = option("TEXT", "Its name for people. Default: NAME with capitals."),
    cast: str | None = option("NAMES", "Two to six names, with commas. Default: gardener,wanderer."),
    contest: Contest | None = option("KIND", "none, judged or versus. Default: none."),
    secrets: str | None = option(
        "FACTS", "With commas: one of them is dealt to the second of the cast. Default: none."
    ),
    tool: NewTool | None = option(
        "TOOL", "none, look_up, almanac or calendar, for a clerk who is asked once. Default: none."
    ),
    script: ScriptOption = None,
    yes: YesOption = False,
    folder: Path = option("DIR", "The folder to make the world's folder in.", Path("worlds"), "--in"),
    as_json: JsonOption = False,
) -> None:
    """Write a small world that can be played at once: a scenario, its creatures and a script, with comments. On a terminal, it asks
    for whatever no option says.

    \b
    Examples:
      glasshouse new world my-world                          in ./worlds, where it is found by its name
      glasshouse new world my-world --in elsewhere --yes     in another folder, without a question
      glasshouse new world inn --cast cook,guest,cat --contest judged --secrets "the cook, the cat" --tool almanac
    """
    from glasshouse.cli.world_plan import DEFAULT_CAST, WorldPlan, files_of_plan, title_of
    from glasshouse.manifests.saving import make_folder

    check_name("world name", name)
    world = folder / name
    _check_is_free(world)
    asks = is_asked() and not yes and not as_json
    plan = WorldPlan(
        name,
        _wanted(title, "Its title", title_of(name), str.strip, asks=asks),
        _wanted(cast, "Who plays, two to six names", ",".join(DEFAULT_CAST), _cast_in, asks=asks),
        _wanted(contest, "A contest: none, judged or versus", "none", _one_of(Contest), asks=asks),
        _wanted(
            secrets, "Secrets, of which one is dealt, such as: the cook, the cat", "none", _listed, asks=asks
        ),
        _wanted(tool, "A tool: none, look_up, almanac or calendar", "none", _one_of(NewTool), asks=asks),
        _wanted(script, "A script for playing without a model, yes or no", "yes", _yes_or_no, asks=asks),
    )
    texts = files_of_plan(plan, world)

    def write(draft: Path) -> None:
        for file, text in texts.items():
            (draft / file).parent.mkdir(parents=True, exist_ok=True)
            _write(draft / file, text)

    make_folder(world, write)
    _tell(plan, world, [*texts], as_json=as_json)


def _tell(plan: WorldPlan, world: Path, files: list[str], *, as_json: bool) -> None:
    """Say what was written, how it is played, and what a real model would add."""
    paths = [str(world / file) for file in files]
    if is_bundled(plan.name):
        note = f"a world called {plan.name!r} comes with Glasshouse. In ./worlds, the new one hides it."
        say(f"glasshouse: {note} To share the new one, give it another name.", file=sys.stderr)
    if as_json:
        print_json({"new": "world", "name": plan.name, "path": str(world), "files": paths})
        return
    say(f"{world} has a new world, {plan.name}:")
    say(*[f"  {path}" for path, file in zip(paths, files, strict=True) if not file.startswith(".")])
    path = plan.name if world.parent == Path("worlds") else str(world)
    call = CommandLine(program_called()).call
    say(f"Play it: {call('play', path)}\nAfter changes: {call('check', str(world))}")
    say(_about_models(has_script=plan.has_script), f"With one: {call('play', path, '--models', 'ollama')}")


def _about_models(*, has_script: bool) -> str:
    """What a real model would add."""
    without = (
        f"Without a model it plays from {SCRIPT_FILE}: the dice choose among the lines that stand there."
        if has_script
        else f"Without a model it speaks a general grammar, which is seldom about your world: {SCRIPT_FILE} would give it lines."
    )
    return (
        f"{without} A real model never reads that file. It makes up its lines from the goal and from each creature's persona, "
        "wants and voice, and answers whatever is said."
    )


def _wanted(given: T | str | None, question: str, default: str, read: Callable[[str], T], *, asks: bool) -> T:
    """What an option says, else what somebody answers at the terminal, else the default. A wrong answer is asked for again."""
    if given is not None:
        return read(given) if isinstance(given, str) else given
    while asks:
        line = answer_to(f"{question} [{default}]: ")
        if not line:
            raise Refused("Nothing was written.", "Answer each question, or say --yes.")
        try:
            return read(line.strip() or default)
        except GlasshouseError as wrong:
            say(str(wrong))
    return read(default)


def _listed(text: str) -> tuple[str, ...]:
    """What stands between commas; nothing if it is the word none."""
    parts = tuple(part.strip() for part in text.split(",") if part.strip())
    return () if parts == ("none",) else parts


def _cast_in(text: str) -> tuple[str, ...]:
    from glasshouse.cli.world_plan import check_cast

    cast = _listed(text)
    check_cast(cast)
    return cast


def _one_of(words: type[StrEnum]) -> Callable[[str], str]:
    def read(text: str) -> str:
        known = [word.value for word in words]
        if text not in known:
            raise UnknownName(noun="answer", name=text, known=known)
        return str(text)

    return read


def _yes_or_no(text: str) -> bool:
    if text.lower() not in {"y", "yes", "n", "no"}:
        raise Refused(f"{text} is neither yes nor no.", "Answer yes or no.")
    return text.lower() in {"y", "yes"}


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
    from glasshouse.cli.world_plan import CREATURE_SCHEMA, SCHEMAS, as_yaml

    check_name("creature name", name)
    if not folder.is_dir():
        raise Refused(f"{folder} is not a folder.", "Name one that is there, such as worlds/my-world.")
    among = folder / "creatures" if scenario_in(folder) else folder
    file = among / f"{name}.yaml"
    _check_is_free(file)
    text = Template((TEMPLATES / "creature.yaml").read_text(encoding="utf-8")).substitute(name=as_yaml(name))
    schema = folder / SCHEMAS / CREATURE_SCHEMA
    if schema.is_file():
        text = f"{SCHEMA_LINE}../{SCHEMAS}/{CREATURE_SCHEMA}\n{text}"
    with writing(folder / file.name):
        among.mkdir(exist_ok=True)
        _write(file, text)
    if as_json:
        print_json({"new": "creature", "name": name, "path": str(file), "files": [str(file)]})
    else:
        say(f"{file} is a new creature.\nLet it play: list {name} under `cast` in a world's scenario.yaml.")


def _check_is_free(path: Path) -> None:
    if os.path.lexists(path):
        raise Refused(f"{path} exists already, and nothing is written over.", "Choose another name.")


def _write(path: Path, text: str) -> None:
    with path.open("x", encoding="utf-8") as file:
        file.write(text)


add_command(new, "world", "Write a small world that plays at once.", new_world)
add_command(new, "creature", "Write one creature's file.", new_creature)
