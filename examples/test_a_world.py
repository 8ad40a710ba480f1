"""Tests of a world: it is played offline in memory, and the same seed gives the same play on every machine.

`glasshouse_play` is a fixture that pytest has wherever Glasshouse is installed.

    pip install glasshouse-agents pytest
    pytest test_a_world.py
"""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from glasshouse import Terrarium, verify
from glasshouse.testing import CountingModel, ScriptedModel
from glasshouse.views import Played

INN = Path(__file__).with_name("harbour-inn")

Play = Callable[..., Played]


@pytest.mark.parametrize("rng_seed", range(3))
def test_the_parrot_never_speaks_of_the_telescope_by_itself(glasshouse_play: Play, rng_seed: int) -> None:
    """Nobody told it."""
    played = glasshouse_play(INN, turns=6, rng_seed=rng_seed)

    said = [line.text for line in played.lines if line.who == "parrot"]
    assert len(said) == 6
    assert not any("telescope" in text for text in said)


def test_a_model_that_answers_nonsense_does_not_stop_the_evening(glasshouse_play: Play) -> None:
    """Small models do."""
    word = json.dumps({"kind": "agent.spoke", "thought": "", "text": "One!"})
    model = CountingModel(ScriptedModel("As a language model,", "I cannot count.", "Sorry.", word))

    played = glasshouse_play(INN, turns=2, model=model)

    assert [line.voice for line in played.lines] == ["world", "silence", "cast"]
    assert "Counts everything" in model.prompts[0].system


async def visited() -> tuple[Played, bool]:
    """An evening with a visitor, and whether its record plays again the same."""
    async with Terrarium() as t:
        run = await t.open_world(INN)
        await t.disturb(run.id, "What is in room seven?")
        await t.run(run.id, turns=2)
        return await t.played(run.id), (await verify(t, run.id)).is_same


def test_the_landlady_answers_from_the_book() -> None:
    """And from nothing else."""
    played, is_same = asyncio.run(visited())

    assert is_same
    assert "parrot" in " ".join(line.text for line in played.lines if line.who == "landlady")
