"""A server that fails two graphs of a run at once, at random: every act ends once, every answer is paid for once, and the
run verifies."""

from __future__ import annotations

import asyncio
import json
import random

import pytest

from glasshouse import Governor
from glasshouse.errors import ModelMisconfigured, ModelUnreachable
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.model_values import Tokens
from glasshouse.models.router import ModelRouter
from glasshouse.terrarium import verify
from glasshouse.turns.moment.prompt import Completion, Prompt
from tests.made_up_words import word_for
from tests.runtime.stage_crew import hearing, ledger_of, on_stage, ticking, world_of
from tests.runtime.troupe import soon
from tests.simulation.ledger_checks import check_ends
from tests.simulation.seeds import replayable, rig_seeds

failing_share = 0.35
unusable_share = 0.3
pauses_max = 30
FAILURES = {
    "unreachable": ModelUnreachable("Nobody answers."),
    "misconfigured": ModelMisconfigured("It refuses the key.", "Give another one."),
}


class Fickle:
    """A model that takes its time, fails often, and answers some of the rest with what cannot be used."""

    name = backend = "fickle"
    is_free = True

    def __init__(self, chance: random.Random, failure: Exception) -> None:
        self._chance = chance
        self._failure = failure
        self.answered = 0

    async def complete(self, prompt: Prompt) -> Completion:
        for _ in range(self._chance.randrange(4)):
            await asyncio.sleep(0)
        if self._chance.random() < failing_share:
            raise self._failure
        self.answered += 1
        line = {"kind": "agent.spoke", "thought": "", "text": f"A {word_for(self.answered)} turned over."}
        text = "?" if self._chance.random() < unusable_share else json.dumps(line)
        return Completion(text, self.name, Tokens(20, 10), usd=0.0)


def two_rooms(chance: random.Random) -> LoadedWorld:
    cast = [ticking(name, together=chance.random() < 0.5) for name in "abcd"]
    rooms = {"north": {"cast": ["a", "b", "e"]}, "south": {"cast": ["c", "d"]}}
    return world_of(*cast, hearing("e"), troupes=rooms)


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("seed", rig_seeds(20))
async def test_a_run_whose_graphs_are_failed_at_once_keeps_its_record(seed: int, failure: str) -> None:
    with replayable(seed, "test_outages.py"):
        chance = random.Random(seed)
        model = Fickle(chance, FAILURES[failure])
        async with on_stage(models=ModelRouter(model), pacing="free") as t:
            limits = Governor(max_turns=5, max_total_calls=200)
            run = await t.open_world(two_rooms(chance), rng_seed=seed, governor=limits)
            for _ in range(pauses_max):
                await soon(t.run())
                if t.run_of(run.id).paused is None:
                    break
                await t.continue_run(run.id)
            if not t.run_of(run.id).is_finished:
                await soon(t.finish(run.id))

            await check_ends(t._house.store)
            calls = [call for event in await ledger_of(t) for call in event.calls]
            assert sum(call.reached for call in calls) == model.answered
            verification = await verify(t, run.id)
            assert verification.is_same, (verification.recorded_event, verification.replayed_event)
