"""Public text: what has come so far of the line that a creature will say aloud, while its reply is still being written.

Always holds: only decoded characters of a public `text` are given, never a thought, a tool's argument or an unfinished
escape. The reply must begin with its kind, as prompts ask for; if it does not, nothing is given before it is whole.
"""

from __future__ import annotations

import re
from json import JSONDecoder
from typing import Final

from glasshouse.events import kinds
from glasshouse.turns.moment.line_text import one_line

public_chars_max: Final = 2_000
"""Of a line that is still being written no more is shown."""

_THINKING: Final = re.compile(r"\A\s*<think(?:ing)?>", re.IGNORECASE)
_THOUGHT: Final = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_OBJECT: Final = re.compile(
    r'\A\s*(?:```\w*\s*)?\{\s*(?:"reply"\s*:\s*\{\s*)?"kind"\s*:\s*"([a-z0-9_.]+)"', re.IGNORECASE
)
"""The start of a JSON reply, also wrapped for a strict server or fenced."""
# Inside a string every quotation mark is escaped, so this is a field and never a part of a thought.
_TEXT: Final = re.compile(r'"text"\s*:\s*"')
_CALL: Final = re.compile(
    r'"arguments"\s*:\s*\{|^[ \t*_>#-]*(?:TOOL|ARGUMENTS)[*_]*[ \t]*[:\uff1a]', re.M | re.I
)
"""Stands before the arguments of a call, also where a reply has the tool's name as its kind."""
_DECODABLE: Final = re.compile(r'(?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
_KIND_LINE: Final = re.compile(
    r"^[ \t*_>#-]*KIND[*_]*[ \t]*[:\uff1a][ \t*_]*([a-z0-9_.]+)[ \t*_]*$", re.M | re.I
)
_SAY_LINE: Final = re.compile(r"^[ \t*_>#-]*SAY[*_]*[ \t]*[:\uff1a][ \t*_]*(.*)$", re.M | re.I)
_decoder: Final = JSONDecoder(strict=False)


def public_text_in(raw: str, kind_if_none: str) -> str:
    """The public text in the part of a reply that has come; a reply in prose without a kind is of the kind given."""
    if _THINKING.match(raw):
        thought = _THOUGHT.search(raw)
        if thought is None:
            return ""
        raw = raw[thought.end() :]
    beginning = _OBJECT.match(raw)
    if beginning is not None:
        field = _TEXT.search(raw, beginning.end())
        if field is None or not _is_public(beginning[1]) or _CALL.search(raw, 0, field.start()):
            return ""
        whole = _DECODABLE.match(raw, field.end())
        text = "" if whole is None else _decoder.decode(f'"{whole[0]}"')
        # Half of a character that JSON writes as two escapes is not text yet.
        return _shown(text[:-1] if text and "\ud800" <= text[-1] <= "\udbff" else text)
    line = _SAY_LINE.search(raw)
    if line is None or raw.lstrip()[:1] == "{" or _CALL.search(raw, 0, line.start()):
        return ""
    kind = _KIND_LINE.search(raw, 0, line.start())
    return _shown(line[1]) if _is_public(kind_if_none if kind is None else kind[1]) else ""


def _is_public(kind: str) -> bool:
    kind = kind.casefold()
    return kind not in kinds.NO_LINES and kind not in kinds.INNER


def _shown(text: str) -> str:
    return one_line(text[:public_chars_max])
