"""Code beside a world: one function of a Python file in the world's folder.

Always holds: it is executed only when somebody plays that world and has allowed it, never when a store is read. Worlds
that come with Glasshouse need no permission. It is found by the folder that its run was opened from, so two worlds may
use the same names. Whatever it raises is reported as an error of that world, with its file.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Final

from glasshouse.errors import BadWorld, Refused
from glasshouse.runtime.minds.faults import fault_in_words

BUNDLED: Final = Path(__file__).resolve().parents[2] / "worlds"

_brought: Final[dict[str, Path]] = {}
"""World, as its runs name it -> the folder on this machine that its files were brought to from another one."""


def bring_world(world: str, folder: Path) -> None:
    """From now on, the files beside a world of another machine are in this folder."""
    _brought[world] = folder


def folder_brought(world: str) -> Path | None:
    """Where the files beside a world of another machine are; None if the world is of this one."""
    return _brought.get(world)


def is_world_code_allowed() -> bool:
    """Whether Python code that a world names may run."""
    from glasshouse.settings import settings  # Imported here, so that settings are read only if needed.

    return settings().allow_world_code


def path_beside(world: str, file: str) -> Path:
    """Where a file beside a world is. The world's path is its folder, or its scenario file."""
    from glasshouse.manifests.world_folders import folder_of  # Imported here: most worlds bring no code.

    return (_brought.get(world) or folder_of(Path(world))) / file


def function_beside(world: str, name: str, noun: str, advice: str) -> Callable[..., Any]:
    """The function that the world at a path names as `file.py:function`; `advice` describes such a function, for the
    error message."""
    file, _, function = name.partition(":")
    path = path_beside(world, file)
    if not path.is_file():
        raise BadWorld(f"{path}: the {noun}'s file is missing. Put it back to continue this run.")
    if not path.resolve().is_relative_to(BUNDLED) and not is_world_code_allowed():
        raise Refused(
            f"{path}: this {noun} would run Python code, which is not allowed here.",
            "Read the file, and set GLASSHOUSE_ALLOW_WORLD_CODE=1 if you trust it.",
        )
    spec = spec_from_file_location(f"glasshouse_{noun}_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise BadWorld(f"{path}: this is no Python file. Write the {noun} as file.py:function.")
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as wrong:
        raise BadWorld(
            f"{path}: the {noun}'s file cannot be loaded ({fault_in_words(wrong)}). Correct it."
        ) from wrong
    defined: Callable[..., Any] | None = getattr(module, function, None)
    if not callable(defined):
        raise BadWorld(f"{path}: there is no function {function!r}. Define it: {advice}")
    return defined


def given_back_by(function: Callable[..., Any], where: str, *given: Any) -> Any:
    """The result of a world's function; `where` names the function in the error message."""
    try:
        return function(*given)
    except (Exception, SystemExit) as wrong:
        words = f"{where} raised {fault_in_words(wrong)}. Correct it to continue this run."
        raise BadWorld(words) from wrong
