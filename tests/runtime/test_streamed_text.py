"""While a model writes, a program reads what is public of it; secrets and thoughts never, and the ledger nothing."""

import json
from collections.abc import Callable

import pytest

from glasshouse import kinds
from glasshouse.models import Completion, Prompt, Tokens
from glasshouse.models.router import ModelRouter
from glasshouse.runtime.ports import CallProgress, OnProgress, OnText
from tests.runtime.stage_crew import on_stage, ticking, world_of
from tests.runtime.troupe import soon

REPLY = json.dumps(
    {
        "kind": kinds.AGENT_SPOKE,
        "thought": "They must not know.",
        "text": "Good evening, moths.",
        "mood": "calm",
    }
)


class Streaming:
    """A model that gives its reply a few characters at a time, and asks each time what is shown of it."""

    name, is_free, streams = "streaming", True, True

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.look: Callable[[], str] = str

    async def complete(self, prompt: Prompt, *, on_text: OnText | None = None) -> Completion:
        assert on_text is not None
        for at in range(0, len(REPLY), 3):
            on_text(REPLY[at : at + 3])
            self.shown.append(self.look())
        return Completion(REPLY, self.name, Tokens(5, 5), usd=0.0)


async def shown_while_thinking(**fields: object) -> list[str]:
    model = Streaming()
    async with on_stage(models=ModelRouter(model)) as t:
        run = await t.open_world(world_of(ticking("ada"), ticking("bo"), **fields))
        t.thinking()
        model.look = lambda: "".join([thinking.text for thinking in t.thinking()])

        await soon(t.run(run.id, turns=1))

    return model.shown


async def test_the_text_of_a_line_comes_in_while_it_is_written() -> None:
    shown = await shown_while_thinking()

    assert "Good evening, moths." in shown
    assert all("Good evening, moths.".startswith(text) for text in shown)


class Progressing(Streaming):
    """A model that also tells how far it has read."""

    reports_progress = True

    async def complete(
        self, prompt: Prompt, *, on_text: OnText | None = None, on_progress: OnProgress | None = None
    ) -> Completion:
        assert on_progress is not None
        for progress in (CallProgress(0, 3_000), CallProgress(1_200, 3_000), CallProgress(tokens=7)):
            on_progress(progress)
            self.shown.append(self.look())
        return Completion(REPLY, self.name, Tokens(5, 5), usd=0.0)


@pytest.mark.parametrize("is_watched", [True, False])
async def test_how_far_a_slow_model_is_comes_in_while_it_reads_and_writes(is_watched: bool) -> None:
    model = Progressing()
    async with on_stage(models=ModelRouter(model)) as t:
        run = await t.open_world(world_of(ticking("ada")))
        if is_watched:
            t.thinking()
        model.look = lambda: " ".join(
            [f"{thinking.prompt_percent} {thinking.tokens}" for thinking in t.thinking()]
        )

        await soon(t.run(run.id, turns=1))

        assert t.thinking() == ()
    assert model.shown == ["0 0", "40 0", "None 7"]


async def test_the_pieces_of_a_model_that_only_streams_are_counted() -> None:
    model = Streaming()
    async with on_stage(models=ModelRouter(model)) as t:
        run = await t.open_world(world_of(ticking("ada")))
        model.look = lambda: " ".join([str(thinking.tokens) for thinking in t.thinking()])

        await soon(t.run(run.id, turns=1))

    assert model.shown[:3] == ["1", "2", "3"]


async def test_of_a_creature_that_knows_a_secret_nothing_is_shown() -> None:
    deal = {"word": {"to": ["ada", "bo"], "from": ["fern"]}}

    assert set(await shown_while_thinking(deal=deal)) == {""}
