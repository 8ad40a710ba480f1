"""How `prompting-1/` was recorded, before prompts had a number: `python -m tests.old_files.record_prompting_1 FOLDER [URL#MODEL]`.

Run it with the version of Glasshouse whose runs are to be kept: a later version records other runs.

- `WORLD.glasshouse.gz`, for each of the twelve bundled worlds, played by the offline troupe: `r-whole` to its end, or to a limit
  where the world is long, and `r-left`, which was left in the middle. `mystery-roots` also holds a branch of `r-whole`.
- `scripted-server.glasshouse.gz`, played by a scripted model behind an HTTP server: `r-scripted` with a repair, a tool call and a
  line that was refused as a repetition; `r-paused`, whose server refused a call in the middle of an act, after a tool's answer;
  `r-code`, in which an agent in Python uses a tool and asks no model.
- `smollm2.glasshouse.gz`, if the address of a server is given: `r-small`, played by a small real model on llama.cpp.

Always holds: a store names no folder of the machine that it was recorded on, and no server but those on loopback that played it.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from glasshouse import Agent, Draft, Governor, Manifest, SqliteStore, Terrarium, kinds
from glasshouse.manifests.loading import LoadedWorld, load_world
from glasshouse.manifests.world_folders import BUNDLED, bundled_worlds
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.runtime.past.what_if import WhatIf
from glasshouse.turns.moment.moment import Moment
from glasshouse.turns.moment.tools import ToolCall
from tests.runtime.stage_crew import hearing, ticking, world_of
from tests.servers import faults
from tests.servers.answers import Answer, Call, Player
from tests.servers.imitating_server import ImitatingServer
from tests.servers.imitations import MODELS
from tests.servers.plays import on_imitation, terrarium_on

TURNS_MAX = {
    "almanac-oak": 9,
    "far-end-of-the-attic": 7,
    "hatbox-and-cello": 7,
    "keeper-of-dusk": 11,
    "mystery-roots": 10,
}
"""The limit of turns of a long world. It is behind the first use of its tools, its first change of the graph, or its first verdict."""
turns_left_after = 2
"""How many turns `r-left` played; then one act more."""
turns_of_real_model = 2

SUM = {
    "kind": "tool.called",
    "thought": "I count.",
    "tool": "calculator",
    "arguments": {"expression": "7 * 6"},
}
REFRAIN = "The lantern by the gate has been burning since Tuesday evening."


def spoken(text: str) -> str:
    """A reply in the form that was asked for."""
    return json.dumps({"kind": kinds.AGENT_SPOKE, "thought": "Hm.", "text": text, "mood": "calm"})


SCRIPT: Sequence[str] = (
    '{"speech": "this is not what was asked for"}',
    spoken(REFRAIN),
    spoken("Then somebody carries oil to it at night, and it is not me."),
    json.dumps(SUM),
    spoken("Forty-two nights, if I have multiplied well."),
    spoken("A goose could not count that far."),
    spoken(REFRAIN),
    spoken(REFRAIN),
    spoken("I heard you the first time."),
)
"""The replies of `r-scripted`, in the order of its calls: ada's first needs a repair, her second act uses a tool, and her third act
would say her first line again, twice."""


@dataclass(frozen=True)
class Scripted(Player):
    """A model that gives these replies, one a call, and then the last one for ever."""

    replies: list[str] = field(default_factory=list)

    def _plain(self, call: Call, dice: Random, behaviours: frozenset[str]) -> Answer:
        return Answer(self.replies.pop(0) if len(self.replies) > 1 else self.replies[0])


class Counter(Agent):
    """Works something out with a tool, asks no model, and says the result."""

    async def act(self, moment: Moment) -> Draft | None:
        """Use the calculator, and say what it answered."""
        assert moment.carry is not None, "its manifest grants it a tool"
        answer = await moment.carry(ToolCall("calculator", {"expression": f"{moment.turn} + 1"}, None))
        return Draft(kind=kinds.AGENT_SPOKE, payload={"text": f"The next turn is {answer.text}."})


def bundled(name: str) -> LoadedWorld:
    """A bundled world, named by its path from the folder that holds `worlds`."""
    return replace(load_world(name), path=Path("worlds") / name)


@asynccontextmanager
async def terrarium_at(path: Path) -> AsyncIterator[Terrarium]:
    """A terrarium in which the offline troupe plays."""
    async with Terrarium(SqliteStore(path), clock=HandMovedClock(), ids=SeededIds(1)) as terrarium:
        yield terrarium


async def record_world(path: Path, name: str) -> None:
    """Play a bundled world with the offline troupe: once to its end, and once in part."""
    async with terrarium_at(path) as terrarium:
        world = bundled(name)
        limit = TURNS_MAX.get(name)
        governor = None if limit is None else Governor(max_turns=limit)
        whole = await terrarium.open_world(world, run_id="r-whole", governor=governor)
        await terrarium.run(whole.id)
        left = await terrarium.open_world(world, rng_seed=3, run_id="r-left")
        await terrarium.run(left.id, turns=turns_left_after)
        await terrarium.step_one(left.graph_ids[0])
        if name == "mystery-roots":
            turns = [
                event for event in await terrarium.run_events(whole.id) if event.kind == kinds.TURN_STARTED
            ]
            change = WhatIf(disturb="A bell rings twice.", limits=Governor(max_turns=5))
            branch = await terrarium.branch(turns[2].session_id, turns[2].id, change)
            await terrarium.run(branch.id)


def small_world(*manifests: Manifest, turns: int) -> LoadedWorld:
    return world_of(
        *manifests, name="gate", goal="Find out who lit the lantern.", governor={"max_turns": turns}
    )


async def record_scripted(path: Path) -> None:
    """Play small worlds with a scripted model behind an HTTP server."""
    ada = ticking("ada", tools=("calculator",))
    bo = hearing("bo")
    server = scripted_server(*SCRIPT)
    try:
        async with on_server(server, path) as terrarium:
            run = await terrarium.open_world(small_world(ada, bo, turns=3), run_id="r-scripted")
            await terrarium.run(run.id)
    finally:
        server.close()
    server = scripted_server(json.dumps(SUM), spoken("Forty-two."))
    try:
        async with on_server(server, path) as terrarium:
            run = await terrarium.open_world(small_world(ada, bo, turns=2), run_id="r-paused")
            server.next("fine", faults.status(400))
            await terrarium.run(run.id)
    finally:
        server.close()
    async with Terrarium(
        SqliteStore(path), clock=HandMovedClock(), ids=SeededIds(3), agents={"counter": Counter()}
    ) as terrarium:
        counter = ticking("counter", tools=("calculator",))
        run = await terrarium.open_world(small_world(bo, turns=2), run_id="r-code")
        await terrarium.add_creature(counter, agent=Counter(), graph=run.graph_ids[0], run=run.id)
        await terrarium.run(run.id)


def scripted_server(*replies: str) -> ImitatingServer:
    return ImitatingServer(
        "llamacpp",
        (),
        [MODELS["llamacpp"]],
        Scripted(replies=[*replies]),
        key="",
        host="127.0.0.1",
        tls=None,
        redirects_to="",
        delay_seconds=0.0,
    )


@asynccontextmanager
async def on_server(server: ImitatingServer, path: Path) -> AsyncIterator[Terrarium]:
    async with terrarium_on(on_imitation(server, "llamacpp"), store=path) as terrarium:
        yield terrarium


async def record_real(path: Path, models: str) -> None:
    """Play two turns of a bundled world with the model of a server."""
    async with Terrarium(SqliteStore(path), models=models) as terrarium:
        run = await terrarium.open_world(bundled("thousand-token-wood"), run_id="r-small")
        await terrarium.run(run.id, turns=turns_of_real_model)


def keep(store: Path, folder: Path) -> None:
    """Write a store, which is closed, as a compressed file."""
    # Without a name and a time, the same store gives the same file.
    (folder / f"{store.name}.gz").write_bytes(gzip.compress(store.read_bytes(), 9, mtime=0))


async def record(folder: Path, models: str | None) -> None:
    """Record everything into a folder."""
    os.chdir(BUNDLED.parent)
    recordings: list[tuple[str, Any]] = [
        (world.name, lambda path, name=world.name: record_world(path, name)) for world in bundled_worlds()
    ]
    recordings.append(("scripted-server", record_scripted))
    if models is not None:
        recordings.append(("smollm2", lambda path: record_real(path, models)))
    for name, play in recordings:
        with TemporaryDirectory() as there:
            path = Path(there) / f"{name}.glasshouse"
            await play(path)
            keep(path, folder)


if __name__ == "__main__":
    into = Path(sys.argv[1]).resolve()
    into.mkdir(parents=True, exist_ok=True)
    asyncio.run(record(into, sys.argv[2] if len(sys.argv) > 2 else None))
