"""The tables of a grid: `cells.csv`, `summary.csv` and `summary.html` of a folder, and a table in Python.

Always holds: a table is a view of rows. It is written whole or not at all, and can be written again at any time.
"""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from glasshouse.errors import Refused
from glasshouse.grids.csv_cells import cell_of, text_of
from glasshouse.grids.folder import JOURNAL, write_whole
from glasshouse.grids.rows import UNKNOWN, Row
from glasshouse.grids.summary import Figure, summary_of
from glasshouse.grids.summary_page import page_of
from glasshouse.installation import missing_extra
from glasshouse.reprs import shown

html_rows_max: Final = 50
"""A notebook shows no more rows of a table."""

CELLS: Final = "cells.csv"
SUMMARY: Final = "summary.csv"
PAGE: Final = "summary.html"
EXTRA: Final = "tables"
"""The extra that brings polars."""

COLUMNS: Final = (
    "cell", "world", "what_if", "models", "rng_seed", "repeat", "seed", "winner", "reason", "turns", "calls", "tokens", "usd",
    "digest", "store", "run", "verify", "begun_again", "error",
)  # fmt: skip
_COUNTS: Final = frozenset({"rng_seed", "repeat", "turns", "calls", "tokens", "begun_again"})
_SUMMARY_COLUMNS: Final = ("world", "what_if", "models", "measure", "value", "low", "high", "n")


class GridTable(Sequence[Row]):
    """The rows of a grid, in the order of its cells."""

    def __init__(self, rows: Sequence[Row], folder: Path | None = None) -> None:
        self.rows = tuple(rows)
        self.folder = folder

    def __repr__(self) -> str:
        return shown(self, rows=len(self.rows), folder=self.folder and str(self.folder))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def summary(self) -> list[Figure]:
        """Who won how often, how long it took and what it cost, with intervals."""
        return summary_of(self.rows)

    def columns(self) -> dict[str, list[Any]]:
        """The table by its columns, for any library: what is unknown or did not happen is None."""
        return _columns([_values(row, self.folder) for row in self.rows])

    def to_polars(self) -> Any:
        """The table as a polars DataFrame."""
        return _polars().DataFrame(self.columns())

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame."""
        return _pandas().DataFrame(self.columns())

    def page(self) -> str:
        """The plots as one HTML file that needs no network."""
        return page_of(self.rows)

    def _repr_html_(self) -> str:
        """The first rows, as a notebook shows them."""
        names = ("world", "what_if", "models", "rng_seed", "winner", "reason", "turns", "calls", "usd")
        head = "".join(f"<th>{name}</th>" for name in names)
        rows = [[_shown(getattr(row, name)) for name in names] for row in self.rows[:html_rows_max]]
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
        left = len(self.rows) - len(rows)
        return f"<table><tr>{head}</tr>{body}</table>{f'<p>and {left:,} more</p>' if left else ''}"


def write_tables(folder: Path, rows: Sequence[Row]) -> None:
    """Write the three files of a grid's folder."""
    write_whole(folder / CELLS, cells_csv(rows, folder).encode())
    write_whole(folder / SUMMARY, summary_csv(rows).encode())
    write_whole(folder / PAGE, page_of(rows).encode())


def cells_csv(rows: Sequence[Row], folder: Path | None) -> str:
    """A line for each cell. What is unknown is `unknown`; what did not happen is empty."""
    return _csv(COLUMNS, [_values(row, folder) for row in rows], may_be_unknown={"usd"})


def summary_csv(rows: Sequence[Row]) -> str:
    """A line for each figure."""
    lines: list[dict[str, Any]] = []
    for figure in summary_of(rows):
        measure = figure.value
        value: Any = (
            UNKNOWN if figure.measure == "usd" and measure.value is None and measure.n else measure.value
        )
        numbers = {"value": value, "low": measure.low, "high": measure.high, "n": measure.n}
        lines.append({**dict(zip(_SUMMARY_COLUMNS, figure[:4], strict=False)), **numbers})
    return _csv(_SUMMARY_COLUMNS, lines)


def read_grid(folder: str | Path, *, library: str | None = None) -> Any:
    """The cells of a grid's folder as a DataFrame of polars, or of pandas if only that is installed. `library` names one of them."""
    path = Path(folder) / CELLS
    if not path.is_file():
        if (path.parent / JOURNAL).is_file():
            raise Refused(
                f"{path.parent} has no table yet: its grid was ended before it wrote one.",
                "Run the same `glasshouse grid` command again.",
            )
        raise Refused(f"There is no {path}.", "Name the folder that `glasshouse grid` wrote.")
    if library not in (None, "polars", "pandas"):
        raise Refused(f"library={library!r} makes no tables.", "Write 'polars' or 'pandas'.")
    frames = _frames(library)
    return frames.DataFrame(_columns(_lines_in(path)))


def _lines_in(path: Path) -> list[dict[str, Any]]:
    """The lines of a `cells.csv`, or `Refused` if it is none."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            lines = csv.DictReader(file)
            missing = [name for name in COLUMNS if name not in (lines.fieldnames or ())]
            if missing:
                raise ValueError(f"it has no column {missing[0]!r}")
            return [_typed(line) for line in lines]
    except (ValueError, csv.Error) as wrong:
        raise Refused(
            f"{path} is no table of a grid ({wrong}).",
            "Run the same `glasshouse grid` command again, which writes it anew.",
        ) from wrong


def _frames(library: str | None) -> Any:
    if library == "pandas":
        return _pandas()
    try:
        return _polars()
    except Refused:
        if library == "polars":
            raise
    try:
        return _pandas()
    except Refused:
        raise missing_extra("Neither polars nor pandas is installed here.", EXTRA) from None


def _polars() -> Any:
    try:
        return import_module("polars")
    except ImportError:
        raise missing_extra("polars is not installed here.", EXTRA) from None


def _pandas() -> Any:
    try:
        return import_module("pandas")
    except ImportError:
        raise missing_extra("pandas is not installed here, and polars makes tables too.", EXTRA) from None


def verify_command(row: Row, folder: Path | None) -> str:
    """The command that plays a row's run again from its record; empty if no store holds it."""
    if folder is None or not row.store or not row.is_done:
        return ""
    return shlex.join(
        ["glasshouse", "replay", row.run, "--verify", "--store", str(folder.absolute() / row.store)]
    )


def _values(row: Row, folder: Path | None) -> dict[str, Any]:
    values: dict[str, Any] = {name: getattr(row, name) for name in COLUMNS if name != "verify"}
    if not row.is_done:
        values |= dict.fromkeys(("turns", "calls", "tokens", "usd", "digest"))
    return {**values, "verify": verify_command(row, folder)}


def _csv(
    columns: Sequence[str], lines: Sequence[Mapping[str, Any]], may_be_unknown: Collection[str] = ()
) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for line in lines:
        writer.writerow([_text(line, name, may_be_unknown=name in may_be_unknown) for name in columns])
    return text.getvalue()


def _text(line: Mapping[str, Any], name: str, *, may_be_unknown: bool) -> Any:
    value = line[name]
    if value is None:
        return UNKNOWN if may_be_unknown and not line["error"] else ""
    if isinstance(value, str):
        return cell_of(value)
    return format(value, ".10g") if isinstance(value, float) else value


def _typed(line: Mapping[str, str]) -> dict[str, Any]:
    """A line of `cells.csv` with numbers as numbers, and None for what is unknown or did not happen."""
    values: dict[str, Any] = {}
    for name in COLUMNS:
        text = line.get(name) or ""
        if name in _COUNTS:
            values[name] = int(text) if text else None
        elif name == "usd":
            values[name] = float(text) if text and text != UNKNOWN else None
        else:
            values[name] = text_of(text) or None
    return values


def _columns(lines: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    return {name: [line[name] for line in lines] for name in COLUMNS}


def _shown(value: object) -> str:
    return UNKNOWN if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)
