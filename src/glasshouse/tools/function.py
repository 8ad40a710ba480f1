"""`Tool`: a Python function that a creature can use, and its schema for a model.

Always holds: a tool's schema is made once, from its type hints. A parameter that a schema cannot express is refused
when the tool is made, not when it is used.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Callable
from functools import update_wrapper
from inspect import Parameter, getdoc, iscoroutinefunction, signature
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Generic, Literal, ParamSpec, TypeVar, overload

from glasshouse.errors import Refused
from glasshouse.events.described_tool import LOOK_UP, RECALL
from glasshouse.events.event import Json
from glasshouse.reprs import repr_of
from glasshouse.turns.moment.tools import GROUP_PREFIX, ToolOffer

tool_seconds_max: Final = 10.0
"""A tool that takes longer has failed. A tool may set a lower bound."""
result_bytes_max: Final = 4_096
"""The maximum size of a result as text. A tool may set a lower bound."""
description_chars_max: Final = 300
"""A tool with a longer first paragraph in its docstring is refused."""

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,47}")
_PLAIN: Final[dict[Any, Json]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
}

P = ParamSpec("P")
R = TypeVar("R")


class Tool(Generic[P, R]):
    """A function with a name, a description and a schema. Calling the tool calls the function."""

    def __init__(
        self, function: Callable[P, R], name: str | None, seconds_max: float, bytes_max: int
    ) -> None:
        self.function = function
        self.name: str = name or str(getattr(function, "__name__", ""))
        _check_name(self.name)
        self.seconds_max = _bound(self.name, "seconds_max", seconds_max, tool_seconds_max)
        self.bytes_max = int(_bound(self.name, "bytes_max", bytes_max, result_bytes_max))
        self.is_async = iscoroutinefunction(function)
        self.offer = ToolOffer(self.name, _description(self.name, function), _parameters(self.name, function))
        update_wrapper(self, function)

    __repr__ = repr_of("name", "seconds_max", "bytes_max")

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        return self.function(*args, **kwargs)


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...


@overload
def tool(
    *, name: str | None = None, seconds_max: float = tool_seconds_max, bytes_max: int = result_bytes_max
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...


def tool(
    function: Callable[P, R] | None = None,
    /,
    *,
    name: str | None = None,
    seconds_max: float = tool_seconds_max,
    bytes_max: int = result_bytes_max,
) -> Tool[P, R] | Callable[[Callable[P, R]], Tool[P, R]]:
    """Make a tool from a function: its name, its docstring as description, and a schema from its type hints."""

    def made(of: Callable[P, R]) -> Tool[P, R]:
        return Tool(of, name, seconds_max, bytes_max)

    return made if function is None else made(function)


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise Refused(
            f"No tool can be called {name!r}.", "Use up to 48 lower-case letters, digits and underscores."
        )
    if name.startswith(GROUP_PREFIX):
        raise Refused(
            f"{name} would be a tool of the engine.", f"Let its name not begin with {GROUP_PREFIX}."
        )
    if name == LOOK_UP:
        raise Refused(
            f"{name} would be the tool that searches documents.", "Name it otherwise: @tool(name=...)."
        )
    if name == RECALL:
        raise Refused(
            f"{name} would be the tool that searches memory.", "Name it otherwise: @tool(name=...)."
        )


def _bound(name: str, what: str, given: float, most: float) -> float:
    if not 0 < given <= most:
        raise Refused(f"{what} of the tool {name} is {given}.", f"Give more than 0 and at most {most:g}.")
    return given


def _description(name: str, function: Callable[..., Any]) -> str:
    """The first paragraph of a function's docstring, on one line."""
    description = " ".join((getdoc(function) or "").partition("\n\n")[0].split())
    if not description:
        raise Refused(f"The tool {name} says nothing about itself.", "Give it a docstring of one sentence.")
    if len(description) > description_chars_max:
        raise Refused(
            f"The tool {name} says {len(description)} characters about itself.",
            f"Let the first paragraph of its docstring have at most {description_chars_max}.",
        )
    return description


def _parameters(name: str, function: Callable[..., Any]) -> Json:
    hints = typing.get_type_hints(function, include_extras=True)
    properties: Json = {}
    required: list[str] = []
    for parameter in signature(function).parameters.values():
        if parameter.kind not in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY):
            raise Refused(f"The tool {name} takes {parameter}.", "Give each parameter a name of its own.")
        properties[parameter.name] = _schema(name, parameter.name, hints.get(parameter.name, parameter.empty))
        if parameter.default is Parameter.empty:
            required.append(parameter.name)
    return {"type": "object", "properties": properties, "required": required}


def _schema(tool_name: str, name: str, hint: Any) -> Json:
    if hint in _PLAIN:
        return dict(_PLAIN[hint])
    origin = typing.get_origin(hint)
    parts = typing.get_args(hint)
    if origin is Annotated:
        schema = _schema(tool_name, name, parts[0])
        descriptions = [part for part in parts[1:] if isinstance(part, str)]
        return {**schema, "description": descriptions[0]} if descriptions else schema
    if origin is Literal and all(isinstance(part, str | int) for part in parts):
        return {"enum": list(parts)}
    if origin is list and len(parts) == 1:
        return {"type": "array", "items": _schema(tool_name, name, parts[0])}
    if origin in (typing.Union, UnionType) and NoneType in parts and len(parts) == 2:
        return _schema(tool_name, name, next(part for part in parts if part is not NoneType))
    raise Refused(
        f"The tool {tool_name} takes {name!r} as {'nothing that is told' if hint is Parameter.empty else hint}.",
        "Let it be str, int, float, bool, a Literal, or a list of one of these.",
    )
