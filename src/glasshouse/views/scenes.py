"""Scenes that the world shows in several graphs at once: each view shows such a scene once.

Always holds: a scene that comes again in a later turn is another scene.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from glasshouse.events import kinds
from glasshouse.events.event import CONDUCTOR, Event, text_of

scenes_known_max: Final = 64
"""Of how many scenes a view knows that it has shown them. A later copy of an older one is shown again."""


class Scene(NamedTuple):
    """What tells scenes apart, whatever the graph they are shown in."""

    turn: int
    title: str
    text: str


def scene_of(event: Event) -> Scene | None:
    """The scene that the world shows with this event; none if it shows none."""
    if event.kind != kinds.WORLD_OBSERVED or event.actor != CONDUCTOR:
        return None
    return Scene(event.turn, text_of(event, "title"), text_of(event))
