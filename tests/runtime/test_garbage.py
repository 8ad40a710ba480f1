"""An act leaves nothing behind for the garbage collector: what it made is freed, and its memory used again, at once."""

import gc
import json
from itertools import count

from glasshouse.events import kinds
from glasshouse.models import Completion, Prompt, Tokens
from glasshouse.models.router import ModelRouter
from tests.made_up_words import word_for
from tests.runtime.stage_crew import on_stage, ticking, world_of

acts = 40


class Speaks:
    """A model that says something else each time."""

    name, is_free, answers_at_once = "speaks", True, True

    def __init__(self) -> None:
        self._numbers = count()

    async def complete(self, _prompt: Prompt) -> Completion:
        line = " ".join(word_for(next(self._numbers)) for _ in range(6))
        reply = {"kind": kinds.AGENT_SPOKE, "thought": "Hm.", "text": line, "mood": "calm"}
        return Completion(json.dumps(reply), self.name, Tokens(5, 5), usd=0.0)


async def test_acts_leave_no_garbage_in_circles() -> None:
    async with on_stage(models=ModelRouter(Speaks())) as t:
        run = await t.open_world(world_of(ticking("ada")))
        await t.run(run.id, turns=5)
        calls = t.run_of(run.id).calls
        gc.collect()
        gc.disable()
        try:
            await t.run(run.id, turns=acts)
            garbage = gc.collect()
        finally:
            gc.enable()

        assert t.run_of(run.id).calls - calls == acts
        assert garbage < acts  # A circle round each act would be twenty objects an act.
