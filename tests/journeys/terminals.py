"""A terminal for tests: what a command prints on it is read as it comes, keys are pressed on it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import termios
import time
from codecs import getincrementaldecoder
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.journeys.commanding import environment, journey_seconds_max
from tests.journeys.understudy import understudy

SIZE = struct.pack("HHHH", 30, 100, 0, 0)
LAST = "\x1e"
"""Written behind what a command printed: once it is read, nothing is still on its way."""


class Terminal:
    """A command on a terminal of its own, as somebody sits at it."""

    def __init__(self, *words: str, cwd: Path, **more: str) -> None:
        self._mine, self._theirs = pty.openpty()
        fcntl.ioctl(self._theirs, termios.TIOCSWINSZ, SIZE)
        self.found = termios.tcgetattr(self._theirs)
        self.shown = ""
        self._read_upto = 0
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._process = understudy().begin(
            words, environment(TERM="xterm-256color", **more), cwd, [self._theirs] * 3, has_terminal=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._mine)
        os.close(self._theirs)

    def wait_for(self, text: str) -> str:
        """Read until this was printed, after all that was waited for before; everything printed until then."""
        until = time.monotonic() + journey_seconds_max
        while (start := self.shown.find(text, self._read_upto)) < 0:
            has_ended = self._process.poll() is not None
            assert time.monotonic() < until, (
                f"{text!r} never came; there is {self.shown[self._read_upto :]!r}"
            )
            assert self._read() or not has_ended, f"it ended before {text!r}: {self.shown!r}"
        before, self._read_upto = self._read_upto, start + len(text)
        return self.shown[before : self._read_upto]

    def press(self, keys: str) -> None:
        os.write(self._mine, keys.encode())

    def wait_for_lines(self, *, are_read: bool) -> None:
        """Wait until the command reads whole lines, or keys again."""
        until = time.monotonic() + journey_seconds_max
        while bool(self.state[3] & termios.ICANON) is not are_read:
            assert time.monotonic() < until, f"the terminal is not set: {self.shown!r}"
            self._read()

    def end(self, keys: str = "") -> int:
        """Read to the end, pressing these keys for as long as it lasts; the exit code."""
        until = time.monotonic() + journey_seconds_max
        while self._process.poll() is None:
            assert time.monotonic() < until, f"it does not end: {self.shown!r}"
            self.press(keys)
            self._read()
        while self._read():
            pass
        os.write(self._theirs, LAST.encode())
        while LAST not in self.shown:
            assert time.monotonic() < until, f"its end never came: {self.shown!r}"
            self._read()
        self.shown = self.shown.replace(LAST, "")
        return self._process.wait()

    @property
    def state(self) -> list[Any]:
        """How the terminal is set now."""
        return termios.tcgetattr(self._theirs)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._mine], [], [], 0.05)
        if ready:
            self.shown += self._decoder.decode(os.read(self._mine, 65_536))
        return bool(ready)


def colours_in(shown: str) -> list[str]:
    """The escape codes that set a colour."""
    codes = re.findall(r"\x1b\[([\d;]*)m", shown)
    return [code for code in codes if re.search(r"(?:^|;)(?:3[0-7]|38|9[0-7]|48)(?:;|$)", code)]
