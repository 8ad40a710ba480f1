"""Tables: rows under headings, as wide as the screen and no wider."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from glasshouse.cli.screen import one_line

column_chars_min: Final = 4


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], *, loose: Collection[str] = ()) -> Table:
    """A table. `loose` columns give way where there is no room: what does not fit in them ends in an ellipsis."""
    drawn = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for place, heading in enumerate(headings):
        chars = max(cell_len(text) for text in (heading, *(one_line(row[place]) for row in rows)))
        least = column_chars_min if heading in loose else chars
        drawn.add_column(heading, no_wrap=True, overflow="ellipsis", min_width=least)
    for row in rows:
        drawn.add_row(*(Text(one_line(cell)) for cell in row))
    return drawn
