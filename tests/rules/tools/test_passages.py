"""Passages of documents: how texts are divided, and which pieces are about some words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.tools.documents.passages import (
    Passage,
    passage_chars_max,
    passages_about,
    passages_found_max,
    passages_in,
)

NOTES = """# The kettle

The kettle came from the harbour. It is copper.

It sings at dusk.

# The ladder

The ladder is wet, and nobody says why.
"""


def test_a_passage_begins_with_its_heading_and_knows_its_lines() -> None:
    kettle, ladder = passages_in("notes.md", NOTES)

    assert (kettle.first, kettle.last) == (1, 5)
    assert kettle.text.startswith("# The kettle\n\nThe kettle came")
    assert kettle.text.endswith("It sings at dusk.")
    assert (ladder.first, ladder.last) == (7, 9)
    assert ladder.text == "# The ladder\n\nThe ladder is wet, and nobody says why."


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_as_editors_count_them(end: str) -> None:
    text = end.join(["One\x0cpage.", "", "Another\u2028page.", "The kettle."])

    (passage,) = passages_in("pages.txt", text)

    assert (passage.first, passage.last) == (1, 4)


def test_a_text_without_words_has_no_passages() -> None:
    assert passages_in("empty.md", " \n\n\t\n") == []


def test_a_line_that_is_too_long_is_divided_at_blanks() -> None:
    line = "lantern " * 300

    pieces = passages_in("long.txt", line)

    assert [(piece.first, piece.last) for piece in pieces] == [(1, 1)] * 3
    assert all(len(piece.text) <= passage_chars_max for piece in pieces)
    assert " ".join(piece.text for piece in pieces) == line.strip()


@given(st.text(alphabet="ab #\n\t é", max_size=4_000))
def test_passages_hold_every_word_once_and_in_order(text: str) -> None:
    passages = passages_in("any.md", text)

    assert " ".join(passage.text for passage in passages).split() == text.split() or _is_cut(passages)
    assert all(len(passage.text) <= passage_chars_max for passage in passages)
    lines = text.splitlines()
    for passage in passages:
        assert 1 <= passage.first <= passage.last <= len(lines)
        assert passage.text.split("\n")[0].strip() in lines[passage.first - 1]


def _is_cut(passages: list[Passage]) -> bool:
    """Whether a word alone was longer than a passage, and had to be cut."""
    return any(len(word) >= passage_chars_max // 2 for passage in passages for word in passage.text.split())


@pytest.mark.parametrize(
    ("words", "headings"),
    [
        ("kettles at dusk", ["kettle"]),
        ("Why is the ladder wet?", ["ladder"]),
        ("ladder, kettle", ["kettle", "ladder"]),
        ("the and of it", []),
        ("umbrella", []),
    ],
)
def test_a_question_finds_what_is_about_its_words(words: str, headings: list[str]) -> None:
    passages = passages_in("notes.md", NOTES)

    about = [
        passage.text.split("\n")[0].removeprefix("# The ") for passage in passages_about(words, passages)
    ]

    assert about == headings


def test_rare_words_count_more_than_common_ones_and_no_more_than_five_are_found() -> None:
    common = [f"The garden wall, part {number}." for number in range(30)]
    texts = [*common, "The heron moved the gate."]
    passages = [passages_in(f"{number}.md", text)[0] for number, text in enumerate(texts)]

    about = passages_about("Who moved the heron in the garden?", passages)

    assert about[0].text == "The heron moved the gate."
    assert len(about) == passages_found_max
    assert [passage.path for passage in about[1:]] == ["0.md", "1.md", "2.md", "3.md"]
