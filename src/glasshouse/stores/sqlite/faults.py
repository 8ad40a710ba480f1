"""Turns errors of SQLite into store errors that say what to do."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

from glasshouse.errors import StoreBusy, StoreDamaged, StoreError, StoreFailed

FAULTS: Final = (sqlite3.Error, OverflowError, UnicodeDecodeError)
"""What a statement can raise: errors of SQLite, Python's error for a number that does not fit a column, and its error for
a message of SQLite that quotes a damaged schema."""

_PRIMARY_CODE_BITS = 0xFF


def store_error(path: Path, wrong: sqlite3.Error | OverflowError | UnicodeDecodeError) -> StoreError:
    """The `StoreError` for an error of SQLite."""
    if isinstance(wrong, OverflowError):
        return StoreFailed(
            f"A number is too large for {path}, which keeps 64 bits. Nothing was written; use a smaller one."
        )
    code = getattr(wrong, "sqlite_errorcode", None)
    if isinstance(wrong, UnicodeDecodeError) or (code is None and "decode to UTF-8" in str(wrong)):
        return StoreDamaged(damaged(path))
    match None if code is None else code & _PRIMARY_CODE_BITS:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreBusy(
                f"{path} is locked by another program. Nothing was written; close that program and try again."
            )
        case sqlite3.SQLITE_FULL:
            return StoreFailed(
                f"The disk that holds {path} is full. Nothing was written, and everything acknowledged before is"
                " safe. Free some space and try again."
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return StoreFailed(
                f"{path} cannot be written. Make the file and its folder writable, or choose another --store."
            )
        case sqlite3.SQLITE_CANTOPEN:
            return StoreFailed(f"{path} cannot be opened. Check that its folder exists and may be entered.")
        # Every statement fits the schema of a sound store. So SQLITE_ERROR says that the schema is another one.
        # In a sound store the rows that a statement writes are new, and values have the types of their columns.
        case (
            sqlite3.SQLITE_NOTADB
            | sqlite3.SQLITE_CORRUPT
            | sqlite3.SQLITE_ERROR
            | sqlite3.SQLITE_CONSTRAINT
            | sqlite3.SQLITE_MISMATCH
        ):
            return StoreDamaged(damaged(path))
        case _:
            return StoreFailed(f"{path} could not be used: {wrong}. Check the disk, then try again.")


def may_be_written(wrong: sqlite3.Error) -> bool:
    """Whether a commit that failed with this may be durable all the same.

    The pages of a commit are written to the log, and then the log is synced. An I/O error may come after the pages have reached
    the disk. All other errors come before: a full disk, a lock or a write that fails is noticed when pages are written, and
    whatever cannot be written whole is no commit. An error without a code comes from Python or from another library, which does
    not say.
    """
    code: int | None = getattr(wrong, "sqlite_errorcode", None)
    if code is None:
        return True
    return code & _PRIMARY_CODE_BITS == sqlite3.SQLITE_IOERR and code != sqlite3.SQLITE_IOERR_WRITE


def in_doubt(path: Path, wrong: sqlite3.Error) -> str:
    """The message for a commit of which nobody knows whether it was written."""
    return f"{path} could not be written: {wrong}. Check the disk."


def damaged(path: Path) -> str:
    """The message for a file that is damaged or not a Glasshouse store."""
    return (
        f"{path} is damaged, or is not a Glasshouse store. It was left as it is. Restore a copy of it, or choose"
        " another --store."
    )


def written_by_another(path: Path) -> str:
    """The message for a file that got events from another process while this one had it open."""
    return (
        f"{path} was written by another process, though only one may write it. Nothing was written. Stop one of the two, or"
        " choose another --store; to read only, open the store as a guest."
    )
