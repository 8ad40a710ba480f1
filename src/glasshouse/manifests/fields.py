"""The types of the fields of manifests and scenarios.

Always holds: a value is never converted to another type, except a list to a tuple. Every refusal says what to write.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from glasshouse.errors import Refused, in_brief
from glasshouse.events.kinds import check_kind
from glasshouse.world.state import ids

number_max = 1_000_000
"""A larger number in a field is refused."""
text_chars_max = 16_384
"""A longer text in a field is refused."""
list_items_max = 256
"""A longer list in a field is refused."""
bio_chars_max = 160
"""A longer `bio` of a creature is refused."""
title_chars_max = 60
"""A longer `title` of a creature is refused."""

_FIELD_NAME = f"[a-z][a-z0-9_]{{0,{ids.name_chars_max - 1}}}"
_LANGUAGE = "[a-z]{2,3}(-[A-Za-z0-9]{2,8})*"
_VERSION = r"[0-9]{1,9}(\.[0-9]{1,9}){0,3}"
_PLAYER = r"visitor|[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*"

T = TypeVar("T")


class Strict(BaseModel):
    """Base of all models: unknown fields and wrong types are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _listed(given: Any) -> Any:
    return tuple(given) if isinstance(given, list) else given


def _checked(check: Callable[[str], None]) -> AfterValidator:
    def checked(value: str) -> str:
        try:
            check(value)
        except Refused as refusal:
            raise ValueError(str(refusal)) from refusal
        return value

    return AfterValidator(checked)


def _unreserved(noun: str, name: str) -> None:
    ids.check_name(noun, name)
    ids.check_not_spoken_for(name)


def _matching(pattern: str, fault: str) -> AfterValidator:
    def checked(text: str) -> str:
        if re.fullmatch(pattern, text, re.ASCII):
            return text
        raise ValueError(f"{in_brief(text)} {fault}")

    return AfterValidator(checked)


Items = Annotated[tuple[T, ...], Field(max_length=list_items_max), BeforeValidator(_listed)]
Text = Annotated[str, Field(max_length=text_chars_max)]
Texts = Items[Text]
Bio = Annotated[
    str,
    Field(max_length=bio_chars_max),
    _matching(r"[^\x00-\x1f\x7f]*", "has more than one line. Write one sentence."),
]
Title = Annotated[
    str,
    Field(max_length=title_chars_max),
    _matching(r"[^\x00-\x1f\x7f;]*", "has a semicolon or more than one line. Write a name."),
]
Kind = Annotated[str, _checked(check_kind)]
check_creature_name = partial(_unreserved, "creature name")
"""Refuse a text that cannot be the name of a creature."""
CreatureName = Annotated[str, _checked(check_creature_name)]
Handle = Annotated[str, _checked(ids.check_handle)]
Handles = Items[Handle]
WorldName = Annotated[str, _checked(partial(ids.check_name, "world name"))]
TeamName = Annotated[str, _checked(partial(_unreserved, "team name"))]
FieldName = Annotated[
    str, _matching(_FIELD_NAME, "is not a field name. Use lower-case letters, digits and '_'.")
]
ChannelName = Annotated[str, _checked(ids.check_channel_name)]
Language = Annotated[
    str, _matching(_LANGUAGE, "is not a language code. Write one such as 'en', 'de' or 'pt-BR'.")
]
ServerName = Annotated[
    str,
    _matching("[a-z][a-z0-9_-]{0,31}", "is not a server's name. Use lower-case letters, digits, '-', '_'."),
]
Version = Annotated[
    str, _matching(_VERSION, "is not a version. Write numbers with dots, in quotation marks, such as '1.2'.")
]
Player = Annotated[
    str, _matching(_PLAYER, "cannot play a creature. Write 'visitor', or a class as 'package.module:Class'.")
]
Count = Annotated[int, Field(ge=1, le=number_max)]
