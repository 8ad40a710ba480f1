"""`CommandLine`: commands that this program prints, and the store that they are about.

Always holds: every printed command can be pasted unchanged. It names the store if it takes one and it is not the usual one.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from glasshouse.assembly import StoreAddress
from glasshouse.cli.program import program_called
from glasshouse.errors import Refused
from glasshouse.manifests.world_folders import found_worlds
from glasshouse.settings import Settings, settings

WITHOUT_STORE: Final = frozenset({"check", "copy", "models", "new", "worlds"})
"""The commands that read no store."""


def store_path(given: str | Path | StoreAddress | None) -> StoreAddress:
    """The address of the store: `--store`, else the settings."""
    return StoreAddress(given if given is not None else checked_settings().store)


def checked_settings() -> Settings:
    """The settings, or a refusal that names the variable at fault."""
    try:
        return settings()
    except ValidationError as invalid:
        named = [("_".join(["GLASSHOUSE", *map(str, f["loc"])]).upper(), f["msg"]) for f in invalid.errors()]
        reason = f"The settings are invalid: {'; '.join(f'{name}: {fault}' for name, fault in named)}."
        raise Refused(reason, "Correct or unset the variable.") from invalid


def world_to_try() -> str:
    """The name of a world that every installation can play, for commands that are printed to be pasted."""
    return next(world.name for world in found_worlds() if world.where == "bundled")


@dataclass(frozen=True)
class CommandLine:
    """How this command line is called: its program, and the store if it is not the usual one."""

    program: str
    store: str = ""
    path: str = ""
    """The path of the store, or its address without a password."""

    @classmethod
    def on(cls, store: StoreAddress) -> CommandLine:
        """For a store."""
        is_usual = store.is_same(StoreAddress(checked_settings().store))
        return cls(program_called(), "" if is_usual else f" --store {shlex.quote(str(store))}", str(store))

    def call(self, *words: str) -> str:
        """A command as it can be pasted."""
        return f"{self.program} {shlex.join(words)}{'' if words[0] in WITHOUT_STORE else self.store}"
