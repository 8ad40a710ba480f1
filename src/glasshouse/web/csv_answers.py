"""Lists as CSV, for spreadsheets.

Always holds: a cell is text or a number, never a formula: a text that a spreadsheet would run is given an apostrophe in
front, which shows it as it is.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from fastapi import Response

AS_CSV: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": {"text/csv": {"schema": {"type": "string"}}}}
}
"""That a list is also answered as CSV, for the documentation of its route."""

_STARTS_A_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""What a terminal or a spreadsheet may obey instead of showing it."""


def csv_of(name: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> Response:
    """Rows as a file to save. What a row lacks is left empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(cells_of(columns, row))
    headers = file_headers(f"{name}.csv")
    return Response(text.getvalue().encode(), media_type="text/csv; charset=utf-8", headers=headers)


def file_headers(name: str) -> dict[str, str]:
    """The headers of an answer that is saved as a file."""
    return {
        "content-disposition": f'attachment; filename="{name}"',
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
    }


def cells_of(columns: Sequence[str], row: Mapping[str, Any]) -> list[str]:
    """The cells of a row."""
    return [_cell(row.get(column)) for column in columns]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return str(value)
    text = value.isoformat() if isinstance(value, datetime) else str(value)
    text = _CONTROL.sub("", text)
    return f"'{text}" if text.lstrip(" ").startswith(_STARTS_A_FORMULA) else text
