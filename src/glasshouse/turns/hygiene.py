"""Cleaning: what a model wrote, made into what its creature says. Small models add fences, labels and lines of others.

Always holds: never raises; what comes out is one line without unsafe characters, at most as many words as allowed, and in
nobody else's name. No rule here adds words.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from glasshouse.turns.quoting import ELLIPSIS, one_line

words_said_over_asked_max: Final = 2
"""How many times `say_words_max` a line may have before it is cut: a little over is alive, an essay is not."""
word_chars_max: Final = 24
"""What a word has on average at most, so that a text without blanks is bounded as well."""

_FENCE: Final = re.compile(r"^[ \t]*(?:```|~~~)[\w-]*[ \t]*$|```", re.MULTILINE)
_ROLE_TOKEN: Final = re.compile(
    r"<\|?(?:im_start|im_end|start_header_id|end_header_id|eot_id|endoftext|begin_of_text|user|assistant|system)\|?>"
    r"(?:[ \t]*(?:user|assistant|system)\b[ \t]*:?)?"
    r"|</?s>|\[/?INST\]|<<?/?SYS>>?|<(?:start|end)_of_turn>",
    re.IGNORECASE,
)
_OWN_ROLES: Final = frozenset({"assistant", "ai", "say", "answer", "response", "reply"})
_OTHER_ROLES: Final = frozenset({"user", "human", "system", "visitor", "world", "conductor", "terrarium"})
_LABEL: Final = re.compile(
    r"[ \t>*_#-]{0,8}(?:\[#?\w{1,12}\])?[ \t*_@]{0,4}([A-Za-z0-9][\w~-]{0,71}?)[*_]{0,3}[ \t]{0,4}"
    r"(?:\([^()\n]{0,80}\))?[ \t*_]{0,4}[:\uff1a][ \t*_]{0,8}"
)
_QUOTES: Final = {
    '"': '"',
    "'": "'",
    "`": "`",
    "\u201c": "\u201d",
    "\u2018": "\u2019",
    "\u201e": "\u201c",
    "\u00ab": "\u00bb",
}
_SENTENCE_END: Final = re.compile(r"[.!?\u2026][\"'\u201d\u2019\u00bb)]?(?=\s|$)")
_SAYING: Final = re.compile(
    r"[^\W_]|[^\s\w\u2000-\u206f\u00ab\u00bb\u0021-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007e]"
)
"""A letter, a digit, or a picture: anything but blanks and punctuation."""


def said_text(text: str, *, handle: str, others: Collection[str], words_max: int) -> str:
    """What a creature says, out of what its model wrote; empty if nothing of it is its own."""
    if "`" in text or "~~~" in text:
        text = _FENCE.sub("\n", text)
    if "<" in text or "[" in text:
        text = _ROLE_TOKEN.sub("\n", text)
    if may_be_labelled(text):
        text = " ".join(_own_lines(text, handle.casefold(), others))
    return bounded_words(_unquoted(one_line(text)), words_max * words_said_over_asked_max)


def may_be_labelled(text: str) -> bool:
    """Whether a line of a text may begin with the name of who says it; if not, nobody's name is looked for."""
    return ":" in text or "\uff1a" in text


def bounded_words(text: str, words_max: int) -> str:
    """At most so many words, cut after a whole sentence where half of them or more would stay."""
    chars_max = words_max * word_chars_max
    if text.count(" ") < words_max and len(text) <= chars_max:
        return text
    short = " ".join(text.split(" ")[:words_max])[: chars_max - 1].rstrip()
    ends = [end.end() for end in _SENTENCE_END.finditer(short)]
    return short[: ends[-1]] if ends and ends[-1] * 2 >= len(short) else short + ELLIPSIS


def says_something(text: str) -> bool:
    """Whether there is more to a text than punctuation."""
    return _SAYING.search(text) is not None


def _own_lines(text: str, handle: str, others: Collection[str]) -> list[str]:
    """The lines up to the first that speaks for somebody else, without labels of one's own."""
    kept: list[str] = []
    for line in text.splitlines():
        said = line
        while (label := _LABEL.match(said)) is not None:
            name = label[1].casefold()
            is_own = name == handle
            if not is_own and (name in others or name in _OTHER_ROLES):
                return kept
            if not is_own and name not in _OWN_ROLES:
                break
            said = said[label.end() :]
        kept.append(said)
    return kept


def _unquoted(text: str) -> str:
    while len(text) > 1 and _QUOTES.get(text[0]) == text[-1]:
        inside = text[1:-1]
        if text[0] in inside or text[-1] in inside:
            return text
        text = inside.strip()
    return text
