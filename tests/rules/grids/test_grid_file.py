"""The grid file: axes as data, and what is wrong with one in words, with file and line."""

from pathlib import Path

import pytest

from glasshouse.errors import BadWorld, UnknownName
from glasshouse.grids.grid_file import AS_IS, GridFile, cells_max, grid_of, load_grid_file


def read(tmp_path: Path, text: str) -> GridFile:
    path = tmp_path / "night.yaml"
    path.write_text(text)
    return load_grid_file(path).file


def problems(tmp_path: Path, text: str) -> str:
    with pytest.raises(BadWorld) as refused:
        read(tmp_path, text)
    return str(refused.value).replace(str(tmp_path), "")


def test_a_grid_needs_no_more_than_a_world(tmp_path: Path) -> None:
    file = read(tmp_path, "worlds: [pond]\n")

    assert (file.worlds, file.rng_seeds, file.models, file.repeats) == (("pond",), (0,), ("offline",), 1)
    assert [what_if.name for what_if in file.what_ifs] == [AS_IS]
    assert file.cells == 1


def test_a_range_of_seeds_has_both_its_ends(tmp_path: Path) -> None:
    assert read(tmp_path, "worlds: [pond]\nrng_seeds: 3..6\n").rng_seeds == (3, 4, 5, 6)


def test_cells_are_the_product_of_the_axes(tmp_path: Path) -> None:
    text = "worlds: [a, b]\nrng_seeds: 0..9\nmodels: [offline, x]\nwhat_ifs: [{name: p}, {name: q}]\nrepeats: 3\n"

    assert read(tmp_path, text).cells == 2 * 10 * 2 * 2 * 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("worlds: [pond]\nrng_seed: 3\n", "/night.yaml:2:1: rng_seed: there is no such field. Did you mean 'rng_seeds'?"),
        ("worlds: []\n", "/night.yaml:1:9: worlds: this is empty. Write at least one item."),
        ("worlds: [pond]\nmodels: []\n", "/night.yaml:2:9: models: this is empty. Write at least one item."),
        ("worlds: [pond]\nrng_seeds: 9..3\n", "/night.yaml:2:12: rng_seeds: Value error, '9..3' ends before it begins. Write 3..9."),
        ("worlds: [pond]\nrng_seeds: [1, 2, 1]\n", "/night.yaml:2:12: rng_seeds: 1 is named twice."),
        ("worlds: [pond, pond]\n", "/night.yaml:1:9: worlds: 'pond' is named twice."),
        ("worlds: [pond]\nwhat_ifs: [{name: p}, {name: p}]\n", "what_ifs.name: another what-if is called 'p'."),
        ("worlds: [pond]\nwhat_ifs:\n  - name: p\n    limts: {}\n", "night.yaml:4:5: what_ifs.limts: there is no such field. Did you mean 'limits'?"),
        ("worlds: [pond]\nwhat_ifs:\n  - name: ' '\n", "night.yaml:3:11: what_ifs.name: this name is blank. Write some letters."),
        ("worlds: [pond]\nrepeats: 0\n", "/night.yaml:2:10: repeats: this is too small. Write 1 or more."),
        ("worlds: [pond]\nrng_seeds: 0..60000\nrepeats: 2\n", f"the grid has 120,002 cells. Shorten an axis: at most {cells_max:,} are played."),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_grid_is_told_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    assert words.replace("Value error, ", "") in problems(tmp_path, text)


@pytest.mark.parametrize("seeds", ["[9007199254740993]", "[true]", "[x, 1.5]", "1..3..5", "0..x", "''"])
def test_wrong_seeds_are_told_once_and_never_called_empty(tmp_path: Path, seeds: str) -> None:
    lines = problems(tmp_path, f"worlds: [pond]\nrng_seeds: {seeds}\n")

    assert "this is empty" not in lines
    assert "should be a list" not in lines
    assert ("Write one such as 0..99, or a list." in lines) == (not seeds.startswith("["))


def test_a_grid_of_a_program_is_refused_in_the_same_words_without_a_line() -> None:
    with pytest.raises(BadWorld, match=r"^grid: wurlds: there is no such field. Did you mean 'worlds'\?"):
        grid_of({"worlds": ["pond"], "wurlds": []})


def test_a_file_that_is_not_there_names_the_one_that_is(tmp_path: Path) -> None:
    (tmp_path / "night.yaml").write_text("worlds: [pond]\n")

    with pytest.raises(UnknownName, match="nigth"):
        load_grid_file(tmp_path / "nigth.yaml")


def test_lines_are_said_by_turn(tmp_path: Path) -> None:
    text = "worlds: [pond]\nwhat_ifs:\n- name: p\n  lines: [{turn: 5, text: b}, {turn: 2, text: a}]\n"

    assert [line.turn for line in read(tmp_path, text).what_ifs[0].said] == [2, 5]
