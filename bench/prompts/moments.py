"""The moments of the bench, as `moments.yaml` lists them."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

import yaml

here: Final = Path(__file__).parent
KINDS: Final = ("tool", "judge", "narration", "first", "tick", "reaction", "disturbance", "wire")


class BenchMoment(NamedTuple):
    """One act to ask again."""

    id: str
    world: str
    act: str
    """The event that ended the recorded act."""
    kind: str
    good: str
    """What a good answer would do."""
    small: bool = False

    @property
    def store(self) -> Path:
        """The store of the recorded play."""
        return here / "stores" / f"{self.world}.glasshouse.gz"


def all_moments() -> list[BenchMoment]:
    """Every moment, in the order of the file."""
    listed = yaml.safe_load((here / "moments.yaml").read_text(encoding="utf-8"))["moments"]
    return [BenchMoment(**fields) for fields in listed]


def chosen_moments(only: list[str], which: str = "all", limit: int | None = None) -> list[BenchMoment]:
    """Those whose id, world or kind is named, of a set; at most `limit`. Raises `LookupError` if a name means none."""
    moments = [moment for moment in all_moments() if which == "all" or moment.small]
    for name in only:
        if not any(name in (moment.id, moment.world, moment.kind) for moment in moments):
            raise LookupError(f"No moment of the set {which} has the id, world or kind {name!r}.")
    if only:
        moments = [m for m in moments if {m.id, m.world, m.kind}.intersection(only)]
    return moments[:limit]
