"""Short reprs: how a value looks in a shell, a log or a failing test.

Always holds: one line of at most `repr_chars_max` characters; empty fields are left out. What is cut keeps its last
quotation mark and bracket.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import UNSET

repr_chars_max: Final = 160
"""The repr of a value is cut here."""
part_chars_max: Final = 60
"""One part of a repr is cut here."""

_PLAIN: Final = (str, bytes, int, float, tuple, list, dict, type(None))


def repr_of(*names: str) -> Callable[[object], str]:
    """A `__repr__` that shows these attributes, the most telling first; all fields if none is named."""

    def short_repr(value: object) -> str:
        fields = names or getattr(value, "__struct_fields__", None) or vars(value)
        return shown(value, **{name: getattr(value, name) for name in fields})

    return short_repr


def shown(value: object, /, **parts: object) -> str:
    """A value by its class and some parts of it."""
    pieces = [f"{name}={_part(part)}" for name, part in parts.items() if part not in ("", (), [], {}, UNSET)]
    room = repr_chars_max - len(type(value).__name__) - 2
    text = ", ".join(pieces)
    while len(text) > room:
        pieces.pop()
        text = ", ".join([*pieces, "…"])
    return f"{type(value).__name__}({text})"


def _part(part: object) -> str:
    """A part, cut short. Of values that are not plain data only the number is shown."""
    if isinstance(part, tuple | list | Mapping):
        values = [*part.values()] if isinstance(part, Mapping) else [*part]
        if any(not isinstance(value, _PLAIN) for value in values):
            return f"<{len(values)} {type(values[0]).__name__}>"
    text = repr(part)
    if len(text) <= part_chars_max:
        return text
    cut = text[: part_chars_max - 3]
    quote = next((mark for mark in "\"'" if cut.count(mark) % 2), "")
    return f"{cut}…{quote}{text[-1].strip(quote)}"
