"""Quoting: text that somebody else wrote, made safe to stand inside one physical line of a prompt.

Always holds: what comes out has no control character, no line or paragraph separator, no direction override, no
invisible tag and no lone surrogate, so it can neither end its line nor look like another one.
"""

from __future__ import annotations

import re
from json import JSONEncoder
from typing import Any, Final

UNSAFE: Final = (
    r"\x00-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\ud800-\udfff\U000e0000-\U000e007f"
)
"""The inside of a character class: what never stands raw in a prompt."""

_unsafe: Final = re.compile(f"[{UNSAFE}]")
_blank: Final = re.compile(rf"[\s{UNSAFE}]+")
_encode: Final = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode

ELLIPSIS: Final = "…"


def compact_json(value: Any) -> str:
    """A JSON value on one line, with everything unsafe in its texts escaped."""
    text = _encode(value)
    return text if text.isprintable() else _unsafe.sub(_escaped, text)  # What is unsafe is never printable.


def quoted(text: str, chars_max: int) -> str:
    """A text in quotation marks, cut to a bound before it is escaped."""
    return compact_json(cut(text, chars_max))


def one_line(text: str) -> str:
    """A text with every run of blanks, line ends and unsafe characters folded to one space."""
    if "  " not in text and text.isprintable():  # Then the only blanks in it are single spaces.
        return text.strip()
    return _blank.sub(" ", text).strip()


def cut(text: str, chars_max: int) -> str:
    """At most so many characters; what was cut shows as an ellipsis."""
    return text if len(text) <= chars_max else text[: chars_max - 1] + ELLIPSIS


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
