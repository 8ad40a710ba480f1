"""The fields that the engine itself reads of a manifest in the ledger. The fields for prompts are in `Character`.

Always holds: a manifest was checked when its creature was added. A field that it leaves out has its default here.
"""

from __future__ import annotations

import msgspec

from glasshouse.errors import BadEvent
from glasshouse.events.event import Json


class ManifestSchedule(msgspec.Struct, frozen=True, gc=False):
    """When a creature acts without a line to answer: its ticks."""

    tick_every: int | None = None
    together: bool = False


class ManifestFields(msgspec.Struct, frozen=True, gc=False):
    """The manifest fields that the rules of worlds, runs and views need."""

    role: str = "worker"
    model_profile: str = "fast"
    tools: tuple[str, ...] = ()
    may_emit: frozenset[str] = frozenset()
    subscribes_to: frozenset[str] = frozenset()
    schedule: ManifestSchedule = ManifestSchedule()
    played_by: str | None = None


def fields_of(manifest: Json) -> ManifestFields:
    """These fields of a manifest; its other fields are ignored."""
    try:
        return msgspec.convert(manifest, ManifestFields)
    except msgspec.ValidationError as wrong:
        raise BadEvent(f"A manifest in the ledger is broken: {wrong}.") from wrong
