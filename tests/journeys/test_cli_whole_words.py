"""What the command line prints on a terminal is broken between words, never within one."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from glasshouse.cli.drawing.screen import Screen
from glasshouse.cli.drawing.voices import MARGIN, Voices
from glasshouse.views.transcript import TranscriptLine
from tests.journeys.commanding import OPEN, ROOTS, WOOD, drawn, run

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
    "show-ledger": ("show", WOOD, "--ledger"),
    "verify": ("replay", ROOTS, "--verify"),
    "new": ("new", "world", "a-garden-behind-the-old-greenhouse"),
    "graph": (
        "graph",
        "channel",
        "rename",
        "stage",
        "the-stage-behind-the-greenhouse",
        "--dry-run",
        "--run",
        OPEN,
    ),
    "refused": ("show", "r-there-is-no-such-run"),
    "no-runs": ("runs", "--store", "no-such-store-anywhere-in-this-folder.glasshouse"),
    "no-contest": ("leaderboard", "--store", "empty.glasshouse"),
    "import": ("import", "play.glass", "--store", "another-store-for-it.glasshouse"),
}
HEADINGS = {"worlds", "runs"}
"""Tables, whose headings stand in each row or not at all where there is little room."""
ONLY_PIPED = re.compile(
    r"None: the output goes into a pipe.*?once\.|\bworld: |s-[0-9a-f]{16}\.\d+", re.DOTALL
)
"""What a terminal does not show, and ids of sessions, which are new in each play."""


def lines_of(shown: str) -> list[str]:
    return ESCAPES.sub("", shown).splitlines()


def is_too_wide(line: str, columns: int) -> bool:
    """Whether a line is wider than the terminal. A command or digest to paste may be, and one word by itself."""
    is_pasted = re.match(r"  (?:\S+ -m |\S*)glasshouse |(?:digest|recorded|replayed) ", line)
    return len(line) > columns and not is_pasted and len(line.split()) > 1


def over_line_ends(lines: list[str]) -> list[str]:
    """The end of each line together with the beginning of the next."""
    tokens = [BOXES.sub(" ", line).split() for line in lines]
    return [first[-1] + second[0] for first, second in pairwise(tokens) if first and second]


def words_in(*lines: str) -> set[str]:
    return {word.strip(PUNCTUATION) for line in lines for word in BOXES.sub(" ", line).split()}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_word_is_broken_on_a_terminal(command: str, store: str, tmp_path: Path) -> None:
    def printed(folder: str, columns: int | None = None) -> str:
        there = tmp_path / folder
        (there / "thicket").mkdir(parents=True)
        (there / "thicket" / "scenario.yaml").write_text(BAD_WORLD)
        if command == "import":
            run("export", WOOD, "play.glass", "--store", store, cwd=there)
        if command == "no-contest":
            run("play", "thousand-token-wood", "--run-id", "r-1", "--store", "empty.glasshouse", cwd=there)
        if columns is None:
            # In less room, a long path of `doctor` is broken in a pipe, too.
            wide = {"COLUMNS": "400"} if command == "doctor" else {}
            result = run(*COMMANDS[command], cwd=there, GLASSHOUSE_STORE=store, **wide)
        else:
            result = drawn(*COMMANDS[command], columns=columns, cwd=there, GLASSHOUSE_STORE=store)
        return result.stdout + result.stderr

    whole = printed("piped")
    piped = ONLY_PIPED.sub("", whole).splitlines()
    words = words_in(*(piped[1:] if command in HEADINGS else piped))
    known = {*whole.split()}
    assert len(words) > 5

    wrong = {}
    for columns in (40, 60, 80, 120):
        lines = lines_of(printed(str(columns), columns))
        seen = words_in(*[ONLY_PIPED.sub("", line) for line in lines])
        missing = {word for word in words - seen if 0 < len(word) <= columns - MARGIN}
        missing = {word for word in missing if str(tmp_path) not in word}
        cut = [word for word in over_line_ends(lines) if word in known and len(word) <= columns - MARGIN]
        wrong[columns] = missing, cut, [line for line in lines if is_too_wide(line, columns)]
    assert wrong == dict.fromkeys((40, 60, 80, 120), (set(), [], []))


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_a_long_name_and_a_long_word_stay_whole_beside_each_other(columns: int) -> None:
    name, word = "the-gardener-of-the-north-wall", "incomprehensibilities-of-the-trellis"
    said = TranscriptLine(
        id="e", turn=1, kind="seed.planted", who=name, text=f"I see {word} here.", voice="cast"
    )
    screen = Screen(columns, force_terminal=True)

    with screen.capture() as captured:
        Voices().show(screen, said)

    lines = lines_of(captured.get())
    assert all(len(line) <= columns for line in lines)
    assert {name, word} <= words_in(*lines)
