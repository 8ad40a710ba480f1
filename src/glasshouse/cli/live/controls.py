"""`Controls`: the keys of whoever reads along: `i` disturbs, space pauses, `q` stops; and the answer about a change.

Always holds: what a key asks for is done between two acts, never in the middle of one; only a change that waits for approval
is asked about in the middle of its act. Pausing holds the play up and writes nothing: how long somebody reads is no part of
the story.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from glasshouse.cli.drawing.screen import one_line
from glasshouse.cli.live.displays import Display
from glasshouse.cli.live.feed import Feed
from glasshouse.cli.live.keys import Keys
from glasshouse.errors import Refused
from glasshouse.runtime.ports import Proposal

Disturb = Callable[[str], Awaitable[object]]
"""Says something to the run, as the visitor."""

PAUSED: Final = "paused · space goes on · i disturb · q stop"


class Controls:
    """A reader at a terminal."""

    def __init__(self, keys: Keys, display: Display, feed: Feed, disturb: Disturb) -> None:
        self.is_leaving = False
        """Whether `q` was pressed."""
        self._keys = keys
        self._display = display
        self._feed = feed
        self._disturb = disturb

    async def read(self, seconds: float, /) -> None:
        """Wait as long as reading takes, or until a key is pressed."""
        self._display.rest(self._feed.view)
        await self.wait(seconds)

    async def wait(self, seconds: float, /) -> None:
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
        """Hold the play up until space is pressed again, or a line was said."""
        while not self.is_leaving and not self._keys.is_gone:
            self._display.rest(self._feed.view, PAUSED)
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
            await self._ask_for_line()

    async def _ask_for_line(self) -> None:
        """Ask for a line, offering what the world suggests, and say it as the visitor."""
        offered = self._feed.view.run.disturbances
        numbered = [f"  {number}  {one_line(text)}" for number, text in enumerate(offered, start=1)]
        self._display.say(
            "", *numbered, "A number, or a line of your own; Enter sends it, an empty line sends nothing."
        )
        text = line_meant(await self._keys.line(), offered)
        if text:
            try:
                await self._disturb(text)
            except Refused as refused:
                self._display.say(str(refused))


def line_meant(typed: str, offered: tuple[str, ...]) -> str:
    """The line that somebody means: one of those offered, by its number, or what was typed."""
    numbers = [str(number) for number in range(1, len(offered) + 1)]
    return offered[numbers.index(typed)] if typed in numbers else typed
