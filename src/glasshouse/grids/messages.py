"""What a grid and its processes say to each other: values over a pipe, each pickled and with its length before it.

Always holds: the pipe leads from a process to one that it started itself, so nobody else can write into it.
"""

from __future__ import annotations

import asyncio
import pickle
from typing import Any, Final, NamedTuple

from glasshouse.grids.executors import Bundle, StopReason, Terms
from glasshouse.grids.rows import Row

length_bytes: Final = 8


class Begin(NamedTuple):
    """To a process: how to play."""

    terms: Terms
    share: tuple[int, int]
    """Which of how many processes it is, as slots of servers are divided."""
    usd_max: float | None
    """What it may spend. None: no limit."""


class Wanted(NamedTuple):
    """From a process: it has room for a bundle."""


class Given(NamedTuple):
    """To a process: a bundle; none if there is no more."""

    bundle: Bundle | None


class Ended(NamedTuple):
    """From a process: a cell is over."""

    row: Row


class Exhausted(NamedTuple):
    """From a process: its money is spent."""

    usd_left: float


class Allowed(NamedTuple):
    """To a process: it may spend so much more; with nothing, it stops."""

    usd: float


class Over(NamedTuple):
    """From a process: it plays nothing more. With a reason, because it cannot go on."""

    usd_left: float = 0.0
    why: StopReason | None = None
    reason: str = ""


def packed(message: object) -> bytes:
    """A message as it goes through a pipe."""
    content = pickle.dumps(message)
    return len(content).to_bytes(length_bytes, "big") + content


async def next_message(stream: asyncio.StreamReader) -> Any:
    """The next message of a pipe. Raises `EOFError` if the other side is gone."""
    try:
        length = int.from_bytes(await stream.readexactly(length_bytes), "big")
        return pickle.loads(await stream.readexactly(length))  # noqa: S301 (our own process wrote it)
    except (asyncio.IncompleteReadError, ConnectionError) as gone:
        raise EOFError from gone
