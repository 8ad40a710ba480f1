"""The topic of a world: what the play is about, in the words of its first scene.

Always holds: the topic is the text after a colon in the oldest scene that the prompt shows. Scenes put their seed there,
so a seed is used word for word. If no scene has a colon, there is no topic.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from glasshouse.troupe.noun_phrases import Noun
from glasshouse.troupe.reading import Reading
from glasshouse.troupe.vocabulary import WORD, is_a, is_rare, of_sort

matters_cache_texts_max: Final = 1_024
"""What an evening is about."""

_BEHIND_A_COLON: Final = re.compile(r": ([^.;:!?]+)[.;!?]")
_ARTICLES: Final = ("a ", "an ", "the ")


class Matter(NamedTuple):
    """What it is about: in the world's own words, and as the one thing that is spoken of afterwards."""

    text: str
    noun: Noun

    @property
    def called(self) -> str:
        """In full, as something that is known by now."""
        article = next((article for article in _ARTICLES if self.text.startswith(article)), "")
        return f"the {self.text.removeprefix(article)}" if article else self.text


def matter_of(reading: Reading) -> Matter | None:
    """The topic of the world; none if no scene in the prompt names one."""
    scenes = [line.text for line in (*reading.remembered, *reading.discussion) if line.origin == "world"]
    for text in (*scenes, reading.scene):
        matter = _matter_in(text)
        if matter is not None:
            return matter
    return None


@lru_cache(maxsize=matters_cache_texts_max)
def _matter_in(text: str) -> Matter | None:
    behind = _BEHIND_A_COLON.search(text)
    if behind is None:
        return None
    said = behind[1].strip()
    words = _before_more_is_said(WORD.findall(said))
    return Matter(said, _noun(words)) if words else None


def _before_more_is_said(words: list[str]) -> list[str]:
    """A thing without what is said of it: the boot, of a boot full of water."""
    if len(words) > 1 and (words[0].lower() in of_sort("det") or words[0].endswith(("'s", "\u2019s"))):
        words = words[1:]
    end = next((at for at, word in enumerate(words) if at and is_a(word.lower(), "stop")), len(words))
    while end > 1 and is_a(words[end - 1].lower(), "adjective") and not is_a(words[end - 1].lower(), "noun"):
        end -= 1
    return words[:end]


def _noun(words: list[str]) -> Noun:
    head = words[-1]
    is_plural = head.endswith("s") and not head.endswith(("ss", "us", "is"))
    return Noun(head, " ".join(words), 3.0, is_rare=is_rare(head.lower()), is_plural=is_plural)
