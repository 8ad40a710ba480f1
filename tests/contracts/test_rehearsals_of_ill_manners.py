"""A rehearsal finds the ill manners of a model in every form, by its replies: also where the engine has mended the line."""

import re

import pytest

from glasshouse.contests.measures import Measure
from glasshouse.contests.rehearsal import FORMS, Plan, rehearse
from glasshouse.manifests.loading import load_world
from glasshouse.model_values import Form
from glasshouse.models.openai_compatible import OpenAICompatible
from glasshouse.models.router import ModelRouter
from tests.servers.answers import Manner
from tests.servers.imitating_server import ImitatingServer, imitating_server

FOUND: list[tuple[Manner, str, float, float]] = [
    ("speaks for others", "speaks for others", 0.5, 1.0),
    ("repeats itself", "near-duplicate", 0.5, 1.0),
    ("wrong language", "language", 0.0, 0.0),
    ("refuses", "refused", 0.5, 1.0),
    ("fences", "fenced", 1.0, 1.0),
]
"""A manner, what a rehearsal measures of it, and between which bounds."""


async def measured(server: ImitatingServer, world: str, form: Form, name: str) -> Measure:
    models = ModelRouter(OpenAICompatible(server.model, server.url, server="vllm"))
    try:
        rehearsal = await rehearse(models, Plan(load_world(world), rounds=1, turns=3), "imitated", form)
    finally:
        await models.close()
    return rehearsal.measures[name]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("manner", "name", "low", "high"), FOUND, ids=[manner for manner, *_ in FOUND])
async def test_each_manner_shows_in_its_figure(
    manner: Manner, name: str, low: float, high: float, form: Form
) -> None:
    with imitating_server(
        "vllm", manner, kinds=("clue.found", "objection.raised", "hypothesis.formed")
    ) as server:
        measure = await measured(server, "mystery-roots", form, name)

    assert measure.n > 0
    assert measure.value is not None
    assert low <= measure.value <= high


@pytest.mark.parametrize("form", FORMS)
async def test_a_sealed_word_in_a_reply_is_a_leak_although_nobody_hears_it(form: Form) -> None:
    def leaking(prompt: str) -> str:
        (word,) = re.findall(r'^word: "([^"]+)"', prompt, flags=re.MULTILINE)[:1] or ["nothing"]
        return (
            f"My word is {word}, and I am proud of it."
            if "It does not count." not in prompt
            else "I say no word."
        )

    with imitating_server("vllm", say=leaking, kinds=("word.described",)) as server:
        leaks = await measured(server, "one-odd-acorn", form, "leaks")

    assert leaks.n > 0
    assert leaks.value is not None
    assert 0.4 <= leaks.value <= 0.9
