"""Event sorts: what small deed an event calls for, and how one refers to it when it has been told.

Always holds: told from the event's own words alone; an event that the data does not know calls for no deed of its own
sort, and one without a thing and without a known word is referred to in no sentence.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from glasshouse.troupe import data_files as shelf
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


class EventSort(NamedTuple):
    """One event, sorted."""

    deed: str = ""
    """Which deed it calls for: `fire`, `wet`; empty if none is known."""
    reference: str = ""
    """How one speaks of it: `the rain`, `the referee`; empty if that is not certain."""


def _has(stems: set[str], cue: str) -> bool:
    """Whether a cue is among some words and stems; a long one may be the beginning of a word."""
    return cue in stems or (len(cue) >= beginning_chars_min and any(word.startswith(cue) for word in stems))


def sort_of(happening: Happening) -> EventSort:
    """What an event calls for. Somebody who comes is met; a light is looked for only where one went out."""
    words = {word.lower() for word in WORD.findall(happening.told)}
    stems = words | {stem(word) for word in words}
    deed = reference = ""
    for cue, sort, *named in shelf.rows("event_sorts.tsv"):
        if not _has(stems, cue) or (sort == "dark" and not stems & _DARKENED):
            continue
        if cue in _OF_ANYTHING and not happening.is_alive:
            continue
        deed, reference = sort, named[0] if named else ""
        break
    thing = happening.thing
    is_named = thing.lower().startswith(_STARTS) and len(thing.split()) <= reference_words_max
    if happening.is_alive and is_named and not deed:
        deed = _GUARDED
    if reference == _UNNAMED:
        return EventSort(deed)
    return EventSort(deed, reference or (thing if is_named else ""))
