"""What a shared file holds, unpacked as its page does it."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64decode
from typing import Any


def text_in(file: bytes) -> str:
    """The packed record of a file, as JSON text."""
    match = re.search(rb'<script type="application/octet-stream" id="record">([^<]*)</script>', file)
    assert match is not None
    return gzip.decompress(b64decode(match[1])).decode()


def record_in(file: bytes) -> dict[str, Any]:
    """The packed record of a file."""
    packed: dict[str, Any] = json.loads(text_in(file))
    return packed
