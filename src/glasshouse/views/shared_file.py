"""`SharedFile`: a run as one HTML file."""

from __future__ import annotations

from typing import NamedTuple


class SharedFile(NamedTuple):
    """A run as one HTML file."""

    name: str
    """A name for the file, safe on any system."""
    content: bytes
    events: int
    """How many events it shows."""
