"""`glasshouse new world` and `glasshouse new creature`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from glasshouse.cli.exits import in_words
from glasshouse.cli.options import JsonOption

WORLD_EXAMPLES: Final = """\b
Examples:
  glasshouse new world my-world                          in ./worlds, where it is found by its name
  glasshouse new world my-world --in elsewhere           in another folder"""

CREATURE_EXAMPLES: Final = """\b
Examples:
  glasshouse new creature ada --in worlds/my-world       among the creatures of a world
  glasshouse new creature ada                            in this folder"""

GROUP_EXAMPLES: Final = """\b
Examples:
  glasshouse new world my-world
  glasshouse new creature ada --in worlds/my-world"""


def add_to(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    new = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    new.command("world", epilog=WORLD_EXAMPLES, short_help="Write a small world that plays at once.")(
        new_world
    )
    new.command("creature", epilog=CREATURE_EXAMPLES, short_help="Write one creature's file.")(new_creature)
    app.add_typer(
        new,
        name="new",
        short_help="Begin a world or a creature.",
        help="Begin a world or a creature from commented files that play at once.",
        epilog=GROUP_EXAMPLES,
    )


def new_world(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Small letters, digits and dashes.")],
    *,
    folder: Annotated[
        Path, typer.Option("--in", metavar="DIR", help="The folder to make the world's folder in.")
    ] = Path("worlds"),
    as_json: JsonOption = False,
) -> None:
    """Write a small world: a scenario and two creatures, with comments. It is sound and plays at once."""
    with in_words():
        from glasshouse.cli.commands.templating import write_world

        place, files = write_world(name, folder)
        if as_json:
            _tell("world", name, place, files)
            return
        call = name if folder == Path("worlds") else str(place)
        print(f"{place} has a new world, {name}:")
        for file in files:
            print(f"  {file}")
        print(f"Play it: glasshouse play {call}\nAfter changes: glasshouse check {place}")


def new_creature(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Small letters, digits and dashes.")],
    *,
    folder: Annotated[
        Path,
        typer.Option("--in", metavar="DIR", help="A world's folder, or any folder to write the file in."),
    ] = Path(),
    as_json: JsonOption = False,
) -> None:
    """Write one creature's file, with comments. It is sound; list it in a cast to let it play."""
    with in_words():
        from glasshouse.cli.commands.templating import write_creature

        file = write_creature(name, folder)
        if as_json:
            _tell("creature", name, file, [file])
        else:
            print(
                f"{file} is a new creature.\nLet it play: list {name} under `cast` in a world's scenario.yaml."
            )


def _tell(sort: str, name: str, place: Path, files: list[Path]) -> None:
    from glasshouse.cli.drawing.screen import print_json

    print_json({"new": sort, "name": name, "path": str(place), "files": [str(file) for file in files]})
