"""Keys that a tool server was given, taken out of what it says: a server may quote them in an error or in an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

HIDDEN: Final = "***"


def hid(value: Any, keys: Sequence[str]) -> Any:
    """A text, or JSON with texts, in which no key stands."""
    if not keys:
        return value
    match value:
        case str():
            for key in keys:
                value = value.replace(key, HIDDEN)
            return value
        case list():
            return [hid(part, keys) for part in value]
        case dict():
            return {hid(name, keys): hid(part, keys) for name, part in value.items()}
        case _:
            return value
