"""The child process of the faults on PostgreSQL: it owns a house, changes it, plays in it, and reports what was acknowledged.

A crowd of tasks adds, merges, splits and speaks; one task plays a run with a model. The child opens the house again if its store failed, and ends if
another process has taken it over. Its clock jumps.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection

from glasshouse import PostgresStore, Refused, Terrarium, kinds
from glasshouse.errors import GlasshouseError, StoreError, StoreFenced
from glasshouse.model_values import Tokens
from glasshouse.models.router import ModelRouter
from glasshouse.runtime.clock import SeededIds
from glasshouse.stores.postgres import owned_house, postgres_store, server
from glasshouse.turns.moment.prompt import Completion, Prompt
from tests.made_up_words import word_for
from tests.runtime.stage_crew import ticking, world_of
from tests.simulation.mixing import operate

lease_seconds = 0.4
tasks_in_a_crowd = 3
steps_max = 1_000_000
OWN = "glasshouse-run"

Tell = Callable[[str], None]


class JumpingClock:
    """A clock that jumps forwards and backwards by hours."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self._chance.choice([0, 0, 0, 7_200, -7_200]))

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(min(seconds, 0.05))


class Watched:
    """A model that reports if it is asked for a house that its process has lost."""

    name = backend = "watched"
    is_free = True

    def __init__(self, kept: PostgresStore, tell: Tell) -> None:
        self._kept = kept
        self._tell = tell
        self._count = 0

    async def complete(self, _prompt: Prompt) -> Completion:
        # A fence that this process has noted. Whether a lease has passed is a matter of its clock: on a busy machine this process may
        # stand still right after the owner has looked.
        if isinstance(self._kept.lapse(), StoreFenced):
            self._tell("asked after a fence")
        await asyncio.sleep(0.001)
        self._count += 1
        words = " ".join(word_for(self._count * 7 + n) for n in range(6))
        said = json.dumps({"kind": kinds.AGENT_SPOKE, "thought": "Hm.", "text": words, "mood": "calm"})
        return Completion(said, self.name, Tokens(5, 5))


async def story(terrarium: Terrarium, seed: int, first_step: int, tell: Tell) -> None:
    for step in range(first_step, steps_max):
        try:
            tell(f"{step} {await operate(terrarium, seed, step)}")
        except StoreFenced:
            raise
        except StoreError:
            if terrarium._house.ledger.writer.ended is not None:
                raise
            await asyncio.sleep(0.02)


async def played(terrarium: Terrarium) -> None:
    """Play the run, which others may pause, split or end meanwhile."""
    while True:
        try:
            if not any(run.id == OWN for run in terrarium.runs()):
                await terrarium.open_world(world_of(ticking("tick"), ticking("tock")), run_id=OWN)
            await terrarium.step_one()
        except StoreFenced:
            raise
        except StoreError:
            if terrarium._house.ledger.writer.ended is not None:
                raise
        except Refused:
            pass
        await asyncio.sleep(0.005)


async def owned(address: str, seed: int, first_step: int, tell: Tell) -> bool:
    """Own the house for a while. False if it was taken over."""
    kept = PostgresStore(address, lease_seconds=lease_seconds)
    terrarium = Terrarium(
        kept,
        clock=JumpingClock(seed),
        ids=SeededIds(seed * 1_000 + first_step),
        models=ModelRouter(Watched(kept, tell)),
    )
    await terrarium.open()
    tell("open")
    tasks = [
        asyncio.create_task(story(terrarium, seed * tasks_in_a_crowd + n, first_step, tell))
        for n in range(tasks_in_a_crowd)
    ]
    tasks.append(asyncio.create_task(played(terrarium)))
    try:
        await asyncio.gather(*tasks)
    except StoreFenced:
        tell("fenced")
        return False
    except StoreError as wrong:
        is_fenced = isinstance(terrarium._house.ledger.writer.ended, StoreFenced)
        tell("fenced" if is_fenced else f"failed {wrong}")
        return not is_fenced
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with suppress(StoreError):
            await terrarium.close()
    return True


async def until_fenced(address: str, seed: int, first_step: int, tell: Tell) -> None:
    steps = first_step
    while True:
        try:
            if not await owned(address, seed, steps, tell):
                return
        except GlasshouseError as wrong:  # It cannot be opened now.
            tell(f"closed {wrong}")
            await asyncio.sleep(0.02)
        steps += 100


def main(address: str, seed: int, first_step: int, connection: Connection) -> None:
    """The child's whole life."""
    postgres_store.commit_seconds_max = 0.3
    owned_house.lock_seconds_max = 0.3
    server.connect_seconds_max = 1.0
    server.statement_seconds_max = 1.0
    with suppress(BrokenPipeError, KeyboardInterrupt):
        asyncio.run(until_fenced(address, seed, first_step, connection.send))
