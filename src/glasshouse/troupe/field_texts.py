"""Field texts: what stands in a field that only its name explains: a date as a date, a cake as the cake that was spoken of.

Always holds: read from what tools said, the world's texts and the player's own manifest, in this order.
"""

from __future__ import annotations

import re

from glasshouse.troupe.noun_phrases import nouns_in
from glasshouse.troupe.reading import Reading, value_in
from glasshouse.troupe.vocabulary import stem
from glasshouse.troupe.world_dates import date_in_sight, date_written


def told_of(reading: Reading, name: str) -> str:
    """What a field of this name holds; empty if nothing in sight says."""
    for said in reversed(reading.tools_said):
        result = value_in(said.text) if said.is_ok else None
        if isinstance(result, dict) and isinstance(result.get(name), str | int | float):
            return str(result[name])
    if name in {"date", "day"}:
        day = date_in_sight(reading)
        return "today" if day is None else date_written(day)
    me = reading.me
    heard = [line.text for line in reversed(reading.discussion)]
    texts = [
        text
        for text in (*heard, reading.scene, me.wants, *me.cares, me.persona, me.goal)
        if name in text.lower()
    ]
    for text in texts:
        more = re.search(rf"\b{re.escape(name)}\s+((?:from|of|in|at|to|with) [\w '-]+)", text, re.IGNORECASE)
        if more:
            return more[1].strip()
    phrases = (noun.definite for text in texts for noun in nouns_in(text) if stem(noun.head) == stem(name))
    return max(phrases, key=len, default="")


def named_in_sight(reading: Reading, name: str) -> str:
    """What a text in sight says of a field: a tool's answer, a date, `wind from the north-east`, or a thing of that name;
    empty where nothing does."""
    if name in {"date", "day"}:
        day = date_in_sight(reading)
        return "" if day is None else date_written(day)
    text = told_of(reading, name)
    return text if text and _is_telling(text, name) else ""


def _is_telling(text: str, name: str) -> bool:
    """Whether a text says more than the field's own name: `from the north`, `the lemon cake`, and not `the ship`."""
    words = text.lower().split()
    return words[0] not in {"the", "a", "an"} or (stem(words[-1]) == stem(name) and len(words) > 2)
