"""The fields that the engine and its views read of manifests and scenarios in the ledger.

The fields of a manifest for prompts are in `Character`; the rules of turns read a `Playbill` of a scenario. Always holds:
a manifest was checked when its creature was added, and a scenario when its run was opened. A field that one of them leaves
out has its default here.
"""

from __future__ import annotations

from typing import Final, TypeVar

import msgspec

from glasshouse.errors import BadEvent
from glasshouse.events.event import Json

T = TypeVar("T")


class ManifestSchedule(msgspec.Struct, frozen=True, gc=False):
    """When a creature acts without a line to answer: its ticks."""

    tick_every: int | None = None
    together: bool = False


class ManifestMemory(msgspec.Struct, frozen=True, gc=False):
    """After how many lines of its own a creature reflects."""

    reflect_every: int | None = None


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
    memory: ManifestMemory = ManifestMemory()
    played_by: str | None = None


class TroupeFields(msgspec.Struct, frozen=True, gc=False):
    """How many creatures a troupe of a scenario has: its cast, in the order of the run's."""

    cast: tuple[object, ...] = ()


class ScenarioFields(msgspec.Struct, frozen=True, gc=False):
    """What is shown of a scenario. A run without a scenario has empty fields."""

    name: str = ""
    title: str = ""
    disturbances: tuple[str, ...] = ()
    troupes: dict[str, TroupeFields] = {}


PUBLIC_FIELDS: Final = frozenset({"name", "role", "title", "bio"})
"""The fields that a spectator reads of a manifest."""


def is_public_part(manifest: Json) -> bool:
    """Whether a manifest has only the fields that a spectator reads. A whole one always says what it may emit."""
    return PUBLIC_FIELDS.issuperset(manifest)


def fields_of(manifest: Json) -> ManifestFields:
    """These fields of a manifest; its other fields are ignored."""
    return _read(manifest, ManifestFields, "manifest")


def scenario_fields_of(scenario: Json | None) -> ScenarioFields:
    """These fields of a scenario; its other fields are ignored."""
    return _read(scenario or {}, ScenarioFields, "scenario")


def _read(recorded: Json, fields: type[T], noun: str) -> T:
    try:
        return msgspec.convert(recorded, fields)
    except msgspec.ValidationError as wrong:
        raise BadEvent(f"A {noun} in the ledger is broken: {wrong}.") from wrong
