"""`OnRay`: an executor that plays bundles as tasks of a Ray cluster.

Theory of operation. A bundle is a task: it plays in a folder of its own on whatever machine Ray chooses, and sends its store file and its rows
home when it is over. A task that died begins again from nothing: what it wrote is on a machine that may be gone. So a row is given back only when
the store that holds its run is in the grid's folder, and a cell is in the table once, whatever dies. Ray tells of a task only when its process
ends, so what plays on a node that the cluster takes for dead is given up here (ADR 0155).

Always holds: the tasks in flight divide the slots of a model server and the money, as processes of one machine do (ADR 0148, 0149). A server with
fewer slots than there are tasks is asked by as many of them as it has slots.
"""

from __future__ import annotations

import asyncio
import math
import os
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from glasshouse.errors import GridStopped, Refused
from glasshouse.grids.bundle_task import Beat, Home, OnNode, Order, play_bundle
from glasshouse.grids.executors import Bundle, Terms
from glasshouse.grids.folder import Lost
from glasshouse.grids.grid_models import GridModels, part_of
from glasshouse.grids.parcels import parcel_of
from glasshouse.grids.ray_cluster import connected
from glasshouse.grids.rows import Row, failed_row
from glasshouse.grids.shared_bundles import SharedBundles
from glasshouse.terrarium import Terrarium

begun_again_max: Final = 3
"""How often a bundle whose task died begins again. Then its cells are set aside with the error."""
tasks_max: Final = 256
"""How many tasks of a grid wait or play on a cluster at once. More than there are cores let an autoscaler see that there is work."""

nodes_look_seconds: Final = 1.0
"""How often the cluster is asked which of its nodes are alive."""

OnLost = Callable[[Lost], None]


class _NodeGone(Exception):
    """The node on which a task plays is dead, says the cluster."""


@dataclass
class _Listening:
    """What is known of a task: its node, once it has begun, and whoever reads what it says."""

    reading: asyncio.Task[Home]
    node: str = ""
    is_gone: bool = False


class OnRay:
    """An executor on a Ray cluster. `on` is `ray` or `ray://HOST:PORT`; `on_lost` is told of each task that died."""

    def __init__(
        self, terms: Terms, models: GridModels, on: str, on_lost: OnLost, usd_max: float | None = None
    ) -> None:
        self._terms = terms
        self._models = models
        self._on = on
        self._on_lost = on_lost
        self._usd_left = usd_max
        """Money that no task holds."""
        self._holding = 0
        """How many tasks hold money."""
        self._count = 1
        """How many tasks are in flight at most."""
        self._bundles = SharedBundles(models)
        self._broke: deque[Bundle] = deque()
        """Bundles whose task had too little money."""
        self._beats: dict[int, Beat] = {}
        self._listening: dict[int, _Listening] = {}
        """By the numbers of bundles."""
        self._ray: Any = None
        self._parcel: Any = None
        self._resources: frozenset[str] = frozenset()
        """The resources that the cluster declares."""

    @property
    def cells_away(self) -> int:
        """How many cells are over on other machines, in bundles that are not home yet."""
        return sum(beat.cells for beat in self._beats.values())

    async def play(self, bundles: AsyncIterable[Bundle]) -> AsyncGenerator[Row, None]:
        """The row of each cell, as soon as the store with its run is at home."""
        async for bundle in bundles:
            if self._models.is_in_file(bundle.models):
                raise Refused(
                    f"{bundle.models} is a model in a file of this machine.",
                    "Play it without --on, or serve it and name its address.",
                )
            self._bundles.waiting.append(bundle)
        with connected(self._on) as ray:
            self._ray = ray
            self._parcel = ray.put(parcel_of(self._terms_of_task(ray), self._models))
            watching = asyncio.create_task(self._watch_nodes(), name="glasshouse nodes")
            players = [self._serve(number) for number in range(self._count)]
            try:
                async with aclosing(self._bundles.rows(players, self._play_broke())) as rows:
                    async for row in rows:
                        yield row
            finally:
                watching.cancel()
                await asyncio.wait([watching])

    def _terms_of_task(self, ray: Any) -> Terms:
        """The terms of each task. Sets how many there are: as many as there are cores, if they divide a server's slots."""
        resources = ray.cluster_resources()
        self._resources = frozenset(resources)
        has_server = any(self._models.slots(bundle.models) < math.inf for bundle in self._bundles.waiting)
        most = max(1, int(resources.get("CPU", 1))) if has_server else tasks_max
        self._count = max(1, min(most, len(self._bundles.waiting)))
        return self._terms._replace(at_once=math.ceil(self._terms.at_once / self._count))

    async def _play_broke(self) -> None:
        """Play what had too little money, one bundle after another, with all that is left."""
        while self._broke and self._bundles.stopped is None:
            bundle = self._broke.popleft()
            self._count = 1
            await self._play_bundle(0, bundle)
            if self._broke and self._broke[-1].number == bundle.number:
                self._stop(GridStopped("budget", "The limit leaves no room for another call."))

    async def _serve(self, number: int) -> None:
        """Play bundles one after another, as one of the tasks in flight."""
        while self._bundles.stopped is None and (bundle := self._bundles.next_for(number)) is not None:
            await self._play_bundle(number, bundle)

    def _stop(self, stopped: GridStopped) -> None:
        """Begin nothing more, because of this. What is in flight comes home first, unless nothing can be kept there."""
        self._bundles.stop(stopped, at_once=stopped.why == "store")

    async def _watch_nodes(self) -> None:
        """Give up what plays on nodes that are dead. Of a machine that lost its power Ray tells nothing for minutes."""
        while True:
            await asyncio.sleep(nodes_look_seconds)
            looking = asyncio.ensure_future(asyncio.to_thread(self._ray.nodes))
            try:
                nodes = await asyncio.shield(looking)
            except asyncio.CancelledError:
                await asyncio.wait([looking])  # The connection is closed next.
                raise
            dead = {node["NodeID"] for node in nodes if not node["Alive"]}
            for listening in self._listening.values():
                if listening.node in dead and not listening.is_gone:
                    listening.is_gone = True
                    listening.reading.cancel()

    # One bundle

    async def _play_bundle(self, number: int, bundle: Bundle) -> None:
        """Play a bundle; again from what is at home if its task died."""
        wrong = ""
        for begun_again in range(begun_again_max + 1):
            usd = self._take_money()
            try:
                home = await self._home_of(number, bundle, usd)
            except (self._ray.exceptions.RayError, _NodeGone) as died:
                beat = self._beats.pop(bundle.number, Beat(0, 0, 0.0))
                self._give_back(usd, beat.usd)
                wrong = _words(died)
                if "failed to import" in wrong or "ModuleNotFoundError" in wrong:
                    self._stop(
                        GridStopped(
                            "outage", f"A machine of the cluster lacks Glasshouse or a part of it: {wrong}"
                        )
                    )
                    return
                self._on_lost(Lost(bundle.number, beat.calls, beat.usd, wrong))
                continue
            except BaseException:
                self._beats.pop(bundle.number, None)
                raise
            self._give_back(usd, home.spent_usd)
            self._take_home(bundle, home, begun_again)
            return
        for cell in bundle.cells:
            text = f"Its task died {begun_again_max + 1} times: {wrong}"
            self._bundles.give(replace(failed_row(cell, text, ""), begun_again=begun_again_max))

    async def _home_of(self, number: int, bundle: Bundle, usd: float | None) -> Home:
        """What a task brings home. Raises Ray's errors if it died."""
        order = Order(bundle, await store_at_home(self._folder / bundle.store), (number, self._count), usd)
        task = self._ray.remote(play_bundle).options(
            num_cpus=1,
            num_returns="streaming",
            max_retries=0,  # A task that died is marked and counted, so it is begun again here.
            scheduling_strategy="SPREAD",
            name=f"glasshouse {bundle.store}",
            resources=self._slots_of(number, bundle),
        )
        said = task.remote(self._parcel, order)
        reading = asyncio.create_task(self._read(said, bundle.number), name=f"glasshouse {bundle.store}")
        self._listening[bundle.number] = listening = _Listening(reading)
        try:
            return await reading
        except asyncio.CancelledError:
            self._ray.cancel(said, force=True)
            if listening.is_gone:
                raise _NodeGone("The node on which it played is dead.") from None
            reading.cancel()
            raise
        finally:
            del self._listening[bundle.number]

    async def _read(self, said: Any, number: int) -> Home:
        """Note what a task says, up to what it brings home."""
        async for reference in said:
            match await reference:
                case OnNode(node):
                    self._listening[number].node = node
                case Beat() as beat:
                    self._beats[number] = beat
                case Home() as home:
                    return home
                case other:
                    raise AssertionError(f"No task of a grid says {other!r}.")
        raise self._ray.exceptions.WorkerCrashedError

    def _slots_of(self, number: int, bundle: Bundle) -> dict[str, float]:
        """The slots of servers that a task holds, of those that the cluster declares as resources: other grids use them too."""
        servers = self._models.servers(bundle.models)
        parts = {
            slots_resource(server): part_of(slots, (number, self._count)) for server, slots in servers.items()
        }
        return {name: slots for name, slots in parts.items() if name in self._resources and slots < math.inf}

    @property
    def _folder(self) -> Path:
        assert self._terms.folder is not None, "a grid on Ray has a folder"
        return self._terms.folder

    def _take_home(self, bundle: Bundle, home: Home, begun_again: int) -> None:
        """Put a bundle's store into the grid's folder, and give back its rows."""
        self._beats.pop(bundle.number, None)
        try:
            put_home(self._folder / bundle.store, home.store)
        except OSError as wrong:
            self._stop(
                GridStopped("store", f"{wrong.filename}: {wrong.strerror}. Make room, or mend the disk.")
            )
            return
        for row in home.rows:
            self._bundles.give(replace(row, begun_again=begun_again) if begun_again else row)
        if home.why == "budget":
            left = {row.cell for row in home.rows}
            self._broke.append(
                bundle._replace(cells=tuple([cell for cell in bundle.cells if cell.name not in left]))
            )
        elif home.why is not None:
            self._stop(GridStopped(home.why, home.reason))

    # Money

    def _take_money(self) -> float | None:
        """The part of a task: as much as each of the others that begin now gets."""
        if self._usd_left is None:
            return None
        part = self._usd_left / max(1, self._count - self._holding)
        self._usd_left -= part
        self._holding += 1
        return part

    def _give_back(self, part: float | None, spent: float) -> None:
        if part is not None and self._usd_left is not None:
            self._usd_left += max(0.0, part - spent)
            self._holding -= 1


def slots_resource(server: str) -> str:
    """The name of the Ray resource that counts the slots of a server: `glasshouse:` and its address without the scheme."""
    return f"glasshouse:{server.partition('://')[2] or server}".rstrip("/")


async def store_at_home(path: Path) -> bytes | None:
    """A bundle's store as it travels: one file. What a killed process left beside it is put into it first."""
    if not await asyncio.to_thread(path.exists):
        return None
    async with Terrarium(path):
        pass
    return await asyncio.to_thread(path.read_bytes)


def put_home(path: Path, content: bytes | None) -> None:
    """Write a bundle's store so that a reader finds the old one or the new one, also after a power cut."""
    if content is None:
        return
    part = path.with_name(f"{path.name}.part")
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def _words(died: BaseException) -> str:
    """What Ray says of a task that died, as one line."""
    lines = [line.strip() for line in str(died).splitlines() if line.strip()]
    return (lines[-1] if "Error" in lines[-1] else lines[0])[:300] if lines else type(died).__name__
