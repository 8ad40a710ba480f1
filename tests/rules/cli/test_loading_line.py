"""The line that says how far a model in a file is loaded."""

import io

import pytest

from glasshouse.cli.loading_line import LoadingLine
from glasshouse.models.local.llama_child import Loading

GB = 10**9
STEPS = [
    Loading("oak", "reading", 0, 4 * GB, 0.0),
    Loading("oak", "reading", GB, 4 * GB, 1.5),
    Loading("oak", "reading", 2 * GB, 4 * GB, 3.0),
    Loading("oak", "over", 4 * GB, 4 * GB, 3.2),
    Loading("oak", "loading", 4 * GB, 4 * GB, 0.0),
    Loading("oak", "loading", 4 * GB, 4 * GB, 12.0),
    Loading("oak", "loading", 4 * GB, 4 * GB, 23.0),
    Loading("oak", "over", 4 * GB, 4 * GB, 23.2),
]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown_on(screen: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("sys.stderr", screen)
    line = LoadingLine()
    for step in STEPS:
        line(step)
    return screen.getvalue()


def test_a_terminal_shows_each_step_in_one_line_and_none_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = shown_on(Terminal(), monkeypatch).split("\r\033[K")[1:]

    assert drawn[1] == "Reading oak: 25% of 4.0 GB."
    assert drawn[5] == "Loading oak (4.0 GB) into llama.cpp: 12 s."
    assert drawn[3] == drawn[-1] == ""
    assert "\n" not in "".join(drawn)


def test_elsewhere_there_is_a_line_every_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown_on(io.StringIO(), monkeypatch).splitlines()

    assert lines == [
        "glasshouse: Reading oak: 25% of 4.0 GB.",
        "glasshouse: Loading oak (4.0 GB) into llama.cpp: 12 s.",
        "glasshouse: Loading oak (4.0 GB) into llama.cpp: 23 s.",
    ]
