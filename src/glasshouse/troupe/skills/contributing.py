"""Contributing: something worth saying on what lies on the table, built on what somebody else brought.

Chosen by a field `builds_on` that asks for a line. Always holds: the line built on is one that somebody else said, and
a thing from it stands in the contribution; when the evening ends, everybody speaks for another's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.noun_phrases import Noun, nouns_in
from glasshouse.troupe.props import own_things
from glasshouse.troupe.reading import Heard, Reading
from glasshouse.troupe.schema import is_ref
from glasshouse.troupe.skills.branches import Branch, Reply, sentences, untold, with_line
from glasshouse.troupe.speaking import Speaker, name_of
from glasshouse.troupe.world_topic import Matter, matter_of

BOOK: Final = "table.txt"
FIELD: Final = "builds_on"
lines_looked_at_max: Final = 4
"""A contribution is built on one of this many of the latest."""

_WITH_OWN_LINE: Final = 0.22
_ENDED: Final = 0.35
_MANNERS: Final = {
    "eager": "eager", "grand": "eager", "sly": "eager", "tender": "tender", "shy": "tender", "severe": "severe",
    "courtly": "severe", "grim": "grim", "plain": "grim",
}  # fmt: skip


def contributed(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """One thing more, resting on a line of somebody else's."""
    branch = next((branch for branch in branches if is_ref(branch.fields.get(FIELD))), None)
    if branch is None:
        return None
    reading = speaker.reading
    dice = speaker.dice
    manner = _MANNERS.get(speaker.voice.register, "any")
    matter = matter_of(reading)
    is_keeping = _is_last_round(reading)
    line = _kept(reading) if is_keeping else _built_on(speaker)
    _turn_to_a_thing_of(speaker, line, matter, is_keeping=is_keeping)
    gaps = {
        "dish": _dish(reading, matter),
        "own": dice.choice(own_things(reading.me) or speaker.stock["thing"]),
        "who": _name(line),
    }
    heading = f"keep {manner}" if is_keeping else manner
    texts = (
        untold(reading, heading, BOOK, **gaps)
        or untold(reading, "any", BOOK, **gaps)
        or sentences(heading, BOOK, **gaps)
    )
    if not is_keeping:
        texts = [f"{text}{_end(speaker)}" for text in texts]
    spoken = speaker.dress(texts, "agree" if is_keeping else "extend", own=_WITH_OWN_LINE)
    return with_line(branch, spoken, **({FIELD: line.ref} if line is not None else {}))


def built_on(reading: Reading, line: Heard) -> list[str]:
    """The handles of those who built on a line, once for each time, beside the one who said it."""
    return [
        later.handle
        for later in reading.discussion
        if later.fields.get(FIELD) == line.ref and later.handle != line.handle
    ]


def things_brought(reading: Reading, line: Heard, *, is_new: bool) -> list[Noun]:
    """The things in a line that are no part of the matter itself, the least spoken of first.

    With `is_new`, only what nobody had spoken of before it, and what was spoken of most since comes first.
    """
    matter = matter_of(reading)
    about = matter.text.lower() if matter is not None else ""
    named = [noun for noun in nouns_in(line.text) if noun.det and not noun.is_word]
    named = [noun for noun in named if not (noun.head.lower() in about or noun.head.lower() in reading.names)]
    counts = {noun: reading.visible_text.count(noun.head.lower()) for noun in named}
    if not is_new:
        return sorted(named, key=lambda noun: counts[noun])
    lines = reading.discussion
    earlier = lines[: lines.index(line)] if line in lines else []
    before = "\n".join(line.text for line in earlier).lower()
    fresh = [noun for noun in named if noun.head.lower() not in before] or named
    return sorted(fresh, key=lambda noun: -counts[noun])


def _is_last_round(reading: Reading) -> bool:
    """Whether the world has asked what should be kept, and I have not said so yet."""
    world_indexes = [at for at, line in enumerate(reading.discussion) if line.origin == "world"]
    if not world_indexes or world_indexes[-1] < reading.last_own_place:
        return False
    newest = reading.discussion[world_indexes[-1]].text.lower()
    return any(cue in newest for cue in shelf.sections(BOOK)["keeping"])


def _built_on(speaker: Speaker) -> Heard | None:
    """The line that is most on my mind, if somebody of the table said it; else the newest such."""
    if speaker.topic.owed:
        return speaker.topic.line
    lines = [line for line in speaker.reading.heard if line.origin in {"cast", "visitor"} and line.text]
    newest = lines[-lines_looked_at_max:]
    return speaker.dice.choice(newest) if newest else speaker.reading.cause or _newest(speaker.reading)


def _newest(reading: Reading) -> Heard | None:
    return reading.heard[-1] if reading.heard else None


def _kept(reading: Reading) -> Heard | None:
    """Of what the others brought, that on which most was built; of several, the one nearest to my own heart."""
    cast = [line for line in reading.heard if line.origin == "cast" and line.text]
    lines = [line for line in cast if FIELD in line.fields] or cast
    counts = Counter({line.ref: len(built_on(reading, line)) for line in lines})
    kin = reading.kin
    ranked = sorted(
        lines, key=lambda line: (-counts[line.ref], -len({n.stem for n in nouns_in(line.text)} & kin))
    )
    return ranked[0] if ranked else _newest(reading)


def _dish(reading: Reading, matter: Matter | None) -> str:
    """What it is all about: in full by who speaks of it first, shortly afterwards."""
    if matter is None:
        return "it"
    said = "\n".join(line.text for line in reading.discussion if line.origin == "cast").lower()
    return matter.noun.definite if matter.called.lower() in said or matter.noun.is_word else matter.called


def _turn_to_a_thing_of(
    speaker: Speaker, line: Heard | None, matter: Matter | None, *, is_keeping: bool
) -> None:
    """Speak of something in the line that is no part of the matter itself: the newest, or what most took up.

    Where it has nothing of that sort, speak of the matter.
    """
    if speaker.topic.owed and not is_keeping:
        return
    if line is not None and line.origin == "world":
        mine = nouns_in(speaker.dice.choice(own_things(speaker.reading.me) or speaker.stock["thing"]))
        line = None
        matter = Matter("", mine[0]) if mine else matter
    named = [] if line is None else things_brought(speaker.reading, line, is_new=is_keeping)
    if named:
        speaker.turn_to(named[0])
    elif matter is not None:
        speaker.turn_to(matter.noun)


def _name(line: Heard | None) -> str:
    if line is None or line.origin not in {"cast", "visitor"}:
        return ""
    return "our visitor" if line.origin == "visitor" else name_of(line.handle)


def _end(speaker: Speaker) -> str:
    fresh = untold(speaker.reading, "end", BOOK)
    return speaker.dice.choice(fresh) if fresh and speaker.dice.random() < _ENDED else ""
