"""Bargaining: requests of the general talk, conditions, promises, and how it ended between two.

Always holds: a rival gets no help; nobody gives two promises that cannot both be kept; what is said of the end is what
was said in sight.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from glasshouse.troupe.skills.branches import in_a_list
from glasshouse.troupe.skills.telling_fields import (
    is_for_one_deed,
    shown_by,
)
from glasshouse.troupe.skills.voting import VotingLine
from glasshouse.troupe.speaking import name_of
from glasshouse.troupe.talk.dealings import (
    BARGAINING,
    BROKEN,
    GRANTED,
    OPEN,
    PROMISED,
    REFUSED,
    TERMS,
    Dealing,
)
from glasshouse.troupe.talk.matters import NOES
from glasshouse.troupe.talk.replies import PERFORMING

rounds_of_introductions: Final = 3
"""Later nobody says what they want and what all have to do as if for the first time."""
rounds_before_second_request: Final = 2
"""Whoever has a promise asks for no other one sooner."""
requests_max: Final = 2
"""Nobody asks more often for help."""
lines_before_deal_told: Final = 2
lines_after_deal_told: Final = 8
"""Whoever has a promise tells of it between so many lines and so many."""
lines_of_questions: Final = (3, 3)
"""Later nobody asks for reasons."""
clause_words_max: Final = 10
"""A longer clause about what happened stands in no question."""
dealings_summed_min: Final = 2
"""Of fewer there is nothing to sum up."""
dealings_summed_max: Final = 4
"""A sum tells of no more than this."""
_SUMMED: Final = (GRANTED, REFUSED)
closing_sentences_max: Final = 2
"""Nobody says more of how it ended."""
CLOSINGS: Final = (
    "close-do", "close-solved", "close-sorry", "close-decided", "close-deal", "close-given", "close-broken", "close-refused", "close-rival", "close-alone", "close-goal", "close-won", "close-culprit",
    "close-lost", "close-judged", "close-sum", "count", "confess",
)  # fmt: skip
lines_before_performing_ends: Final = (7, 3)
"""Later nobody does it: that it was done before may be out of sight."""
_DENIED: Final = re.compile(r"\b(?:not|never|no|nothing|need|needs|forgotten|lost)\b")
"""What stands in a fact that helps nobody."""
_WILLING: Final = 0.45
"""How likely the least friendly does not refuse."""
_DONE: Final = 0.7
"""How likely somebody who has help sets about what they want at the end."""
_CURIOUS: Final = 0.4
_GENEROUS: Final = 0.3
"""How likely the friendliest says yes without a condition."""


class BargainingLine(VotingLine):
    """A line of somebody who wants something that others can help with."""

    def _is_against_my_word(self, to: str) -> bool:
        """Whether somebody asks for what I have promised to another, or want decided otherwise."""
        theirs = self._leaning_of(to)
        mine = self._position(self.me)
        return bool(theirs and mine) and mine not in NOES and mine != theirs

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
        said = [said.move for _, said, _ in self.situation.moves_told]
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

    def _steps_of_a_contest(self) -> list[Callable[[], str]]:
        steps = [self._challenge, self._ask_why]
        mixed = self.dice.sample(steps, len(steps))
        # Whoever has a thing to show says first what they want; words and deeds are shown at once.
        is_time = self.reading.rounds > (0 if self._has_to_perform or not self.story.want else 1)
        return [self._show, *mixed] if is_time else [*mixed, self._show]

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

    def _tell_the_goal(self) -> str:
        """What all have to do, told once; then each is asked once what they can do for it."""
        if not self._goal or self.reading.rounds >= rounds_of_introductions:
            return ""
        to = self.situation.next_speaker
        moves_seen = {said.move for _, said, _ in self.situation.moves_told}
        if not {"tell-goal", "ask-part", "ask-part-too"} & moves_seen:
            return self._first(["tell-goal"] if self.is_contest else ["ask-part", "tell-goal"], to)
        if (
            self.is_contest
            or self.situation.wants
            or not to
            or {"ask-part", "ask-part-too"} & self._asked(to)
        ):
            return ""
        return self._first(["ask-part-too"], to)

    @property
    def _has_to_show(self) -> bool:
        """Whether a judge has seen nothing of mine yet that I could show."""
        is_time = self.is_contest and self.reading.rounds > 0 and not self._has_said("present", *PERFORMING)
        performs = self._has_to_perform and self._may_perform
        return is_time and (performs or shown_by(self.speaker, self.branches) is not None)

    @property
    def _may_perform(self) -> bool:
        """Whether it is certain that I have not done it: nothing is out of sight yet, or it is early."""
        return self._sees_all or not self._is_past(lines_before_performing_ends)

    @property
    def _has_to_perform(self) -> bool:
        """Whether what is judged here is done, for want of a kind of line in which something is shown."""
        return self.is_contest and not any(is_for_one_deed(branch) for branch in self.branches)

    def _show(self) -> str:
        """Something of my own, shown to everybody."""
        if self._has_said("present", *PERFORMING):
            return ""
        if self._has_to_perform:
            return self._first(PERFORMING) if self._may_perform else ""
        shown = shown_by(self.speaker, self.branches)
        if shown is None:
            return ""
        text = self._first(["present"], made=shown.words)
        if text:
            self.kind = shown.kind
            self.given = shown.fields
            self.rests_on = text
        return text

    def _done_or_told(self, to: str, moves: tuple[str, ...]) -> str:
        """What somebody asks of a contestant: done where that is judged and was not done, else told."""
        is_due = self._has_to_perform and self._may_perform and not self._has_said(*PERFORMING)
        return self._first([*(PERFORMING if is_due else ()), *self._by_temper(moves)], to)

    def _oppose(self) -> str:
        rivals = [handle for handle in self.situation.company if self._is_rival(handle)]
        met = {
            frozenset((line.handle, to))
            for line, said, to in self.situation.moves_told
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
        return self._first(["ask-help-for-chore", "ask-help"] if chore else ["ask-help"], to, chore=chore)

    def _whom_to_ask(self, asked: Sequence[str]) -> str:
        named = self.story.help.lower()
        able = [
            handle
            for handle in self.situation.company
            if handle not in asked and not self._is_rival(handle) and name_of(handle).lower() not in named
        ]
        busy = {
            handle
            for dealing in self.situation.dealings
            if dealing.state in {OPEN, TERMS, PROMISED}
            for handle in (dealing.asker, dealing.asked)
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
        is_early = self.reading.rounds < rounds_of_introductions and self._sees_all
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
                for line, said, to in self.situation.moves_told
            )
            heard = int(self.reading.discussion[-1].ref) if self.reading.discussion else 0
            is_old = lines_before_deal_told < heard - int(dealing.ref) <= lines_after_deal_told
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
        is_new = to and not any(
            {self.me, to} == {dealing.asker, dealing.asked} for dealing in self.situation.dealings
        )
        is_kind = self.dice.random() < self.disposition.friendliness
        if not is_new or not is_kind or "offer-help" in self._told_to(to) or self._is_rival(to):
            return ""
        return self._first(["offer-help"], to)

    def _challenge(self) -> str:
        to = self.situation.next_speaker
        has_done = any(said.move in PERFORMING for said in self.situation.said_by.get(to, ()))
        is_new = bool(to) and not has_done and "challenge" not in self._told_to(to)
        return self._first(["challenge"], to) if is_new else ""

    def _ask_why(self) -> str:
        to = self.situation.next_speaker
        is_open = to in self.situation.wants and "ask-why" not in self._asked(to)
        if self._is_past(lines_of_questions):
            return ""
        return self._first(["ask-why"], to) if is_open and self.dice.random() < _CURIOUS else ""

    def _closing(self) -> str:
        """How it ended for me, once; before that, what all are for, if it is to be decided."""
        decided = self._decided() or (self._confession() if self._is_culprit else "")
        if decided or self._has_said(*CLOSINGS):
            return decided
        summed = self._sum_of_dealings()
        if summed:
            return summed
        texts = []
        for move, other in self._ends():
            text = self._first([move], other=other)
            if text:
                texts.append(text)
            if len(texts) == closing_sentences_max:
                break
        return " ".join(texts)

    def _sum_of_dealings(self) -> str:
        """Who helps whom and who does not, told once by whoever first speaks of the end."""
        is_open = not BARGAINING.isdisjoint(self.moves)
        if (
            self.is_contest
            or is_open
            or any(said.move == "close-sum" for _, said, _ in self.situation.moves_told)
        ):
            return ""
        held = [dealing for dealing in self.situation.dealings if dealing.state in _SUMMED]
        if len(held) < dealings_summed_min:
            return ""
        parts: list[str] = []
        for dealing in held:
            back = any(
                (dealing.asked, dealing.asker, dealing.state) == (d.asker, d.asked, d.state) for d in held
            )
            text = self._dealing_told(dealing, is_mutual=back and dealing.state == GRANTED)
            if text not in parts:
                parts.append(text)
        return self._first(["close-sum"], sum=in_a_list(parts[:dealings_summed_max]))

    def _dealing_told(self, dealing: Dealing, *, is_mutual: bool) -> str:
        names = sorted((dealing.asked, dealing.asker)) if is_mutual else [dealing.asked, dealing.asker]
        if self.me in names and is_mutual:
            names.sort(key=lambda handle: handle == self.me)
        helper, helped = ("I" if handle == self.me else name_of(handle) for handle in names)
        if is_mutual:
            return f"{helper} and {helped} help each other"
        helped = "me" if helped == "I" else helped
        if dealing.state == REFUSED:
            return f"{helper} {'do' if helper == 'I' else 'does'} not help {helped}"
        return f"{helper} {'help' if helper == 'I' else 'helps'} {helped}"

    def _ends(self) -> Iterator[tuple[str, str]]:
        """What is true of the end for me, the weightiest first."""
        # Who got what they voted for does not go home with nothing.
        is_decided = any(said.move == "count-won" for _, said, _ in self.situation.moves_told)
        if is_decided and not any(said.move == "close-decided" for _, said, _ in self.situation.moves_told):
            yield "close-decided", ""
        states = {GRANTED: "close-deal", BROKEN: "close-broken", REFUSED: "close-refused"}
        mine = [
            dealing
            for dealing in self.situation.dealings
            if dealing.asker == self.me and dealing.state in states
        ]
        granted = [dealing.asked for dealing in mine if dealing.state == GRANTED]
        if granted and self._does_it:
            yield "close-do", granted[0]
        for dealing in sorted(mine, key=lambda dealing: tuple(states).index(dealing.state)):
            yield states[dealing.state], dealing.asked
        given = [
            dealing
            for dealing in self.situation.dealings
            if dealing.asked == self.me and dealing.state == GRANTED
        ]
        for dealing in given:
            yield "close-given", dealing.asker
        rivals = [handle for handle in self.situation.company if self._is_rival(handle)]
        if self.is_contest:
            yield from self._ends_of_a_contest()
            return
        for handle in rivals:
            yield "close-rival", handle
        if self._is_confessed:
            yield ("close-sorry" if self._is_culprit else "close-solved"), ""
            return
        is_mystery = self.matter is not None and bool(self.matter.culprit)
        if not (mine or given or rivals or is_decided or is_mystery or self.story.is_secret):
            yield "close-alone", ""
        moves_seen = {said.move for _, said, _ in self.situation.moves_told}
        # Where nobody asks any more, somebody may have owned up out of sight.
        is_open = not {"ask-culprit", "suspect"}.isdisjoint(self._moves_lately()) and not self._is_confessed
        if is_mystery and is_open and not self._is_culprit and "close-culprit" not in moves_seen:
            yield "close-culprit", ""
        if self._goal and not (is_decided or is_mystery or "close-goal" in moves_seen):
            yield "close-goal", ""

    @property
    def _does_it(self) -> bool:
        """Whether I set about what I want at the end, now that somebody helps. What is to be decided is not done by one."""
        return not (self.is_contest or self.matter) and self.dice.random() < _DONE

    def _ends_of_a_contest(self) -> Iterator[tuple[str, str]]:
        judged = [str(line.fields["winner"]) for line in self.reading.discussion if line.fields.get("winner")]
        others = list(self.situation.company)
        if judged and judged[-1] == self.me and others:
            yield "close-won", others[0]
        elif judged and judged[-1] in others:
            yield "close-lost", judged[-1]
        else:
            yield "close-judged", ""
