"""Manners: in which of the manners of the general talk a player speaks.

Always holds: the first word of the temper that the data lists decides; without a temper, the first of the persona.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.vocabulary import WORD

manners_cache_tempers_max: Final = 512
"""The manners of more tempers are told again."""


stem_chars_min: Final = 6
"""In a persona a shorter entry of the data stands for itself alone: a grandmother is not grand."""
_OF_THINGS: Final = frozenset(
    {"old", "friend", "plain", "practical", "formal", "absent", "friends", "charms"}
)
"""What tells nothing of a manner in a persona: old songs."""


@lru_cache(maxsize=manners_cache_tempers_max)
def manner_of(temper: str, persona: str = "") -> str:
    """The manner of a temper, or without one of a persona; empty if the data lists none of its words."""
    for word in WORD.findall((temper or persona).lower()):
        for cue, manner in shelf.rows("manners.tsv"):
            is_meant = word.startswith(cue) if temper or len(cue) >= stem_chars_min else word == cue
            if is_meant and (temper or word not in _OF_THINGS):
                return manner
    return ""
