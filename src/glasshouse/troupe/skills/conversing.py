"""Conversing: the talk of a player without a script: the act before the noun.

Chosen wherever a player without a part may speak and no game or tool has asked for anything else. Always holds: what waits
for an answer is answered first; what happened is noticed by everybody who hears it; a player says only what it read about
itself, what others said and what happened, and where it has nothing of that to say, it passes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from hashlib import blake2b
from itertools import combinations
from typing import Any, Final

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe import kinds
from glasshouse.troupe.grammar import Pattern, cores, cores_owned, filled, fits, slots_for, with_capitals
from glasshouse.troupe.noun_classes import class_of
from glasshouse.troupe.noun_phrases import Noun, nouns_in
from glasshouse.troupe.reactions import Act, acts, calling_of, stance_of, weights_of
from glasshouse.troupe.reading import Heard
from glasshouse.troupe.salience import main_thing, owed_by, sayable_in, times_said
from glasshouse.troupe.skills.branches import Branch, Reply, passing, with_line
from glasshouse.troupe.skills.telling_fields import fields_told, has_open_fields
from glasshouse.troupe.speaking import Speaker, Spoken, name_of, short_words_max
from glasshouse.troupe.speech_acts import question_in, speech_act
from glasshouse.troupe.talk.echoes import is_echo
from glasshouse.troupe.talk.happenings import Happening, happenings_in, slots_of
from glasshouse.troupe.talk.own_story import Story, shortened
from glasshouse.troupe.talk.pronouns import to_you
from glasshouse.troupe.talk.replies import ACT_OF, ANSWERS, ECHOES, FOREIGN, disposition_of
from glasshouse.troupe.talk.situation import QUESTIONS, Event, Open, Situation
from glasshouse.troupe.talk.understanding import TALK, understood
from glasshouse.troupe.vocabulary import is_a, stems_of

choice_of_sentences_max: Final = 4
"""Of the sentences that fit, one of the first few is said."""
lines_before_return_min: Final = 5
"""What happened comes back no sooner."""
lines_event_is_new_max: Final = 12
"""Of what happened before more lines than this, nobody speaks as of news."""
own_name_chars_min: Final = 3
"""A shorter part of a handle is no name."""
questions_answered_max: Final = 3
"""So many questions are answered in one line at most; the newest go."""
seasons: Final = 10
lines_in_a_season: Final = 8
"""Two sentences that stand together come together again only after so many seasons of so many lines."""
rounds_before_closing_min: Final = 6
"""Nobody speaks of the end sooner."""
rounds_of_acquaintance: Final = 3
"""Later nobody asks what others want, and nobody says who they are, unless asked."""
lines_without_want_max: Final = 3
"""After this many own lines without it, a player says what it wants."""
goal_words_max: Final = 16
"""A longer goal is not said again."""
long_want_words_min: Final = 7
"""What somebody else wants is said in short if it has more words."""
sentences_max: Final = 3
"""A line with so many sentences does not go on to something else."""

_CALLINGS: Final = frozenset({"", "ask", "appraise", "narrate"})
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
_LEADABLE: Final = frozenset(
    {
        "tell-want",
        "tell-want-too",
        "doubt",
        "stand",
        "refuse-reason",
        "ask-why",
        "ask-way",
        "ask-goal",
        "tell-care",
    }
)
"""Behind a lead of my register nothing stands but what I begin or meet."""
_CALLS: Final = frozenset({"well", "no", "yes", "good", "then", "so", "look"})
_LOOKED_AT: Final = frozenset({"object", "food", "place", "unknown"})
_LED: Final = 0.2
"""How likely a word of the register stands before what is said."""
_SECONDED: Final = 0.3
_GOES_ON: Final = 0.7
"""How likely a reply goes on to something else."""
_RETURNED: Final = 0.8
_WANTED: Final = 0.85
_OWN_KIND: Final = 0.4
"""How likely a world's own kind is taken where plain talk would do."""


def conversed(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """What the talk asks of me now; none where my kind asks for something else, or a script has a part for me."""
    reading = speaker.reading
    open_branches = [
        branch
        for branch in branches
        if not (branch.is_passing or branch.tool or branch.kind in kinds.INNER) and branch.takes_text("text")
    ]
    is_short = reading.words_max <= short_words_max
    if speaker.has_a_part or not open_branches or not reading.me.handle or is_short:
        return None
    plain = [branch for branch in open_branches if branch.is_plain]
    calling = calling_of((plain or open_branches)[0].kind)
    if calling not in _CALLINGS:
        return None
    turn = _Turn(speaker, calling)
    spoken = turn.spoken()
    if spoken is None:
        return passing(branches, speaker, "pass")
    filled_in = [
        with_fields
        for branch in open_branches
        if not branch.is_plain
        and (with_fields := fields_told(speaker, branch, spoken, turn.moves)) is not None
    ]
    if filled_in and (not plain or speaker.dice.random() < _OWN_KIND):
        return filled_in[0]
    if plain:
        return with_line(plain[0], spoken)
    listed = [branch for branch in open_branches if not has_open_fields(branch)]
    if listed:
        return with_line(listed[0], spoken)
    # What cannot be stated is not made up.
    return passing(branches, speaker, "pass") or with_line(open_branches[0], spoken)


class _Turn:
    """One player's turn in the talk."""

    def __init__(self, speaker: Speaker, calling: str) -> None:
        self.speaker = speaker
        self.reading = speaker.reading
        self.dice = speaker.dice
        self.calling = calling
        self.situation = Situation(speaker.reading)
        self.story: Story = self.situation.story
        self.disposition = disposition_of(speaker.reading.me)
        self.me = speaker.reading.me.handle
        self.is_contest = "(judge" in speaker.reading.around
        self.moves: list[str] = []
        """The moves of the line that is being made."""
        self.patterns: set[tuple[str, tuple[str, ...]]] = set()
        """The sentences of that line."""
        self.answers: set[str] = set()
        """What of that line somebody waits for."""
        self.gaps: set[str] = set()
        """What stands in the gaps of that line already."""
        self.is_about_event = False
        first = speaker.reading.discussion[0].ref if speaker.reading.discussion else "1"
        self.beside = self.me if first != "1" else ""
        """What the next sentence goes with, late in a play."""

    def spoken(self) -> Spoken | None:
        """A line, with what was thought and felt behind it; none to pass."""
        parts = list(dict.fromkeys(part for part in self._parts() if part))
        for some in self._wordings(parts):
            text = with_capitals(" ".join(some))
            text = self._with_what_is_owed(self._with_lead(text))
            if text and not is_echo(text, self.reading):
                act = self._act()
                return Spoken(text, self.speaker.thought(act), self.dice.choice(act.moods))
        return None

    def _wordings(self, parts: list[str]) -> Iterator[list[str]]:
        """The parts of a line; the same with more of my own; then fewer and fewer of them, in their order."""
        if not parts:
            return
        yield parts
        some = parts
        if self.calling != "narrate":
            self.beside = ""
            at = len(parts) - 1 if parts[-1].endswith("?") else len(parts)
            for make in (self._touch, self._initiative):
                more = make()
                if more and not (more.endswith("?") and parts[-1].endswith("?")):
                    some = [*parts[:at], more, *parts[at:]]
                    yield some
        fewer = [[*kept] for count in range(len(some) - 1, 0, -1) for kept in combinations(some, count)]
        # What somebody waits for is left out last.
        yield from (kept for kept in fewer if self.answers <= {*kept})
        if self.answers:
            yield [text for text in self._answer() if text] or parts
        yield from (kept for kept in fewer if not self.answers <= {*kept})
        visitors = [line for line in self.reading.fresh_disturbances if line.origin == "visitor"]
        if visitors and (heard := self._first(["hear"], visitors[-1].handle)):
            yield [heard]

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
            strange = [noun for line, noun in owed_by(self.reading) if not understood(line.text)]
            if self.is_about_event:
                strange = [noun for noun in strange if noun.is_rare]
            self.speaker.topic = self.speaker.topic._replace(owed=tuple(strange))
        return self.speaker.with_what_is_owed(text)

    def _with_lead(self, text: str) -> str:
        if self.calling == "narrate" or self.dice.random() > _LED:
            return text
        own = [words for words in self.speaker.voice.openings if not nouns_in(words)]
        if own:
            return with_capitals(f"{self.dice.choice(own)} {_small(text)}")
        leads = shelf.sections("grammar/leads.txt").get(self.disposition.register, ())
        fresh = [lead for lead in leads if f"{lead.lower()} " not in self.reading.own_text]
        if not fresh or not _LEADABLE.intersection(self.moves[:1]):
            return text
        return with_capitals(f"{self.dice.choice(fresh)} {text}")

    # What the line consists of

    def _parts(self) -> Iterator[str]:
        if self.calling == "narrate":
            yield self._narration()
            return
        made: list[str] = []
        for step in (self._about_verdict, self._about_news_first, self._answer, self._about_news):
            made += [text for text in step() if text]
        if not made:
            waiting = self.situation.waits_for_another
            if waiting is not None:
                yield self._seconding(waiting)
                return
            made += [self._reaction()]
            made = [text for text in made if text]
        is_asking = any(text.endswith("?") for text in made)
        # Whoever spoke often has said each short reply before, so it goes on to something else.
        is_late = self.reading.rounds >= rounds_of_acquaintance
        likely = 1.0 if is_late else 0.3 if self.disposition.is_brief else _GOES_ON
        goes_on = not made or self.dice.random() < likely
        if self.calling == "ask" and not is_asking:
            made += [self._question()]
        elif not is_asking and goes_on and len(made) < sentences_max:
            self.beside = " ".join(made) if is_late else ""
            made += [self._return() or self._initiative()]
        made = [text for text in made if text]
        if is_late and len(made) == 1:
            self.beside = made[0]
            more = "" if made[0].endswith("?") else self._initiative()
            more = more or self._touch()
            if not more:
                self.beside = ""
                more = self._touch()
            made = [more, *made] if made[0].endswith("?") else [*made, more]
            if not more and not self.situation.open_to_me and not self._is_in_season(made[0]):
                # A short reply that nobody waits for was perhaps said before.
                return
        made = [text for text in made if text]
        if made and self._is_want_due(made):
            at = len(made) - 1 if made[-1].endswith("?") else len(made)
            made.insert(at, self._touch())
        yield from made

    def _is_want_due(self, made: list[str]) -> bool:
        stems = self.speaker.want.stems
        mine = [line.text for line in self.reading.discussion if self.reading.is_mine(line)]
        newest = [*mine[-lines_without_want_max:], " ".join(made)]
        is_told = any(stems & stems_of(text) for text in newest)
        is_long_ago = len(mine) >= lines_without_want_max or (
            len(mine) > 1 and (self.story.is_secret or self.dice.random() < _WANTED)
        )
        return bool(stems) and not is_told and is_long_ago

    def _touch(self) -> str:
        if self.story.is_secret:
            return self._first(["look-away", "tell-care"])
        if self.reading.rounds >= rounds_before_closing_min:
            return self._first(["close", "tell-care", "hold-want"])
        return self._first(["tell-care", "hold-want"])

    def _about_verdict(self) -> Iterator[str]:
        line = next((line for line in reversed(self.reading.fresh) if line.fields.get("winner")), None)
        if line is not None:
            winner = str(line.fields["winner"])
            move = (
                "won" if winner == self.me else "lost" if winner in self.situation.company else "nobody-won"
            )
            yield self._first([move], line.handle, other=winner if move == "lost" else "")

    # What happened

    @cached_property
    def _news(self) -> list[Event]:
        """What happened and I have not spoken of, what nobody has told first, and of that what a visitor brought."""
        news = [
            event
            for event in self.situation.events
            if event.is_new_to_me
            and event.lines_since <= lines_event_is_new_max
            and not self._is_about_me(event.happenings[0])
        ]
        return sorted(news, key=lambda event: (event.notes > 0, event.line.origin == "world"))

    def _is_about_me(self, happening: Happening) -> bool:
        """Whether it was my own doing: nobody asks about that in their own name."""
        names = {part for part in self.me.split("-") if len(part) >= own_name_chars_min}
        words = re.findall(r"\b[A-Z]\w+", happening.told)
        return any(word.lower() in names for word in words)

    def _about_news_first(self) -> Iterator[str]:
        """What happened, told before anything else by whoever speaks first after it."""
        if self._is_first:
            yield self._opening()
        for event in self._news:
            if not event.notes:
                self.is_about_event = True
                yield self._first(
                    ["note-event", "note-quoted"], self._teller(event), event=event.happenings[0]
                )
                if len(event.happenings) > 1 and not self.situation.open_to_me:
                    yield self._first(["bear-event"], event=event.happenings[-1])

    def _teller(self, event: Event) -> str:
        """Who told what happened, if it was somebody whom one calls by name."""
        return event.line.handle if event.line.origin == "cast" else ""

    def _opening(self) -> str:
        """What there is to see at the beginning."""
        seen = [happening for happening in happenings_in(self.reading.scene) if happening.now]
        return self._first(["note-scene"], event=self.dice.choice(seen)) if seen else ""

    @property
    def _is_first(self) -> bool:
        """Whether nobody of the cast has spoken yet."""
        return not any(line.origin == "cast" for line in (*self.reading.remembered, *self.reading.discussion))

    def _about_news(self) -> Iterator[str]:
        for event in self._news[:1]:
            if not event.notes:
                return
            self.is_about_event = True
            happening = event.happenings[min(event.notes, len(event.happenings) - 1)]
            if not event.asks and not any(move in QUESTIONS for move in self.moves):
                # A question about what happened is for whoever speaks next.
                yield self._first(["ask-event"], self.situation.next_speaker, event=happening)
            elif not any(move.endswith("-event") for move in self.moves):
                yield self._first(["bear-event", "note-event-too"], self._last_handle(), event=happening)

    def _return(self) -> str:
        """What happened comes back once, when the talk has gone on."""
        for event in sorted(self.situation.events, key=lambda event: event.line.origin == "world"):
            is_time = (
                event.lines_since >= lines_before_return_min and not event.returns and event.line.ref != "1"
            )
            if is_time and self.dice.random() < _RETURNED:
                self.is_about_event = True
                self.beside = ""
                return self._first(["return-event"], event=event.happenings[0])
        return ""

    # Answers

    def _answer(self) -> Iterator[str]:
        for opened in self.situation.open_to_me[:questions_answered_max]:
            for text in self._answer_to(opened):
                self.answers = self.answers | ({text} - {""})
                yield text

    def _answer_to(self, opened: Open) -> Iterator[str]:
        to = opened.line.handle
        if opened.said is None:
            yield self._foreign_answer(opened.line)
            return
        move = opened.said.move
        if move == "ask-event":
            event = next(iter(self.situation.events), None)
            self.is_about_event = True
            yield self._first(["answer-event"], to, event=event.happenings[0] if event is not None else None)
        elif move == "ask-want":
            yield self._first(self._telling(), to)
        elif move in {"ask-scene", "ask-view"}:
            yield self._first(ANSWERS[move], to, thing=opened.said.slots.get("X") or "")
        elif move in ANSWERS:
            # What was asked about is no reason for itself.
            self.gaps |= {care.lower() for care in (opened.said.slots.get("ycare"),) if care}
            other = opened.said.slots.get("other") or ""
            yield self._first(
                self._by_temper(ANSWERS[move], to), to, other=self.situation.names.get(other.lower(), "")
            )
        elif move in ECHOES:
            yield self._first(self._by_temper(ECHOES[move], to), to)

    def _telling(self) -> list[str]:
        if self.story.is_secret:
            return ["keep-secret"]
        is_known = self.reading.rounds >= rounds_of_acquaintance
        return ["hold-want" if is_known else "tell-want", "tell-want", "tell-care", "keep-secret"]

    def _by_temper(self, moves: Sequence[str], to: str = "") -> list[str]:
        """The moves that answer something, the one that my temper leans to first; a rival gets no help and no thanks."""
        is_friendly = self.dice.random() < self.disposition.friendliness and not self.situation.is_rival(to)
        if moves[:1] == ("give-reason",):
            is_friendly = True
        return list(moves) if is_friendly else list(reversed(moves))

    def _foreign_answer(self, line: Heard) -> str:
        """An answer to a question that is none of the general talk: what I know of it, else that I do not know."""
        heard = stems_of(line.text)
        known = [fact for fact in self.story.facts if heard & stems_of(fact)]
        if known:
            return self._first(["knows"], line.handle, fact=known[0])
        self.beside = ""
        thing = main_thing(self.reading, line)
        moves = [f"answer-{question_in(line.text) or 'what'}", "answer-what"]
        if thing is not None:
            moves.insert(0, "answer-about")
        return self._first(moves, line.handle, thing=thing.definite if thing is not None else "")

    def _reaction(self) -> str:
        """What I say to the newest line, if it was said to everybody."""
        spoken = [line for line in self.reading.fresh if line.origin in {"cast", "visitor"}]
        if not spoken:
            return ""
        line = spoken[-1]
        moves = [said.move for said in understood(line.text)]
        if not moves:
            act = speech_act(line.text)
            return self._first(self._by_temper(FOREIGN[act]), line.handle) if act in FOREIGN else ""
        move = moves[-1]
        to = line.handle
        if move in {"tell-want", "tell-want-too", "close"}:
            return self._to_a_want(to)
        if move in {"give-reason", "tell-care", "tell-fact", "give-plan", "give-way"}:
            return self._first(self._by_temper(ECHOES[move], to), to)
        return ""

    def _to_a_want(self, to: str) -> str:
        if self.situation.is_rival(to) and not self.story.is_secret:
            opposed = self._first(["oppose"], to)
            if opposed:
                return opposed
        if self.me not in self.situation.wants and not self.story.is_secret and self.reading.rounds < 3:
            return self._first(["tell-want-too"], to)
        if to == self.situation.next_speaker and self.dice.random() < 0.4:
            return self._first(["ask-why", "ask-way"], to)
        is_friendly = self.dice.random() < self.disposition.friendliness
        if is_friendly and self.is_contest:
            return self._first(["hear"], to)
        return self._first(["offer-help", "hear"] if is_friendly else ["doubt", "hear"], to)

    def _seconding(self, waiting: Open) -> str:
        """A word for a question that another was asked; mostly none."""
        asked = waiting.said.slots.get("you", "") if waiting.said is not None else ""
        to = self.situation.names.get((asked or "").lower(), "")
        is_seconded = any(
            said.move == "second" for moves in self.situation.said_by.values() for said in moves
        )
        if (
            not to
            or is_seconded
            or waiting.line != self.reading.discussion[-1]
            or self.dice.random() > _SECONDED
        ):
            return ""
        return self._first(["second"], to)

    # What I begin myself

    def _question(self) -> str:
        to = self.situation.next_speaker
        return self._first(
            [*self._questions_to(to), "ask-goal", "ask-scene", "ask-view", "ask-hope", "ask-way", "ask-want"],
            to,
        )

    def _initiative(self) -> str:
        """Something of my own: what I want, a question to whoever speaks next, what we are here for, what I care about."""
        to = self.situation.next_speaker
        is_told = self.me in self.situation.wants or self.story.is_secret
        options: list[str] = []
        if (
            not is_told
            and self.moves.count("tell-want") == 0
            and not set(self.moves) & {"tell-want-too", "close"}
        ):
            options += ["tell-want" if self.reading.rounds < rounds_of_acquaintance else "hold-want"] * 6
        options += self._questions_to(to) * 2
        visible = self.reading.visible_text
        if self._goal and self._goal.lower() not in visible:
            options += ["tell-goal", "ask-goal", "ask-hope"]
        options += ["tell-care", "ask-scene", "ask-view"]
        if self.reading.rounds < rounds_of_acquaintance:
            options += ["tell-fact"] * 2
        if self.reading.rounds >= rounds_before_closing_min and is_told:
            options += ["close"] * 2
        self.dice.shuffle(options)
        if not is_told and self.reading.rounds < rounds_of_acquaintance:
            options.insert(0, "tell-want")
        return self._first(dict.fromkeys(options), to)

    def _questions_to(self, to: str) -> list[str]:
        """What I may ask whoever speaks next, and nobody has asked them in sight."""
        if not to:
            return []
        asked = {
            said.move
            for moves in self.situation.said_by.values()
            for said in moves
            if self.situation.addressed(said) == to
        }
        if to in self.situation.wants:
            possible = ["ask-why", "ask-way", "ask-progress"]
            if self.reading.rounds >= rounds_of_acquaintance:
                possible.append("ask-still")
            if not self.is_contest:
                possible += ["oppose"] if self.situation.is_rival(to) else ["offer-help", "ask-help"]
        else:
            possible = ["ask-want"] if self.reading.rounds < rounds_of_acquaintance else []
        if to in self.situation.cares:
            possible.append("ask-care")
        return [move for move in possible if move not in asked]

    def _narration(self) -> str:
        spoken = [line.handle for line in self.reading.fresh if line.origin == "cast"]
        names = [handle for handle in dict.fromkeys(reversed(spoken)) if handle in self.situation.company]
        event = next((event for event in self.situation.events), None)
        happening = event.happenings[-1] if event is not None else None
        if len(names) < 2:
            names = [*names, *(handle for handle in self.situation.company if handle not in names)]
        if len(names) < 2:
            return self._first(["narrate"], event=happening)
        return self._first(["narrate"], names[0], event=happening, other=names[1])

    # Sentences

    def _first(self, moves: Iterable[str], to: str = "", **more: Any) -> str:
        """A sentence of the first of some moves that has one; of all, the first that is in season goes."""
        some = list(moves)
        sentence = next((text for move in some if (text := self._said(move, to, **more))), "")
        if not sentence and self.beside:
            is_needed = self.beside == self.me
            self.beside = ""
            return self._first(some, to, **more) if is_needed else ""
        return sentence

    def _said(
        self,
        move: str,
        to: str = "",
        *,
        event: Happening | None = None,
        other: str = "",
        fact: str = "",
        thing: str = "",
    ) -> str:
        """A sentence of a move, filled; empty if none fits that was not said in sight."""
        slots = self._slots(to, event, other) | _filled_only(fact=fact, X=thing)
        owned = cores_owned(TALK, move, self.reading.cast, self.me, self.reading.rounds)
        used = self.situation.used_patterns
        for patterns in (owned, cores(TALK, move)):
            fresh = [
                pattern
                for pattern in patterns
                if fits(pattern, slots) and (move, pattern.texts) not in used | self.patterns
            ]
            for pattern in self._shuffled_first(fresh):
                text = f"{filled(pattern, slots, self.dice, set())}{self._mark(pattern)}"
                if self._says_twice(pattern, slots) or not self._is_in_season(text):
                    continue
                if text.lower() not in self.reading.visible_text and self._is_sound(text):
                    self.moves.append(move)
                    self.patterns.add((move, pattern.texts))
                    self.gaps |= {slots[name].lower() for name in pattern.slots if name in _SAID_ONCE}
                    return with_capitals(text)
        return ""

    def _is_in_season(self, text: str) -> bool:
        """Whether a sentence may stand behind the one it goes with at this time of the play.

        What left the window cannot be seen, so the same two sentences are kept apart by how long the play has lasted.
        """
        if not self.beside:
            return True
        heard = int(self.reading.discussion[-1].ref) if self.reading.discussion else 0
        digest = blake2b(f"{self.beside}{text}".encode("utf-8", "surrogatepass"), digest_size=4).digest()
        return int.from_bytes(digest, "big") % seasons == heard // lines_in_a_season % seasons

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
        return slots | (slots_of(event) if event is not None else {})

    @cached_property
    def _slots_of_mine(self) -> dict[str, str]:
        """What I can say of myself, of the goal and of the scene."""
        story = self.story
        noun = self._thing()
        slots = slots_for(noun) if noun is not None else {}
        visible = self.reading.visible_text
        if not story.is_secret:
            slots |= _filled_only(want=story.want, deed=story.deed)
            if story.want and not story.deed:
                slots["wish"] = story.want
            if story.short and not story.short.startswith(("be ", "have ")):
                slots["short"] = story.short
        elif (thing := _thing_wanted(self.reading.me.wants)) is not None:
            slots["wthing"] = thing.definite
        facts = [fact for fact in story.facts if fact.lower() not in visible]
        if facts:
            slots["fact"] = facts[0] if facts[0].startswith("I ") else facts[0][:1].lower() + facts[0][1:]
        if story.cares:
            slots["care"] = min(story.cares, key=lambda care: visible.count(care.lower()))
        return slots | _filled_only(goal=self._goal)

    def _thing(self) -> Noun | None:
        """A thing of a scene that the world told, and that few have spoken of."""
        scenes = [
            line.text
            for line in (*self.reading.remembered, *self.reading.discussion)
            if line.origin == "world"
        ]
        if not scenes and not any(line.kind == kinds.WORLD_OBSERVED for line in self.reading.discussion):
            scenes = [self.reading.scene]
        nouns = [
            noun
            for text in scenes
            for noun in sayable_in(self.reading, text)
            if not (noun.is_name or noun.is_word)
        ]
        fresh = [
            noun for noun in nouns if not times_said(self.reading, noun) and class_of(noun) in _LOOKED_AT
        ]
        return self.dice.choice(fresh) if fresh else None

    def _slots_of_addressee(self, to: str) -> dict[str, str]:
        if not to:
            return {}
        slots = {"you": self._name(to)}
        want = self.situation.wants.get(to, "")
        if want:
            deed = want.removeprefix("to ")
            if deed != want and len(want.split()) > long_want_words_min:
                deed = shortened(deed)
                want = f"to {deed}"
            slots["ywant"] = to_you(want)
            if deed == want:
                slots["ywish"] = to_you(want)
            elif not deed.startswith(("be ", "have ")):
                slots["yshort"] = to_you(deed)
        care = self.situation.cares.get(to, "")
        return slots | _filled_only(ycare=to_you(care))

    def _name(self, handle: str) -> str:
        return "visitor" if handle == "visitor" else name_of(handle)

    def _last_handle(self) -> str:
        spoken = [line.handle for line in self.reading.fresh if line.origin == "cast"]
        return spoken[-1] if spoken else ""

    @cached_property
    def _goal(self) -> str:
        """What all are here to do, as it stands behind `to`; empty if the goal does not say it so."""
        first = self.reading.me.goal.split(". ")[0].rstrip(". ")
        words = first.split()
        if not words or len(words) > goal_words_max or not is_a(words[0].lower(), "verb"):
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
