"""Cells: their product and their names. A name follows from what decides a play, and from nothing else."""

from pathlib import Path
from typing import Any

import pytest

from glasshouse.errors import BadWorld
from glasshouse.grids.cells import Cell, cells_of
from glasshouse.grids.executors import bundle_cells_max, bundles_of
from glasshouse.grids.grid_file import ReadGrid, grid_of, load_grid_file
from glasshouse.grids.variants import variants_of
from glasshouse.manifests.loading import load_world
from tests.grid_worlds import grid_file, small_world

MODELS = {"fast": {"name": "m", "digest": "d1", "decoding": {}}}


def cells(world: Path, facts: dict[str, Any] = MODELS, **axes: Any) -> list[Cell]:
    grid = grid_of({"worlds": ["pond"], "models": ["m"], "rng_seeds": [7], **axes})
    variants = {
        (each.world_name, each.what_if): each for each in variants_of(grid, {"pond": load_world(world)})
    }
    return [*cells_of(grid.file, variants, {(*key, "m"): facts for key in variants})]


def names(world: Path, **how: Any) -> list[str]:
    return [cell.name for cell in cells(world, **how)]


def test_cells_stand_in_the_order_of_the_axes(tmp_path: Path) -> None:
    played = cells(
        small_world(tmp_path), rng_seeds=[2, 1], repeats=2, what_ifs=[{"name": "p"}, {"name": "q"}]
    )

    assert [(cell.what_if, cell.rng_seed, cell.repeat) for cell in played] == [
        (what_if, seed, repeat) for what_if in "pq" for seed in (2, 1) for repeat in (1, 2)
    ]
    assert {cell.run_id for cell in played} == {f"r-{cell.name}" for cell in played}


def test_the_name_of_a_cell_does_not_depend_on_where_its_world_is(tmp_path: Path) -> None:
    assert names(small_world(tmp_path / "a")) == names(small_world(tmp_path / "b"))


@pytest.mark.parametrize(
    "how",
    [
        {"rng_seeds": [8]},
        {"facts": {"fast": {"name": "m", "digest": "d2", "decoding": {}}}},
        {"facts": {"fast": {"name": "m", "digest": "d1", "decoding": {"top_k": 3}}}},
        {"what_ifs": [{"name": "p", "seed": "a lost glove"}]},
        {"what_ifs": [{"name": "p", "limits": {"max_turns": 9}}]},
        {"what_ifs": [{"name": "p", "lines": [{"turn": 2, "text": "Boo."}]}]},
        {"what_ifs": [{"name": "p", "manifests": {"ada": {"temper": "proud"}}}]},
    ],
)
def test_whatever_decides_a_play_changes_the_name_of_its_cell(tmp_path: Path, how: dict[str, Any]) -> None:
    world = small_world(tmp_path)

    assert names(world, **how) != names(world)


@pytest.mark.parametrize("file", ["scenario.yaml", "creatures/ada.yaml", "notes/rules.md", "script.txt"])
def test_a_world_that_was_edited_has_other_cells(tmp_path: Path, file: str) -> None:
    world = small_world(tmp_path)
    (world / "notes").mkdir()
    (world / "notes/rules.md").write_text("Be kind.\n")
    with (world / "creatures/ada.yaml").open("a") as creature:
        creature.write("documents: [notes/*.md]\n")
    before = names(world)
    path = world / file
    added = "title: Edited" if path.suffix == ".yaml" else "# What Ada says."
    path.write_text(f"{path.read_text() if path.exists() else ''}# edited\n{added}\n")

    assert names(world) != before


@pytest.mark.parametrize(
    ("what_if", "words"),
    [
        ({"seats": {"adda": "m"}}, "what_ifs.seats.adda: no creature or team of pond is called 'adda'. Did you mean 'ada'?"),
        ({"manifests": {"boo": {}}}, "what_ifs.manifests.boo: no creature of pond is called 'boo'. Did you mean 'bo'?"),
        ({"manifests": {"bo": {"personna": "x"}}}, "manifests.bo.personna: there is no such field. Did you mean 'persona'?"),
        ({"manifests": {"bo": {"name": "cy"}}}, "a creature keeps its name."),
        ({"limits": {"max_turn": 3}}, "what_ifs.limits.max_turn: there is no such field. Did you mean 'max_turns'?"),
    ],
)  # fmt: skip
def test_a_what_if_that_fits_no_world_is_refused(tmp_path: Path, what_if: dict[str, Any], words: str) -> None:
    with pytest.raises(BadWorld) as refused:
        cells(small_world(tmp_path), what_ifs=[{"name": "p", **what_if}])

    assert words in str(refused.value)


def with_fields(world: Path, creature: str, fields: str) -> None:
    """Add fields to a creature's file."""
    file = world / "creatures" / f"{creature}.yaml"
    file.write_text(f"{file.read_text()}{fields}")


def test_documents_of_a_what_if_are_loaded_and_decide_the_name_of_its_cell(tmp_path: Path) -> None:
    world = small_world(tmp_path)
    (world / "private").mkdir()
    secret = world / "private" / "secret.md"
    secret.write_text("The lantern is hollow.\n")
    with_secrets = [{"name": "reads", "manifests": {"ada": {"documents": ["private/*.md"]}}}]
    grid = grid_of({"worlds": ["pond"], "what_ifs": with_secrets})
    (variant,) = variants_of(grid, {"pond": load_world(world)})
    before = names(world, what_ifs=with_secrets)

    secret.write_text("The lantern is full.\n")

    assert [*variant.world.documents] == ["private/secret.md"]
    assert names(world, what_ifs=with_secrets) != before


def test_tools_of_a_what_if_decide_the_name_of_its_cell(tmp_path: Path) -> None:
    world = small_world(tmp_path)
    (world / "bell.py").write_text('def ring(times: int) -> str:\n    """Ring."""\n    return "Dong."\n')
    rings = [{"name": "rings", "manifests": {"ada": {"tools": ["bell.py:ring"]}}}]
    before = names(world, what_ifs=rings)

    (world / "bell.py").write_text('def ring(times: int) -> str:\n    """Ring."""\n    return "Ding."\n')

    assert names(world, what_ifs=rings) != before


REFEREE = "from helper import WHO\n\n\ndef ruling(match):\n    return None\n"


@pytest.mark.parametrize("helper", ["helper.py", "rules/helper.py"])
def test_code_that_the_code_of_a_world_may_import_decides_the_names_of_its_cells(
    tmp_path: Path, helper: str
) -> None:
    world = small_world(tmp_path)
    (world / "rules").mkdir()
    (world / "ref.py").write_text(REFEREE)
    with (world / "scenario.yaml").open("a") as scenario:
        scenario.write("competition: {referee: 'ref.py:ruling'}\n")
    (world / helper).write_text("WHO = 'ada'\n")
    before = names(world)

    (world / helper).write_text("WHO = 'bo'\n")

    assert names(world) != before


def test_python_beside_a_world_without_code_of_its_own_decides_nothing(tmp_path: Path) -> None:
    world = small_world(tmp_path)
    before = names(world)

    (world / "draft.py").write_text("WHO = 'ada'\n")

    assert names(world) == before


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("nope/*.md", "night.yaml:9:9: what_ifs.manifests.ada.documents: no file fits 'nope/*.md'."),
        ("../../*.md", "night.yaml:9:9: what_ifs.manifests.ada.documents: '../../*.md' may lead out of"),
    ],
)
def test_wrong_documents_of_a_what_if_are_refused_with_their_line(
    tmp_path: Path, pattern: str, words: str
) -> None:
    small_world(tmp_path)
    reads = {"name": "reads", "manifests": {"ada": {"documents": [pattern]}}}
    file = grid_file(tmp_path, what_ifs=[reads])

    with pytest.raises(BadWorld) as refused:
        variants_of(load_grid_file(file), {})

    assert words in str(refused.value)


def test_unknown_tools_of_a_what_if_are_refused_with_their_line(tmp_path: Path) -> None:
    small_world(tmp_path)
    file = grid_file(tmp_path, what_ifs=[{"name": "rings", "manifests": {"ada": {"tools": ["bel.py:ring"]}}}])

    with pytest.raises(BadWorld) as refused:
        variants_of(load_grid_file(file), {}, frozenset({"roll_dice"}))

    words = "night.yaml:9:9: what_ifs.manifests.ada.tools: there is no readable file 'bel.py' beside the scenario."
    assert words in str(refused.value)


def test_unknown_tools_of_a_world_that_a_program_gives_are_refused(tmp_path: Path) -> None:
    world = small_world(tmp_path)
    with_fields(world, "ada", "tools: [roll_dise]\n")

    with pytest.raises(BadWorld, match=r"no tool is called 'roll_dise'. Did you mean 'roll_dice'"):
        variants_of(grid_of({"worlds": ["pond"]}), {"pond": load_world(world)}, frozenset({"roll_dice"}))


@pytest.mark.parametrize(
    ("written", "taken_away"),
    [
        ("memory: {long: true}\n", {"memory": {"long": False}}),
        ("memory: {long: true, window: 9}\n", {"memory": {"window": 2}}),
        ('documents: ["notes.md"]\n', {"documents": []}),
    ],
)
def test_a_what_if_that_takes_something_away_takes_the_tool_that_was_granted_for_it(
    tmp_path: Path, written: str, taken_away: dict[str, Any]
) -> None:
    world = small_world(tmp_path)
    (world / "notes.md").write_text("Frogs sing.\n")
    with_fields(world, "ada", written)
    grid = grid_of({"worlds": ["pond"], "what_ifs": [{"name": "without", "manifests": {"ada": taken_away}}]})

    (variant,) = variants_of(grid, {"pond": load_world(world)})

    assert variant.world.manifests["ada"].tools == ()
    assert len(variant.original.manifests["ada"].tools) == 1


def test_an_unknown_world_names_the_likely_one(tmp_path: Path) -> None:
    read = grid_of({"worlds": ["twenty-sprots"]})
    grid = ReadGrid(read.file, read._source, tmp_path)

    with pytest.raises(BadWorld, match="no world is called 'twenty-sprots'"):
        variants_of(grid, {})


def test_a_bundle_has_one_entry_of_models_and_at_most_a_hundred_cells() -> None:
    many = [Cell(f"{n:016x}", "w", "as is", "ab"[n % 2], n, 1) for n in range(9_000)]

    bundles = bundles_of(many)

    assert max(len(bundle.cells) for bundle in bundles) == bundle_cells_max
    assert all({cell.models for cell in bundle.cells} == {bundle.models} for bundle in bundles)
    assert sorted(cell for bundle in bundles for cell in bundle.cells) == sorted(many)
    assert {bundle.models for bundle in bundles[:2]} == {"a", "b"}
