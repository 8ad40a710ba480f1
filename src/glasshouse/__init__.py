"""Glasshouse: a runtime for troupes of small language-model agents that live under glass."""

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
