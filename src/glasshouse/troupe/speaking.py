"""Speaking: a line in one's own voice that answers what was done, or a plain sentence dressed as one.

Always holds: the line has everything owed in it, keeps within the words allowed, breaks no vow, lets out no secret, and is
no line that can be seen in the prompt. Where one of these cannot be had, the topic goes last. Of what a player wants at
least every third of its lines speaks; a line has at most one sentence or phrase beside its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from random import Random
from typing import Final, NamedTuple

from glasshouse.troupe import grammar
from glasshouse.troupe.grammar import (
    Pattern,
    filled,
    fits,
    listed,
    sentences_a_round,
    slots_for,
    with_capitals,
)
from glasshouse.troupe.noun_phrases import Noun, nouns_in
from glasshouse.troupe.props import labels_of, places_near, signs_of, stock_of
from glasshouse.troupe.reactions import Act, Move, acts, calling_of, move_for
from glasshouse.troupe.reading import Reading
from glasshouse.troupe.salience import (
    Topic,
    is_addressed,
    is_somebody,
    sayable_in,
    thing_of_the_world,
    times_said,
    topic_of,
)
from glasshouse.troupe.speech_acts import ASK, CHANGE, REPORT, question_in, speech_act
from glasshouse.troupe.vocabulary import of_sort, stems_of
from glasshouse.troupe.voice import Voice, breaks_a_vow, voice_of
from glasshouse.troupe.wants import Want, round_settled, want_of
from glasshouse.troupe.world_topic import matter_of

tries_max: Final = 12
"""This often a line is made again that was said before; then the plainest counts."""
whole_example_words_max: Final = 4
"""A longer line of a voice's examples is not said alone: whoever asks would ask for another one."""
own_line_words_max: Final = 12
"""A longer line of a voice's examples is not put before what is said."""
sentences_dressed_max: Final = 6
"""Of the sentences that fit, this many are drawn and dressed with words, and one of them is spoken."""
lines_without_want_max: Final = 2
"""After this many own lines without it, a player says what it wants."""
rounds_opening: Final = 2
rounds_at_rest: Final = 4
"""How long a player is content, or resigned, before it wants something again."""
short_words_max: Final = 9
"""Who may say no more than this speaks in the shortest sentences alone."""
rounds_of_a_show: Final = 7
"""From then on sentences come back, so none stands alone."""
words_for_two_sentences_min: Final = 22
"""Who may say fewer says one sentence at a time."""

_OWN_OPENING: Final = 0.12
_OWN_LAST_WORDS: Final = 0.1
_OWN_SENTENCE: Final = 0.05
_WHOLE_EXAMPLE: Final = 0.35
_WHOLE_FINDING: Final = 0.03
_WANTED_ANYHOW: Final = 0.12
_WANTED_EARLY: Final = 0.6
_BLOCKED: Final = 0.4
_BROUGHT: Final = 0.3
"""How likely the talk goes back to what the world is about, where the last line was about nothing."""
_FOLLOWED_UP: Final = 2.0
_TO_SOMEBODY: Final = frozenset({"accuse", "order", "offer", "greet", "concede"})
"""What concerns only whom it is said to."""
_CONTENTS: Final = frozenset({"X", "aX", "x", "M", "care", "mass", "want", "wish", "do", "sign"})
"""A sentence with one of these says something by itself."""
_MY: Final = frozenset({"my", "our"})
_TOPIC_SLOTS: Final = (
    "X",
    "aX",
    "x",
    "is",
    "was",
    "has",
    "does",
    "s",
    "es",
    "it",
    "its",
    "them",
    "itself",
    grammar.CLASSES,
)


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
        self.want: Want = want_of(reading.me)
        self.cares = (dice.choice(self.want.cares),) if self.want.cares else ()
        self.stock = stock_of(reading.me, reading.scene)
        self.has_a_part = reading.part is not None
        """Whether a script has lines for me: then the general openers and my examples are not mine to repeat."""
        self.slots = self._slots_of(self.topic.noun)

    def speak(self, kind: str) -> Spoken:
        """A line of my own."""
        heard = self._heard_act()
        move = move_for(self.reading.me, kind, heard, self.dice)
        if self.topic.is_of_world and calling_of(kind) == move.name:
            self.topic = self.topic._replace(is_named=True)
        if move.name == "find":
            self._look_for_somebody()
            return self._spoken(self._finding_line(), move.act)
        return self._spoken(self._line(move, heard), move.act)

    def _spoken(self, text: str, act: Act, aim: str = "") -> Spoken:
        return Spoken(text, self.thought(act, aim), self.dice.choice(act.moods))

    def dress(self, sentences: Sequence[str], act_name: str, aim: str = "", *, own: float = 0.0) -> Spoken:
        """One of some plain sentences, with hardly more before it than a word, and what is owed set behind it.

        `own` is how likely a short line of my own stock goes before it.
        """
        visible = self.reading.visible_text
        fresh = [sentence for sentence in sentences if sentence.lower() not in visible] or list(sentences)
        some = (
            fresh if len(fresh) <= sentences_dressed_max else self.dice.sample(fresh, sentences_dressed_max)
        )
        text = self._composed([grammar.pattern_of(sentence) for sentence in some], is_finding=False)
        if not self.has_a_part and self.dice.random() < own:
            text = self._with_own_line(text)
        return self._spoken(text, acts()[act_name], aim)

    def with_remark(self, remark: str, spoken: Spoken, *, is_last: bool) -> Spoken:
        """A line with another sentence before or behind it, if there is room for both and the sentence is news."""
        both = f"{spoken.text} {remark}" if is_last else f"{remark} {spoken.text}"
        is_news = remark and remark.lower() not in self.reading.visible_text
        return spoken._replace(text=both) if is_news and self._may_be_said(both) else spoken

    def with_what_is_owed(self, text: str, *, tells_secret: bool = False) -> str:
        """A line that is written already, with what must be taken up and is not in it; empty if it may not be said.

        `tells_secret`: it is the line in which a secret is told.
        """
        whole = with_capitals(f"{text}{self._owed(text, set(), 'after')}")
        return whole if self._may_be_said(whole, tells_secret=tells_secret) else ""

    def turn_to(self, noun: Noun, called: str = "") -> None:
        """Speak of this, under that name; what else must be taken up stands beside it."""
        self.topic = self.topic._replace(noun=noun)
        self.slots = self._slots_of(noun)
        if called:
            self.slots["X"] = called

    def thought(self, act: Act, aim: str = "") -> str:
        """What I heard and what I mean to do about it."""
        line = self.topic.line
        dice = self.dice
        if line is None or line.origin == "world":
            heading = "scene"
        elif line.origin == "visitor":
            heading = "visitor"
        else:
            heading = "question" if "?" in line.text else "cast"
        slots = {"who": "somebody", **(self.slots if self._has_topic else self._slots_without_topic())}
        leads = [pattern for pattern in listed("thoughts.txt", heading) if fits(pattern, slots)]
        about = [pattern for pattern in leads if pattern.is_about_something]
        lead = filled(dice.choice(about or leads), slots, dice, set())
        if self.cares and self.topic.noun.stem in self.reading.kin:
            kin = dice.choice(listed("thoughts.txt", "kin"))
            lead = f"{filled(kin, {'care': self.cares[0]}, dice, set())} {lead}"
        return with_capitals(f"{lead} {aim or dice.choice(act.aims)}.")

    def _look_for_somebody(self) -> None:
        """Who looks for traces looks for traces of somebody; what else must be taken up stands beside it."""
        reading = self.reading
        listed = [reading.me.goal, *(line.text for line in reading.heard if line.origin == "world")]
        somebodies = self._somebodies_in(listed)
        if not somebodies:
            somebodies = self._somebodies_in([reading.scene, *(line.text for line in reading.heard[-8:])])
        if somebodies:
            mine = self.reading.own_text
            counts = [1.0 + _FOLLOWED_UP * min(3, mine.count(name.lower())) for name in somebodies]
            noun = self.dice.choices(list(somebodies.values()), counts)[0]
            self.topic = self.topic._replace(noun=noun)
            self.slots = self._slots_of(self.topic.noun)
        self.slots |= self._finding()

    def _somebodies_in(self, texts: Sequence[str]) -> dict[str, Noun]:
        nouns = (noun for text in texts for noun in nouns_in(text))
        return {noun.head: noun for noun in nouns if is_somebody(self.reading, noun)}

    def _finding(self) -> dict[str, str]:
        """Where something lay and what it was: by the topic's own signs, where I know them."""
        dice = self.dice
        me = self.reading.me
        mine = self.reading.own_text
        known = signs_of(me).get(self.topic.noun.head.lower(), ()) or self.stock["trace"]
        signs = [sign for sign in known if sign not in mine] or known
        fresh = [label for label in labels_of(me) if label.lower() not in mine]
        labels = fresh or labels_of(me)
        spot = dice.choice(self.stock["spot"])
        label = dice.choice(labels) if labels and dice.random() < 0.7 else spot.removeprefix("the ")
        return {"label": label, "sign": dice.choice(signs), "spot": spot}

    # Talk: a move that answers what was done, in a sentence of mine

    def _heard_act(self) -> str:
        """What was done with words in the line that I answer."""
        line = self.topic.line
        if line is None:
            return REPORT
        if line.origin == "world":
            return CHANGE if line in self.reading.fresh else REPORT
        act = speech_act(line.text)
        lower = line.text.lower()
        others = (handle for handle in self.reading.cast if handle != self.reading.me.handle)
        is_to_another = not is_addressed(self.reading, lower) and any(
            name_of(handle).lower() in lower for handle in others
        )
        return REPORT if act in _TO_SOMEBODY and is_to_another else act

    def _line(self, move: Move, heard: str) -> str:
        if self.reading.words_max <= short_words_max:
            return self._first_sayable(self._patterns("short")) or self._plainest("", named=True)
        if heard != ASK and not (self.topic.owed or self.has_a_part):
            text = self._own_line()
            if text:
                return text
        is_wandering = heard == REPORT and self.topic.is_of_world and not self.topic.is_named
        if is_wandering and self.dice.random() < _BROUGHT:
            self.topic = self.topic._replace(is_named=True)
            move = move._replace(name="bring")
        heading = question_in(self.topic.line.text) if move.name == "answer" and self.topic.line else ""
        if move.name == "answer" and not heading:
            move = move._replace(name="extend")
        return (
            self._first_sayable(self._patterns(move.name, heading))
            or self._first_sayable(self._patterns("plain"))
            or self._first_sayable(iter(grammar.cores("plain")))
            or self._first_sayable(iter(grammar.cores("short")))
            or self._plainest("", named=True)
        )

    def _own_line(self) -> str:
        """A short line of the manifest's own, each in a round of its own; or one of its sentences with the topic set in."""
        whole = self.voice.whole
        dice = self.dice
        at = self.reading.rounds // 2
        if at < len(whole) and dice.random() < _WHOLE_EXAMPLE and not self._is_want_due:
            text = self._with_news(whole[at])
            if text and whole[at].lower() not in self.reading.visible_text and self._may_be_said(text):
                return text
        own = [
            pattern
            for pattern in self.voice.sentences
            if self._has_topic and fits(pattern, self.slots) and self._is_news(pattern)
        ]
        if own and dice.random() < min(0.2, _OWN_SENTENCE * len(own)):
            return self._first_sayable(iter([dice.choice(own)]))
        return ""

    def _with_news(self, example: str) -> str:
        """A short example of the voice alone; a longer one behind a sentence that says more words than it; else nothing."""
        words = len(example.split())
        if words <= whole_example_words_max:
            return example
        said = self._first_sayable(self._patterns("extend"))
        return f"{said} {example}" if len(said.split()) > words else ""

    def _patterns(self, move: str, heading: str = "") -> Iterator[Pattern]:
        """The sentences of a move in the order to try them: mine before those of others, what names the topic before
        what does not, and each round begins at other ones."""
        reading = self.reading
        dice = self.dice
        slots = self._talk_slots
        own = grammar.cores_owned(move, heading, reading.cast, reading.me.handle, reading.rounds)
        for patterns in (own, grammar.cores(move, heading)):
            fresh = self._unsaid(patterns, slots)
            about = [pattern for pattern in fresh if pattern.is_about_something]
            others = [pattern for pattern in fresh if not pattern.is_about_something]
            is_worn = times_said(reading, self.topic.noun) > 1 and not self.topic.owed
            tiers = (
                (others, about) if about and others and is_worn and dice.random() < 0.5 else (about, others)
            )
            for tier in tiers:
                # When all have come round anyway, any may come.
                is_late = reading.rounds >= rounds_of_a_show
                first = tier if is_late else tier[:sentences_a_round]
                dice.shuffle(first)
                yield from first
                yield from tier[len(first) :]

    def _unsaid(self, patterns: Iterable[Pattern], slots: dict[str, str]) -> list[Pattern]:
        """Those that fit, and of which nothing can be seen in what was said."""
        visible = self.reading.visible_text
        return [pattern for pattern in patterns if fits(pattern, slots) and pattern.longest not in visible]

    def _first_sayable(self, patterns: Iterator[Pattern]) -> str:
        some = (pattern for pattern, _ in zip(patterns, range(tries_max), strict=False))
        tried = [pattern for pattern in some if fits(pattern, self._talk_slots)]
        for is_bare in (False, True):
            for pattern in tried:
                for text in self._compositions(pattern, is_bare=is_bare):
                    if self._may_be_said(text):
                        return text
        return ""

    def _compositions(self, pattern: Pattern, *, is_bare: bool) -> Iterator[str]:
        """A sentence with what goes beside it, or by itself."""
        slots = self._talk_slots
        dice = self.dice
        used = set[str]()
        core = filled(pattern, slots, dice, used, self.stock)
        mark = "!" if self.voice.exclaims and pattern.mark == "." and dice.random() < 0.5 else pattern.mark
        if "X" in slots and not pattern.is_about_something and self._is_answering(pattern):
            core = f"{self._lead(is_calling='you' not in pattern.slots)} {core}"
        text = f"{core}{mark}"
        if is_bare:
            yield with_capitals(f"{text}{self._owed(text, used, 'after')}")
            return
        if pattern in grammar.cores("narrate"):
            yield with_capitals(f"{text}{self._owed(text, used, 'after')}")
            return
        is_late = self.reading.rounds >= rounds_of_a_show
        is_answer = self._is_answering(pattern)
        contents = _CONTENTS if self.reading.rounds < rounds_opening else _CONTENTS - {"M"}
        is_empty = is_late or (pattern.needs.isdisjoint(contents) and not is_answer)
        before, behind = self._beside(pattern, is_empty=is_empty)
        owed = self._owed(text, used, "after")
        yield with_capitals(f"{before}{text}{behind}{owed}")
        if behind and self._is_want_due and not (self.topic.owed or is_answer or is_late):
            yield with_capitals(behind.strip())

    def _is_answering(self, pattern: Pattern) -> bool:
        line = self.topic.line
        if line is None or "?" not in line.text:
            return False
        return pattern in (*grammar.cores("answer", question_in(line.text)), *grammar.cores("withhold"))

    def _lead(self, *, is_calling: bool) -> str:
        """What names the thing that was asked about, before an answer that does not."""
        reading = self.reading
        leads = grammar.cores_owned("answer", "lead", reading.cast, reading.me.handle, reading.rounds)
        fitting = [pattern for pattern in leads if fits(pattern, self._talk_slots)] or [
            pattern for pattern in grammar.cores("answer", "lead") if fits(pattern, self._talk_slots)
        ]
        unsaid = [pattern for pattern in fitting if is_calling or "you" not in pattern.slots] or fitting
        chosen = self.dice.choice(unsaid)
        mark = "?" if chosen.mark == "?" else "" if chosen.texts[-1].endswith(":") else "."
        return f"{filled(chosen, self._talk_slots, self.dice, set(), self.stock)}{mark}"

    def _beside(self, pattern: Pattern, *, is_empty: bool) -> tuple[str, str]:
        """What goes before and behind a sentence: what I want, if I have not spoken of it lately; behind one that says
        nothing by itself, something of the world; else now and then the first or last words of a line of my own."""
        dice = self.dice
        more = self._want_sentence() if self._is_want_due or dice.random() < _WANTED_ANYHOW else ""
        more = more or (self._brought(pattern) if is_empty else "")
        if more:
            return (f"{more} ", "") if pattern.mark == "?" else ("", f" {more}")
        if self.has_a_part:
            return "", ""
        is_opened = not pattern.texts[0].startswith(("yes", "no"))
        if self.voice.openings and is_opened and dice.random() < _OWN_OPENING:
            return f"{dice.choice(self.voice.openings)} ", ""
        mine = [words for words in self.voice.last_words if words.lower() not in self.reading.visible_text]
        return ("", f" {dice.choice(mine)}") if mine and dice.random() < _OWN_LAST_WORDS else ("", "")

    @cached_property
    def _is_want_due(self) -> bool:
        """Whether my last lines said nothing of what I want, or are out of sight; before the first lines, mostly."""
        discussion = self.reading.discussion
        mine = [line.text for line in discussion if self.reading.is_mine(line)]
        newest = mine[-lines_without_want_max:]
        if not self.want.stems or any(self.want.stems & stems_of(text) for text in newest):
            return False
        is_out_of_sight = bool(discussion) and discussion[0].ref != "1"
        return bool(newest) or is_out_of_sight or self.dice.random() < _WANTED_EARLY

    def _want_sentence(self) -> str:
        """What I want, as it stands with it: open, in the way of it, got, given up, settled."""
        reading = self.reading
        for heading in dict.fromkeys((self._want_state(), "press", "open")):
            own = grammar.cores_owned("want", heading, reading.cast, reading.me.handle, reading.rounds)
            for rotated in (own, grammar.cores("want", heading)):
                fresh = self._unsaid(rotated, self._talk_slots)
                if fresh:
                    chosen = self._next_of(fresh)
                    return f"{filled(chosen, self._talk_slots, self.dice, set(), self.stock)}{chosen.mark}"
        return ""

    def _next_of(self, patterns: list[Pattern]) -> Pattern:
        """A sentence to go beside another: one of the first few; when all have come round, the first of this round. Nobody can
        see what was said long ago, and each list goes round at its own pace, so the same two seldom come together again."""
        if self.reading.rounds >= rounds_of_a_show:
            return patterns[0]
        return self.dice.choice(patterns[: 2 * sentences_a_round])

    def _brought(self, beside: Pattern) -> str:
        """A sentence that brings something of the world's own texts into the talk; no question beside a question."""
        reading = self.reading
        known = self.topic.noun.head.lower() if self._has_topic else ""
        noun = thing_of_the_world(reading, self.dice, known)
        if noun is None or self.reading.words_max < words_for_two_sentences_min:
            return ""
        slots = self._slots_of(noun)
        own = grammar.cores_owned("bring", "", reading.cast, reading.me.handle, reading.rounds)
        fresh = (pattern for pattern in self._unsaid(own, slots) if pattern != beside)
        fitting = [pattern for pattern in fresh if not (pattern.mark == beside.mark == "?")]
        if not fitting:
            return ""
        chosen = self._next_of(fitting)
        return f"{filled(chosen, slots, self.dice, set(), self.stock)}{chosen.mark}"

    def _want_state(self) -> str:
        own = self.reading.own_text
        settled = round_settled(self.reading.me)
        rounds = self.reading.rounds % (settled + rounds_at_rest)
        said = [
            state
            for state in ("got", "lost", "after")
            if any(pattern.longest in own for pattern in grammar.cores("want", state))
        ]
        if rounds < rounds_opening:
            return "open"
        if said or rounds > settled + 1:
            return "after"
        if rounds < settled:
            return "blocked" if self.dice.random() < _BLOCKED else "press"
        return "got" if self.dice.random() < 0.5 else "lost"

    @property
    def _has_topic(self) -> bool:
        return self.topic.is_named or bool(self.topic.owed)

    @property
    def _talk_slots(self) -> dict[str, str]:
        return self.slots if self._has_topic else self._slots_without_topic()

    def _slots_without_topic(self) -> dict[str, str]:
        return {name: value for name, value in self.slots.items() if name not in _TOPIC_SLOTS}

    # Sentences of games and findings

    def _finding_line(self) -> str:
        whole = [text for text in self.voice.whole if len(text.split()) <= whole_example_words_max]
        if self.dice.random() < len(whole) * _WHOLE_FINDING:
            text = self.dice.choice(whole)
            text = with_capitals(f"{text}{self._owed(text, set(), 'sober')}")
            if text.lower() not in self.reading.visible_text and self._may_be_said(text):
                return text
        return self._composed(grammar.cores("find"), is_finding=True)

    def _is_news(self, pattern: Pattern) -> bool:
        """Whether a sentence was not just said, and does not name the topic by itself."""
        head = self.topic.noun.head.lower()
        return pattern.longest not in self.reading.visible_text and not any(
            head in text.lower() for text in pattern.texts
        )

    def _composed(self, patterns: Sequence[Pattern], *, is_finding: bool) -> str:
        """The first composition that may be said."""
        usable = [pattern for pattern in patterns if fits(pattern, self.slots)]
        fresh = self._unsaid(usable, self.slots) or usable
        last = ""
        for attempt in range(tries_max):
            if not fresh:
                break
            last = self._try(self.dice.choice(fresh), is_bare=is_finding or attempt > tries_max // 2)
            if self._may_be_said(last):
                return last
        bare = (self._try(pattern, is_bare=True) for pattern in usable)
        return next((text for text in bare if self._may_be_said(text)), None) or self._plainest(
            last, named=is_finding
        )

    def _try(self, pattern: Pattern, *, is_bare: bool) -> str:
        dice = self.dice
        used = {self.slots["X"], self.topic.noun.indefinite, self.topic.second}
        core = filled(pattern, self.slots, dice, used, self.stock)
        mark = "!" if self.voice.exclaims and pattern.mark == "." and dice.random() < 0.5 else pattern.mark
        opens = not (is_bare or self.has_a_part) and self.voice.openings and dice.random() < _OWN_OPENING
        text = f"{dice.choice(self.voice.openings)} {core}" if opens else core
        return with_capitals(f"{text}{mark}{self._owed(text, used, 'sober')}".strip())

    def _owed(self, said: str, used: set[str], heading: str) -> str:
        """What must be taken up and was not yet, as sentences behind the line."""
        lower = said.lower()
        missing = [noun for noun in self.topic.owed if noun.key not in lower]
        if not missing:
            return ""
        if len(missing) > 1:
            every = " and ".join(noun.definite for noun in missing)
            return f" {filled(self.dice.choice(listed('asides.txt', 'many')), {'X': every}, self.dice, used)}"
        slots = slots_for(missing[0])
        asides = listed("asides.txt", heading)
        fresh = self._unsaid(asides, slots) or [pattern for pattern in asides if fits(pattern, slots)]
        return f" {filled(self.dice.choice(fresh), slots, self.dice, used, self.stock)}"

    def _with_own_line(self, text: str) -> str:
        """A line behind a short one of my own stock that I have not said lately, if there is room for both."""
        mine = [line for line in self.voice.whole if len(line.split()) <= own_line_words_max]
        fresh = [line for line in mine if "?" not in line and line.lower() not in self.reading.visible_text]
        both = f"{self.dice.choice(fresh)} {text}" if fresh else text
        return both if self._may_be_said(both) else text

    def may_say(self, text: str) -> bool:
        """Whether a line is short enough, was not said, and breaks neither a vow nor a secret."""
        return self._may_be_said(text)

    def _may_be_said(self, text: str, *, tells_secret: bool = False) -> bool:
        lower = text.lower()
        return (
            len(text.split()) <= self.reading.words_max
            and f"{lower}\n" not in self.reading.visible_text
            and not breaks_a_vow(text, self.voice.forbidden)
            and (
                tells_secret
                or not any(re.search(rf"\b{re.escape(secret)}", lower) for secret in self.reading.secrets)
            )
        )

    def _plainest(self, last: str, *, named: bool) -> str:
        """What is left when nothing fits: the things themselves, behind as much of a sentence as there is room for."""
        words_max = max(1, self.reading.words_max)
        nouns = dict.fromkeys((self.topic.noun, *self.topic.owed) if named or not last else self.topic.owed)
        things = with_capitals(", ".join(noun.definite for noun in nouns) + "." if nouns else "").split()
        room = max(0, words_max - len(things))
        sentences = [sentence.rstrip(".").split() for sentence in last.split(". ")]
        short = (words for words in sentences if len(words) <= room)
        whole = max(short, key=len, default=sentences[0][:room])
        core = [] if named else whole
        text = f"{' '.join(core)}. {' '.join(things)}" if core else " ".join(things)
        return " ".join(text.split()[:words_max]).rstrip(",;:")

    def _slots_of(self, noun: Noun) -> dict[str, str]:
        reading = self.reading
        line = self.topic.line
        want = self.want
        slots = slots_for(noun)
        optional = {
            "Y": self.topic.second,
            "care": self.cares[0] if self.cares else "",
            "mass": self.cares[0] if self.cares and not _is_determined(self.cares[0]) else "",
            "want": want.want,
            "wish": want.wish,
            "do": want.deed,
            "M": self._matter(noun),
        }
        if line is not None and line.origin in {"cast", "visitor"}:
            is_visitor = line.origin == "visitor"
            slots["you"] = "visitor" if is_visitor else name_of(line.handle)
            slots["who"] = "our visitor" if is_visitor else slots["you"]
            if noun.det in _MY and noun in nouns_in(line.text):
                # What somebody calls theirs is theirs in the mouths of others, too.
                slots["X"] = f"{slots['who']}'s {noun.phrase}"
        known = {reading.me.handle, *([] if line is None else [line.handle])}
        others = [handle for handle in reading.cast if handle not in known]
        spots = [spot for spot in places_near(reading.me, reading.scene) if spot != noun.definite]
        optional["other"] = name_of(self.dice.choice(others)) if others else ""
        optional["spot"] = self.dice.choice(spots) if spots else ""
        return slots | {name: value for name, value in optional.items() if value}

    def _matter(self, noun: Noun) -> str:
        """What the world is about, if that is not the topic itself."""
        matter = matter_of(self.reading)
        if matter is not None and _is_determined(matter.text):
            about: Noun | None = matter.noun
        else:
            about = next(iter(sayable_in(self.reading, self.reading.me.goal)), None)
        if about is None or about.is_word or about.head.lower() == noun.head.lower():
            return ""
        return about.definite


def _is_determined(care: str) -> bool:
    return care.split(" ", 1)[0].lower() in of_sort("det") or "'s " in care


def name_of(handle: str) -> str:
    """How somebody is called to their face."""
    bare = handle.split("~", maxsplit=1)[0].replace("_", "-")
    first, *rest = bare.split("-")
    return " ".join((first[:1].upper() + first[1:], *(_capital(part) for part in rest)))


def _capital(part: str) -> str:
    return part if part in {"of", "the", "and", "in", "on", "at"} else part[:1].upper() + part[1:]
