"""`Screen`: where commands draw: in colour on a terminal, plain and without trailing spaces in a pipe.

Always holds: nothing that a creature or a visitor said can move the cursor, change colours or turn the direction of
writing: such characters are spelled out.
"""

from __future__ import annotations

import json
import unicodedata
from typing import Any, Final

from rich.console import Console, RenderableType

_TURNING: Final = frozenset(
    map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C))
)
"""Characters that turn the direction of writing."""


class PipeConsole(Console):
    """A console that lets the error of a closed pipe pass to `cli/exits.py`."""

    def on_broken_pipe(self) -> None:
        """Let the error go on."""
        raise  # noqa: PLE0704 (it is called while the error is handled)


class Screen:
    """Draws on standard output."""

    def __init__(self) -> None:
        self.console = PipeConsole(highlight=False, markup=False, emoji=False)

    @property
    def is_terminal(self) -> bool:
        """Whether a person looks on."""
        return self.console.is_terminal

    @property
    def width(self) -> int:
        """How many characters fit in a line."""
        return self.console.width

    def draw(self, *drawings: RenderableType) -> None:
        """Draw one thing under the other."""
        for drawing in drawings:
            if self.is_terminal:
                self.console.print(drawing)
            else:
                self._draw_plain(drawing)

    def _draw_plain(self, drawing: RenderableType) -> None:
        if isinstance(drawing, str):
            print(drawing)
            return
        with self.console.capture() as captured:
            self.console.print(drawing)
        print("\n".join(line.rstrip() for line in captured.get().splitlines()))


def print_json(facts: dict[str, Any]) -> None:
    """One JSON object on a line of its own, at once."""
    print(as_json(facts), flush=True)


def as_json(value: Any) -> str:
    """JSON on one line that a terminal cannot be tricked with."""
    return spelled(json.dumps(value, ensure_ascii=False, default=str))


def spelled(text: str) -> str:
    """The text with what would steer a terminal spelled out, as JSON and Python spell it. Line ends stay."""
    if text.isprintable():
        return text
    return "".join(_spelled(char) if _steers(char) else char for char in text)


def one_line(text: str) -> str:
    """The text spelled, on one line."""
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


def _steers(char: str) -> bool:
    if char in "\n\t":
        return False
    return char in _TURNING or unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}


def _spelled(char: str) -> str:
    return f"\\u{ord(char):04x}"
