"""`CheckedWorld`: a world as the checks see it.

Always holds: `scenario` is valid by itself. `damaged` names the top-level fields that lost an invalid part; a check that
needs such a field reports nothing. Python files beside the world are parsed, never executed.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from glasshouse.events.described_tool import is_of_server, server_of
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.problem import At, items_at, likely, shown, unknown
from glasshouse.manifests.scenario import CastEntry, Scenario, Troupe
from glasshouse.manifests.yaml_source import yaml_bytes_max

DEALS_OF_REFEREES = {"names_the_word": "word"}
"""The built-in referees, and the deal that each of them needs."""
BUILT_IN_REFEREES = frozenset(DEALS_OF_REFEREES)


@dataclass(frozen=True)
class CheckedWorld:
    """Everything a check may look at."""

    scenario: Scenario
    manifests: Mapping[str, Manifest]
    known: Collection[str]
    """Every creature that has a file, also if the file is invalid."""
    damaged: frozenset[str] = frozenset()
    folder: Path | None = None
    tools: frozenset[str] | None = None
    """The tools that can be granted by name. None: unknown, so names of tools are not checked."""

    @property
    def cast_is_complete(self) -> bool:
        """Whether the whole cast was valid, so that a name not found in it is wrong."""
        return not self.damaged & {"cast", "troupes", "root"}

    @property
    def troupes(self) -> list[tuple[At, Troupe]]:
        """Each cast as written, and where."""
        has_troupes = bool(self.scenario.troupes)
        return [(("troupes", n) if has_troupes else (), troupe) for n, troupe in self.scenario.casts.items()]

    @property
    def entries(self) -> list[tuple[At, CastEntry]]:
        """All cast entries as written, and where."""
        return [entry for at, troupe in self.troupes for entry in items_at((*at, "cast"), troupe.cast)]

    @property
    def used(self) -> tuple[str, ...]:
        """The creatures that play or may be spawned, each once."""
        return tuple(dict.fromkeys([*self.scenario.cast_by_handle.values(), *self.scenario.spawnable]))

    @property
    def played(self) -> dict[str, Manifest]:
        """The valid manifests of the creatures that play or may be spawned."""
        return {name: self.manifests[name] for name in self.used if name in self.manifests}

    def fault_of_reference(
        self, noun: Literal["referee", "tool"], reference: str, known: frozenset[str]
    ) -> str | None:
        """What is wrong with a referee or a tool: a name among `known`, or a function beside the world as `file.py:function`."""
        if reference in known:
            return None
        if noun == "tool" and is_of_server(reference):
            servers = sorted([*self.scenario.tool_servers, *map(server_of, filter(is_of_server, known))])
            wrong = server_of(reference) not in servers
            return unknown("tool server", server_of(reference), servers) if wrong else None
        if ":" not in reference:
            return f"{unknown(noun, reference, sorted(known))} Your own is 'file.py:function'."
        file, _, function = reference.partition(":")
        if not file.endswith(".py") or "/" in file or "\\" in file or not function.isidentifier():
            text = f"{reference!r} is not a {noun}."
            return f"{text} Write 'file.py:function', with the file beside the scenario."
        try:
            if self.folder is None:
                raise FileNotFoundError(file)
            with (self.folder / file).open("rb") as opened:
                tree = ast.parse(opened.read(yaml_bytes_max))
        except SyntaxError as fault:
            return f"{file} is not valid Python: line {fault.lineno or 1}, {fault.msg}. Correct it."
        except OSError:
            return f"there is no readable file {shown(file)} beside the scenario."
        except (ValueError, RecursionError, MemoryError):
            return f"{file} is not valid Python: it cannot be parsed. Correct it."
        # A tool may be async; a referee is a plain function.
        sorts = (ast.FunctionDef, ast.AsyncFunctionDef) if noun == "tool" else (ast.FunctionDef,)
        functions = {node.name: node for node in tree.body if isinstance(node, sorts)}
        if function in functions:
            return _fault_of_tool(file, functions[function]) if noun == "tool" else None
        sort = "function" if noun == "tool" else "plain function"
        return f"{file} has no {sort} {function!r}. {likely(function, functions)}"


_NEVER_DESCRIBED = frozenset({"Any", "bytes", "complex", "dict", "object", "set", "tuple"})
"""Names of types that no schema of a tool can say."""


def _fault_of_tool(file: str, function: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    """Why a function could not be described to a model, as far as its source tells."""
    tool = f"{file}:{function.name}"
    takes = function.args
    if not ast.get_docstring(function):
        return f"{tool} says nothing about itself. Give it a docstring of one sentence."
    if nameless := [*takes.posonlyargs, *filter(None, (takes.vararg, takes.kwarg))]:
        return f"{tool} takes {nameless[0].arg!r} without a name. Give each parameter a name of its own."
    for parameter in (*takes.args, *takes.kwonlyargs):
        hint = parameter.annotation
        if hint is None or (isinstance(hint, ast.Name) and hint.id in _NEVER_DESCRIBED):
            sort = "a type" if hint is None else "another type"
            types = "str, int, float, bool, a Literal, or a list of one of these"
            return f"{tool} cannot be described: give {parameter.arg!r} {sort}: {types}."
    return None
