"""The text of an exception from foreign code.

Always holds: it never raises, whatever the exception does.
"""

from __future__ import annotations

from typing import Final

from glasshouse.turns.moment.line_text import cut, one_line

fault_chars_max: Final = 300


def text_of_fault(wrong: BaseException) -> str:
    """The words of an exception; none if it cannot even say what it is."""
    try:
        return str(wrong)
    except Exception:  # Somebody else's `__str__` may raise whatever it likes, and the act must end in words.
        return ""


def fault_in_words(wrong: BaseException) -> str:
    """An exception by name and in its own words, short and on one line."""
    name, text = type(wrong).__name__, one_line(text_of_fault(wrong))
    return cut(f"{name}: {text}" if text else name, fault_chars_max)
