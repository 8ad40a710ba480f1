"""Happenings: a sentence about what happens, read as an event: who or what, what it does, to what and where.

Always holds: a form is given only where the finite verb was found with certainty; a fragment without a verb is a thing
and where it is; whatever fits neither is only quoted, word for word.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from glasshouse.troupe.noun_classes import class_of_word
from glasshouse.troupe.talk.pronouns import to_you
from glasshouse.troupe.talk.verbs import (
    base_behind_he,
    base_of_past,
    is_participle,
    is_plain_verb,
    is_state,
    past_of,
)
from glasshouse.troupe.vocabulary import WORD, is_a, of_sort, singular_forms, stems_of

happenings_cache_texts_max: Final = 4_096
"""What more texts tell of is read again."""
happening_words_max: Final = 18
"""A longer sentence is not said again."""

words_told_together_max: Final = 12
"""Two clauses with more words are told one by one."""

_SENTENCES: Final = re.compile(r"(?<=[.?!])\s+")
_SECOND_CLAUSE: Final = re.compile(r"(, (?:and|but) )")
_TOKEN: Final = re.compile(r"[^\s,;]+|[,;]")
_FOLLOWING: Final = frozenset({"then", "so", "after", "when", "while", "unless"})
_BE: Final = frozenset({"is", "are", "was", "were"})
_HAVE: Final = frozenset({"has", "have", "had"})
_HAS_BEEN: Final = (["has", "been"], ["have", "been"])
_MODAL: Final = frozenset({"will", "can", "cannot", "would", "could", "must", "may", "might", "should"})
_NOBODY_KNOWN: Final = frozenset({"somebody", "someone", "something"})
_INDEFINITE: Final = frozenset(
    {
        "somebody",
        "someone",
        "something",
        "nobody",
        "everybody",
        "everyone",
        "everything",
        "nothing",
        "it",
        "this",
        "that",
    }
)
_OUR: Final = frozenset({"i", "we", "you", "he", "she", "they", "my", "our", "your"})
_PRONOUNS: Final = frozenset({"it", "he", "she"})
_JOINING: Final = frozenset({"and", "but", "or", "then"})
_RELATIVE: Final = frozenset(
    {"that", "which", "who", "whose", "where", "when", "while", "if", "because", "what"}
)
_BEFORE_A_PLACE: Final = frozenset(
    {
        "in", "on", "at", "over", "under", "behind", "near", "from", "inside", "outside", "beside", "below", "above",
        "by", "upstairs", "downstairs", "everywhere", "between", "among", "next",
    }
)  # fmt: skip
_MANY: Final = frozenset({"some", "many", "most", "several", "few", "both", "all", "dozens", "hundreds"})
_NONE: Final = frozenset({"no", "none"})
_CALLED_WITHOUT_THE: Final = frozenset(
    {
        "mum",
        "mom",
        "dad",
        "mother",
        "father",
        "granny",
        "grandma",
        "grandpa",
        "grandmother",
        "grandfather",
        "god",
        "santa",
    }
)
_LED: Final = re.compile(
    r"(?:but|and|so|then|now|suddenly|meanwhile|oh|oops|wow|look|all of a sudden|out of nowhere)\b,?\s+(?=\w)",
    re.IGNORECASE,
)
"""Words before a sentence that tell nothing of what happens."""
_SHORTENED: Final = re.compile(r"^(it|there|he|she|that|here)['\u2019]s\b", re.IGNORECASE)
_WHO_DID: Final = re.compile(r"who\s+(\w+)\s+.*[^?]\?", re.IGNORECASE)
heading_words_max: Final = 3
"""So many words before a colon only announce what stands behind it: `breaking news: the king is dead`."""
_COUNTS: Final = frozenset({"two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"})
_DONE_AT_ONCE: Final = frozenset(
    {"found", "seen", "heard", "caught", "brought", "sent", "given", "killed", "hit", "struck"}
)
"""What is done in a moment, so that it was done when it is told."""


class Happening(NamedTuple):
    """One event as it can be said again. A form that does not exist is empty."""

    quoted: str
    """The sentence, word for word."""
    now: str = ""
    """The clause in the tense it was told in, for what was there from the beginning; empty for a mere thing."""
    told: str = ""
    """What happened, as a clause: `the lights went out`."""
    told_again: str = ""
    """The same, with what was new the first time as something that is known: `the stranger knocked at the door`."""
    question: str = ""
    """What one asks about it: `why did the lights go out`."""
    going_on: str = ""
    """The clause with `still`, where it goes on."""
    thing: str = ""
    """Who or what it is about: `the stranger`."""
    is_plural: bool = False
    is_alive: bool = False
    is_fragment: bool = False
    is_cry: bool = False
    """Whether it was told with an exclamation mark."""
    stems: frozenset[str] = frozenset()
    """What lines about it have words in common with."""


@lru_cache(maxsize=happenings_cache_texts_max)
def happenings_in(text: str) -> tuple[Happening, ...]:
    """The events that a text tells of, in its order."""
    sentences = (sentence.strip() for sentence in _SENTENCES.split(text.strip(' "\u201c\u201d')))
    happenings = []
    for sentence in sentences:
        is_question = sentence.endswith("?")
        events = (_asked_of(sentence),) if is_question else _happenings_of(_plainly(sentence))
        happenings += [happening for happening in events if happening.stems]
    return tuple(happenings)


def _plainly(sentence: str) -> str:
    """A sentence without what only leads to it, and with `it is` for `it's`."""
    led = _LED.match(sentence)
    rest = sentence[led.end() :] if led is not None else sentence
    return _SHORTENED.sub(lambda short: f"{short[1]} is", rest)


def _asked_of(question: str) -> Happening:
    """What a question takes for granted: `who let that pigeon in?`; nothing, where it takes nothing for granted."""
    who = _WHO_DID.fullmatch(question)
    if who is None or not (base_of_past(who[1].lower()) or _is_past_of_itself(who[1].lower())):
        return Happening("")
    return _event(f"somebody {question.rstrip('? ').partition(' ')[2]}")


def slots_of(happening: Happening) -> dict[str, str]:
    """What stands in the gaps of a sentence about what happened; a form that does not exist is left out."""
    forms = {
        "quoted": happening.quoted,
        "now": happening.now,
        "told": happening.told,
        "again": happening.told_again,
        "question": happening.question,
        "ongoing": happening.going_on,
        "subject": happening.thing,
    }
    return {name: form for name, form in forms.items() if form}


def _happenings_of(sentence: str) -> tuple[Happening, ...]:
    """A sentence as an event; of two clauses the first is asked about, and both are told, one by one if they are long."""
    heading, colon, rest = sentence.partition(": ")
    if colon and '"' not in sentence and "\u201c" not in sentence:
        return (_announced(sentence, heading, rest),)
    first, comma, second = (
        _SECOND_CLAUSE.split(sentence.rstrip(".!:; "), maxsplit=1)
        if _SECOND_CLAUSE.search(sentence)
        else (sentence, "", "")
    )
    event = _event(first)
    if not comma:
        return (event,)
    more = _event(second)
    whole = _event_plain(sentence)
    is_long = len(sentence.split()) > words_told_together_max
    if event.told and is_long and not (more.told or event.is_fragment):
        return (event,)
    if not (event.told and more.told) or event.is_fragment:
        # What joins no two clauses joins things.
        return (_event(sentence) if not more.told else whole,)
    if more.is_fragment:
        return (_event(sentence),)
    if is_long and second.split()[0].lower() not in _FOLLOWING:
        return event, more
    joined = f"{comma.strip(' ,')} "
    both = event._replace(
        quoted=whole.quoted,
        now=f"{event.now}, {joined}{more.now}" if event.now and more.now else event.now,
        told=f"{event.told}, {joined}{more.told}",
        told_again=f"{event.told_again}, {joined}{more.told_again}",
        stems=whole.stems,
    )
    return (both,)


def _announced(sentence: str, heading: str, rest: str) -> Happening:
    """What stands behind a colon is what happened; a clause before it, that somebody tells it."""
    telling = _event(heading)
    news = _event(
        rest[:1].lower() + rest[1:] if rest.split(maxsplit=1)[0].lower() in of_sort("det") else rest
    )
    plain = _event_plain(sentence)
    if not telling.told or telling.is_fragment:
        is_heading = len(heading.split()) <= heading_words_max
        return news._replace(quoted=plain.quoted) if is_heading and news.told else plain
    behind = f": {rest.rstrip('.!:; ')}"
    return telling._replace(
        quoted=plain.quoted,
        now=f"{telling.now}{behind}" if telling.now else "",
        told=f"{telling.told}{behind}",
        told_again=f"{telling.told_again}{behind}",
        question=("" if news.is_fragment else news.question) or telling.question,
        going_on="",
        stems=plain.stems,
    )


def _event_plain(sentence: str) -> Happening:
    quoted = sentence.rstrip(".!:; ")
    return Happening(quoted, stems=stems_of(quoted), is_cry=sentence.rstrip().endswith("!"))


def _event(sentence: str) -> Happening:
    plain = _event_plain(sentence)
    quoted = plain.quoted
    tokens = _TOKEN.findall(quoted)
    if not tokens or len(tokens) > happening_words_max or any(mark in quoted for mark in '":\u201c;('):
        return plain
    if tokens[0].lower() == "i" and len(tokens) > 2:
        return _said_of_oneself(plain)
    if tokens[0].lower() in _OUR - {"my", "our"}:
        return plain
    if tokens[0].lower() == "there" and [token.lower() for token in tokens[1:3]] in _HAS_BEEN:
        whole = _spaced(["there", *tokens[1:]])
        return plain._replace(told=whole, told_again=whole, is_fragment=True)
    if tokens[0].lower() == "there" and len(tokens) > 2 and tokens[1].lower() in _BE:
        there = _fragment(plain, tokens[2:], tokens[1].lower())
        whole = _spaced([tokens[0].lower(), *tokens[1:]])
        return there if there.told else plain._replace(told=whole, told_again=whole, is_fragment=True)
    verb_at = _finite_verb_at(tokens)
    if verb_at is None:
        return _fragment(plain, tokens, "")
    return _clause(plain, tokens, verb_at) if verb_at else plain


def _said_of_oneself(plain: Happening) -> Happening:
    """What somebody tells of themselves, as one says it to them: `you found a teapot`."""
    clause = to_you(plain.quoted)
    clause = re.sub(r"^you was\b", "you were", clause[:1].lower() + clause[1:])
    return plain._replace(told=clause, told_again=clause)


def _finite_verb_at(tokens: list[str]) -> int | None:
    """Where the finite verb stands; 0 if that is not certain, none if there is none."""
    lower = [token.lower() for token in tokens]
    if lower[0] in _BEFORE_A_PLACE or lower[0] in _RELATIVE - {"that"}:
        return 0
    for at in range(1, len(tokens)):
        word = lower[at]
        if word in _RELATIVE or word == ",":
            unlisted = _unlisted_verb_at(tokens, lower, at)
            if unlisted is not None:
                return unlisted
            return 0 if any(_may_be_finite(lower, later) for later in range(at + 1, len(lower))) else None
        if _may_be_finite(lower, at):
            return at
    return _unlisted_verb_at(tokens, lower, len(tokens))


def _unlisted_verb_at(tokens: list[str], lower: list[str], stop: int) -> int | None:
    return next((at for at in range(1, stop) if _is_unlisted_verb(tokens, lower, at)), None)


def _is_unlisted_verb(tokens: list[str], lower: list[str], at: int) -> bool:
    """Whether a word that no list has is the verb by where it stands: behind a name or a thing, before nothing or a place."""
    word = lower[at]
    before = lower[at - 1]
    behind = lower[at + 1] if at + 1 < len(lower) else ""
    is_before_an_end = not behind or behind in _BEFORE_A_PLACE | of_sort("det") | _RELATIVE | {
        "to",
        "into",
        "itself",
    }
    is_before_an_end = is_before_an_end or behind.endswith("ly") or is_a(behind, "adverb")
    if (
        not is_before_an_end
        or len(word) < 4
        or not WORD.fullmatch(word)
        or before in of_sort("det") | _BEFORE_A_PLACE
    ):
        return False
    is_name = at == 1 and tokens[0][:1].isupper() and not (lower[0] in of_sort("det") or _is_noun(lower[0]))
    is_thing = lower[0] in of_sort("det") and at > 1 and not is_a(before, "adjective")
    if word.endswith("ed"):
        return not is_a(word, "adjective") and (
            is_name or is_thing or before.endswith("s") or before in {"just", "already"}
        )
    is_behind_he = word.endswith("s") and not word.endswith(("ss", "us", "is"))
    is_one = not _is_many(lower[:at])
    return is_behind_he and is_one and (is_name or (is_thing and not _is_noun(word)))


def _is_past_of_itself(word: str) -> bool:
    """Whether a verb is the same in the past: `put`."""
    return is_plain_verb(word) and past_of(word) == word


def _may_be_finite(lower: list[str], at: int) -> bool:
    """Whether a word is the finite verb of what stands before it."""
    word = lower[at]
    if word in _BE | _HAVE | _MODAL or word in {"does", "do", "did"}:
        return True
    before = lower[at - 1]
    if (
        before in of_sort("det")
        or (before in _BEFORE_A_PLACE and at > 1)
        or before in {"of", "to", "with", "for"}
    ):
        return False
    if is_a(before, "adjective") and not is_a(before, "noun"):
        return False
    if base_of_past(word):
        follows_noun = before not in _JOINING
        return follows_noun and not (
            at + 1 < len(lower) and is_a(lower[at + 1], "noun") and word.endswith("ed")
        )
    if base_behind_he(word):
        # A known noun in the plural behind a word that is no subject would be a thing: `the brass bells`.
        return not (_is_noun(word) and at + 1 < len(lower) and _starts_a_verb(lower[at + 1]))
    if _is_past_of_itself(word) and not _is_many(lower[:at]):
        return lower[0] in _INDEFINITE or (_is_noun(before) and not _is_noun(word))
    return is_plain_verb(word) and _is_many(lower[:at]) and not _is_noun_only(word)


def _starts_a_verb(word: str) -> bool:
    return (
        word in _BE | _HAVE | _MODAL
        or bool(base_behind_he(word))
        or (is_plain_verb(word) and not _is_noun(word))
    )


def _is_noun(word: str) -> bool:
    return is_a(word, "noun")


def _is_noun_only(word: str) -> bool:
    return _is_noun(word) and not is_plain_verb(word)


def _is_many(words: list[str]) -> bool:
    """Whether a subject is more than one: it takes a verb without an s."""
    if any(word in _BEFORE_A_PLACE or word == "of" for word in words[1:]):
        head = next(
            words[at - 1] for at in range(1, len(words)) if words[at] in _BEFORE_A_PLACE or words[at] == "of"
        )
    else:
        head = words[-1]
    if "and" in words or head in _COUNTS | _MANY:
        return True
    if head in {"people", "children", "men", "women", "mice", "police", "feet", "geese"}:
        return True
    return head.endswith("s") and not head.endswith(("ss", "us", "is")) and words[0] not in {"a", "an"}


def _clause(plain: Happening, tokens: list[str], at: int) -> Happening:
    subject = tokens[:at]
    verb = tokens[at].lower()
    rest = tokens[at + 1 :]
    head = subject[0].lower()
    if head in {"i", "we", "you", "they", "he", "she"} or (head == "it" and verb in _MODAL):
        return plain
    many = _is_many([word.lower() for word in subject])
    first = _lowered(subject)
    known = _as_known(first)
    told_verb, asked, still = _forms(verb, rest, many=many)
    if not told_verb:
        return plain
    is_past = _is_told_in_past(verb)
    rest_told = _joined_verbs(rest, past_of) if is_past else rest
    rest_asked = _joined_verbs(rest, str) if verb not in _BE | _HAVE | _MODAL else rest
    if head in _NOBODY_KNOWN - {"something"}:
        question = _spaced(["who", told_verb, *rest_told])
    elif (head in _INDEFINITE and head != "it") or not asked[0]:
        question = ""
    elif verb == "cannot":
        question = _spaced(["why", "can", *known, "not", *rest])
    elif asked[1]:
        question = _spaced(["why", asked[0], *known, asked[1], *rest_asked])
    else:
        question = _spaced(["why", asked[0], *known, *rest])
    question = question.partition(",")[0]
    is_nameless = head in _INDEFINITE
    return plain._replace(
        now=_spaced([*first, *tokens[at:]]),
        told=_spaced([*first, told_verb, *rest_told]),
        told_again=_spaced([*known, told_verb, *rest_told]),
        question=question,
        going_on=_spaced([*known, *still, *rest]) if still and "," not in rest else "",
        thing="" if is_nameless else _spaced(known),
        is_plural=many,
        is_alive=_is_alive(subject[-1].lower()),
    )


def _is_told_in_past(verb: str) -> bool:
    base = base_behind_he(verb) or (verb if is_plain_verb(verb) else "")
    return bool(base) and verb not in _BE | _HAVE | {"does", "do"} and not is_state(base)


def _forms(verb: str, rest: list[str], *, many: bool) -> tuple[str, tuple[str, str], tuple[str, ...]]:
    """The verb as it is told, what a question begins with and its plain verb, and the words with `still`."""
    if verb in _BE:
        done = rest[0].lower() if rest else ""
        if done in _DONE_AT_ONCE:
            past = {"is": "was", "are": "were"}.get(verb, verb)
            return past, (past, ""), ()
        is_lasting = verb in {"is", "are"} and done not in {"no", "not"} and not is_participle(done)
        return verb, (verb, ""), ((verb, "still") if is_lasting else ())
    if verb in _HAVE | _MODAL or verb in {"does", "do", "did"}:
        if verb in {"has", "have", "had"} and not _is_participle_first(rest):
            return verb, ("do" if many else "does", "have"), ("still", verb)
        return verb, (verb, ""), ()
    base = base_behind_he(verb) or (verb if is_plain_verb(verb) else "")
    if base and is_state(base):
        return verb, ("do" if many else "does", base), ("still", verb)
    if base:
        return past_of(base), ("did", base), ()
    base = base_of_past(verb)
    if base:
        return verb, ("did", base), ()
    if verb.endswith("ed"):
        return verb, ("", ""), ()
    # A verb that no list has: `the mayor resigns`.
    base = verb[:-1]
    return past_of(base), ("did", base), ()


def _is_participle_first(rest: list[str]) -> bool:
    words = [word.lower() for word in rest[:2] if word.lower() not in {"not", "just", "never", "already"}]
    return bool(words) and is_participle(words[0])


def _joined_verbs(rest: list[str], form) -> list[str]:  # type: ignore[no-untyped-def]
    """What follows, with the verbs that share the subject in the same tense: `and looks around`."""
    said = list(rest)
    for at in range(1, len(said)):
        base = base_behind_he(said[at].lower())
        before = said[at - 1].lower()
        is_joined = before in {"and", "but", "then"}
        is_joined = is_joined or (
            form is past_of and at > 1 and before in _PRONOUNS and said[at - 2].lower() == "and"
        )
        if base and is_joined and base not in {"be", "have", "do"}:
            said[at] = form(base)
    return said


def _fragment(plain: Happening, tokens: list[str], be: str) -> Happening:
    """A thing and where it is: `blood on the pear tree`."""
    if len(tokens) > 10 or "," in tokens or not tokens:
        return plain
    first = _lowered(tokens)
    place_at = next((at for at in range(1, len(first)) if first[at].lower() in _BEFORE_A_PLACE), len(first))
    head = first[place_at - 1].lower()
    if any(base_of_past(word.lower()) or word.lower() in _RELATIVE for word in first):
        return plain
    if not (
        WORD.fullmatch(head) and (is_a(head, "noun") or class_of_word(head) != "unknown" or len(first) <= 4)
    ):
        return plain
    if head in of_sort("stop") or (
        plain.is_cry and not is_a(head, "noun") and class_of_word(head) == "unknown"
    ):
        return plain
    many = _is_many([word.lower() for word in first[:place_at]])
    verb = be or ("are" if many else "is")
    known = _as_known(first)
    thing = _spaced(known[: place_at + len(known) - len(first)])
    where = [] if place_at == len(first) else first[place_at:]
    return plain._replace(
        told=_spaced(["there", verb, *first]),
        told_again=_spaced(["there", verb, *first]),
        question=""
        if class_of_word(head) == "place" or first[0] in _NONE
        else _spaced(["where did", thing, "come from"]),
        going_on=_spaced([thing, verb, "still", *where]) if where and where[0] != "from" else "",
        thing=thing,
        is_plural=many,
        is_alive=_is_alive(head),
        is_fragment=True,
    )


def _is_alive(head: str) -> bool:
    return class_of_word(head) in {"person", "animal"}


def _lowered(tokens: list[str]) -> list[str]:
    """The words without the capital of the sentence's beginning; a name keeps it; what is the visitor's, is called so."""
    first = tokens[0]
    lower = first.lower()
    if lower in {"my", "our"}:
        return ["our", "visitor's", *tokens[1:]]
    if lower in _CALLED_WITHOUT_THE:
        return [f"{first[:1].upper()}{first[1:]}", *tokens[1:]]
    is_name = first[:1].isupper() and not (
        lower in of_sort("det") or is_a(lower, "stop") or is_a(lower, "noun") or is_a(lower, "adjective")
        or any(is_a(form, "noun") for form in singular_forms(lower)) or (len(tokens) > 1 and base_behind_he(lower))
    )  # fmt: skip
    return list(tokens) if is_name else [lower, *tokens[1:]]


def _as_known(words: list[str]) -> list[str]:
    """A thing that was new as one that is known: `a stranger` is now `the stranger`."""
    first = words[0].lower()
    if first in {"a", "an", "another"}:
        return ["the", *words[1:]]
    if (
        first in _INDEFINITE
        or first in of_sort("det") - _COUNTS
        or first in {"all", "half", "our", "no", "most"} | _CALLED_WITHOUT_THE
        or first.endswith(("'s", "\u2019s"))
        or (first in _COUNTS and words[1:2] in ([], ["of"]))
    ):
        return words
    if first[:1].isupper() or words[0][:1].isupper():
        return words
    return ["the", *words]


def _spaced(words: list[str]) -> str:
    return " ".join(word for word in words if word).replace(" ,", ",")
