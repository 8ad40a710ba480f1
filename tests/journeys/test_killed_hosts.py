"""Kill -9 of a process that plays with a model in a file leaves no child, whatever the child was doing."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

import psutil
import pytest

from tests.servers.gguf_model import write_model

HOST = Path(__file__).parents[1] / "servers" / "local_host.py"
Doing = Literal["loading", "up", "asking", "stopped", "forked"]
"""What the child does when its host is killed. `stopped`: it notices nothing itself, as while llama.cpp loads a large file."""
gone_seconds_max = 60.0
"""Longer than a process takes to end on the busiest machine."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "random.gguf"
    write_model(path, "ascii")
    return path


@pytest.mark.parametrize("doing", get_args(Doing))
def test_kill_9_of_the_host_leaves_no_child(model: Path, doing: Doing) -> None:
    assert left_after_kill(model, doing) == []


@pytest.mark.soak
def test_kill_9_of_the_host_leaves_no_child_50_of_50(model: Path) -> None:
    doings = get_args(Doing) * 10

    left = {number: names for number, doing in enumerate(doings) if (names := left_after_kill(model, doing))}

    assert left == {}
    print(f"kill -9 of the host left no child, {len(doings)} of {len(doings)}")


def left_after_kill(model: Path, doing: Doing) -> list[str]:
    """Kill a host in this moment; the children that are still there."""
    host = subprocess.Popen(
        [sys.executable, str(HOST), str(model), doing], stdout=subprocess.PIPE, encoding="utf-8"
    )
    others: list[int] = []
    try:
        assert host.stdout is not None
        last = "begun" if doing == "loading" else "up"
        for line in iter(host.stdout.readline, ""):
            word, *number = line.split()
            others += map(int, number)
            if word == last:
                break
        children = [*_children_of(host.pid, others)]
        assert children, "the host has started its child"
        if doing == "stopped":
            psutil.Process(children[-1].pid).suspend()
        host.send_signal(signal.SIGKILL)
        host.wait()
        names = _left_of(children)
        assert all(map(psutil.pid_exists, others)), "they ended by themselves, and show nothing"
        return names
    finally:
        for other in others:
            psutil.Process(other).kill()
        host.kill()
        host.communicate()


def _children_of(host: int, others: list[int]) -> Iterator[psutil.Process]:
    """The child of a host, and what it has started itself; not the processes that the test made beside it."""
    for child in psutil.Process(host).children(recursive=True):
        if child.pid not in others:
            yield child


def _left_of(children: list[psutil.Process]) -> list[str]:
    """Those of the children that are there after the longest time that they may take, also such as came in between."""
    deadline = time.monotonic() + gone_seconds_max
    while left := [child for child in _with_descendants(children) if _is_alive(child)]:
        if time.monotonic() > deadline:
            return [str(child) for child in left]
        time.sleep(0.01)
    return []


def _with_descendants(children: list[psutil.Process]) -> Iterator[psutil.Process]:
    for child in children:
        yield child
        try:
            yield from child.children(recursive=True)
        except psutil.NoSuchProcess:
            continue


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
