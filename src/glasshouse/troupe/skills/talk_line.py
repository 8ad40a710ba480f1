"""A line of the general talk: its sentences, what they are filled with, and what was said of whom in sight.

Always holds: a sentence says only what its speaker read about itself, what others said and what happened; none is said
that was said in sight.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Final

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.grammar import Pattern, cores, cores_owned, filled, fits, with_capitals
from glasshouse.troupe.noun_phrases import Noun, nouns_in
from glasshouse.troupe.reactions import Act, acts, stance_of, weights_of
from glasshouse.troupe.salience import owed_by
from glasshouse.troupe.skills.branches import Branch
from glasshouse.troupe.speaking import Speaker, name_of
from glasshouse.troupe.talk.echoes import is_echo
from glasshouse.troupe.talk.event_sorts import sort_of
from glasshouse.troupe.talk.happenings import Happening, slots_of
from glasshouse.troupe.talk.manners import manner_of
from glasshouse.troupe.talk.matters import OpenQuestion, matter_of, names_the_deed, work_in
from glasshouse.troupe.talk.own_story import Story
from glasshouse.troupe.talk.pronouns import to_you
from glasshouse.troupe.talk.replies import ACT_OF, ANSWERS, ECHOES, disposition_of
from glasshouse.troupe.talk.situation import Situation
from glasshouse.troupe.talk.understanding import TALK, understood
from glasshouse.troupe.talk.verbs import is_plain_verb
from glasshouse.troupe.vocabulary import is_a, stems_of
from glasshouse.troupe.wants import wanted_by

choice_of_sentences_max: Final = 4
"""Of the sentences that fit, one of the first few is said."""
lines_between_remarks: Final = 5
"""Nobody remarks sooner again on what two others settled."""
goal_words_max: Final = 20
"""A longer goal is not said again."""
_SAID_ONCE: Final = frozenset(
    {
        "want",
        "deed",
        "short",
        "wish",
        "care",
        "fact",
        "ywant",
        "yshort",
        "ywish",
        "ycare",
        "told",
        "again",
        "question",
        "goal",
    }
)
"""What stands in a line once."""
_LEADABLE: Final = frozenset({"oppose", "refuse-reason", "ask-why", "tell-goal", "count", "ask-side"})
"""Behind a lead of my register nothing stands but what I begin or meet."""
_ANSWERING: Final = frozenset(
    move for table in (ANSWERS, ECHOES) for moves in table.values() for move in moves
) - {"tell-want", "stand-for", "answer-event", "abstain", "side-other", "hold-want"}
"""What one says to somebody."""
_CALLS: Final = frozenset(
    {"well", "no", "yes", "good", "then", "so", "look", "really", "oh", "ha", "bless", "all"}
)
_ORDERED: Final = re.compile(r" (?:down|up|in|out|back|off|on|over),$")
"""How an order ends that begins an example: `sit down,` is said to others, `bless it,` is not."""
_WITH_WHICH: Final = re.compile(r"^to win \b(?:.* )?with ((?:a|an|my|the|our) [^,]+)$")
"""With what somebody wants to win."""
_LED: Final = 0.15
"""How likely a word of the register stands before what is said."""
_DWELT_ON: Final = frozenset(
    {
        "tell-want",
        "want-goal",
        "tell-self",
        "give-part",
        "stand-for",
        "note-event",
        "bear-event",
        "note-quoted",
        "note-scene",
        "deny-it",
        "count-won",
    }
)


class TalkLine:
    """One line that a player makes."""

    def __init__(self, speaker: Speaker, calling: str, branches: Sequence[Branch] = ()) -> None:
        self.speaker = speaker
        self.reading = speaker.reading
        self.dice = speaker.dice
        self.calling = calling
        self.situation = Situation(speaker.reading)
        self.story: Story = self.situation.story
        self.disposition = disposition_of(speaker.reading.me)
        self.me = speaker.reading.me.handle
        decides = matter_of(speaker.reading.me.goal)
        is_of_all = decides is not None and bool(decides.deeds or decides.whether)
        self.is_contest = "(judge" in speaker.reading.around and not is_of_all
        """Whether somebody else decides who is best. What all decide together is none."""
        self.moves: list[str] = []
        """The moves of the line that is being made."""
        self.patterns: set[tuple[str, tuple[str, ...]]] = set()
        """The sentences of that line."""
        self.gaps: set[str] = set()
        """What stands in the gaps of that line already."""
        self.answers: set[str] = set()
        """What of that line somebody waits for."""
        self.is_about_event = False
        self.manner = manner_of(speaker.reading.me.temper, speaker.reading.me.persona)
        self.who = ""
        """Of whom the line speaks, where that is what it is about."""
        self.branches = branches
        self.voted = ""
        """What I am for, said in this line."""
        self.kind = ""
        """The kind of the world that the line is made for."""
        self.given: dict[str, Any] = {}
        """What stands in the fields of that kind."""
        self.rests_on = ""
        """The sentence that says what the fields say."""

    def _in_own_words(self, text: str) -> str:
        """The line; with a word of my own behind it, if it says too little beside what all know; empty if that does not do."""
        if not text or self.calling == "narrate" or not is_echo(text, self.reading):
            return text
        moves = ("feel-event", "dwell") if self.is_about_event else ("dwell",)
        if _DWELT_ON.isdisjoint(self.moves):
            return ""
        tried = [more for move in (*moves, *moves, *moves) if (more := self._first([move]))]
        for some in (*([more] for more in tried), tried[:2]):
            # A question stays the last.
            said = understood(text)
            at = said[-1].at if text.endswith("?") and said else 0 if text.endswith("?") else len(text)
            longer = " ".join(part for part in (text[:at].strip(), *some, text[at:]) if part)
            if not is_echo(longer, self.reading) and self.speaker.may_say(longer):
                return longer
        return ""

    def _act(self) -> Act:
        """What I do with the line: what its first move does; where that tells nothing, what my temper leans to."""
        name = ACT_OF.get(self.moves[0] if self.moves else "", "")
        if name and not stance_of(self.reading.me):
            return acts()[name]
        weights = {act: weight for act, weight in weights_of(self.reading.me).items() if act in acts()}
        return acts()[self.dice.choices(list(weights), list(weights.values()))[0]]

    def _with_what_is_owed(self, text: str) -> str:
        """The line, if it may be said; behind one that passes over a stranger's rare word, that it was heard."""
        owed = self.speaker.topic.owed
        if owed:
            strange = [
                noun
                for line, noun in owed_by(self.reading)
                if not (understood(line.text) or ("?" in line.text and self.situation.is_met(line)))
            ]
            if self.is_about_event:
                strange = [noun for noun in strange if noun.is_rare]
            self.speaker.topic = self.speaker.topic._replace(owed=tuple(strange))
        return self.speaker.with_what_is_owed(text)

    def _with_lead(self, text: str) -> str:
        if self.calling == "narrate" or self.dice.random() > _LED:
            return text
        own = [
            words
            for words in self.speaker.voice.openings
            if not nouns_in(words) and not _ORDERED.search(words)
        ]
        if own:
            return with_capitals(f"{self.dice.choice(own)} {_small(text)}")
        leads = shelf.sections("grammar/leads.txt").get(self.disposition.register, ())
        fresh = [lead for lead in leads if f"{lead.lower()} " not in self.reading.own_text]
        if not fresh or not _LEADABLE.intersection(self.moves[:1]):
            return text
        return with_capitals(f"{self.dice.choice(fresh)} {text}")

    @cached_property
    def matter(self) -> OpenQuestion | None:
        return matter_of(self.reading.me.goal)

    @cached_property
    def _is_culprit(self) -> bool:
        """Whether all look for me, and I know it."""
        deed = self.matter.culprit if self.matter is not None else ""
        return bool(deed) and names_the_deed(self.reading.me.persona, deed)

    def _state(self, asker: str, asked: str) -> str:
        return next(
            (
                dealing.state
                for dealing in self.situation.dealings
                if (dealing.asker, dealing.asked) == (asker, asked)
            ),
            "",
        )

    def _asked(self, handle: str) -> set[str]:
        """What anybody asked somebody in sight."""
        return {said.move for _, said, to in self.situation.moves_told if to == handle}

    def _told_to(self, handle: str) -> set[str]:
        """What I said to somebody in sight."""
        return {
            said.move
            for line, said, to in self.situation.moves_told
            if to == handle and line.handle == self.me
        }

    def _has_said(self, *moves: str) -> bool:
        """Whether I said one of some moves in sight, or in this line."""
        mine = {said.move for said in self.situation.said_by.get(self.me, ())} | set(self.moves)
        return not mine.isdisjoint(moves)

    def _called(self, name: str) -> str:
        return self.situation.names.get(name.lower(), "")

    def _is_past(self, lines: tuple[int, int]) -> bool:
        """Whether so many lines were said, and so many more for each who takes part."""
        heard = int(self.reading.discussion[-1].ref) if self.reading.discussion else 0
        return heard >= lines[0] + lines[1] * (len(self.situation.company) + 1)

    @cached_property
    def _sees_all(self) -> bool:
        """Whether nothing that was said is out of sight."""
        lines = {line.ref for line in (*self.reading.remembered, *self.reading.discussion)}
        return not lines or len(lines) >= max(map(int, lines))

    @property
    def _is_first(self) -> bool:
        """Whether nobody of the cast has spoken yet."""
        return not any(line.origin == "cast" for line in (*self.reading.remembered, *self.reading.discussion))

    def _fact_told(self) -> str:
        """Something of myself, before what I want."""
        fact = self._slots_of_mine.get("fact", "")
        if fact.lower() in self.gaps:
            return ""
        text = f"{fact[:1].upper()}{fact[1:]}." if fact else ""
        return text if text and self._is_sound(text) else ""

    def _moves_lately(self) -> set[str]:
        """The moves of the last few lines."""
        newest = {line.ref for line in self.reading.discussion[-lines_between_remarks:]}
        return {said.move for line, said, _ in self.situation.moves_told if line.ref in newest}

    def _first(self, moves: Iterable[str], to: str = "", **more: Any) -> str:
        """A sentence of the first of some moves that has one."""
        return next((text for move in moves if (text := self._said(move, to, **more))), "")

    def _said(
        self,
        move: str,
        to: str = "",
        *,
        event: Happening | None = None,
        other: str = "",
        thing: str = "",
        sort: str = "",
        **more: str,
    ) -> str:
        """A sentence of a move, filled, of its sort or in my manner first; empty if none fits that was not said in sight."""
        slots = self._slots(to, event, other) | _filled_only(X=thing, thing=thing, **more)
        owned = cores_owned(TALK, move, self.reading.cast, self.me, self.reading.rounds)
        used = self.situation.used_patterns | self.patterns
        of_sort = cores(TALK, f"{move}/{sort}") if sort else ()
        for patterns in (of_sort, cores(TALK, f"{move}/{self.manner}"), owned, cores(TALK, move)):
            fresh = [
                pattern for pattern in patterns if fits(pattern, slots) and (move, pattern.texts) not in used
            ]
            for pattern in self._named_as_needed(self._shuffled_first(fresh), to):
                text = f"{filled(pattern, slots, self.dice, set())}{self._mark(pattern)}"
                if move in _ANSWERING and "you" not in pattern.slots and self._is_name_needed(to):
                    text = f"{self._name(to)}, {_small(text)}"
                is_empty = move not in _DWELT_ON and is_echo(text, self.reading)
                if is_empty or self._says_twice(pattern, slots):
                    continue
                if text.lower() not in self.reading.visible_text and self._is_sound(text):
                    self.moves.append(move)
                    self.patterns.add((move, pattern.texts))
                    self.gaps |= {slots[name].lower() for name in pattern.slots if name in _SAID_ONCE}
                    return with_capitals(text)
        return ""

    def _named_as_needed(self, patterns: list[Pattern], to: str) -> list[Pattern]:
        """Sentences that call the other by name go last, where the other spoke just before; else first."""
        is_needed = self._is_name_needed(to)
        return sorted(patterns, key=lambda pattern: ("you" in pattern.slots) != is_needed)

    def _is_name_needed(self, to: str) -> bool:
        """Whether it would not be clear to whom I speak: the other did not speak just before, or I said something else."""
        spoken = [line.handle for line in self.reading.discussion if line.origin in {"cast", "visitor"}]
        return bool(to) and (spoken[-1:] != [to] or bool(self.moves))

    def _says_twice(self, pattern: Pattern, slots: dict[str, str]) -> bool:
        """Whether something would stand in the line twice."""
        values = (slots[name].lower() for name in pattern.slots if name in _SAID_ONCE)
        return any(value in said or said in value for value in values for said in self.gaps)

    def _is_sound(self, text: str) -> bool:
        return self.speaker.may_say(text)

    def _mark(self, pattern: Pattern) -> str:
        if pattern.mark == "." and self.speaker.voice.exclaims and self.dice.random() < 0.4:
            return "!"
        return pattern.mark

    def _shuffled_first(self, patterns: list[Pattern]) -> list[Pattern]:
        first = patterns[:choice_of_sentences_max]
        start = int(self.dice.random() * len(first))
        return [*first[start:], *first[:start], *patterns[len(first) :]]

    def _slots(self, to: str, event: Happening | None, other: str) -> dict[str, str]:
        slots = self._slots_of_mine | self._slots_of_addressee(to)
        others = [handle for handle in self.situation.company if handle not in {to, self.me}]
        third = other or (self.dice.choice(others) if others else "")
        slots |= _filled_only(other=self._name(third) if third else "")
        if event is None:
            return slots
        return slots | slots_of(event) | _filled_only(reference=sort_of(event).reference)

    @cached_property
    def _slots_of_mine(self) -> dict[str, str]:
        """What I can say of myself and of the goal."""
        story = self.story
        visible = self.reading.visible_text
        wanted = wanted_by(self.reading.me).words
        slots: dict[str, str] = {}
        if not story.is_secret:
            slots |= _filled_only(want=story.want, help=story.help)
            # What others are to do is nothing that one can be given.
            is_thing = not (story.deed or wanted.lower().startswith("that "))
            if story.want and is_thing:
                slots["wish"] = story.want
            if story.short and not story.short.startswith(("be ", "have ")):
                slots["short"] = story.short
        elif (thing := _thing_wanted(wanted)) is not None:
            slots["wthing"] = thing.definite
        with_which = _WITH_WHICH.search(story.want)
        slots |= _filled_only(made=with_which[1] if with_which else "", work=work_in(self.reading.me.goal))
        deed = self.matter.culprit if self.matter is not None else ""
        kept = stems_of(deed.partition(" ")[2]) if self._is_culprit else frozenset[str]()
        facts = [
            fact
            for fact in story.facts
            if fact.lower() not in visible and not (kept and kept <= stems_of(fact))
        ]
        if facts:
            slots["fact"] = facts[0] if facts[0].startswith("I ") else facts[0][:1].lower() + facts[0][1:]
        fresh = [care for care in story.cares if care.lower() not in visible]
        if fresh:
            slots["care"] = fresh[0]
        return slots | _filled_only(goal=self._goal, deed=deed, what=self._decided_deed)

    @property
    def _decided_deed(self) -> str:
        """Which of the deeds that could be chosen was chosen; empty before that."""
        won = [
            said.slots.get("option") or ""
            for _, said, _ in self.situation.moves_told
            if said.move == "count-won"
        ]
        deed = won[-1].removeprefix("we ") if won else ""
        return deed if self.matter is not None and deed in self.matter.deeds else ""

    def _slots_of_addressee(self, to: str) -> dict[str, str]:
        if not to:
            return {}
        slots = {"you": self._name(to)}
        want = self.situation.wants.get(to, "")
        if want:
            slots["ywant"] = to_you(want)
            deed = want.removeprefix("to ")
            slots["ywish" if deed == want else "yhelp"] = to_you(deed)
        return slots

    def _name(self, handle: str) -> str:
        return "visitor" if handle == "visitor" else name_of(handle)

    def _last_handle(self) -> str:
        spoken = [line.handle for line in self.reading.fresh if line.origin == "cast"]
        return spoken[-1] if spoken else ""

    @cached_property
    def _goal(self) -> str:
        """What all are here to do, as it stands behind `to`; empty if the goal does not say it so."""
        first = re.split(r"[.:;](?: |$)", self.reading.me.goal)[0].rstrip(". ")
        words = first.split()
        if not words or len(words) > goal_words_max:
            return ""
        if not (is_a(words[0].lower(), "verb") or is_plain_verb(words[0].lower())):
            return ""
        if words[0].lower().endswith("s") and not words[0].lower().endswith("ss"):
            return ""
        return first[:1].lower() + first[1:]


def _thing_wanted(wants: str) -> Noun | None:
    """What somebody wants without anybody noticing; none if it is only that nobody notices."""
    if wants.lower().startswith(("nobody ", "no one ", "that nobody ", "not ")):
        return None
    return next((noun for noun in nouns_in(wants) if not (noun.is_word or noun.is_name)), None)


def _small(text: str) -> str:
    """A sentence as it goes on behind a comma."""
    first = text.split(" ", 1)[0]
    if first.rstrip(",").lower() in _CALLS:
        return text[:1].lower() + text[1:]
    return text if first in {"I", "I'm"} or first.endswith((",", "'s")) else text[:1].lower() + text[1:]


def _filled_only(**slots: str) -> dict[str, str]:
    return {name: value for name, value in slots.items() if value}
