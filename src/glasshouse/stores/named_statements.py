"""The statements of a `.sql` file, by their headings: how both SQL stores keep SQL out of Python."""

from __future__ import annotations

import re
from typing import Final

_HEADING: Final = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_COMMENT: Final = re.compile(r"^--.*$", re.MULTILINE)


def statements(text: str) -> dict[str, str]:
    """The statements of a SQL text by their `-- name:` heading, each on one line. Other comments stand on lines of their own."""
    _, *parts = _HEADING.split(text)
    return {
        name: " ".join(_COMMENT.sub("", body).split()).rstrip(";")
        for name, body in zip(parts[::2], parts[1::2], strict=True)
    }
