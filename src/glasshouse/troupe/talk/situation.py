"""Situation: how the talk stands for one player: who waits for what, who wants what, what happened and who spoke of it.

Always holds: everything is told from the lines in sight by the sentences of the general talk; nothing else is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import pairwise
from types import MappingProxyType
from typing import Final, NamedTuple

from glasshouse.troupe.kinds import WORLD_OBSERVED
from glasshouse.troupe.noun_phrases import nouns_in
from glasshouse.troupe.reading import Heard, Reading
from glasshouse.troupe.speech_acts import REPORT, speech_act
from glasshouse.troupe.talk.dealings import Dealing, MoveTold, dealings_in
from glasshouse.troupe.talk.event_sorts import sort_of
from glasshouse.troupe.talk.happenings import Happening, happenings_in
from glasshouse.troupe.talk.own_story import Story, story_of
from glasshouse.troupe.talk.replies import ANSWERS, ECHOES
from glasshouse.troupe.talk.understanding import MoveSaid, called_before, understood
from glasshouse.troupe.vocabulary import stem, stems_of

QUESTIONS: Final = frozenset(ANSWERS) - {"oppose"}
_BARGAINS: Final = frozenset({"promise", "promise-care", "agree"})
"""What closes a bargain only when the other says so, too."""
ABOUT_EVENTS: Final = frozenset(
    {
        "note-event",
        "note-event-too",
        "note-quoted",
        "ask-event",
        "answer-event",
        "bear-event",
        "return-event",
        "ask-change",
        "change-act",
        "change-hard",
        "change-none",
        "report-on",
    }
)
_ABOUT_THE_NEWEST: Final = frozenset(
    {"answer-event", "ask-change", "change-act", "change-hard", "change-none", "report-on"}
)
"""Moves that speak of what happened without naming it."""
_ROLES: Final = re.compile(r"([\w~-]+(?: [A-Z]\b)?)(?:@[\w~-]+)? \((\w+)")
_SILENT_ROLES: Final = frozenset({"narrator", "judge", "audience"})
_WITH_WANT: Final = frozenset(
    {"tell-want", "oppose", "help-no-rival", "close-alone", "hold-want", "bear-event"}
)
"""Moves that say what their speaker wants."""
_WITH_HELP: Final = frozenset({"ask-help", "ask-help-for-chore", "help-if"})
"""Moves that say what their speaker wants help with."""
_CONDITIONS: Final = ("set-term", "hold-back", "help-if")
_REQUESTS: Final = ("ask-help", "ask-help-for-chore")
_BEGUN_BY: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"settle": _CONDITIONS, "thank": _REQUESTS, "bear-no": _REQUESTS}
)
"""What closes a bargain -> what its speaker said when it began."""
_OF_A_FILE: Final = re.compile(r"\b[\w-]+\.(?:md|markdown|txt|csv|html|rst)\b")
rivals_cache_pairs_max: Final = 1_024
"""For more pairs of wants it is asked again whether they are of one thing."""
lines_a_question_waits_max: Final = 3
"""Nobody takes up a question to everybody after more lines than this."""
events_weighed_max: Final = 3
"""Of what the world told, and of what visitors told, the newest are spoken of."""


class Open(NamedTuple):
    """Something that waits for an answer."""

    line: Heard
    said: MoveSaid | None
    """The move, if it is one of the general talk."""


class Event(NamedTuple):
    """What happened, and how far it was spoken of."""

    line: Heard
    happenings: tuple[Happening, ...]
    lines_since: int
    notes: int
    asks: int
    returns: int
    is_met_by_me: bool
    """Whether I have spoken of it."""
    is_new_to_me: bool
    """Whether I have not spoken since."""


class Situation:
    """One player's view of the talk."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.story: Story = story_of(reading.me)

    @cached_property
    def company(self) -> tuple[str, ...]:
        """Those around who answer questions, in the order of the prompt."""
        first = self.reading.around.split("\n", 1)[0]
        pairs = _ROLES.findall(first)
        return tuple(name for name, role in pairs if role not in _SILENT_ROLES)

    @cached_property
    def names(self) -> Mapping[str, str]:
        """How each around me and I may be called, in small letters -> handle."""
        called: dict[str, str] = {}
        for handle in (*self.company, self.reading.me.handle):
            bare = handle.split("~", maxsplit=1)[0]
            called[bare.replace("-", " ").replace("_", " ").lower()] = handle
        for handle, title in (*self.reading.titles.items(), (self.reading.me.handle, self.reading.me.title)):
            if title:
                called[title.lower()] = handle
                called[title.lower().removeprefix("the ")] = handle
        return called

    def addressed(self, said: MoveSaid) -> str:
        """Whom a move calls by name; empty if nobody."""
        return self.names.get((said.slots.get("you") or "").lower(), "")

    @cached_property
    def moves_told(self) -> list[tuple[Heard, MoveSaid, str]]:
        """All moves in sight with their lines and to whom they were said, oldest first. A reply without a name goes to
        whoever said last what it replies to."""
        moves: list[tuple[Heard, MoveSaid, str]] = []
        lines = {line.ref: line for line in (*self.reading.remembered, *self.reading.discussion)}
        for line in sorted(lines.values(), key=lambda line: int(line.ref)):
            if line.origin != "cast":
                continue
            for said in understood(line.text):
                to = self.addressed(said) or self.names.get(called_before(line.text, said.at).lower(), "")
                if said.move == "tell-deal":
                    to = self.names.get((said.slots.get("other") or "").lower(), "")
                moves.append((line, said, to or self._meant(moves, line, said.move)))
        return moves

    def _meant(self, moves: list[tuple[Heard, MoveSaid, str]], line: Heard, move: str) -> str:
        """To whom a reply without a name is said; empty if it is no reply."""
        for before, said, to in reversed(moves):
            is_for_it = to == line.handle or (not to and before.handle != line.handle)
            if is_for_it and (move in ANSWERS.get(said.move, ()) or move in ECHOES.get(said.move, ())):
                return before.handle
        # What is replied to may be out of sight, where what it goes back to is not.
        begun = _BEGUN_BY.get(move, ())
        return next(
            (
                to
                for before, said, to in reversed(moves)
                if before.handle == line.handle and said.move in begun
            ),
            "",
        )

    @cached_property
    def dealings(self) -> list[Dealing]:
        """Who asked whom for help, and how it stands."""
        return dealings_in(
            MoveTold(line.ref, line.handle, to, said.move) for line, said, to in self.moves_told
        )

    @cached_property
    def said_by(self) -> dict[str, list[MoveSaid]]:
        """Who in sight said which moves, oldest first."""
        moves: dict[str, list[MoveSaid]] = {}
        for line, said, _ in self.moves_told:
            moves.setdefault(line.handle, []).append(said)
        return moves

    @cached_property
    def wants(self) -> dict[str, str]:
        """Handle -> what somebody said they want, in their words: `to win`, `a bigger share`."""
        wants: dict[str, str] = {}
        for line, said, _ in self.moves_told:
            want = said.slots.get("want") if said.move in _WITH_WANT else None
            if said.move in _WITH_HELP and line.handle not in wants:
                helped = said.slots.get("help") or ""
                want = helped.removeprefix("get ") if helped.startswith("get ") else f"to {helped}"
            if want:
                wants[line.handle] = want
        return wants

    def is_rival(self, handle: str) -> bool:
        """Whether somebody wants something else of the same thing as I do: to sell the pool, to save the pool."""
        theirs = self.wants.get(handle, "")
        return bool(theirs) and is_against(self.story.want, theirs)

    @cached_property
    def cares(self) -> dict[str, str]:
        """Handle -> what somebody last said they care about."""
        return {line.handle: said.slots["care"] for line, said, _ in self.moves_told if "care" in said.slots}

    @cached_property
    def next_speaker(self) -> str:
        """Who will probably speak after me: who did so two of my lines ago, else last time; else who has not spoken yet."""
        spoken = [line.handle for line in self.reading.discussion if line.origin == "cast"]
        me = self.reading.me.handle
        followers = [after for before, after in pairwise(spoken) if before == me and after != me]
        usual = [handle for handle in followers[-2:] if handle in self.company]
        if usual:
            return usual[0]
        silent = [handle for handle in self.company if handle not in spoken]
        return next(iter(silent or self.company), "")

    @cached_property
    def open_to_me(self) -> list[Open]:
        """What waits for my answer: the questions that are mine to answer, the newest first; without one, the newest line
        that was said to me."""
        others = {"cast", "visitor"}
        fresh = [line for line in self.reading.fresh if line.origin in others and line.kind != WORLD_OBSERVED]
        cause = self.reading.cause
        if (
            cause is not None
            and cause not in fresh
            and cause.origin in others
            and not self.reading.is_mine(cause)
        ):
            fresh.append(cause)
        opened: list[Open] = []
        said_since: set[str] = set()
        lines_since = 0
        for line in reversed(fresh):
            opened += self._opened(line, said_since, lines_since)
            if not line.fields.get("winner"):
                said_since.update(said.move for said in understood(line.text))
                lines_since += 1
        due = [item for item in opened if item.said is None or item.said.move in QUESTIONS | _BARGAINS]
        return due or opened[:1]

    def _opened(self, line: Heard, said_since: set[str], lines_since: int) -> Iterator[Open]:
        """What a line asks of me by name, or of anybody where nobody has answered since."""
        me = self.reading.me.handle
        is_newest = lines_since == 0
        moves = [(said, to) for heard, said, to in self.moves_told if heard.ref == line.ref]
        if not moves:
            moves = [(said, self.addressed(said)) for said in understood(line.text)]
        for said, to in reversed(moves):
            is_for_anybody = not to and said.move in QUESTIONS and "you" not in said.slots
            is_answered = not said_since.isdisjoint(ANSWERS.get(said.move, ()))
            if to == me or (is_for_anybody and not is_answered and lines_since < lines_a_question_waits_max):
                yield Open(line, said)
        if line.text.rstrip('" ').endswith("?") and not any(said.pattern.mark == "?" for said, _ in moves):
            others = [
                name for name, handle in self.names.items() if handle != me and name in line.text.lower()
            ]
            mine = [name for name, handle in self.names.items() if handle == me and name in line.text.lower()]
            is_of_visitor = line.origin == "visitor" and not self.is_met(line)
            if mine or (is_newest and not others) or is_of_visitor:
                yield Open(line, None)

    def is_met(self, question: Heard) -> bool:
        """Whether somebody of the cast has spoken of what a question is about since it was put."""
        later = [line for line in self.reading.discussion if int(line.ref) > int(question.ref)]
        stems = stems_of(question.text)
        return any(stems & stems_of(line.text) for line in later if line.origin == "cast")

    @cached_property
    def waits_for_another(self) -> Open | None:
        """The question in the newest line, if somebody else was asked by name and I am not who asked."""
        me = self.reading.me.handle
        spoken = [line for line in self.reading.discussion if line.origin == "cast"]
        if not spoken or spoken[-1].handle == me:
            return None
        for said in understood(spoken[-1].text):
            to = self.addressed(said)
            if said.move in QUESTIONS and to in self.company and to not in {me, spoken[-1].handle}:
                return Open(spoken[-1], said)
        return None

    @cached_property
    def events(self) -> list[Event]:
        """What the world, visitors and strange lines told since the opening, the newest first."""
        lines = list(self.reading.discussion)
        known = {line.ref for line in lines}
        brought = [line for line in self.reading.disturbances if line.ref not in known]
        happened = [line for line in (*brought, *lines) if line.ref != "1" and self._tells_an_event(line)]
        events = []
        for line in reversed(happened):
            is_of_visitor = line.origin == "visitor"
            happenings = tuple(
                happening
                for happening in happenings_in(line.text, is_of_visitor=is_of_visitor)
                if not (happening.is_only_said and happening.quoted.endswith("?"))
            )
            # What can only be quoted is not spoken of where something else can be said.
            said_again = tuple(happening for happening in happenings if happening.told)
            if not said_again or said_again[0].told.startswith(("it is ", "it was ", "they ")):
                said_again = happenings
            if said_again:
                # What was done says more than what is there.
                events.append(self._event(line, tuple(sorted(said_again, key=_is_there))))
        of_visitors = [event for event in events if event.line.origin == "visitor"][:events_weighed_max]
        of_others = [event for event in events if event.line.origin != "visitor"][:events_weighed_max]
        return [event for event in events if event in of_visitors or event in of_others]

    def _tells_an_event(self, line: Heard) -> bool:
        """Whether a line is the world's or a visitor's, or one of a castmate that is none of the general talk."""
        if line.origin != "cast":
            return line.origin in {"world", "visitor"}
        if self.reading.is_mine(line) or line.kind == WORLD_OBSERVED or line.fields:
            return False
        # What was read in a file answers somebody.
        is_read = _OF_A_FILE.search(line.text) is not None
        return not (is_read or understood(line.text)) and speech_act(line.text) == REPORT

    def _event(self, line: Heard, happenings: tuple[Happening, ...]) -> Event:
        stems = frozenset[str]().union(*(happening.stems for happening in happenings))
        later = [
            after
            for after in self.reading.discussion
            if int(after.ref) > int(line.ref) and after.origin == "cast"
        ]
        named = stems.union(*(stems_of(sort_of(happening).reference) for happening in happenings))
        touching = [(after, _moves_about(after, stems, named)) for after in later]
        own = [moves for after, moves in touching if self.reading.is_mine(after)]
        counts = [move for _, moves in touching for move in moves]
        return Event(
            line,
            happenings,
            len(later),
            sum(move not in {"ask-event", "ask-change"} for move in counts),
            counts.count("ask-event") + counts.count("ask-change"),
            counts.count("return-event") + counts.count("report-on"),
            is_met_by_me=any(own),
            is_new_to_me=not own,
        )

    @cached_property
    def used_patterns(self) -> frozenset[tuple[str, tuple[str, ...]]]:
        """The sentences of the general talk that can be seen."""
        return frozenset((said.move, said.pattern.texts) for moves in self.said_by.values() for said in moves)


def _is_there(happening: Happening) -> bool:
    return happening.is_fragment


def without_news(text: str) -> str:
    """A line without the sentence before it that tells what happened; the whole line if none stands there."""
    first = next(iter(understood(text)), None)
    is_news = first is not None and first.at == 0 and first.move in ABOUT_EVENTS
    return text[first.end + 1 :].lstrip() if first is not None and is_news else text


@lru_cache(maxsize=rivals_cache_pairs_max)
def is_against(mine: str, theirs: str) -> bool:
    """Whether two wants are of the same thing and of different deeds."""
    if not (mine.startswith("to ") and theirs.startswith("to ")):
        return False
    verbs = [stem(want.split()[1]) for want in (mine, theirs)]
    things = [{noun.stem for noun in nouns_in(want)} for want in (mine, theirs)]
    return verbs[0] != verbs[1] and bool(things[0] & things[1])


def _moves_about(line: Heard, stems: frozenset[str], named: frozenset[str]) -> list[str]:
    """The moves of a line that speak of an event with these stems, or by what one calls it."""
    moves = []
    for said in understood(line.text):
        if said.move in ABOUT_EVENTS:
            gaps = " ".join(
                said.slots.get(name) or ""
                for name in ("told", "again", "question", "ongoing", "quoted", "reference")
            )
            if named & stems_of(gaps) or (said.move in _ABOUT_THE_NEWEST and not gaps.strip()):
                moves.append(said.move)
    if not moves and len(stems & stems_of(line.text)) * 2 > len(stems):
        moves.append("note-event")
    return moves
