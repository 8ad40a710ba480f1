"""Speaking: a line in one's own voice about what was heard, or a plain sentence dressed as one.

Always holds: the line has the topic and everything owed in it, keeps within the words allowed, breaks no vow, lets out
no secret, and is no line that can be seen in the prompt. Where one of these cannot be had, the topic goes last.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final, NamedTuple

from glasshouse.troupe import grammar
from glasshouse.troupe.grammar import Pattern, filled, fits, listed, slots_for, with_capitals
from glasshouse.troupe.noun_phrases import Noun, nouns_in
from glasshouse.troupe.props import labels_of, signs_of, stock_of
from glasshouse.troupe.reactions import Act, act_for, acts
from glasshouse.troupe.reading import Reading
from glasshouse.troupe.salience import Topic, is_addressed, is_somebody, topic_of
from glasshouse.troupe.script_files import part_of
from glasshouse.troupe.voice import Voice, breaks_a_vow, voice_of

tries_max: Final = 12
own_line_words_max: Final = 12
sentences_dressed_max: Final = 6

_OPENED: Final = 0.3
_FOLLOWED: Final = 0.24
_BARE: Final = 0.35
"""How much likelier a sentence is opened and followed that draws nothing from the stock."""
_OPENED_IN_GAMES: Final = 0.25
_OWN_OPENING: Final = 0.4
_OWN_LAST_WORDS: Final = 0.3
_OWN_SENTENCE: Final = 0.035
_OWN_SENTENCES: Final = 0.2
_FOLLOWED_UP: Final = 2.0
_WHOLE_EXAMPLE: Final = 0.008
_WHOLE_FINDING: Final = 0.03


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
        self.stock = stock_of(reading.me, reading.scene)
        self.has_a_part = part_of(reading.me) is not None
        """Whether a script has lines for me: then the general openers and my examples are not mine to repeat."""
        self.slots = self._slots_of(self.topic.noun)

    def speak(self, kind: str) -> Spoken:
        """A line of my own."""
        act = act_for(self.reading.me, kind, self._situation(), self.dice)
        if act.name == "find":
            self._look_for_somebody()
        return Spoken(self._line(act), self.thought(act), self.dice.choice(act.moods))

    def dress(self, sentences: Sequence[str], act_name: str, aim: str = "", *, own: float = 0.0) -> Spoken:
        """One of some plain sentences, with hardly more before it than a word, and what is owed set behind it.

        `own` is how likely a short line of my own stock goes before it.
        """
        act = acts()[act_name]
        visible = self.reading.visible_text
        fresh = [one for one in sentences if one.lower() not in visible] or list(sentences)
        some = (
            fresh if len(fresh) <= sentences_dressed_max else self.dice.sample(fresh, sentences_dressed_max)
        )
        text = self._composed([grammar.pattern_of(one) for one in some], named=False)
        if not self.has_a_part and self.dice.random() < own:
            text = self._with_own_line(text)
        return Spoken(text, self.thought(act, aim), self.dice.choice(act.moods))

    def with_remark(self, remark: str, spoken: Spoken, *, is_last: bool) -> Spoken:
        """A line with another sentence before or behind it, if there is room for both and the sentence is news."""
        both = f"{spoken.text} {remark}" if is_last else f"{remark} {spoken.text}"
        is_news = remark and remark.lower() not in self.reading.visible_text
        return spoken._replace(text=both) if is_news and self._may_be_said(both) else spoken

    def with_what_is_owed(self, text: str) -> str:
        """A line that is written already, with what must be taken up and is not in it; empty if it may not be said."""
        whole = with_capitals(f"{text}{self._owed(text, {self.slots['X']}, 'after')}")
        return whole if self._may_be_said(whole) else ""

    def turn_to(self, noun: Noun, called: str = "") -> None:
        """Speak of this, under that name; what else must be taken up stands beside it."""
        self.topic = self.topic._replace(noun=noun)
        self.slots = self._slots_of(noun)
        if called:
            self.slots["X"] = called

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
        if self.cares and self.topic.noun.stem in self.reading.kin:
            kin = dice.choice(listed("thoughts.txt", "kin"))
            lead = f"{filled(kin, {'care': self.cares[0]}, dice, set())} {lead}"
        return with_capitals(f"{lead} {aim or dice.choice(act.aims)}.")

    def _look_for_somebody(self) -> None:
        """Who looks for traces looks for traces of somebody; what else must be taken up stands beside it."""
        reading = self.reading
        listed = [reading.me.goal, *(line.text for line in reading.heard if line.origin == "world")]
        found = {one.head: one for text in listed for one in nouns_in(text) if is_somebody(reading, one)}
        if not found:
            heard = [reading.scene, *(line.text for line in reading.heard[-8:])]
            found = {one.head: one for text in heard for one in nouns_in(text) if is_somebody(reading, one)}
        if found:
            mine = self.reading.own_text
            counts = [1.0 + _FOLLOWED_UP * min(3, mine.count(name.lower())) for name in found]
            noun = self.dice.choices(list(found.values()), counts)[0]
            self.topic = self.topic._replace(noun=noun)
            self.slots = self._slots_of(self.topic.noun)
        self.slots |= self._finding()

    def _finding(self) -> dict[str, str]:
        """Where something lay and what it was: by the topic's own signs, where I know them."""
        dice, me = self.dice, self.reading.me
        mine = self.reading.own_text
        known = signs_of(me).get(self.topic.noun.head.lower(), ()) or self.stock["trace"]
        signs = [one for one in known if one not in mine] or known
        fresh = [one for one in labels_of(me) if one.lower() not in mine]
        labels = fresh or labels_of(me)
        spot = dice.choice(self.stock["spot"])
        label = dice.choice(labels) if labels and dice.random() < 0.7 else spot.removeprefix("the ")
        return {"label": label, "sign": dice.choice(signs), "spot": spot}

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
        is_finding = act.name == "find"
        if self.reading.words_max < 10:
            act = acts()["short"]
        elif self.dice.random() < len(self.voice.whole) * (_WHOLE_FINDING if is_finding else _WHOLE_EXAMPLE):
            text = self._whole_example(with_tie=not is_finding)
            if text:
                return text
        patterns = grammar.cores(act.name)
        own = () if is_finding else self._own_sentences()
        if own and act.name != "short" and self.dice.random() < min(_OWN_SENTENCES, _OWN_SENTENCE * len(own)):
            patterns = tuple(own)
        return self._composed(patterns, named=True, framed=not is_finding)

    def _own_sentences(self) -> Sequence[Pattern]:
        return [one for one in self.voice.sentences if fits(one, self.slots) and self._is_news(one)]

    def _is_news(self, pattern: Pattern) -> bool:
        """Whether a sentence was not just said, and does not name the topic by itself."""
        head = self.topic.noun.head.lower()
        return pattern.longest not in self.reading.visible_text and not any(
            head in one.lower() for one in pattern.texts
        )

    def _composed(self, patterns: Sequence[Pattern], *, named: bool, framed: bool = True) -> str:
        """The first composition that may be said; each try is plainer than the one before."""
        visible, is_sober = self.reading.visible_text, not (named and framed)
        usable = [one for one in patterns if fits(one, self.slots) and (not named or "X" in one.slots)]
        if named and not any("X" in one.slots for one in usable):
            usable = [one for one in patterns if fits(one, self.slots)]
        fresh = [one for one in usable if one.longest not in visible] or usable
        last = ""
        for attempt in range(tries_max):
            if attempt == tries_max - 4 and named:
                fresh = [one for one in grammar.cores("short") if fits(one, self.slots)]
            if not fresh:
                break
            plainness = attempt / tries_max if framed else 1.0
            last = self._try(self.dice.choice(fresh), plainness, is_sober=is_sober)
            if self._may_be_said(last):
                return last
        bare = (self._try(one, 1.0, is_sober=is_sober) for one in usable)
        return next((one for one in bare if self._may_be_said(one)), None) or self._plainest(
            last, named=named
        )

    def _try(self, pattern: Pattern, plainness: float, *, is_sober: bool) -> str:
        dice, used = self.dice, {self.slots["X"], self.topic.noun.indefinite, self.topic.second}
        core = filled(pattern, self.slots, dice, used, self.stock)
        mark = "!" if self.voice.exclaims and pattern.mark == "." and dice.random() < 0.5 else pattern.mark
        plainness -= 0 if is_sober or len(pattern.slots) > len(pattern.needs & set(pattern.slots)) else _BARE
        is_opened = (
            not self.has_a_part and dice.random() < (_OPENED_IN_GAMES if is_sober else _OPENED) - plainness
        )
        opener = self._opener(core, used) if is_opened else ""
        text = f"{opener} {core}"
        if not is_sober and dice.random() < _FOLLOWED - plainness:
            return with_capitals(
                f"{text}{mark} {self._follower(used)}{self._owed(text, used, 'after')}".strip()
            )
        owed = self._owed(text, used, "sober" if is_sober else "tail" if plainness > 0.5 else "")
        if owed.startswith(",") and mark != "?":
            return with_capitals(f"{text}{owed}{mark}".strip())
        return with_capitals(
            f"{text}{mark}{owed.replace(',', ' And', 1) if owed.startswith(',') else owed}".strip()
        )

    def _opener(self, core: str, used: set[str]) -> str:
        if core.startswith(("and ", "no", "yes", "hush", '"')):
            return ""
        if self.voice.openings and self.dice.random() < _OWN_OPENING:
            return self.dice.choice(self.voice.openings)
        slots = {key: value for key, value in self.slots.items() if key != "you" or value not in core}
        mine = self.reading.own_text
        choices = [one for one in listed("openers.txt", self.voice.register) if fits(one, slots)]
        choices = [one for one in choices if one.longest not in mine] or choices
        return filled(self.dice.choice(choices), slots, self.dice, used, self.stock)

    def _follower(self, used: set[str]) -> str:
        """A second sentence in my register, or one of my own."""
        visible = self.reading.visible_text
        mine = [one for one in self.voice.last_words if one.lower() not in visible]
        if mine and self.dice.random() < _OWN_LAST_WORDS:
            return self.dice.choice(mine)
        choices = [one for one in listed("closers.txt", self.voice.register) if fits(one, self.slots)]
        fresh = [one for one in choices if one.longest not in visible] or choices
        return filled(self.dice.choice(fresh), self.slots, self.dice, used, self.stock)

    def _owed(self, said: str, used: set[str], heading: str) -> str:
        """What must be taken up and was not yet, as tails of the sentence or as sentences behind it."""
        lower = said.lower()
        missing = [noun for noun in self.topic.owed if noun.key not in lower]
        if not missing:
            return ""
        if heading == "sober" and len(missing) > 1:
            every = " and ".join(noun.definite for noun in missing)
            return f" {filled(self.dice.choice(listed('asides.txt', 'many')), {'X': every}, self.dice, used)}"
        if not heading:
            heading = "tail" if len(missing) > 1 or self.dice.random() < 0.3 else "after"
        tails: dict[Pattern, str] = {}
        for noun in missing:
            slots = self._slots_of(noun)
            choices = [one for one in listed("asides.txt", heading) if fits(one, slots) and one not in tails]
            chosen = self.dice.choice(choices)
            tails[chosen] = filled(chosen, slots, self.dice, used, self.stock)
        return "".join(tails.values()) if heading == "tail" else "".join(f" {one}" for one in tails.values())

    def _whole_example(self, *, with_tie: bool) -> str:
        """A line of my own stock, once in a while, with a word on what was just heard."""
        example = self.dice.choice(self.voice.whole)
        if example.lower() in self.reading.visible_text:
            return ""
        used = {self.slots["X"]}
        ties = [one for one in listed("borrowed.txt", "" if with_tie else "finding") if fits(one, self.slots)]
        text = f"{example} {filled(self.dice.choice(ties), self.slots, self.dice, used, self.stock)}"
        text = with_capitals(f"{text}{self._owed(text, used, 'after' if with_tie else 'sober')}")
        return text if self._may_be_said(text) else ""

    def _with_own_line(self, text: str) -> str:
        """A line behind a short one of my own stock that I have not said lately, if there is room for both."""
        mine = [one for one in self.voice.whole if len(one.split()) <= own_line_words_max and "?" not in one]
        fresh = [one for one in mine if one.lower() not in self.reading.visible_text]
        both = f"{self.dice.choice(fresh)} {text}" if fresh else text
        return both if self._may_be_said(both) else text

    def _may_be_said(self, text: str) -> bool:
        lower = text.lower()
        return (
            len(text.split()) <= self.reading.words_max
            and f"{lower}\n" not in self.reading.visible_text
            and not breaks_a_vow(text, self.voice.forbidden)
            and not any(secret in lower for secret in self.reading.secrets)
        )

    def _plainest(self, last: str, *, named: bool) -> str:
        """What is left when nothing fits: the things themselves, behind as much of a sentence as there is room for."""
        words_max = max(1, self.reading.words_max)
        nouns = dict.fromkeys((self.topic.noun, *self.topic.owed) if named or not last else self.topic.owed)
        things = with_capitals(", ".join(noun.definite for noun in nouns) + "." if nouns else "").split()
        core = [] if named else last.partition(". ")[0].rstrip(".").split()[: max(0, words_max - len(things))]
        text = f"{' '.join(core)}. {' '.join(things)}" if core else " ".join(things)
        return " ".join(text.split()[:words_max]).rstrip(",;:")

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
    return " ".join(part[:1].upper() + part[1:] for part in bare.split("-"))
