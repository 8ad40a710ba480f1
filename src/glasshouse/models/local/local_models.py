"""`LocalModels`: the models in files that a router was asked for, or that `local` alone may mean.

Always holds: folders are looked through only if a name needs it. Which file `local` alone means depends on the files alone.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from glasshouse.errors import GlasshouseError, Refused, UnknownName
from glasshouse.installation import missing_extra
from glasshouse.models.decoding_defaults import DRY
from glasshouse.models.installed import Installed, chosen_from, why_not_chosen
from glasshouse.models.local.found_files import SUFFIX, ModelFile, file_at, files_here
from glasshouse.models.local.llama_child import LlamaChild, OnLoading, child_of, digest_known, read_digest
from glasshouse.models.local.local_model import LocalModel
from glasshouse.models.local.memory import context_that_fits, free_bytes

EXTRA: Final = "local"
unfit_shown_max: Final = 4
"""A refusal says of so many models why they are not chosen."""


class LocalModels:
    """The models in files of this machine."""

    def __init__(self, own_folder: Path, variable: Callable[[str], str], home: Path | None = None) -> None:
        self._own_folder = own_folder.expanduser()
        self._variable = variable
        self._home = home or Path.home()
        self._found: list[ModelFile] = []
        self._named: dict[str, Path] = {}
        """The paths that were given, by the names of their models: a run records only the names."""
        self._children: dict[tuple[Any, int | None], LlamaChild] = {}
        """The children of the models that were asked for, by the state of their files and the context that was asked for."""

    async def look(self, names: Collection[str]) -> list[Installed]:
        """Find the models that these names mean, and list what there is. An empty name means the best one."""
        if find_spec("xllamacpp") is None or find_spec("psutil") is None:
            raise missing_extra("Models in files need the extra `local`.", EXTRA)
        if not all(map(is_path, names)):
            self._found = await asyncio.to_thread(files_here, self._own_folder, self._variable, self._home)
        files = {file.stamps: file for file in self._found}
        for name in filter(is_path, names):
            with suppress(GlasshouseError):  # What is wrong with it is told to those who need it.
                file = self._at(name)
                files[file.stamps] = file
        return [file.installed(digest_known(file)) for file in files.values()]

    async def read_digest(self, name: str, on_loading: OnLoading | None) -> None:
        """Read the file of a model, so that its digest is known. What is wrong with it is told by `installed`."""
        try:
            file = self._playable(name)
        except GlasshouseError:
            return
        try:
            await read_digest(file, on_loading)
        except OSError as wrong:
            raise Refused(f"{file.parts[0]} cannot be read ({wrong}).", "Name another GGUF file.") from None

    def installed(self, name: str, context_tokens: int | None) -> Installed:
        """The model that a name means, with the context that it gets. Refused if it cannot play."""
        file = self._playable(name)
        room = self._child(file, context_tokens).room
        listed = file.installed(digest_known(file))
        most = context_tokens or room.context_tokens
        return replace(listed, context_tokens=most, context_tokens_unasked=room.context_tokens, decoding=DRY)

    def model(self, name: str, context_tokens: int | None, **given: Any) -> LocalModel:
        """What asks the model that a name means."""
        file = self._playable(name)
        return LocalModel(self._child(file, context_tokens), digest_known(file), **given)

    def _child(self, file: ModelFile, context_tokens: int | None) -> LlamaChild:
        key = file.stamps, context_tokens
        if key not in self._children:
            self._children[key] = child_of(
                file, lambda: context_that_fits(file, free_bytes(), context_tokens), context_tokens
            )
        return self._children[key]

    def _playable(self, name: str) -> ModelFile:
        file = self._meant(name)
        if file.problem:
            raise Refused(
                f"{file.name} {file.problem}.",
                "Take another model: `glasshouse models --models local` lists them.",
            )
        return file

    def _meant(self, name: str) -> ModelFile:
        if is_path(name):
            return self._at(name)
        by_name = {file.name: file for file in self._found}
        if name in self._named:
            return self._at(str(self._named[name]))
        if name in by_name:
            return by_name[name]
        for path in self._named.values():
            if name and (beside := path.with_name(f"{name}{SUFFIX}")).is_file():
                return self._at(str(beside))
        if name:
            raise UnknownName(
                noun="model in a file here", name=name, known=[*by_name, f"the path of a {SUFFIX} file"]
            )
        chosen = chosen_from([file.installed() for file in self._found])
        if chosen is None:
            raise self._nothing_to_choose()
        return by_name[chosen.name]

    def _nothing_to_choose(self) -> Refused:
        listed = [file.installed() for file in self._found]
        unfit = [f"{model.name} {why_not_chosen(model)}" for model in listed[:unfit_shown_max]]
        more = f", and {len(listed) - unfit_shown_max} more" if len(listed) > unfit_shown_max else ""
        reason = "No model that can play by itself was found in a file here" + (
            f" ({', '.join(unfit)}{more})." if unfit else "."
        )
        return Refused(
            reason, f"Put a {SUFFIX} file into {self._own_folder}, or name one: --models local:FILE{SUFFIX}"
        )

    def _at(self, name: str) -> ModelFile:
        file = file_at(Path(absolute(name)))
        self._named.setdefault(file.name, file.parts[0])
        return file


def is_path(name: str) -> bool:
    """Whether a text names a file rather than a model that is found."""
    return name.lower().endswith(SUFFIX) or name.startswith(("~", ".", os.sep)) or os.path.isabs(name)


def absolute(name: str) -> str:
    """The same model by an absolute path, if it is named by a path."""
    return os.path.abspath(os.path.expanduser(name)) if is_path(name) else name
