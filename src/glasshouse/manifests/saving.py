"""Saving a world: its scenario, its creatures and the code that it names, as files of a new folder.

Always holds: nothing that exists is changed or replaced. What is written was loaded again, is the same world and passes every
check; else there is no new folder. It appears in one step, complete.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import yaml

from glasshouse.errors import BadWorld, Refused
from glasshouse.manifests.loading import LoadedWorld, load_world, problems_in
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.world_files import code_named, files_of
from glasshouse.manifests.world_folders import (
    SCENARIO_FILE,
    YAML_ENDINGS,
    folder_of,
    found_worlds,
    script_file_of,
)
from glasshouse.world.state.ids import check_name

code_bytes_max: Final = 1_048_576
"""A larger file beside a world is not copied."""
_LINE_CHARS: Final = 110


def save_world(
    world: LoadedWorld, name: str, here: Path | None = None, *, tools: frozenset[str] | None = None
) -> Path:
    """Write a world to `./worlds/NAME` and return that folder. A name that a world has already is refused."""
    check_name("world name", name)

    def write(draft: Path) -> None:
        _write(world, name, draft)
        _check(world, name, draft, tools)

    return new_folder(name, here, write)


def new_folder(name: str, here: Path | None, write: Callable[[Path], None]) -> Path:
    """A new world `./worlds/NAME` that a function writes. If that raises, there is none. A name that a world has already is refused."""
    here = Path.cwd() if here is None else here
    folder = here / "worlds" / name
    taken = [folder, *(folder.with_name(f"{name}{ending}") for ending in YAML_ENDINGS)]
    if any(os.path.lexists(path) for path in taken) or name in {world.name for world in found_worlds(here)}:
        raise Refused(f"There is a world or a file called {name!r} already.", "Give it another name.")
    make_folder(folder, write)
    return folder


def make_folder(folder: Path, write: Callable[[Path], None]) -> None:
    """A new folder that a function writes: it appears in one step, and if the function raises, there is none."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Beside it, so that it can be moved in one step; one level down, so that nobody lists it before.
        with tempfile.TemporaryDirectory(prefix=".saving-", dir=folder.parent) as made:
            draft = Path(made) / folder.name
            write(draft)
            draft.rename(folder)  # Fails if something that is not empty has appeared there meanwhile.
    except OSError as wrong:
        raise Refused(
            f"{folder} cannot be written ({wrong.strerror}).",
            "Make the folder writable, or give another name.",
        ) from wrong


def copy_files(world: LoadedWorld, folder: Path) -> None:
    """Copy the files beside a world that it needs, and write its script, which may have been edited."""
    files = files_of(world)
    for file in files.saved:
        if file not in files.scripts:
            _copy(world, file, folder)
    if world.script is not None:
        script_file_of(folder).write_text(world.script, encoding="utf-8")


def has_code(world: LoadedWorld) -> bool:
    """Whether a world names Python code beside it: that of a referee or of a tool."""
    return bool(code_named(world))


def _write(world: LoadedWorld, name: str, folder: Path) -> None:
    (folder / "creatures").mkdir(parents=True)
    (folder / SCENARIO_FILE).write_text(_yaml(_scenario(world, name)), encoding="utf-8")
    for creature, manifest in world.manifests.items():
        text = _yaml(_creature(manifest))
        (folder / "creatures" / f"{creature}.yaml").write_text(text, encoding="utf-8")
    copy_files(world, folder)


def _scenario(world: LoadedWorld, name: str) -> dict[str, Any]:
    """A scenario as it is written: without defaults, and creatures that only have a name as that name."""
    scenario = world.scenario.model_copy(update={"name": name})
    plain: dict[str, Any] = scenario.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    card = scenario.card.model_dump(mode="json", exclude_defaults=True)
    if card:
        plain["card"] = card
    for part in (plain, *plain.get("troupes", {}).values()):
        if "cast" in part:
            part["cast"] = [entry["use"] if entry.keys() == {"use"} else entry for entry in part["cast"]]
    return plain


def _creature(manifest: Manifest) -> dict[str, Any]:
    plain: dict[str, Any] = {"name": manifest.name, **manifest.as_json()}
    return plain


def _yaml(plain: dict[str, Any]) -> str:
    text: str = yaml.dump(
        plain,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=_LINE_CHARS,
        default_flow_style=False,
    )
    return text


class _Dumper(yaml.SafeDumper):
    """Writes YAML without aliases."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 (the signature is that of the library)
        """Write what occurs twice twice: people read these files."""
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """A text; in quotation marks if it could be read as something else, such as 1e3."""
    is_plain = text[:1].isalpha() and "\n" not in text
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if is_plain else '"')


_Dumper.add_representer(str, _text)


def _copy(world: LoadedWorld, file: str, folder: Path) -> None:
    """Copy one file from beside a world."""
    assert world.path is not None, "it has files"
    source = folder_of(world.path) / file
    if source.stat().st_size > code_bytes_max:
        raise Refused(
            f"{file} beside the world has more than {code_bytes_max:,} bytes.", "Copy the folder by hand."
        )
    target = folder / file
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _check(world: LoadedWorld, name: str, folder: Path, tools: frozenset[str] | None) -> None:
    """Refuse what was written if it has a problem, or is another world than the one that was to be saved."""
    problems = [
        problem._replace(path=Path(problem.path).name) for problem in problems_in(folder, tools=tools)
    ]
    if problems:
        raise BadWorld(problems)
    written = load_world(folder, tools=tools)
    meant = world.scenario.model_copy(update={"name": name})
    if written.scenario.as_json() != meant.as_json() or dict(written.manifests) != dict(world.manifests):
        raise Refused("This world cannot be written as files without a change.", "Copy its folder by hand.")
