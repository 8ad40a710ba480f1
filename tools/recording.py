"""Records the merge that plays behind the empty page: a real play of the offline troupe, as the page's views and records.

`python -m tools.recording` writes `web/static/page/empty/recording.js` anew. The page reads nothing else of the play. Always
holds: the same sources give the same file.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from glasshouse import Event, MemoryStore, Terrarium
from glasshouse.runtime.clock import SeededIds
from glasshouse.views.page_fold import PageFold
from glasshouse.views.reading_time import seconds_to_read

WORLD: Final = "three-ways-in"
FILE: Final = Path(__file__).parent.parent / "src/glasshouse/web/static/page/empty/recording.js"
recording_seconds: Final = 20.0
"""How long the recording takes."""
merge_seconds: Final = 2.0
"""How long a merge is looked at, before everything is fitted into the time."""
lines_before: Final = 2
"""How many lines are read before the first merge."""
last_line_seconds: Final = 5.0
"""How long the last line is looked at. It stays when the recording is over."""
_DROPPED: Final = ("scene", "contest", "approvals", "tools")
"""Parts of a view that the empty page does not draw; they stay, empty."""


class Moment(NamedTuple):
    """An event that is looked at, and for how long."""

    k: int
    seconds: float


def recorded() -> str:
    """The file's text."""
    fold = PageFold("spectator")
    views: list[bytes] = [msgspec.json.encode(fold.view)]
    records: list[Any] = []
    for event in asyncio.run(_played()):
        records.append(msgspec.to_builtins(fold.fold(event)))
        views.append(msgspec.json.encode(fold.view))
    moments = _moments(records)
    first, last = moments[0].k, moments[-1].k
    whole = sum(moment.seconds for moment in moments)
    times: dict[int, float] = {}
    at = 0.0
    for moment in moments:
        times[moment.k] = round(at * recording_seconds / whole, 1)
        at += moment.seconds
    view = json.loads(views[first])
    for name in _DROPPED:
        view[name] = {} if name != "contest" else {"teams": {}, "score": {}, "verdicts": [], "sealed": {}}
    view["runs"] = {name: {**run, "goal": ""} for name, run in view["runs"].items()}
    kept = [{**record, "at": _time_of(record["k"], times)} for record in records[first:last]]
    data = {"seconds": recording_seconds, "view": view, "records": kept}
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return (
        "// Written by `python -m tools.recording` from a play of the offline troupe: a view, and the records behind it with their seconds.\n"
        f"export const recording = {text};\n"
    )


async def _played() -> tuple[Event, ...]:
    """The events of a play whose ids are the same each time."""
    async with Terrarium(MemoryStore(), ids=SeededIds(1)) as t:
        run = await t.open_world(WORLD)
        await t.run(run.id)
        return await t.run_events(run.id)


def _moments(records: list[Any]) -> list[Moment]:
    """The last lines before the first merge, the merges, and the first line after them."""
    merges = [record["k"] for record in records if record["row"]["icon"] == "merge"]
    lines = {r["k"]: r["row"].get("text", "") for r in records if r["row"]["icon"] == "line"}
    before = [k for k in lines if k < merges[0]][-lines_before:]
    last = next(k for k in lines if k > merges[0])
    met = [k for k in merges if k < last]
    return [
        *(Moment(k, seconds_to_read(lines[k])) for k in before),
        *(Moment(k, merge_seconds) for k in met),
        Moment(last, last_line_seconds),
    ]


def _time_of(k: int, times: dict[int, float]) -> float:
    """When a record is applied: with the next event that is looked at."""
    return next(at for moment, at in times.items() if moment >= k)


def main() -> None:
    """Write the file."""
    FILE.write_text(recorded(), encoding="utf-8")
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
