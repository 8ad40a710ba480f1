"""Placeholders: what stands in a form of a prompt where a model puts its own words, as `<what you say to it aloud, in new
words>`.

Always holds: forms are written, and replies are checked for what was left standing in them, by the same function. A
placeholder has a blank in it: `<suspect>` could be read as a control token, and came back as `< suspect>`.
"""

from __future__ import annotations

import re
from typing import Final

from glasshouse.events import kinds

around_chars_max: Final = 16
"""How many brackets, blanks and marks may stand round a placeholder that is given back."""

_NOTES: Final = {
    "thought": "what you feel and want now",
    "mood": "one word",
    "reason": "why you say nothing",
}
_TOOL_THOUGHT: Final = "why you use it now"
_SAID: Final = "the words that you speak, to the others"
_TEXT_BY_KIND: Final = {
    kinds.JUDGE_VERDICT: "what you find and why, as you say it aloud",
    kinds.WORLD_OBSERVED: "what can be seen or heard there now, in new words",
    kinds.AGENT_REFLECTED: "what you understand now and did not before",
    kinds.AGENT_THOUGHT: "what you think and do not say",
}
_TEXT_BY_ROLE: Final = {
    "judge": "what you find or ask, in new words",
    "narrator": _TEXT_BY_KIND[kinds.WORLD_OBSERVED],
}
_BRACKETED: Final = re.compile(r"(?:<[^<>]*>?[\s.,;:!?]*)+")
_AROUND: Final = re.compile(r"[\W_]+")
"""Brackets, blanks and punctuation: they do not make a placeholder an answer."""


def placeholder_words(kind: str, field: str, role: str) -> str:
    """What stands in the form of a kind for one of its fields, without brackets. Arguments of tools are fields too."""
    if kind == kinds.TOOL_CALLED and field == "thought":
        return _TOOL_THOUGHT
    if field in _NOTES:
        return _NOTES[field]
    if field == "text" and kind != kinds.TOOL_CALLED:
        return _TEXT_BY_KIND.get(kind) or _TEXT_BY_ROLE.get(role, _SAID)
    return f"the {field.replace('_', ' ')}"


def placeholder(kind: str, field: str, role: str) -> str:
    """The same in brackets, as the form has it."""
    return f"<{placeholder_words(kind, field, role)}>"


def is_placeholder(value: str, kind: str, field: str, role: str) -> bool:
    """Whether a value is nothing but the placeholder of its field, whatever its brackets and its case."""
    words = placeholder_words(kind, field, role)
    # Nearly every answer is longer, or lacks the last word, which is quicker to see.
    if len(value) > len(words) + around_chars_max or words.rpartition(" ")[2] not in value.casefold():
        return False
    return _bare(value) == _bare(words)


def is_all_bracketed(value: str) -> bool:
    """Whether a value stands in angle brackets as a whole: the placeholder of another field, several of them, or one with
    the model's words in it. Nobody speaks so."""
    return value[:1] == "<" and _BRACKETED.fullmatch(value) is not None


def _bare(text: str) -> str:
    return _AROUND.sub(" ", text).strip().casefold()
