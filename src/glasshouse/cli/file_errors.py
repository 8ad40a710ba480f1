"""Errors of the operating system about files, in words: what is wrong with which path, and what to do."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from glasshouse.errors import Refused

_REASONS: Final = {
    errno.EACCES: "this user may not do that here",
    errno.EPERM: "this user may not do that here",
    errno.EROFS: "this disk can only be read",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the space that this user may take is used up",
    errno.ENOENT: "there is no such file or folder",
    errno.EISDIR: "that is a folder",
    errno.ENOTDIR: "a part of that path is no folder",
    errno.ENAMETOOLONG: "that name is too long",
}
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


def in_words(error: OSError) -> str:
    """What is wrong, with the path that the error names, and what to do about it."""
    path = f"{error.filename}: " if error.filename else ""
    if error.errno not in _REASONS:
        return f"{path}{error.strerror or error}. Make room or choose another path, then try again."
    return f"{path}{_REASONS[error.errno]}. {_advice(error)}"


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Write a file that somebody has named. If that cannot be done, say why of that very path."""
    if path.is_dir():
        raise Refused(f"{path} is a folder.", "Name a file in it.")
    if not path.parent.is_dir():
        raise Refused(
            f"{path} cannot be written: there is no folder {path.parent}.",
            "Make it first, or choose another path.",
        )
    try:
        yield
    except OSError as wrong:
        reason = _REASONS.get(wrong.errno or 0, wrong.strerror or str(wrong))
        raise Refused(f"{path} cannot be written: {reason}.", _advice(wrong)) from wrong


def _advice(error: OSError) -> str:
    return "Make room, then try again." if error.errno in _FULL else "Choose another path."
