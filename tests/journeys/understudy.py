"""A process that has imported everything and waits: whoever asks it for a command is given a fork of it that runs the command.

    python -m tests.journeys.understudy DOOR

Nearly all that a short process costs is importing. Each fork is a process of its own, with its own arguments, settings,
folder, streams, terminal and exit code, and ends as any other; only the imports are done. What hangs on the start of the interpreter
itself (hash seeds, encodings, signals of a terminal) is run by a process that is started anew, and so is each command once.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

ROOT = Path(__file__).resolve().parents[2]
ONE = b"!"
answer_bytes = 16


class Performer:
    """A command that runs in a fork."""

    def __init__(self, answers: socket.socket) -> None:
        self._answers = answers
        self._answers.settimeout(None)
        self.pid = int(answers.recv(answer_bytes))
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code. Raises `TimeoutError` if it has not ended by then."""
        if self.returncode is None:
            self._answers.settimeout(timeout)
            self.returncode = int(self._answers.recv(answer_bytes))
            self._answers.close()
        return self.returncode

    def poll(self) -> int | None:
        """Its exit code; none while it runs."""
        with suppress(BlockingIOError):
            return self.wait(timeout=0)
        return None

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


class Understudy:
    """The process that waits, as the one who asks it knows it."""

    def __init__(self) -> None:
        self._door, theirs = socket.socketpair()
        command = [sys.executable, "-m", __name__, str(theirs.fileno())]
        # In a session of its own, so that Ctrl-C ends the tests and nothing is said of it by others.
        self._process = subprocess.Popen(
            command, cwd=ROOT, pass_fds=[theirs.fileno()], start_new_session=True
        )
        theirs.close()

    def begin(
        self,
        words: Sequence[str],
        env: Mapping[str, str],
        cwd: Path | None,
        streams: Sequence[int],
        *,
        has_terminal: bool = False,
        code: str = "",
    ) -> Performer:
        """Begin a command line, or Python code with these arguments, with these three streams. Its terminal, if it has one, is
        the first of them."""
        mine, theirs = socket.socketpair()
        with TemporaryFile() as order, theirs:
            where = {"env": dict(env), "cwd": str(cwd or Path.cwd()), "terminal": has_terminal}
            order.write(json.dumps({"words": words, "code": code, **where}).encode())
            order.seek(0)
            socket.send_fds(self._door, [ONE], [order.fileno(), *streams, theirs.fileno()])
        return Performer(mine)

    def perform(
        self,
        words: Sequence[str],
        env: Mapping[str, str],
        cwd: Path | None,
        seconds_max: float,
        *,
        code: str = "",
        typed: str = "",
    ) -> subprocess.CompletedProcess[str]:
        """Run a command line, or Python code, to its end. It is killed if it does not end in time."""
        with TemporaryFile() as given, TemporaryFile() as out, TemporaryFile() as complaints:
            given.write(typed.encode())
            given.seek(0)
            streams = [file.fileno() for file in (given, out, complaints)]
            performer = self.begin(words, env, cwd, streams, code=code)
            try:
                ended = performer.wait(seconds_max)
            except TimeoutError:
                performer.kill()
                raise
            texts = [_read(file) for file in (out, complaints)]
        return subprocess.CompletedProcess(words, ended, *texts)

    def close(self) -> None:
        """Let it go home."""
        self._door.close()
        self._process.wait()


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


@cache
def understudy() -> Understudy:
    """The one of this process; it is kept until the end."""
    waiting = Understudy()
    atexit.register(waiting.close)
    return waiting


def learn_everything() -> None:
    import glasshouse

    for module in pkgutil.walk_packages(glasshouse.__path__, "glasshouse."):
        if not module.name.startswith(("glasshouse.__main__", "glasshouse.testing")):
            importlib.import_module(module.name)
    gc.freeze()


def wait_at(door: socket.socket) -> None:
    """Fork for each order until nobody is left who gives any. In a fork this returns when the command is done."""
    while True:
        some, given, _, _ = socket.recv_fds(door, len(ONE), 5)
        if not some:
            return
        if os.fork() == 0:
            door.detach()
            stage(*given)
            return
        for descriptor in given:
            os.close(descriptor)
        while ended_meanwhile():
            pass


def ended_meanwhile() -> bool:
    try:
        return os.waitpid(-1, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return False


def stage(order: int, stdin: int, stdout: int, stderr: int, answers: int) -> None:
    """In a fork: run the command in one more, say who does it, and then how it ended."""
    performer = os.fork()
    if performer == 0:
        act(order, (stdin, stdout, stderr))
        return
    for descriptor in (order, stdin, stdout, stderr):
        os.close(descriptor)
    os.write(answers, f"{performer}".rjust(answer_bytes).encode())
    _, status = os.waitpid(performer, 0)
    os.write(answers, f"{os.waitstatus_to_exitcode(status)}".rjust(answer_bytes).encode())
    os._exit(0)


def act(asked: int, streams: tuple[int, int, int]) -> None:
    """Become what `python -m glasshouse WORDS` would be, once everything is imported."""
    with open(asked, encoding="utf-8") as file:
        order = json.load(file)
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
    os.closerange(3, max(streams) + 64)
    if order["terminal"]:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 (it stays open until the end)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 (the same)
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115 (the same)
    sys.path[0] = order["cwd"]
    sys.argv[1:] = order["words"]
    if order["code"]:
        sys.argv[0] = "-c"
        exec(compile(order["code"], "<code>", "exec"), {"__name__": "__main__"})
    else:
        runpy.run_module("glasshouse", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    learn_everything()
    wait_at(socket.socket(fileno=int(sys.argv[1])))
