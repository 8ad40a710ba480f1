"""Told events: what a visitor brought, how far those who play from a script have spoken of it, and what falls to me.

Always holds: only lines in sight count. The first who hears of it tells it, the next asks about it, somebody answers, somebody
says what it means; after some lines on other things it comes back, once.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from glasshouse.scripts.script import EVENT, Part
from glasshouse.troupe.reading import Heard, Reading
from glasshouse.troupe.surroundings import bare_name
from glasshouse.troupe.talk.happenings import Happening, event_told_by_visitor

tellers_max: Final = 4
"""When so many have spoken of it, the others go on with what they do."""
lines_before_return: Final = 4
"""It comes back no sooner than so many lines after it was last spoken of."""
lines_event_is_news_max: Final = 8
"""Of what came before more lines than this, nobody who has not spoken of it tells as of news."""

words_told_at_once_max: Final = 12
"""Of a longer event one tells the beginning, and others how it went on: a line that mostly repeats another is dropped."""

_MARK_TWICE: Final = re.compile(r'([?!])"\.')


class ToldEvent(NamedTuple):
    """What a visitor brought, at one moment for one player."""

    line: Heard
    happening: Happening
    act: str
    """What falls to me: one of `EVENT_ACTS`; empty if nothing does."""
    question: Heard | None
    """The line that asks about it and has no answer yet."""

    @property
    def briefly(self) -> ToldEvent:
        """The same with the first of its clauses alone, for a line with little room."""
        parts = self.happening.parts
        return self._replace(happening=parts[0]) if parts else self

    def value_of(self, slot: str) -> str | None:
        """What stands in a slot of an event; none if that form is not certain."""
        forms = {
            "event": self.happening.told,
            "event.known": self.happening.told_again,
            "event.why": self.happening.question,
        }
        return forms.get(slot) or None


def told_event(reading: Reading, part: Part) -> ToldEvent | None:
    """The newest event that a visitor brought; none where none is in sight."""
    if not reading.has_visitors:
        return None
    lines = reading.whole_discussion
    brought = [*reading.disturbances, *(line for line in lines if line.origin == "visitor")]
    if reading.cause is not None and reading.cause.origin == "visitor":
        brought.append(reading.cause)
    line = max(brought, key=lambda line: int(line.ref))
    later = [said for said in lines if said.origin == "cast" and int(said.ref) > int(line.ref)]
    acts = [(said, part.script.event_acts_in(bare_name(said.handle), said.text)) for said in later]
    telling = [(said, done) for said, done in acts if done]
    question = next((said for said, done in telling if "ask" in done), None)
    is_answered = any("answer" in done for _, done in telling)
    open_question = None if is_answered else question
    since = len(later) - 1 - max((at for at, (_, done) in enumerate(acts) if done), default=-1)
    is_told_by_me = any(reading.is_mine(said) for said, _ in telling)
    if any("remark" in done for _, done in telling) or (line not in lines and len(later) > tellers_max):
        act = ""
    elif open_question is not None and not reading.is_mine(open_question):
        act = "answer"
    elif not is_told_by_me and len(telling) < tellers_max and len(later) <= lines_event_is_news_max:
        asks = any(entry.on == EVENT and entry.act == "ask" for entry in part.entries)
        act = _first_act(len(telling), is_asked=question is not None or is_answered or not asks)
    else:
        act = "remark" if telling and since >= lines_before_return else ""
    happening = _told_now(line.text, act)
    if _is_about(reading.me.handle, happening):
        # Nobody speaks of themselves as of another: that is left to the others.
        act = ""
    return ToldEvent(line, happening, act, open_question)


def _is_about(handle: str, happening: Happening) -> bool:
    """Whether somebody is who an event is about: `the mule falls asleep`."""
    head = happening.thing.lower().split()[-1:]
    return bool(head) and head[0] in bare_name(handle).split("-")


def _told_now(text: str, act: str) -> Happening:
    """What is told of an event: all of it, or, if that is long, its beginning first and how it goes on behind."""
    whole = event_told_by_visitor(text)
    if len(whole.told.split()) <= words_told_at_once_max or len(whole.parts) < 2:
        return whole
    first = whole.parts[0]
    last = whole.parts[-1]
    return first if act == "report" else last._replace(question=last.question or first.question)


def _first_act(tellers: int, *, is_asked: bool) -> str:
    if not tellers:
        return "report"
    return "react" if is_asked else "ask"


def with_one_mark(text: str) -> str:
    """A line in which no quotation is closed by two marks."""
    return _MARK_TWICE.sub(r'\1"', text)
