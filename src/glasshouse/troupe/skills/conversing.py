"""Conversing: the talk of a player without a script: the act before the noun.

Chosen wherever a player without a part may speak and no game or tool has asked for anything else. Always holds: what waits
for an answer is answered first; what happened is noticed by everybody who hears it; a player says only what it read about
itself, what others said and what happened, and where it has nothing of that to say, it passes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from glasshouse.troupe import kinds
from glasshouse.troupe.grammar import with_capitals
from glasshouse.troupe.reactions import calling_of
from glasshouse.troupe.reading import Heard
from glasshouse.troupe.salience import main_thing
from glasshouse.troupe.skills.bargaining import CLOSINGS, BargainingLine, rounds_of_introductions
from glasshouse.troupe.skills.branches import Branch, Reply, passing, with_line
from glasshouse.troupe.skills.telling_fields import (
    fields_told,
    has_open_fields,
    is_for_one_deed,
    thrown_by,
)
from glasshouse.troupe.skills.voting import lines_before_vote
from glasshouse.troupe.speaking import Speaker, Spoken, short_words_max
from glasshouse.troupe.speech_acts import question_in, speech_act
from glasshouse.troupe.talk.echoes import is_echo
from glasshouse.troupe.talk.event_sorts import sort_of
from glasshouse.troupe.talk.happenings import Happening, happenings_in
from glasshouse.troupe.talk.pronouns import to_you
from glasshouse.troupe.talk.replies import ANSWERS, ECHOES, FOREIGN, OVERHEARD
from glasshouse.troupe.talk.situation import QUESTIONS, Event, Open
from glasshouse.troupe.talk.understanding import MoveSaid, how_said, understood
from glasshouse.troupe.vocabulary import stems_of

lines_before_report_min: Final = 4
"""Nobody has done sooner what they took on."""
lines_before_return_min: Final = 5
"""What happened comes back no sooner."""
lines_before_visitor_returns_min: Final = 4
"""What a visitor brought comes back no sooner. It is out of sight soon after."""
lines_event_is_new_max: Final = 12
"""Of what happened before more lines than this, nobody speaks as of news."""
own_name_chars_min: Final = 3
"""A shorter part of a handle is no name."""
questions_answered_max: Final = 3
"""So many questions are answered in one line at most; the newest go."""
lines_before_closing: Final = (7, 3)
"""Nobody speaks of the end before so many lines, and so many more for each who takes part."""
rounds_before_lull: Final = 2
"""Sooner no silence ends the talk."""
rounds_of_positions: Final = 2
"""Later nobody remarks on what another wants."""
lines_without_want_max: Final = 3
"""After so many own lines in sight without it, a player comes back to what it wants."""
sentences_max: Final = 3
"""A line with so many sentences does not go on to something else."""
lines_before_showing_ends: Final = (9, 3)
"""Later nobody shows anything: that it was shown before may be out of sight."""
_OF_A_HELPER: Final = frozenset({"close-deal", "close-do"})
"""What somebody says at the end of whoever helped them."""
_CALLINGS: Final = frozenset({"", "ask", "appraise", "narrate"})
_GOES_ON: Final = 0.6
"""How likely a reply goes on to something else."""
_GOES_ON_BRIEFLY: Final = 0.3
_GOES_ON_BEHIND_A_BARGAIN: Final = 0.25
_INTRODUCED: Final = 0.4
"""How likely somebody says a thing of themselves before what they want."""
_REMARKED: Final = 0.4
_WANTED: Final = 0.5
_GIVEN: Final = 0.6
"""How likely somebody meets an event with what they say of themselves."""
_ACTS_AT_ONCE: Final = 0.6
"""How likely somebody does something about an event before anybody asks."""
_INDIFFERENT: Final = 0.4
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
    calling = next(
        (name for branch in plain or open_branches if (name := calling_of(branch.kind)) in _CALLINGS),
        calling_of((plain or open_branches)[0].kind),
    )
    if all(is_for_one_deed(branch) for branch in open_branches):
        # Whoever has no other line shows in it what is made, and says in it what else is to be said.
        calling = ""
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


class _Turn(BargainingLine):
    """One player's turn in the talk."""

    def spoken(self) -> Spoken | None:
        """A line, with what was thought and felt behind it; none to pass."""
        parts = list(dict.fromkeys(part for part in self._parts() if part))
        while parts:
            text = with_capitals(" ".join(parts))
            text = self._in_own_words(self._with_what_is_owed(self._with_lead(text)))
            if text:
                if self.rests_on not in text:
                    # What the fields would have said was left out.
                    self.kind = self.who = ""
                    self.given = {}
                act = self._act()
                return Spoken(text, self.speaker.thought(act), self.dice.choice(act.moods))
            # What somebody waits for is left out last.
            loose = [part for part in parts if part not in self.answers] or parts
            echoes = [part for part in loose if is_echo(part, self.reading)]
            parts.remove(echoes[0] if echoes else loose[-1])
        visitors = [line for line in self.reading.fresh_disturbances if line.origin == "visitor"]
        text = self._first(["hear"], visitors[-1].handle) if visitors else ""
        return Spoken(text, self.speaker.thought(self._act()), "") if text else None

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
        elif not is_asking and len(made) < sentences_max and self._is_return_due:
            made += [self._return()]
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
        if self._has_to_show and is_late and not self._is_past(lines_before_showing_ends):
            return True
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
        return not set(CLOSINGS).isdisjoint(self.moves)

    def _touch(self) -> str:
        if self.story.is_secret:
            return self._first(["look-away", "tell-care"])
        return self._first(["tell-care", "hold-want"])

    def _about_verdict(self) -> Iterator[str]:
        line = next((line for line in reversed(self.reading.fresh) if line.fields.get("winner")), None)
        lines = (*self.reading.remembered, *self.reading.discussion)
        verdicts = [str(heard.fields["winner"]) for heard in lines if heard.fields.get("winner")]
        # What was said of the same verdict before need not be said again.
        if line is not None and (len(verdicts) < 2 or verdicts[-2] != verdicts[-1]):
            winner = str(line.fields["winner"])
            move = (
                "won" if winner == self.me else "lost" if winner in self.situation.company else "nobody-won"
            )
            yield self._first([move], line.handle, other=winner if move == "lost" else "")

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
        seen = [
            happening
            for happening in happenings_in(self.reading.scene)
            # What stands behind a colon is said apart.
            if happening.now and not happening.now.endswith((" this", " these", " following"))
        ]
        return self._first(["note-scene"], event=self.dice.choice(seen)) if seen else ""

    def _try(self, event: Event) -> str:
        """What I try when something happened, if dice decide here and nobody has tried it yet."""
        happening = event.happenings[0]
        is_tried = any(
            said.move == "try-it" and int(line.ref) > int(event.line.ref)
            for line, said, _ in self.situation.moves_told
        )
        thrown = thrown_by(self.speaker, self.branches)
        if thrown is None or is_tried or not happening.thing:
            return ""
        tried = self._first(["try-it"], thing=happening.thing)
        end = self._first(["try-won" if thrown.is_won else "try-lost"])
        if not (tried and end):
            return ""
        self.kind = thrown.kind
        self.given = thrown.fields
        self.rests_on = tried
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
            is_quiet = not any(move in QUESTIONS for move in self.moves)
            is_taken_on = self._is_taken_on(event)
            if not (event.asks or is_taken_on) and is_quiet:
                # A question about what happened is for whoever speaks next.
                asking = ["ask-change", "ask-event"] if event.line.origin == "world" else ["ask-event"]
                acted = self._acted(event) if self.dice.random() < _ACTS_AT_ONCE else ""
                yield acted or self._first(asking, self.situation.next_speaker, event=happening)
            elif not any(move.endswith("-event") or move.startswith("change-") for move in self.moves):
                is_left = is_taken_on or self.situation.waits_for_another is not None
                acted = "" if is_left else self._acted(event)
                bearing = ["bear-event"] if event.line.origin == "world" else ["bear-event", "note-event-too"]
                sort = "given" if self.dice.random() < _GIVEN else ""
                yield acted or self._first(bearing, self._last_handle(), event=happening, sort=sort)

    def _is_taken_on(self, event: Event) -> bool:
        """Whether somebody has done something about an event."""
        return any(
            said.move == "change-act" and int(line.ref) > int(event.line.ref)
            for line, said, _ in self.situation.moves_told
        )

    def _acted(self, event: Event) -> str:
        """A small deed that an event calls for; empty if it calls for none that the data knows."""
        happening = event.happenings[0]
        sort = self._deed_for(happening)
        return self._first(["change-act"], event=happening, sort=sort) if sort else ""

    def _deed_for(self, happening: Happening) -> str:
        """One of the two deeds of the sort that an event calls for; empty if it calls for none that the data knows."""
        sort = sort_of(happening).deed
        return f"{sort}.{self.dice.choice((1, 2))}" if sort else ""

    @property
    def _is_return_due(self) -> bool:
        """Whether what a visitor brought has not come back yet, and will soon be out of sight."""
        return any(
            event.line.origin == "visitor"
            and event.lines_since >= lines_before_return_min
            and not event.returns
            for event in self.situation.events
        )

    def _return(self) -> str:
        """What happened comes back once, when the talk has gone on: with what was done about it by whoever took it on."""
        for event in sorted(self.situation.events, key=lambda event: event.line.origin == "world"):
            since = [entry for entry in self.situation.moves_told if int(entry[0].ref) > int(event.line.ref)]
            acting = [(line.handle, said) for line, said, _ in since if said.move == "change-act"]
            if any(said.move == "report-on" for _, said, _ in since) or event.line.ref == "1":
                continue
            if acting and acting[-1][0] == self.me and event.lines_since >= lines_before_report_min:
                self.is_about_event = True
                done = how_said(acting[-1][1])
                return self._first(["report-on"], event=event.happenings[0], sort=done)
            is_old = event.line.origin == "world" and self._is_past(lines_before_closing)
            is_of_visitor = event.line.origin == "visitor"
            is_time = (
                not is_old
                and event.lines_since
                >= (lines_before_visitor_returns_min if is_of_visitor else lines_before_return_min)
                and not event.returns
                and not acting
            )
            likely = _RETURNED if event.line.origin != "world" else _RETURNED_OF_THE_WORLD
            if is_time and self.dice.random() < likely:
                self.is_about_event = True
                return self._first(["return-event"], event=event.happenings[0])
        return ""

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
        own = self._answers_of_mine.get(move)
        if own is not None:
            yield own(to, opened.said)
        elif move in ANSWERS:
            moves = self._by_temper(ANSWERS[move])
            if move in {"set-term", "help-if"} and self._is_against_my_word(to):
                moves = ["refuse-term"]
            yield self._first(moves, to, ycare=to_you(opened.said.slots.get("care") or ""))
            if {"promise", "agree"} & set(self.moves):
                yield self._backing(to)
        elif move in ECHOES:
            yield self._first(self._by_temper(ECHOES[move]), to)
            if "settle" in self.moves or ("thank" in self.moves and not self._position(self.me)):
                yield self._backing(to)

    @cached_property
    def _answers_of_mine(self) -> Mapping[str, Callable[[str, MoveSaid], str]]:
        """What is not answered by temper alone -> what makes the answer."""
        kept = ["keep-secret"] if self.story.is_secret else None
        moves_open = [
            "tell-want",
            "hold-want",
            "want-goal",
            *(["tell-self"] if self._sees_all else []),
            "no-want",
        ]
        hidden = ["keep-secret"] if self._is_culprit else kept
        return {
            "ask-event": lambda to, _: self._to_a_question_about_an_event(to),
            "ask-change": lambda to, _: self._to_a_change(to),
            "ask-help": lambda to, _: self._to_a_request(to),
            "ask-help-for-chore": lambda to, _: self._to_a_request(to),
            "ask-hold": lambda to, _: self._to_a_doubt_of_my_word(to),
            "challenge": lambda to, _: self._done_or_told(to, ("boast", "boast-plain")),
            "ask-why": lambda to, _: self._done_or_told(to, ("give-reason", "no-reason")),
            "ask-stand": lambda to, _: self._where_i_stand(to),
            "ask-culprit": lambda to, _: self._first(hidden or ["deny-it", "deny-plain"], to),
            "ask-side": lambda to, said: self._to_a_choice_of_side(
                to, self._called(said.slots.get("other") or "")
            ),
            "ask-want": lambda to, _: self._first(kept or moves_open, to),
            "press-secret": lambda to, _: self._first(kept or moves_open, to),
        }

    def _where_i_stand(self, to: str) -> str:
        return (self._vote() if self._position(self.me) else "") or self._first(["unsure"], to)

    def _to_a_question_about_an_event(self, to: str) -> str:
        event = next(iter(self.situation.events), None)
        self.is_about_event = True
        return self._first(["answer-event"], to, event=event.happenings[0] if event is not None else None)

    def _to_a_change(self, to: str) -> str:
        """What follows for me from what happened: somebody sees to it, or it makes what I want harder, or nothing."""
        self.is_about_event = True
        event = next(iter(self.situation.events), None)
        is_taken_on = event is not None and self._is_taken_on(event)
        moves = [*(() if is_taken_on else ("change-act",)), "change-hard", "change-none"]
        if self.manner in {"sly", "cross", "sad"} and self.dice.random() < _INDIFFERENT:
            moves.insert(0, "change-none")
        happening = event.happenings[0] if event is not None else None
        sort = self._deed_for(happening) if happening is not None else ""
        return self._first(moves, to, event=happening, sort=sort)

    def _foreign_answer(self, line: Heard) -> str:
        """An answer to a question that is none of the general talk: what I know of it, else that I do not know."""
        heard = stems_of(line.text)
        known = [fact for fact in self.story.facts if heard & stems_of(fact)]
        fact_told = self._first(["knows"], line.handle, fact=known[0]) if known else ""
        if fact_told:
            return fact_told
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
        meant = {said.slots.get("other") for said in understood(line.text) if said.move in _OF_A_HELPER}
        is_of_me = any(
            said.move == "tell-deal" and self._called(said.slots.get("other") or "") == self.me
            for said in understood(line.text)
        )
        if is_of_me or (_OF_A_HELPER & set(moves) and self._name(self.me) not in meant):
            return ""
        if "tell-want" in moves and self.reading.rounds >= rounds_of_positions:
            return ""
        third = ""
        if {"settle", "help-yes", "help-no", "help-no-rival"} & set(moves):
            third = next(
                (
                    to
                    for spoken_line, _, to in reversed(self.situation.moves_told)
                    if spoken_line.ref == line.ref and to
                ),
                "",
            )
            if not third or third == self.me or {"hear-bargain", "hear-refusal"} & self._moves_lately():
                return ""
        if {"close-deal", "tell-deal", "tell-want", "settle", "help-yes", "help-no", "help-no-rival"} & set(
            moves
        ) and self.dice.random() > _REMARKED:
            return ""
        return self._first(met, line.handle, other=third)

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
        is_new = self.me not in self.situation.wants and not self._has_said("tell-want", "tell-self")
        if is_new and not self.story.want and (self._sees_all or self.reading.rounds == 0):
            introduced = self._first(["tell-self", "tell-care"])
            if introduced:
                return introduced
        elif is_new and not self.story.is_secret and self.reading.rounds < rounds_of_introductions:
            wanted = self._first(["tell-want"])
            return f"{self._fact_told()} {wanted}".strip() if self.dice.random() < _INTRODUCED else wanted
        is_late = self._is_past(lines_before_closing)
        if self.is_contest and all(is_for_one_deed(branch) for branch in self.branches):
            # Whoever has no other kind of line is there to show something.
            made = self._show()
            if made:
                return made
        if is_late and self._has_to_show and not self._is_past(lines_before_showing_ends):
            return self._show()
        if self._is_called or is_late:
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
        return self._closing() if self._is_lull else ""

    @property
    def _is_lull(self) -> bool:
        """Whether nobody had anything to say to my last line: soon after the beginning, something is to be decided then."""
        spoken = [line for line in self.reading.discussion if line.origin == "cast"]
        is_open = self.matter is not None and not self.matter.culprit
        is_time = self.reading.rounds >= (1 if is_open else rounds_before_lull) and not self.is_contest
        return is_time and bool(spoken) and self.reading.is_mine(spoken[-1])

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
