"""What the command line draws, at every width, by its drawing functions: no word is cut, no line is too long."""

from datetime import UTC, datetime

import pytest

from glasshouse.cli.drawing.screen import Screen, draw_table, shortened
from glasshouse.cli.drawing.session_lanes import LineageRead, draw_lineage, lanes_of
from glasshouse.cli.drawing.voices import Voices
from glasshouse.cli.prose import wrapped
from glasshouse.views.transcript import TranscriptLine
from glasshouse.world.state.values import Session


def a_session(name: str, *parents: str, agents: tuple[str, ...] = (), is_open: bool = False) -> Session:
    return Session(
        id=name,
        graph_id="g-1",
        origin="split" if parents else "root",
        parent_session_ids=parents,
        child_session_ids=(),
        agents=agents,
        events=9,
        is_open=is_open,
        recipes=(),
        merged_at=None,
        split_at=f"{parents[0]}.9" if parents else None,
        forked_at=None,
        began_at=datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC),
    )


def test_what_is_shortened_ends_after_a_word_unless_its_first_is_too_long() -> None:
    assert shortened("one two three", 13) == "one two three"
    assert shortened("one two three", 10) == "one two…"
    assert shortened("incomprehensible", 10) == "incompreh…"


def test_prose_is_broken_between_words_and_a_longer_word_stands_whole() -> None:
    path = "/home/somebody/a-store-with-a-long-name.glasshouse"

    assert wrapped(f"Look at {path} once.", 20).split("\n") == ["Look at", path, "once."]
    assert wrapped("  one two three", 10).split("\n") == ["  one two", "  three"]


@pytest.mark.parametrize("width", range(14, 40))
def test_the_cells_of_a_stacked_row_stand_on_one_line_only_if_they_fit(
    width: int, capsys: pytest.CaptureFixture[str]
) -> None:
    row = ("r-1", "won 1", "lost 22", "tied 333")
    draw_table(Screen(width), ("run", "a" * 40, "b", "c"), [row], loose=(), spare=())

    lines = capsys.readouterr().out.splitlines()

    # The heading of the first cell is wider than the screen, and a word is never cut.
    assert all(len(line) <= width for line in lines if "a" * 40 not in line)
    assert [f"{name}: {cell}" in "\n".join(lines) for name, cell in zip("bc", row[2:], strict=True)] == [
        True,
        True,
    ]


@pytest.mark.parametrize("width", range(48, 110))
def test_a_lineage_names_everybody_at_any_width(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    agents = ("the-gardener", "the-keeper", "the-lodger")
    sessions = (a_session("s-1", agents=agents), a_session("s-2", "s-1", agents=agents, is_open=True))

    draw_lineage(LineageRead("s-1", sessions, {"s-1": [0, 3], "s-2": [4, 5]}, {}))

    drawn = capsys.readouterr().out
    assert "…" not in drawn
    assert [drawn.count(name) for name in agents] == [2, 2, 2]
    assert max(map(len, drawn.splitlines())) <= width


def test_a_lane_that_branches_off_crosses_those_that_pass() -> None:
    sessions = [
        a_session("s-1"),
        a_session("s-2"),
        a_session("s-3", "s-1"),
        a_session("s-4", "s-3"),
        a_session("s-5", "s-3"),
        a_session("s-6", "s-2"),
    ]

    lanes = [row.lanes for row in lanes_of(sessions)]

    assert lanes == ["○", "│ ○", "○ │", "├─┼─╮", "○ │ │", "  │ ○", "  ○"]


@pytest.mark.parametrize("minds", [False, True])
def test_a_word_that_has_no_room_beside_its_speaker_stands_below(minds: bool) -> None:
    word = "incomprehensibilities-of-the-trellis"
    line = TranscriptLine(
        id="e", turn=1, kind="agent.spoke", who="ada", text="I see.", voice="cast", thought=word, mood="sly"
    )
    said = TranscriptLine(id="e", turn=1, kind="agent.spoke", who="ada", text=f"I see {word}.", voice="cast")
    screen = Screen(len(word) + 8, force_terminal=True)

    with screen.capture() as captured:
        Voices(has_minds=minds).show(screen, line if minds else said)

    assert word in captured.get()


def said(text: str, channel: str | None = None, **fields: object) -> TranscriptLine:
    return TranscriptLine("s-1.1", 1, "cast", "ada", "agent.spoke", text, dict(fields), channel)


def shown_by(voices: Voices, line: TranscriptLine, capsys: pytest.CaptureFixture[str]) -> str:
    voices.show(Screen(), line)
    return capsys.readouterr().out.strip()


def test_what_a_line_carries_besides_its_words_is_a_mark_and_whole_with_minds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = said(
        "A mast.", answer="yes", builds_on="bo, I put a lamp on the bridge", cites=["s-0123456789abcdef.7"]
    )

    assert shown_by(Voices(), line, capsys) == "ada: A mast. [yes, +]"
    assert shown_by(Voices(), said("A mast.", whom="bo", lit=51), capsys) == "ada: A mast. [bo, 51]"
    assert shown_by(Voices(), said("", whom="bo"), capsys) == "ada: [whom: bo]"
    assert shown_by(Voices(has_minds=True), line, capsys) == (
        "ada: A mast. [answer: yes] [builds_on: bo, I put a lamp on the bridge] [cites: #7]"
    )


def test_who_speaks_on_several_channels_shows_to_whom_from_the_second_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    voices = Voices()
    lines = [said("One.", "moat"), said("Two.", "moat"), said("Three.", "pavilion"), said("Four.", "moat")]

    shown = [shown_by(voices, line, capsys) for line in lines]

    assert shown == ["ada: One.", "ada: Two.", "ada: (to pavilion) Three.", "ada: (to moat) Four."]
