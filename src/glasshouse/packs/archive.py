"""A pack: the files of one world in one file, which is a ZIP archive.

Always holds: the same files are the same bytes, whatever machine, Python or time packs them: names sorted, nothing compressed,
no times, no owners. What is read is checked whole and in memory before any of it reaches a disk, and never grows beyond the bounds,
whatever the archive claims.
"""

from __future__ import annotations

import stat
import struct
import zipfile
import zlib
from collections.abc import Mapping
from io import BytesIO
from typing import Final

from glasshouse.errors import Refused, in_brief
from glasshouse.packs.paths import check_paths

PACK_ENDING: Final = ".world.zip"
files_max: Final = 500
"""More files of a shared world are refused."""
world_bytes_max: Final = 8 * 1_048_576
"""Files that are larger together are refused, unpacked: they are held in memory until they are checked."""
pack_bytes_max: Final = world_bytes_max + 1_048_576
"""A larger pack is not read: the names of all files fit into one mebibyte."""

_STORED: Final = (1980, 1, 1, 0, 0, 0)
"""The earliest time that the format knows: it stands for none."""
_UNIX: Final = 3
_MODE: Final = stat.S_IFREG | 0o644
_ENCRYPTED: Final = 0x1


def packed(name: str, files: Mapping[str, bytes]) -> bytes:
    """The pack of a world of this name."""
    check_files(files)
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(files):
            entry = zipfile.ZipInfo(f"{name}/{path}", _STORED)
            entry.create_system = _UNIX
            entry.external_attr = _MODE << 16
            archive.writestr(entry, files[path])
    return buffer.getvalue()


def check_files(files: Mapping[str, bytes]) -> None:
    """Refuse files that are too many or too large together, or that have names which are not safe."""
    check_paths(files)
    _check_count(len(files))
    _check_bytes(sum(map(len, files.values())))


def unpacked(content: bytes) -> dict[str, bytes]:
    """The files of an archive by their names in it. `Refused` says what is wrong with it."""
    if len(content) > pack_bytes_max:
        raise Refused(f"The file has more than {pack_bytes_max:,} bytes.", "A packed world is smaller.")
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            entries = [entry for entry in archive.infolist() if not _is_folder(entry)]
            _check_count(len(entries))
            for entry in entries:
                _check_sort(entry)
            # Names first: two entries of one name must not hide one another.
            check_paths(entry.filename for entry in entries)
            return _read(archive, entries)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error) as wrong:
        raise Refused("This is no sound ZIP archive.", "Ask for the file again.") from wrong
    except (
        EOFError,
        ValueError,
        OverflowError,
        RuntimeError,
        OSError,
        struct.error,
    ) as wrong:
        raise Refused(
            "This archive cannot be read.", "Pack the world again: glasshouse worlds pack WORLD."
        ) from wrong


def _is_folder(entry: zipfile.ZipInfo) -> bool:
    """Whether an entry only says that there is a folder. Folders are made as files need them."""
    return (
        entry.filename.endswith("/")
        and entry.file_size == 0
        and stat.S_IFMT(entry.external_attr >> 16)
        in (
            0,
            stat.S_IFDIR,
        )
    )


def _check_sort(entry: zipfile.ZipInfo) -> None:
    """Refuse what is not a plain file: links, devices, and what somebody has encrypted."""
    # The library cuts a name at a zero byte and turns backslashes round: the name as it stands in the archive decides.
    name = entry.orig_filename
    sort = stat.S_IFMT(entry.external_attr >> 16)
    if sort not in (0, stat.S_IFREG):
        noun = "a link" if sort == stat.S_IFLNK else "no plain file"
        raise Refused(f"{in_brief(name)} is {noun}.", "A shared world has plain files only.")
    if entry.flag_bits & _ENCRYPTED:
        raise Refused(f"{in_brief(name)} is encrypted.", "Pack the world without a password.")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Refused(
            f"{in_brief(name)} is compressed in an unusual way.",
            "Pack it again: glasshouse worlds pack WORLD.",
        )
    if name != entry.filename:
        check_paths([name])


def _read(archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo]) -> dict[str, bytes]:
    """The content of entries. An entry may claim any size, so that what comes out is counted."""
    files: dict[str, bytes] = {}
    room = world_bytes_max
    for entry in entries:
        with archive.open(entry) as opened:
            files[entry.filename] = opened.read(room + 1)
        room -= len(files[entry.filename])
        _check_bytes(world_bytes_max - room)
    return files


def _check_count(count: int) -> None:
    if count > files_max:
        raise Refused(f"There are more than {files_max} files.", "Leave out what the world does not need.")


def _check_bytes(count: int) -> None:
    if count > world_bytes_max:
        raise Refused(
            f"The files have more than {world_bytes_max:,} bytes together.",
            "Leave out what the world does not need.",
        )
