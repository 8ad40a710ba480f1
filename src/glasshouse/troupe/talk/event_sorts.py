"""Event sorts: what small deed an event calls for, and how one refers to it when it has been told.

Always holds: told from the event's own words alone; an event that the data does not know calls for no deed of its own
sort, and one without a thing and without a known word is referred to in no sentence.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.noun_classes import class_of_word
from glasshouse.troupe.talk.happenings import Happening
from glasshouse.troupe.vocabulary import WORD, stem

reference_words_max: Final = 5
"""A thing with more words is not named again."""
_OF_ANYTHING: Final = frozenset({"arriv", "come", "came", "appear"})
"""What things do, too: whoever walks or enters is somebody."""
beginning_chars_min: Final = 5
"""A shorter cue stands for the word alone."""
_UNNAMED: Final = "-"
_GUARDED: Final = "guard"
_STARTS: Final = ("the ", "that ", "his ", "her ", "our ")
_DARKENED: Final = frozenset({"out", "off", "dark", "darkness", "flicker", "fail", "blackout"})


_MODIFIER: Final = re.compile(
    r"\b\w+[ -](?=(?:engine|truck|brigade|alarm|drill|fighter|station|extinguisher|escape|exit|wood|coat|tower|bank|petrel|type|boot)s?\b)"
)
"""What says only of which sort a thing is: a fire engine is no fire."""
_DROPS: Final = re.compile(r"\bdrops (?:fall|fell|of rain|hit|come|came)\b")
"""How rain begins."""
_BROKEN_DOWN: Final = re.compile(r"\b(?:is|are|was|were|goes|go|went|breaks?|broke|shuts?) down\b")
"""What a machine does. Somebody who comes down the stairs does not."""
_STUCK_TO: Final = re.compile(r"\bstuck (?=to\b|on\b|under\b|behind\b)")
"""What hangs on something, and is no machine that does not move."""


class EventSort(NamedTuple):
    """One event, sorted."""

    deed: str = ""
    """Which deed it calls for: `fire`, `wet`; empty if none is known."""
    reference: str = ""
    """How one speaks of it: `the rain`, `the referee`; empty if that is not certain."""


def _has(stems: set[str], cue: str) -> bool:
    """Whether a cue is among some words and stems; a long one may be the beginning of a word."""
    return cue in stems or (len(cue) >= beginning_chars_min and any(word.startswith(cue) for word in stems))


def _listed(happening: Happening) -> EventSort:
    """What the data says of an event: by the first row that fits. Somebody who comes is met, and a light is looked for
    only where one went out."""
    clause = _STUCK_TO.sub("", _MODIFIER.sub("", happening.told.lower()))
    if _DROPS.search(clause):
        return EventSort("wet", "the rain")
    words = set(WORD.findall(clause))
    stems = words | {stem(word) for word in words}
    for cue, sort, *named in shelf.rows("event_sorts.tsv"):
        if not _has(stems, cue) or (sort == "dark" and not stems & _DARKENED):
            continue
        if cue == "down" and not _BROKEN_DOWN.search(clause):
            continue
        if cue in _OF_ANYTHING and not happening.is_alive:
            continue
        return EventSort(sort, next(iter(named), ""))
    return EventSort()


def sort_of(happening: Happening) -> EventSort:
    """What an event calls for. An animal that calls for nothing else is watched."""
    sort = _listed(happening)
    if sort.reference == _UNNAMED:
        return sort._replace(reference="")
    thing = happening.thing
    is_named = thing.lower().startswith(_STARTS) and len(thing.split()) <= reference_words_max
    if not is_named:
        return sort
    is_watched = not sort.deed and class_of_word(thing.lower().split()[-1]) == "animal"
    return EventSort(_GUARDED if is_watched else sort.deed, sort.reference or thing)
