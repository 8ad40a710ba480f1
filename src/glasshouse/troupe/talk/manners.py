"""Manners: in which of the manners of the general talk a temper speaks.

Always holds: told from the temper alone; the first word of it that the data lists decides.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.vocabulary import WORD

manners_cache_tempers_max: Final = 512
"""The manners of more tempers are told again."""


@lru_cache(maxsize=manners_cache_tempers_max)
def manner_of(temper: str) -> str:
    """The manner of a temper; empty if the data lists none of its words."""
    for word in WORD.findall(temper.lower()):
        for cue, manner in shelf.rows("manners.tsv"):
            if word.startswith(cue):
                return manner
    return ""
