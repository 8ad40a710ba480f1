"""The composition root: the only file that names adapters."""

from __future__ import annotations

from glasshouse.runtime import terrarium
from glasshouse.runtime.clock import RandomIds, SystemClock
from glasshouse.runtime.ports import Clock, Ids, Store
from glasshouse.stores.memory import MemoryStore
from glasshouse.stores.sqlite import SqliteStore

__all__ = ["MemoryStore", "SqliteStore", "Terrarium"]


class Terrarium(terrarium.Terrarium):
    """The running whole, with the usual parts: memory for a store, the machine's clock, random ids."""

    def __init__(
        self, store: Store | None = None, *, clock: Clock | None = None, ids: Ids | None = None
    ) -> None:
        super().__init__(store or MemoryStore(), clock or SystemClock(), ids or RandomIds())
