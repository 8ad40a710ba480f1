"""Turns errors of PostgreSQL, of its driver and of the network into store errors that say what to do.

Always holds: a message quotes what the server says, and nothing of the address but what may be shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from glasshouse.errors import StoreBusy, StoreDamaged, StoreError, StoreFailed

_NO_LOGIN: Final = "{}: the server refuses this user: {}. Check the user and the password; PGPASSWORD or ~/.pgpass may hold it."
_NO_RIGHT: Final = (
    "{}: this user lacks a right: {}. Nothing was written. Grant it glasshouse_owner to play, glasshouse_follower to leave lines,"
    " glasshouse_reader to read."
)
_NO_CONNECTION: Final = "{}: this user may not connect to the database: {}. Let whoever owns the database run: GRANT CONNECT ON DATABASE NAME TO USER."
_NO_MIGRATION: Final = (
    "{}: this user may not change the tables: {}. Nothing was written. Let the user that made them play something there with this"
    " Glasshouse first: that brings them to its version."
)
_FULL: Final = (
    "The server of {} has no room: {}. Everything acknowledged before is safe. Make room, then try again."
)
_LOCKED: Final = "{} is locked by another connection: {}. Try again."
_NO_TABLE: Final = "{} lacks a table or a column: {}. Restore a copy of it."

_NO_RIGHT_CODE: Final = "42501"
_BY_CODE: Final[Mapping[str, tuple[type[StoreError], str]]] = {
    "3D000": (StoreFailed, "{}: there is no such database: {}. Make it first: createdb NAME."),
    "28000": (StoreFailed, _NO_LOGIN),
    "28P01": (StoreFailed, _NO_LOGIN),
    _NO_RIGHT_CODE: (StoreFailed, _NO_RIGHT),
    "25006": (StoreFailed, "{} may only be read now: {}. Nothing was written. Use the primary server."),
    "53100": (StoreFailed, _FULL),
    "53200": (StoreFailed, _FULL),
    "53300": (StoreFailed, "The server of {} takes no more connections: {}. Try again later."),
    "55P03": (StoreBusy, _LOCKED),
    "57014": (StoreBusy, _LOCKED),
    "40P01": (StoreBusy, _LOCKED),
    "42P01": (StoreDamaged, _NO_TABLE),
    "3F000": (StoreDamaged, _NO_TABLE),
    "42703": (StoreDamaged, _NO_TABLE),
}
"""What an error's SQLSTATE means here: the address and the server's words are filled in."""


def driver_errors() -> tuple[type[BaseException], ...]:
    """What the driver and the network raise, a time limit too. The driver is an extra, so it is asked only once it is there."""
    import asyncpg

    return (
        asyncpg.PostgresError,
        asyncpg.InterfaceError,
        asyncpg.InternalClientError,
        OSError,
        EOFError,
        ValueError,
    )


def is_of_connection(wrong: BaseException) -> bool:
    """Whether an error says that a connection broke, so that another one may do."""
    import asyncpg

    kinds = (
        asyncpg.PostgresConnectionError,
        asyncpg.InterfaceError,
        asyncpg.InternalClientError,  # The server ended the connection in the middle of a message, and the driver lost count.
        asyncpg.AdminShutdownError,
        asyncpg.CrashShutdownError,
        asyncpg.CannotConnectNowError,
        ConnectionError,
        EOFError,
    )
    return isinstance(wrong, kinds)


def store_error(shown: str, wrong: BaseException) -> StoreError:
    """The `StoreError` for what the driver raised."""
    if isinstance(wrong, StoreError):
        return wrong
    code: Any = getattr(wrong, "sqlstate", None)
    if code == _NO_RIGHT_CODE and getattr(wrong, "severity_en", None) == "FATAL":  # It ended the connection.
        return StoreFailed(_NO_CONNECTION.format(shown, _said(wrong)))
    if code in _BY_CODE:
        kind, words = _BY_CODE[code]
        return kind(words.format(shown, _said(wrong)))
    return StoreFailed(_without_code(shown, wrong))


def migration_error(shown: str, wrong: BaseException) -> StoreError:
    """The `StoreError` for what the driver raised in a migration: no role helps who lacks a right there."""
    if getattr(wrong, "sqlstate", None) == _NO_RIGHT_CODE:
        return StoreFailed(_NO_MIGRATION.format(shown, _said(wrong)))
    return store_error(shown, wrong)


def no_right_to_make_tables(shown: str, grant: str) -> StoreError:
    """The `StoreError` for a user that may not make the tables in a database without any; `grant` would let it."""
    return StoreFailed(
        f"{shown}: this user may not make the tables, and there are none yet. Nothing was written. Let whoever owns the database run:"
        f" {grant}; or let a user play there first that may."
    )


def _without_code(shown: str, wrong: BaseException) -> str:
    """What went wrong outside the server."""
    if isinstance(wrong, TimeoutError):
        return f"{shown} did not answer in time. Check the server and the network, then try again."
    if isinstance(wrong, ConnectionRefusedError):
        return f"No server answers at {shown}. Start it, or name another --store."
    if isinstance(wrong, OSError) and not isinstance(wrong, ConnectionError):
        return f"{shown} cannot be reached: {wrong.strerror or type(wrong).__name__}. Check the host and the network."
    if isinstance(wrong, ValueError):  # The driver cannot read an option, and its words quote the address.
        return f"{shown}: an option of the address cannot be read. Check what stands behind the '?'."
    if is_of_connection(wrong):
        return f"The connection to {shown} broke: {_said(wrong)}. Try again."
    return f"{shown} could not be used: {_said(wrong)}."


def _said(wrong: BaseException) -> str:
    """What the server says, in one line and without the full stop at its end."""
    return " ".join(str(getattr(wrong, "message", None) or wrong).split()).rstrip(".") or type(wrong).__name__
