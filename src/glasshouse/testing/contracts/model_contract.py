"""What every model must do: derive a class from `ModelContract`, and let pytest find it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final, TypeVar, get_args

import msgspec
from msgspec.structs import replace

from glasshouse.assembly import ModelRouter
from glasshouse.errors import ModelUnreachable, Refused
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.scenario import CastEntry, Scenario
from glasshouse.model_values import Form
from glasshouse.runtime.capabilities import close_model, open_model
from glasshouse.runtime.ports import Model
from glasshouse.terrarium import Terrarium, verify
from glasshouse.testing.contracts.checking import refused_with
from glasshouse.testing.contracts.waiting import loop_turns, soon
from glasshouse.turns.moment.prompt import Completion, Prompt

T = TypeVar("T")

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"kind": {"enum": ["agent.spoke"]}, "text": {"type": "string", "maxLength": 200}},
    "required": ["kind", "text"],
    "additionalProperties": False,
}
PROMPT: Final = Prompt(
    "You are the heron of a pond. Reply with JSON.",
    "The frog says: it is early.\n\nWhat do you say?",
    SCHEMA,
    7,
    200,
)
POND: Final = LoadedWorld.of(
    Scenario(
        name="pond",
        goal="Agree what the evening is for.",
        cast=(CastEntry(use="heron"), CastEntry(use="frog")),
    ),
    [
        Manifest(name="heron", persona="Stands on one leg and asks.", schedule={"tick_every": 1}),
        Manifest(name="frog", persona="Answers every question with a plan.", schedule={"tick_every": 1}),
    ],
)
"""A world in which both creatures ask their model in each turn."""
at_once = 4
"""How many prompts a check asks side by side."""


class ModelContract:
    """All that a terrarium asks of a model. `model` makes yours; `unreachable_model` makes one whose server is gone, if yours
    has a server."""

    def model(self) -> Model:
        """A model that answers."""
        raise Refused(
            f"{type(self).__name__} makes no model.",
            "Write model(self), as docs/how-to/write-a-model.md shows.",
        )

    def unreachable_model(self) -> Model | None:
        """A model whose server does not answer. None: this kind has no server."""
        return None

    def test_it_answers_each_form_of_prompt_within_the_bounds(self) -> None:
        """A completion has a text, its numbers are sound, and a ledger can keep it."""
        for form in get_args(Form):
            completion = self._asked(partial(_complete, replace(PROMPT, form=form)))

            assert isinstance(completion, Completion)
            assert completion.text.strip()
            kept = msgspec.json.decode(msgspec.json.encode(completion), type=Completion)
            assert kept == completion

    def test_prompts_that_are_asked_side_by_side_are_all_answered(self) -> None:
        """No call waits for another for ever, and none gets the answer of another object."""
        prompts = [replace(PROMPT, seed=seed) for seed in range(at_once)]

        answers = self._asked(lambda model: asyncio.gather(*[model.complete(prompt) for prompt in prompts]))

        assert [bool(answer.text.strip()) for answer in answers] == [True] * at_once

    def test_a_call_that_is_cancelled_leaves_the_model_usable(self) -> None:
        """An act has a bound in seconds, and ends its call by cancelling it."""

        async def cancelled_first(model: Model) -> Completion:
            call = asyncio.ensure_future(model.complete(PROMPT))
            await loop_turns()
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            return await model.complete(PROMPT)

        assert self._asked(cancelled_first).text.strip()

    def test_it_may_be_closed_and_asked_again_in_another_event_loop(self) -> None:
        """A router keeps its models for as long as the program runs, and each `play` has a loop of its own."""
        model = self.model()

        answers = [_in_a_loop(model, lambda asked: asked.complete(PROMPT)) for _ in range(2)]

        assert [bool(answer.text.strip()) for answer in answers] == [True, True]

    def test_what_it_says_in_a_play_is_recorded_and_verifies(self) -> None:
        """Each act that asks it ends once, and a replay needs the record alone."""

        async def played(model: Model) -> tuple[int, bool]:
            async with Terrarium(models=ModelRouter(model)) as terrarium:
                run = await terrarium.open_world(POND)
                await terrarium.run(run.id, turns=2)
                await terrarium.finish(run.id)
                return terrarium.run_of(run.id).calls, (await verify(terrarium, run.id)).is_same

        calls, is_same = self._asked(played)

        assert calls > 0
        assert is_same

    def test_a_server_that_is_gone_is_said_with_the_error_that_pauses_a_run(self) -> None:
        """`ModelUnreachable` says that nothing was asked, so nothing was spent."""
        model = self.unreachable_model()
        if model is not None:
            with refused_with(ModelUnreachable):
                _in_a_loop(model, lambda asked: asked.complete(PROMPT))

    def _asked(self, ask: Callable[[Model], Awaitable[T]]) -> T:
        return _in_a_loop(self.model(), ask)


async def _complete(prompt: Prompt, model: Model) -> Completion:
    return await model.complete(prompt)


def _in_a_loop(model: Model, ask: Callable[[Model], Awaitable[T]]) -> T:
    async def opened() -> T:
        await open_model(model)
        try:
            return await soon(ask(model))
        finally:
            await close_model(model)

    return asyncio.run(opened())
