"""What `glasshouse doctor` looks at: each finding is in order, a warning or broken, and says what to do."""

from __future__ import annotations

import asyncio
import os
import platform
import sqlite3
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final, Literal, NamedTuple

from rich.table import Table
from rich.text import Text

from glasshouse.assembly import usual_tools
from glasshouse.cli.drawing.screen import Screen, one_line
from glasshouse.cli.store_file import checked_settings, holder_of, store_path
from glasshouse.cli.store_reader import open_reader
from glasshouse.errors import GlasshouseError
from glasshouse.manifests.finding import found_worlds, shown_path
from glasshouse.manifests.loading import problems_in
from glasshouse.settings import Settings

PACKAGES: Final = ("glasshouse", "msgspec", "pydantic", "pydantic-settings", "PyYAML", "rich", "typer")
PYTHON: Final = (3, 11)
screen_columns_min: Final = 60
STYLES: Final = {"ok": "green", "warning": "yellow", "broken": "bold red"}


class Finding(NamedTuple):
    """One thing looked at."""

    what: str
    state: Literal["ok", "warning", "broken"]
    told: str
    todo: str = ""


def findings(store: Path | None) -> list[Finding]:
    """Everything, in the order in which it is needed."""
    found = [_python(), _packages(), *_settings()]
    if all(finding.state != "broken" for finding in found):
        found.append(_store(store_path(store)))
    return [*found, *_terminal(), *_worlds()]


def draw(found: list[Finding]) -> None:
    """For people."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(ratio=1, overflow="fold")
    for finding in found:
        told = f"{finding.told} {finding.todo}".strip()
        state = Text(finding.state, style=STYLES[finding.state])
        grid.add_row(state, Text(finding.what), Text(one_line(told)))
    Screen().draw(grid)


def _python() -> Finding:
    told = f"{platform.python_implementation()} {platform.python_version()}, {platform.system()}"
    if sys.version_info < PYTHON:
        return Finding("python", "broken", f"{told}.", f"Install Python {PYTHON[0]}.{PYTHON[1]} or newer.")
    return Finding("python", "ok", f"{told}.")


def _packages() -> Finding:
    told, lacking = [f"SQLite {sqlite3.sqlite_version}"], []
    for name in PACKAGES:
        try:
            told.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            lacking.append(name)
    if lacking:
        return Finding(
            "packages", "broken", f"{', '.join(lacking)} is not installed.", "Install Glasshouse anew."
        )
    return Finding("packages", "ok", f"{', '.join(told)}.")


def _settings() -> Iterator[Finding]:
    try:
        read = checked_settings()
    except GlasshouseError as wrong:
        yield Finding("settings", "broken", str(wrong))
        return
    known = {f"GLASSHOUSE_{name.upper()}" for name in Settings.model_fields}
    strange = sorted(name for name in os.environ if name.upper().startswith("GLASSHOUSE_"))
    for name in strange:
        if name.upper() not in known:
            told = f"{name} is set, and no setting is called that."
            yield Finding("settings", "warning", told, f"There is {', '.join(sorted(known))}.")
    told = ", ".join(f"{name}={value}" for name, value in read.model_dump().items())
    yield Finding("settings", "ok", f"{told}.")


def _store(path: Path) -> Finding:
    if not os.path.lexists(path):
        return _place_for_store(path)
    try:
        told = asyncio.run(_story_of(path))
    except GlasshouseError as wrong:
        return Finding("store", "broken", str(wrong))
    holder = holder_of(path)
    by = "nobody plays it now" if holder is None else f"process {holder} plays it now"
    return Finding("store", "ok", f"{path}: {told}; {by}.")


def _place_for_store(path: Path) -> Finding:
    folder = path.absolute().parent
    if not folder.is_dir():
        return Finding("store", "broken", f"{folder} is no folder.", "Make it, or choose another --store.")
    if not os.access(folder, os.W_OK):
        return Finding("store", "broken", f"{folder} cannot be written.", "Choose another --store.")
    return Finding("store", "ok", f"{path}: none yet; the first play makes it.")


async def _story_of(path: Path) -> str:
    async with open_reader(path) as reader:
        runs, events = len(reader.runs()), reader.store.position
    return f"{runs} run{'s'[: runs != 1]}, {events:,} events"


def _terminal() -> Iterator[Finding]:
    screen = Screen()
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    if encoding not in {"utf8", "utf8sig"}:
        yield Finding(
            "terminal",
            "warning",
            f"The output is written as {sys.stdout.encoding}.",
            "Set PYTHONIOENCODING=utf-8.",
        )
    if not screen.is_terminal:
        yield Finding("terminal", "ok", "None: the output goes into a pipe or a file, plain and at once.")
        return
    if screen.width < screen_columns_min:
        yield Finding("terminal", "warning", f"It is {screen.width} columns wide.", "Make it wider.")
    colours = screen.console.color_system if not screen.console.no_color else None
    yield Finding("terminal", "ok", f"{screen.width} columns, {colours or 'no'} colours.")


def _worlds() -> Iterator[Finding]:
    found = found_worlds()
    if not found:
        yield Finding("worlds", "warning", "There is none.", "Make one: glasshouse new world NAME.")
    sound = []
    for world in found:
        problems = problems_in(world.path, tools=usual_tools().names())
        if not problems:
            sound.append(world.name)
            continue
        count = f"{len(problems)} problem{'s'[: len(problems) != 1]}"
        todo = f"Look: glasshouse check {shown_path(Path(world.path))}"
        yield Finding("worlds", "broken", f"{world.name} has {count}.", todo)
    if sound:
        yield Finding("worlds", "ok", f"{', '.join(sound)}.")
