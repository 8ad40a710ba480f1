"""What another machine does with a bundle: plays it by `InProcess` in a folder of its own, and sends the store file and the rows home.

Always holds: what it yields last is `Home`, with the rows of all cells that are over and the files that hold their runs. Before
that, `OnNode` says which machine plays, and each `Beat` how far it is, so that whoever waits can tell it, and can count what is lost
if this process dies. A process whose node has died ends: nobody would hear what it brings home (ADR 0155).
"""

from __future__ import annotations

import os
import queue
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from glasshouse.errors import GlasshouseError, GridStopped
from glasshouse.grids.executors import Bundle, StopReason
from glasshouse.grids.in_process import InProcess
from glasshouse.grids.parcels import Parcel, open_here, unpack
from glasshouse.grids.rows import Row
from glasshouse.runtime import event_loop
from glasshouse.runtime.acts.shared_purse import SharedPurse

node_look_seconds: Final = 0.5
"""How often a process that plays looks whether its node has died."""


class Order(NamedTuple):
    """What a task is to play, and with what."""

    bundle: Bundle
    store: bytes | None
    """The bundle's store as it is at home. None: it was not begun."""
    share: tuple[int, int]
    """Which of how many tasks it is, as slots of servers are divided."""
    usd_max: float | None
    """What it may spend. None: no limit."""


class OnNode(NamedTuple):
    """A task plays, on this node."""

    node: str


class Beat(NamedTuple):
    """How far a task is: cells that are over, and what they took."""

    cells: int
    calls: int
    usd: float


class Home(NamedTuple):
    """A task is over. With a reason, because it cannot go on."""

    rows: tuple[Row, ...]
    store: bytes | None
    """The file that holds their runs. None: nothing was begun."""
    spent_usd: float = 0.0
    why: StopReason | None = None
    reason: str = ""


def play_bundle(parcel: Parcel, order: Order) -> Iterator[OnNode | Beat | Home]:
    """Play a bundle. Its event loop is in a thread of its own, because whoever runs this takes values as they come."""
    said: queue.SimpleQueue[Beat | Home | BaseException] = queue.SimpleQueue()
    is_over = threading.Event()

    def play() -> None:
        try:
            with TemporaryDirectory(prefix="glasshouse-grid-") as folder:
                event_loop.run(_play(parcel, order, Path(folder), said))
        except BaseException as wrong:
            said.put(wrong)  # It is raised again where somebody waits.
            raise

    threading.Thread(
        target=_end_without, args=(os.getppid(), is_over), name="glasshouse node", daemon=True
    ).start()
    threading.Thread(target=play, name="glasshouse bundle", daemon=True).start()
    try:
        yield OnNode(import_module("ray").get_runtime_context().get_node_id())
        while True:
            match said.get():
                case Beat() as beat:
                    yield beat
                case Home() as home:
                    yield home
                    return
                case wrong:
                    raise wrong
    finally:
        is_over.set()


def _end_without(node_process: int, is_over: threading.Event) -> None:
    """End this process when the one of its node has ended, unless the bundle is over. Ray leaves it running while it plays."""
    while not is_over.wait(node_look_seconds):
        if os.getppid() != node_process:
            os._exit(1)


async def _play(
    parcel: Parcel, order: Order, folder: Path, said: queue.SimpleQueue[Beat | Home | BaseException]
) -> None:
    bundle = order.bundle
    path = folder / bundle.store
    if order.store is not None:
        path.write_bytes(order.store)
    here = unpack(parcel, folder, (bundle.models,))
    rows: list[Row] = []
    purse = None if order.usd_max is None else SharedPurse(order.usd_max)
    why: StopReason | None = None
    reason = ""
    try:
        await open_here(parcel, here)
        playing = InProcess(here.terms, here.models, purse=purse, share=order.share)
        async with aclosing(playing.play(_only(bundle))) as each:
            async for row in each:
                rows.append(row)
                said.put(_beat(rows, purse))
    except GridStopped as stopped:
        why = stopped.why
        reason = _told_here(stopped)
    except GlasshouseError as wrong:
        why = "outage"
        reason = _told_here(wrong)
    finally:
        await here.models.close()
    spent = 0.0 if purse is None else purse.spent_usd
    said.put(Home(tuple(rows), path.read_bytes() if path.exists() else None, spent, why, reason))


async def _only(bundle: Bundle) -> AsyncIterator[Bundle]:
    yield bundle


def _beat(rows: list[Row], purse: SharedPurse | None) -> Beat:
    usd = sum(row.usd or 0.0 for row in rows) if purse is None else purse.spent_usd
    return Beat(len(rows), sum(row.calls for row in rows), usd)


def _told_here(wrong: GlasshouseError) -> str:
    return f"On {socket.gethostname()}: {wrong}"
