"""Tables: rows under headings, as wide as the screen and no wider."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from glasshouse.cli.screen import Screen, one_line

GAP: Final = 2
column_chars_min: Final = 6


def draw_table(
    screen: Screen,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    loose: Collection[str] = (),
    spare: Sequence[str] = (),
) -> None:
    """Draw a table. Where there is no room, `loose` columns are cut with an ellipsis, then `spare` ones left out."""
    columns = {heading: [one_line(row[place]) for row in rows] for place, heading in enumerate(headings)}
    natural = {name: max(map(cell_len, (name, *cells))) for name, cells in columns.items()}
    widths = fitted(natural, screen.width, loose, spare)
    drawn = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for heading, width in widths.items():
        drawn.add_column(heading, no_wrap=True, overflow="ellipsis", width=width)
    for place in range(len(rows)):
        drawn.add_row(*(Text(columns[heading][place]) for heading in widths))
    screen.draw(drawn)


def fitted(
    natural: Mapping[str, int], room: int, loose: Collection[str], spare: Sequence[str]
) -> dict[str, int]:
    """Columns and widths that fit: the widest loose column gives way first, none below its least."""
    widths, leaving = dict(natural), list(spare)
    while sum(widths.values()) + GAP * (len(widths) - 1) > room:
        giving = [name for name in widths if name in loose and widths[name] > column_chars_min]
        if giving:
            widths[max(giving, key=lambda name: widths[name])] -= 1
        elif leaving:
            gone = leaving.pop(0)
            widths = {name: chars for name, chars in natural.items() if name in widths and name != gone}
        else:
            break
    return widths
