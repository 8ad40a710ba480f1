"""Glasshouse: a runtime for troupes of small language-model agents that live under glass.

The public names, each brought from its home when it is first asked for: importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glasshouse.assembly import MemoryStore, SqliteStore, Terrarium
    from glasshouse.errors import (
        BadEvent,
        BadWorld,
        BudgetExceeded,
        Conflict,
        GlasshouseError,
        ImportConflict,
        Refused,
        StoreBusy,
        StoreDamaged,
        StoreError,
        StoreFailed,
        StoreTooNew,
        UnknownName,
    )
    from glasshouse.events import kinds
    from glasshouse.events.digest import digest_of
    from glasshouse.events.event import Draft, EngineEvent, Event
    from glasshouse.events.filter import EventFilter
    from glasshouse.manifests.manifest import Manifest
    from glasshouse.runtime.agent import Agent
    from glasshouse.runtime.creature import Creature
    from glasshouse.world.values import Change, Channel, Environment, Graph, Lineage, Session, Wire

__all__ = [
    "Agent",
    "BadEvent",
    "BadWorld",
    "BudgetExceeded",
    "Change",
    "Channel",
    "Conflict",
    "Creature",
    "Draft",
    "EngineEvent",
    "Environment",
    "Event",
    "EventFilter",
    "GlasshouseError",
    "Graph",
    "ImportConflict",
    "Lineage",
    "Manifest",
    "MemoryStore",
    "Refused",
    "Session",
    "SqliteStore",
    "StoreBusy",
    "StoreDamaged",
    "StoreError",
    "StoreFailed",
    "StoreTooNew",
    "Terrarium",
    "UnknownName",
    "Wire",
    "digest_of",
    "kinds",
]
__version__ = "0.1.0"

_HOMES = {
    "MemoryStore": "glasshouse.assembly",
    "SqliteStore": "glasshouse.assembly",
    "Terrarium": "glasshouse.assembly",
    "BadEvent": "glasshouse.errors",
    "BadWorld": "glasshouse.errors",
    "BudgetExceeded": "glasshouse.errors",
    "Conflict": "glasshouse.errors",
    "GlasshouseError": "glasshouse.errors",
    "ImportConflict": "glasshouse.errors",
    "Refused": "glasshouse.errors",
    "StoreBusy": "glasshouse.errors",
    "StoreDamaged": "glasshouse.errors",
    "StoreError": "glasshouse.errors",
    "StoreFailed": "glasshouse.errors",
    "StoreTooNew": "glasshouse.errors",
    "UnknownName": "glasshouse.errors",
    "kinds": "glasshouse.events",
    "digest_of": "glasshouse.events.digest",
    "Draft": "glasshouse.events.event",
    "EngineEvent": "glasshouse.events.event",
    "Event": "glasshouse.events.event",
    "EventFilter": "glasshouse.events.filter",
    "Manifest": "glasshouse.manifests.manifest",
    "Agent": "glasshouse.runtime.agent",
    "Creature": "glasshouse.runtime.creature",
    "Change": "glasshouse.world.values",
    "Channel": "glasshouse.world.values",
    "Environment": "glasshouse.world.values",
    "Graph": "glasshouse.world.values",
    "Lineage": "glasshouse.world.values",
    "Session": "glasshouse.world.values",
    "Wire": "glasshouse.world.values",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(
            f"glasshouse has no name {name!r}. Its public names are in docs/reference/api.md."
        )
    value: object = import_module(f"{home}.{name}") if name == "kinds" else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
