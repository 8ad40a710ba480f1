"""What pydantic finds wrong with data, in our words.

Always holds: no message of the validation library is shown. An unknown field names the field that was probably meant.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from glasshouse.manifests.field_words import field_meant
from glasshouse.manifests.problem import At, Complaint, likely, shown
from glasshouse.manifests.yaml_source import Source

rounds_max = 8
"""Invalid fields are cut out this often to check the rest of a file; then only the problems found so far
are reported."""

M = TypeVar("M", bound=BaseModel)

_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping of names to values",
    "model_type": "a mapping of fields",
}

_SORTS = {type(None): "empty", dict: "a mapping", list: "a list", tuple: "a list"}

EMPTY: Final = "this is empty. Write at least one item."
"""What is said of a list without an item."""

_TEXTS = {
    "missing": "this field is missing. Write it.",
    "value_error": "{error}",
    "string_too_long": "this text is too long. Write at most {max_length:,} characters.",
    "string_too_short": "this text is empty. Write some.",
    "too_long": "there are {actual_length} items. Write at most {max_length}.",
    "too_short": EMPTY,
    "greater_than_equal": "this is too small. Write {ge} or more.",
    "greater_than": "this is too small. Write more than {gt}.",
    "less_than_equal": "this is too large. Write {le:,} or less.",
    "finite_number": "this number is not finite. Write another.",
}


def valid_part_of(
    source: Source, model: type[M], name: str | None = None, *, may_be_nameless: bool = False
) -> tuple[M | None, list[Complaint], set[str], Source]:
    """A model of the valid part of a file if there is one, what is wrong, which top-level fields lost a part, and the rest.

    Invalid fields are cut out and the rest is validated again, so that the checks can still look at it. If the file has
    no valid name, the rest gets this one; None for a model without a name. If it may be nameless, it gets the name without a
    complaint.
    """
    root = source.root
    plain = source.data
    damaged = set[str]()
    if root is None:
        return None, [], damaged, source
    if may_be_nameless and isinstance(plain, dict):
        plain = {"name": name, **plain}
    complaints: list[Complaint] | None = None
    for _ in range(rounds_max):
        try:
            valid = model.model_validate(plain)
            return valid, complaints or [], damaged, Source(source.path, root)
        except ValidationError as fault:
            errors: list[dict[str, Any]] = [dict(error) for error in fault.errors(include_url=False)]
        if complaints is None:
            complaints = [_complaint(error, model) for error in errors]
        faults = {(error["type"], _at(error["loc"])) for error in errors} - {("missing", ("name",))}
        cuts = {at[:-1] if kind == "missing" else at for kind, at in faults}
        if () in cuts:
            break
        # From the end, so that no cut moves the index of a later one.
        for at in sorted(cuts, key=lambda at: [n if isinstance(n, int) else 0 for n in at], reverse=True):
            root = root.without(at)
        damaged |= {str(at[0]) for at in cuts}
        plain = root.data if name is None else {"name": name, **root.data}
    return None, complaints or [], damaged, source


def valid_or_complaints(plain: Any, model: type[M]) -> tuple[M | None, list[Complaint]]:
    """A model of plain data, or what is wrong with it."""
    try:
        return model.model_validate(plain), []
    except ValidationError as fault:
        return None, [_complaint(dict(error), model) for error in fault.errors(include_url=False)]


def _at(loc: At) -> At:
    return tuple(part for part in loc if part != "[key]")


def _complaint(error: dict[str, Any], model: type[BaseModel]) -> Complaint:
    at = _at(error["loc"])
    kind = error["type"]
    given = error.get("input")
    context = error.get("ctx", {})
    if kind == "extra_forbidden":
        text = f"there is no such field. {_likely_field(str(at[-1]), _known_fields(model, at[:-1]))}"
    elif kind in _EXPECTED:
        text = f"this should be {_EXPECTED[kind]}, not {_described(given)}."
    elif kind in _TEXTS:
        text = _TEXTS[kind].format(**context)
    elif kind == "literal_error":
        text = _not_one_of(given, context["expected"])
    else:
        text = f"{shown(given)} is not allowed here. Look up the field in the reference."
    return Complaint(at, text, at_key=kind == "extra_forbidden" or "[key]" in error["loc"])


def _likely_field(name: str, known: list[str]) -> str:
    meant = field_meant(name, known)
    return likely(name, known) if meant is None else f"Did you mean {meant!r}?"


def _not_one_of(given: object, expected: str) -> str:
    words = [word.strip("' ") for word in expected.replace(" or ", ",").split(",")]
    if not isinstance(given, str):
        return f"this should be one of {', '.join(words)}, not {_described(given)}."
    return f"{shown(given)} is not one of {', '.join(words)}. {likely(given, words, '')}".rstrip()


def _described(given: object) -> str:
    if isinstance(given, bool):
        return str(given).lower()
    sort = "text" if isinstance(given, str) else "number"
    return _SORTS.get(type(given)) or f"the {sort} {shown(given)}"


def _known_fields(model: type[BaseModel], at: At) -> list[str]:
    """The names of the fields that are allowed at a place of a model's data, read from its JSON schema."""
    schema = part_schema = model.model_json_schema()
    for part in at:
        fields = part_schema.get("properties", {})
        inner = fields.get(part) or part_schema.get("items") or part_schema["additionalProperties"]
        options = inner.get("anyOf", [inner])
        model_name = next((option["$ref"].rpartition("/")[2] for option in options if "$ref" in option), None)
        part_schema = options[0] if model_name is None else schema["$defs"][model_name]
    return list(part_schema["properties"])
