"""`ToolsFile`: tools.yaml as data. It says which servers of tools there are, and which variables they get.

Always holds: an unknown field is an error, and problems have file, line and field, as in a world's files. The file names
variables that hold keys, never a key: text that looks like a key is refused, and no message quotes it.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, model_validator

from glasshouse.errors import BadWorld
from glasshouse.manifests.fields import Items, ServerName, Strict, Texts
from glasshouse.manifests.models_file import Url, Variable, names_max, secrets_in
from glasshouse.manifests.problem import in_order
from glasshouse.manifests.validation import valid_part_of
from glasshouse.manifests.yaml_source import source_at


class UserServer(Strict):
    """A tool server: the command that starts it, or its address."""

    command: Texts = ()
    """The command that starts it, word by word. It runs in the folder of this file."""
    url: Url | None = None
    """Its address."""
    variables: Items[Variable] = ()
    """Environment variables that its command gets, beside those that every command gets."""
    headers: dict[str, Variable] = Field(default={}, max_length=names_max)
    """HTTP headers that its address gets: header -> the environment variable that holds its value."""
    seconds_max: float = Field(default=60.0, gt=0, le=600, allow_inf_nan=False)
    """How long a call may take."""

    @model_validator(mode="after")
    def _one_of_two(self) -> UserServer:  # noqa: N804 (after validation it is handed the instance)
        if bool(self.command) == bool(self.url):
            raise ValueError("write either a command or a url.")
        if self.headers if self.command else self.variables:
            raise ValueError("variables are for a command, and headers for a url.")
        return self


class ToolsFile(Strict):
    """The servers of tools, by name."""

    servers: dict[ServerName, UserServer] = Field(min_length=1, max_length=names_max)
    """The servers. A manifest grants a tool of one as `server/tool`."""


def load_tools_file(path: Path) -> ToolsFile:
    """The tools file at a path, or `BadWorld` with every problem it has."""
    source = source_at(path)
    if source.root is not None and (secrets := [*secrets_in(source.root)]):
        raise BadWorld(in_order(map(source.problem, secrets)))
    file, complaints, _, _ = valid_part_of(source, ToolsFile)
    problems = [*source.problems, *map(source.problem, complaints)]
    if problems or file is None:
        raise BadWorld(in_order(problems))
    return file
