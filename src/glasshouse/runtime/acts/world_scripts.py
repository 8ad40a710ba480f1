"""`WorldScripts`: the script of the world that a run plays, for models that play from one.

Always holds: a script is that of the very world that a run was opened from, known by the digest of all that was loaded. A run of an
earlier session has the script that lies beside its world now.
"""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import Final, NamedTuple

from glasshouse.errors import Refused
from glasshouse.runtime.minds.code_beside import path_beside
from glasshouse.scripts.script_text import script_of

worlds_kept_max: Final = 256
"""The scripts of more worlds are forgotten, the one that was used longest ago first. It is read again if it is in a file."""


class PlayedWorld(NamedTuple):
    """The world of a run."""

    digest: str
    """Of all that was loaded; empty for a run without a world."""
    path: str | None
    """Where it was loaded from: a folder or a scenario file."""
    name: str


class WorldScripts:
    """The scripts of the worlds that play in one house, by the digests of these worlds."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, str | None] = OrderedDict()

    def keep(self, scenario_digest: str, script: str | None) -> None:
        """Play this script, or none, in runs that are opened from a world that was loaded."""
        self._kept[scenario_digest] = script
        self._kept.move_to_end(scenario_digest)
        while len(self._kept) > worlds_kept_max:
            self._kept.popitem(last=False)

    def script_of(self, world: PlayedWorld) -> str | None:
        """The script of a world. One that was loaded elsewhere is read where its run was opened from, else by its name."""
        if not world.digest:
            return None
        if world.digest not in self._kept:
            self.keep(world.digest, _script_beside(world))
        self._kept.move_to_end(world.digest)
        return self._kept[world.digest]


def _script_beside(world: PlayedWorld) -> str | None:
    """The script that lies beside a world now; none if there is none, or none that can be played."""
    # Imported here: few programs continue a run of an earlier session.
    from glasshouse.manifests.scripts import NoScript, read_script_file
    from glasshouse.manifests.world_folders import find_world, script_file_of

    if world.path is None:
        return None  # It was made in a program that is gone.
    try:
        file = path_beside(world.path, script_file_of(Path(world.path)).name)
        if not file.parent.is_dir():
            # The world is not where it was: on another machine, bundled worlds have other paths.
            file = script_file_of(find_world(world.name))
        text = read_script_file(file)
        return None if text is None or script_of(text) is None else text
    except (NoScript, Refused, OSError):
        return None
