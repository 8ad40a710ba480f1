"""Pronouns: what somebody says of themselves, turned so that one can say it to them, or of them."""

from __future__ import annotations

import re
from typing import Final

from glasshouse.troupe.talk.verbs import base_of_past, behind_he, is_plain_verb

_YOURS: Final = {"i": "you", "my": "your", "me": "you", "mine": "yours", "myself": "yourself", "am": "are"}
_TO_YOU: Final = re.compile(rf"\b(?:{'|'.join(_YOURS)})\b", re.IGNORECASE)


def to_you(text: str) -> str:
    """What somebody says of themselves, as one says it to them: `my cake` is `your cake`."""
    return _TO_YOU.sub(lambda match: _YOURS[match[0].lower()], text)


_THEIRS: Final = {
    "i": "they",
    "my": "their",
    "me": "them",
    "mine": "theirs",
    "myself": "themselves",
    "am": "are",
    "i'm": "they are",
}
_OF_THEM: Final = re.compile(r"\b(?:i'm|i|my|me|mine|myself|am)\b", re.IGNORECASE)
_MODAL: Final = frozenset(
    {"will", "can", "cannot", "would", "could", "must", "may", "might", "should", "had", "was", "did"}
)
_BEFORE_A_VERB: Final = frozenset(
    {"just", "really", "never", "always", "still", "also", "already", "only", "accidentally"}
)


def of_a_visitor(text: str) -> str:
    """What somebody says of themselves, as it stands behind `the visitor`: `has lost their dog`; empty if it is uncertain."""
    words = text.split()
    at = 2 if len(words) > 2 and words[1].lower() in _BEFORE_A_VERB else 1
    verb = words[at].lower()
    if verb in _MODAL or base_of_past(verb):
        finite = verb
    elif verb in {"am", "have", "do", "don't"} or is_plain_verb(verb):
        finite = {"am": "is", "have": "has", "do": "does", "don't": "does not"}.get(verb) or behind_he(verb)
    else:
        return ""
    rest = _OF_THEM.sub(lambda match: _THEIRS[match[0].lower()], " ".join(words[at + 1 :]))
    rest = re.sub(r"\bthey was\b", "they were", rest)
    return " ".join((*words[1:at], finite, rest)).strip()
