"""Fields: what stands beside the text in a line of a world's own kind.

Always holds: a field holds one of the words it may be, what a text in sight says of it, what I wrote there before, a
throw of dice that the line tells, or how sure the line is; where none of these is to be had, the kind is not used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from random import Random
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.field_texts import named_in_sight
from glasshouse.troupe.noun_phrases import nouns_in
from glasshouse.troupe.reading import Reading
from glasshouse.troupe.schema import chosen_word, is_ref
from glasshouse.troupe.skills.branches import Branch, Reply, counted, in_a_list, with_line
from glasshouse.troupe.skills.pointing import asks_to_name
from glasshouse.troupe.speaking import Speaker, Spoken, name_of
from glasshouse.troupe.talk.manners import manner_of
from glasshouse.troupe.talk.matters import matter_of
from glasshouse.troupe.talk.own_story import story_of
from glasshouse.troupe.vocabulary import stem, stems_of

dice_sides_max: Final = 20
"""Where a field names no bound, dice have so many sides."""
rating_max: Final = 10
"""Where a field names no bound, it is rated from one to this."""

things_named_max: Final = 3
"""Words that somebody shows name no more things than this."""
number_of_things_max: Final = 5
"""Nobody shows a thing that has more of its parts than this."""
counts_down_from: Final = 10
"""Where nothing tells how much is left, one counts down from here."""

_PLANS: Final = frozenset({"plan", "idea", "proposal", "suggestion", "offer", "bid"})
_BESIDE: Final = frozenset({"kind", "text", "thought", "mood"})
_THROWN: Final = re.compile(r"dice|die|roll|draw|coin|toss|luck")
_RATED: Final = re.compile(r"confiden|certain|sure|rating|score|mark|points|trust|level")
_MADE: Final = re.compile(r"present|shown|show|serve|offer|made|make|built|build|paint|bring|brought")
_LEFT: Final = re.compile(r"left|remaining|countdown")
_DECIDED: Final = (".chosen", ".decided", ".picked")
_MEASURES: Final = frozenset(
    {
        "minutes",
        "hours",
        "days",
        "seconds",
        "weeks",
        "years",
        "costs",
        "points",
        "euros",
        "dollars",
        "pounds",
        "goals",
    }
)
"""What no one decides how many there are."""
_SURE: Final = frozenset(
    {
        "tell-want",
        "give-reason",
        "boast",
        "promise",
        "promise-care",
        "agree",
        "help-yes",
        "hold-word",
        "hold-want",
        "settle",
    }
)
_UNSURE: Final = frozenset(
    {
        "no-reason",
        "answer-event",
        "answer-what",
        "answer-yes",
        "keep-secret",
        "help-no",
        "ask-help",
        "boast-plain",
    }
)
_AGAINST: Final = re.compile(r"change|reject|deny|denied|no\b|against|low|fail|refuse|guilty|stop|bad|wait")
_CROSS: Final = frozenset(
    {"refuse-reason", "oppose", "stand-against", "decline", "help-no", "bear-no", "set-term"}
)
_NUMBERS: Final = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "twelve": 12, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100,
}  # fmt: skip


class Meant(NamedTuple):
    """What a line says that a field may hold."""

    moves: tuple[str, ...] = ()
    who: str = ""
    """The handle of whom it speaks, where that is what it is about."""
    is_for: bool | None = None
    """Whether its speaker is for what is to be decided."""
    given: Mapping[str, Any] = MappingProxyType({})
    """What was settled before the line was made: what is shown, what was thrown."""


class Shown(NamedTuple):
    """Something of one's own that can be shown in a line of a world's kind."""

    kind: str
    words: str
    """As one says it: `my grandmother's lemon cake, with three layers`."""
    fields: dict[str, Any]


class Thrown(NamedTuple):
    """A throw of dice for something that is tried."""

    kind: str
    words: str
    """As one says it behind the line: `Skill: stealth. Result: 16.`"""
    fields: dict[str, Any]
    is_won: bool


def is_for_as_filed(speaker: Speaker, branches: Sequence[Branch]) -> bool | None:
    """Whether I was for it when I last wrote a word for or against into a line of mine; none if none is in sight."""
    reading = speaker.reading
    for line in reversed(reading.discussion):
        if not reading.is_mine(line):
            continue
        for branch in branches:
            for name in branch.fields:
                words = branch.words_of(name)
                against = [word for word in words if _AGAINST.search(word.lower())]
                if line.kind == branch.kind and 0 < len(against) < len(words) and name in line.fields:
                    return line.fields[name] not in against
    return None


def is_for_one_deed(branch: Branch) -> bool:
    """Whether a kind of line is only for what is shown or thrown in it."""
    verb = branch.kind.rpartition(".")[2]
    return bool(_THROWN.search(branch.kind) or _MADE.match(verb))


def fields_told(speaker: Speaker, branch: Branch, spoken: Spoken, meant: Meant) -> Reply | None:
    """The line in a world's own kind; none where a field of it cannot be stated."""
    if is_for_one_deed(branch) and not meant.given:
        return None
    fields: dict[str, Any] = {}
    stated: list[str] = []
    for name, schema in branch.fields.items():
        if name in _BESIDE or not isinstance(schema, dict) or is_ref(schema) or is_ref(schema.get("items")):
            continue
        if not branch.words_of(name) and schema.get("type") not in {"integer", "number", "string"}:
            continue
        value = _stated(speaker, branch, name, spoken.text, meant)
        if value is None or value == "":
            return None
        is_chosen = (
            name not in meant.given and branch.words_of(name) and not _is_of_handles(speaker, branch, name)
        )
        if is_chosen and value != _mine_before(speaker.reading, name):
            stated.append(f"{_label(name)}: {value}.")
        fields[name] = value
    text = spoken.text
    both = " ".join((text, *stated))
    if stated and speaker.may_say(both):
        text = both
    return with_line(branch, spoken._replace(text=text), **fields)


def _stated(speaker: Speaker, branch: Branch, name: str, text: str, meant: Meant) -> Any:
    """What a field holds; none where nothing tells."""
    schema = branch.fields[name]
    words = branch.words_of(name)
    if name in meant.given:
        return meant.given[name]
    if _is_of_handles(speaker, branch, name):
        if meant.who in words:
            return meant.who
        matter = matter_of(speaker.reading.me.goal)
        is_asked = asks_to_name(branch.kind, name) or (matter is not None and (matter.whos or matter.culprit))
        return None if is_asked else _addressed(words, text)
    if words:
        return _word(speaker, branch, name, words, meant)
    if schema.get("type") in {"integer", "number"}:
        return _number(speaker, branch, name, schema, text, meant.moves)
    return named_in_sight(speaker.reading, name) or _mine_before(speaker.reading, name)


def _is_of_handles(speaker: Speaker, branch: Branch, name: str) -> bool:
    """Whether a field names somebody of the cast."""
    words = branch.words_of(name)
    return bool(words) and {*words} <= {*speaker.reading.cast, "nobody"}


def shown_by(speaker: Speaker, branches: Sequence[Branch]) -> Shown | None:
    """What of my own I can show in one of these kinds; none if I have shown it, or nothing tells what it is."""
    reading = speaker.reading
    for branch in branches:
        noun = branch.kind.partition(".")[0].replace("_", " ")
        is_shown = any(line.kind == branch.kind and reading.is_mine(line) for line in reading.discussion)
        if is_shown or not _MADE.match(branch.kind.rpartition(".")[2]):
            continue
        thing = _own_thing(reading, noun)
        if not thing and all(name in _BESIDE for name in branch.fields):
            # Words are what is made here.
            words = _own_words(reading, noun)
            return Shown(branch.kind, f'my {noun}, "{words}"', {}) if words else None
        if not thing:
            continue
        fields: dict[str, Any] = {}
        parts = []
        for name, schema in branch.fields.items():
            sort = schema.get("type") if isinstance(schema, dict) else ""
            if name in _BESIDE:
                continue
            if sort == "string" and name == noun:
                fields[name] = thing
            elif sort in {"integer", "number"} and name.endswith("s") and name not in _MEASURES:
                fields[name] = _parts_of(speaker, schema)
                parts.append(f"{counted(fields[name])} {name if fields[name] > 1 else name[:-1]}")
            else:
                break
        else:
            words = f"{thing}, with {in_a_list(parts)}" if parts else thing
            return Shown(branch.kind, words, fields)
    return None


def _own_thing(reading: Reading, noun: str) -> str:
    """A thing of mine with this name, as I say it: of what I want, care about or say of myself."""
    story = story_of(reading.me)
    for text in (story.want, *story.cares, *story.facts):
        phrase = re.search(rf"\bmy (?:[\w'\u2019-]+ ){{0,3}}{re.escape(noun)}\b", text)
        if phrase:
            return phrase[0]
    return ""


def _own_words(reading: Reading, noun: str) -> str:
    """A few words of mine: a plan is what I want to do; what could stand on a plate is for what I care about."""
    deed = story_of(reading.me).deed
    if noun in _PLANS and deed:
        return f"{deed[:1].upper()}{deed[1:]}"
    cares = list(story_of(reading.me).cares[:things_named_max])
    things = (noun.definite for noun in nouns_in(reading.scene) if not (noun.is_word or noun.is_name))
    seen = [thing for thing in things if f"for {thing}" not in reading.visible_text]
    if not cares and seen:
        cares = [Random(reading.me.handle).choice(seen)]
    return f"For {in_a_list(cares)}" if cares else ""


def _parts_of(speaker: Speaker, schema: Mapping[str, Any]) -> int:
    low = max(1, int(schema.get("minimum", 2)))
    return speaker.dice.randint(
        low, min(int(schema.get("maximum", number_of_things_max)), number_of_things_max)
    )


def thrown_by(speaker: Speaker, branches: Sequence[Branch]) -> Thrown | None:
    """A throw for something that I try, in one of these kinds: with what, and how well it goes."""
    branch = next((branch for branch in branches if _THROWN.search(branch.kind)), None)
    if branch is None:
        return None
    fields: dict[str, Any] = {}
    stated: list[str] = []
    share = 0.0
    for name, schema in branch.fields.items():
        if name in _BESIDE or not isinstance(schema, dict):
            continue
        words = branch.words_of(name)
        if words:
            me = speaker.reading.me
            good_at = [row[1] for row in shelf.rows("aptitudes.tsv") if row[0] == manner_of(me.temper)]
            mine = stems_of("; ".join((me.persona, me.wants, *me.cares, *good_at)))
            fields[name] = chosen_word(list(words), mine, Random(f"{me.handle}{name}"))
        elif schema.get("type") in {"integer", "number"}:
            low = int(schema.get("minimum", 1))
            high = int(schema.get("maximum", dice_sides_max))
            fields[name] = speaker.dice.randint(low, high)
            share = (fields[name] - low) / max(1, high - low)
        else:
            return None
        stated.append(f"{_label(name)}: {fields[name]}.")
    return Thrown(branch.kind, " ".join(stated), fields, share >= 0.5)


def has_open_fields(branch: Branch) -> bool:
    """Whether a kind has a field beside its text that is neither a listed word nor the number of a line."""
    others = ((name, schema) for name, schema in branch.fields.items() if name not in _BESIDE)
    return any(
        isinstance(schema, dict)
        and not (branch.words_of(name) or is_ref(schema) or is_ref(schema.get("items")))
        and schema.get("type") in {"string", "integer", "number"}
        for name, schema in others
    )


def _addressed(handles: Sequence[str], text: str) -> str | None:
    """Whom of these a line calls by name last; none if nobody."""
    called = {handle: text.rfind(name_of(handle)) for handle in handles}
    last = max(handles, key=lambda handle: called[handle])
    return last if called[last] >= 0 else None


def _label(name: str) -> str:
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]


def _mine_before(reading: Reading, name: str) -> Any:
    """What I wrote into a field last; none if I have not."""
    mine = (line.fields for line in reversed(reading.discussion) if reading.is_mine(line))
    return next((fields[name] for fields in mine if name in fields), None)


def _word(speaker: Speaker, branch: Branch, name: str, words: list[str], meant: Meant) -> str | None:
    """A word of a list: what I am for; else the one that was spoken of; else what I chose before."""
    against = [word for word in words if _AGAINST.search(word.lower())]
    others = [word for word in words if word not in against]
    before = _mine_before(speaker.reading, name)
    if against and others:
        if meant.is_for is not None:
            return others[0] if meant.is_for else against[0]
        if before in words and not _CROSS.intersection(meant.moves):
            return str(before)
        return against[0] if _CROSS.intersection(meant.moves) else others[0]
    if before in words:
        # Nothing is decided twice.
        return str(before) if not branch.kind.endswith(_DECIDED) else None
    reading = speaker.reading
    heard = stems_of(" ".join((reading.me.goal, reading.scene))) | reading.stems_heard
    is_decision = branch.kind.endswith(_DECIDED)
    if not is_decision and not any(stems_of(word.replace("-", " ")) & heard for word in words):
        return None
    # What was decided once stays so, also when the line that says so is out of sight.
    dice = Random(f"{speaker.reading.me.handle} {name}") if is_decision else speaker.dice
    return str(chosen_word(list(words), frozenset() if is_decision else heard, dice))


def _number(
    speaker: Speaker, branch: Branch, name: str, schema: Mapping[str, Any], text: str, moves: Sequence[str]
) -> int | float | None:
    low = float(schema.get("minimum", 1))
    high = None if schema.get("maximum") is None else float(schema["maximum"])
    if _LEFT.search(name):
        return _left(speaker.reading, name)
    if _RATED.search(name):
        top = high if high is not None else rating_max
        share = 0.8 if _SURE.intersection(moves) else 0.3 if _UNSURE.intersection(moves) else 0.5
        value = low + (top - low) * share
        return round(value) if top - low > 1 else round(value, 2)
    # A count belongs to a line that speaks of what is counted.
    is_about_it = stems_of(f"{name} {branch.kind.partition('.')[0]}") & stems_of(text)
    return _counted(speaker.reading, name) if is_about_it else None


def _left(reading: Reading, name: str) -> int:
    """How much is left: what the world says is left; else what there was less what the world says has passed."""
    unit = stem(name.lower().split("_")[0])
    texts = [line.text for line in reversed(reading.discussion) if line.origin in {"world", "visitor"}]
    passed = 0
    for text in (*texts, reading.scene, reading.me.goal):
        words = re.findall(r"[\w-]+", text.lower())
        for before, word in pairwise(words):
            if stem(word) == unit and _as_number(before) is not None:
                return _as_number(before) or 0
            if stem(before) == unit and _as_number(word) is not None:
                passed = max(passed, _as_number(word) or 0)
    return max(0, counts_down_from - passed)


def _as_number(word: str) -> int | None:
    return int(word) if word.isdigit() else _NUMBERS.get(word)


def _counted(reading: Reading, name: str) -> int | None:
    """How many of what the field is named after a text of the world tells of: `ten minutes left`; none where the world
    told other numbers since."""
    texts = [line.text for line in reversed(reading.discussion) if line.origin in {"world", "visitor"}]
    wanted = stem(name.lower())
    for text in (*texts, reading.scene, reading.me.goal):
        words = re.findall(r"[\w-]+", text.lower())
        for number, thing in pairwise(words):
            if stem(thing) == wanted and _as_number(number) is not None:
                return _as_number(number)
        if any(word.isdigit() for word in words):
            return None
    return None
