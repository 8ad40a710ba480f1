"""Tables and plots of a grid, from rows written by hand."""

import csv
import io
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from glasshouse.contests.measures import share
from glasshouse.errors import Refused
from glasshouse.grids.rows import Row
from glasshouse.grids.summary import summary_of
from glasshouse.grids.summary_page import page_of, squares_max
from glasshouse.grids.tables import COLUMNS, GridTable, cells_csv, read_grid, summary_csv, write_tables


def row(number: int, **fields: Any) -> Row:
    usual: dict[str, Any] = {
        "winner": "ada",
        "reason": "ended",
        "turns": 3,
        "calls": 6,
        "tokens": 900,
        "usd": 0.5,
    }
    usual |= {"digest": f"{number:064x}", "store": "runs-0001.glasshouse", "run": f"r-{number:016x}"}
    axes = {"world": "pond", "what_if": "as is", "models": "m", "rng_seed": number, "repeat": 1}
    return Row(cell=f"{number:016x}", **{**axes, **usual, **fields})


ROWS = [row(0), row(1, winner=None), row(2, winner="bo", usd=None), row(3, error="The key is wrong.")]


def test_cells_have_all_that_went_in_and_came_out(tmp_path: Path) -> None:
    lines = [*csv.DictReader(io.StringIO(cells_csv(ROWS, tmp_path)))]

    assert [*lines[0]] == [*COLUMNS]
    assert [line["winner"] for line in lines] == ["ada", "", "bo", "ada"]
    assert [line["usd"] for line in lines] == ["0.5", "0.5", "unknown", ""]
    store = tmp_path / "runs-0001.glasshouse"
    assert lines[0]["verify"] == f"glasshouse replay r-0000000000000000 --verify --store {store}"
    assert (lines[3]["verify"], lines[3]["error"], lines[3]["digest"]) == ("", "The key is wrong.", "")


@pytest.mark.parametrize(
    "seed", ["=1+1", "+1", "-1", "@x", "\t=1", "\n=1", " =1", "'=1", "''=1", "\uff1d1", "'tis", "a=b"]
)
def test_no_text_of_a_world_is_a_formula_and_each_is_read_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: str
) -> None:
    write_tables(tmp_path, [row(-5, seed=seed, what_if=seed)])
    monkeypatch.setitem(sys.modules, "polars", None)
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict))

    with (tmp_path / "cells.csv").open(newline="") as file:
        (cells,) = csv.DictReader(file)
    frame = read_grid(tmp_path)

    assert cells["seed"].lstrip()[0] not in "=+-@\uff1d"
    assert cells["rng_seed"] == "-5"
    assert (frame["seed"], frame["what_if"], frame["rng_seed"]) == ([seed], [seed], [-5])
    assert summary_csv([row(0, what_if=seed)]).count("'") >= cells["seed"].count("'")


def test_no_control_character_of_a_world_reaches_a_table(tmp_path: Path) -> None:
    text = cells_csv([row(0, seed="a\r\x1b[2Jb\x00\x07c\x9bd")], tmp_path)

    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)
    assert "a[2Jbcd" in text


def test_rates_have_the_intervals_of_rehearsals_and_count_only_what_is_done() -> None:
    figures = {figure.measure: figure.value for figure in summary_of(ROWS)}

    assert figures["won by ada"] == share([True, False, False])
    assert figures["nobody won"].n == 3
    assert figures["failed"] == share([False, False, False, True])
    assert figures["usd"].value is None
    assert "pond,as is,m,usd,unknown,,,3" in summary_csv(ROWS)


def test_the_page_is_one_file_that_asks_nobody_and_shows_no_markup_of_a_world() -> None:
    page = page_of([row(0, world="<script>alert(1)</script>", winner="<b>ada</b>"), *ROWS])

    assert "<script" not in page
    assert "&lt;b&gt;ada&lt;/b&gt;" in page
    assert not re.search(r"(src|href)=|url\(|@import|https?:", page)
    assert "default-src 'none'" in page
    assert "prefers-color-scheme: dark" in page


def test_the_page_of_many_cells_says_what_it_leaves_out() -> None:
    page = page_of([row(number) for number in range(squares_max + 5)])

    assert f"the first {squares_max:,} of {squares_max + 5:,} cells" in page


def test_a_page_without_a_done_cell_says_so() -> None:
    assert "No cell was played to its end." in page_of([row(3, error="x")])
    assert "cells done" in page_of([])


def test_a_grid_is_read_as_a_frame_of_whatever_library_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tables(tmp_path, ROWS)
    monkeypatch.setitem(sys.modules, "polars", None)
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict))

    frame = read_grid(tmp_path)

    assert [*frame] == [*COLUMNS]
    assert frame["usd"] == [0.5, 0.5, None, None]
    assert frame["turns"] == [3, 3, 3, None]
    assert frame["winner"] == ["ada", None, "bo", "ada"]
    assert GridTable(ROWS, tmp_path).to_pandas()["rng_seed"] == [0, 1, 2, 3]


def test_without_a_library_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tables(tmp_path, ROWS)
    for name in ("polars", "pandas"):
        monkeypatch.setitem(sys.modules, name, None)

    with pytest.raises(Refused, match=r"Neither polars nor pandas .*tables\]"):
        read_grid(tmp_path)


def test_a_folder_without_a_grid_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"There is no .*cells\.csv"):
        read_grid(tmp_path)


def test_the_folder_of_a_grid_without_a_table_says_how_to_get_one(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_text("")

    with pytest.raises(Refused, match=r"has no table yet.*Run the same `glasshouse grid` command again"):
        read_grid(tmp_path)


@pytest.mark.parametrize("content", [b"a,b\n1,2\n", b"\xff\xfe", b"", b"cell,rng_seed\nx,many\n"])
def test_a_foreign_table_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict))
    (tmp_path / "cells.csv").write_bytes(content)

    with pytest.raises(Refused, match=r"cells\.csv is no table of a grid \(.*writes it anew"):
        read_grid(tmp_path)
