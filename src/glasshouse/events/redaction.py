"""What each role may read of an event.

A spectator reads no thoughts; the audience does; only a director reads what is sealed and the model's side.
"""

from __future__ import annotations

from typing import Literal

from msgspec.structs import replace

from glasshouse.events import kinds
from glasshouse.events.event import Event

Role = Literal["spectator", "audience", "director"]
ROLES: tuple[Role, ...] = ("spectator", "audience", "director")


def redacted(event: Event, role: Role) -> Event:
    """The event as this role may read it. Its id, place and kind always stay."""
    if role == "director":
        return event
    if role == "audience":
        return replace(event, sealed=None, model=None)
    payload = {} if event.kind == kinds.AGENT_THOUGHT else event.payload
    return replace(event, payload=payload, private=None, sealed=None, model=None)
