"""Sealed words: a line that says aloud the word that was dealt to its speaker alone (ADR 0075).

Always holds: a word counts as long as no line that its holder recalls has it. Facts that are longer than a few words are
for telling, so they do not count, and neither do facts that the scenario lets be said. Verdicts may say all. Thoughts, to
which a model's reasoning belongs, are for the audience, who does not read what is sealed: there a word is masked at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from glasshouse.events import kinds
from glasshouse.events.event import Draft, Json
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.playbill import MAY_BE_SAID
from glasshouse.turns.moment.reply_schema import fields_of
from glasshouse.turns.moment.tools import ToolCall
from glasshouse.turns.replies.reply import Passed

sealed_words_max: Final = 3
"""A dealt text of more words is no word to be kept, but something to tell."""
sealed_cache_words_max: Final = 1_024
"""How many are kept: the patterns of sealed words; more are computed again."""
MASK: Final = "[sealed]"

_MAY_SAY_ALL: Final = kinds.INNER | {kinds.JUDGE_VERDICT}

Reply = TypeVar("Reply", bound=Draft | Passed | ToolCall)


def sealed_facts_said(draft: Draft, moment: Moment) -> dict[str, str]:
    """Fact -> its word, for the sealed words that a draft says aloud."""
    if draft.kind in _MAY_SAY_ALL:
        return {}
    return _facts_in("\n".join(text for _, text in _texts(draft, moment)), moment, draft.kind)


def with_masked_notes(reply: Reply, moment: Moment) -> Reply:
    """The reply with a mask over its creature's sealed words in its thought, its mood, and the reason of a pass."""
    notes: Json = {
        "private": reply.private,
        **({"reason": reply.reason} if isinstance(reply, Passed) else {}),
    }
    facts = _facts_in(str(notes), moment, None)
    return replace(reply, **_over(notes, facts)) if facts else reply


def _facts_in(text: str, moment: Moment, kind: str | None) -> dict[str, str]:
    """Fact -> its word, for the sealed words in a text that no line said before; `kind` is none in notes beside a line."""
    facts = {fact: word for fact, word in _sealed(moment, kind) if says_word(text, word)}
    if not facts:
        return {}
    heard = "\n".join([str(event.payload.get("text", "")) for event in moment.recent_events])
    return {fact: word for fact, word in facts.items() if not says_word(heard, word)}


def masked_words(draft: Draft, moment: Moment, facts: dict[str, str]) -> Draft:
    """The draft with a mask over these words. Its private part names the facts, not the words."""
    payload: Json = {**draft.payload}
    for name, _ in _texts(draft, moment):
        payload[name] = _over(payload[name], facts)
    return replace(draft, payload=payload, private={**(draft.private or {}), "masked": [*facts]})


def _over(value: Any, facts: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [_over(item, facts) for item in value]
    if isinstance(value, dict):
        return {name: _over(item, facts) for name, item in value.items()}
    if not isinstance(value, str):
        return value
    for word in facts.values():
        value = _pattern(word).sub(MASK, value)
    return value


def _sealed(moment: Moment, kind: str | None) -> Iterator[tuple[str, str]]:
    """The facts that are sealed words and may not be said in a line of this kind."""
    for fact, value in moment.known.items():
        if is_sealed_word(value) and not moment.playbill.deal.get(fact, MAY_BE_SAID).may_be_said_in(kind):
            yield fact, value


def is_sealed_word(value: object) -> bool:
    """Whether a dealt value is a word to keep, and not something to tell."""
    return isinstance(value, str) and 0 < len(value.split()) <= sealed_words_max


def says_word(text: str, word: str) -> bool:
    """Whether a text says a word, in any case and number."""
    return _pattern(word).search(text) is not None


def _texts(draft: Draft, moment: Moment) -> Iterator[tuple[str, str]]:
    """The fields of a draft that are free text, and what they say."""
    sorts = fields_of(draft.kind, moment.playbill)
    for name, value in draft.payload.items():
        if sorts.get(name) == "string" and isinstance(value, str):
            yield name, value
        elif sorts.get(name) == "strings" and isinstance(value, list):
            yield name, "\n".join(map(str, value))


@lru_cache(maxsize=sealed_cache_words_max)
def _pattern(word: str) -> re.Pattern[str]:
    """Matches a word, in any case and number, however its parts are joined."""
    parts = r"[\s_-]+".join([re.escape(part) for part in re.split(r"[\s_-]+", word.strip())])
    return re.compile(rf"(?<![^\W_]){parts}(?:'s|\u2019s|e?s)?(?![^\W_])", re.IGNORECASE)
