"""Files to begin from, written from templates. Always holds: what is there already is never written over."""

from __future__ import annotations

import os
from pathlib import Path
from string import Template
from typing import Final

from glasshouse.errors import Refused
from glasshouse.world.ids import check_name

TEMPLATES: Final = Path(__file__).resolve().parent / "templates"
SCENARIO: Final = "scenario.yaml"


def write_world(name: str, folder: Path) -> tuple[Path, list[Path]]:
    """A new world's folder, and the files in it."""
    check_name("world name", name)
    place = folder / name
    _check_is_free(place)
    (place / "creatures").mkdir(parents=True)
    title = name.replace("-", " ").replace("_", " ").title()
    told = {"name": _plain(name), "title": _plain(title), "place": str(place)}
    files = [_written(place / SCENARIO, SCENARIO, told)]
    for creature in ("gardener.yaml", "wanderer.yaml"):
        files.append(_written(place / "creatures" / creature, creature, {}))
    return place, files


def write_creature(name: str, folder: Path) -> Path:
    """A new creature's file: among the creatures of a world, or right in a folder that is no world's."""
    check_name("creature name", name)
    if not folder.is_dir():
        raise Refused(f"{folder} is no folder.", "Name one that is there, such as worlds/my-world.")
    place = folder / "creatures" if (folder / SCENARIO).is_file() else folder
    file = place / f"{name}.yaml"
    _check_is_free(file)
    place.mkdir(exist_ok=True)
    return _written(file, "creature.yaml", {"name": _plain(name)})


def _check_is_free(place: Path) -> None:
    if os.path.lexists(place):
        raise Refused(f"{place} exists already, and nothing is written over.", "Choose another name.")


def _written(place: Path, template: str, told: dict[str, str]) -> Path:
    text = Template((TEMPLATES / template).read_text(encoding="utf-8"))
    with place.open("x", encoding="utf-8") as file:
        file.write(text.substitute(told) if told else text.template)
    return place


def _plain(text: str) -> str:
    """A text as YAML reads it back as text: a name such as 12 or no stands between quotation marks."""
    return text if text[:1].isalpha() and text.lower() not in _WORDS else f'"{text}"'


_WORDS: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "none"})
