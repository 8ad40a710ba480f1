"""Documents: the files beside a world that its creatures may look things up in.

Always holds: a document is a UTF-8 file under the world's folder; no pattern and no link leads out of it. The same function decides
which files a pattern means when a world is loaded and when a creature looks something up, so what was checked is what can be found.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import zip_longest
from pathlib import Path, PurePosixPath
from typing import Final

from glasshouse.manifests.problem import Complaint, items_at, likely, shown

files_max: Final = 200
"""More documents of one world are refused: each is read and hashed before the play starts."""
file_bytes_max: Final = 1_048_576
"""A larger document is refused: one mebibyte of text is a long book."""
all_bytes_max: Final = 16 * 1_048_576
"""Documents that are larger together are refused: they are kept in memory while a play looks things up."""
patterns_cache_max: Final = 1_024
"""How many patterns are kept taken apart: far more than the worlds that play at once have."""
pattern_chars_max: Final = 1_000
"""A longer pattern is refused: it is compared with every file."""

_WILDCARDS: Final = ("**/", "**", "*", "?")
"""The longer ones first: one is no beginning of another one behind it."""


@dataclass(frozen=True)
class Document:
    """A file as it was read."""

    path: str
    """From the world's folder, with slashes."""
    text: str
    digest: str
    """A hash of its bytes: sixteen hexadecimal characters."""
    size: int
    """How many bytes it has."""


def means(pattern: str, path: str) -> bool:
    """Whether a pattern means a path. `*` and `?` stand for characters of one name, `**` for any folders.

    A pattern may come from a stranger, so no way is tried twice: it takes at most as many steps as both lengths multiplied."""
    ends = {0}
    for part in _parts_of(pattern):
        ends = _ends_behind(part, path, ends)
        if not ends:
            return False
    return len(path) in ends


@lru_cache(maxsize=patterns_cache_max)
def _parts_of(pattern: str) -> tuple[str, ...]:
    """A pattern as its wildcards, and the texts between them."""
    parts: list[str] = []
    text = ""
    at = 0
    while at < len(pattern):
        wildcard = next((wildcard for wildcard in _WILDCARDS if pattern.startswith(wildcard, at)), "")
        if wildcard and text:
            parts.append(text)
            text = ""
        if wildcard:
            parts.append(wildcard)
        else:
            text += pattern[at]
        at += len(wildcard) or 1
    return (*parts, text) if text else tuple(parts)


def _ends_behind(part: str, path: str, starts: set[int]) -> set[int]:
    """Where in a path a part of a pattern may end that begins at one of `starts`, of which there is at least one."""
    first = min(starts)
    if part == "**":
        return set(range(first, len(path) + 1))
    if part == "**/":
        return starts | {at + 1 for at in range(first, len(path)) if path[at] == "/"}
    if part == "*":
        ends: set[int] = set()
        for at in range(first, len(path) + 1):
            if at in starts or (at - 1 in ends and path[at - 1] != "/"):
                ends.add(at)
        return ends
    if part == "?":
        return {at + 1 for at in starts if at < len(path) and path[at] != "/"}
    return {at + len(part) for at in starts if path.startswith(part, at)}


def paths_meant(patterns: Iterable[str], paths: Iterable[str]) -> list[str]:
    """The paths that one of the patterns means, in their order."""
    wanted = tuple(patterns)
    return [path for path in paths if any(means(pattern, path) for pattern in wanted)]


def documents_of(
    patterns: Mapping[str | None, tuple[str, ...]], folder: Path | None
) -> tuple[dict[str, Document], list[Complaint]]:
    """The documents that the patterns mean, by path, and what is wrong with them. The patterns are those of the scenario (none)
    and of each creature, by its name."""
    complaints: list[Complaint] = []
    placed = [
        (creature, at, pattern)
        for creature, some in patterns.items()
        for at, pattern in items_at(("documents",), some)
    ]
    if not placed:
        return {}, []
    if folder is None:
        creature, at, _ = placed[0]
        text = "a world without a folder has no documents. Load it from its folder."
        return {}, [Complaint(at, text, creature)]
    there = _files_under(folder, [pattern for _, _, pattern in placed if len(pattern) <= pattern_chars_max])
    documents: dict[str, Document] = {}
    for creature, at, pattern in placed:
        try:
            for path in _meant(pattern, there):
                if path not in documents:
                    documents[path] = read_document(folder, path)
                    _check_sum(documents)
        except NoDocument as fault:
            complaints.append(Complaint(at, str(fault), creature))
    return dict(sorted(documents.items())), complaints


class NoDocument(Exception):
    """Why a document cannot be used."""


def _meant(pattern: str, there: list[str]) -> list[str]:
    """The files that a pattern means."""
    if len(pattern) > pattern_chars_max:
        raise NoDocument(f"a pattern has at most {pattern_chars_max:,} characters. Shorten it.")
    parts = PurePosixPath(pattern).parts
    if not pattern or pattern.startswith("/") or ".." in parts or "\\" in pattern:
        raise NoDocument(
            f"{shown(pattern)} may lead out of the world's folder. Write a path from there, such as notes/*.md."
        )
    files = paths_meant((pattern,), there)
    if not files:
        raise NoDocument(f"no file fits {shown(pattern)}. {likely(pattern, there, '')}".rstrip())
    return files


def _files_under(folder: Path, patterns: Iterable[str]) -> list[str]:
    """The files under a folder, by path, as far down as patterns may lead: a scenario of its own may share its folder with anything.
    Links are followed only where reading refuses those that lead out."""
    parts_of = [PurePosixPath(pattern).parts for pattern in patterns]
    leading = [steps if steps and "**" in steps[-1] else steps[:-1] for steps in parts_of]
    files = []
    for here, folders, names in os.walk(folder):
        parts = Path(here).relative_to(folder).parts
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith((".", "__")) and any(_leads_to(steps, (*parts, name)) for steps in leading)
        )
        files += [
            (Path(here) / name).relative_to(folder).as_posix() for name in names if not name.startswith(".")
        ]
    return sorted(files)


def _leads_to(steps: tuple[str, ...], folders: tuple[str, ...]) -> bool:
    """Whether a pattern with these folders may mean files under `folders`."""
    for part, name in zip_longest(steps, folders):
        if name is None or (part is not None and "**" in part):
            return True
        if part is None or not means(part, name):
            return False
    return True


def read_document(folder: Path, path: str) -> Document:
    """A document as it is now, or `NoDocument`."""
    file = folder / path
    if not path.isprintable():
        raise NoDocument(
            f"{shown(path)} has a character that nobody can see in its name. Rename it, or leave it out."
        )
    # Not Path.resolve: of a link that leads to itself, it raises what differs between versions of Python.
    if not Path(os.path.realpath(file)).is_relative_to(os.path.realpath(folder)):
        raise NoDocument(f"{path} is a link out of the world's folder. Put the file itself there.")
    try:
        if file.exists() and not file.is_file():
            raise NoDocument(f"{path} is no plain file. Put a text file there, or leave it out.")
        with file.open("rb") as opened:
            content = opened.read(file_bytes_max + 1)
    except OSError as fault:
        if fault.errno == errno.ELOOP:
            raise NoDocument(
                f"{path} is a link that leads to itself. Put the file itself there, or leave it out."
            ) from fault
        raise NoDocument(
            f"{path} cannot be read ({fault.strerror}). Check that it is there and may be read."
        ) from fault
    if len(content) > file_bytes_max:
        raise NoDocument(f"{path} has more than {file_bytes_max:,} bytes. Divide it, or shorten it.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise NoDocument(f"{path} is not UTF-8. Save it as UTF-8, or leave it out.") from fault
    return Document(path, text, blake2b(content, digest_size=8).hexdigest(), len(content))


def _check_sum(documents: Mapping[str, Document]) -> None:
    if len(documents) > files_max:
        raise NoDocument(f"there are more than {files_max} documents. Name fewer.")
    if sum(document.size for document in documents.values()) > all_bytes_max:
        raise NoDocument(f"the documents have more than {all_bytes_max:,} bytes together. Name fewer.")
