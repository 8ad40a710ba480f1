"""Results of the bench: one JSON line for each moment and sampling seed, and the table that is made of them.

Always holds: a line is whole or not there. A run that was killed goes on where it stopped. A row keeps what was asked and
answered, and is measured when it is read, so that all files are measured by the ruler as it is now.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench.prompts import ruler

Row = dict[str, Any]
Counted = Callable[[Row], bool | None]
"""Whether a row is a hit; none if it is not counted."""


def read(path: Path) -> list[Row]:
    """The rows of a file; none if there is no file. A last line that was cut off is left out."""
    rows: list[Row] = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            rows.append(json.loads(line))
        except ValueError:
            break
    return rows


def measured(row: Row) -> Row:
    """A row with what the ruler finds: in the first reply, and in what was said in the end."""
    calls = row["calls"]
    first = _measures(row, calls[0], ruler.text_in(calls[0]["raw"])) if calls else None
    said = _measures(row, calls[-1], row["line"]) if calls and row["line"] else None
    return {**row, "first": first, "said": said}


def _measures(row: Row, call: Row, line: str) -> Row:
    system = call["system"]
    user = call["user"]
    texts = ruler.Texts(**{sort: tuple(some) for sort, some in row["texts"].items()})
    return ruler.measures_of(
        call["raw"],
        line,
        texts._replace(prompt=ruler.prompt_texts(system, user)),
        system=system,
        user=user,
        words_max=row["about"]["words_max"],
        ref_fields=row["ref_fields"],
    )


def rewrite(path: Path, rows: Iterable[Row]) -> None:
    """Write a file anew from whole rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def add(path: Path, row: Row) -> None:
    """Add a row to a file."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _measured(name: str, which: str) -> Counted:
    """Of replies that say something: whether the ruler found it."""

    def is_hit(row: Row) -> bool | None:
        measures = row[which]
        return None if measures is None or not measures["words"] else bool(measures[name])

    return is_hit


def _clean(which: str) -> Counted:
    def is_hit(row: Row) -> bool | None:
        measures = row[which]
        return None if measures is None else ruler.is_clean(measures)

    return is_hit


def _cites(row: Row) -> bool | None:
    measures = row["said"]
    return None if measures is None or measures["cites"] == "none" else measures["cites"] == "valid"


ROWS: Final[Mapping[str, Counted]] = {
    "first reply is JSON": lambda row: None if row["first"] is None else row["first"]["json"],
    "refused at first": lambda row: bool(row["refused"]),
    "repaired": lambda row: row["repaired"] if row["refused"] else None,
    "failed": lambda row: row["end"] in ("", "agent.failed"),
    "passed": lambda row: row["end"] == "agent.passed",
    "loop.suspected": lambda row: row["end"] == "loop.suspected",
    "first: recited": _measured("recited", "first"),
    "first: echoed": _measured("echoed", "first"),
    "first: said again": _measured("said_again", "first"),
    "first: prompt text": _measured("prompt_text", "first"),
    "first: scene": _measured("scene", "first"),
    "first: persona": _measured("persona", "first"),
    "first: placeholder": lambda row: None if row["first"] is None else bool(row["first"]["placeholder"]),
    "first: empty": lambda row: None if row["first"] is None else row["first"]["empty"],
    "first: loop in the line": _measured("loop", "first"),
    "first: over-long": _measured("over_long", "first"),
    "first: clean": _clean("first"),
    "said: recited": _measured("recited", "said"),
    "said: echoed": _measured("echoed", "said"),
    "said: said again": _measured("said_again", "said"),
    "said: prompt text": _measured("prompt_text", "said"),
    "said: scene": _measured("scene", "said"),
    "said: persona": _measured("persona", "said"),
    "said: placeholder": lambda row: None if row["said"] is None else bool(row["said"]["placeholder"]),
    "said: loop in the line": _measured("loop", "said"),
    "said: over-long": _measured("over_long", "said"),
    "said: cites shown lines": _cites,
    "said: clean lines of all acts": lambda row: row["said"] is not None and ruler.is_clean(row["said"]),
    "tool called at a tool moment": lambda row: bool(row["tools"]) if row["kind"] == "tool" else None,
    "tool called elsewhere": lambda row: (
        bool(row["tools"]) if row["kind"] != "tool" and row["about"]["has_tools"] else None
    ),
}
"""The rows of the table. `first` is the first reply, before anything was refused; `said` is what reached the ledger."""


def _share(rows: Iterable[Row], counted: Counted) -> str:
    hits = [hit for row in rows if (hit := counted(row)) is not None]
    return f"{sum(hits)} of {len(hits)}" if hits else "-"


def _figures(rows: Sequence[Row]) -> list[tuple[str, str]]:
    spoken = [row["said"]["words"] for row in rows if row["said"] and row["said"]["words"]]
    calls = [call for row in rows for call in row["calls"]]
    seconds = sum(call["seconds"] for call in calls)
    return [
        ("acts", str(len(rows))),
        ("model calls", str(len(calls))),
        *[(name, _share(rows, counted)) for name, counted in ROWS.items()],
        ("median words of a line", f"{median(spoken):.0f}" if spoken else "-"),
        ("prompt tokens a call", _mean([call["tokens_in"] for call in calls])),
        ("reply tokens a call", _mean([call["tokens_out"] for call in calls])),
        ("seconds an act", f"{seconds / len(rows):.1f}" if rows else "-"),
    ]


def _mean(values: Sequence[float]) -> str:
    return f"{sum(values) / len(values):,.0f}" if values else "-"


def table(read_rows: Mapping[str, Sequence[Row]], *, kinds: Sequence[str] = ()) -> str:
    """A Markdown table, a column for each file; then clean lines by kind of moment."""
    files = {name: [*map(measured, rows)] for name, rows in read_rows.items()}
    columns = {name: dict(_figures(rows)) for name, rows in files.items()}
    rows = [["", *columns]]
    rows += [
        [name, *[figures[name] for figures in columns.values()]] for name in next(iter(columns.values()))
    ]
    clean = ROWS["said: clean lines of all acts"]
    for kind in kinds:
        cells = [_share([row for row in some if row["kind"] == kind], clean) for some in files.values()]
        rows.append([f"clean lines, {kind}", *cells])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:], ""])
