"""The troupe fills any schema, is a function of its prompt, and is quick."""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from random import Random
from types import FrameType
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.events import kinds
from glasshouse.troupe.model import OfflineModel, answer
from glasshouse.troupe.schema import Source, filled_schema
from glasshouse.turns.moment.character import Character
from glasshouse.turns.moment.playbill import Playbill
from glasshouse.turns.moment.prompt import Prompt
from tests.contracts.offline_stage import OfflineStage
from tests.rules.under_hash_seeds import printed_under_hash_seeds

steps_an_answer_max = 2_500
"""So many calls of functions take less than a millisecond on a machine of today; they are counted, for a clock would
also measure who else is busy."""


def is_valid(value: Any, schema: Any) -> bool:
    """A small validator for the part of JSON Schema that the strategies below write."""
    if "const" in schema:
        return bool(value == schema["const"])
    if "enum" in schema:
        return value in schema["enum"]
    if "anyOf" in schema:
        return any(is_valid(value, branch) for branch in schema["anyOf"])
    sort = schema.get("type")
    if sort == "object":
        properties, required = schema.get("properties", {}), schema.get("required", [])
        known = not (schema.get("additionalProperties") is False and set(value) - set(properties))
        return (
            isinstance(value, dict)
            and known
            and set(required) <= set(value)
            and all(is_valid(value[name], properties[name]) for name in value if name in properties)
        )
    if sort == "array":
        fits = schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", 99)
        return fits and all(is_valid(item, schema.get("items", {})) for item in value)
    if sort in {"integer", "number"}:
        if isinstance(value, bool) or (sort == "integer" and not isinstance(value, int)):
            return False
        return bool(
            schema.get("minimum", -math.inf) <= value <= schema.get("maximum", math.inf)
            and schema.get("exclusiveMinimum", -math.inf) < value < schema.get("exclusiveMaximum", math.inf)
        )
    if sort == "string":
        return isinstance(value, str) and schema.get("minLength", 0) <= len(value) <= schema.get(
            "maxLength", 9_999
        )
    if sort == "boolean":
        return isinstance(value, bool)
    return value is None if sort == "null" else True


def bounded(sort: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(
        st.integers(-50, 50), st.integers(1, 60), st.sampled_from(["", "low", "high", "both"])
    ).map(
        lambda drawn: {
            "type": sort,
            ("exclusiveMinimum" if drawn[2] in {"low", "both"} else "minimum"): drawn[0],
            ("exclusiveMaximum" if drawn[2] in {"high", "both"} else "maximum"): drawn[0] + drawn[1] + 2,
        }
    )


NAMES = st.sampled_from(["text", "word", "tone", "count", "suspect", "cites", "use", "deeper"])
LEAVES = st.one_of(
    st.just({"type": "string"}),
    st.just({"type": "string", "description": "the number of a line"}),
    st.tuples(st.integers(0, 30), st.integers(0, 30)).map(
        lambda two: {"type": "string", "minLength": two[0], "maxLength": two[0] + two[1]}
    ),
    st.just({"type": "boolean"}),
    st.just({"type": "null"}),
    st.just({"type": ["number", "null"]}).map(lambda _: {"type": "number"}),
    bounded("integer"),
    bounded("number"),
    st.lists(st.sampled_from(["moss", "fern", "owl", 7, None]), min_size=1, unique=True).map(
        lambda words: {"enum": words}
    ),
    st.sampled_from([1, "only", True]).map(lambda value: {"const": value}),
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, st.integers(0, 3), st.integers(0, 3)).map(
            lambda drawn: {
                "type": "array",
                "items": drawn[0],
                "minItems": drawn[1],
                "maxItems": drawn[1] + drawn[2],
            }
        ),
        st.lists(inner, min_size=1, max_size=3).map(lambda choices: {"anyOf": choices}),
        st.tuples(st.dictionaries(NAMES, inner, max_size=4), st.booleans()).map(
            lambda drawn: {
                "type": "object",
                "properties": drawn[0],
                "required": sorted(drawn[0]) if drawn[1] else [],
                "additionalProperties": False,
            }
        ),
    ),
    max_leaves=8,
)


@given(SCHEMAS, st.integers(0, 2**32))
@settings(max_examples=300, deadline=None)
def test_any_schema_is_filled_validly(schema: dict[str, Any], seed: int) -> None:
    source = Source(lambda name: f"the {name}", ("12", "23"), lambda: frozenset({"moss"}), Random(seed))

    value = filled_schema(schema, source)

    assert is_valid(value, schema)


@given(
    st.dictionaries(NAMES.filter(lambda name: name != "kind"), SCHEMAS, min_size=1, max_size=4),
    st.integers(0, 99),
)
@settings(max_examples=100, deadline=None)
def test_any_kind_of_a_world_is_answered_validly(fields: dict[str, Any], seed: int) -> None:
    branch = {
        "type": "object",
        "properties": {"kind": {"const": "odd.kind"}, "thought": {"type": "string"}, **fields},
        "required": ["kind", "thought", *fields],
        "additionalProperties": False,
    }
    passing = {
        "type": "object",
        "properties": {"kind": {"const": kinds.AGENT_PASSED}, "reason": {"type": "string"}},
        "required": ["kind", "reason"],
        "additionalProperties": False,
    }
    stage = OfflineStage(seed=seed)
    stage.says("hollow", "The heron has left a wet ticket on the stairs.")
    prompt = stage.prompt("apron")

    reply = json.loads(answer(Prompt(prompt.system, prompt.user, {"anyOf": [branch, passing]}, seed)))

    assert is_valid(reply, {"anyOf": [branch, passing]})


def test_a_tool_is_chosen_when_the_talk_calls_for_it() -> None:
    bill = Playbill(kinds={"aid.called": {"use": ["botanist", "locksmith", "cook"], "text": "string"}})
    stage = OfflineStage(
        (Character(name="host", may_emit=(kinds.AGENT_SPOKE, "aid.called")), *OfflineStage().cast), bill
    )
    stage.says("hollow", "We need a cook, the soup is burning.")

    called = stage.reply("host")
    stage.says("apron", "Never mind, the rain will do.")
    stage.says("host", "Good.")
    stage.says("apron", "How quiet the evening is.")
    spoke = stage.reply("host")

    assert called["use"] == "cook"
    assert spoke["kind"] == kinds.AGENT_SPOKE


def test_the_answer_is_a_function_of_prompt_and_seed() -> None:
    stage = OfflineStage()
    stage.observes("A kettle drops from the canopy.")
    stage.says("hollow", "Somebody has painted the wheelbarrow blue.")
    prompt = stage.prompt("apron")

    texts = {answer(Prompt(prompt.system, prompt.user, prompt.schema, seed)) for seed in range(20)}

    assert answer(prompt) == answer(Prompt(prompt.system, prompt.user, prompt.schema, prompt.seed))
    assert len(texts) >= 18


def test_hash_seeds_do_not_show() -> None:
    program = """
from tests.contracts.offline_stage import OfflineStage
stage = OfflineStage(seed=3)
stage.observes("A kettle drops from the canopy.")
stage.play(6)
stage.disturb("A brass brimfold hums by the pond, and the mole is afraid of the heron.")
print(stage.play(6))
from tests.contracts.test_offline_skills import a_game, a_case
game = a_game("owl")
for _ in range(8):
    event = game.act("young-seeker")
    game.act("old-holder", event)
print([(e.kind, e.payload) for e in game.events])
case = a_case()
for _ in range(3):
    for name in ("finder", "thread-spider", "polite-wasp"):
        case.act(name)
print([(e.kind, e.payload) for e in case.events], case.reply("toad"))
"""

    assert len(printed_under_hash_seeds(program)) == 1


async def test_the_model_behind_the_port_costs_nothing_and_says_so() -> None:
    prompt = OfflineStage().prompt("apron")

    completion = await OfflineModel().complete(prompt)

    assert (completion.text, completion.model, completion.usd) == (answer(prompt), "offline", 0.0)
    assert completion.usage.input > 0
    assert completion.usage.output > 0


def test_an_empty_or_foreign_prompt_is_answered_all_the_same() -> None:
    for prompt in (
        Prompt("", ""),
        Prompt("Be nice.", "Hello?\n[1] nonsense"),
        Prompt("\n\n", "THE DISCUSSION\n"),
    ):
        reply = json.loads(answer(prompt))
        assert reply["text"]


def steps_of_answering(prompts: list[Prompt]) -> int:
    """How many functions are called, of Python's own or built in, to answer these prompts."""
    steps: Counter[str] = Counter()

    def count(_frame: FrameType, event: str, _arg: object) -> None:
        steps[event] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        for prompt in prompts:
            answer(prompt)
    finally:
        sys.setprofile(before)
    return steps["call"] + steps["c_call"]


def test_an_answer_takes_few_steps() -> None:
    prompts = []
    for seed in range(20):
        stage = OfflineStage(seed=seed)
        stage.observes("Dusk in the wood. A kettle that remembers the sea drops from the canopy.")
        stage.play(3)
        for creature in stage.cast:
            prompts.append(stage.prompt(creature.name))
            stage.act(creature.name)
    answer(prompts[0])

    steps = steps_of_answering(prompts)

    assert len(prompts) < steps < steps_an_answer_max * len(prompts)
