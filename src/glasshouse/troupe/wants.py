"""Wants: what a player wants, in words that it can say itself, and how it stands with it.

Always holds: the words are the manifest's own `wants` and `cares_about`, turned to the first person; where it has no
`wants`, they are those of a sentence of the persona that says what its player wants. How it stands is told from the
player's own lines in sight and from how long the show has lasted.
"""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import blake2b
from typing import Final, NamedTuple

from glasshouse.troupe.noun_classes import class_of_word
from glasshouse.troupe.reading import Identity
from glasshouse.troupe.vocabulary import is_a, of_sort, stems_of

wants_cache_identities_max: Final = 512
"""The wants of more players are read again."""
want_words_max: Final = 12
"""A longer want of a manifest is not said in its own words."""
care_words_max: Final = 6
"""A longer entry of `cares_about` is not said in its own words."""
rounds_before_settled_min: Final = 5
"""A player gets what it wants, or gives it up, no earlier."""
rounds_before_settled_spread: Final = 4

_CLAUSE_END: Final = re.compile(
    r"[.;:!?]|, (?:but|and|so|then|or|which|because|when|if|even|without) | (?:when|whenever|if|because|while|so that) "
)
_WANTING: Final = re.compile(
    r"^(?:i|you|he|she|they|it)?\s*(?:really |only |just )?(?:want|wants|wish|wishes|would like|hope|hopes)\s+",
    re.IGNORECASE,
)
_WANTED: Final = re.compile(
    r"\b(?:wants?|would (?:love|like)|hopes?|wish(?:es)?|longs?|dreams?|plans?|intends?|means?|needs?|expects?|tr(?:y|ies|ying)) (?=to )"
    r"|\bwould rather (?=\w+ (?!not))|\b(?:wants?|needs?|dreams? of|longs? for|was promised) "
    r"(?=(?:an?|the|his|her|their|your|some|more|no|nobody|somebody|everybody|everything|all) |\w+(?:[,.]|$))"
    r"|\b(?:thinks?|believes?|finds?) (?:that )?(?=[^,.;]+ should \w)",
    re.IGNORECASE,
)
"""What stands in a persona before what its player wants."""
_OF_THE_PLAYER: Final = re.compile(
    r"(?:(?:he|she|they|you|it|who)\b[^.;:]*|.*\bwho\b[^;:]*|.*,)?", re.IGNORECASE
)
"""What may stand before that, so that it is the player who wants it."""
_OF_OTHERS: Final = re.compile(
    r"\b(?:everybody|everyone|others|nobody|people|somebody|not|never|all|which|that)\W*$", re.IGNORECASE
)
_FOND_OF: Final = re.compile(
    r"\b(?:proud of|fond of|devoted to|attached to|cares (?:for|about)|worries about|looks after|loves) "
    r"(his|her|their|the) ((?!and\b|who\b|that\b|but\b)[\w-]+(?: (?!and\b|who\b|that\b|but\b)[\w-]+){0,2}) ?(?=[,.;\"']|and\b|who\b|but\b)",
    re.IGNORECASE,
)
"""What stands in a persona before and as what its player is fond of: at most three words."""
_BEFORE_VERBS: Final = frozenset(
    {"he", "she", "always", "really", "only", "secretly", "still", "also", "now", "just"}
)
_REST: Final = re.compile(r",| (?:and|but|than|because|while|so that) ", re.IGNORECASE)
_SHOULD: Final = re.compile(r"^(.+?) should (?!not\b)")
_IN_SECRET: Final = re.compile(r"\bsecret(?:ly)?\b", re.IGNORECASE)
_OWN: Final = {
    "his": "my", "her": "my", "your": "my", "himself": "myself", "herself": "myself", "yourself": "myself", "him": "me",
    "hers": "mine", "he": "I", "she": "I", "you": "I",
}  # fmt: skip
_DOING: Final = re.compile(r"\b(?:he|she|you) (is|are|has|was|were|does|\w+s)\b", re.IGNORECASE)
"""A pronoun with what it does: `he is`, `she carries`."""
_I_DO: Final = {"is": "am", "are": "am", "has": "have", "was": "was", "were": "was", "does": "do"}
_PRONOUN: Final = re.compile(rf"\b(?:{'|'.join(_OWN)})\b(?=(\s+\w+)?)", re.IGNORECASE)
_SOMEBODY: Final = frozenset({"everybody", "everyone", "others"})
"""Whose pronouns stay theirs. `somebody to carry her coal` is about my coal."""


class Want(NamedTuple):
    """What one player wants: `to win the race`, as `want`; `win the race`, as `deed`; empty where it cannot be said so."""

    want: str = ""
    wish: str = ""
    """What may stand behind `I want`: all but a clause."""
    deed: str = ""
    cares: tuple[str, ...] = ()
    stems: frozenset[str] = frozenset()


class Wanted(NamedTuple):
    """Where a manifest says what its player wants."""

    words: str = ""
    sentence: str = ""
    """The sentence of the persona that says it; empty where `wants` does."""


@lru_cache(maxsize=wants_cache_identities_max)
def wanted_by(me: Identity) -> Wanted:
    """What a player wants in the words of its manifest: of `wants`, else of its persona."""
    if me.wants:
        return Wanted(me.wants)
    for sentence in re.split(r"(?<=[.;!?])\s+", me.persona.strip()):
        for wanting in _WANTED.finditer(sentence):
            before = sentence[: wanting.start()].strip()
            words = _words_wanted(wanting[0], sentence[wanting.end() :])
            if words and _is_of_the_player(before, me.handle):
                return Wanted(f"{words}, secretly" if _IN_SECRET.search(sentence) else words, sentence)
    return Wanted()


def _words_wanted(wanting: str, rest: str) -> str:
    """What is wanted behind a verb of wanting; empty if nothing is left of it."""
    words = _REST.split(rest.rstrip(".!; "))[0].strip()
    if "rather" in wanting.lower() and not words.startswith("to "):
        words = f"to {words}"
    words = _SHOULD.sub(r"\1 to ", words)
    return "" if words.endswith("to") else words


def _cared_for_in(persona: str) -> list[str]:
    """What a persona says its player is fond of, where the manifest does not say it."""
    return [f"{owner} {thing}".strip() for owner, thing in _FOND_OF.findall(persona)]


def _is_of_the_player(before: str, handle: str) -> bool:
    """Whether what stands before a verb in a persona has its player for the subject: its name, a pronoun or nothing."""
    if _OF_OTHERS.search(before):
        return False
    words = set(re.findall(r"\w+", before.lower()))
    return words <= {*handle.lower().split("-"), *_BEFORE_VERBS} or bool(_OF_THE_PLAYER.fullmatch(before))


@lru_cache(maxsize=wants_cache_identities_max)
def want_of(me: Identity) -> Want:
    """What a manifest says its player wants, as the player says it."""
    wanted = wanted_by(me).words
    cares = tuple(
        care
        for care in map(_care, me.cares or _cared_for_in(me.persona))
        if care and len(care.split()) <= care_words_max
    )
    stems = stems_of("; ".join((*me.cares, wanted)))
    text = _first_clause(wanted)
    if not text or len(text.split()) > want_words_max:
        return Want(cares=cares, stems=stems)
    text = _as_mine(_with_me_for_my_name(text, me.handle))
    first, _, rest = text.partition(" ")
    if first.lower() == "to" and rest:
        deed = "" if rest.startswith(("be ", "have ")) else rest
        return Want(text, text, deed, cares, stems)
    if _is_done(first.lower()) and rest:
        return Want(f"to {text}", f"to {text}", text, cares, stems)
    if first.lower() == "that":
        return Want(text, "", "", cares, stems)
    return Want(text, text, "", cares, stems)


def round_settled(me: Identity) -> int:
    """In which round of the show a player gets what it wants, or gives it up."""
    digest = blake2b(f"{me.handle}\x1f{me.wants}".encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return rounds_before_settled_min + int.from_bytes(digest, "big") % rounds_before_settled_spread


def _with_me_for_my_name(text: str, handle: str) -> str:
    """A want in which its player is called `the doctor`, as the doctor says it."""
    name = re.escape(handle.replace("-", " "))
    text = re.sub(
        rf"\bthe {name} (is|was|has)\b",
        lambda match: f"I {_I_DO.get(match[1].lower(), 'have')}",
        text,
        flags=re.IGNORECASE,
    )
    return re.sub(rf"\bthe {name}['\u2019]s\b", "my", text, flags=re.IGNORECASE)


def _first_clause(wants: str) -> str:
    """The first thing that is wanted, without what stands in the way or follows from it."""
    for sentence in re.split(r"(?<=[.;!?])\s+", wants.strip()):
        if sentence.lower().startswith(("when ", "if ", "once ", "whenever ", "as soon as ")):
            continue
        clause = _CLAUSE_END.split(_WANTING.sub("", sentence.strip()))[0].strip(" ,.")
        words = clause.split()
        if len(words) > want_words_max and "," in clause:
            clause = clause.partition(",")[0]
        if clause:
            return clause if clause.startswith("I ") or _is_name(clause) else clause[:1].lower() + clause[1:]
    return ""


def _is_name(clause: str) -> bool:
    first = clause.split(" ", 1)[0]
    return first[:1].isupper() and not any(
        is_a(first.lower(), sort) for sort in ("verb", "stop", "noun", "adjective")
    )


def _as_mine(text: str) -> str:
    """The text with the pronouns of its player turned to the first person; those of somebody named in it stay."""

    def turned(match: re.Match[str]) -> str:
        word = match[0].lower()
        following = (match[1] or "").strip().lower()
        if any(
            word in _SOMEBODY or class_of_word(word) == "person"
            for word in text[: match.start()].lower().split()
        ):
            return match[0]
        if word == "her" and (not following or is_a(following, "stop")):
            return "me"
        return _OWN[word]

    if any(word in _SOMEBODY or class_of_word(word) == "person" for word in text.lower().split()):
        return _PRONOUN.sub(turned, text)
    return _PRONOUN.sub(turned, _DOING.sub(lambda match: f"I {_as_i_do(match[1])}", text))


def _as_i_do(verb: str) -> str:
    return _I_DO.get(
        verb.lower(), re.sub(r"(?<=[sxzho])es$|ies$|s$", lambda end: "y" if end[0] == "ies" else "", verb)
    )


def _is_done(word: str) -> bool:
    """Whether a word is what somebody does, in its plain form."""
    if word in of_sort("det") or is_a(word, "stop"):
        return word in {"be", "have", "do", "let"}
    return is_a(word, "verb") and (not word.endswith(("ed", "ing", "s")) or word.endswith("ss"))


def _care(care: str) -> str:
    care = _as_mine(care.strip(" ."))
    return (
        care if _is_name(care) and not is_a(care.split()[0].lower(), "noun") else care[:1].lower() + care[1:]
    )
