"""Speaking: a line in one's own voice about what was heard, or a plain sentence dressed as one.

Always holds: the line has the topic and everything owed in it, keeps within the words allowed, breaks no vow, lets out
no secret, and is no line that can be seen in the prompt. Where one of these cannot be had, the topic goes last.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final, NamedTuple

from glasshouse.models.offline import grammar
from glasshouse.models.offline.acts import Act, act_for, acts
from glasshouse.models.offline.grammar import Pattern, filled, fits, listed, slots_for, with_capitals
from glasshouse.models.offline.lifting import Noun, nouns_in
from glasshouse.models.offline.reading import Reading
from glasshouse.models.offline.salience import Topic, is_addressed, is_somebody, topic_of
from glasshouse.models.offline.voice import Voice, breaks_a_vow, voice_of

tries_max: Final = 12
short_sentence_words_max: Final = 5
draws_min: Final = 2

_OPENED: Final = 0.62
_CLOSED: Final = 0.6
_CLOSED_BY_SENTENCE: Final = 0.07
_OWN_OPENING: Final = 0.3
_OWN_LAST_WORDS: Final = 0.04
_OWN_SENTENCE: Final = 0.12
_WHOLE_EXAMPLE: Final = 0.04
_WHOLE_FINDING: Final = 0.3


class Spoken(NamedTuple):
    """A line with what was thought and felt behind it."""

    text: str
    thought: str
    mood: str


class Speaker:
    """One player at one moment: what it heard, what it will speak of, and its dice."""

    def __init__(self, reading: Reading, dice: Random) -> None:
        self.reading = reading
        self.dice = dice
        self.voice: Voice = voice_of(reading.me)
        self.topic: Topic = topic_of(reading, dice)
        cares = reading.me.cares
        self.cares = (dice.choice(cares),) if cares else ()
        self.slots = self._slots_of(self.topic.noun)

    def speak(self, kind: str) -> Spoken:
        """A line of my own."""
        act = act_for(self.reading.me, kind, self._situation(), self.dice)
        if act.name == "find":
            self._look_for_somebody()
        return Spoken(self._line(act), self.thought(act), self.dice.choice(act.moods))

    def dress(self, sentences: Sequence[str], act_name: str, aim: str = "") -> Spoken:
        """One of some plain sentences, opened and closed in my voice, with what is owed set beside it."""
        act = acts()[act_name]
        patterns = [grammar.pattern_of(one) for one in sentences]
        text = self._composed(patterns, act, named=False)
        return Spoken(text, self.thought(act, aim), self.dice.choice(act.moods))

    def thought(self, act: Act, aim: str = "") -> str:
        """What I heard and what I mean to do about it."""
        line, dice = self.topic.line, self.dice
        if line is None or line.origin == "world":
            heading = "scene"
        elif line.origin == "visitor":
            heading = "visitor"
        else:
            heading = "question" if "?" in line.text else "cast"
        lead = filled(
            dice.choice(listed("thoughts.txt", heading)), {"who": "somebody", **self.slots}, dice, set()
        )
        if self.cares and self.topic.noun.stem in self.reading.me.kin:
            kin = dice.choice(listed("thoughts.txt", "kin"))
            lead = f"{filled(kin, {'care': self.cares[0]}, dice, set())} {lead}"
        return with_capitals(f"{lead} {aim or dice.choice(act.aims)}.")

    def _look_for_somebody(self) -> None:
        """Who looks for traces looks for traces of somebody; what else must be taken up stands beside it."""
        reading = self.reading
        heard = [reading.scene, *(line.text for line in reading.heard[-8:]), reading.me.goal]
        nouns = {one.head: one for text in heard for one in nouns_in(text) if is_somebody(reading, one)}
        if nouns:
            self.topic = self.topic._replace(noun=self.dice.choice(list(nouns.values())))
            self.slots = self._slots_of(self.topic.noun)

    def _situation(self) -> dict[str, float]:
        line = self.topic.line
        if line is None:
            return {"extend": 1.5, "wonder": 2.0, "agree": 0.2, "object": 0.2, "answer": 0.0}
        asked = "?" in line.text and (
            is_addressed(self.reading, line.text.lower()) or line == self.reading.cause
        )
        found = {"answer": 20.0 if asked else 5.0 if "?" in line.text else 0.0}
        if line.origin == "visitor":
            found |= {"warn": 2.0, "ask": 1.5, "extend": 1.5, "agree": 0.4}
        return found

    def _line(self, act: Act) -> str:
        if self.reading.words_max < 10:
            act = acts()["short"]
        elif self.voice.whole and self.dice.random() < _WHOLE_EXAMPLE:
            text = self._whole_example()
            if text:
                return text
        patterns = grammar.cores(act.name)
        is_finding = act.name == "find"
        if is_finding and self.voice.whole and self.dice.random() < _WHOLE_FINDING:
            text = self._found_before()
            if text:
                return text
        stock = self.voice.about_somebody if is_finding else self.voice.sentences
        own = [one for one in stock if fits(one, self.slots) and self._is_news(one)]
        if own and act.name != "short" and self.dice.random() < _OWN_SENTENCE:
            patterns = tuple(own)
        return self._composed(patterns, act, named=True)

    def _found_before(self) -> str:
        """A finding out of my own stock, with a word behind it; empty if none may be said."""
        example = self.dice.choice(self.voice.whole)
        used = {self.slots["X"]}
        closer = filled(self.dice.choice(self._ends("sentence", frozenset())), self.slots, self.dice, used)
        owed = self._owed(f"{example} {closer}", used, plain=True)
        behind = f"{closer.rstrip('.')}{owed}." if owed else closer
        text = with_capitals(f"{example} {behind}")
        is_new = example.lower() not in self.reading.visible_text
        return text if is_new and self._may_be_said(text) else ""

    def _is_news(self, pattern: Pattern) -> bool:
        """Whether a sentence was not just said, and does not name the topic by itself."""
        head = self.topic.noun.head.lower()
        return pattern.longest not in self.reading.visible_text and not any(
            head in one.lower() for one in pattern.texts
        )

    def _composed(self, patterns: Sequence[Pattern], act: Act, *, named: bool) -> str:
        """The first composition that may be said; each try is plainer than the one before."""
        visible = self.reading.visible_text
        usable = [one for one in patterns if fits(one, self.slots) and (not named or "X" in one.slots)]
        fresh = [one for one in usable if one.longest not in visible] or usable
        last = ""
        for attempt in range(tries_max):
            plainness = attempt / tries_max
            if attempt == tries_max - 4 and named:
                fresh = [one for one in grammar.cores("short") if fits(one, self.slots)]
            if not fresh:
                break
            last = self._try(self.dice.choice(fresh), act, plainness)
            if self._may_be_said(last):
                return last
        bare = (self._bare(one) for one in usable)
        return next((one for one in bare if self._may_be_said(one)), None) or self._plainest(
            last, named=named
        )

    def _bare(self, pattern: Pattern) -> str:
        """A sentence without any frame."""
        used = {self.slots["X"]}
        core = filled(pattern, self.slots, self.dice, used)
        owed = self._owed(core, used, plain=True)
        return with_capitals(f"{core}{owed}{pattern.mark}")

    def _try(self, pattern: Pattern, act: Act, plainness: float) -> str:
        dice, used = self.dice, {self.slots["X"], self.topic.noun.indefinite, self.topic.second}
        core = filled(pattern, self.slots, dice, used)
        mark = "!" if self.voice.exclaims and pattern.mark == "." and dice.random() < 0.5 else pattern.mark
        is_opened, is_closed = self._framed(pattern, plainness)
        opener = self._opener(pattern, act, used) if is_opened else ""
        closer = self._closer(pattern, used) if is_closed else ""
        owed = self._owed(" ".join((opener, core, closer)), used, plain=plainness > 0.5)
        if owed.startswith(",") and mark != "?" and not closer.startswith(" "):
            closer, owed = closer + owed, ""
        if closer.startswith(" "):
            text = f"{opener} {core}{mark}{closer}"
        else:
            text = f"{opener} {core}{closer}{mark}"
        if owed:
            text = f"{text} {owed.removeprefix(', ')}" + ("" if owed.endswith((".", "?")) else ".")
        return with_capitals(text.strip())

    def _framed(self, pattern: Pattern, plainness: float) -> tuple[bool, bool]:
        """Whether to open and to close a sentence; one that draws little from the stock always has a frame."""
        dice = self.dice
        may_open = not pattern.texts[0].startswith(("and ", "no, ", "hush"))
        is_short = self.voice.sentence_words <= short_sentence_words_max
        is_opened = may_open and dice.random() < _OPENED - plainness
        is_closed = dice.random() < (_CLOSED / 2 if is_short else _CLOSED) - plainness
        drawn = len(pattern.slots) - len(pattern.needs) + is_opened + is_closed
        if drawn < draws_min and plainness < 0.5:
            is_opened, is_closed = may_open, True
        return is_opened, is_closed

    def _opener(self, pattern: Pattern, act: Act, used: set[str]) -> str:
        if self.voice.openings and self.dice.random() < _OWN_OPENING:
            return self.dice.choice(self.voice.openings)
        headings = {"question": ("any", "question"), "request": ("any", act.colour)}
        names = headings.get(pattern.mode, ("any", "statement", act.colour, act.colour))
        named = {"who", "you"} if {"who", "you"} & set(pattern.slots) else set[str]()
        slots = {key: value for key, value in self.slots.items() if key not in named}
        choices = [one for name in names for one in listed("openers.txt", name) if fits(one, slots)]
        return filled(self.dice.choice(choices), slots, self.dice, used)

    def _closer(self, pattern: Pattern, used: set[str]) -> str:
        if self.voice.last_words and self.dice.random() < _OWN_LAST_WORDS:
            return " " + self.dice.choice(self.voice.last_words)
        if self.dice.random() < _CLOSED_BY_SENTENCE:
            heading = "sentence"
        else:
            heading = "question" if pattern.mode == "question" else "clause"
        said = filled(self.dice.choice(self._ends(heading, pattern.needs)), self.slots, self.dice, used)
        return f" {said}" if heading == "sentence" else said

    def _ends(self, heading: str, said: frozenset[str]) -> list[Pattern]:
        """The endings that can be filled and bring nothing in again that the sentence has already."""
        again = said & {"Y", "care"}
        return [
            one for one in listed("closers.txt", heading) if fits(one, self.slots) and not one.needs & again
        ]

    def _owed(self, said: str, used: set[str], *, plain: bool) -> str:
        """What must be taken up and was not yet, as a tail of the sentence or a sentence behind it."""
        lower = said.lower()
        missing = [noun for noun in self.topic.owed if noun.key not in lower]
        heading = "tail" if plain or len(missing) > 1 or self.dice.random() < 0.5 else "after"
        tails: dict[Pattern, str] = {}
        for noun in missing:
            slots = self._slots_of(noun)
            choices = [one for one in listed("asides.txt", heading) if fits(one, slots) and one not in tails]
            chosen = self.dice.choice(choices)
            tails[chosen] = filled(chosen, slots, self.dice, used)
        return "".join(tails.values())

    def _whole_example(self) -> str:
        """A line of my own stock, once in a while, with a word on what was just heard."""
        example = self.dice.choice(self.voice.whole)
        if example.lower() in self.reading.visible_text:
            return ""
        ties = [one for one in listed("borrowed.txt") if fits(one, self.slots)]
        used = {self.slots["X"]}
        tie = filled(self.dice.choice(ties), self.slots, self.dice, used).removesuffix(".")
        closer = filled(self.dice.choice(self._ends("clause", frozenset())), self.slots, self.dice, used)
        owed = self._owed(f"{example} {tie} {closer}", used, plain=True)
        text = with_capitals(f"{example} {tie}{closer}{owed}.")
        return text if self._may_be_said(text) else ""

    def _may_be_said(self, text: str) -> bool:
        lower = text.lower()
        return (
            len(text.split()) <= self.reading.words_max
            and f"{lower}\n" not in self.reading.visible_text
            and not breaks_a_vow(text, self.voice.forbidden)
            and not any(secret in lower for secret in self.reading.secrets)
        )

    def _plainest(self, last: str, *, named: bool) -> str:
        """What is left when nothing fits: the thing itself, or the last try cut to length."""
        if named or not last:
            nouns = dict.fromkeys((self.topic.noun, *self.topic.owed))
            last = with_capitals(", ".join(noun.definite for noun in nouns) + ".")
        words = last.split()[: max(1, self.reading.words_max)]
        return " ".join(words).rstrip(",;:") if len(words) < len(last.split()) else last

    def _slots_of(self, noun: Noun) -> dict[str, str]:
        line = self.topic.line
        slots = slots_for(noun, second=self.topic.second, cares=self.cares)
        if line is not None and line.origin in {"cast", "visitor"}:
            slots["you"] = name_of(line.handle)
            slots["who"] = "our visitor" if line.origin == "visitor" else slots["you"]
        return slots


def name_of(handle: str) -> str:
    """How somebody is called to their face."""
    bare = handle.split("~", maxsplit=1)[0].replace("_", "-")
    return " ".join(part.capitalize() for part in bare.split("-"))
