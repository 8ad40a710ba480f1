"""What the program offers, asked of the program itself: kinds, errors, commands, options, bounds, fields of files.

Always holds: nothing is listed here by hand, so that something new which nobody wrote down is noticed.
"""

import ast
import importlib
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from types import ModuleType
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from glasshouse.manifests.editor_schema import MAY_BE_LEFT_OUT
from tests.pages import ROOT

_LIMIT = re.compile(r"^(?:max|min)_|_(?:max|min|seconds|tokens)$|budget_")
"""How a limit that can be set is named. `min_p` is none: it tells a model how to choose its words."""


def kinds_of(module: ModuleType) -> set[str]:
    constants = {value for name, value in vars(module).items() if name.isupper() and isinstance(value, str)}
    return {value for value in constants if re.fullmatch(r"[a-z_]+(?:\.[a-z_]+)+", value)}


def errors_of(module: ModuleType) -> set[str]:
    return {
        name
        for name, value in inspect.getmembers(module, inspect.isclass)
        if issubclass(value, BaseException)
        and value.__module__ == module.__name__
        and not name.startswith("_")
    }


def commands_of(command: Any, words: str) -> Iterator[str]:
    """Every command one can type, groups first: the tree that the command line itself is built from."""
    for name, child in getattr(command, "commands", {}).items():
        if not child.hidden:
            yield f"{words} {name}"
            yield from commands_of(child, f"{words} {name}")


def options_of(command: Any) -> set[str]:
    """Every long option of a command and of those under it."""
    own = {name for parameter in command.params for name in parameter.opts if name.startswith("--")}
    return own.union(*(options_of(child) for child in getattr(command, "commands", {}).values()))


def fields_of(kind_of_value: type) -> set[str]:
    """The public fields of a msgspec struct, a dataclass or a pydantic model."""
    named = getattr(kind_of_value, "model_fields", None) or inspect.get_annotations(kind_of_value)
    return {name for name in named if not name.startswith("_") and name != "model_config"}


def bounds_in(source: str) -> set[str]:
    """The names of a module's bounds: constants that end in `_max` or `_min`."""
    targets = [
        target
        for node in ast.parse(source).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    ]
    return {t.id for t in targets if isinstance(t, ast.Name) and re.search(r"_(?:max|min)$", t.id)}


def bounds_without_reason(source: str) -> set[str]:
    """A module's bounds that neither a text below nor a comment above or beside them explains."""
    body, lines = ast.parse(source).body, source.splitlines()
    unexplained = set[str]()
    for node, following in zip(body, [*body[1:], None], strict=True):
        has_text = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
        above = lines[node.lineno - 2] if node.lineno > 1 else ""
        beside = lines[(node.end_lineno or node.lineno) - 1]
        if not has_text and not above.startswith("#") and "  # " not in beside:
            unexplained |= bounds_in(ast.unparse(node))
    return unexplained


def limits_that_can_be_set(
    models: Iterable[type[BaseModel]], calls: Iterable[Callable[..., Any]]
) -> set[tuple[str, str]]:
    """Every limit that a file, the environment or a call may give: its name, and its default as the docs write it."""
    fields = [field for model in models for field in fields_and_defaults(model)]
    parameters = [parameter for call in calls for parameter in inspect.signature(call).parameters.values()]
    fields += [(parameter.name, f"`{parameter.default!r}`") for parameter in parameters]
    return {(name, default) for name, default in fields if _LIMIT.search(name) and name != "min_p"}


@cache
def bounds_of_program() -> set[tuple[str, str, str]]:
    """Every bound as its name, its value as the docs write it, and the file it stands in."""
    bounds = set()
    for path in sorted((ROOT / "src/glasshouse").rglob("*.py")):
        path_inside = path.relative_to(ROOT / "src/glasshouse")
        module = ".".join(("glasshouse", *path_inside.with_suffix("").parts)).removesuffix(".__init__")
        for name in bounds_in(path.read_text(encoding="utf-8")):
            value: int | float = getattr(importlib.import_module(module), name)
            bounds.add((name, f"{value:,}", str(path_inside)))
    return bounds


def groups_of_methods(owner: type) -> dict[str, list[str]]:
    """The public methods and properties of a class by the comment that they stand under, in the order of the source."""
    groups: dict[str, list[str]] = {}
    heading = ""
    for line in inspect.getsource(owner).splitlines():
        if comment := re.fullmatch(r"    # (.+)", line):
            heading = comment[1]
        elif method := re.match(r"    (?:async )?def ([a-z]\w*)\(", line):
            groups.setdefault(heading, []).append(method[1])
    return groups


def parameters_of(call: Callable[..., Any]) -> str:
    """The parameters of a call as the docs write them, without `self`."""
    parts, is_named = [], False
    for parameter in inspect.signature(call).parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not is_named:
            parts.append("*")
            is_named = True
        star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
        is_named = is_named or bool(star)
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}".replace("'", '"')
        parts.append(f"{star}{parameter.name}{default}")
    return ", ".join(parts)


def names_read() -> set[str]:
    """Every name that some module of the program reads."""
    names: set[str] = set()
    for path in (ROOT / "src/glasshouse").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute):
                names.add(node.attr)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                names.add(node.id)
    return names


def models_within(
    model: type[BaseModel], at: str = "", known: dict[type[BaseModel], str] | None = None
) -> dict[type[BaseModel], str]:
    """A model and every model in its fields, each with the dotted name of the field where it stands first."""
    models = {} if known is None else known
    if model not in models:
        models[model] = at
        for name, field in model.model_fields.items():
            for inner in models_named(field.annotation):
                models_within(inner, f"{at}.{name}".lstrip("."), models)
    return models


def models_named(annotation: Any) -> list[type[BaseModel]]:
    """The models that a type is made of."""
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in models_named(part)]


def fields_and_defaults(model: type[BaseModel]) -> list[tuple[str, str]]:
    """The fields of a model as files write them, each with its default as the docs tell it."""
    left_out = MAY_BE_LEFT_OUT.get(model)
    return [
        (field.alias or name, "its files'" if name == left_out else default_told(field))
        for name, field in model.model_fields.items()
    ]


def default_told(field: FieldInfo) -> str:
    """The default of a field in the words of the docs."""
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True, validated_data={})
    if value is None:
        return "none"
    if isinstance(value, BaseModel):
        return "its own"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple) and value:
        return f"`[{', '.join(value)}]`"
    return f"`{value}`" if value or isinstance(value, int) else "empty"
