"""`Creature`: a live creature as its users see it."""

from __future__ import annotations

from dataclasses import dataclass

from glasshouse.manifests.manifest import Manifest


@dataclass(frozen=True, slots=True)
class Creature:
    """A creature at the moment it was asked for. Its id is for ever; its graph and session are for now."""

    id: str
    handle: str
    graph_id: str
    session_id: str
    is_privileged: bool
    is_running: bool
    manifest: Manifest
    cast_key: str
    run_id: str | None = None
    parent: str | None = None
