"""Tables and fields in words: nothing is cut, whatever the width."""

import pytest
from rich.console import Console

from glasshouse.cli.drawing.causes import gist, inline_chars_max
from glasshouse.cli.drawing.screen import Screen, column_chars_min, draw_table, fitted, value_in_words

HEADINGS = ("run", "world", "winner", "cost", "seed")
ROWS = [
    (
        "r-1a2b3c",
        "thousand-token-wood",
        "sprout-guesser",
        "17 calls, 24,511 tokens, free",
        "a kettle that hums",
    ),
    ("r-9f8e7d", "hatbox-and-cello", "", "43 calls", "a wedding cake with the candles still lit"),
]


def drawn(width: int, capsys: pytest.CaptureFixture[str], *, colour: bool) -> str:
    screen = Screen(width, force_terminal=colour)
    draw_table(screen, HEADINGS, ROWS, loose=("world", "winner", "cost"), spare=("seed",))
    return capsys.readouterr().out


@pytest.mark.parametrize("colour", [True, False])
@pytest.mark.parametrize("width", [40, 60, 80, 160])
def test_no_cell_is_cut_at_any_width(width: int, colour: bool, capsys: pytest.CaptureFixture[str]) -> None:
    result = drawn(width, capsys, colour=colour)

    lines = [Console().render_str(line).plain for line in result.splitlines()]
    assert "…" not in result
    assert all(len(line.rstrip()) <= width or "\x1b" in line for line in lines)
    words = " ".join(result.split())
    for cell in ("r-1a2b3c", "thousand-token-wood", "sprout-guesser", "24,511", "43 calls"):
        assert cell in words


def test_on_a_narrow_screen_rows_are_stacked_with_every_cell(capsys: pytest.CaptureFixture[str]) -> None:
    result = drawn(40, capsys, colour=False).splitlines()

    assert result[0] == "r-1a2b3c"
    assert "  world: thousand-token-wood" in result
    assert "  seed: a kettle that hums" in result
    assert not any("winner:" in line for line in result[result.index("r-9f8e7d") :])


def test_loose_columns_give_way_first_then_spare_ones_go_then_nothing_fits() -> None:
    natural = {"a": 10, "b": 30, "c": 10}

    least = {"b": column_chars_min}

    assert fitted(natural, 54, least, ("c",)) == natural
    assert fitted(natural, 44, least, ("c",)) == {"a": 10, "b": 20, "c": 10}
    assert fitted(natural, 30, least, ("c",)) == {"a": 10, "b": 18}
    assert fitted(natural, 10 + column_chars_min, least, ("c",)) is None


def test_the_widest_of_the_loose_columns_gives_way_first() -> None:
    natural = {"a": 20, "b": 40}

    assert fitted(natural, 52, dict.fromkeys(natural, 16), ()) == {"a": 20, "b": 30}


def test_fields_are_told_in_words_and_none_is_hidden() -> None:
    payload = {
        "text": "Is it\nround?",
        "answer": "yes",
        "sure": False,
        "of": ["a", "b"],
        "where": {"x": 1, "y": None},
        "long": "x" * (inline_chars_max + 1),
    }

    result = gist(payload)

    assert result.startswith("Is it round? — answer: yes; sure: no; of: a, b; where: (x: 1; y: none); ")
    assert result.endswith(f"long: {inline_chars_max + 1} characters")
    assert gist({"reason": "tired"}) == "tired"
    assert gist({"reason": "tired", "text": "I rest."}) == "I rest. — reason: tired"
    assert value_in_words(["s-1.2"], {"s-1.2": "12"}.__getitem__) == "12"
    assert value_in_words("\x1b[31m") == "\\u001b[31m"
