"""`StoreAddress`: where a store is, as people name it: the path of a file, or `postgresql://HOST/DB#HOUSE`.

Always holds: as text it has no password, so it can stand in any message, log and page. An address is never read as a path, nor what was meant as one.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from glasshouse.stores.postgres.address import Address, address_of, check_is_path, is_address
from glasshouse.stores.sqlite import SqliteStore
from glasshouse.stores.sqlite.conversion import OnProgress
from glasshouse.stores.sqlite.lock import holder_of

if TYPE_CHECKING:
    from glasshouse.stores.postgres.postgres_store import PostgresStore

_PROCESS: Final = re.compile(r"Process (\d+)\b")


class StoreAddress:
    """The name of a store: a file, or a house in a database."""

    def __init__(self, given: str | Path | StoreAddress) -> None:
        self.text: str = given.text if isinstance(given, StoreAddress) else str(given)
        """As it was given. It may hold a password."""
        self.server: Address | None = address_of(self.text) if is_address(self.text) else None
        """The database and the house; None for a file."""
        if self.server is None:
            check_is_path(self.text)
        self.path = Path(self.text) if self.server is None else None

    def __str__(self) -> str:
        return str(self.path) if self.server is None else self.server.shown

    def __repr__(self) -> str:
        return f"StoreAddress({str(self)!r})"

    def exists(self) -> bool:
        """Whether there may be a store. Of a database, only opening it tells."""
        return self.path is None or self.path.exists()

    def is_same(self, other: StoreAddress) -> bool:
        """Whether both name the same file, or the same house."""
        if self.path is None or other.path is None:
            return self.server == other.server and self.path == other.path
        return self.path.absolute() == other.path.absolute()

    @property
    def house(self) -> str:
        """The house in a database; empty for a file."""
        return "" if self.server is None else self.server.house

    def of_house(self, name: str) -> StoreAddress:
        """Another house in the same database."""
        return StoreAddress(f"{self.text.partition('#')[0]}#{quote(name)}")

    async def has_house(self) -> bool:
        """Whether the database has this house."""
        return await self._house(is_guest=True).exists()

    async def rename_house(self, name: str) -> None:
        """Give a house that nobody plays another name."""
        await self._house(is_guest=True).rename(name)

    def to_write(self, on_conversion: OnProgress | None = None) -> SqliteStore | PostgresStore:
        """The store for the one process that writes it."""
        if self.path is None:
            return self._house(is_guest=False)
        return SqliteStore(self.path, on_conversion=on_conversion)

    def guest(self) -> SqliteStore | PostgresStore:
        """The store for whoever reads it beside that process."""
        return self._house(is_guest=True) if self.path is None else SqliteStore(self.path, is_guest=True)

    def _house(self, *, is_guest: bool) -> PostgresStore:
        from glasshouse.stores.postgres.postgres_store import (
            PostgresStore,  # Imported here: a play in a file needs none of it.
        )

        return PostgresStore(self.text, is_guest=is_guest)

    async def holder(self) -> int | None:
        """The process that plays the store now, if one does; 0 if its number is not known."""
        if self.path is not None:
            holder = holder_of(self.path)
            return None if holder is None else holder.process or 0
        return process_in(await self.guest().owner())


def process_in(owner: str) -> int | None:
    """The number of the process that owns a store, from its words; 0 if they do not tell, None if there are none."""
    named = _PROCESS.match(owner)
    return int(named[1]) if named else (0 if owner else None)
