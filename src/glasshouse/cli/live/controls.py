"""`Controls`: the user's keys during a play: `i` disturbs, space pauses, `q` finishes. It also asks for approvals.
`Keys` reads single keys from the terminal while a run is played.

Always holds: a key takes effect between two acts, never during one. Only an approval is asked for during its act. A
pause delays the play and writes nothing, because reading time is not part of the story. The terminal's settings are
always restored. Reading never blocks the event loop. While the user types a line, the terminal edits it as usual.
"""

from __future__ import annotations

import asyncio
import os
import signal
import termios
import tty
from codecs import getincrementaldecoder
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, Final, Literal, Self

from glasshouse.cli.drawing.run_view import HINT, RunView, prospect
from glasshouse.cli.drawing.screen import one_line
from glasshouse.cli.live.feed import Display, Feed, Reader
from glasshouse.cli.pace import Pace
from glasshouse.errors import Refused
from glasshouse.events.payloads import RunPaused
from glasshouse.runtime.ports import Proposal
from glasshouse.runtime.waiting import whichever_first

ESCAPE: Final = "\x1b"
keys_waiting_max: Final = 64
"""This many of the latest keys pressed in advance count."""
read_bytes_max: Final = 4_096
"""Keys are read this many bytes at a time."""


def are_ours(descriptor: int) -> bool:
    """Whether this is a terminal whose keys come to this process, because it runs in the foreground."""
    try:
        return os.isatty(descriptor) and os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:
        return False


class Keys:
    """The keys of the terminal behind a file descriptor. Use it as a context, inside a running event loop."""

    def __init__(self, descriptor: int = 0) -> None:
        self._descriptor = descriptor
        self._settings: list[object] = []
        self._pressed: deque[str] = deque(maxlen=keys_waiting_max)
        self._typed = ""
        self._is_line_wanted = False
        self.is_gone = False
        """Whether the terminal was closed."""
        self._changed = asyncio.Event()
        self._decoder = getincrementaldecoder("utf-8")(errors="replace")

    def __enter__(self) -> Self:
        self._settings = termios.tcgetattr(self._descriptor)
        self._read_by_key()
        loop = asyncio.get_running_loop()
        loop.add_reader(self._descriptor, self._read)
        loop.add_signal_handler(signal.SIGCONT, self._read_by_key_again)
        return self

    def __exit__(self, *_: object) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._descriptor)
        loop.remove_signal_handler(signal.SIGCONT)
        self._restore()

    async def next(self, seconds: float | None = None) -> str | None:
        """The next key; none when none was pressed in that time. An arrow or the like is one key, ESCAPE."""
        if self.is_gone and seconds is not None:
            await asyncio.sleep(seconds)
        elif not self._pressed and not self.is_gone:
            await self._wait_for_change(seconds)
        return self._pressed.popleft() if self._pressed else None

    def forget(self) -> None:
        """Drop keys that were pressed before a question, because they were not meant as its answer."""
        self._pressed.clear()

    async def line(self) -> str:
        """A whole line, edited by the terminal itself; empty if nobody is there any more."""
        self._typed = ""
        self._is_line_wanted = True
        self._restore()
        try:
            while "\n" not in self._typed and not self.is_gone:
                await self._wait_for_change(None)
        finally:
            self._is_line_wanted = False
            self._read_by_key()
        return self._typed.partition("\n")[0].strip()

    async def _wait_for_change(self, seconds: float | None) -> None:
        self._changed.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), seconds)

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, read_bytes_max)
        except OSError:
            data = b""
        else:
            if not data and self._is_line_wanted:
                data = b"\n"  # Ctrl-D ends a line. Of a terminal that is gone, the next read as a key is empty, too.
        text = self._decoder.decode(data)
        if not data:
            self.is_gone = True
            asyncio.get_running_loop().remove_reader(self._descriptor)
        elif self._is_line_wanted:
            self._typed += text
        else:
            self._pressed.extend([ESCAPE] if text.startswith(ESCAPE) else text)
        self._changed.set()

    def _read_by_key_again(self) -> None:
        """Set the terminal again after Ctrl-Z, because the shell has changed its settings."""
        if not self._is_line_wanted:
            self._read_by_key()

    def _read_by_key(self) -> None:
        with suppress(termios.error):  # The terminal may be gone.
            tty.setcbreak(self._descriptor, termios.TCSADRAIN)

    def _restore(self) -> None:
        with suppress(termios.error):  # The terminal may be gone already; then there is nothing to restore.
            # What tcgetattr gave is what tcsetattr takes; the stubs type the two differently.
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._settings)  # type: ignore[arg-type]


Choice = Literal["retry", "offline", "leave"]
"""What to do with a run that was paused: try again, let the offline troupe play the rest, or leave it as it is."""

Disturb = Callable[[str], Awaitable[object]]
"""Says something to the run, as the visitor."""

PLAYING: Final = (HINT, "paused · space continue · i disturb · q finish")
"""The keys of somebody who plays: while the run plays, and while it is paused."""
WATCHING: Final = ("i disturb · space pause · q leave", "paused · space continue · i disturb · q leave")
AWAY: Final = "r retry · o continue offline · q leave it paused"
FULL: Final = "r retry · q leave it paused"


class Controls(Reader):
    """A reader at a terminal, who leaves by pressing `q`."""

    def __init__(
        self,
        keys: Keys,
        display: Display,
        feed: Feed,
        disturb: Disturb,
        turns_max: int | None,
        hints: tuple[str, str],
    ) -> None:
        super().__init__(Pace.READING)
        self._keys = keys
        self._display = display
        self._feed = feed
        self._disturb = disturb
        self._turns_max = turns_max
        self.seconds_rehearsed: float | None = None
        """How long the run takes, if it was rehearsed."""
        self._hint, self._hint_paused = hints

    def notice(self, view: RunView) -> str:
        """How long the run will take, and which keys there are."""
        return prospect(view, self._turns_max, self.seconds_rehearsed)

    async def read(self, seconds: float) -> None:
        """Wait as long as reading takes, or until a key is pressed."""
        self._display.rest(self._feed.view, self._hint)
        await self._obey(await self._keys.next(seconds))

    async def wait_for(self, more: Coroutine[Any, Any, object], seconds: float) -> None:
        """Wait for something to come, or for a key, at most so many seconds."""
        _, key = await whichever_first(more, self._keys.next(seconds))
        await self._obey(key)

    async def decide(self, proposal: Proposal, /) -> bool | None:
        """Ask whether a change may be made, in one line; none if nobody is there any more."""
        self._keys.forget()
        persona = proposal.arguments.get("persona")
        written = f" It writes: {one_line(persona)}" if isinstance(persona, str) else ""
        self._display.say(f"{one_line(proposal.why)}{written} Allow it? y or n")
        while not self._keys.is_gone:
            key = (await self._keys.next() or "").lower()
            if key == "q":
                self.is_leaving = True
            if key in ("y", "n", "q"):
                return key == "y"
        return None

    async def choose(self, paused: RunPaused) -> Choice:
        """Ask what to do with a run that a model or a limit has paused."""
        self._keys.forget()
        choices: dict[str | None, Choice] = {"r": "retry", "q": "leave"}
        if paused.is_outage:
            choices["o"] = "offline"
        self._display.say("", one_line(paused.reason))
        while not self._keys.is_gone:
            self._display.rest(self._feed.view, AWAY if paused.is_outage else FULL)
            key = (await self._keys.next() or "").lower()
            if key in choices:
                return choices[key]
        return "leave"

    async def _pause(self) -> None:
        """Hold the play up until space is pressed again, or a line was said."""
        key: str | None = None
        while key not in (" ", "i") and not self.is_leaving and not self._keys.is_gone:
            self._display.rest(self._feed.view, self._hint_paused)
            key = await self._keys.next()
            await self._obey(key if key != " " else None)

    async def _obey(self, key: str | None) -> None:
        if key == "q":
            self.is_leaving = True
        elif key == "i":
            await self._ask_for_line()
        elif key == " ":
            await self._pause()

    async def _ask_for_line(self) -> None:
        """Ask for a line, offering what the world suggests, and say it as the visitor. Ctrl-D is the same as Enter."""
        offered = self._feed.view.run.disturbances
        numbered = [f"  {number}  {one_line(text)}" for number, text in enumerate(offered, start=1)]
        hint = "A number, or a line of your own; Enter sends it, an empty line sends nothing."
        self._display.say("", *numbered, hint)
        try:
            if text := line_meant(await self._keys.line(), offered):
                await self._disturb(text)
        except Refused as refused:
            self._display.say(str(refused))


def line_meant(typed: str, offered: tuple[str, ...]) -> str:
    """The line that somebody means: one of those offered, by its number, or what was typed."""
    numbers = [str(number) for number in range(1, len(offered) + 1)]
    return offered[numbers.index(typed)] if typed in numbers else typed
