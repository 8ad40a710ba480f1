"""What the tool `recall` found, as its answer keeps it.

Always holds: the text of an answer follows from its lines, so whoever may not read some of them gets the text without these.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from glasshouse.events import kinds
from glasshouse.events.event import Json

HIDDEN = "(a thought of its own)"
NOTHING_RECALLED = "You remember nothing about that."


class RecalledLine(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """One line that was found."""

    id: str
    """The event."""
    kind: str
    text: str
    """The line as the creature read it: who said it, and its words."""


class RecallResult(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """The `result` of a `tool.returned` of `recall`."""

    found: tuple[RecalledLine, ...] = ()
    is_untrusted: bool = False
    """Whether a visitor's or a stranger's words are among the lines."""


def recall_result(result: object) -> RecallResult:
    """The result as it stands in an event. What is no such result, as in a call that failed, holds no line, and nobody trusts it."""
    try:
        return msgspec.convert(result, RecallResult)
    except msgspec.ValidationError:
        return RecallResult(is_untrusted=True)


def recalled_text(lines: Iterable[RecalledLine]) -> str:
    """The text of an answer with these lines."""
    return "\n".join([line.text for line in lines]) or NOTHING_RECALLED


def without_thoughts(answer: Json) -> Json:
    """The payload of an answer without what its creature thought."""
    result = recall_result(answer.get("result"))
    if not any(line.kind in kinds.MINDS for line in result.found):
        return answer
    lines = [
        msgspec.structs.replace(line, text=HIDDEN) if line.kind in kinds.MINDS else line
        for line in result.found
    ]
    kept = msgspec.structs.replace(result, found=tuple(lines))
    return {**answer, "text": recalled_text(lines), "result": msgspec.to_builtins(kept)}
