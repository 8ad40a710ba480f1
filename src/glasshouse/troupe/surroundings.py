"""Surroundings: who is around a player and on which channels, as the prompt says.

Always holds: read from the lines under `AROUND YOU` and from nothing else.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from glasshouse.troupe.reading import Reading

_NEIGHBOUR: Final = re.compile(r"([\w~-]+) \((\w+)(?:, on ([^)]+))?\)")


class Circle(NamedTuple):
    """Everybody around with their channels, where I speak, and to whom my lines are handed."""

    channels_of: dict[str, tuple[str, ...]]
    speaks_on: tuple[str, ...]
    handed_to: tuple[str, ...]

    def is_on_mine(self, handle: str) -> bool:
        """Whether somebody is on a channel that I speak on."""
        return bool(set(self.channels_of.get(bare_name(handle), ())) & set(self.speaks_on))

    @property
    def guests(self) -> list[str]:
        """Those on a channel of mine that are at home on another one, where I do not speak."""
        return [
            name
            for name, channels in self.channels_of.items()
            if self.is_on_mine(name) and set(channels) - set(self.speaks_on)
        ]


def bare_name(name: str) -> str:
    """A handle without the graph it may be told with, as in `wren@orchard`."""
    return name.partition("@")[0]


def circle_of(reading: Reading) -> Circle:
    """The circle as it stands now."""
    around = reading.around
    return Circle(
        {name: _names(where) for name, _, where in _NEIGHBOUR.findall(around)},
        _names(_listed(around, "You speak on")),
        _names(_listed(around, "Your lines are handed to")),
    )


def _listed(around: str, label: str) -> str:
    match = re.search(rf"^{label}: (.+)\.$", around, re.MULTILINE)
    return match[1] if match else ""


def _names(listed: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in listed.split(",") if name.strip())
