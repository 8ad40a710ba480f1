"""The statements of `queries.sql`, by name."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Final

_HEADING: Final = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def statements(text: str) -> dict[str, str]:
    """Each statement under its `-- name:` heading, on one line."""
    parts = _HEADING.split(text)
    return {
        name: " ".join(body.split()).rstrip(";") for name, body in zip(parts[1::2], parts[2::2], strict=True)
    }


SQL: Final = statements(files("glasshouse.stores.sqlite").joinpath("queries.sql").read_text())
