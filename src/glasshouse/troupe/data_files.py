"""The troupe's data files, each read once, when it is first asked for.

Always holds: a line that begins with `#` and a space is a remark. The columns of a table are separated by tabs. A list
may have sections, each under a heading in square brackets.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType


@lru_cache(maxsize=1)
def _data() -> Traversable:
    """The folder of the files. It is kept, because asking the import system costs more than reading a file."""
    return files("glasshouse.troupe").joinpath("data")


def text_of(name: str) -> str:
    """A data file as it is."""
    return _data().joinpath(*name.split("/")).read_text(encoding="utf-8")


@lru_cache(maxsize=8)
def names_in(folder: str) -> tuple[str, ...]:
    """The names of the text files in a folder, without their ending."""
    files = (file.name for file in _data().joinpath(folder).iterdir())
    return tuple(sorted(name.removesuffix(".txt") for name in files if name.endswith(".txt")))


@lru_cache(maxsize=1)
def digest_of_all() -> str:
    """A hash of all files with their names: sixteen hexadecimal characters."""
    digest = blake2b(digest_size=8)
    folders = [_data()]
    for folder in folders:
        entries = sorted(folder.iterdir(), key=lambda entry: entry.name)
        folders += [entry for entry in entries if entry.is_dir()]
        for file in entries:
            if file.is_file():
                content = file.read_bytes()
                digest.update(f"{file.name}\n{len(content)}\n".encode() + content)
    return digest.hexdigest()


@lru_cache(maxsize=64)
def entries(name: str) -> tuple[str, ...]:
    """The lines of a data file, without remarks and empty ones."""
    text = text_of(name)
    return tuple(line for line in text.splitlines() if line.strip() and not line.startswith("# "))


@lru_cache(maxsize=64)
def rows(name: str) -> tuple[tuple[str, ...], ...]:
    """The rows of a table."""
    return tuple(tuple(cell.strip() for cell in line.split("\t")) for line in entries(name))


@lru_cache(maxsize=64)
def sections(name: str) -> MappingProxyType[str, tuple[str, ...]]:
    """The entries of a list by their headings."""
    sections: dict[str, list[str]] = {}
    heading = ""
    for line in entries(name):
        if line.startswith("[") and line.endswith("]"):
            heading = line[1:-1]
        else:
            sections.setdefault(heading, []).append(line)
    return MappingProxyType({heading: tuple(lines) for heading, lines in sections.items()})


@lru_cache(maxsize=64)
def words_listed(name: str, heading: str = "") -> frozenset[str]:
    """The words of a list, or of one of its sections."""
    return frozenset(word for line in sections(name).get(heading, ()) for word in line.split())
