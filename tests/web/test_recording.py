"""The recording behind the empty page: a real play, small, and the same each time it is made."""

from __future__ import annotations

import json
from typing import Any, Final

from tools.recording import FILE, recorded, recording_seconds

file_bytes_max: Final = 40_000
"""It is loaded on the first visit."""


def recording() -> dict[str, Any]:
    text = FILE.read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text[text.index("{") :].rstrip().removesuffix(";"))
    return data


def test_the_recording_is_what_its_script_makes() -> None:
    assert FILE.read_text(encoding="utf-8") == recorded(), "run: python -m tools.recording"


def test_it_is_small_and_has_no_thoughts() -> None:
    data = recording()

    assert FILE.stat().st_size <= file_bytes_max
    assert data["view"]["role"] == "spectator"
    assert all("thought" not in creature for creature in data["view"]["creatures"].values())


def test_graphs_meet_in_it_within_its_time_and_in_order() -> None:
    data = recording()
    times = [record["at"] for record in data["records"]]

    assert times == sorted(times)
    assert 0 < times[0] < times[-1] < recording_seconds == data["seconds"]
    assert [record["k"] for record in data["records"]] == list(
        range(data["view"]["k"] + 1, data["view"]["k"] + 1 + len(times))
    )
    assert len(data["view"]["graphs"]) > 1
    assert [record["row"]["icon"] for record in data["records"]].count("merge") >= 1
