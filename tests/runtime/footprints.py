"""Which functions of the engine are called while something happens, for pages that tell a walk by their names.

    with Footprints() as footprints:
        ...
        footprints.is_noting = True
        await t.step_one()

A walk on a page is a table whose rows name a file and a function: `| `runtime/stage.py` | `Stage.step_one` | … |`.
"""

from __future__ import annotations

import inspect
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import NamedTuple, Self

import glasshouse

SOURCE = Path(glasshouse.__file__).parent
DOCS = Path(__file__).resolve().parents[2] / "docs"
_ROW = re.compile(r"^\| `([\w/]+\.py)` \| `([\w.<>]+)` \| (.*) \|$", re.MULTILINE)


class Function(NamedTuple):
    """A function of the engine: its file, and its name with its class."""

    module: str
    name: str


class Footprints:
    """Notes each call of a function of the engine, in this thread and in those begun meanwhile."""

    def __init__(self, watched: Iterable[Function] = ()) -> None:
        self.calls: list[Function] = []
        """In order. A coroutine that goes on counts as called again."""
        self.chains: dict[Function, list[Function]] = {}
        """Of each function watched: what was under way when it was first called, the outermost first."""
        self.is_noting = False
        self._watched = frozenset(watched)
        self._prefix = f"{SOURCE}/"

    @property
    def functions(self) -> list[Function]:
        """Every function that has a name, in the order of its first call."""
        return [function for function in dict.fromkeys(self.calls) if "<" not in function.name]

    @property
    def modules(self) -> set[str]:
        return {function.module for function in self.calls}

    def __enter__(self) -> Self:
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _note(self, frame: FrameType, what: str, _value: object) -> None:
        if not self.is_noting or what != "call" or not frame.f_code.co_filename.startswith(self._prefix):
            return
        if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            return  # The body of a module or a class: something was imported.
        function = self._function(frame)
        self.calls.append(function)
        if function in self._watched and function not in self.chains:
            self.chains[function] = [*self._under_way(frame.f_back)][::-1]

    def _under_way(self, frame: FrameType | None) -> Iterator[Function]:
        while frame is not None:
            yield self._function(frame)
            frame = frame.f_back

    def _function(self, frame: FrameType) -> Function:
        return Function(frame.f_code.co_filename.removeprefix(self._prefix), frame.f_code.co_qualname)


def section(page: str, heading: str) -> str:
    """The text under a heading of a page of the docs."""
    _, _, rest = (DOCS / page).read_text(encoding="utf-8").partition(f"## {heading}\n")
    return rest.partition("\n## ")[0]


def functions_told(text: str) -> dict[Function, str]:
    """The functions that a text tells of, in its order, each with its sentence."""
    return {Function(module, name): sentence for module, name, sentence in _ROW.findall(text)}


def as_rows(functions: Iterable[Function], sentences: Mapping[Function, str]) -> str:
    """The rows to paste into a page. A function that moved keeps its sentence; a new one has none yet."""
    by_name = {function.name: sentence for function, sentence in sentences.items()}
    return "\n".join(
        f"| `{module}` | `{name}` | {by_name.get(name, '(write what it does)')} |"
        for module, name in functions
    )


def not_called_in_order(wanted: Sequence[Function], calls: Iterable[Function]) -> list[Function]:
    """Those functions that are left over when the calls are followed in order."""
    left = [*wanted]
    for call in calls:
        if left and call == left[0]:
            del left[0]
    return left
