"""`glasshouse copy` copies a whole store into a new one: a file, or a house in a PostgreSQL database."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from glasshouse.assembly import StoreAddress, copy_store
from glasshouse.cli.command_line import CommandLine
from glasshouse.cli.drawing.screen import print_json
from glasshouse.cli.interrupts import run_until_interrupted
from glasshouse.cli.options import JsonOption, argument
from glasshouse.cli.prose import say

if TYPE_CHECKING:
    from rich.progress import Progress


def copy(
    source: str = argument("FROM", "The store to copy: a file, or postgresql://HOST/DB#HOUSE."),
    target: str = argument("TO", "The new store: a file, or a house in a database, that does not exist yet."),
    *,
    as_json: JsonOption = False,
) -> None:
    """Copy a whole store into a new one: all runs and sessions, prompts, labels, and what waits in the inbox.

    Digests stay what they are. A copy that was cut off goes on where it stopped: give the same command again.

    \b
    Examples:
      glasshouse copy show.glasshouse "postgresql://localhost/glass#show"     from a file into a database
      glasshouse copy "postgresql://localhost/glass#show" show.glasshouse     and back
    """
    given = StoreAddress(source)
    into = StoreAddress(target)
    copied: list[tuple[int, int, int]] = []

    async def copying() -> None:
        with _Bar() as bar:
            copied.append(await copy_store(given, into, bar.show))

    run_until_interrupted(copying)
    ((events, sessions, continued_at),) = copied
    if as_json:
        facts = {"from": str(given), "to": str(into), "events": events, "sessions": sessions}
        print_json({**facts, "continued_at": continued_at})
        return
    on = f" It went on behind event {continued_at:,}." if continued_at else ""
    say(
        f"{into} holds all that {given} holds: {events:,} events in {sessions:,} sessions, compared one by one.{on}"
    )
    say(f"Look at it: {CommandLine.on(into).call('runs')}")


class _Bar:
    """How far the copy is, if a person watches."""

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._words = ""

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_raised: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, words: str, done: int, count: int) -> None:
        """Show that so many of all events are copied, or compared."""
        if not sys.stderr.isatty():
            return
        if self._bar is None:
            from glasshouse.cli.conversion_bar import begun_bar

            self._bar = begun_bar(words, count)
        self._bar.update(self._bar.task_ids[0], description=f"Events {words}", completed=done, total=count)
