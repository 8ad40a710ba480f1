"""Voting: what is to be decided in the general talk, who is for what, and the count.

Always holds: somebody is for what they said, what they want tells, or what they promised; a count names only votes that
were cast in sight.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

from glasshouse.troupe.skills.branches import in_a_list
from glasshouse.troupe.skills.talk_line import TalkLine
from glasshouse.troupe.skills.telling_fields import (
    Meant,
    is_for_as_filed,
)
from glasshouse.troupe.speaking import name_of
from glasshouse.troupe.talk.dealings import BROKEN, GRANTED, REFUSED
from glasshouse.troupe.talk.matters import (
    NOES,
    YES,
    Question,
    deed_for,
    deed_for_want_of_a_reason,
    is_for,
    is_sure,
    speaks_against,
)
from glasshouse.troupe.vocabulary import stems_of

lines_before_vote: Final = (4, 3)
"""Nobody calls for a vote sooner."""
rounds_before_stances: Final = 1
"""Nobody says sooner what they are for."""
lines_before_confession_ends: Final = (8, 4)
"""Later nobody owns up unasked: they may have done so out of sight."""
rounds_of_culprits: Final = 4
"""Later nobody asks who did it."""
_VOTING: Final = frozenset({"stand-for", "stand-for-word", "stand-same", "abstain"})
_TAKING_POSITION: Final = ("stand-for", "stand-for-word", "back", "back-other")


class VotingLine(TalkLine):
    """A line of somebody who may have something to decide."""

    def meant(self) -> Meant:
        """What the line says that a field may hold."""
        matter = self.matter
        position = self._position(self.me)
        if "back" in self.moves or "back-other" in self.moves:
            position = YES
        is_for = position == YES if matter is not None and matter.whether else None
        return Meant(tuple(self.moves), self.who, is_for, self.given)

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

    def _position_said_by(self, handle: str) -> str:
        """What somebody said in sight that they are for."""
        theirs = self.situation.said_by.get(handle, ())
        said = [said.slots.get("option") for said in theirs if said.move in _TAKING_POSITION]
        return self._option_named(said[-1] or "", handle) if said else ""

    def _position(self, handle: str) -> str:
        """For which answer somebody said they are; before that, what their want tells. What one said for the sake of a
        promise does not outlive it."""
        broken = any(
            dealing.asked == handle and dealing.state == BROKEN for dealing in self.situation.dealings
        )
        for line, said, _ in reversed(self.situation.moves_told):
            option = said.slots.get("option") if said.move in _TAKING_POSITION else None
            if option and line.handle == handle and not (broken and said.move.startswith("back")):
                return self._option_named(option, handle)
        if self._votes.get(handle):
            return self._votes[handle]
        leaning = self._own_leaning if handle == self.me else self._leaning_of(handle)
        if leaning in NOES and is_for_as_filed(self.speaker, self.branches):
            return YES  # What I wrote stands, also when the reason for it is out of sight.
        if leaning and leaning not in NOES:
            return leaning
        # Who gave somebody their word is for what that one needs, also when the line that said so is out of sight.
        given = [
            dealing.asker
            for dealing in self.situation.dealings
            if dealing.asked == handle and dealing.state == GRANTED
        ]
        return next((option for asker in given if (option := self._needed_by(asker))), leaning)

    def _needed_by(self, handle: str) -> str:
        return self._own_leaning if handle == self.me else self._leaning_of(handle)

    def _leaning_of(self, handle: str) -> str:
        """What somebody is for, by what they said they want."""
        matter = self.matter
        want = self.situation.wants.get(handle, "")
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
            (who.answer(name_of(handle)) for who in whos if stems_of(who.head) <= stems_of(want)),
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
            me = self.reading.me
            words = f"{self.story.want} {me.persona}" if matter.is_fact else self.story.want
            is_mine = is_for(words, matter.whether, self.me) or (matter.is_fact and is_sure(me.persona))
            return YES if is_mine else matter.no
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
            option not in NOES
            or self.reading.me.role == "judge"
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
        return next(
            (handle for handle in everybody for who in whos if who.answer(name_of(handle)) == option), ""
        )

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
        self.rests_on = self._first(["back-other" if had_another else "back"], option=option)
        return self.rests_on

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
        if self._is_culprit:
            return self._confession()
        if self._is_confessed:
            return ""
        evasive = [
            handle
            for handle, moves in self.situation.said_by.items()
            if handle in self.situation.company and "keep-secret" in {said.move for said in moves}
        ]
        if evasive and not self._has_said("suspect") and not self.story.is_secret:
            self.who = evasive[-1]
            self.rests_on = self._first(["suspect"], other=evasive[-1])
            return self.rests_on
        nearest = self.situation.next_speaker
        others = [nearest, *(handle for handle in self.situation.company if handle != nearest)]
        fresh = [handle for handle in others if handle and "ask-culprit" not in self._asked(handle)]
        # Whom somebody asked before what is in sight is not asked again.
        is_early = self.reading.rounds < rounds_of_culprits
        return self._first(["ask-culprit"], fresh[0]) if fresh and is_early else ""

    def _confession(self) -> str:
        """Whom all look for owns up when they are suspected, or late."""
        is_suspected = any(
            said.move == "suspect" and self._called(said.slots.get("other") or "") == self.me
            for _, said, _ in self.situation.moves_told
        )
        # Later it may have been said out of sight.
        is_time = self._is_past(lines_before_vote) and not self._is_past(lines_before_confession_ends)
        is_due = is_suspected or is_time
        return (
            self._first(["confess"])
            if is_due and not self._is_confessed and "confess" not in self.moves
            else ""
        )

    @property
    def _is_confessed(self) -> bool:
        """Whether somebody has owned up, or was answered who did."""
        return any(said.move in {"confess", "hear-confession"} for _, said, _ in self.situation.moves_told)

    @cached_property
    def _is_called(self) -> bool:
        """Whether everybody is to say what they are for."""
        matter = self.matter
        if matter is None or matter.culprit or self.is_contest:
            return False
        # Where the call is out of sight, more than one vote shows it.
        return len(self._votes) > 1 or any(said.move == "call" for _, said, _ in self.situation.moves_told)

    @cached_property
    def _votes(self) -> dict[str, str]:
        """Who has voted since the vote was called for, and for what; what is out of sight is not counted."""
        called = [int(line.ref) for line, said, _ in self.situation.moves_told if said.move == "call"]
        first = called[-1] if called else 0
        is_time = bool(called) or self._is_past(lines_before_vote)
        votes: dict[str, str] = {}
        for line, said, _ in self.situation.moves_told:
            if is_time and int(line.ref) >= first and (said.move in _VOTING or said.move in _TAKING_POSITION):
                as_another = votes.get(self._called(said.slots.get("other") or ""), "")
                is_same = said.move == "stand-same"
                option = self._option_named(said.slots.get("option") or "", line.handle)
                votes[line.handle] = as_another if is_same else option
        return votes

    def _decided(self) -> str:
        """A call for a vote, my vote, or the count, where something is to be decided; empty where that is done."""
        matter = self.matter
        if (
            matter is None
            or matter.culprit
            or any(said.move == "count" for _, said, _ in self.situation.moves_told)
        ):
            return ""
        if not self._is_called:
            return self._first(["call"])
        others = set(self.situation.company)
        if self.reading.me.role == "judge":
            return self._count() if others <= set(self._votes) else ""
        if self.me not in self._votes:
            vote = "" if self.voted else self._vote()
            return f"{vote} {self._count()}".strip() if vote and others <= set(self._votes) else vote
        mine = next(
            int(line.ref)
            for line, said, _ in reversed(self.situation.moves_told)
            if line.handle == self.me and (said.move in _VOTING or said.move in _TAKING_POSITION)
        )
        is_round_over = int(self.reading.discussion[-1].ref) - mine >= len(others)
        return self._count() if others <= set(self._votes) or is_round_over else ""

    def _vote(self) -> str:
        """What I am for in the end: what I said; else what somebody needs who has my word; else nothing."""
        given = [
            dealing.asker
            for dealing in self.situation.dealings
            if dealing.asked == self.me and dealing.state == GRANTED
        ]
        options = [
            self._position(self.me),
            *(self._leaning_of(asker) for asker in given),
            self._followed(),
            self._chosen_without_a_reason(),
        ]
        option = next((option for option in options if option), "")
        self.who = self._holder_of(option)
        self.voted = option
        for asker in given:
            if option == self._leaning_of(asker) != self._own_leaning:
                self.rests_on = self._first(
                    ["stand-for-word", "stand-for"], other=asker, option=self._as_i_say(option)
                )
                return self.rests_on
        alike = [handle for handle, vote in self._votes.items() if vote == option and handle != self.me]
        # What was said already is not said again, unless a field rests on it.
        is_same = bool(alike) and bool(self.matter and self.matter.deeds) and not self._is_filed
        moves = ["stand-same"] if is_same else []
        self.rests_on = self._first(
            [*moves, "stand-for" if option else "abstain"],
            option=self._as_i_say(option),
            other=alike[-1] if alike else "",
        )
        return self.rests_on

    @property
    def _is_filed(self) -> bool:
        """Whether my world has a kind of its own for what is voted."""
        return any(not branch.is_plain for branch in self.branches)

    def _followed(self) -> str:
        """What somebody voted for whom I have nothing against; empty where I go my own way."""
        is_own = self.matter is not None and bool(self.matter.deeds) and self.manner not in {"", "sly"}
        if self.manner == "cross" or is_own:
            return ""
        votes = [
            option
            for handle, option in self._votes.items()
            if option and not self._is_rival(handle) and self._state(handle, self.me) != REFUSED
            if not speaks_against(self.reading.me.persona, option.removeprefix("we "))
        ]
        return votes[-1] if votes else ""

    def _chosen_without_a_reason(self) -> str:
        """One of some deeds, where nobody is for any yet, or I do not follow: somebody has to begin."""
        matter = self.matter
        if matter is None or self.story.is_secret:
            return ""
        if matter.whos:
            return matter.whos[0].answer(self._name(self._whom_i_would_have(matter.whos[0])))
        if not matter.deeds:
            return ""
        me = self.reading.me
        return f"we {deed_for_want_of_a_reason(me.handle, self.manner, me.persona, matter.deeds)}"

    def _whom_i_would_have(self, who: Question) -> str:
        """Who has my word; else who wants it; else I, unless my persona speaks against that."""
        given = [dealing for dealing in self.situation.dealings if dealing.asked == self.me]
        promised = [dealing.asker for dealing in given if dealing.state == GRANTED]
        wanting = [handle for handle in self.situation.company if self._leaning_of(handle)]
        is_for_me = not speaks_against(self.reading.me.persona, who.head)
        others = list(self.situation.company)
        mine = [self.me] if is_for_me else others[sum(self.me.encode()) % max(1, len(others)) :]
        return next(iter([*promised, *wanting, *mine]), self.me)

    def _count(self) -> str:
        """Who is for what, and whether that decides it: more than half of those who voted, and not one alone."""
        said_before = {
            handle: self._position_said_by(handle) for handle in (*self.situation.company, self.me)
        }
        votes = said_before | self._votes | ({self.me: self.voted} if self.voted else {})
        if self.reading.me.role == "judge":
            votes.pop(self.me, None)
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
