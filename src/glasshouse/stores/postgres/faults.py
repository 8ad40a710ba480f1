"""Turns errors of PostgreSQL, of its driver and of the network into store errors that say what to do.

Always holds: a message quotes what the server says, and nothing of the address but what may be shown.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from glasshouse.errors import StoreBusy, StoreDamaged, StoreError, StoreFailed

_NO_DATABASE: Final = "3D000"
_NO_TABLE: Final = ("42P01", "3F000", "42703")
_NO_RIGHT: Final = "42501"
_NO_LOGIN: Final = ("28000", "28P01")
_READ_ONLY: Final = "25006"
_FULL: Final = ("53100", "53200")
_NO_ROOM: Final = "53300"
_IN_THE_WAY: Final = ("55P03", "57014", "40P01")


def driver_errors() -> tuple[type[BaseException], ...]:
    """What the driver and the network raise. The driver is an extra, so it is asked only once it is there."""
    import asyncpg

    return (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError, EOFError, ValueError)


def is_of_connection(wrong: BaseException) -> bool:
    """Whether an error says that a connection broke, so that another one may do."""
    import asyncpg

    kinds = (
        asyncpg.PostgresConnectionError,
        asyncpg.InterfaceError,
        asyncpg.AdminShutdownError,
        asyncpg.CrashShutdownError,
        asyncpg.CannotConnectNowError,
        ConnectionError,
        EOFError,
    )
    return isinstance(wrong, kinds) and not isinstance(wrong, asyncio.TimeoutError)


def store_error(shown: str, wrong: BaseException) -> StoreError:
    """The `StoreError` for what the driver raised."""
    if isinstance(wrong, StoreError):
        return wrong
    code: Any = getattr(wrong, "sqlstate", None)
    if isinstance(wrong, TimeoutError):
        return StoreFailed(f"{shown} did not answer in time. Check the server and the network, then try again.")
    if code == _NO_DATABASE:
        return StoreFailed(f"{shown}: there is no such database. Make it first: createdb NAME.")
    if code in _NO_LOGIN:
        return StoreFailed(
            f"{shown}: the server refuses this user: {_said(wrong)}. Check the user and the password; PGPASSWORD or ~/.pgpass may"
            " hold it."
        )
    if code == _NO_RIGHT:
        return StoreFailed(
            f"{shown}: this user lacks a right: {_said(wrong)}. Nothing was written. Grant it glasshouse_owner to play,"
            " glasshouse_follower to leave lines, glasshouse_reader to read."
        )
    if code == _READ_ONLY:
        return StoreFailed(
            f"{shown} may only be read now: {_said(wrong)}. Nothing was written. Use the primary server."
        )
    if code in _FULL:
        return StoreFailed(
            f"The server of {shown} has no room: {_said(wrong)}. Everything acknowledged before is safe. Make room, then try again."
        )
    if code == _NO_ROOM:
        return StoreFailed(f"The server of {shown} takes no more connections: {_said(wrong)}. Try again later.")
    if code in _IN_THE_WAY:
        return StoreBusy(f"{shown} is locked by another connection: {_said(wrong)}. Try again.")
    if code in _NO_TABLE:
        return StoreDamaged(f"{shown} lacks a table or a column: {_said(wrong)}. Restore a copy of it.")
    if isinstance(wrong, ConnectionRefusedError):
        return StoreFailed(f"No server answers at {shown}. Start it, or name another --store.")
    if isinstance(wrong, OSError):
        return StoreFailed(f"{shown} cannot be reached: {wrong.strerror or type(wrong).__name__}. Check the host and the network.")
    if isinstance(wrong, ValueError):  # The driver cannot read an option, and its words quote the address.
        return StoreFailed(f"{shown}: an option of the address cannot be read. Check what stands behind the '?'.")
    if is_of_connection(wrong):
        return StoreFailed(f"The connection to {shown} broke: {_said(wrong)}. Try again.")
    return StoreFailed(f"{shown} could not be used: {_said(wrong)}.")


def _said(wrong: BaseException) -> str:
    """What the server says, in one line and without the full stop at its end."""
    return " ".join(str(getattr(wrong, "message", None) or wrong).split()).rstrip(".") or type(wrong).__name__
