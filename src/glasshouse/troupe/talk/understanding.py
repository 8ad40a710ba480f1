"""Understanding: which moves of the general talk a line consists of, and what was said in their gaps.

Always holds: a move is recognised by the sentences of the data alone, whoever said them; a line of which no sentence is
known has no moves.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.grammar import Pattern, cores

TALK: Final = "talk"
understood_cache_texts_max: Final = 8_192
"""What more lines say is recognised again."""
part_chars_min: Final = 5
"""A sentence with no longer fixed part is not recognised: too much would look like it."""

opening_words_max: Final = 3
"""So many words may stand before the first sentence of a line, with a comma behind them."""
_NAMES: Final = frozenset({"you", "other"})
_NAME: Final = r"[\w'\u2019-]+(?: [\w'\u2019-]+){0,4}?"


class MoveSaid(NamedTuple):
    """One move in a line: which, in which of its sentences, and what its gaps held."""

    move: str
    pattern: Pattern
    slots: dict[str, str]
    at: int
    end: int
    """Where it begins and ends in the line; the mark behind it is not counted."""


class _Known(NamedTuple):
    move: str
    pattern: Pattern
    regex: re.Pattern[str]
    part: str


@lru_cache(maxsize=1)
def moves() -> tuple[str, ...]:
    """All headings of the general talk, in the order of the data: a move, or a move and a manner behind a stroke."""
    return tuple(shelf.sections(f"grammar/{TALK}.txt"))


@lru_cache(maxsize=1)
def _known() -> tuple[_Known, ...]:
    known = []
    for move in moves():
        for pattern in cores(TALK, move):
            part = max((text.strip() for text in pattern.texts), key=len).lower()
            if len(part) >= part_chars_min:
                known.append(_Known(move.partition("/")[0], pattern, _regex(pattern), part))
    # Of two that fit, the one that says more by itself is meant.
    known.sort(key=lambda sentence: -sum(map(len, sentence.pattern.texts)))
    return tuple(known)


def how_said(said: MoveSaid) -> str:
    """What stands behind the stroke of the heading that a sentence is from; empty if nothing does."""
    for heading in moves():
        move, _, manner = heading.partition("/")
        if manner and move == said.move and said.pattern in cores(TALK, heading):
            return manner
    return ""


def _regex(pattern: Pattern) -> re.Pattern[str]:
    seen = set[str]()
    parts = [re.escape(pattern.texts[0])]
    for slot, text in zip(pattern.slots, pattern.texts[1:], strict=True):
        body = _NAME if slot in _NAMES else r"[^.?!]+?"
        parts.append(f"(?P={slot})" if slot in seen else f"(?P<{slot}>{body})")
        seen.add(slot)
        parts.append(re.escape(text))
    mark = r"\?" if pattern.mark == "?" else r"[.!]"
    return re.compile(rf"(?:^|(?<=[.?!:,] )){''.join(parts)}(?={mark})", re.IGNORECASE)


_CALL: Final = re.compile(r"(?:^|[.?!:] )([A-Z][\w'\u2019-]+(?: (?:of|the|[A-Z][\w'\u2019-]*)){0,5}), $")


def _is_start(text: str, at: int) -> bool:
    """Whether a sentence starts there, or goes on behind a name or a few words: `Big Tom, yes`, `bless it, yes`."""
    before = text[:at]
    return not before.endswith(", ") or before.count(" ") <= opening_words_max or bool(_CALL.search(before))


def called_before(text: str, at: int) -> str:
    """The name that stands before a sentence, if one does."""
    called = _CALL.search(text[:at])
    return called[1] if called else ""


@lru_cache(maxsize=understood_cache_texts_max)
def understood(text: str) -> tuple[MoveSaid, ...]:
    """The moves of a line, in their order; of those that overlap, the one that says more by itself."""
    lower = text.lower()
    moves_found: list[tuple[int, int, MoveSaid]] = []
    for move, pattern, regex, part in _known():
        if part not in lower:
            continue
        match = next((match for match in regex.finditer(text) if _is_start(text, match.start())), None)
        if match is None or any(match.start() < end and start < match.end() for start, end, _ in moves_found):
            continue
        said = MoveSaid(move, pattern, match.groupdict(), match.start(), match.end())
        moves_found.append((match.start(), match.end(), said))
    return tuple(said for _, _, said in sorted(moves_found, key=lambda entry: entry[0]))
