"""Titles: what somebody is called in a line, where the prompt says that it is called otherwise than its handle reads.

Always holds: only names that the troupe itself made of handles are replaced; a title that begins with `The` has a small
letter inside a sentence, and loses the article where somebody is spoken to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from glasshouse.troupe.speaking import name_of

_SENTENCE_START: Final = re.compile(r"(?:^|[.?!:]\s+)$")


def with_titles(value: Any, titles: Mapping[str, str]) -> Any:
    """A text with titles in the place of the names made of handles; anything else as it is."""
    if not isinstance(value, str):
        return value
    for handle, title in titles.items():
        name = name_of(handle)
        if name in value:
            value = re.sub(rf"\b{re.escape(name)}\b", partial(_titled, title), value)
    return value


def _titled(title: str, match: re.Match[str]) -> str:
    if not title.startswith("The "):
        return title
    before = match.string[: match.start()]
    after = match.string[match.end() :]
    is_called = before.endswith(", ") or after.startswith(", ")
    if is_called and (not after or after[0] in ",.?!:"):
        return title.removeprefix("The ")
    return title if _SENTENCE_START.search(before) else f"the {title.removeprefix('The ')}"
