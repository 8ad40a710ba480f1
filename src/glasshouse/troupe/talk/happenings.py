"""Happenings: a sentence about what happens, read as an event: who or what, what it does, to what and where.

Always holds: a form is given only where the finite verb was found with certainty; a fragment without a verb is a thing
and where it is; whatever fits neither is only quoted, word for word. What a visitor says of themselves, asks or calls is
told as that: `a visitor asked "Where is the key?"`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.noun_classes import class_of_word
from glasshouse.troupe.talk.pronouns import of_a_visitor, to_you
from glasshouse.troupe.talk.verbs import (
    base_behind_he,
    base_of_past,
    is_participle,
    is_past_and_plain,
    is_plain_verb,
    is_state,
    past_of,
)
from glasshouse.troupe.vocabulary import WORD, is_a, is_rare, of_sort, singular_forms, stems_of

happenings_cache_texts_max: Final = 4_096
"""What more texts tell of is read again."""
happening_words_max: Final = 18
"""A longer sentence is not said again."""

_SENTENCES: Final = re.compile(r"(?<=[.?!])\s+|;\s+|\s+[\u2013\u2014-]\s+")
_SECOND_CLAUSE: Final = re.compile(r"(, (?:and|but) |: )")
_OPENER: Final = re.compile(
    r"^(?:(?:oh|hey|wow|look|listen|help|suddenly|then|now|just then|just now|meanwhile|all at once|attention|alert|alarm|"
    r"(?:breaking )?news|breaking|announcement|oh no|oh my god|quick|finally|apparently|out of nowhere)\s*[,:!-]+\s*|"
    r"(?:suddenly|then|meanwhile|all at once|out of nowhere|but|and|so|yet) |(?:while|as|when) [^,]+, |it turns out (?:that )?|it turned out (?:that )?)+",
    re.IGNORECASE,
)
"""What announces an event and is no part of it."""
_WHEN: Final = re.compile(
    r"^((?:last night|yesterday|this morning|tonight|today|at (?:midnight|noon|dawn|night)|outside|inside|upstairs|downstairs|"
    r"next door|overhead|in the distance|far away)),? (?=\S+ \S)",
    re.IGNORECASE,
)
"""When or where it is, put first."""
_YOU_NOTICE: Final = re.compile(r"^you (hear|see|smell|feel|notice|find|meet|lose|remember)\b", re.IGNORECASE)
_BEGINS_AS_A_QUESTION: Final = re.compile(
    r"(?:can|could|will|would|should|shall|may|do|does|did|is|are|was|were|has|have) "
    r"(?:i|we|you|he|she|they|it|there|anybody|anyone|somebody|someone)\b"
    r"|(?:who|where|why|how|what(?! an?\b))(?: \w+)? (?:is|are|was|were|do|does|did|can|will|has|have)\b",
    re.IGNORECASE,
)
"""What people type in a hurry is a question without its mark, too."""
_WHO_DID: Final = re.compile(r"who\s+(\w+)\s+.*[^?]\?", re.IGNORECASE)
_SAYING: Final = frozenset(
    {"said", "shouted", "cried", "announced", "reported", "warned", "claimed", "whispered", "wrote"}
)
_ABBREVIATED: Final = re.compile(r"\b(Mr|Mrs|Ms|Dr|St|Prof)\.", re.IGNORECASE)
_TOKEN: Final = re.compile(r"[^\s,;]+|[,;]")
_BE: Final = frozenset({"is", "are", "was", "were"})
_HAVE: Final = frozenset({"has", "have", "had"})
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
        "he",
        "she",
        "they",
        "we",
    }
)
_FIRST_PERSON: Final = frozenset({"i", "me", "my", "mine", "myself"})
_LASTING: Final = frozenset({"anymore", "always", "usually", "often"})
_KIN: Final = frozenset(
    {
        "grandma",
        "grandpa",
        "granny",
        "gran",
        "mum",
        "mom",
        "dad",
        "mother",
        "father",
        "grandmother",
        "grandfather",
    }
)
_TITLES: Final = frozenset(
    {"mr", "mrs", "ms", "miss", "dr", "prof", "st", "sir", "lady", "lord", "king", "queen", "aunt", "uncle"}
)
_MANY: Final = frozenset({"they", "we"})
_NOT_IN_THINGS: Final = frozenset({"i", "we", "you", "he", "she", "they", "it", "me", "us", "him", "them"})
_ADVERBS: Final = frozenset(
    {"just", "now", "still", "also", "already", "never", "always", "suddenly", "only", "almost", "nearly"}
)
_OVER: Final = frozenset(
    {"dead", "gone", "back", "here", "over", "on", "off", "finished", "done", "fake", "real", "born", "alive"}
)
"""What is so for good, so that nobody says that it still is."""
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
_COUNTS: Final = frozenset(
    {
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "twenty",
        "hundred",
        "forty",
        "several",
        "many",
    }
)
_OPENING_A_REST: Final = frozenset(
    {"to", "for", "with", "up", "down", "off", "out", "away", "and", "through", "into", "across", "that"}
)
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
    parts: tuple[Happening, ...] = ()
    """Its clauses, each as an event of its own, if there are several."""
    is_only_said: bool = False
    """Whether nothing is certain but that somebody said so."""
    stems: frozenset[str] = frozenset()
    """What lines about it have words in common with."""


@lru_cache(maxsize=happenings_cache_texts_max)
def happenings_in(text: str, *, is_of_visitor: bool = False) -> tuple[Happening, ...]:
    """The events that a text tells of, in its order. A visitor's questions and calls are events, too."""
    text = _ABBREVIATED.sub(r"\1", " ".join(text.split()))
    sentences = [sentence.strip() for sentence in _SENTENCES.split(text.strip(' "\u201c\u201d'))]
    happenings = []
    for sentence in map(_with_its_mark, sentences) if is_of_visitor else sentences:
        if sentence and (is_of_visitor or not sentence.endswith("?")):
            happening = _happening(sentence, is_of_visitor=is_of_visitor)
            if happening.stems or (is_of_visitor and happening.told):
                happenings.append(happening)
    return tuple(happenings)


def _with_its_mark(sentence: str) -> str:
    """A question that was typed without its mark, with it; other sentences as they are."""
    is_asked = not sentence.endswith(("?", "!")) and _BEGINS_AS_A_QUESTION.match(sentence)
    return f"{sentence.rstrip('.')}?" if is_asked else sentence


def event_told_by_visitor(text: str) -> Happening:
    """What a visitor's words tell of, as one event with a clause that is certain, if need be that somebody said so."""
    happenings = happenings_in(text, is_of_visitor=True)
    certain = [happening for happening in happenings if not happening.is_only_said]
    if not certain:
        return happenings[0] if happenings else _only_said(" ".join(text.split()))
    main = next((happening for happening in certain if not happening.is_fragment), certain[0])
    at = happenings.index(main)
    if at and main.told.split()[0] in _INDEFINITE - _NOBODY_KNOWN and happenings[at - 1].is_only_said:
        # Who "it" is was said in the words before.
        certain = [happenings[at - 1], main]
    both = certain[:2]
    words = sum(len(happening.told.split()) for happening in both)
    together = both if words <= happening_words_max else [main]
    return main._replace(
        told=", and ".join(happening.told for happening in together),
        told_again=", and ".join(happening.told_again for happening in together),
        parts=tuple(part for happening in together for part in happening.parts or (happening,)),
        stems=frozenset[str]().union(*(happening.stems for happening in together)),
    )


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


def _asked_of(question: str) -> Happening:
    """What a question takes for granted: `who let that pigeon in?`; that it was asked, where it takes nothing for granted."""
    who = _WHO_DID.fullmatch(question)
    if who is None or not (base_of_past(who[1].lower()) or is_past_and_plain(who[1].lower())):
        return _only_said(question)
    event = _event(f"somebody {question.rstrip('? ').partition(' ')[2]}", is_of_visitor=True)
    return event._replace(quoted=question) if event.told else _only_said(question)


def _happening(sentence: str, *, is_of_visitor: bool) -> Happening:
    """A sentence as an event; of two clauses the first is asked about, and both are told."""
    if sentence.endswith("?"):
        return _asked_of(sentence)
    bare = _with_its_time_last(_OPENER.sub("", sentence) or sentence)
    whole = _event_plain(sentence)
    parts = _SECOND_CLAUSE.split(bare.rstrip(".!:; "), maxsplit=1)
    event = _event(parts[0] if len(parts) > 1 else bare, is_of_visitor=is_of_visitor)
    if len(parts) > 1:
        event = _joined(event, parts[1], parts[2], bare, is_of_visitor=is_of_visitor)
    if not event.told and is_of_visitor:
        return _only_said(sentence)
    return event._replace(quoted=whole.quoted, stems=event.stems | whole.stems)


def _with_its_time_last(sentence: str) -> str:
    """A sentence with the time or place that is put first behind it: `somebody is crying outside`."""
    when = _WHEN.match(sentence)
    if when is None:
        return sentence
    rest = sentence[when.end() :].rstrip(".! ")
    if base_behind_he(rest.split()[0].lower()):
        return sentence
    return f"{rest} {when[1].lower()}" if "," not in rest else sentence


def _joined(event: Happening, mark: str, second: str, sentence: str, *, is_of_visitor: bool) -> Happening:
    """Two clauses as one event, as far as both are certain."""
    more = _event(second, is_of_visitor=is_of_visitor)
    if not event.told:
        # What joins no two clauses joins things.
        return event if more.told else _event(sentence, is_of_visitor=is_of_visitor)
    if mark == ": " and event.told.split()[-1] in _SAYING and (more.is_fragment or not more.told):
        heard = second.rstrip(".!; ")
        return event._replace(
            now=f'{event.now} "{heard}"' if event.now else "",
            told=f'{event.told} "{heard}"',
            told_again=f'{event.told_again} "{heard}"',
            stems=event.stems | more.stems,
        )
    if not (more.told and not more.is_fragment):
        words = second.split()
        base = base_behind_he(words[0].lower())
        if not (base and mark != ": " and not event.is_fragment and len(words) <= happening_words_max):
            return event if _finite_verb_at(_TOKEN.findall(second)) != 0 else event._replace(told="")
        more = Happening(second, told=_spaced([base if is_state(base) else past_of(base), *words[1:]]))
        more = more._replace(told_again=more.told)
    joining = {" ": "and "}.get(mark[-1:] if mark == ": " else "", f"{mark.strip(' ,')} ")
    comma = ", "
    if mark == ": ":
        is_said = event.told.split()[-1] in _SAYING
        joining, comma = ("that ", " ") if is_said else ("and ", ", ")
    return event._replace(
        now=f"{event.now}{comma}{joining}{more.now}" if event.now and more.now else event.now,
        told=f"{event.told}{comma}{joining}{more.told}",
        told_again=f"{event.told_again}{comma}{joining}{more.told_again}",
        parts=(event, more) if mark != ": " else (),
        stems=event.stems | more.stems,
    )


def _only_said(sentence: str) -> Happening:
    """Words that tell of no event with certainty, as an event: that they were said."""
    words = sentence.strip(' "\u201c\u201d').replace('"', "'").replace("\u201c", "'").replace("\u201d", "'")
    verb, base = {"?": ("asked", "ask"), "!": ("called", "call")}.get(words[-1:], ("said", "say"))
    words = words.rstrip(".,:; ")
    if len(words.split()) > happening_words_max:
        words = " ".join([*words.split()[:happening_words_max], "..."])
    clause = f'{verb} "{words}"'
    return Happening(
        words.rstrip("!"),
        told=f"somebody {clause}",
        told_again=f"somebody {clause}",
        question=f"who {clause}" if base != "ask" else "",
        is_only_said=True,
        stems=stems_of(words),
    )


def _event_plain(sentence: str) -> Happening:
    quoted = sentence.rstrip(".!:; ")
    return Happening(quoted, stems=stems_of(quoted))


def _event(sentence: str, *, is_of_visitor: bool = False) -> Happening:
    plain = _event_plain(sentence)
    quoted = plain.quoted
    tokens = _TOKEN.findall(_without_contractions(quoted))
    if not tokens or len(tokens) > happening_words_max or any(mark in quoted for mark in '":\u201c;('):
        return plain
    if is_of_visitor:
        tokens = _TOKEN.findall(_to_all_of_us(" ".join(tokens)))
    first = tokens[0].lower()
    if first == "i" and len(tokens) > 2:
        return _said_by_visitor(plain) if is_of_visitor else _said_of_oneself(plain)
    if quoted[:4].lower() == "you " and (noticing := _YOU_NOTICE.match(quoted)):
        return _event(f"we {quoted[4:]}")._replace(
            quoted=quoted,
            question="what was it" if noticing[1].lower() in {"hear", "see", "smell", "feel"} else "",
        )
    if first in {"you", "your", "us", "let's"}:
        return plain
    if (
        first in _PLACES_FIRST
        and len(tokens) > 3
        and base_behind_he(tokens[1].lower())
        and tokens[2].lower() in of_sort("det")
    ):
        base = base_behind_he(tokens[1].lower())
        verb = tokens[1].lower() if is_state(base) or base in {"be", "have"} else past_of(base)
        clause = _spaced([first, verb, *tokens[2:]])
        return plain._replace(told=clause, told_again=clause)
    if [token.lower() for token in tokens[:3]] in (["there", "has", "been"], ["there", "have", "been"]):
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


_CONTRACTED: Final = (
    (re.compile(r"\b(can)['\u2019]t\b", re.IGNORECASE), r"\1not"),
    (re.compile(r"\bwon['\u2019]t\b", re.IGNORECASE), "will not"),
    (
        re.compile(
            r"\b(is|are|was|were|has|have|had|does|do|did|would|could|should)n['\u2019]t\b", re.IGNORECASE
        ),
        r"\1 not",
    ),
    (re.compile(r"\b(it|there|he|she|that)['\u2019]s\b(?! been)", re.IGNORECASE), r"\1 is"),
    (re.compile(r"\b(I)['\u2019]m\b"), r"\1 am"),
    (re.compile(r"\b(I|they|we)['\u2019]ve\b"), r"\1 have"),
    (re.compile(r"\b(I|they|we)['\u2019]ll\b"), r"\1 will"),
    (re.compile(r"\b(they|we)['\u2019]re\b", re.IGNORECASE), r"\1 are"),
)


def _without_contractions(text: str) -> str:
    for pattern, full in _CONTRACTED:
        text = pattern.sub(full, text)
    return text


_PLACES_FIRST: Final = frozenset({"outside", "inside", "here", "upstairs", "downstairs", "overhead"})


_TO_US: Final = {"your": "our", "yours": "ours", "yourselves": "ourselves", "yourself": "ourselves"}
_YOU: Final = re.compile(
    r"\byou(?:r|rs|rself|rselves)?\b(?P<does> (?:are|were|have|will|can|must|should|do|did|all)\b)?",
    re.IGNORECASE,
)


def _to_all_of_us(text: str) -> str:
    """What a visitor says to everybody here, as one of them tells it: `one of us`."""
    return _YOU.sub(
        lambda match: (
            _TO_US.get(match[0].split()[0].lower(), "we" if match["does"] else "us") + (match["does"] or "")
        ),
        text,
    )


def _said_by_visitor(plain: Happening) -> Happening:
    """What a visitor tells of themselves, as one tells others: `a visitor has lost their dog`."""
    clause = _to_all_of_us(of_a_visitor(_without_contractions(plain.quoted)))
    if not clause:
        return plain
    again = f"the visitor {clause}"
    return plain._replace(told=f"a visitor {clause}", told_again=again, question=_event(again).question)


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
            unknown = next((before for before in range(1, at) if _looks_like_a_verb(lower, before)), None)
            is_uncertain = any(_may_be_finite(lower, later) for later in range(at + 1, len(lower)))
            return unknown or (0 if is_uncertain else None)
        if _may_be_finite(lower, at) and not _only_says_which(lower, at):
            return at
    return next((at for at in range(1, len(tokens)) if _looks_like_a_verb(lower, at)), None)


def _only_says_which(lower: list[str], at: int) -> bool:
    """Whether a past form belongs to the thing before it, since the verb comes later: `a letter addressed to nobody arrives`."""
    if not is_participle(lower[at]):
        return False
    for later in range(at + 1, len(lower)):
        if lower[later] in _JOINING | _RELATIVE or lower[later] == ",":
            return False
        if lower[later] in _BE | _HAVE | _MODAL or (
            base_behind_he(lower[later]) and not _is_noun(lower[later])
        ):
            return True
    return False


def _looks_like_a_verb(lower: list[str], at: int) -> bool:
    """Whether an unknown word stands and looks like a verb in a text that has no known one: `the flumph zorps at us`."""
    word = lower[at]
    before = lower[at - 2] if lower[at - 1] in _ADVERBS and at > 1 else lower[at - 1]
    if (
        not is_rare(word)
        or before in of_sort("det")
        or not (before in _INDEFINITE or lower[0] in of_sort("det"))
    ):
        return False
    is_like_one = (word.endswith("s") and not word.endswith(("ss", "us", "is"))) or (
        word.endswith("ed") and len(word) > 4
    )
    after = lower[at + 1] if at + 1 < len(lower) else ""
    is_followed = not after or after in of_sort("det") | _BEFORE_A_PLACE | _OPENING_A_REST
    return is_like_one and is_followed and not before.endswith("s")


def _may_be_finite(lower: list[str], at: int) -> bool:
    """Whether a word is the finite verb of what stands before it."""
    word = lower[at]
    if word in _BE | _HAVE | _MODAL or word in {"does", "do", "did"}:
        return True
    before = lower[at - 2] if lower[at - 1] in _ADVERBS and at > 1 else lower[at - 1]
    if (
        before in of_sort("det")
        or (before in _BEFORE_A_PLACE and at > 1)
        or before in {"of", "to", "with", "for"}
    ):
        return False
    if is_a(before, "adjective") and not is_a(before, "noun"):
        return False
    if base_of_past(word):
        is_before_a_thing = at + 1 < len(lower) and is_a(lower[at + 1], "noun") and word.endswith("ed")
        return before not in _JOINING and not (is_before_a_thing and not _is_noun(before))
    if is_past_and_plain(word) and not _is_many(lower[:at]):
        after = lower[at + 1] if at + 1 < len(lower) else ""
        return before in _INDEFINITE or after in of_sort("det") or after in _NOT_IN_THINGS
    if base_behind_he(word):
        # A known noun in the plural behind a word that is no subject would be a thing: `the brass bells`.
        return not (_is_noun(word) and at + 1 < len(lower) and _starts_a_verb(lower[at + 1]))
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
    if "and" in words:
        return True
    if head in {"people", "children", "men", "women", "mice", "police", "feet", "geese"}:
        return True
    if words[0] in _MANY or words[0] in _COUNTS:
        return True
    if words[0] in {"mr", "mrs", "ms", "miss", "dr", "a", "an", "it"} or (
        words[0].endswith("'s") and len(words) == 1
    ):
        return False
    if head in {"news", "chaos"}:
        return False
    return head.endswith("s") and not head.endswith(("ss", "us", "is", "'s"))


def _clause(plain: Happening, tokens: list[str], at: int) -> Happening:
    subject = tokens[:at]
    verb = tokens[at].lower()
    rest = tokens[at + 1 :]
    head = subject[0].lower()
    if head in {"i", "you", "my", "our"} and _FIRST_PERSON.intersection(word.lower() for word in rest):
        return plain
    if head in {"i", "you"}:
        return plain
    is_one = verb in {"is", "was", "has", "does"} or (bool(base_behind_he(verb)) and not is_plain_verb(verb))
    many = _is_many([word.lower() for word in subject]) and not is_one
    first = _lowered(subject, many=many)
    known = _as_known(first)
    told_verb, asked, still = _forms(verb, rest, many=many)
    if not told_verb:
        return plain
    rest_told = _told_rest(rest) if _is_told_in_past(verb, rest) else rest
    is_nameless = head in _INDEFINITE
    bare = known[:-1] if known[-1].lower() in _ADVERBS and len(known) > 1 else known
    return plain._replace(
        now=_spaced([*first, *tokens[at:]]),
        told=_spaced([*first, told_verb, *rest_told]),
        told_again=_spaced([*known, told_verb, *rest_told]),
        question=_question(known, verb, rest, told_verb, asked),
        going_on=_spaced([*bare, *still, *rest]) if still and "," not in rest else "",
        thing="" if is_nameless else _spaced(bare),
        is_plural=many,
        is_alive=_is_alive(bare[-1].lower()),
    )


def _question(known: list[str], verb: str, rest: list[str], told_verb: str, asked: tuple[str, str]) -> str:
    """What one asks about a clause; only about what its own subject does."""
    own = _own_rest(rest)
    if known[0] in _NOBODY_KNOWN - {"something"}:
        behind = _joined_verbs(own, past_of) if _is_told_in_past(verb, rest) else own
        question = ["who", *known[1:], told_verb, *behind]
    elif not asked[0]:
        return ""
    elif verb == "cannot":
        question = ["why", "can", *known, "not", *own]
    elif asked[1]:
        plain = _joined_verbs(own, str) if verb not in _BE | _HAVE | _MODAL else own
        question = ["why", asked[0], *known, asked[1], *plain]
    else:
        # What one does besides stands behind no `has`: `has lost her shoe and thinks`.
        besides = (
            at
            for at, word in enumerate(own[:-1])
            if word in {"and", "but"} and base_behind_he(own[at + 1].lower())
        )
        question = ["why", asked[0], *known, *own[: next(besides, len(own))]]
    return _spaced(question).partition(",")[0]


def _told_rest(rest: list[str]) -> list[str]:
    """What follows a verb that is told in the past, with a second clause in the past, too."""
    own = _own_rest(rest)
    if len(own) == len(rest):
        return _joined_verbs(rest, past_of)
    second = _event(" ".join(rest[len(own) + 1 :]))
    more = second.told.split() if second.told and not second.is_fragment else rest[len(own) + 1 :]
    return [*_joined_verbs(own, past_of), rest[len(own)], *more]


def _own_rest(rest: list[str]) -> list[str]:
    """What follows a verb, without a clause that has a subject of its own: `and nobody was hurt`."""
    lower = [word.lower() for word in rest]
    for at in range(len(rest) - 2):
        starts = lower[at] in {"and", "but", "while", "because", "so", "as"} and (
            lower[at + 1] in of_sort("det") | _INDEFINITE or lower[at + 1] in _NOT_IN_THINGS
        )
        if starts and any(_may_be_finite(lower[at + 1 :], later) for later in range(1, len(lower) - at - 1)):
            return rest[:at]
    return rest


def _present_of(verb: str) -> str:
    """The plain form of a verb in the present; empty if it is in the past."""
    if verb.endswith("ed") and base_of_past(verb):
        return ""
    return base_behind_he(verb) or (verb if is_plain_verb(verb) else "")


def _is_told_in_past(verb: str, rest: list[str]) -> bool:
    base = _present_of(verb)
    return bool(base) and verb not in _BE | _HAVE | {"does", "do"} and not _goes_on(base, rest)


def _goes_on(base: str, rest: list[str]) -> bool:
    """Whether what is said is so for some time, so that it is told in the present."""
    return is_state(base) or not _LASTING.isdisjoint(word.lower() for word in rest)


def _forms(verb: str, rest: list[str], *, many: bool) -> tuple[str, tuple[str, str], tuple[str, ...]]:
    """The verb as it is told, what a question begins with and its plain verb, and the words with `still`."""
    if verb in _BE:
        done = rest[0].lower() if rest else ""
        if done in _DONE_AT_ONCE:
            past = {"is": "was", "are": "were"}.get(verb, verb)
            return past, (past, ""), ()
        is_lasting = verb in {"is", "are"} and done not in {"no", "not", ""} and not is_participle(done)
        is_lasting = is_lasting and not _OVER.intersection(word.lower() for word in rest)
        return verb, (verb, ""), ((verb, "still") if is_lasting else ())
    if verb in _HAVE | _MODAL or verb in {"does", "do", "did"}:
        if verb in {"has", "have", "had"} and not _is_participle_first(rest):
            if verb == "had":
                return verb, ("did", "have"), ()
            return verb, ("do" if many else "does", "have"), ("still", verb)
        return verb, (verb, ""), ()
    base = _present_of(verb)
    if base and _goes_on(base, rest):
        return verb, ("do" if many else "does", base), ("still", verb)
    if base:
        return past_of(base), ("did", base), ()
    base = base_of_past(verb) or (verb if is_past_and_plain(verb) else "")
    if not base and verb.endswith("ed"):
        return verb, ("", ""), ()
    if not base and verb.endswith("s"):
        # A verb that no list has: `the flumph zorps at us`.
        base = verb[:-2] if verb.endswith(("shes", "ches", "xes", "sses", "zes")) else verb[:-1]
        base = f"{verb[:-3]}y" if verb.endswith("ies") else base
        return past_of(base), ("did", base), ()
    return (verb, ("did", base), ()) if base else ("", ("", ""), ())


def _is_participle_first(rest: list[str]) -> bool:
    words = [word.lower() for word in rest[:2] if word.lower() not in {"not", "just", "never", "already"}]
    return bool(words) and is_participle(words[0])


def _joined_verbs(rest: list[str], form) -> list[str]:  # type: ignore[no-untyped-def]
    """What follows, with the verbs that share the subject in the same tense: `and looks around`."""
    said = list(rest)
    for at in range(1, len(said)):
        base = base_behind_he(said[at].lower())
        before = said[at - 1].lower()
        if base and before in {"and", "but", "then"} and base not in {"be", "have", "do"}:
            # What goes on stays in the present: `a ghost appeared and wants to be paid`.
            said[at] = said[at] if is_state(base) and form is past_of else form(base)
    return said


def _fragment(plain: Happening, tokens: list[str], be: str) -> Happening:
    """A thing and where it is: `blood on the pear tree`."""
    if len(tokens) > 10 or "," in tokens or not tokens:
        return plain
    first = _lowered(tokens, many=_is_many([word.lower() for word in tokens]))
    lower = [word.lower() for word in first]
    place_at = next(
        (at for at in range(1, len(first)) if lower[at] in _BEFORE_A_PLACE | {"with", "for"}), len(first)
    )
    many = _is_many(lower[:place_at])
    first = _with_article(first, place_at, many=many, is_certain=bool(be))
    if (
        not first
        or not _is_a_thing(lower[:place_at], is_certain=bool(be), is_placed=place_at < len(lower))
        or _RELATIVE.intersection(lower)
    ):
        return plain
    place_at += len(first) - len(lower)
    head = first[place_at - 1].lower()
    verb = be or ("are" if many else "is")
    if class_of_word(head) == "sound" or not _listed("moment").isdisjoint({head, *singular_forms(head)}):
        verb = {"is": "was", "are": "were"}.get(verb, verb)
    known = _as_known(first)
    thing = _spaced(known[: place_at + len(known) - len(first)])
    where = first[place_at:]
    clause = _spaced(["there", verb, *first])
    is_no = lower[0] == "no"
    question = (
        ["why", verb, "there", *first]
        if is_no or class_of_word(head) == "place"
        else ["where did", thing, "come from"]
    )
    is_seen = (
        where
        and where[0] not in {"from", "with", "for"}
        and not is_no
        and class_of_word(head) not in {"sound", "abstract"}
    )
    return plain._replace(
        told=clause,
        told_again=clause,
        question=_spaced(question),
        going_on=_spaced([thing, verb, "still", *where]) if is_seen else "",
        thing="" if is_no else thing,
        is_plural=many,
        is_alive=_is_alive(head),
        is_fragment=True,
    )


def _is_a_thing(lower: list[str], *, is_certain: bool, is_placed: bool) -> bool:
    """Whether words are a thing: what says which or how, and then a noun."""
    head = lower[-1]
    if (
        not WORD.fullmatch(head)
        or head in of_sort("stop")
        or _NOT_IN_THINGS.intersection(lower)
        or lower[0] in _INDEFINITE
    ):
        return False
    is_noun = _is_noun(head) or class_of_word(head) != "unknown"
    has_article = lower[0] in of_sort("det") or lower[0] in _COUNTS or lower[0] == "no"
    if is_certain:
        return is_noun or has_article
    if not (is_noun or (has_article and (is_rare(head) or is_placed))):
        return False
    return all(
        (word == head and word == lower[-1])
        or word in of_sort("det")
        or word in _COUNTS
        or word in {"no", "of", "and", "huge", "giant"}
        or is_a(word, "adjective")
        or _is_noun(word)
        or is_participle(word)
        or word.endswith("'s")
        or (has_article and is_rare(word))
        for word in lower
    )


@lru_cache(maxsize=3)
def _listed(how: str) -> frozenset[str]:
    """The nouns of what happens of which there is `some`, or of which there is `one`; those of a `moment`, which is over when it is told."""
    return frozenset(noun for noun, *listed in shelf.rows("event_nouns.tsv") if how in listed)


def _with_article(first: list[str], place_at: int, *, many: bool, is_certain: bool) -> list[str]:
    """A thing as it stands behind `there is`: one of its kind has an article; nothing if that is not certain."""
    lower = first[0].lower()
    head = first[place_at - 1].lower()
    if many or lower in of_sort("det") or lower in {"no", "another"} or is_certain or lower.endswith("'s"):
        return first
    if first[0][:1].isupper():
        return []
    if head in _listed("some") or head in shelf.words_listed("masses.txt"):
        return first
    if class_of_word(head) in {"object", "animal", "person", "sound", "place"} or head in _listed("one"):
        return ["an" if lower[0] in "aeiou" else "a", *first]
    return first if place_at < len(first) and class_of_word(head) in {"weather", "food"} else []


def _is_alive(head: str) -> bool:
    return class_of_word(head) in {"person", "animal"}


def _lowered(tokens: list[str], *, many: bool = False) -> list[str]:
    """The words without the capital of the sentence's beginning; a name keeps it; what is the visitor's, is called so."""
    first = tokens[0]
    lower = first.lower()
    if lower in {"my", "our"}:
        return ["the", "visitor's", *tokens[1:]]
    if lower in _KIN and len(tokens) == 1:
        return [first.capitalize()]
    if lower in _TITLES and len(tokens) > 1 and tokens[1][:1].isupper():
        return list(tokens)
    is_name = first[:1].isupper() and not (
        (many and len(tokens) == 1) or lower in of_sort("det") or is_a(lower, "stop") or is_a(lower, "noun") or is_a(lower, "adjective")
        or any(is_a(form, "noun") for form in singular_forms(lower)) or (len(tokens) > 1 and base_behind_he(lower))
    )  # fmt: skip
    return list(tokens) if is_name else [lower, *tokens[1:]]


def _as_known(words: list[str]) -> list[str]:
    """A thing that was new as one that is known: `a stranger` is now `the stranger`."""
    first = words[0].lower()
    if first in {"a", "an", "another"}:
        return ["the", *words[1:]]
    if words[1:2] == ["of"] or (len(words) == 1 and first in _KIN):
        return words
    if (
        first in _INDEFINITE
        or first in of_sort("det") - _COUNTS
        or first in {"all", "half", "our", "no", "most"}
    ):
        return words
    if words[0][:1].isupper() or first.endswith(("'s", "\u2019s")):
        return words
    return ["the", *words]


def _spaced(words: list[str]) -> str:
    return " ".join(word for word in words if word).replace(" ,", ",")
