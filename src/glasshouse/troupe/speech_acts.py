"""Speech acts: what a line does: it asks, offers, refuses, accuses, warns, promises, concedes, greets, orders, or reports.

Always holds: told from the form of the line alone. A line that asks anything asks; one that does nothing else reports.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from glasshouse.troupe import data_files as shelf

acts_cache_texts_max: Final = 8_192
"""What more lines ask, offer or refuse is told from their form again."""

REPORT: Final = "report"
ASK: Final = "ask"
CHANGE: Final = "change"
"""What the world does."""

_SENTENCES: Final = re.compile(r"(?<=[.?!:;])\s+")
_CALL: Final = re.compile(r"^[\w' -]{1,24}, ")
_QUESTION_WORD: Final = re.compile(
    r"\b(where|who|whom|whose|when|why|how many|how much|how far|how long|how|what|which)\b"
)


@lru_cache(maxsize=acts_cache_texts_max)
def speech_act(text: str) -> str:
    """What a line does; its last sentences count most, since they are what one answers."""
    sentences = _sentences(text)
    if any(sentence.endswith("?") for sentence in sentences):
        return ASK
    for sentence in reversed(sentences):
        for act, beginnings, parts in _cues():
            if beginnings.match(sentence) or parts.search(sentence):
                return act
    return REPORT


@lru_cache(maxsize=acts_cache_texts_max)
def question_in(text: str) -> str:
    """What a question asks for: where, who, when, why, how, many, far, what; `yes` for one that yes or no would answer."""
    asked = next((sentence for sentence in reversed(_sentences(text)) if sentence.endswith("?")), "")
    match = _QUESTION_WORD.search(_CALL.sub("", asked)[:60])
    word = match[1] if match else ""
    if word.startswith("how "):
        return "many" if word in {"how many", "how much"} else "far"
    return {"": "yes", "whom": "who", "whose": "who", "which": "what"}.get(word, word)


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in _SENTENCES.split(text.lower().strip(' "\u201c\u201d')) if sentence]


@lru_cache(maxsize=1)
def _cues() -> tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...]:
    rows = shelf.rows("speech_acts.tsv")
    return tuple(
        (act, re.compile(rf"(?:[\w' -]{{1,24}}, )?(?:{_either(first)})(?!\w)"), re.compile(_either(inside)))
        for act, first, inside in rows
    )


def _either(cues: str) -> str:
    return "|".join(re.escape(cue) for cue in cues.split("|"))
