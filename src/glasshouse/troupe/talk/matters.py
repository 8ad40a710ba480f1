"""Matters: what a goal asks everybody to decide, and what may be said for an answer.

A goal may ask whether something is so, which of some deeds is to be done, who gets or does something, or who did
something. Always holds: each answer is made of the goal's own words; a goal that asks none of these is no matter.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from glasshouse.troupe.talk.verbs import base_behind_he, base_of_past, is_plain_verb
from glasshouse.troupe.vocabulary import stem, stems_of

matters_cache_goals_max: Final = 256
"""More goals are read again."""
option_words_max: Final = 10
"""A longer answer is not said."""

YES: Final = "yes"
NOT_YET: Final = "not yet"
NO: Final = "no"
NOES: Final = frozenset({NOT_YET, NO})

_WHETHER: Final = re.compile(r"\bwhether (.+?)(?:[.;]|$)", re.IGNORECASE)
_WHO: Final = re.compile(
    r"\bwho (\w+) (.+?)(?= and who\b| when | if | before | until | and why\b|[.,;?]|$)", re.IGNORECASE
)
_AGREEING: Final = re.compile(
    r"^(?:agree|decide|choose) (?:to|(?:up)?on \w+ (?:plan|way|idea) to|how to) |^to ", re.IGNORECASE
)
"""What stands before a deed that is to be agreed on."""
_MADE: Final = re.compile(
    r"\b(?:make|bake|cook|build|tell|write|draw|paint|invent|sing|play|grow|show|give|bring|design|carve|sew|dance)s? (?:the|a) "
    r"(?:best|better|finest|most \w+|funniest|longest|biggest|saddest|worst|\w{2,}est) "
    r"((?!of\b|for\b)[a-z-]+(?: (?!of\b|for\b|in\b|at\b|on\b|the\b|to\b|and\b|that\b|before\b|this\b)[a-z-]+)?)",
    re.IGNORECASE,
)
_FINDING_OUT: Final = re.compile(
    r"\b(?:find out|discover|learn|establish|prove|tell|guess|know) whether (?![^.;]*\b(?:can|could|may|might|should|will|ready)\b)",
    re.IGNORECASE,
)
"""Before what is so already, whatever anybody thinks of it."""
_SURE: Final = re.compile(r"\b(?:sure|certain|convinced|swears?|knows?) (?:that )?(?!nothing)", re.IGNORECASE)
_OR: Final = re.compile(r",? or |, ")
_KEEPING: Final = frozenset(
    map(stem, ("save", "keep", "repair", "mend", "rescue", "protect", "preserve", "open"))
)
_LOSING: Final = frozenset(
    map(stem, ("sell", "close", "shut", "destroy", "end", "burn", "remove", "leave", "abandon", "demolish"))
)


_AGAINST: Final = frozenset(
    map(stem, ("worst", "never", "against", "hates", "refuses", "mistake", "wrong", "nobody", "not"))
)
_DARING: Final = frozenset({"bold", "eager", "cross"})
_WORRYING: Final = frozenset({"nervous", "sad", "warm"})
_BEHIND_A_THING: Final = re.compile(
    r" (?:through|into|from|on|in|at|to|out|off|over|under|behind|with|of|last|this|yesterday) ",
    re.IGNORECASE,
)
_KNOWING: Final = frozenset({"see", "hear", "find", "know", "think", "believe", "suspect"})
"""How one comes to speak of what another did."""
_WITNESSING: Final = _KNOWING | {
    "lose",
    "miss",
    "guard",
    "lock",
    "look",
    "watch",
    "keep",
    "love",
    "own",
    "need",
    "clean",
    "repair",
    "make",
    "sell",
    "buy",
}
"""What one does with a thing without having done anything to it."""
_SENTENCES: Final = re.compile(r"(?<=[.?!])\s+")


class Question(NamedTuple):
    """`who gets the big room`: what one does, to what."""

    verb: str
    """In its plain form."""
    behind_he: str
    thing: str

    @property
    def deed(self) -> str:
        """What one would do: `get the big room`."""
        return f"{self.verb} {self.thing}"

    @property
    def head(self) -> str:
        """The thing without what is said of it: `captain`, of `captain of the club`."""
        return self.thing.partition(" of ")[0]

    def answer(self, name: str) -> str:
        """`Omar gets the big room`."""
        return f"{name} {self.behind_he} {self.thing}"


class OpenQuestion(NamedTuple):
    """What is to be decided."""

    deeds: tuple[str, ...] = ()
    """What may be done, in plain forms: `close it`, `sell it`."""
    whether: str = ""
    """What may be so."""
    is_fact: bool = False
    """Whether that is to be found out, and not decided."""
    whos: tuple[Question, ...] = ()
    culprit: str = ""
    """What somebody did: `switched it off`."""

    @property
    def no(self) -> str:
        """What whoever does not say yes says."""
        return NO if self.is_fact else NOT_YET

    def answers(self) -> tuple[str, ...]:
        """What one may say for it, where that does not depend on who is there."""
        if self.whether:
            return (YES, self.no)
        return tuple(f"we {deed}" for deed in self.deeds)


@lru_cache(maxsize=matters_cache_goals_max)
def matter_of(goal: str) -> OpenQuestion | None:
    """What a goal asks to decide; none if it asks nothing."""
    whether = _WHETHER.search(goal)
    if whether and whether[1].startswith("to "):
        deeds = tuple(
            part.strip(" ,").removeprefix("to ") for part in _OR.split(whether[1]) if part.strip(" ,")
        )
        return OpenQuestion(deeds=deeds if len(deeds) > 1 else (*deeds, "leave it as it is"))
    if whether:
        return OpenQuestion(whether=whether[1], is_fact=_FINDING_OUT.search(goal) is not None)
    deeds = _deeds_in(goal)
    if deeds:
        return OpenQuestion(deeds=deeds)
    questions = []
    for verb, thing in _WHO.findall(goal):
        plain = base_behind_he(verb.lower())
        if plain:
            questions.append(Question(plain, verb.lower(), thing.strip()))
        elif base_of_past(verb.lower()) or verb.lower().endswith("ed"):
            return OpenQuestion(culprit=f"{verb.lower()} {thing.strip()}")
    return OpenQuestion(whos=tuple(questions)) if questions else None


def work_in(goal: str) -> str:
    """What everybody is to make as well as they can: `dumpling`, of `make the best dumpling of the village`."""
    made = _MADE.search(goal)
    return made[1].lower() if made is not None else ""


def _deeds_in(goal: str) -> tuple[str, ...]:
    for sentence in re.split(r"(?<=[.:?])\s+", goal):
        parts = [_AGREEING.sub("", part.strip(" .?")) for part in _OR.split(sentence)]
        is_choice = " or " in sentence and len(parts) > 1
        some = [part for part in parts if part]
        verbs = [part for part in some if is_plain_verb(part.split(" ")[0].lower())]
        # Of three, one may be a verb that no list has: `saw it up`.
        is_of_deeds = len(verbs) == len(some) or len(verbs) > 1
        if is_choice and is_of_deeds and all(len(part.split()) <= option_words_max for part in some):
            return tuple(f"{part[:1].lower()}{part[1:]}" for part in some)
    return ()


def deed_for(want: str, deeds: Sequence[str], goal: str) -> str:
    """The deed that somebody with such a want is for; empty if that is not to be told.

    Whoever wants to save a thing is for mending or keeping it, if the goal names the thing.
    """
    words = want.lower().split()
    verbs = [stem(word) for word in words[1:2]] if words[:1] == ["to"] else []
    for deed in deeds:
        if stem(deed.split()[0]) in verbs:
            return deed
    if not verbs or not (stems_of(want) - set(verbs)) & stems_of(goal):
        return ""
    group = _KEEPING if verbs[0] in _KEEPING else _LOSING if verbs[0] in _LOSING else frozenset[str]()
    return next((deed for deed in deeds if stem(deed.split()[0]) in group), "")


def deed_for_want_of_a_reason(handle: str, manner: str, persona: str, deeds: Sequence[str]) -> str:
    """The deed that somebody is for who does not say why, always the same: one that the persona has nothing against. Of
    these, one that keeps a thing; else the bold are for the first that was named, and those who worry for the last."""
    open_to = [deed for deed in deeds if not speaks_against(persona, deed)] or list(deeds)
    kept = [deed for deed in open_to if stem(deed.split()[0].lower()) in _KEEPING] or open_to
    if manner in _DARING:
        return kept[0]
    return kept[-1] if manner in _WORRYING else kept[sum(handle.encode()) % len(kept)]


def speaks_against(persona: str, deed: str) -> bool:
    """Whether a sentence of a persona speaks against a deed, or a thing: `would rather work than fire anybody`."""
    first = deed.removeprefix("the ").partition(" ")[0]
    verb = stem(first.lower())
    for sentence in _SENTENCES.split(persona):
        words = [stem(word) for word in re.findall(r"\w+", sentence.lower())]
        if verb in words and (_AGAINST & set(words) or "than" in words[: words.index(verb)]):
            return True
    return False


def names_the_deed(persona: str, culprit: str) -> bool:
    """Whether a persona says that its player did what somebody did: `swallowed the key`, for `ate the key`."""
    verb, _, thing = culprit.partition(" ")
    things = stems_of(_BEHIND_A_THING.split(thing)[0])
    for sentence in _SENTENCES.split(persona):
        done = [base for word in re.findall(r"\w+", sentence.lower()) if (base := base_of_past(word))]
        is_done = verb in sentence.lower().split() or any(base not in _WITNESSING for base in done)
        if things and things <= stems_of(sentence) and is_done and not _KNOWING & set(done):
            return True
    return False


def is_sure(persona: str) -> bool:
    """Whether a persona says that its player is sure of something."""
    return _SURE.search(persona) is not None


def is_for(want: str, clause: str, handle: str) -> bool:
    """Whether somebody with such a want says yes to a clause: it is about the same, or about themselves."""
    is_about_me = set(handle.lower().split("-")) <= set(re.findall(r"\w+", clause.lower()))
    return is_about_me or len(stems_of(want) & stems_of(clause)) > 1
