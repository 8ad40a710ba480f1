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
from glasshouse.world.state.ids import (
    check_channel_name,
    check_handle,
    check_name,
    check_not_spoken_for,
    name_chars_max,
)

number_max = 1_000_000
text_chars_max = 16_384
list_items_max = 256

_FIELD_NAME = re.compile(r"[a-z][a-z0-9_]*")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_PLAYER = re.compile(r"visitor|[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)

T = TypeVar("T")


class Strict(BaseModel):
    """Base of all models: unknown fields and wrong types are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _listed(given: Any) -> Any:
    return tuple(given) if isinstance(given, list) else given


def _refusing(check: Callable[[Any], None]) -> Callable[[T], T]:
    def checked(value: T) -> T:
        try:
            check(value)
        except Refused as refusal:
            raise ValueError(str(refusal)) from refusal
        return value

    return checked


def _check_unreserved(noun: str, name: str) -> None:
    check_name(noun, name)
    check_not_spoken_for(name)


def _check_field_name(name: str) -> None:
    if len(name) > name_chars_max or not _FIELD_NAME.fullmatch(name):
        raise Refused(f"{name!r} is not a field name.", "Use lower-case letters, digits and '_'.")


def _check_language(code: str) -> None:
    if not _LANGUAGE.fullmatch(code):
        raise Refused(f"{in_brief(code)} is not a language code.", "Write one such as 'en', 'de' or 'pt-BR'.")


def _check_player(player: str) -> None:
    if not _PLAYER.fullmatch(player):
        raise Refused(
            f"{player!r} cannot play a creature.", "Write 'visitor', or a class as 'package.module:Class'."
        )


Items = Annotated[tuple[T, ...], Field(max_length=list_items_max), BeforeValidator(_listed)]
Text = Annotated[str, Field(max_length=text_chars_max)]
Texts = Items[Text]
Kind = Annotated[str, AfterValidator(_refusing(check_kind))]
Kinds = Items[Kind]
CreatureName = Annotated[str, AfterValidator(_refusing(partial(_check_unreserved, "creature name")))]
Handle = Annotated[str, AfterValidator(_refusing(check_handle))]
Handles = Items[Handle]
CreatureNames = Items[CreatureName]
WorldName = Annotated[str, AfterValidator(_refusing(partial(check_name, "world name")))]
TeamName = Annotated[str, AfterValidator(_refusing(partial(_check_unreserved, "team name")))]
FieldName = Annotated[str, AfterValidator(_refusing(_check_field_name))]
ChannelName = Annotated[str, AfterValidator(_refusing(check_channel_name))]
ChannelNames = Items[ChannelName]
Language = Annotated[str, AfterValidator(_refusing(_check_language))]
Player = Annotated[str, AfterValidator(_refusing(_check_player))]
Count = Annotated[int, Field(ge=1, le=number_max)]
