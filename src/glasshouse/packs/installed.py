"""Worlds in the user's data folder: installed in one step, replaced in one step, removed in one step.

    worlds/
      mystery -> .kept/mystery.k3v9x1      what is found by its name
      .kept/mystery.k3v9x1/                its files, and .origin.json: where they came from
      .lock                                who installs, holds it

Always holds: a name leads to a whole world, the old one or the new one, whenever a process is killed; what nothing leads to is
swept away by the next command. Nothing outside this folder is written or removed.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from glasshouse.errors import Refused, UnknownName
from glasshouse.manifests.world_folders import is_bundled, worlds_in
from glasshouse.packs.origin import Origin, write_origin
from glasshouse.packs.packing import write_files
from glasshouse.user_folders import worlds_folder

_KEPT: Final = ".kept"


def installed_world(name: str) -> Path | None:
    """The folder of an installed world; None if there is none of this name."""
    world = worlds_folder() / name
    return world if os.path.lexists(world) else None


def install(name: str, files: Mapping[str, bytes], origin: Origin) -> Path:
    """Install a world that was checked, in place of the one of this name, and return its path."""
    if is_bundled(name):
        raise Refused(f"A world called {name!r} comes with Glasshouse.", "Ask its author for another name.")
    folder = worlds_folder()
    with _locked(folder):
        world = folder / name
        if os.path.lexists(world) and not world.is_symlink():
            raise Refused(f"{world} was not installed by this command.", "Move it away, then try again.")
        made = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=folder / _KEPT))
        made.chmod(0o755)
        write_files(made / name, files)
        write_origin(made / name, origin)
        _sync(made)
        link = made / "link"
        link.symlink_to(Path(_KEPT) / made.name / name, target_is_directory=True)
        os.replace(link, world)
        _sync_folder(folder)
        _sweep(folder)
    return world


def remove(name: str) -> None:
    """Remove an installed world."""
    folder = worlds_folder()
    known = [world.name for world in worlds_in(folder)]
    if installed_world(name) is None or "/" in name:
        raise UnknownName(noun="installed world", name=name, known=known)
    with _locked(folder):
        world = folder / name
        if not world.is_symlink():
            raise Refused(f"{world} was not installed by this command.", "Remove it yourself.")
        world.unlink()
        _sync_folder(folder)
        _sweep(folder)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder, so that two commands do not change it at once. What a killed one has left goes first."""
    try:
        (folder / _KEPT).mkdir(parents=True, exist_ok=True)
        with (folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            _sweep(folder)
            yield
    except OSError as wrong:
        raise Refused(
            f"{folder} cannot be written ({wrong.strerror}).",
            "Make it writable, or name another folder with GLASSHOUSE_WORLDS_FOLDER.",
        ) from wrong


def _sweep(folder: Path) -> None:
    """Remove what no name leads to."""
    links = [path.readlink() for path in folder.iterdir() if path.is_symlink()]
    needed = {link.parts[1] for link in links if len(link.parts) > 1 and link.parts[0] == _KEPT}
    for path in (folder / _KEPT).iterdir():
        if path.name not in needed and not path.is_symlink() and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)


def _sync(folder: Path) -> None:
    """Wait until everything in a folder would survive a power cut."""
    for here, _, names in os.walk(folder):
        for name in names:
            with (Path(here) / name).open("rb") as file:
                os.fsync(file.fileno())
        _sync_folder(Path(here))


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
