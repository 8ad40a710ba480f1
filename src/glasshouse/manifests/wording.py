"""What a schema finds wrong with data, in words.

Always holds: no word of the validation library is shown. An unknown field names the likely meant one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError

from glasshouse.manifests.problem import At, Complaint, likely, shown

rounds_max = 8

M = TypeVar("M", bound=BaseModel)

_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping of names to values",
    "model_type": "a mapping of fields",
}

_BOUNDS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "string_too_long": lambda told: f"this text is too long. At most {told['max_length']:,} characters fit.",
    "string_too_short": lambda _: "this text is empty. Write some.",
    "too_long": lambda told: f"there are {told['actual_length']} items. At most {told['max_length']} fit.",
    "too_short": lambda _: "this is empty. Write at least one item.",
    "greater_than_equal": lambda told: f"this is too small. Write {told['ge']} or more.",
    "greater_than": lambda told: f"this is too small. Write more than {told['gt']}.",
    "less_than_equal": lambda told: f"this is too large. Write {told['le']:,} or less.",
    "finite_number": lambda _: "this is no number that can be kept. Write another.",
}


def complaints_from(fault: ValidationError, model: type[BaseModel]) -> list[Complaint]:
    """Everything a model finds wrong, each at its field."""
    return [_complaint(dict(error), model) for error in fault.errors(include_url=False)]


def sound_part_of(
    cut: Callable[[At | None], Any], model: type[M], filler: Mapping[str, Any]
) -> tuple[M | None, list[Complaint], set[str]]:
    """What of the data holds: a model of it if one can be made, what is wrong, and which top fields lost something.

    `cut(None)` gives the data; `cut(at)` takes the field at that place out, for good, and gives the rest. A missing
    field that `filler` has is taken from there, so that the others can still be looked at.
    """
    plain, hurt = cut(None), set[str]()
    first: list[Complaint] | None = None
    for _ in range(rounds_max):
        try:
            return model.model_validate(plain), first or [], hurt
        except ValidationError as fault:
            first = complaints_from(fault, model) if first is None else first
            faults = {(error["type"], _at(error["loc"])) for error in fault.errors(include_url=False)}
        cuts = {
            _cut(kind, at)
            for kind, at in faults
            if not (kind == "missing" and at[0] in filler and len(at) == 1)
        }
        if () in cuts:
            break
        for at in _from_the_end(cuts):
            plain = cut(at)
        hurt |= {str(at[0]) for at in cuts}
        plain = {**filler, **plain}
    return None, first or [], hurt


def _from_the_end(cuts: set[At]) -> list[At]:
    """Cuts in such an order that none moves the place of a later one: of two items in one list, the latter first."""
    return sorted(cuts, key=lambda at: [part if isinstance(part, int) else 0 for part in at], reverse=True)


def _cut(kind: str, at: At) -> At:
    return at[:-1] if kind == "missing" else at


def _at(loc: At) -> At:
    return tuple(part for part in loc if part != "[key]")


def _complaint(error: dict[str, Any], model: type[BaseModel]) -> Complaint:
    at, kind = _at(error["loc"]), error["type"]
    if kind == "extra_forbidden":
        known = _known_fields(model, at[:-1])
        return Complaint(at, f"there is no such field. {likely(str(at[-1]), known)}", at_key=True)
    if kind == "missing":
        return Complaint(at, "this field is missing. Write it.")
    return Complaint(at, _words(kind, error), at_key="[key]" in error["loc"])


def _words(kind: str, error: dict[str, Any]) -> str:
    given, told = error.get("input"), error.get("ctx", {})
    if kind in _WANTED:
        return f"this should be {_WANTED[kind]}, not {_named(given)}."
    if kind in _BOUNDS:
        return _BOUNDS[kind](told)
    if kind == "literal_error":
        return _not_one_of(given, told["expected"])
    if kind == "value_error":
        return str(told["error"])
    return f"{shown(given)} cannot stand here. Look the field up in the reference of worlds."


def _not_one_of(given: object, expected: str) -> str:
    words = [word.strip("' ") for word in expected.replace(" or ", ",").split(",")]
    if not isinstance(given, str):
        return f"this should be one of {', '.join(words)}, not {_named(given)}."
    return f"{shown(given)} is not one of {', '.join(words)}. {likely(given, words)}".removesuffix(
        f" There is {', '.join(words)}."
    )


def _named(given: object) -> str:
    if given is None:
        return "empty"
    if isinstance(given, dict):
        return "a mapping"
    if isinstance(given, list | tuple):
        return "a list"
    if isinstance(given, bool):
        return "true" if given else "false"
    return f"the text {shown(given)}" if isinstance(given, str) else f"the number {shown(given)}"


def _known_fields(model: type[BaseModel], at: At) -> list[str]:
    """The names of the fields that may stand at a place of a model's data."""
    found: Any = model
    for part in at:
        found = _inner(found, part)
    found = _model_in(found)
    if found is None:
        return []
    return [field.alias or name for name, field in found.model_fields.items()]


def _inner(annotation: Any, part: str | int) -> Any:
    model = _model_in(annotation)
    if model is not None:
        fields = {field.alias or name: field for name, field in model.model_fields.items()}
        return fields[str(part)].annotation if str(part) in fields else None
    for candidate in _unfolded(annotation):
        if get_origin(candidate) is dict:
            return get_args(candidate)[1]
        if get_origin(candidate) is tuple:
            return get_args(candidate)[0]
    return None


def _model_in(annotation: Any) -> type[BaseModel] | None:
    for candidate in _unfolded(annotation):
        if isinstance(candidate, type) and issubclass(candidate, BaseModel):
            return candidate
    return None


def _unfolded(annotation: Any) -> list[Any]:
    """An annotation without what is only said about it: the alternatives of a union, each by itself."""
    if get_origin(annotation) in {dict, tuple} or isinstance(annotation, type):
        return [annotation]
    if hasattr(annotation, "__metadata__"):
        return _unfolded(annotation.__origin__)
    return [inner for argument in get_args(annotation) for inner in _unfolded(argument)]
