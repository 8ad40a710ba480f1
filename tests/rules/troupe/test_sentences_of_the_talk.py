"""The sentences of the general talk: each is one move, and whoever hears it knows which."""

from collections import Counter

import pytest

from glasshouse.troupe import data_files as shelf
from glasshouse.troupe.grammar import Pattern, cores, with_capitals
from glasshouse.troupe.talk.replies import ANSWERS, ECHOES, OVERHEARD
from glasshouse.troupe.talk.understanding import TALK, moves, part_chars_min, understood

SLOTS = {
    "you": "Ida",
    "other": "Otto",
    "want": "to cross the river",
    "help": "cross the river",
    "chore": "sweep the yard",
    "goal": "find the goat",
    "option": "we mend it",
    "deed": "hid the key",
    "thing": "the gate",
    "fact": "I keep bees",
    "tally": "Ida says we mend it",
}
MANNERS = frozenset({"warm", "bold", "dry", "sly", "nervous", "eager", "sad", "cross"})


def spoken(pattern: Pattern) -> str:
    text = pattern.texts[0]
    for slot, more in zip(pattern.slots, pattern.texts[1:], strict=True):
        text += SLOTS.get(slot, f"the {slot}") + more
    return with_capitals(text + pattern.mark)


@pytest.mark.parametrize("heading", moves())
def test_a_sentence_is_heard_as_the_move_it_was_said_for(heading: str) -> None:
    wrong = [
        spoken(pattern)
        for pattern in cores(TALK, heading)
        if len(max((text.strip() for text in pattern.texts), key=len)) >= part_chars_min
        and heading.partition("/")[0] not in {said.move for said in understood(spoken(pattern))}
    ]

    assert wrong == []


def test_no_sentence_stands_under_two_moves() -> None:
    lines = {
        (line.rstrip(".?!").lower(), heading.partition("/")[0])
        for heading, some in shelf.sections(f"grammar/{TALK}.txt").items()
        for line in some
    }

    assert [line for line, count in Counter(line for line, _ in lines).items() if count > 1] == []


def test_every_manner_is_one_that_a_temper_can_have() -> None:
    named = {heading.partition("/")[2] for heading in moves()} - {"", "given"}

    assert {name for name in named if "." not in name} <= MANNERS
    assert {manner for _, manner in shelf.rows("manners.tsv")} == MANNERS


def test_every_sort_of_event_has_two_deeds_and_each_is_reported() -> None:
    sorts = {sort for _, sort, *_ in shelf.rows("event_sorts.tsv")} | {"guard"}
    deeds = {heading.partition("/")[2] for heading in moves() if "." in heading}

    assert deeds == {f"{sort}.{number}" for sort in sorts for number in (1, 2)}
    for deed in deeds:
        assert len(cores(TALK, f"change-act/{deed}")) == 1
        assert len(cores(TALK, f"report-on/{deed}")) == 1


def test_every_move_that_answers_another_has_sentences() -> None:
    answering = {
        move for table in (ANSWERS, ECHOES, OVERHEARD) for several in table.values() for move in several
    }

    assert sorted(answering - {heading.partition("/")[0] for heading in moves()}) == []


def test_a_name_before_a_sentence_does_not_hide_its_move() -> None:
    assert [said.move for said in understood("Big Otto, then count me in.")] == ["settle"]
    assert [said.move for said in understood("Bless it, then count me in.")] == ["settle"]
    assert [said.move for said in understood("I saw a man on the hill, then count me in.")] == []
