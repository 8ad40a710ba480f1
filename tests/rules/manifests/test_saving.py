"""A world that is saved: it is the same world, passes the checks, and replaces nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from glasshouse.errors import Refused
from glasshouse.manifests.editing import CreatureEdits, WorldEdits, edited_world
from glasshouse.manifests.loading import load_world, problems_in
from glasshouse.manifests.saving import has_code, save_world
from glasshouse.manifests.world_folders import bundled_worlds
from tests.rules.manifests.sample_worlds import world_at

ODD_TEXT = "null\n\nyes: no # 'x' \"y\"  \n tail \u2028 1e3 "


@pytest.mark.parametrize("name", [world.name for world in bundled_worlds()])
def test_a_saved_world_is_the_world_that_was_edited(name: str, tmp_path: Path) -> None:
    world = load_world(name)
    handle = [*world.scenario.cast_by_handle][-1]
    changes = CreatureEdits(persona=ODD_TEXT, wants="1e3")
    edited = edited_world(world, WorldEdits(creatures={handle: changes}))

    folder = save_world(edited, "mine", tmp_path)

    saved = load_world(folder)
    assert problems_in(folder) == []
    assert saved.manifests == edited.manifests
    assert saved.decks == edited.decks
    assert saved.scenario.card == world.scenario.card
    assert saved.scenario.model_copy(update={"name": name}) == edited.scenario
    assert [path.name for path in (tmp_path / "worlds").iterdir()] == ["mine"]


def test_nothing_is_written_over(tmp_path: Path) -> None:
    world = load_world(world_at(tmp_path))
    worlds = tmp_path / "worlds"
    (worlds / "empty").mkdir(parents=True)
    (worlds / "file.yaml").write_text("cast: []")
    (worlds / "link").symlink_to(tmp_path / "nowhere")

    for name in ("empty", "file", "link", "mystery-roots"):
        with pytest.raises(Refused, match="already"):
            save_world(world, name, tmp_path)

    assert sorted(path.name for path in worlds.iterdir()) == ["empty", "file.yaml", "link"]


@pytest.mark.parametrize("name", ["", "../out", "a/b", ".hidden", "Big", "x" * 200])
def test_a_name_that_is_no_worlds_name_is_refused(name: str, tmp_path: Path) -> None:
    world = load_world(world_at(tmp_path))

    with pytest.raises(Refused):
        save_world(world, name, tmp_path)

    assert not (tmp_path / "worlds").exists()


def test_code_that_a_world_names_comes_along_and_is_told(tmp_path: Path) -> None:
    world = load_world("one-odd-acorn")

    folder = save_world(world, "mine", tmp_path)

    assert has_code(world)
    assert (folder / "counting.py").is_file()
