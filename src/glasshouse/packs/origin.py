"""`Origin`: where an installed world came from, kept in a hidden file beside its scenario."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final, NamedTuple

origin_bytes_max: Final = 65_536
"""A larger file about an origin is not read: it is not ours."""

_ORIGIN: Final = ".origin.json"


class Origin(NamedTuple):
    """Where an installed world came from."""

    source: str
    """A file's name, a folder's name or the address of a repository."""
    commit: str = ""
    """The commit of a repository."""
    version: str = ""
    """What the world calls its version."""
    sha256: str = ""
    """The hash of the world, packed."""

    @property
    def shown(self) -> str:
        """In one text: the source, with the commit."""
        return f"{self.source}@{self.commit}" if self.commit else self.source


def origin_of(world: Path) -> Origin | None:
    """Where an installed world came from; None if nobody has recorded it."""
    try:
        with (world / _ORIGIN).open("rb") as file:
            read = json.loads(file.read(origin_bytes_max))
        return Origin(**{name: str(read[name]) for name in Origin._fields})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write_origin(world: Path, origin: Origin) -> None:
    """Write where a world came from into its folder."""
    text = json.dumps(origin._asdict(), indent=2, ensure_ascii=False)
    (world / _ORIGIN).write_text(f"{text}\n", encoding="utf-8")
