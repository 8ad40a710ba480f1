"""Pronouns: what somebody says of themselves, turned so that one can say it to them."""

from __future__ import annotations

import re
from typing import Final

_YOURS: Final = {"i": "you", "my": "your", "me": "you", "mine": "yours", "myself": "yourself", "am": "are"}
_TO_YOU: Final = re.compile(rf"\b(?:{'|'.join(_YOURS)})\b", re.IGNORECASE)


def to_you(text: str) -> str:
    """What somebody says of themselves, as one says it to them: `my cake` is `your cake`."""
    return _TO_YOU.sub(lambda match: _YOURS[match[0].lower()], text)
