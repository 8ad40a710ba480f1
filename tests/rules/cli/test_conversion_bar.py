"""The bar of a conversion: seen by a person who waits, and by nobody else."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from glasshouse.cli.conversion_bar import ConversionBar


class Terminal(io.StringIO):
    """Text that somebody watches."""

    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, stderr: io.StringIO, *steps: tuple[int, int]) -> str:
    monkeypatch.setattr(sys, "stderr", stderr)
    bar = ConversionBar(Path("somewhere/show.glasshouse"))
    for done, count in steps:
        bar.show(done, count)
    return stderr.getvalue()


def test_a_person_sees_what_is_done_and_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")

    text = shown(monkeypatch, Terminal(), (4_096, 9_000), (8_192, 9_000), (9_000, 9_000))

    assert "show.glasshouse is from an older version. Converting its events" in text
    assert "9000/9000" in text


def test_nothing_is_shown_where_nobody_watches_or_nothing_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, io.StringIO(), (4_096, 9_000), (9_000, 9_000)) == ""
    assert shown(monkeypatch, Terminal(), (180, 180)) == ""
