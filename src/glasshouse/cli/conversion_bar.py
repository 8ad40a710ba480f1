"""Shows how far an older store has been converted, if a person watches.

Always holds: nothing is shown for a store that needs no conversion or has few events, nor where standard error is no
terminal.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from glasshouse.assembly import PostgresStore, SqliteStore, StoreAddress

if TYPE_CHECKING:
    from rich.progress import Progress


class ConversionBar:
    """A bar that appears with the first events that were converted, and stays when all are."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._bar: Progress | None = None

    def show(self, done: int, count: int) -> None:
        """Show that so many of all events are converted. The store calls it in its own thread."""
        if self._bar is None:
            if done == count or not sys.stderr.isatty():
                return  # It takes no time, or nobody watches.
            self._bar = begun_bar(f"{self._path.name} is from an older version. Converting its events", count)
        self._bar.update(self._bar.task_ids[0], completed=done)
        if done == count:
            self._bar.stop()


def store_to_write(address: StoreAddress) -> SqliteStore | PostgresStore:
    """A store for the one process that writes it. If a file must be converted first, a bar shows how far it is."""
    return address.to_write(ConversionBar(Path(str(address))).show)


def begun_bar(words: str, count: int) -> Progress:
    """A bar on standard error that has begun, with one task."""
    # Imported here: the command line starts quicker, and this is hardly ever needed.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True))
    bar.add_task(words, total=count)
    bar.start()
    return bar
