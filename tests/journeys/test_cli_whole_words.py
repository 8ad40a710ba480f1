"""What the command line prints on a terminal is broken between words, never within one."""

import re
from pathlib import Path

import pytest

from glasshouse.cli.drawing.screen import Screen
from glasshouse.cli.drawing.voices import MARGIN, Voices
from glasshouse.views.transcript import TranscriptLine
from tests.journeys.commanding import OPEN, ROOTS, WOOD, run

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
BOXES = re.compile(r"[\u2500-\u257f]")
PUNCTUATION = "[]():,."
"""In a pipe a name stands before a colon and a title in brackets; on a terminal each stands by itself."""
BAD_WORLD = """name: thicket
title: A thicket
cast: [nobody-of-that-name-anywhere, somebody-else-entirely]
turns: a great many of them
wehre: behind the old greenhouse, where nobody has been for years
"""
COMMANDS = {
    "worlds": ("worlds",),
    "check": ("check", "thicket"),
    "show": ("show", WOOD, "--as", "audience"),
    "show-numbers": ("show", ROOTS, "--numbers"),
    "why": ("why", "20", "--run", WOOD),
    "compare": ("compare", WOOD, OPEN),
    "runs": ("runs",),
    "tree": ("tree", ROOTS),
    "doctor": ("doctor",),
    "play": ("play", "mystery-roots", "--minds", "--run-id", "r-1", "--store", "own.glasshouse"),
}
HEADINGS = {"worlds", "runs"}
"""Tables, whose headings stand in each row or not at all where there is little room."""
ONLY_PIPED = re.compile(
    r"None: the output goes into a pipe.*?once\.|\bworld: |s-[0-9a-f]{16}\.\d+", re.DOTALL
)
"""What a terminal does not show, and ids of sessions, which are new in each play."""


def lines_seen(shown: str, columns: int) -> list[str]:
    """The lines as a terminal shows them: it breaks one that is too long. What is pasted stays one line."""
    lines = []
    for line in ESCAPES.sub("", shown).splitlines():
        width = len(line) if re.match(r"  (?:\S+ -m |\S*)glasshouse |digest ", line) else columns
        lines += [line[at : at + width] for at in range(0, len(line), width or 1)]
    return lines


def words_in(*lines: str) -> set[str]:
    return {word.strip(PUNCTUATION) for line in lines for word in BOXES.sub(" ", line).split()}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_word_is_broken_on_a_terminal(command: str, store: str, tmp_path: Path) -> None:
    def printed(folder: str, **more: str) -> str:
        (tmp_path / folder / "thicket").mkdir(parents=True)
        (tmp_path / folder / "thicket" / "scenario.yaml").write_text(BAD_WORLD)
        return run(*COMMANDS[command], cwd=tmp_path / folder, GLASSHOUSE_STORE=store, **more).stdout

    wide = {"COLUMNS": "400"} if command == "doctor" else {}  # Else a long path is broken in a pipe, too.
    piped = ONLY_PIPED.sub("", printed("piped", **wide)).splitlines()
    words = words_in(*(piped[1:] if command in HEADINGS else piped))
    assert len(words) > 8

    broken = {}
    for columns in (40, 80, 120):
        terminal = {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": str(columns)}
        lines = lines_seen(printed(str(columns), **terminal), columns)
        broken[columns] = {word for word in words - words_in(*lines) if 0 < len(word) <= columns - MARGIN}
    assert broken == {40: set(), 80: set(), 120: set()}


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_a_long_name_and_a_long_word_stay_whole_beside_each_other(columns: int) -> None:
    name, word = "the-gardener-of-the-north-wall", "incomprehensibilities-of-the-trellis"
    said = TranscriptLine(
        id="e", turn=1, kind="seed.planted", who=name, text=f"I see {word} here.", voice="cast"
    )
    screen = Screen(columns, force_terminal=True)

    with screen.capture() as captured:
        Voices().show(screen, said)

    lines = lines_seen(captured.get(), columns)
    assert {name, word} <= words_in(*lines)
