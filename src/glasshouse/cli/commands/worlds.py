"""`glasshouse worlds` lists the worlds that can be played by name; its commands pack, add and remove worlds.

The work is in `cli/shared_worlds.py`, which is imported when a world is shared, so that the list is quick.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from glasshouse.cli import completion
from glasshouse.cli.commands import add_command
from glasshouse.cli.drawing.screen import Screen, draw_table, print_json
from glasshouse.cli.options import JsonOption, WorldArgument, argument, flag, option
from glasshouse.cli.program import examples_to_paste, program_called
from glasshouse.cli.prose import say
from glasshouse.manifests.world_folders import FoundWorld, found_worlds, passed_over_in, scenario_of
from glasshouse.manifests.yaml_source import shown_path, source_at
from glasshouse.packs.origin import origin_of
from glasshouse.user_folders import worlds_folder

EXAMPLES: Final = """\b
Examples:
  glasshouse worlds                            what can be played by its name from here
  glasshouse worlds --json                     with the path of each
  glasshouse worlds pack my-world              one file to send to somebody
  glasshouse worlds add my-world.world.zip     install what somebody sent"""

worlds = typer.Typer(
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
    epilog=examples_to_paste(EXAMPLES),
)

_YES: Final = "Agree without being asked, if the world brings no code."
_CODE: Final = (
    "Agree also if the world brings code or commands. They run only with GLASSHOUSE_ALLOW_WORLD_CODE=1."
)
YesOption = Annotated[bool, typer.Option("--yes", help=_YES)]


@worlds.callback()
def list_worlds(context: typer.Context, *, as_json: JsonOption = False) -> None:
    """List the worlds that can be played by name: those in ./worlds, installed ones, bundled ones, those of packages."""
    if context.invoked_subcommand is not None:
        return
    listed = [_facts(world) for world in found_worlds()]
    for folder, reason in [*passed_over_in(Path("worlds")), *passed_over_in(worlds_folder())]:
        say(
            f"glasshouse: {shown_path(folder)} cannot be read ({reason}), and is passed over. Check its permissions.",
            file=sys.stderr,
        )
    if as_json:
        print_json(*listed)
    elif not listed:
        say(f"There is no world here. Make one: {program_called()} new world NAME")
    else:
        headings = ["world", "title", "where", "cast", "version", "from"]
        headings = [name for name in headings if name in headings[:4] or any(each[name] for each in listed)]
        rows = [[str(world[heading] or "") for heading in headings] for world in listed]
        draw_table(Screen(), headings, rows, loose=("world", "title", "from"), spare=("version", "from"))


def pack(
    world: WorldArgument,
    *,
    file: Path | None = option("FILE", "The file to write. Default: NAME.world.zip here.", None, "--to"),
    as_json: JsonOption = False,
) -> None:
    """Write a world into one file. The same world gives the same bytes, on any machine and at any time.

    \b
    Examples:
      glasshouse worlds pack my-world                        my-world.world.zip, here
      glasshouse worlds pack worlds/my-world --to share.zip  another file
    """
    from glasshouse.cli.shared_worlds import write_pack

    write_pack(world, file, as_json=as_json)


def add(
    source: str = argument("FILE|FOLDER|ADDRESS", "A packed world, a world's folder or a git address."),
    *,
    revision: str = option("REVISION", "Of a git address: a branch, a tag or a commit.", "", "--at"),
    world: str = option("NAME", "Which world, if there are several.", "", "--world"),
    yes: YesOption = False,
    allow_code: bool = flag("--allow-code", _CODE),
    force: bool = flag("--force", "Install an older version over a newer one, too."),
    as_json: JsonOption = False,
) -> None:
    """Install a world for this user, after showing what it brings. It is found after those in ./worlds.

    \b
    Examples:
      glasshouse worlds add my-world.world.zip                   a packed world
      glasshouse worlds add https://example.org/my-world.git     from a repository, at its newest commit
      glasshouse worlds add git@example.org:worlds.git --at v2 --world my-world
    """
    from glasshouse.cli.shared_worlds import Agreement, add_world

    add_world(
        source,
        revision,
        world,
        Agreement(is_given=yes or allow_code, to_code=allow_code, to_older=force),
        as_json=as_json,
    )


def remove(
    name: str = argument("NAME", "An installed world.", autocompletion=completion.installed_worlds),
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Remove it without being asked.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Remove an installed world. Runs of it stay: their record holds all that was played.

    \b
    Examples:
      glasshouse worlds remove my-world
    """
    from glasshouse.cli.shared_worlds import remove_world

    remove_world(name, is_agreed=yes, as_json=as_json)


def _facts(world: FoundWorld) -> dict[str, Any]:
    scenario: Any = source_at(scenario_of(Path(world.path))).data
    origin = origin_of(Path(world.path)) if world.where == "installed" else None
    version = scenario.get("version") if isinstance(scenario, dict) else None
    about = {"world": world.name, "title": world.title, "where": world.where, "cast": _cast_size(scenario)}
    brought_by = world.package or (None if origin is None else origin.shown)
    return {**about, "path": world.path, "version": version, "from": brought_by}


def _cast_size(scenario: Any) -> int:
    """How many creatures a world's file lists. Whether they are sound, `check` finds out."""
    if not isinstance(scenario, dict):
        return 0
    troupes = scenario.get("troupes")
    parts = [scenario, *(troupes.values() if isinstance(troupes, dict) else ())]
    casts = [part.get("cast") for part in parts if isinstance(part, dict)]
    return sum(len(cast) for cast in casts if isinstance(cast, list))


add_command(worlds, "pack", "Write a world into one file.", pack)
add_command(worlds, "add", "Install a world: a packed one, a folder, or a git address.", add)
add_command(worlds, "remove", "Remove an installed world.", remove)
