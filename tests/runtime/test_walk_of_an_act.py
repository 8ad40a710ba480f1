"""The path of one act: docs/walks.md names, in order, the functions of `runtime/` that lead a real act to its model and its
event into the store.

Which functions those are is not chosen: they are under way when the runtime calls one of `LANDMARKS`, outside it, for the
first time in that act. Whatever else they call is not told.
"""

from __future__ import annotations

import asyncio
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from glasshouse import SqliteStore, Terrarium
from glasshouse.runtime.clock import HandMovedClock
from tests.runtime.footprints import Footprints, Function, as_rows, functions_told, section

HEADING = "The walk of one act, by its functions"
WORLD = "thousand-token-wood"
SEEDS = range(10)
turns_before = 3
"""After so many turns each creature has acted, so that none has to be made."""

functions_told_max = 32
"""How many functions of `runtime/` the page may have to tell."""

LANDMARKS = (
    Function("turns/runs/schedule.py", "next_act"),
    Function("turns/heard/recent_lines.py", "heard_by"),
    Function("turns/prompts/context.py", "written_for"),
    Function("troupe/model.py", "OfflineModel.complete"),
    Function("turns/replies/reply.py", "draft_from"),
    Function("world/decisions/decide.py", "decide"),
    Function("world/fold/evolve.py", "note_written"),
    Function("stores/sqlite/store.py", "SqliteStore.commit"),
)


@cache
def footprints_of(rng_seed: int, acts_before: int) -> Footprints:
    """Those of a warm act: by a creature that has acted before, after so many acts of the same turn."""
    with TemporaryDirectory() as folder:
        return asyncio.run(_footprints_of(Path(folder), rng_seed, acts_before))


async def _footprints_of(folder: Path, rng_seed: int, acts_before: int) -> Footprints:
    with Footprints(LANDMARKS) as footprints:
        # The clock stands still: the inbox is not read meanwhile, however long this takes.
        async with Terrarium(SqliteStore(folder / "show.glasshouse"), clock=HandMovedClock()) as t:
            run = await t.open_world(WORLD, rng_seed=rng_seed)
            await t.step(turns_before)
            for _ in range(acts_before):
                await t.step_one()
            has_acted = {event.actor for event in await t.run_events(run.id)}
            footprints.is_noting = True
            event = await t.step_one()
            footprints.is_noting = False
    assert event is not None
    assert event.actor in has_acted
    assert event.turn == turns_before + 1
    return footprints


def walk_of(footprints: Footprints) -> list[Function]:
    """The functions of the runtime that lead to each landmark, and the landmarks themselves, in the order of their calls."""
    walk: dict[Function, None] = {}
    for landmark, chain in footprints.chains.items():
        walk |= dict.fromkeys([f for f in chain if f.module.startswith("runtime/")])
        walk[landmark] = None
    return [*walk]


@pytest.mark.parametrize("rng_seed", SEEDS)
def test_an_act_takes_the_walk_that_the_page_tells(rng_seed: int) -> None:
    footprints = footprints_of(rng_seed, acts_before=1)
    sentences = functions_told(section("walks.md", HEADING))
    walk = walk_of(footprints)

    assert [landmark for landmark in LANDMARKS if landmark not in footprints.chains] == [], "moved or renamed"
    assert [*sentences] == walk, f"write in docs/walks.md:\n{as_rows(walk, sentences)}"
    assert len(walk) - len(LANDMARKS) <= functions_told_max
