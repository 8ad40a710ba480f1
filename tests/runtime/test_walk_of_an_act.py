"""The path of one act: docs/walks.md names, in order, the functions of `runtime/` that lead a real act to its model and its
event into the store.

Which functions those are is not chosen: they are under way when the runtime calls one of `LANDMARKS`, outside it, for the
first time in that act. Whatever else they call is not told, but it is counted here: whoever changes an act has to know it.
"""

from __future__ import annotations

import asyncio
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from glasshouse import ModelRouter, SqliteStore, Terrarium
from glasshouse.models import OpenAICompatible
from glasshouse.runtime.clock import HandMovedClock
from tests.runtime.footprints import Footprints, Function, as_rows, functions_told, section
from tests.servers.imitating_server import imitating_server

HEADING = "The walk of one act, by its functions"
WORLD = "thousand-token-wood"
SEEDS = range(10)
turns_before = 3
"""After so many turns each creature has acted, so that none has to be made."""

functions_told_max = 32
"""How many functions of `runtime/` the page may have to tell."""
functions_max = 95
"""How many functions of `runtime/` an act may call, comprehensions included."""
frames_to_a_model_max = 12
"""How many calls may be under way, from `Terrarium.step_one` on, when a model is asked that answers at once."""
frames_to_a_server_max = 14
"""The same for a model behind a server, which needs a queue and a bound in time."""

SERVER_MODEL = Function("models/openai_compatible.py", "OpenAICompatible.complete")
OFFLINE_MODEL = Function("troupe/model.py", "OfflineModel.complete")
LANDMARKS = (
    Function("turns/runs/schedule.py", "next_act"),
    Function("turns/heard/recent_lines.py", "heard_by"),
    Function("turns/prompts/context.py", "written_for"),
    OFFLINE_MODEL,
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


async def _footprints_of(
    folder: Path, rng_seed: int, acts_before: int, models: ModelRouter | None = None
) -> Footprints:
    # The clock stands still: the inbox is not read meanwhile, however long this takes.
    store = SqliteStore(folder / "show.glasshouse")
    async with Terrarium(store, models=models, clock=HandMovedClock()) as t:
        run = await t.open_world(WORLD, rng_seed=rng_seed)
        await t.step(turns_before)
        for _ in range(acts_before):
            await t.step_one()
        has_acted = {event.actor for event in await t.run_events(run.id)}
        with Footprints([*LANDMARKS, SERVER_MODEL]) as footprints:
            footprints.is_noting = True
            event = await t.step_one()
            footprints.is_noting = False
    assert event is not None
    # What a server says decides who acts; that a creature acts for the first time makes its way to the model no longer.
    assert models is not None or (event.actor in has_acted and event.turn == turns_before + 1)
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


@pytest.mark.parametrize("acts_before", [0, 1], ids=["the first of its turn", "the second of its turn"])
@pytest.mark.parametrize("rng_seed", SEEDS)
def test_an_act_calls_few_functions_of_the_runtime(rng_seed: int, acts_before: int) -> None:
    called = dict.fromkeys(footprints_of(rng_seed, acts_before).calls)
    of_runtime = [function for function in called if function.module.startswith("runtime/")]

    assert len(of_runtime) <= functions_max, "\n".join(f"{module}: {name}" for module, name in of_runtime)


@pytest.mark.parametrize("rng_seed", SEEDS)
def test_a_model_that_answers_at_once_is_few_calls_away(rng_seed: int) -> None:
    frames = frames_to(OFFLINE_MODEL, footprints_of(rng_seed, acts_before=0))

    assert len(frames) <= frames_to_a_model_max, "\n".join(frames)


@pytest.mark.parametrize(
    "rng_seed", SEEDS[1:]
)  # With seed 0 the imitated judge ends the play in its first turn.
async def test_a_server_is_few_calls_away(rng_seed: int, tmp_path: Path) -> None:
    with imitating_server("vllm") as server:
        models = ModelRouter(OpenAICompatible(server.model, server.url, server="vllm"))
        footprints = await _footprints_of(tmp_path, rng_seed, acts_before=0, models=models)
    frames = frames_to(SERVER_MODEL, footprints)

    assert len(frames) <= frames_to_a_server_max, "\n".join(frames)


def frames_to(model: Function, footprints: Footprints) -> list[str]:
    """What was under way when a model was asked, from `Terrarium.step_one` on."""
    names = [function.name for function in footprints.chains[model]]
    return names[names.index("Terrarium.step_one") :]
