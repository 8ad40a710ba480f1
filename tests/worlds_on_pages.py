"""Worlds that a page of the docs shows: what is wrong with them, alone or with some of their fields otherwise."""

import json
from pathlib import Path
from typing import Any

from glasshouse.manifests.loading import problems_in
from glasshouse.manifests.yaml_source import source_of


def worlds_under(folder: Path) -> list[Path]:
    return sorted(path.parent for path in folder.rglob("scenario.yaml"))


def problems_with(part: str, world: Path) -> list[str]:
    """What is wrong with a world when these fields stand in its scenario in place of its own."""
    fields, given = read_yaml((world / "scenario.yaml").read_text(encoding="utf-8")), read_yaml(part)
    left = {name: value for name, value in fields.items() if name != "cast" or "troupes" not in given}
    (world / "scenario.yaml").write_text(json.dumps({**left, **given}), encoding="utf-8")
    return [str(problem) for problem in problems_in(world)]


def read_yaml(text: str) -> dict[str, Any]:
    source = source_of(text, "page")
    assert source.problems == ()
    assert isinstance(source.data, dict)
    return source.data
