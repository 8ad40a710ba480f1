"""The examples of the public names: one for each, on one page of the reference, where tests run them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

PAGE: Final = Path(__file__).resolve().parents[2] / "docs/reference/examples.md"
SECTION: Final = re.compile(r"^## `(\w+)`\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
FENCE: Final = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples() -> dict[str, str]:
    """The example of each name, in the order of the page."""
    found: dict[str, str] = {}
    for section in SECTION.finditer(PAGE.read_text(encoding="utf-8")):
        fence = FENCE.search(section[2])
        if fence is not None:
            found[section[1]] = fence[1]
    return found


def example_of(name: str) -> str:
    """The example of one name."""
    return examples()[name]
