"""`Shown`: the ids of the events whose lines a model call's prompt contained, stored beside the prompt (ADR 0044).

Always holds: it is not part of the event, its digest or the prompt. The ledger is complete without it, so it may be
pruned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from glasshouse.errors import BadEvent

Section = Literal["discussion", "scene", "remembered", "disturbances", "answered"]


class Shown(msgspec.Struct, frozen=True, gc=False):
    """The ids of the events whose lines one prompt contained, by section of the prompt, oldest first."""

    discussion: tuple[str, ...] = ()
    scene: tuple[str, ...] = ()
    remembered: tuple[str, ...] = ()
    disturbances: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()


_FIELDS = Shown.__struct_fields__
PackedShown = msgspec.defstruct(
    "PackedShown", [(field, str, "") for field in _FIELDS], omit_defaults=True, forbid_unknown_fields=True
)
"""`Shown` as it is stored: ids separated by spaces. An id of the same session as the id before it is only its seq."""

# A struct made at run time is no type for mypy.
_decode = msgspec.json.Decoder(list[PackedShown]).decode  # type: ignore[valid-type]


def encoded_shown(calls: Sequence[Shown]) -> str:
    """The text that a store keeps for one event: what each of its model calls was shown."""
    packed = [PackedShown(*[_packed(getattr(call, field)) for field in _FIELDS]) for call in calls]
    return msgspec.json.encode(packed).decode()


def decoded_shown(body: str) -> tuple[Shown, ...]:
    """What each model call of one event was shown, decoded from the stored text; raises `BadEvent` if it is damaged."""
    try:
        return tuple([Shown(*[_ids(getattr(call, field)) for field in _FIELDS]) for call in _decode(body)])
    except (msgspec.DecodeError, TypeError, UnicodeError) as wrong:
        raise BadEvent(f"These bytes do not say what a prompt showed: {wrong}.") from wrong


def _packed(ids: Sequence[str]) -> str:
    text = " ".join(ids)
    if len(ids) < 2:
        return text
    session = ids[0].rpartition(".")[0] + "."
    if text.count(session) == len(ids):  # They are of one session, as nearly always.
        return text.replace(f" {session}", " ")
    words: list[str] = []
    session_before = ""
    for event_id in ids:
        session_id, _, seq = event_id.rpartition(".")
        words.append(seq if session_id == session_before else event_id)
        session_before = session_id
    return " ".join(words)


def _ids(packed: str) -> tuple[str, ...]:
    ids: list[str] = []
    session_id = ""
    for word in packed.split():
        named, _, seq = word.rpartition(".")
        session_id = named or session_id
        ids.append(f"{session_id}.{seq}")
    return tuple(ids)
