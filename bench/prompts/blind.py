"""Blind scoring: the lines of several result files, shuffled and without labels, and the join of scores with the key.

Always holds: the sheet and the form say nothing about the file that a line comes from; only the key does. The order depends
only on the rows, so that a sheet can be written again.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from bench.prompts.results import Row

SCORES: Final = {
    "clean": "1 if it is a sound line of this creature: new words, no copy, no nonsense; else 0",
    "answers": "1 if it takes up what it answers, or does what was due; else 0",
    "voice": "1 if it sounds like this creature; else 0",
}
"""What a reader scores, and how. An empty cell is not counted."""


def write(out: Path, files: Mapping[str, Sequence[Row]]) -> None:
    """Write OUT.md to read, OUT.csv to fill in, and OUT.key.json, which the reader does not open."""
    items = [(name, row) for name, rows in files.items() for row in rows if row["line"] or row["tools"]]
    items.sort(key=lambda item: _order(*item))
    sheet = ["# Lines to score", "", *[f"- `{name}`: {how}." for name, how in SCORES.items()], ""]
    for number, (_, row) in enumerate(items, 1):
        sheet += [f"## {number}", "", *_shown(row), ""]
    out.parent.mkdir(parents=True, exist_ok=True)
    out.with_name(f"{out.name}.md").write_text("\n".join(sheet), encoding="utf-8")
    with out.with_name(f"{out.name}.csv").open("w", encoding="utf-8", newline="") as file:
        written = csv.writer(file)
        written.writerow(["item", *SCORES, "note"])
        written.writerows([number, *[""] * len(SCORES), ""] for number in range(1, len(items) + 1))
    key = {
        str(number): {"file": name, "moment": row["moment"], "kind": row["kind"], "seed": row["seed"]}
        for number, (name, row) in enumerate(items, 1)
    }
    out.with_name(f"{out.name}.key.json").write_text(json.dumps(key, indent=1), encoding="utf-8")


def _order(name: str, row: Row) -> str:
    """Lines of one moment stand together, so that a reader compares like with like; within it the order is chance."""
    chance = hashlib.sha256(f"{name} {row['moment']} {row['seed']} {row['line']}".encode()).hexdigest()
    group = hashlib.sha256(str(row["moment"]).encode()).hexdigest()
    return f"{group} {chance}"


def _shown(row: Row) -> list[str]:
    about = row["about"]
    lines = [f"You are {about['handle']} ({about['role']}). {about['persona']}"]
    lines += [f"Wants: {about['wants']}"] if about["wants"] else []
    lines += [f"Temper: {about['temper']}"] if about["temper"] else []
    lines += ["", "Lately:", *[f"> {line}" for line in about["lately"]]]
    lines += ["", f"It answers: {about['answers'] or 'nobody, it is its turn'}"]
    lines += [f"It is asked: {about['asked']}"] if about["asked"] else []
    lines += [f"A good answer: {row['good']}"]
    tools = f" after calling {', '.join(row['tools'])}" if row["tools"] else ""
    return [*lines, "", f"**{row['end']}**{tools}: {row['line'] or '(nothing said)'}"]


def unblinded(scores: Path, key: Path) -> str:
    """A Markdown table: for each file, how many of its lines got each score."""
    meant = json.loads(key.read_text(encoding="utf-8"))
    with scores.open(encoding="utf-8", newline="") as file:
        given = list(csv.DictReader(file))
    names = [name for name in given[0] if name not in ("item", "note")] if given else []
    files = sorted({entry["file"] for entry in meant.values()})
    lines = ["| | " + " | ".join(files) + " |", "|---|" + "---|" * len(files)]
    for name in names:
        cells = []
        for label in files:
            mine = [row[name].strip() for row in given if meant[row["item"]]["file"] == label]
            values = [float(value) for value in mine if value]
            cells.append(f"{sum(values):g} of {len(values)}" if values else "-")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])
