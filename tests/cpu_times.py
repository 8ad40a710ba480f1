"""A plugin of pytest that says where the CPU time of the tests goes: `make times`.

CPU time, not wall time, because a machine is seldom quiet. A test has the time of its process and of every process below it, also
of those that it only uses, such as the one that `tests/journeys/understudy.py` forks from. A fixture is counted where it is
used first. Chromium's processes do not stay below their parent, so figures of single browser tests mean little; the sum at the end is
that of all processes that have ended.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

files_shown_max: Final = 40
TICKS_A_SECOND: Final = os.sysconf("SC_CLK_TCK")

seconds_by_file: defaultdict[str, float] = defaultdict(float)


def seconds_used() -> float:
    """The CPU time of this process and of all below it, whether they have ended or not."""
    mine = os.times()
    total = mine.user + mine.system + mine.children_user + mine.children_system
    children: defaultdict[str, list[tuple[str, float]]] = defaultdict(list)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:  # It has just ended.
            continue
        children[fields[1]].append((stat.parent.name, sum(map(int, fields[11:15])) / TICKS_A_SECOND))
    waiting = [str(os.getpid())]
    while waiting:
        for process, seconds in children[waiting.pop()]:
            total += seconds
            waiting.append(process)
    return total


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    before = seconds_used()
    yield
    seconds_by_file[item.nodeid.partition("::")[0]] += seconds_used() - before


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In a worker: tell the one who started it."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["seconds_by_file"] = dict(seconds_by_file)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    for file, seconds in getattr(node, "workeroutput", {}).get("seconds_by_file", {}).items():
        seconds_by_file[file] += seconds


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    by_folder: defaultdict[str, float] = defaultdict(float)
    for file, seconds in seconds_by_file.items():
        by_folder["/".join(file.split("/")[:2])] += seconds
    write = terminalreporter.write_line
    for title, table in (("folder", by_folder), ("file", seconds_by_file)):
        write(f"\nCPU seconds by {title}:")
        for name, seconds in sorted(table.items(), key=lambda row: -row[1])[:files_shown_max]:
            write(f"{seconds:8.1f}  {name}")
    write(f"\n{seconds_used():.0f} CPU seconds in all, with starting and collecting.")
