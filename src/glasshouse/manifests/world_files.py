"""The files of a world, listed in one place: what is packed and saved, and what tells whether a world has changed.

Always holds: only files under the world's folder are listed, each once, by its path from there. Files that merely lie beside a
world, such as drafts, are not part of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from glasshouse.manifests.likeness import completed
from glasshouse.manifests.loading import LoadedWorld, text_files_of
from glasshouse.manifests.world_folders import folder_of, script_file_of
from glasshouse.manifests.yaml_source import source_at

NOTES: Final = ("README*", "LICENSE*", "LICENCE*")
"""What readers of a folder expect beside a world."""


class WorldFiles(NamedTuple):
    """The files of a world by what they are for, each by its path from the world's folder."""

    texts: tuple[str, ...]
    """The scenario, then the creatures."""
    decks: tuple[str, ...]
    """What may be dealt."""
    documents: tuple[str, ...]
    """What creatures may look things up in."""
    scripts: tuple[str, ...]
    """What the offline troupe says in it."""
    code: tuple[str, ...]
    """Python files of its referee and its tools."""
    server_files: tuple[str, ...]
    """Files that its tool servers are started with, and the Python files beside them, which they may import."""
    notes: tuple[str, ...]
    """What people read before they play it."""

    @property
    def beside(self) -> tuple[str, ...]:
        """What a play may read and loading does not keep: documents, scripts and code."""
        return tuple(sorted({*self.documents, *self.scripts, *self.code, *self.server_files}))

    @property
    def saved(self) -> tuple[str, ...]:
        """What a copy of the world needs beside its texts, which may have been edited."""
        return tuple(sorted({*self.decks, *self.beside}))

    @property
    def packed(self) -> tuple[str, ...]:
        """Everything: what somebody else needs to play it, and to know what it is."""
        return tuple(sorted({*self.texts, *self.saved, *self.notes}))


def code_named(world: LoadedWorld) -> list[str]:
    """The code beside a world that it names, as `file.py:function`: its referee's and its tools'."""
    referee = world.scenario.competition.referee or ""
    named = [referee, *(tool for manifest in world.manifests.values() for tool in manifest.tools)]
    return [reference for reference in dict.fromkeys(named) if ":" in reference]


def files_of(world: LoadedWorld) -> WorldFiles:
    """The files of a world that was loaded from files; none of any sort if it was not."""
    if world.path is None:
        return WorldFiles((), (), (), (), (), (), ())
    folder = folder_of(world.path)
    plans = world.scenario.tool_servers.values()
    decks = [deal.source for deal in world.scenario.deal.values() if isinstance(deal.source, str)]
    servers = _there(folder, [word for plan in plans for word in plan.command])
    if any(file.endswith(".py") for file in servers):
        servers = _matching(folder, ("*.py", *servers))
    # A scenario of its own may share its folder with anything.
    is_own_folder = world.path.is_dir()
    return WorldFiles(
        tuple(text_files_of(world.path)) if is_own_folder else _texts_named(world),
        _there(folder, decks),
        tuple(path for path in world.documents if (folder / path).is_file()),
        _there(folder, [script_file_of(world.path).name]),
        _there(folder, [reference.partition(":")[0] for reference in code_named(world)]),
        servers,
        _matching(folder, NOTES) if is_own_folder else (),
    )


def _texts_named(world: LoadedWorld) -> tuple[str, ...]:
    """The scenario of a file of its own, the creatures that it plays, and those that they are like."""
    assert world.path is not None, "it was read from files"
    files = text_files_of(world.path)
    scenario, *creatures = files
    paths = {Path(name).stem: files[name] for name in creatures}
    names = {*world.manifests}
    for name in world.manifests:
        names |= {*completed(source_at(paths[name]), name, paths, source_at).chain}
    return scenario, *(name for name in creatures if Path(name).stem in names)


def _there(folder: Path, names: list[str]) -> tuple[str, ...]:
    """Those of these names that are files right beside the scenario. A word of a command may be anything else."""
    beside = [name for name in dict.fromkeys(names) if name and Path(name).name == name]
    return tuple(name for name in beside if (folder / name).is_file())


def _matching(folder: Path, patterns: tuple[str, ...]) -> tuple[str, ...]:
    """The files right beside the scenario that a pattern means, by name."""
    names = {path.name for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    return tuple(sorted(names))
