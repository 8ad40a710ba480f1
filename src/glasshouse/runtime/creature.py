"""`Creature`: a live creature as its users see it."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Final, TypeAlias

from glasshouse.manifests.manifest import Manifest
from glasshouse.reprs import repr_of
from glasshouse.world.state.state import CreatureState


@dataclass(frozen=True, slots=True)
class Creature:
    """A creature at the time of the call. Its id never changes; its graph and its session may change later."""

    __repr__ = repr_of("id", "graph_id", "run_id", "is_running")

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
    played_by_code: str = ""
    """The class of the Python object that plays it, if it was added with one."""


CreatureOrId: TypeAlias = Creature | str
"""A creature or its id. Every public call about a creature takes either."""


def id_of(creature: CreatureOrId) -> str:
    """The id of a creature, given as a value or by its id."""
    return creature.id if isinstance(creature, Creature) else creature


_SHARED: Final = sorted(Creature.__dataclass_fields__.keys() & CreatureState.__struct_fields__)
"""The fields that a creature and its state both have."""
_shared_values: Final = attrgetter(*_SHARED)


def creature_of(state: CreatureState, session_id: str, manifest: Manifest) -> Creature:
    """The public value of a creature's state, with the session it writes to and its manifest."""
    shared = dict(zip(_SHARED, _shared_values(state), strict=True))
    return Creature(session_id=session_id, manifest=manifest, **shared)
