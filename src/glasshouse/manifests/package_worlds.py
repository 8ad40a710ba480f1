"""Worlds that Python packages bring, by an entry point of the group `glasshouse.worlds`.

Always holds: no package is imported to find its worlds. An entry point's value names a package, or a folder inside of it, with
dots, as in `acme_worlds.stages`; that folder is a world or has worlds in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.metadata import Distribution, EntryPoint, entry_points
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

GROUP: Final = "glasshouse.worlds"
folders_max: Final = 256
"""How many folders of one package are looked at: more worlds than anybody brings."""

_MODULE: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_][\w-]*)*")


class PackageWorld(NamedTuple):
    """A folder of a package that may be a world."""

    folder: Path
    package: str
    """The distribution that brings it, with its version."""


def package_worlds() -> list[PackageWorld]:
    """The worlds of installed packages, in the order of the names of packages."""
    points = sorted(
        entry_points(group=GROUP), key=lambda point: (_shown(point.dist), point.name, point.value)
    )
    return [PackageWorld(world, _shown(point.dist)) for point in points for world in _worlds_of(point)]


def _worlds_of(point: EntryPoint) -> Iterator[Path]:
    if point.dist is None or not _MODULE.fullmatch(point.value):
        return
    for root in _roots(point.dist):
        folder = root.joinpath(*point.value.split("."))
        if folder.is_dir():
            children = sorted(child for child in folder.iterdir() if child.is_dir())[:folders_max]
            yield from (path for path in (folder, *children) if _has_scenario(path))
            return


def _has_scenario(folder: Path) -> bool:
    return any((folder / f"scenario{ending}").is_file() for ending in (".yaml", ".yml"))


def _roots(distribution: Distribution) -> Iterator[Path]:
    """The folders in which the modules of a distribution may be: where it is installed; in place, where its project is."""
    yield Path(str(distribution.locate_file("")))
    try:
        origin = json.loads(distribution.read_text("direct_url.json") or "{}")
        address = urlsplit(str(origin.get("url", "")))
        is_in_place = bool(origin.get("dir_info", {}).get("editable"))
    except (ValueError, AttributeError):
        return
    if is_in_place and address.scheme == "file":
        project = Path(unquote(address.path))
        yield project / "src"
        yield project


def _shown(distribution: Distribution | None) -> str:
    return "" if distribution is None else f"{distribution.name} {distribution.version}"
