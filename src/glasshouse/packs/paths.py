"""Which names a file of a shared world may have: those that mean the same file, inside its folder, on every system.

Always holds: a name without a fault leads to no other place, is no device, is not hidden, and differs from every other name of
its world also where letters have no case.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from glasshouse.errors import Refused, in_brief, names_shown_max

path_chars_max: Final = 200
"""A longer path from the world's folder is refused: with the folder before it, it must fit on every system."""
path_levels_max: Final = 8
"""A path with more parts is refused."""

_FORBIDDEN: Final = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*\\]')
_DEVICE: Final = re.compile(
    r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\..*)?", re.IGNORECASE
)


def fault_of_path(path: str) -> str:
    """Why a file of a shared world may not be called so; empty if it may."""
    parts = path.split("/")
    if len(path) > path_chars_max or len(parts) > path_levels_max:
        return f"is longer than {path_chars_max} characters or {path_levels_max} levels"
    if path.startswith("/") or ".." in parts:
        return "leads out of the world's folder"
    if any(not part or part == "." for part in parts):
        return "has a part without a name"
    return next(filter(None, map(_fault_of_part, parts)), "")


def _fault_of_part(part: str) -> str:
    if bad := _FORBIDDEN.search(part):
        return f"has the character {bad[0]!r}, which means something else on some systems"
    if any(unicodedata.category(letter) in {"Cf", "Cn", "Co", "Cs"} for letter in part):
        return "has a character that nobody can see"
    if part.startswith("."):
        return "is hidden"
    if part.endswith((".", " ")) or part.startswith(" "):
        return "begins or ends with a space or ends with a dot, which some systems take off"
    return "is the name of a device on some systems" if _DEVICE.fullmatch(part.strip()) else ""


def check_paths(paths: Iterable[str]) -> None:
    """Refuse names that are not safe, and names that are one file where letters have no case."""
    files: dict[str, str] = {}
    folders: dict[str, str] = {}
    for path in paths:
        if fault := fault_of_path(path):
            raise Refused(
                f"The file {in_brief(path)} {fault}.", "Give it a plain name in the world's folder."
            )
        parts = path.split("/")
        for level in range(1, len(parts)):
            folder = "/".join(parts[:level])
            _check_alone(folders.setdefault(_key(folder), folder), folder)
        if _key(path) in files:
            _refuse_twins(files[_key(path)], path)
        files[_key(path)] = path
    for key in files.keys() & folders.keys():
        raise Refused(f"{in_brief(files[key])} is a file and a folder.", "Rename one of the two.")


def folder_of_world(paths: Iterable[str], world: str) -> str:
    """The folder of the only world among files, or of the one named, with a slash at its end; empty for the top."""
    scenarios = [path for path in paths if path.rpartition("/")[2] in ("scenario.yaml", "scenario.yml")]
    folders = sorted({path.rpartition("/")[0] for path in scenarios})
    names = {folder.rpartition("/")[2]: folder for folder in reversed(folders)}
    if not folders:
        raise Refused("There is no world: no scenario.yaml.", "Give an address or a file that has one.")
    if world and world not in names:
        raise Refused(
            f"There is no world {in_brief(world)}.", f"Name one with --world: {names_shown(names)}."
        )
    if not world and "" not in folders and len(folders) > 1:
        raise Refused("There are several worlds.", f"Name one with --world: {names_shown(names)}.")
    folder = names[world] if world else "" if "" in folders else folders[0]
    return f"{folder}/" if folder else ""


def names_shown(names: Iterable[str]) -> str:
    """The first of these names, and how many more there are."""
    listed = sorted(names)
    more = f" and {len(listed) - names_shown_max} more" if len(listed) > names_shown_max else ""
    return f"{', '.join(listed[:names_shown_max])}{more}"


def _key(path: str) -> str:
    """The same for names that some system takes for one."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", path).casefold())


def _check_alone(first: str, folder: str) -> None:
    if first != folder:
        _refuse_twins(first, folder)


def _refuse_twins(first: str, second: str) -> None:
    names = in_brief(first) if first == second else f"{in_brief(first)} and {in_brief(second)}"
    raise Refused(f"{names} would be one file on some systems.", "Rename or remove one of the two.")
