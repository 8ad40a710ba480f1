"""`Screen`: commands draw on it, in colour on a terminal, plain and without trailing spaces in a pipe. Also tables.

Always holds: text that went through `one_line`, `spelled`, `as_json` or a table cannot move the cursor, change colours
or the direction of writing, because such characters are escaped. No cell of a table is cut. If there is no room, cells
of loose columns are wrapped. If that is not enough, spare columns are left out. If that is not enough either, rows are
stacked, each with all cells that are not empty.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from glasshouse.cli.prose import wrapped
from glasshouse.cli.standard_output import standard_output

_TURNING: Final = {chr(n) for n in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C)}
"""Characters that change the direction of writing."""

NameOf = Callable[[str], str]


class Screen(Console):
    """Draws on standard output."""

    def __init__(self, width: int | None = None, *, force_terminal: bool | None = None) -> None:
        plain: dict[str, Any] = {"highlight": False, "markup": False, "emoji": False}
        super().__init__(width=width, force_terminal=force_terminal, **plain)

    def on_broken_pipe(self) -> None:
        """Raise the error of a closed pipe again, because `cli/exits.py` handles it."""
        raise  # noqa: PLE0704 (it is called while the error is handled)

    def draw(self, *drawings: RenderableType) -> None:
        """Draw one thing under the other. Prose is wrapped between words on a terminal, and one line in a pipe."""
        for drawing in drawings:
            if isinstance(drawing, str) and self.is_terminal:
                self.print(wrapped(drawing, self.width), soft_wrap=True)
            elif self.is_terminal:
                self.print(drawing)
            elif isinstance(drawing, str):
                print(drawing, flush=True)
            else:
                with self.capture() as captured:
                    self.print(drawing)
                print("\n".join(line.rstrip() for line in captured.get().splitlines()))


def print_json(*objects: dict[str, Any]) -> None:
    """Each JSON object on a line of its own, at once."""
    for facts in objects:
        print(as_json(facts), file=standard_output(), flush=True)


def facts_of(value: object, *names: str) -> dict[str, Any]:
    """The named attributes of a value."""
    return {name: getattr(value, name) for name in names}


def longest_word(text: str) -> int:
    """How many columns the longest word takes."""
    return max(map(cell_len, text.split()), default=0)


def as_json(value: Any) -> str:
    """JSON on one line, with control characters escaped."""
    return spelled(json.dumps(value, ensure_ascii=False, default=str))


def spelled(text: str) -> str:
    """The text with control characters escaped, as JSON and Python do. Line ends are kept."""
    if text.isprintable():
        return text
    return "".join(f"\\u{ord(char):04x}" if _steers(char) else char for char in text)


def one_line(text: str) -> str:
    """The escaped text on one line."""
    return spelled(" ".join(text.split()))


def counted(number: int, noun: str) -> str:
    """A number of things: `1 event`, `2,000 events`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def price(usd: float | None) -> str:
    """What something cost."""
    return "price unknown" if usd is None else f"{usd:.4f} USD" if usd else "free"


def first_words(text: str, count: int) -> str:
    """The beginning of a text between quotation marks."""
    words = text.split()
    return f"“{' '.join(words[:count])}{'…' if len(words) > count else ''}”"


def value_in_words(value: Any, name_of: NameOf = str) -> str:
    """One value: a string plain, a list joined, a mapping as pairs in brackets, nothing as `none`."""
    match value:
        case str():
            return one_line(name_of(value)) or "(empty)"
        case None | bool():
            return {None: "none", True: "yes", False: "no"}[value]
        case list() | tuple():
            return ", ".join(value_in_words(part, name_of) for part in value) or "(empty)"
        case Mapping():
            pairs = [f"{one_line(str(key))}: {value_in_words(part, name_of)}" for key, part in value.items()]
            return f"({'; '.join(pairs)})" if pairs else "(empty)"
        case _:
            return as_json(value)


def shortened(text: str, chars_max: int) -> str:
    """The beginning of a text, with an ellipsis where it was cut: after a word, unless the first word is too long."""
    if len(text) <= chars_max:
        return text
    beginning = text[: chars_max - 1]
    return f"{beginning.rpartition(' ')[0] or beginning}…"


def _steers(char: str) -> bool:
    if char in "\n\t":
        return False
    return char in _TURNING or unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}


GAP: Final = 2
column_chars_min: Final = 16
"""The minimum width of a wrapped column. It is also at least as wide as its longest word."""


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
        lines: list[str] = []
        for cell in [f"{name}: {columns[name][index]}" for name in others if columns[name][index]]:
            if lines and cell_len(lines[-1]) + GAP + cell_len(cell) <= screen.width:
                lines[-1] += f"{' ' * GAP}{cell}"
            else:
                lines.append(f"{' ' * GAP}{cell}")
        screen.print(wrapped(columns[first][index], screen.width), style="bold", soft_wrap=True)
        screen.draw(*[wrapped(line, screen.width) for line in lines])


def _least(heading: str, cells: Sequence[str]) -> int:
    """The least width of a column that is folded: words stay whole."""
    return max(column_chars_min, *map(longest_word, (heading, *cells)))


def fitted(
    natural: Mapping[str, int], room: int, least: Mapping[str, int], spare: Sequence[str]
) -> dict[str, int] | None:
    """Columns and widths that fit: the widest of those that have a least gives way first, none below it. None if
    nothing fits."""
    widths = dict(natural)
    leaving = list(spare)
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
