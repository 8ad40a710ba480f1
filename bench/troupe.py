"""The offline troupe: what one answer costs, over a play of every bundled world. CPU time, warm."""

from __future__ import annotations

from time import process_time
from typing import Self

from bench.result import Result, judged, middle, percentile
from glasshouse import MemoryStore, Terrarium
from glasshouse.manifests.world_folders import bundled_worlds
from glasshouse.models.router import ModelRouter
from glasshouse.runtime import event_loop
from glasshouse.scripts.script import Script
from glasshouse.scripts.script_text import script_of
from glasshouse.troupe.model import OfflineModel, answer
from glasshouse.turns.moment.prompt import Completion, Prompt

rounds = 3


class Noting:
    """The troupe, with every prompt noted."""

    name = "offline"

    def __init__(self) -> None:
        self.prompts: list[tuple[Prompt, Script | None]] = []
        self._troupe = OfflineModel()
        self._script: Script | None = None

    def with_script(self, script: str) -> Self:
        """The same in a world that has a script."""
        self._troupe = self._troupe.with_script(script)
        self._script = script_of(script)
        return self

    async def complete(self, prompt: Prompt) -> Completion:
        """Answer at once."""
        self.prompts.append((prompt, self._script))
        return await self._troupe.complete(prompt)


def run() -> list[Result]:
    """All figures about the troupe."""
    noting = Noting()
    for world in bundled_worlds():
        event_loop.run(_play(world.name, noting))
    milliseconds = [
        min(_milliseconds(prompt, script) for _ in range(rounds)) for prompt, script in noting.prompts
    ]
    return [
        judged("troupe: an answer, warm", middle(milliseconds), "ms CPU", "≤", 1),
        judged("troupe: nineteen of twenty answers", percentile(milliseconds, 0.95), "ms CPU", "≤", 2),
    ]


def _milliseconds(prompt: Prompt, script: Script | None) -> float:
    begun = process_time()
    answer(prompt, script=script)
    return (process_time() - begun) * 1_000


async def _play(world: str, model: Noting) -> None:
    async with Terrarium(MemoryStore(), models=ModelRouter(model)) as t:
        run = await t.open_world(world)
        await t.run(run.id)
