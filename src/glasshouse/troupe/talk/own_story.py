"""Own story: what a manifest says about its player, as the player says it: facts in the first person, wants and cares.

Always holds: each fact is a sentence of the persona with its pronouns and its verbs turned; a sentence that cannot be
turned with certainty is left out.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from glasshouse.troupe.reading import Identity
from glasshouse.troupe.talk.verbs import base_behind_he, base_of_past, behind_he, is_plain_verb
from glasshouse.troupe.vocabulary import is_a, of_sort, stems_of
from glasshouse.troupe.wants import want_of, wanted_by

stories_cache_identities_max: Final = 512
"""The stories of more players are read again."""
fact_words_max: Final = 18
"""A longer sentence of a persona is not told."""
post_words_max: Final = 6
"""A longer sentence without a verb, such as `The drummer.`, does not say who one is."""
helped_words_max: Final = 9
"""A longer deed is cut short where others may help with it."""
short_deed_words_min: Final = 2
"""A deed that would have no more words is said in full."""

_SENTENCES: Final = re.compile(r"(?<=[.?!])\s+")
_OF_OTHERS: Final = re.compile(r"\bit (?:has|is|was|had)\b")
"""What speaks of something else than the player, or may."""
_MINE: Final = {
    "his": "my",
    "her": "my",
    "their": "my",
    "your": "my",
    "himself": "myself",
    "herself": "myself",
}
_WORD: Final = re.compile(r"[\w'\u2019-]+|[^\w\s]")
_JOINING: Final = frozenset(
    {"and", "but", "or", "then", ",", "never", "always", "also", "still", "rather", "even", "often", "yet"}
)
_TAIL: Final = re.compile(
    r"(?:,| (?:before|without|with|and|so|because|while|until|when|if|from|for|to|round|in|at|by)) .*$",
    re.IGNORECASE,
)
_SECRETLY: Final = re.compile(
    r"\b(?:without (?:anybody|anyone) noticing|before (?:anybody|anyone) notices|secretly|in secret|unnoticed"
    r"|(?:nobody|no one) to (?:know|notice|see|find|learn|hear)"
    r"|that (?:nobody|no one) (?:knows|notices|finds out|hears)"
    r"|not to be (?:found out|caught))\b"
)
_UNTOLD: Final = re.compile(
    r"\b(?:(?:tells?|told) (?:nobody|no one)|no idea|will not (?:say|tell)|nobody knows|(?:his|her|your|a) secret|secretly|hides?"
    r"|hop(?:es?|ing) (?:that )?(?:nobody|no one)|never says?|without telling)\b"
)
"""What stands in a sentence of a persona that its player keeps for itself."""


_ANYBODY: Final = frozenset({"nobody", "somebody", "everybody", "everyone", "someone"})
"""Behind these stands a verb."""


_BEFORE_ME: Final = frozenset(
    {"to", "for", "with", "of", "from", "at", "by", "about", "around", "beside", "behind", "than"}
)


_BEHIND_VERBS: Final = frozenset({
    "in", "on", "at", "to", "for", "with", "by", "from", "of", "about", "into", "over", "under", "up", "down", "out", "off", "back", "away",
    "once", "twice", "there", "here", "everything", "everybody", "everyone", "nothing", "nobody", "all", "it", "them", "him", "himself",
    "herself", "as", "and", "too", "never", "well", "badly", "half", "two", "three", "more", "because", "that", "how", "when", "until",
})  # fmt: skip
"""What stands behind a verb in the past, and not behind a participle that says of which sort somebody is."""


class Story(NamedTuple):
    """What one player can say about itself."""

    facts: tuple[str, ...] = ()
    """Sentences in the first person, without their mark."""
    want: str = ""
    """What stands behind `I want`."""
    deed: str = ""
    """What stands behind `I want to`, in full."""
    short: str = ""
    """The same without what is only said of it: `steal the crown`."""
    is_secret: bool = False
    """Whether it wants nobody to notice what it wants."""
    cares: tuple[str, ...] = ()
    help: str = ""
    """What stands behind `help me`: `steal the crown`, `get a bigger share`."""


@lru_cache(maxsize=stories_cache_identities_max)
def story_of(me: Identity) -> Story:
    """What a manifest lets its player say about itself."""
    want = want_of(me)
    wanted = wanted_by(me)
    if not want.wish and want.want.startswith("that "):
        want = want._replace(wish=_somebody_to(want.want.removeprefix("that ")))
    sentences = _SENTENCES.split(me.persona.strip())
    kept = [sentence for sentence in sentences if _UNTOLD.search(sentence.lower())]
    hidden = stems_of(" ".join(kept)) if kept else frozenset[str]()
    # Of a sentence that one keeps to oneself all may know who one is: `The cook, who hides the key.`
    public = [sentence.partition(",")[0] if sentence in kept else sentence for sentence in sentences]
    facts = (
        _in_first_person(sentence, me.handle)
        for sentence in public
        if not _UNTOLD.search(sentence.lower())
        # What it wants it says as a wish.
        and sentence != wanted.sentence
        and not _OF_OTHERS.search(sentence)
        # Who is spoken to as `you` is not `they`.
        and not (sentence.startswith("They ") and me.persona.startswith("You "))
    )
    wish = _as_my_deed(want.wish)
    deed = wish.removeprefix("to ") if wish.startswith("to ") else ""
    help_wanted = _helped(wish, deed)
    if help_wanted.startswith("see to it that ") and wish.split()[0].lower() in _ANYBODY:
        # `I want nobody to cut it` is said so; whatever stands behind a colon is a deed.
        wish = f"to {help_wanted}"
        deed = help_wanted
    return Story(
        facts=tuple(fact for fact in facts if fact and len(fact.split()) <= fact_words_max),
        want=wish,
        deed=deed,
        short=shortened(deed),
        is_secret=bool(_SECRETLY.search(wanted.words.lower())),
        cares=tuple(care for care in want.cares if not stems_of(care) & hidden),
        help=help_wanted,
    )


def _somebody_to(clause: str) -> str:
    """What stands behind `I want` for a clause: `one of you to ask a real question`; empty where its verb is not found."""
    words = re.sub(r"\bhim\b", "me", re.sub(r"\bthem\b", "you", clause)).split()
    for at, word in enumerate(words[1:], 1):
        is_verb = at == 1 and words[0].lower() in _ANYBODY and word.endswith("s")
        base = base_behind_he(word.lower()) or (word[:-1] if is_verb else "")
        if base:
            return " ".join([*words[:at], "to", base, *words[at + 1 :]])
    return ""


def _helped(wish: str, deed: str) -> str:
    """A want as what others may help with."""
    if deed:
        return deed if len(deed.split()) <= helped_words_max else shortened(deed)
    words = wish.split()
    if not words or wish.startswith("not to "):
        return wish.strip()
    if words[0].lower() in _ANYBODY and words[1:2] == ["to"] and len(words) > 3:
        return f"see to it that {words[0]} {behind_he(words[2])} {' '.join(words[3:])}"
    if words[0].lower() == "no" and len(words) > 1:
        return f"see to it that there {'are' if words[1].endswith('s') else 'is'} {wish}"
    return f"get {wish}"


def _as_my_deed(wish: str) -> str:
    """A wish that says what somebody does, as what I want to do: `defends the bridge` is `to defend the bridge`."""
    first, _, rest = wish.partition(" ")
    base = base_behind_he(first.lower())
    is_deed = (
        bool(base) and not is_a(first.lower(), "noun") and rest.split(" ", 1)[0].lower() in of_sort("det")
    )
    return f"to {base} {rest}" if is_deed else wish


def shortened(deed: str) -> str:
    """A deed without its circumstances, if a verb and a thing are left."""
    cut = _TAIL.sub("", deed)
    words = cut.split()
    if len(words) <= short_deed_words_min or words[-1].lower() in of_sort("det"):
        return deed
    return cut


def _in_first_person(sentence: str, handle: str) -> str:
    """A sentence of a persona as its player says it; empty if it cannot be turned with certainty."""
    text = sentence.rstrip(".! ")
    words = _WORD.findall(text)
    if 1 < len(words) <= post_words_max and words[0].lower() == "the" and not any(map(_is_verb, words)):
        return _joined(["I", "am", "the", *words[1:]])
    if len(words) > 2 and _is_list_of_qualities(words):
        *first, last = [word for word in text.lower().replace(" and ", ", ").split(",") if word.strip()]
        return f"I am {','.join(first)} and {last.strip()}" if first else ""
    if len(words) < 3 or any(mark in words for mark in ('"', ":", ";", "(")):
        return ""
    lower = [word.lower() for word in words]
    own_names = {part for part in handle.lower().split("-") if part}
    if lower[0] in {"he", "she", "they", "you"}:
        return _with_subject(words[1:], "I", is_you=lower[0] in {"you", "they"})
    named = 0
    while named < min(3, len(words)) and (lower[named] in own_names or lower[named] in _TITLES):
        named += 1
    if named and named < len(words):
        rest = words[named:]
        if (
            rest[0].lower() in {"is", "was"}
            and rest[1:2]
            and rest[1].lower() in _MINE
            and rest[2:3] != ["own"]
        ):
            # Whose brother he is stands in another manifest.
            rest = rest[rest.index("and") + 1 :] if "and" in rest[:-1] else []
        return _with_subject(rest, "I", is_you=False) if rest else ""
    if (
        _is_past(lower[0])
        and len(words) <= post_words_max
        and not (_is_start_of_a_thing(lower[1]) or lower[1] in _BEHIND_VERBS)
    ):
        # `Retired geometry teacher.` says who one is, and not what one did.
        return _joined(["I", "am", "an" if lower[0][0] in "aeiou" else "a", lower[0], *words[1:]])
    if base_behind_he(lower[0]) or lower[0] in _ALWAYS or _is_past(lower[0]):
        return _with_subject(words, "I", is_you=False)
    if lower[0] in {"this", "it", "today", "tomorrow"} and lower[1] == "is" and _MINE.keys() & set(lower):
        return _joined([_mine(word) for word in words])
    if lower[0] in {"a", "an"} and not any(base_behind_he(word) for word in lower[1:4]):
        return _joined(["I", "am", lower[0], *_with_i_before_verbs([_mine(word) for word in words[1:]])])
    return ""


def _is_start_of_a_thing(word: str) -> bool:
    return word in of_sort("det") or word in _MINE


def _is_list_of_qualities(words: list[str]) -> bool:
    """Whether a sentence only lists what somebody is like: `Stubborn and honest`."""
    listed = [word.lower() for word in words if word != "," and word.lower() not in {"and", "but"}]
    return (
        "," in words
        and bool(listed)
        and all(is_a(word, "adjective") or word.endswith("ly") for word in listed)
    )


def _with_i_before_verbs(words: list[str]) -> list[str]:
    """What somebody is, and behind a comma does: `a keeper, dry, and I know every stair`."""
    said: list[str] = []
    is_told = False
    for at, word in enumerate(words):
        base = (
            base_behind_he(word.lower())
            if words[at - 1 : at] == [","] and not is_a(word.lower(), "noun")
            else ""
        )
        if base and not is_told:
            said += ["and", "I"]
            is_told = True
        said.append(base or word)
    return said


def _is_verb(word: str) -> bool:
    return bool(base_behind_he(word.lower()) or base_of_past(word.lower())) and not is_a(word.lower(), "noun")


_TITLES: Final = frozenset({"sir", "miss", "mrs", "mr", "old", "the", "doctor", "captain", "lady", "lord"})
_ALWAYS: Final = frozenset({"never", "always", "still", "often", "once"})


def _is_past(word: str) -> bool:
    return bool(base_of_past(word)) and not is_a(word, "adjective")


def _with_subject(words: list[str], subject: str, *, is_you: bool) -> str:
    """What is done, by me: the verbs that share the subject lose their `s`."""
    first = words[0].lower()
    known = first in _ALWAYS or first in {"is", "was", "were", "will", "can", "are", "had", "cannot"}
    if not (known or base_behind_he(first) or base_of_past(first) or (is_you and is_plain_verb(first))):
        return ""
    said = [subject]
    previous = "i"
    for at, word in enumerate(words):
        lower = word.lower()
        verb = _as_i_do(lower) if previous in _JOINING | {"i"} else ""
        if is_you and lower == "you" and (base_behind_he(previous) or previous in _BEFORE_ME):
            said.append("me")
            previous = "me"
            continue
        if lower in {"he", "she"} or (is_you and lower == "you"):
            said.append("I")
            previous = "i"
            continue
        if verb and previous == "," and "and" not in words:
            # What one does besides, in telegram style: `suspects everyone, enjoys it`.
            said[-1] = "and"
        is_object = lower == "her" and words[at + 1 : at + 2] and words[at + 1][:1].isupper()
        said.append(verb or (word if is_object else _mine(lower if len(said) == 1 else word)))
        previous = lower
    return _joined(said)


def _as_i_do(word: str) -> str:
    if word in {"is", "are"}:
        return "am"
    if word in {"was", "were"}:
        return "was"
    return base_behind_he(word)


def _mine(word: str) -> str:
    return _MINE.get(word.lower(), word)


def _joined(words: list[str]) -> str:
    return re.sub(r" (?=[,.;!?])", "", " ".join(words))
