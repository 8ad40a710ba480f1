"""Pairing: holding a word that most of the others hold, or its near-twin, and not knowing which.

Chosen by a word that was dealt, a branch for a text alone and one for a castmate's handle. Always holds: the word itself
is never said; what is said of it is true of it; who finds that the others speak of something else says only what is
true of both. Nobody votes before the world calls for it, or twice.

Who has a part in a script says all this in its own words: the game tells the script what to do now (facts) and what to
say it with (slots). Where the world has a kind for doubting somebody, doubts are lines of their own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.reading import Heard, Reading
from glasshouse.troupe.skills.acting import played
from glasshouse.troupe.skills.attributes import attributes, bare_word, things
from glasshouse.troupe.skills.branches import (
    Branch,
    Reply,
    passing,
    plain_branch,
    sentences,
    untold,
    with_line,
)
from glasshouse.troupe.skills.keeping import word_known
from glasshouse.troupe.speaking import Speaker, Spoken, name_of
from glasshouse.troupe.vocabulary import WORD

BOOK: Final = "pairs.txt"
told_cache_texts_max: Final = 2_048
"""Kept so as not to be computed again: what a line says of a word."""
strangers_min: Final = 2
"""From this many others who speak of something else, one thinks that one's own word is the odd one."""

_DOUBTED: Final = 0.4
_DOUBTED_ALOUD: Final = 0.45
_AGREED_ALOUD: Final = 0.4
_TELLING: Final = 0.28
_IMPRESSION: Final = 7.0
"""How much a face weighs beside what was said; a strange thing weighs two."""
_AGREED: Final = 0.25
_FITS: Final = 0.2
_LIFTING: Final = 2
"""After the votes the world calls first for a last word, second for the words that were dealt, third for the stakes."""
_SAID_MAX: Final = 2
"""How often one thing is said of a word, by whoever holds it and by those who take it up."""
_STRANGE: Final = 2.0
_LOOSE: Final = 0.25
_REGISTERS: Final = {
    "grand": "grand", "sly": "sly", "plain": "plain", "shy": "shy", "tender": "shy", "grim": "plain", "eager": "sly"
}  # fmt: skip


class Table(NamedTuple):
    """What the world lets its players do: speak of a word, vote, and perhaps doubt somebody."""

    describing: Branch
    voting: Branch
    vote_field: str
    doubting: Branch | None = None
    doubt_field: str = ""


class Saying(NamedTuple):
    """Something that can be said of a thing: the clause, what it is true of, and what it may be true of."""

    clause: str
    holds: frozenset[str]
    unsure: frozenset[str] = frozenset()
    weight: float = 1.0


def bluffed(speaker: Speaker, branches: Sequence[Branch]) -> Reply | None:
    """Something true of my word; or my vote, when votes are called for."""
    word = bare_word(word_known(speaker.reading))
    table = _table(speaker.reading, branches)
    if not word or table is None or not clauses_of(word):
        return None
    reading = speaker.reading
    facts, slots = _state_of_play(speaker, table, word)
    reply = played(speaker, branches, facts, slots)
    if reply is not None:
        return reply
    if has_voted(reading, table):
        if not speaker.topic.owed:
            return passing(branches, speaker, "pass", BOOK)
        return with_line(table.describing, speaker.speak(table.describing.kind))
    if _is_called(reading):
        return _voted(speaker, table, word)
    return with_line(table.describing, _described(speaker, table, word))


def _table(reading: Reading, branches: Sequence[Branch]) -> Table | None:
    describing = plain_branch(branches)
    pointing = [(branch, field) for branch in branches if (field := _field_of_handles(reading, branch))]
    if describing is None or not pointing:
        return None
    pointing.sort(key=lambda pair: "vote" not in pair[0].kind)
    return Table(describing, *pointing[0], *(pointing[1] if len(pointing) > 1 else ()))


def has_voted(reading: Reading, table: Table) -> bool:
    """Whether I have pointed at somebody."""
    return any(
        reading.is_mine(line) and line.kind == table.voting.kind and table.vote_field in line.fields
        for line in reading.discussion
    )


# What a script is told


def _state_of_play(speaker: Speaker, table: Table, word: str) -> tuple[list[str], dict[str, str]]:
    """What I am to do now and what I know, as facts; and what I say it with."""
    reading = speaker.reading
    theirs = _theirs(reading, table, word)
    facts = ["aware" if theirs else "unaware"]
    slots = {"clause": _clause(speaker, word, theirs)}
    if has_voted(reading, table):
        facts += _after_the_votes(reading, table, word)
        odd = _odd_one(reading, table, word) if len(_votes(reading, table)) > 1 else ""
        slots |= {"word": word, "odd": _called(odd) if odd else ""}
    elif _is_called(reading):
        who, mark = _choice(speaker, table, word, table.voting.words_of(table.vote_field))
        ground = _ground(mark)
        doubted = _last_doubted(reading, table)
        if ground == "blind" and doubted:
            who = doubted
            ground = "steady"
        facts += ["vote", "cover" if theirs else ground]
        slots |= _pointed_at(who, mark)
        if _times_said(reading, mark.clause) >= _SAID_MAX:
            slots["told"] = ""
    elif (line := _doubt_of_me(reading, table)) is not None:
        clause = next((saying.clause for saying in told_in(line.text)), "")
        facts += ["accused", _of_what(reading, table, clause)]
        slots |= {"told": clause, "accuser": _called(line.handle), "name": _name(line.handle)}
    elif not reading.own_text:
        facts.append("first")
    else:
        facts += _at_the_table(speaker, table, word, slots)
    return facts, {name: value for name, value in slots.items() if value}


def _at_the_table(speaker: Speaker, table: Table, word: str, slots: dict[str, str]) -> list[str]:
    """To speak of my word, to agree with somebody, or to doubt somebody."""
    reading = speaker.reading
    is_beat = any(line.origin == "world" for line in reading.fresh)
    if table.doubting is not None and (is_beat or speaker.dice.random() < _DOUBTED_ALOUD):
        who, mark = _choice(speaker, table, word, table.doubting.words_of(table.doubt_field))
        has_ground = (
            mark.strangeness > 0
            and bool(mark.clause)
            and mark.clause.lower() not in reading.own_text
            and _times_said(reading, mark.clause) < _SAID_MAX + mark.is_doubt
        )
        if has_ground or is_beat:
            slots |= _pointed_at(who, mark if has_ground else Mark())
            return ["doubt", _ground(mark) if has_ground else "no-ground"]
    agreed = _agreed_with(reading, table, word)
    is_agreeing = agreed is not None and speaker.dice.random() < _AGREED_ALOUD
    if agreed is not None and is_agreeing and _times_said(reading, agreed[1]) < _SAID_MAX:
        slots |= {"friend": _called(agreed[0]), "told": agreed[1]}
        return ["describe", "agree"]
    return ["describe"]


def _after_the_votes(reading: Reading, table: Table, word: str) -> list[str]:
    """How the votes lie, and what the world has called for since: a last word, the words that were dealt, the stakes."""
    votes = _votes(reading, table)
    mine = votes.count(reading.me.handle)
    if len(votes) < len({*table.voting.words_of(table.vote_field), reading.me.handle}):
        return []
    facts = ["caught" if _is_most(votes, reading.me.handle) else "free", "pointed-at" if mine else "spared"]
    asked = len(_calls_after_the_votes(reading, table))
    if asked < _LIFTING:
        return [*facts, "last" if asked else "waiting"]
    lifted = _lifted(reading, table, word)
    if asked == _LIFTING:
        return [*facts, "lift", _how_mine_goes(lifted.values())]
    odd = _odd_one(reading, table, word)
    if not odd:
        return [*facts, "pay"]
    is_mine = odd == reading.me.handle
    has_won = _is_most(votes, odd) != is_mine
    return [*facts, "pay", "odd" if is_mine else "even", "won" if has_won else "lost"]


def _votes(reading: Reading, table: Table) -> list[str]:
    """At whom everybody has pointed."""
    return [
        str(line.fields.get(table.vote_field, ""))
        for line in reading.discussion
        if line.kind == table.voting.kind
    ]


def _is_most(votes: Sequence[str], handle: str) -> bool:
    """Whether more point at this one than at anybody else."""
    count = votes.count(handle)
    return bool(count) and all(votes.count(other) < count for other in {*votes} - {handle})


def _calls_after_the_votes(reading: Reading, table: Table) -> list[int]:
    """Where in the discussion the world has called for something since the last vote."""
    last_vote = max(at for at, line in enumerate(reading.discussion) if line.kind == table.voting.kind)
    return [at for at, line in enumerate(reading.discussion) if at > last_vote and line.origin == "world"]


def _lifted(reading: Reading, table: Table, word: str) -> dict[str, bool]:
    """Who has told the word that they were dealt, and whether it is mine."""
    calls = _calls_after_the_votes(reading, table)
    ends = [*calls, len(reading.discussion)]
    lines = reading.discussion[calls[_LIFTING - 1] : ends[_LIFTING]]
    return {
        line.handle: word in WORD.findall(line.text.lower())
        for line in lines
        if line.origin == "cast" and not reading.is_mine(line)
    }


def _how_mine_goes(others: Collection[bool]) -> str:
    """How my word goes with those that were told before mine."""
    if not others:
        return "before"
    if all(others):
        return "match"
    if any(others):
        return "mixed"
    return "alone" if len(others) > 1 else "differs"


def _odd_one(reading: Reading, table: Table, word: str) -> str:
    """Who holds the odd word, once all have told theirs; empty before, or where their lines leave it open."""
    if len(_calls_after_the_votes(reading, table)) <= _LIFTING:
        return ""
    lifted = _lifted(reading, table, word)
    others = [handle for handle, is_mine in lifted.items() if not is_mine]
    if len(lifted) + 1 < len(_votes(reading, table)):
        return ""
    if len(others) == len(lifted):
        return reading.me.handle
    return others[0] if len(others) == 1 else ""


def _doubt_of_me(reading: Reading, table: Table) -> Heard | None:
    """The newest doubt of me since I spoke: whoever doubts the same gets the same answer."""
    mine = [
        line for line in _doubts(reading, table) if line.fields.get(table.doubt_field) == reading.me.handle
    ]
    fresh = {line.ref for line in reading.fresh}
    return next((line for line in reversed(mine) if line.ref in fresh), None)


def _of_what(reading: Reading, table: Table, clause: str) -> str:
    """What I am doubted for: a thing I said of my word, a thing I had doubted, or my face."""
    if not clause:
        return "unquoted"
    mine = [
        line for line in reading.discussion if reading.is_mine(line) and clause.lower() in line.text.lower()
    ]
    return "quoted" if any(line.kind == table.describing.kind for line in mine) else "had-doubted"


def _times_said(reading: Reading, clause: str) -> int:
    """In how many lines a thing was said of a word, by anybody."""
    return sum(bool(clause) and clause.lower() in line.text.lower() for line in reading.discussion)


def _last_doubted(reading: Reading, table: Table) -> str:
    """Whom I doubted last; empty if nobody."""
    kind = table.doubting.kind if table.doubting is not None else None
    mine = [line for line in reading.discussion if reading.is_mine(line) and line.kind == kind]
    return str(mine[-1].fields.get(table.doubt_field, "")) if mine else ""


def _ground(mark: Mark) -> str:
    if mark.strangeness <= 0 or not mark.clause:
        return "blind"
    return "doubter" if mark.is_doubt else "ground"


def _pointed_at(who: str, mark: Mark) -> dict[str, str]:
    return {"pick": who, "suspect": _called(who), "name": _name(who), "told": mark.clause}


def _name(handle: str) -> str:
    """How somebody is addressed: the last word of the name."""
    return name_of(handle).split()[-1]


def _called(handle: str) -> str:
    """How somebody is spoken of."""
    return f"the {_name(handle)}"


def _agreed_with(reading: Reading, table: Table, word: str) -> tuple[str, str] | None:
    """The last of what was just said that is true of my word, and who said it."""
    fresh = {line.ref for line in reading.fresh}
    true = [
        (line.handle, told_in(line.text)[0].clause)
        for line in _descriptions(reading, table)
        if line.ref in fresh and told_in(line.text) and word in told_in(line.text)[0].holds
    ]
    return true[-1] if true else None


def _choice(speaker: Speaker, table: Table, word: str, offered: Sequence[str]) -> tuple[str, Mark]:
    """Whom I suspect most, and what speaks against them; who is found out points where the others do."""
    reading = speaker.reading
    others = [handle for handle in offered if handle != reading.me.handle]
    spoke = [handle for handle in others if handle in _others(reading)] or others
    marks = {handle: mark_of(reading, table, handle, word) for handle in spoke}
    worst = {handle: mark.strangeness + _IMPRESSION * speaker.dice.random() for handle, mark in marks.items()}
    if _theirs(reading, table, word):
        worst = {handle: float(_times_doubted(reading, table, handle)) for handle in spoke}
    top = max(worst.values())
    who = speaker.dice.choice([handle for handle in spoke if worst[handle] == top])
    return who, marks[who]


def _times_doubted(reading: Reading, table: Table, who: str) -> int:
    """How often somebody was doubted, by name or by a line that points at them."""
    said = [line for line in reading.heard if line.origin == "cast"]
    pointed = {table.doubt_field, table.vote_field} - {""}
    return sum(
        name_of(who) in line.text or any(line.fields.get(field) == who for field in pointed) for line in said
    )


def clauses_of(word: str) -> dict[str, Saying]:
    """Everything one can say of a thing without naming it."""
    return {
        clause: saying
        for clause, saying in sayings().items()
        if word in saying.holds and word not in WORD.findall(clause.lower())
    }


@lru_cache(maxsize=1)
def sayings() -> MappingProxyType[str, Saying]:
    """What can be said of things: what was written of some of them, then what holds of many."""
    rows = shelf.rows("likenesses.tsv")
    by_clause = {clause: Saying(clause, frozenset(names.split())) for clause, names in rows}
    for attribute in attributes().values():
        holds = frozenset(thing.name for thing in things().values() if attribute.name in thing.holds)
        unsure = frozenset(thing.name for thing in things().values() if attribute.name in thing.unsure)
        by_clause |= {clause: Saying(clause, holds, unsure, _LOOSE) for clause in attribute.yes}
    return MappingProxyType(by_clause)


@lru_cache(maxsize=told_cache_texts_max)
def told_in(text: str) -> tuple[Saying, ...]:
    """What a line says of words, in its order: first of its speaker's own, then what it takes up of another's."""
    lower = text.lower()
    starts = sorted((at, clause) for clause in sayings() if (at := lower.find(clause.lower())) >= 0)
    return tuple(sayings()[clause] for _, clause in starts)


class Mark(NamedTuple):
    """How ill somebody's lines go with my word, what goes worst with it, and whether that was a doubt of what is true."""

    strangeness: float = 0.0
    clause: str = ""
    is_doubt: bool = False


def mark_of(reading: Reading, table: Table, handle: str, word: str) -> Mark:
    """What speaks against somebody, by their own lines and by what of other people's they could not place."""
    total = 0.0
    worst = Mark(-1.0)
    for line in (*_descriptions(reading, table), *_doubts(reading, table)):
        if line.handle == handle:
            for mark in _marks(reading, line, table, word):
                total += mark.strangeness
                if mark.clause and mark.strangeness >= worst.strangeness:
                    worst = mark
    return worst._replace(strangeness=total)


def _marks(reading: Reading, line: Heard, table: Table, word: str) -> list[Mark]:
    said = told_in(line.text)
    if not said:
        return []
    if table.doubting is not None and line.kind == table.doubting.kind:
        # Who is doubted may have said it, or have doubted it: only in the first case is the doubt a doubt of it.
        whom = line.fields.get(table.doubt_field)
        theirs = [line for line in reading.discussion if line.handle == whom]
        texts = [line.text.lower() for line in theirs if line.kind == table.describing.kind]
        return _marks_for_doubt(
            [saying for saying in said if any(saying.clause.lower() in text for text in texts)], word
        )
    first, *others = said
    is_strange = word not in first.holds and word not in first.unsure
    marks = [Mark((_STRANGE if is_strange else -_FITS) * first.weight, first.clause)]
    if table.doubting is None and not any(cue in line.text.lower() for cue in _agreeing()):
        marks += _marks_for_doubt(others, word)
    return marks


def _marks_for_doubt(doubted: Sequence[Saying], word: str) -> list[Mark]:
    """What it counts for that somebody doubted what is true of my word."""
    return [Mark(_STRANGE / 2, saying.clause, is_doubt=True) for saying in doubted if word in saying.holds]


@lru_cache(maxsize=1)
def _agreeing() -> tuple[str, ...]:
    """The words by which one says that another is right."""
    lines = (line.lower().strip(". ") for line in shelf.sections(BOOK)["agree"])
    return tuple(max(re.split(r"<\w+>", line), key=len).strip() for line in lines)


def _descriptions(reading: Reading, table: Table) -> list[Heard]:
    """What others said of their words: lines with a text alone. A vote says what another said."""
    lines = [line for line in reading.heard if line.origin == "cast" and not line.fields_text]
    return lines if table.doubting is None else [line for line in lines if line.kind == table.describing.kind]


def _doubts(reading: Reading, table: Table) -> list[Heard]:
    kind = table.doubting.kind if table.doubting is not None else None
    return [line for line in reading.heard if line.origin == "cast" and line.kind == kind]


def _others(reading: Reading) -> list[str]:
    return list(dict.fromkeys(line.handle for line in reading.heard if line.origin == "cast"))


def _theirs(reading: Reading, table: Table, word: str) -> str:
    """What the others seem to hold, where it is not what I hold; empty while I may think that we hold the same."""
    said = [
        (line.handle, told_in(line.text)[0]) for line in _descriptions(reading, table) if told_in(line.text)
    ]
    said = [(who, saying) for who, saying in said if saying.weight > _LOOSE]
    strange = {who for who, saying in said if word not in saying.holds}
    if len(strange) < strangers_min:
        return ""
    things = dict.fromkeys(thing for _, saying in said for thing in sorted(saying.holds) if thing != word)
    return max(things, key=lambda thing: sum(thing in saying.holds for _, saying in said), default="")


def _described(speaker: Speaker, table: Table, word: str) -> Spoken:
    reading = speaker.reading
    theirs = _theirs(reading, table, word)
    clause = _clause(speaker, word, theirs)
    register = _REGISTERS.get(speaker.voice.register, "")
    leads = untold(reading, "lead", BOOK, clause=clause)
    if register:
        leads = untold(reading, f"lead {register}", BOOK, clause=clause) * 2 + leads
    if speaker.topic.owed:
        leads = untold(reading, "lead beside", BOOK, clause=clause) or leads
    leads = leads or sentences("lead", BOOK, clause=clause)
    aim = (
        "they hold something else, so I stay where both are true" if theirs else "I say something true of it"
    )
    more = _nodded(speaker, table, word) if theirs else _on_somebody(speaker, table, word, register)
    return speaker.dress([f"{lead}{more}" for lead in leads], "answer", aim)


def _clause(speaker: Speaker, word: str, theirs: str) -> str:
    """Something true of my word that was not said yet; where the others hold another, true of that, too."""
    visible = speaker.reading.visible_text
    clauses = clauses_of(word)
    shared = [clause for clause, saying in clauses.items() if saying.weight > _LOOSE]
    if theirs:
        safe = [clause for clause, saying in clauses.items() if theirs in saying.holds]
    else:
        # What is true of one thing alone tells everybody who holds another; one keeps it back most of the time.
        is_telling = speaker.dice.random() < _TELLING
        safe = [clause for clause in shared if (len(clauses[clause].holds) == 1) == is_telling]
    for some in ([clause for clause in safe if clause in shared], safe, shared, list(clauses)):
        fresh = [clause for clause in some if clause.lower() not in visible]
        if fresh:
            return speaker.dice.choice(fresh)
    return speaker.dice.choice(list(clauses))


def _on_somebody(speaker: Speaker, table: Table, word: str, register: str) -> str:
    """Now and then a word on what another said: that it does not fit, or that it does."""
    reading = speaker.reading
    dice = speaker.dice
    if dice.random() >= _DOUBTED:
        return _nodded(speaker, table, word)
    marks = {who: mark_of(reading, table, who, word) for who in _others(reading)}
    who = max(marks, key=lambda handle: marks[handle].strangeness, default="")
    if not who or marks[who].strangeness <= 0 or not marks[who].clause or marks[who].is_doubt:
        return ""
    if marks[who].clause.lower() in reading.own_text:
        return ""
    gaps = {"suspect": name_of(who), "told": marks[who].clause}
    some = untold(reading, "doubt", BOOK, **gaps)
    if register:
        some += untold(reading, f"doubt {register}", BOOK, **gaps) * 2
    return dice.choice(some or [""])


def _nodded(speaker: Speaker, table: Table, word: str) -> str:
    """Once in a while, that another is right."""
    reading = speaker.reading
    dice = speaker.dice
    if dice.random() >= _AGREED:
        return ""
    agreed = _agreed_with(reading, table, word)
    if agreed is None:
        return ""
    who, clause = agreed
    return dice.choice(untold(reading, "agree", BOOK, suspect=name_of(who), told=clause) or [""])


def _voted(speaker: Speaker, table: Table, word: str) -> Reply:
    who, mark = _choice(speaker, table, word, table.voting.words_of(table.vote_field))
    spoken = speaker.dress(
        _pointing(speaker, who, mark),
        "object",
        f"{name_of(who)} does not hold what I hold, or must seem not to",
    )
    return with_line(table.voting, spoken, **{table.vote_field: who})


def _pointing(speaker: Speaker, who: str, mark: Mark) -> list[str]:
    """How one says whom one points at, and why, as far as there is a why."""
    reading = speaker.reading
    register = _REGISTERS.get(speaker.voice.register, "")
    gaps = {"suspect": name_of(who), "told": mark.clause}
    if speaker.topic.owed:
        heading = "vote beside"
    elif mark.strangeness <= 0 or not mark.clause:
        heading = "vote blind"
    else:
        heading = "vote doubter" if mark.is_doubt else "vote"
    more = sentences(f"vote {register}", BOOK, **gaps) if register and heading == "vote" else []
    return [*more, *more, *untold(reading, heading, BOOK, **gaps)] or sentences(heading, BOOK, **gaps)


def _field_of_handles(reading: Reading, branch: Branch) -> str:
    """The field of a branch that takes the handle of somebody around."""
    for field in branch.fields:
        words = branch.words_of(field)
        if len(words) > 1 and field != "winner" and all(f"{handle} (" in reading.around for handle in words):
            return field
    return ""


def _is_called(reading: Reading) -> bool:
    """Whether the newest thing that the world showed calls for votes."""
    shown = [line.text.lower() for line in reading.discussion if line.origin == "world"] or [
        reading.scene.lower()
    ]
    return any(cue in shown[-1] for cue in shelf.sections(BOOK)["calls"])
