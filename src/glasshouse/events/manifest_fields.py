"""The fields that the engine itself reads of a manifest in the ledger. The fields for prompts are in `Character`.

Always holds: a manifest was checked when its creature was added. A field that it leaves out has its default here.
"""

from __future__ import annotations

from typing import Final

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
    title: str = ""
    bio: str = ""
    model_profile: str = "fast"
    tools: tuple[str, ...] = ()
    may_emit: frozenset[str] = frozenset()
    subscribes_to: frozenset[str] = frozenset()
    schedule: ManifestSchedule = ManifestSchedule()
    played_by: str | None = None


PUBLIC_FIELDS: Final = frozenset({"name", "role", "title", "bio"})
"""The fields that a spectator reads of a manifest."""


def is_public_part(manifest: Json) -> bool:
    """Whether a manifest has only the fields that a spectator reads. A whole one always says what it may emit."""
    return PUBLIC_FIELDS.issuperset(manifest)


def fields_of(manifest: Json) -> ManifestFields:
    """These fields of a manifest; its other fields are ignored."""
    try:
        return msgspec.convert(manifest, ManifestFields)
    except msgspec.ValidationError as wrong:
        raise BadEvent(f"A manifest in the ledger is broken: {wrong}.") from wrong
