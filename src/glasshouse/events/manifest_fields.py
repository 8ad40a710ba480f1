"""The fields of a manifest, as the ledger keeps it, that the engine itself reads. What prompts need is in `Character`.

Always holds: a manifest was checked when its creature was added; a field that is left out has its default here.
"""

from __future__ import annotations

import msgspec

from glasshouse.errors import BadEvent
from glasshouse.events.event import Json


class ManifestSchedule(msgspec.Struct, frozen=True, gc=False):
    """When a creature acts unasked."""

    tick_every: int | None = None
    together: bool = False


class ManifestFields(msgspec.Struct, frozen=True, gc=False):
    """What the rules of worlds, runs and views read of a manifest."""

    role: str = "worker"
    model_profile: str = "fast"
    tools: tuple[str, ...] = ()
    may_emit: frozenset[str] = frozenset()
    subscribes_to: frozenset[str] = frozenset()
    schedule: ManifestSchedule = ManifestSchedule()
    played_by: str | None = None


def fields_of(manifest: Json) -> ManifestFields:
    """The fields of a manifest; others are passed over."""
    try:
        return msgspec.convert(manifest, ManifestFields)
    except msgspec.ValidationError as wrong:
        raise BadEvent(f"A manifest in the ledger is broken: {wrong}.") from wrong
