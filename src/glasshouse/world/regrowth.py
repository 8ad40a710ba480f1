"""A past as it is to live again: what a branch or a resumed session begins with, by the names of then.

Always holds: these are values, made from a past that was read; what everything is called now is for `restating` to say.
"""

from __future__ import annotations

import msgspec

from glasshouse.events.carried import Carried
from glasshouse.events.event import Json
from glasshouse.events.payloads import History
from glasshouse.events.run_payloads import RunStarted


class Revived(msgspec.Struct, frozen=True, gc=False):
    """A creature that a branch or a resumed session begins with. `key` is its id then, or a name for one that is new."""

    key: str
    name: str
    manifest: Json
    manifest_digest: str
    handle: str
    run_id: str | None = None
    parent: str | None = None
    is_privileged: bool = False
    is_running: bool = True
    is_new: bool = False
    is_root: bool = False


class Reopened(msgspec.Struct, frozen=True, gc=False):
    """A channel that such a session begins with, and who is on it in which directions, by their keys."""

    key: str
    name: str
    description: str = ""
    history: History = "full"
    is_new: bool = False
    members: tuple[tuple[str, int], ...] = ()


class Rewired(msgspec.Struct, frozen=True, gc=False):
    """An output wire that such a session begins with, between two keys."""

    key: str
    source: str
    target: str
    with_content: bool = True
    prompt: str | None = None
    when: str | None = None


class LineAfter(msgspec.Struct, frozen=True, gc=False):
    """What is said first of all in a branch, by a key or by one of the reserved actors."""

    kind: str
    payload: Json
    actor: str
    channel: str | None = None
    caused_by: str | None = None
    run_id: str | None = None
    sealed: Json | None = None


class Regrown(msgspec.Struct, frozen=True, gc=False):
    """One graph of a branch or a resumed session: its shape, and what it carries over of the past."""

    parents: tuple[tuple[str, int], ...]
    """The sessions it grows from, and the last seq of each that it sees."""
    turn: int
    creatures: tuple[Revived, ...]
    carried: Carried
    channels: tuple[Reopened, ...] = ()
    wires: tuple[Rewired, ...] = ()
    graph_ids: tuple[str, ...] = ()
    """The graphs it goes on from, by the ids they had: the first of them it is, unless another goes on from that too."""
    places: tuple[str, ...] = ()
    """Other channels and graphs that somebody remembers something of."""
    strangers: tuple[str, ...] = ()
    """Those who are remembered, are not here, and whose ids could be taken for others' in this house."""
    lines: tuple[LineAfter, ...] = ()


class Rerun(msgspec.Struct, frozen=True, gc=False):
    """A run that goes on under another id. Without `started`, it had not begun."""

    old: str
    new: str
    started: RunStarted | None = None
    is_paused: bool = False
