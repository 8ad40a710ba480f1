"""Conversing: the talk of a player without a script: the act before the noun.

Chosen wherever a player without a part may speak and no game or tool has asked for anything else. Always holds: what waits
for an answer is answered first; what happened is noticed by everybody who hears it; a player says only what it read about
itself, what others said and what happened, and where it has nothing of that to say, it passes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe import kinds
from glasshouse.troupe.grammar import Pattern, cores, cores_owned, filled, fits, with_capitals
from glasshouse.troupe.noun_phrases import Noun, nouns_in
from glasshouse.troupe.reactions import Act, acts, calling_of, stance_of, weights_of
from glasshouse.troupe.reading import Heard
from glasshouse.troupe.salience import main_thing, owed_by
from glasshouse.troupe.skills.branches import Branch, Reply, in_a_list, passing, with_line
from glasshouse.troupe.skills.telling_fields import (
    Meant,
    fields_told,
    has_open_fields,
    is_for_as_filed,
    shown_by,
    thrown_by,
)
from glasshouse.troupe.speaking import Speaker, Spoken, name_of, short_words_max
from glasshouse.troupe.speech_acts import question_in, speech_act
from glasshouse.troupe.talk.dealings import BROKEN, GRANTED, OPEN, PROMISED, REFUSED, TERMS
from glasshouse.troupe.talk.echoes import is_echo
from glasshouse.troupe.talk.happenings import Happening, happenings_in, slots_of
from glasshouse.troupe.talk.manners import manner_of
from glasshouse.troupe.talk.matters import NOT_YET, YES, Matter, deed_for, is_for, matter_of
from glasshouse.troupe.talk.own_story import Story
from glasshouse.troupe.talk.pronouns import to_you
from glasshouse.troupe.talk.replies import ACT_OF, ANSWERS, ECHOES, FOREIGN, OVERHEARD, disposition_of
from glasshouse.troupe.talk.situation import QUESTIONS, Event, Open, Situation
from glasshouse.troupe.talk.understanding import TALK, understood
from glasshouse.troupe.vocabulary import is_a, stems_of

choice_of_sentences_max: Final = 4
"""Of the sentences that fit, one of the first few is said."""
lines_before_report_min: Final = 4
"""Nobody has done sooner what they took on."""
lines_before_return_min: Final = 5
"""What happened comes back no sooner."""
lines_event_is_new_max: Final = 12
"""Of what happened before more lines than this, nobody speaks as of news."""
own_name_chars_min: Final = 3
"""A shorter part of a handle is no name."""
questions_answered_max: Final = 3
"""So many questions are answered in one line at most; the newest go."""
lines_before_closing: Final = (7, 3)
"""Nobody speaks of the end before so many lines, and so many more for each who takes part."""
lines_before_vote: Final = (4, 3)
"""Nobody calls for a vote sooner."""
rounds_of_positions: Final = 2
"""Later nobody remarks on what another wants."""
rounds_of_introductions: Final = 3
"""Later nobody says what they want and what all have to do as if for the first time."""
rounds_before_stances: Final = 1
"""Nobody says sooner what they are for."""
rounds_before_second_request: Final = 3
"""Whoever has a promise asks for no other one sooner."""
requests_max: Final = 2
"""Nobody asks more often for help."""
lines_before_deal_told: Final = 2
lines_between_remarks: Final = 5
"""Nobody remarks sooner again on what two others settled."""
lines_of_questions: Final = (3, 3)
"""Later nobody asks for reasons."""
clause_words_max: Final = 10
"""A longer clause about what happened stands in no question."""
closing_sentences_max: Final = 2
lines_without_want_max: Final = 3
"""After so many own lines in sight without it, a player comes back to what it wants."""
goal_words_max: Final = 16
"""A longer goal is not said again."""
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
_LEADABLE: Final = frozenset({"oppose", "refuse-reason", "ask-why", "tell-goal", "count", "ask-side"})
"""Behind a lead of my register nothing stands but what I begin or meet."""
_CLOSINGS: Final = (
    "close-deal", "close-given", "close-broken", "close-refused", "close-rival", "close-alone", "close-goal", "close-won", "close-culprit",
    "close-lost", "close-judged", "count",
)  # fmt: skip
_ANSWERING: Final = frozenset(
    move for table in (ANSWERS, ECHOES) for moves in table.values() for move in moves
) - {"tell-want", "stand-for", "answer-event", "abstain", "side-other", "hold-want"}
"""What one says to somebody."""
_VOTING: Final = frozenset({"stand-for", "stand-for-word", "abstain"})
_DENIED: Final = re.compile(r"\b(?:not|never|no|nothing|need|needs|forgotten|lost)\b")
"""What stands in a fact that helps nobody."""
_TAKING_POSITION: Final = ("stand-for", "stand-for-word", "back", "back-other")
_CALLS: Final = frozenset(
    {"well", "no", "yes", "good", "then", "so", "look", "really", "oh", "ha", "bless", "all"}
)
_LED: Final = 0.15
"""How likely a word of the register stands before what is said."""
_GOES_ON: Final = 0.6
"""How likely a reply goes on to something else."""
_GOES_ON_BRIEFLY: Final = 0.3
_GOES_ON_BEHIND_A_BARGAIN: Final = 0.25
_INTRODUCED: Final = 0.4
"""How likely somebody says a thing of themselves before what they want."""
_WILLING: Final = 0.45
"""How likely the least friendly does not refuse."""
_REMARKED: Final = 0.4
_WANTED: Final = 0.5
_INDIFFERENT: Final = 0.4
_CURIOUS: Final = 0.4
_GENEROUS: Final = 0.3
"""How likely the friendliest says yes without a condition."""
_DWELT_ON: Final = frozenset(
    {
        "tell-want",
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
_RETURNED: Final = 0.8
_RETURNED_OF_THE_WORLD: Final = 0.3
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
    turn = _Turn(speaker, calling, open_branches)
    spoken = turn.spoken()
    if spoken is None:
        return passing(branches, speaker, "pass")
    meant = turn.meant()
    of_world = [branch for branch in open_branches if not branch.is_plain]
    chosen_kind = [branch for branch in of_world if branch.kind == turn.kind]
    filled_in = [
        with_fields
        for branch in chosen_kind or of_world
        if (with_fields := fields_told(speaker, branch, spoken, meant)) is not None
    ]
    if filled_in and (not plain or meant.who or chosen_kind or speaker.dice.random() < _OWN_KIND):
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

    def __init__(self, speaker: Speaker, calling: str, branches: Sequence[Branch] = ()) -> None:
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
        self.gaps: set[str] = set()
        """What stands in the gaps of that line already."""
        self.answers: set[str] = set()
        """What of that line somebody waits for."""
        self.is_about_event = False
        self.manner = manner_of(speaker.reading.me.temper)
        self.who = ""
        """Of whom the line speaks, where that is what it is about."""
        self.branches = branches
        self.voted = ""
        """What I am for, said in this line."""
        self.kind = ""
        """The kind of the world that the line is made for."""
        self.given: dict[str, Any] = {}
        """What stands in the fields of that kind."""

    def spoken(self) -> Spoken | None:
        """A line, with what was thought and felt behind it; none to pass."""
        parts = list(dict.fromkeys(part for part in self._parts() if part))
        while parts:
            text = with_capitals(" ".join(parts))
            text = self._in_own_words(self._with_what_is_owed(self._with_lead(text)))
            if text:
                act = self._act()
                return Spoken(text, self.speaker.thought(act), self.dice.choice(act.moods))
            # What somebody waits for is left out last.
            loose = [part for part in parts if part not in self.answers] or parts
            echoes = [part for part in loose if is_echo(part, self.reading)]
            parts.remove(echoes[0] if echoes else loose[-1])
        return None

    def meant(self) -> Meant:
        """What the line says that a field may hold."""
        matter = self.matter
        position = self._position(self.me)
        if "back" in self.moves or "back-other" in self.moves:
            position = YES
        is_for = position == YES if matter is not None and matter.whether else None
        return Meant(tuple(self.moves), self.who, is_for, self.given)

    def _in_own_words(self, text: str) -> str:
        """The line; with a word of my own behind it, if it says too little beside what all know; empty if that does not do."""
        if not text or self.calling == "narrate" or not is_echo(text, self.reading):
            return text
        moves = ("feel-event", "dwell") if self.is_about_event else ("dwell",)
        if _DWELT_ON.isdisjoint(self.moves):
            return ""
        for move in moves:
            more = self._first([move])
            longer = f"{text} {more}"
            if more and not text.endswith("?") and not is_echo(longer, self.reading):
                return longer if self.speaker.may_say(longer) else ""
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
            strange = [noun for line, noun in owed_by(self.reading) if not understood(line.text)]
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
            if not nouns_in(words) and not is_a(words.split()[0].strip(",").lower(), "verb")
        ]
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
        if not made and self._leaves_it_to_another():
            return
        made += [text for text in (self._overheard(),) if text and not made]
        is_asking = any(text.endswith("?") for text in made)
        if self.calling == "ask" and not is_asking and not self._is_past(lines_before_closing):
            made += [self._question() or self._initiative()]
        elif not is_asking and len(made) < sentences_max and self._goes_on(made):
            made += [(self._decided() if self._is_called else "") or self._return() or self._initiative()]
        made = [text for text in made if text]
        if self._is_want_due(made):
            at = len(made) - 1 if made and made[-1].endswith("?") else len(made)
            made.insert(at, self._touch())
        yield from made

    def _goes_on(self, made: Sequence[str]) -> bool:
        """Whether something of my own follows what I answered; a bargain that was just struck stands alone."""
        if not made or self._is_first or self._is_called:
            return True
        is_late = self._is_past(lines_before_closing)
        if {"hear-close", "promise", "promise-care", "agree"} & set(self.moves):
            return False
        if is_late and {"won", "lost", "nobody-won"} & set(self.moves):
            return False
        if self.is_about_event or {"settle", "thank", "betrayed", "bear-no"} & set(self.moves):
            return self.dice.random() < _GOES_ON_BEHIND_A_BARGAIN
        return self.dice.random() < (_GOES_ON_BRIEFLY if self.disposition.is_brief else _GOES_ON)

    def _leaves_it_to_another(self) -> bool:
        """Whether somebody else was just asked something, so that I wait for the answer."""
        waiting = self.situation.waits_for_another
        return waiting is not None and not self._news

    def _is_want_due(self, made: Sequence[str]) -> bool:
        stems = self.speaker.want.stems
        mine = [line.text for line in self.reading.discussion if self.reading.is_mine(line)]
        newest = [*mine[-lines_without_want_max:], " ".join(made)]
        is_told = any(stems & stems_of(text) for text in newest)
        is_late = self._is_past(lines_before_closing) or self.story.is_secret
        is_long_ago = len(mine) >= lines_without_want_max or (is_late and bool(mine))
        if not stems or is_told or not is_long_ago or self._is_closing:
            return False
        return (bool(made) or self.story.is_secret) and self.dice.random() < _WANTED

    @property
    def _is_closing(self) -> bool:
        """Whether the line says how it ended."""
        return not set(_CLOSINGS).isdisjoint(self.moves)

    def _touch(self) -> str:
        if self.story.is_secret:
            return self._first(["look-away", "tell-care"])
        return self._first(["hold-want", "tell-care"])

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

    def _try(self, event: Event) -> str:
        """What I try when something happened, if dice decide here and nobody has tried it yet."""
        happening = event.happenings[0]
        is_tried = any(
            said.move == "try-it" and int(line.ref) > int(event.line.ref)
            for line, said, _ in self.situation.told
        )
        thrown = thrown_by(self.speaker, self.branches)
        if thrown is None or is_tried or not happening.thing:
            return ""
        tried = self._first(["try-it"], thing=happening.thing)
        end = self._first(["try-won" if thrown.is_won else "try-lost"])
        if not (tried and end):
            return ""
        self.kind, self.given = thrown.kind, thrown.fields
        return f"{tried} {thrown.words} {end}"

    def _about_news(self) -> Iterator[str]:
        for event in self._news[:1]:
            tried = self._try(event)
            if tried:
                self.is_about_event = True
                yield tried
                return
            if not event.notes:
                return
            self.is_about_event = True
            happening = event.happenings[min(event.notes, len(event.happenings) - 1)]
            if not event.asks and not any(move in QUESTIONS for move in self.moves):
                # A question about what happened is for whoever speaks next.
                asking = ["ask-change", "ask-event"] if event.line.origin == "world" else ["ask-event"]
                noted = (
                    "" if event.line.origin != "world" else self._first(["note-event-too"], event=happening)
                )
                asked = self._first(asking, self.situation.next_speaker, event=happening)
                yield f"{noted} {asked}".strip() if asked else ""
            elif not any(move.endswith("-event") for move in self.moves):
                yield self._first(["bear-event", "note-event-too"], self._last_handle(), event=happening)

    def _return(self) -> str:
        """What happened comes back once, when the talk has gone on: with what was done about it by whoever took it on."""
        for event in sorted(self.situation.events, key=lambda event: event.line.origin == "world"):
            since = [entry for entry in self.situation.told if int(entry[0].ref) > int(event.line.ref)]
            acting = [line.handle for line, said, _ in since if said.move == "change-act"]
            if any(said.move == "report-on" for _, said, _ in since) or event.line.ref == "1":
                continue
            if acting and acting[-1] == self.me and event.lines_since >= lines_before_report_min:
                self.is_about_event = True
                return self._first(["report-on"])
            is_time = event.lines_since >= lines_before_return_min and not event.returns and not acting
            likely = _RETURNED if event.line.origin != "world" else _RETURNED_OF_THE_WORLD
            if is_time and self.dice.random() < likely:
                self.is_about_event = True
                return self._first(["return-event"], event=event.happenings[0])
        return ""

    # Answers

    def _answer(self) -> Iterator[str]:
        for opened in self.situation.open_to_me[:questions_answered_max]:
            for text in self._answer_to(opened):
                self.answers.add(text)
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
        elif move == "ask-change":
            self.is_about_event = True
            yield self._to_a_change(to)
        elif move in {"ask-help", "ask-help-for-chore"}:
            yield self._to_a_request(to)
        elif move == "ask-hold":
            yield self._to_a_doubt_of_my_word(to)
        elif move == "ask-stand":
            yield (self._vote() if self._position(self.me) else "") or self._first(["unsure"], to)
        elif move == "ask-culprit":
            yield self._first(["keep-secret"] if self.story.is_secret else ["deny-it", "deny-plain"], to)
        elif move == "ask-side":
            yield self._to_a_choice_of_side(to, self._called(opened.said.slots.get("other") or ""))
        elif move in {"ask-want", "press-secret"}:
            yield self._first(["keep-secret"] if self.story.is_secret else ["tell-want", "hold-want"], to)
        elif move in ANSWERS:
            care = opened.said.slots.get("care") or ""
            moves = self._by_temper(ANSWERS[move])
            if move in {"set-term", "help-if"} and self._is_against_my_word(to):
                moves = ["refuse-term"]
            yield self._first(moves, to, ycare=to_you(care))
            if {"promise", "agree"} & set(self.moves):
                yield self._backing(to)
        elif move in ECHOES:
            yield self._first(self._by_temper(ECHOES[move]), to)
            if "settle" in self.moves or ("thank" in self.moves and not self._position(self.me)):
                yield self._backing(to)

    def _is_against_my_word(self, to: str) -> bool:
        """Whether somebody asks for what I have promised to another, or want decided otherwise."""
        theirs, mine = self._leaning_of(to), self._position(self.me)
        return bool(theirs and mine) and NOT_YET != mine != theirs

    def _by_temper(self, moves: Sequence[str]) -> list[str]:
        """The moves that answer something, the one that my temper leans to first. Who asked for help mostly pays for it."""
        is_asker = "refuse-term" in moves
        likely = 0.85 + 0.15 * self.disposition.friendliness if is_asker else self.disposition.friendliness
        if moves[:1] in {("give-reason",), ("give-part",), ("boast",)}:
            likely = 1.0
        return list(moves) if self.dice.random() < likely else list(reversed(moves))

    def _to_a_request(self, to: str) -> str:
        """Yes, yes under a condition, or no: a rival gets a no, and no two answer in the same way if that can be."""
        if self._is_rival(to):
            return self._first(["help-no-rival", "help-no"], to)
        if self._is_against_my_word(to):
            return self._first(["help-no"], to)
        terms = ["set-term" if "wish" in self._slots_of_mine else "help-if", "hold-back"]
        if self.story.is_secret:
            terms = ["hold-back"]
        said = [said.move for _, said, _ in self.situation.told]
        self.dice.shuffle(terms)
        terms.sort(key=said.count)
        if self._state(self.me, to) == GRANTED:
            # Who has a promise from somebody helps them, too.
            terms = ["help-yes"]
        is_decision = self.matter is not None and bool(self.matter.whether)
        if not is_decision and self.dice.random() < _GENEROUS * self.disposition.friendliness + 0.1:
            terms.insert(0, "help-yes")
        is_refused = (
            terms[0] != "help-yes"
            and self.dice.random() > _WILLING + (1 - _WILLING) * self.disposition.friendliness
        )
        if is_refused and "help-no" not in said[-12:]:
            terms.insert(0, "help-no")
        answer = self._first([*terms, "help-yes", "help-no"], to)
        if self.moves and self.moves[-1] == "help-yes":
            more = self._backing(to)
            if not more and not _DENIED.search(self._slots_of_mine.get("fact", "not")):
                more = self._first(["bring"])
            return f"{answer} {more}" if more else answer
        return answer

    def _to_a_change(self, to: str) -> str:
        """What follows for me from what happened: somebody sees to it, or it makes what I want harder, or nothing."""
        event = next(iter(self.situation.events), None)
        since = int(event.line.ref) if event is not None else 0
        is_taken_on = any(
            said.move == "change-act" and int(line.ref) > since for line, said, _ in self.situation.told
        )
        moves = self.dice.sample(["change-act", "change-hard"], 2)
        if len(self.situation.open_to_me) > 1:
            # Somebody else waits, too, and a line has room for few words.
            moves = ["change-act"]
        if self.manner in {"sly", "cross", "sad"} and self.dice.random() < _INDIFFERENT:
            moves.insert(0, "change-none")
        return self._first(
            [move for move in (*moves, "change-none") if not (is_taken_on and move == "change-act")], to
        )

    def _to_a_doubt_of_my_word(self, to: str) -> str:
        breaks = self.manner in {"sly", "nervous"} or self.story.is_secret
        is_broken = self._state(to, self.me) == GRANTED and self.dice.random() < (0.5 if breaks else 0.1)
        return self._first(["break-word"] if is_broken else ["hold-word"], to)

    def _to_a_choice_of_side(self, to: str, other: str) -> str:
        """With whom I have a bargain, else with whom my want does not quarrel, else as my temper has it."""
        if GRANTED in {self._state(to, self.me), self._state(self.me, to)} or self._is_rival(other):
            return self._first(["side-with"], to)
        if GRANTED in {self._state(other, self.me), self._state(self.me, other)} or self._is_rival(to):
            return self._first(["side-other"], to, other=other)
        moves = ["side-with", "side-none", "side-other"]
        return self._first(self.dice.sample(moves, len(moves)), to, other=other)

    def _foreign_answer(self, line: Heard) -> str:
        """An answer to a question that is none of the general talk: what I know of it, else that I do not know."""
        heard = stems_of(line.text)
        known = [fact for fact in self.story.facts if heard & stems_of(fact)]
        if known:
            return self._first(["knows"], line.handle, fact=known[0])
        thing = main_thing(self.reading, line)
        moves = [f"answer-{question_in(line.text) or 'what'}", "answer-what"]
        if thing is not None:
            moves.insert(0, "answer-about")
        return self._first(moves, line.handle, thing=thing.definite if thing is not None else "")

    def _overheard(self) -> str:
        """What I say to the newest line, if it was said to everybody, and nobody has met it."""
        spoken = [line for line in self.reading.fresh if line.origin in {"cast", "visitor"}]
        if not spoken:
            return ""
        line = spoken[-1]
        moves = [said.move for said in understood(line.text)]
        if not moves:
            act = speech_act(line.text)
            return self._first(self._by_temper(FOREIGN[act]), line.handle) if act in FOREIGN else ""
        met = next((OVERHEARD[move] for move in reversed(moves) if move in OVERHEARD), ())
        if "count-won" in moves:
            decided = next(
                said.slots.get("option") for said in understood(line.text) if said.move == "count-won"
            )
            met = ("take-won",) if self._position(self.me) in {decided, ""} else ("take-lost",)
        meant = {said.slots.get("other") for said in understood(line.text) if said.move == "close-deal"}
        if "close-deal" in moves and self._name(self.me) not in meant:
            return ""
        if "tell-want" in moves and self.reading.rounds >= rounds_of_positions:
            return ""
        third = ""
        if {"settle", "help-yes", "help-no", "help-no-rival"} & set(moves):
            third = next(
                (to for one, _, to in reversed(self.situation.told) if one.ref == line.ref and to), ""
            )
            if not third or third == self.me or {"hear-bargain", "hear-refusal"} & self._moves_lately():
                return ""
        if {"tell-deal", "tell-want", "settle", "help-yes", "help-no", "help-no-rival"} & set(
            moves
        ) and self.dice.random() > _REMARKED:
            return ""
        return self._first(met, line.handle, other=third)

    def _moves_lately(self) -> set[str]:
        """The moves of the last few lines."""
        newest = {line.ref for line in self.reading.discussion[-lines_between_remarks:]}
        return {said.move for line, said, _ in self.situation.told if line.ref in newest}

    # What I begin myself

    def _question(self) -> str:
        to = self.situation.next_speaker
        return self._first(
            [
                *(["ask-why"] if to in self.situation.wants and "ask-why" not in self._asked(to) else []),
                *(
                    ["ask-want"]
                    if to not in self.situation.wants and "ask-want" not in self._asked(to)
                    else []
                ),
            ],
            to,
        )

    def _initiative(self) -> str:
        """Something of my own: what I want, then what I need for it from others, at last how it ended."""
        is_new = self.me not in self.situation.wants and not self._has_said("tell-want")
        if is_new and not self.story.is_secret and self.reading.rounds < rounds_of_introductions:
            wanted = self._first(["tell-want"])
            return f"{self._fact_told()} {wanted}".strip() if self.dice.random() < _INTRODUCED else wanted
        if self._is_called or self._is_past(lines_before_closing):
            return self._closing()
        if self.matter is not None and not self.is_contest and self._is_past(lines_before_vote):
            decided = self._decided()
            if decided:
                return decided
        steps = self._steps_of_a_contest() if self.is_contest else self._steps_of_a_talk()
        for step in steps:
            text = step()
            if text:
                return text
        return ""

    def _is_past(self, lines: tuple[int, int]) -> bool:
        """Whether so many lines were said, and so many more for each who takes part."""
        heard = int(self.reading.discussion[-1].ref) if self.reading.discussion else 0
        return heard >= lines[0] + lines[1] * (len(self.situation.company) + 1)

    def _steps_of_a_contest(self) -> list[Callable[[], str]]:
        steps = [self._challenge, self._ask_why]
        mixed = self.dice.sample(steps, len(steps))
        return [self._show, *mixed] if self.reading.rounds > 1 else [*mixed, self._show]

    def _steps_of_a_talk(self) -> list[Callable[[], str]]:
        first = [self._oppose, self._ask_for_help, self._tell_the_goal, self._press]
        later = [
            self._hold_to_a_word,
            self._ask_for_the_culprit,
            self._stance,
            self._ask_for_a_side,
            self._tell_of_a_deal,
            self._offer,
            self._ask_where_they_stand,
            self._ask_why,
        ]
        if self.dice.random() < 0.5:
            first[1], first[2] = first[2], first[1]
        late = self._hold_to_a_word, self._ask_for_the_culprit
        rest = [step for step in later if step not in late]
        return [*late, *first, *self.dice.sample(rest, len(rest))]

    def _show(self) -> str:
        """Something of my own, shown to everybody."""
        shown = shown_by(self.speaker, self.branches)
        if shown is None or self._has_said("present"):
            return ""
        text = self._first(["present"], made=shown.words)
        if text:
            self.kind, self.given = shown.kind, shown.fields
        return text

    def _fact_told(self) -> str:
        """Something of myself, before what I want."""
        fact = self._slots_of_mine.get("fact", "")
        if fact.lower() in self.gaps:
            return ""
        text = f"{fact[:1].upper()}{fact[1:]}." if fact else ""
        return text if text and self._is_sound(text) else ""

    def _tell_the_goal(self) -> str:
        is_told = any(said.move in {"tell-goal", "ask-part"} for _, said, _ in self.situation.told)
        if not self._goal or is_told or self.reading.rounds >= rounds_of_introductions:
            return ""
        to = self.situation.next_speaker
        return self._first(["tell-goal"] if self.is_contest else ["ask-part", "tell-goal"], to)

    def _oppose(self) -> str:
        rivals = [handle for handle in self.situation.company if self._is_rival(handle)]
        met = {
            frozenset((line.handle, to))
            for line, said, to in self.situation.told
            if said.move in {"oppose", "help-no-rival"}
        }
        fresh = [handle for handle in rivals if frozenset((self.me, handle)) not in met]
        return self._first(["oppose"], fresh[0]) if fresh else ""

    def _ask_for_help(self) -> str:
        """A request to somebody who has not had one from me, and at most so many in a play."""
        if self.story.is_secret or not self.story.help:
            return ""
        mine = [dealing for dealing in self.situation.dealings if dealing.asker == self.me]
        held = [dealing for dealing in mine if dealing.state not in {REFUSED, BROKEN}]
        if len(mine) >= requests_max or (held and self.reading.rounds < rounds_before_second_request):
            return ""
        if any(dealing.state in {OPEN, TERMS, PROMISED} for dealing in mine):
            return ""
        to = self._whom_to_ask([dealing.asked for dealing in mine])
        if not to:
            return ""
        chore = self._chore()
        return self._first(["ask-help-for-chore", "ask-help"] if chore else ["ask-help"], to)

    def _whom_to_ask(self, asked: Sequence[str]) -> str:
        named = self.story.help.lower()
        able = [
            handle
            for handle in self.situation.company
            if handle not in asked and not self._is_rival(handle) and name_of(handle).lower() not in named
        ]
        busy = {
            one
            for dealing in self.situation.dealings
            if dealing.state in {OPEN, TERMS, PROMISED}
            for one in (dealing.asker, dealing.asked)
        }
        free = [handle for handle in able if handle not in busy]
        nearest = self.situation.next_speaker
        return nearest if nearest in free else next(iter(free), "")

    def _press(self) -> str:
        """Whoever has said nothing of what they want is asked."""
        silent = [handle for handle in self.situation.company if handle not in self.situation.wants]
        to = self.situation.next_speaker
        if to not in silent or self.reading.rounds < 2:
            return ""
        asked = self._asked(to)
        if "keep-secret" in {said.move for said in self.situation.said_by.get(to, ())}:
            is_last = len(silent) == 1 and "press-secret" not in asked
            return self._first(["press-secret"], to) if is_last else ""
        is_early = self.reading.rounds <= rounds_of_introductions
        return self._first(["ask-want"], to) if "ask-want" not in asked and is_early else ""

    def _hold_to_a_word(self) -> str:
        """Whoever gave me a promise is asked whether it holds, when something has happened since."""
        event = next(iter(self.situation.events), None)
        if event is None or event.line.origin != "world" or self.is_about_event:
            return ""
        happening = event.happenings[0]
        if not happening.told_again or len(happening.told_again.split()) > clause_words_max:
            return ""
        for dealing in self.situation.dealings:
            is_older = int(dealing.ref) < int(event.line.ref)
            is_mine = dealing.asker == self.me and dealing.state == GRANTED
            if is_mine and is_older and "ask-hold" not in self._told_to(dealing.asked):
                return self._first(["ask-hold"], dealing.asked, event=happening)
        return ""

    def _tell_of_a_deal(self) -> str:
        for dealing in self.situation.dealings:
            is_told = any(
                said.move in {"tell-deal", "ask-hold"} and line.handle == self.me and to == dealing.asked
                for line, said, to in self.situation.told
            )
            heard = int(self.reading.discussion[-1].ref) if self.reading.discussion else 0
            is_old = heard - int(dealing.ref) > lines_before_deal_told
            if dealing.asker == self.me and dealing.state == GRANTED and not is_told and is_old:
                return self._first(["tell-deal"], other=dealing.asked)
        return ""

    def _ask_for_a_side(self) -> str:
        if self.story.is_secret:
            return ""
        rivals = [handle for handle in self.situation.company if self._is_rival(handle)]
        opposed = [
            handle
            for handle in rivals
            if {"oppose", "stand-against", "help-no-rival"} & self._told_to(handle)
        ]
        to = self.situation.next_speaker
        if not opposed or to in rivals or "ask-side" in self._asked(to):
            return ""
        return self._first(["ask-side"], to, other=opposed[0])

    def _offer(self) -> str:
        to = self.situation.next_speaker
        is_new = to and not any({self.me, to} == {one.asker, one.asked} for one in self.situation.dealings)
        is_kind = self.dice.random() < self.disposition.friendliness
        if not is_new or not is_kind or "offer-help" in self._told_to(to) or self._is_rival(to):
            return ""
        return self._first(["offer-help"], to)

    def _challenge(self) -> str:
        to = self.situation.next_speaker
        return self._first(["challenge"], to) if to and "challenge" not in self._told_to(to) else ""

    def _ask_why(self) -> str:
        to = self.situation.next_speaker
        is_open = to in self.situation.wants and "ask-why" not in self._asked(to)
        if self._is_past(lines_of_questions):
            return ""
        return self._first(["ask-why"], to) if is_open and self.dice.random() < _CURIOUS else ""

    # What is to be decided

    @cached_property
    def matter(self) -> Matter | None:
        return matter_of(self.reading.me.goal)

    def _position_said_by(self, handle: str) -> str:
        """What somebody said in sight that they are for."""
        theirs = self.situation.said_by.get(handle, ())
        said = [one.slots.get("option") for one in theirs if one.move in _TAKING_POSITION]
        return self._option_named(said[-1] or "", handle) if said else ""

    def _position(self, handle: str) -> str:
        """For which answer somebody said they are; before that, what their want tells. What one said for the sake of a
        promise does not outlive it."""
        broken = any(one.asked == handle and one.state == BROKEN for one in self.situation.dealings)
        for line, said, _ in reversed(self.situation.told):
            option = said.slots.get("option") if said.move in _TAKING_POSITION else None
            if option and line.handle == handle and not (broken and said.move.startswith("back")):
                return self._option_named(option, handle)
        leaning = self._own_leaning if handle == self.me else self._leaning_of(handle)
        if leaning == NOT_YET and is_for_as_filed(self.speaker, self.branches):
            return YES  # What I wrote stands, also when the reason for it is out of sight.
        if leaning and leaning != NOT_YET:
            return leaning
        # Who gave somebody their word is for what that one needs, also when the line that said so is out of sight.
        given = [one.asker for one in self.situation.dealings if one.asked == handle and one.state == GRANTED]
        return next((option for asker in given if (option := self._needed_by(asker))), leaning)

    def _needed_by(self, handle: str) -> str:
        return self._own_leaning if handle == self.me else self._leaning_of(handle)

    def _leaning_of(self, handle: str) -> str:
        """What somebody is for, by what they said they want."""
        matter, want = self.matter, self.situation.wants.get(handle, "")
        if matter is None or not want:
            return ""
        if matter.deeds:
            deed = deed_for(want, matter.deeds, self.reading.me.goal)
            return f"we {deed}" if deed else ""
        if matter.whether:
            return YES if is_for(want, matter.whether, handle) else ""
        return self._who_leaning(handle, want)

    def _who_leaning(self, handle: str, want: str) -> str:
        matter = self.matter
        whos = matter.whos if matter is not None else ()
        return next(
            (who.answer(name_of(handle)) for who in whos if stems_of(who.thing) <= stems_of(want)),
            "",
        )

    @cached_property
    def _own_leaning(self) -> str:
        matter = self.matter
        if matter is None or self.story.is_secret:
            return ""
        if matter.deeds:
            deed = deed_for(self.story.want, matter.deeds, self.reading.me.goal)
            return f"we {deed}" if deed else ""
        if matter.whether:
            return YES if is_for(self.story.want, matter.whether, self.me) else NOT_YET
        return self._who_leaning(self.me, self.story.want)

    def _option_named(self, option: str, handle: str) -> str:
        """An answer as all say it: `I get the big room` with the name of whoever said it."""
        for who in self.matter.whos if self.matter is not None else ():
            if option.lower() == f"i {who.deed}".lower():
                return who.answer(name_of(handle))
        return option if self.matter and self.matter.whos else f"{option[:1].lower()}{option[1:]}"

    def _as_i_say(self, option: str) -> str:
        """An answer as I say it: `I get the big room`, if it names me."""
        for who in self.matter.whos if self.matter is not None else ():
            if option == who.answer(self._name(self.me)):
                return f"I {who.deed}"
        return option

    def _stance(self) -> str:
        """For which answer I am, once."""
        option = self._own_leaning
        # Who wants it themselves has said so with what they want.
        if (
            option != NOT_YET
            or self.reading.rounds < rounds_before_stances
            or self._has_said(*_TAKING_POSITION)
        ):
            return ""
        return f"{self._fact_told()} {self._first(['stand-for'], option=option)}".strip()

    def _holder_of(self, option: str) -> str:
        """Whom an answer names."""
        matter = self.matter
        everybody = (*self.situation.company, self.me)
        whos = matter.whos if matter is not None else ()
        return next((one for one in everybody for who in whos if who.answer(name_of(one)) == option), "")

    def _backing(self, to: str) -> str:
        """Whoever I promised to help has me for their answer, too."""
        option = self._leaning_of(to)
        if (
            not option
            or option == self._position_said_by(self.me)
            or (self.matter and self.matter.whos and self._own_leaning)
        ):
            return ""
        self.who = self._holder_of(option)
        self.voted = option
        had_another = self._position(self.me) not in {"", option}
        return self._first(["back-other" if had_another else "back"], option=option)

    def _ask_where_they_stand(self) -> str:
        to = self.situation.next_speaker
        is_known = (
            self.matter is None or bool(self.matter.culprit) or not self._goal or bool(self._position(to))
        )
        if is_known or self.reading.rounds < rounds_before_stances or "ask-stand" in self._asked(to):
            return ""
        return self._first(["ask-stand"], to)

    def _chore(self) -> str:
        """What else is to be done by somebody, which I may take on for what I want."""
        matter = self.matter
        if matter is None or not self._own_leaning or len(matter.whos) < 2:
            return ""
        return next(
            (who.deed for who in matter.whos if who.answer(self._name(self.me)) != self._own_leaning), ""
        )

    def _ask_for_the_culprit(self) -> str:
        if self.matter is None or not self.matter.culprit:
            return ""
        evasive = [
            handle
            for handle, moves in self.situation.said_by.items()
            if handle in self.situation.company and "keep-secret" in {said.move for said in moves}
        ]
        if evasive and not self._has_said("suspect") and not self.story.is_secret:
            self.who = evasive[-1]
            return self._first(["suspect"], other=evasive[-1])
        to = self.situation.next_speaker
        return self._first(["ask-culprit"], to) if to and "ask-culprit" not in self._asked(to) else ""

    # The end

    def _closing(self) -> str:
        """How it ended for me, once; before that, what all are for, if it is to be decided."""
        decided = self._decided()
        if decided or self._has_said(*_CLOSINGS):
            return decided
        texts = []
        for move, other in self._ends():
            text = self._first([move], other=other)
            if text:
                texts.append(text)
            if len(texts) == closing_sentences_max:
                break
        return " ".join(texts)

    @cached_property
    def _votes(self) -> dict[str, str]:
        """Who has voted since the vote was called for, and for what; what is out of sight is not counted."""
        called = [int(line.ref) for line, said, _ in self.situation.told if said.move == "call"]
        first = called[-1] if called else 0
        is_time = self._is_past(lines_before_vote)
        return {
            line.handle: self._option_named(said.slots.get("option") or "", line.handle)
            for line, said, _ in self.situation.told
            if is_time and int(line.ref) >= first and (said.move in _VOTING or said.move in _TAKING_POSITION)
        }

    @cached_property
    def _is_called(self) -> bool:
        """Whether everybody is to say what they are for."""
        matter = self.matter
        if matter is None or matter.culprit or self.is_contest:
            return False
        # Where the call is out of sight, more than one vote shows it.
        return len(self._votes) > 1 or any(said.move == "call" for _, said, _ in self.situation.told)

    def _decided(self) -> str:
        """A call for a vote, my vote, or the count, where something is to be decided; empty where that is done."""
        matter = self.matter
        if (
            matter is None
            or matter.culprit
            or any(said.move == "count" for _, said, _ in self.situation.told)
        ):
            return ""
        if not self._is_called:
            return self._first(["call"])
        others = set(self.situation.company)
        if self.me not in self._votes:
            vote = "" if self.voted else self._vote()
            return f"{vote} {self._count()}".strip() if vote and others <= set(self._votes) else vote
        mine = next(
            int(line.ref)
            for line, said, _ in reversed(self.situation.told)
            if line.handle == self.me and (said.move in _VOTING or said.move in _TAKING_POSITION)
        )
        is_round_over = int(self.reading.discussion[-1].ref) - mine >= len(others)
        return self._count() if others <= set(self._votes) or is_round_over else ""

    def _vote(self) -> str:
        """What I am for in the end: what I said; else what somebody needs who has my word; else nothing."""
        given = [
            one.asker for one in self.situation.dealings if one.asked == self.me and one.state == GRANTED
        ]
        options = [self._position(self.me), *(self._leaning_of(asker) for asker in given), self._followed()]
        option = next((option for option in options if option), "")
        self.who = self._holder_of(option)
        self.voted = option
        for asker in given:
            if option == self._leaning_of(asker) != self._own_leaning:
                return self._first(
                    ["stand-for-word", "stand-for"], other=asker, option=self._as_i_say(option)
                )
        return (
            self._first(["stand-for"], option=self._as_i_say(option)) if option else self._first(["abstain"])
        )

    def _ends(self) -> Iterator[tuple[str, str]]:
        """What is true of the end for me, the weightiest first."""
        states = {GRANTED: "close-deal", BROKEN: "close-broken", REFUSED: "close-refused"}
        mine = [one for one in self.situation.dealings if one.asker == self.me and one.state in states]
        for one in sorted(mine, key=lambda one: tuple(states).index(one.state)):
            yield states[one.state], one.asked
        given = [one for one in self.situation.dealings if one.asked == self.me and one.state == GRANTED]
        for one in given:
            yield "close-given", one.asker
        rivals = [handle for handle in self.situation.company if self._is_rival(handle)]
        if self.is_contest:
            yield from self._ends_of_a_contest()
            return
        for handle in rivals:
            yield "close-rival", handle
        if not (mine or given or rivals or self.story.is_secret):
            yield "close-alone", ""
        culprit = self.matter is not None and self.matter.culprit
        if culprit and not any(said.move == "close-culprit" for _, said, _ in self.situation.told):
            yield "close-culprit", ""
        if self._goal and not any(said.move == "close-goal" for _, said, _ in self.situation.told):
            yield "close-goal", ""

    def _ends_of_a_contest(self) -> Iterator[tuple[str, str]]:
        judged = [str(line.fields["winner"]) for line in self.reading.discussion if line.fields.get("winner")]
        others = list(self.situation.company)
        if judged and judged[-1] == self.me and others:
            yield "close-won", others[0]
        elif judged and judged[-1] in others:
            yield "close-lost", judged[-1]
        else:
            yield "close-judged", ""

    def _followed(self) -> str:
        """What somebody voted for whom I have nothing against; empty where it is the other way round with me."""
        if self.manner == "cross":
            return ""
        votes = [option for handle, option in self._votes.items() if option and not self._is_rival(handle)]
        return votes[-1] if votes else ""

    def _count(self) -> str:
        """Who is for what, and whether that decides it: more than half of those who voted, and not one alone."""
        said_before = {
            handle: self._position_said_by(handle) for handle in (*self.situation.company, self.me)
        }
        votes = said_before | self._votes | ({self.me: self.voted} if self.voted else {})
        by_option: dict[str, list[str]] = {}
        for handle, option in votes.items():
            if option:
                by_option.setdefault(option, []).append(handle)
        if not by_option:
            return ""
        tally = "; ".join(self._said_by_all(handles, option) for option, handles in by_option.items())
        text = self._first(["count"], tally=tally)
        chosen, most = max(by_option.items(), key=lambda entry: len(entry[1]))
        is_won = len(most) > 1 and len(most) * 2 > sum(map(len, by_option.values()))
        end = self._first(["count-won"], option=chosen) if is_won else self._first(["count-open"])
        return f"{text} {end}" if text else ""

    def _said_by_all(self, handles: Sequence[str], option: str) -> str:
        """Who says what, or who is for whom: `Nora and I say we sell it`, `Nora is for Tom`."""
        names = [self._name(handle) for handle in handles if handle != self.me]
        names += ["I"] if self.me in handles else []
        holder = self._holder_of(option)
        if holder:
            verb = "am" if names == ["I"] else "are" if len(names) > 1 else "is"
            themselves = "myself" if names == ["I"] and holder == self.me else self._name(holder)
            return f"{in_a_list(names)} {verb} for {'me' if holder == self.me != handles[0] else themselves}"
        is_many = len(names) > 1 or names == ["I"]
        return f"{in_a_list(names)} {'say' if is_many else 'says'} {option}"

    # What stands between others and me

    def _state(self, asker: str, asked: str) -> str:
        return next(
            (one.state for one in self.situation.dealings if (one.asker, one.asked) == (asker, asked)), ""
        )

    def _is_rival(self, handle: str) -> bool:
        """Whether we cannot both have what we want. Whoever wants it in secret is nobody's rival."""
        if self.story.is_secret:
            return False
        return self.situation.is_rival(handle) or self._is_for_another_answer(handle)

    def _is_for_another_answer(self, handle: str) -> bool:
        """Whether only one of us can have what both want of the same thing."""
        matter = self.matter
        if matter is None or not matter.whos or not self._own_leaning:
            return False
        theirs = self._who_leaning(handle, self.situation.wants.get(handle, ""))
        return bool(theirs) and theirs.removeprefix(name_of(handle)) == self._own_leaning.removeprefix(
            name_of(self.me)
        )

    def _asked(self, handle: str) -> set[str]:
        """What anybody asked somebody in sight."""
        return {said.move for _, said, to in self.situation.told if to == handle}

    def _told_to(self, handle: str) -> set[str]:
        """What I said to somebody in sight."""
        return {
            said.move for line, said, to in self.situation.told if to == handle and line.handle == self.me
        }

    def _has_said(self, *moves: str) -> bool:
        """Whether I said one of some moves in sight, or in this line."""
        mine = {said.move for said in self.situation.said_by.get(self.me, ())} | set(self.moves)
        return not mine.isdisjoint(moves)

    def _called(self, name: str) -> str:
        return self.situation.names.get(name.lower(), "")

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
        **more: str,
    ) -> str:
        """A sentence of a move, filled, in my manner first; empty if none fits that was not said in sight."""
        slots = self._slots(to, event, other) | _filled_only(X=thing, thing=thing, **more)
        owned = cores_owned(TALK, move, self.reading.cast, self.me, self.reading.rounds)
        used = self.situation.used_patterns | self.patterns
        for patterns in (cores(TALK, f"{move}/{self.manner}"), owned, cores(TALK, move)):
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
        return slots | (slots_of(event) if event is not None else {})

    @cached_property
    def _slots_of_mine(self) -> dict[str, str]:
        """What I can say of myself and of the goal."""
        story = self.story
        visible = self.reading.visible_text
        slots: dict[str, str] = {}
        if not story.is_secret:
            slots |= _filled_only(want=story.want, help=story.help)
            if story.want and not story.deed:
                slots["wish"] = story.want
            if story.short and not story.short.startswith(("be ", "have ")):
                slots["short"] = story.short
        elif (thing := _thing_wanted(self.reading.me.wants)) is not None:
            slots["wthing"] = thing.definite
        facts = [fact for fact in story.facts if fact.lower() not in visible]
        if facts:
            slots["fact"] = facts[0] if facts[0].startswith("I ") else facts[0][:1].lower() + facts[0][1:]
        fresh = [care for care in story.cares if care.lower() not in visible]
        if fresh:
            slots["care"] = fresh[0]
        deed = self.matter.culprit if self.matter is not None else ""
        return slots | _filled_only(goal=self._goal, chore=self._chore(), deed=deed)

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
