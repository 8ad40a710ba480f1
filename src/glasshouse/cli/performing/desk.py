"""The desk of the person who looks on: the pace of reading, the keys `i`, space and `q`, and the word on a change.

Always holds: what somebody asks for is done between two acts, never in the middle of one; only a change that waits for a
word is asked about in the middle of its act. Pausing holds the show up and
writes nothing: how long somebody reads is no part of the story.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from glasshouse.cli.drawing.screen import one_line
from glasshouse.cli.performing.displays import Display
from glasshouse.cli.performing.following import News
from glasshouse.cli.performing.keys import Keys
from glasshouse.errors import Refused
from glasshouse.runtime.ports import Proposal

Disturb = Callable[[str], Awaitable[object]]
"""Says something to the run, as the visitor."""

PAUSED: Final = "paused · space goes on · i disturb · q stop"


class Desk:
    """Reads along, and does what the keys say."""

    def __init__(self, keys: Keys, display: Display, news: News, disturb: Disturb) -> None:
        self.is_leaving = False
        """Whether somebody pressed `q`."""
        self._keys = keys
        self._display = display
        self._news = news
        self._disturb = disturb

    async def read(self, seconds: float, /) -> None:
        """Wait as long as reading takes, or until a key says otherwise."""
        self._display.rest(self._news.programme)
        await self.linger(seconds)

    async def linger(self, seconds: float, /) -> None:
        """Wait for something to come, or for a key."""
        key = await self._keys.next(seconds)
        if key == " ":
            await self._pause()
        else:
            await self._obey(key)

    async def decide(self, proposal: Proposal, /) -> bool | None:
        """Ask whether a change may be made, in one line; none if nobody is there any more."""
        self._keys.forget()
        self._display.say(f"{one_line(proposal.why)} Allow it? y or n")
        while not self._keys.is_gone:
            key = (await self._keys.next() or "").lower()
            if key == "q":
                self.is_leaving = True
            if key in ("y", "n", "q"):
                return key == "y"
        return None

    async def _pause(self) -> None:
        """Hold the show up until space is pressed again, or something was thrown in."""
        while not self.is_leaving and not self._keys.is_gone:
            self._display.rest(self._news.programme, PAUSED)
            key = await self._keys.next()
            if key == " ":
                return
            await self._obey(key)
            if key == "i":
                return

    async def _obey(self, key: str | None) -> None:
        if key == "q":
            self.is_leaving = True
        elif key == "i":
            await self._ask()

    async def _ask(self) -> None:
        """Ask for a line, offering what the world suggests, and say it as the visitor."""
        offered = self._news.programme.disturbances
        numbers = [f"  {n}  {one_line(text)}" for n, text in enumerate(offered, start=1)]
        choice = "A number, or a line of your own; Enter sends it, an empty line sends nothing."
        self._display.say("", *numbers, choice)
        text = meant(await self._keys.line(), offered)
        if not text:
            return
        try:
            await self._disturb(text)
        except Refused as refused:
            self._display.say(str(refused))


def meant(typed: str, offered: tuple[str, ...]) -> str:
    """The line that somebody means: one of those offered, by its number, or what was typed."""
    numbers = [str(n) for n in range(1, len(offered) + 1)]
    return offered[numbers.index(typed)] if typed in numbers else typed
