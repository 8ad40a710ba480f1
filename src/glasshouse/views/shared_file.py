"""`SharedFile`: a run as one HTML file."""

from __future__ import annotations

import msgspec

from glasshouse.reprs import repr_of


class SharedFile(msgspec.Struct, frozen=True):
    """A run as one HTML file."""

    __repr__ = repr_of("name", "events")

    name: str
    """A name for the file, safe on any system."""
    content: bytes
    events: int
    """How many events it shows."""
