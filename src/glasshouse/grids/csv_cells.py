"""Cells of CSV files that a spreadsheet may open: texts of worlds are shown there, never run.

Always holds: a text that a spreadsheet would take for a formula has an apostrophe before it, and no text has a control character
other than a tab or a line feed. `text_of` gives back what `cell_of` was given, without its control characters.
"""

from __future__ import annotations

import re
from typing import Final

_FORMULA: Final = re.compile("'* *[=+\\-@\\t\\n\uff1d\uff0b\uff0d\uff20]")
"""How a formula begins, also behind apostrophes, so that each cell stands for one text."""
_CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def cell_of(text: str) -> str:
    """A text as a cell."""
    shown = _CONTROL.sub("", text)
    return f"'{shown}" if _FORMULA.match(shown) else shown


def text_of(cell: str) -> str:
    """The text that a cell stands for."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell
