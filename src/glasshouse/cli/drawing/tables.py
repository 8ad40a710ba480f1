"""Tables: rows under headings, as wide as the screen and no wider.

Always holds: no cell is cut. Where there is no room, cells of loose columns go on in the next line; where that does not
help, spare columns are left out; and where even that does not, rows are stacked, each with every one of its cells.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from glasshouse.cli.drawing.screen import Screen, one_line

GAP: Final = 2
column_chars_min: Final = 16
"""A column whose cells go on in the next line is at least so wide, and as wide as its longest word."""


def draw_table(
    screen: Screen,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    loose: Collection[str] = (),
    spare: Sequence[str] = (),
) -> None:
    """Draw a table. Where there is no room, `loose` columns are folded, then `spare` ones left out, then rows stacked."""
    columns = {heading: [one_line(row[index]) for row in rows] for index, heading in enumerate(headings)}
    natural = {name: max(map(cell_len, (name, *cells))) for name, cells in columns.items()}
    least = {name: _least(name, cells) for name, cells in columns.items() if name in loose}
    widths = fitted(natural, screen.width, least, spare)
    if widths is None:
        _draw_stacked(screen, columns, len(rows))
        return
    drawn = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for heading, width in widths.items():
        drawn.add_column(heading, overflow="fold", width=width)
    for index in range(len(rows)):
        drawn.add_row(*(Text(columns[heading][index]) for heading in widths))
    screen.draw(drawn)


def _draw_stacked(screen: Screen, columns: Mapping[str, Sequence[str]], rows: int) -> None:
    """Each row as its first cell, and under it the others with their headings, as many on a line as fit."""
    (first, *others) = columns
    for index in range(rows):
        screen.draw(Text(columns[first][index], style="bold"))
        cells = [f"{heading}: {columns[heading][index]}" for heading in others if columns[heading][index]]
        line = ""
        for cell in cells:
            if line and cell_len(line) + 2 * GAP + cell_len(cell) > screen.width:
                screen.draw(Text(f"{' ' * GAP}{line}", overflow="fold"))
                line = ""
            line = f"{line}{' ' * GAP}{cell}" if line else cell
        if line:
            screen.draw(Text(f"{' ' * GAP}{line}", overflow="fold"))


def _least(heading: str, cells: Sequence[str]) -> int:
    """The least width of a column that is folded: words stay whole."""
    words = [word for cell in (heading, *cells) for word in cell.split()]
    return max([column_chars_min, *map(cell_len, words)])


def fitted(
    natural: Mapping[str, int], room: int, least: Mapping[str, int], spare: Sequence[str]
) -> dict[str, int] | None:
    """Columns and widths that fit: the widest of those that have a least gives way first, none below it. None if nothing
    fits."""
    widths, leaving = dict(natural), list(spare)
    while sum(widths.values()) + GAP * (len(widths) - 1) > room:
        giving = [name for name in widths if widths[name] > least.get(name, widths[name])]
        if giving:
            widths[max(giving, key=lambda name: widths[name])] -= 1
        elif leaving:
            gone = leaving.pop(0)
            widths = {name: chars for name, chars in natural.items() if name in widths and name != gone}
        else:
            return None
    return widths
