"""What is wrong with the value of an option, in plain words instead of those of the library that checks it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from glasshouse.errors import in_brief

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


@contextmanager
def values_in_words() -> Iterator[None]:
    """Say in plain words what is wrong with a value."""
    try:
        yield
    except typer.BadParameter as wrong:
        from pydantic import ValidationError  # Imported here: whoever checked the value has it already.

        if isinstance(wrong.__cause__, ValidationError):
            wrong.message = " ".join([_in_words(problem) for problem in wrong.__cause__.errors()])
        raise


def _in_words(problem: ErrorDetails) -> str:
    given = in_brief(problem["input"])
    bounds = problem.get("ctx", {})
    match problem["type"]:
        case "int_parsing" | "int_parsing_size" | "int_from_float":
            return f"{given} is no whole number."
        case "float_parsing" | "finite_number":
            return f"{given} is no number."
        case "greater_than_equal":
            return f"{given} is too small: the least is {bounds['ge']:g}."
        case "less_than_equal":
            return f"{given} is too large: the most is {bounds['le']:g}."
        case _:
            return problem["msg"].removeprefix("Value error, ")
