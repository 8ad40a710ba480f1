"""Random calls of group tools by privileged creatures: the rules of world and policy hold after each call."""

import json
import random
from collections import Counter
from typing import Any

import pytest

from glasshouse import Manifest, MemoryStore, kinds
from glasshouse.models.router import ModelRouter
from glasshouse.runtime.ports import Proposal
from glasshouse.terrarium import Terrarium
from glasshouse.tools.group.group_tools import GroupTools
from glasshouse.tools.group.requests import ARGUMENTS
from glasshouse.turns.moment.prompt import Completion, Prompt
from glasshouse.turns.moment.tools import ToolOffer
from tests.made_up_words import word_for
from tests.rules.world.shape import check_folds_agree
from tests.runtime.group_calls import expedition, offered, use
from tests.runtime.stage_crew import ledger_of, on_stage
from tests.simulation.ledger_checks import check_ends
from tests.simulation.seeds import replayable, rig_seeds

CALLS = 60
POPULATION, EDITS = 8, 5
POLICY = {"population_max": POPULATION, "edits_per_turn_max": EDITS, "protected": ["owl"]}
GOVERNOR = {"max_turns": 1_000, "max_total_calls": 10_000, "on_turn_limit": "defer"}
PRIVILEGED = {"lead", "hermit"}
NAMES = ["moth", "owl", "fern", "lead", "hermit", "cartographer", "botanist~2", "hermit@hermit", "nobody", ""]
CHANNELS = ["stage", "den", "attic", "lead-botanist", "stage~2", "No Name"]


def a_call(rng: random.Random, tools: dict[str, ToolOffer]) -> tuple[str, dict[str, Any]]:
    """Sometimes what is offered, filled as a model would, and sometimes anything at all."""
    if tools and rng.random() < 0.6:
        offer = tools[rng.choice(list(tools))]
        properties = offer.parameters["properties"]
        return offer.name, {name: _value(rng, name, field) for name, field in properties.items()}
    tool = rng.choice(list(ARGUMENTS))
    fields = [name for name in ARGUMENTS[tool].__struct_fields__ if rng.random() < 0.8]
    return tool, {name: _value(rng, name, {}) for name in fields}


def _value(rng: random.Random, name: str, field: dict[str, Any]) -> Any:
    if name in ("dry_run", "with_content"):
        return rng.random() < 0.3
    if "enum" in field:
        return rng.choice(field["enum"])
    if name == "channel":
        return rng.choice(CHANNELS)
    if name == "action":
        return rng.choice(["open", "close", "join", "leave", "add", "remove"])
    if name == "direction":
        return rng.choice(["listen", "send", "both"])
    if name in ("prompt", "description"):
        return ""
    return None if name in ("handle", "profile", "when", "scope") else rng.choice(NAMES)


def check_connected_iff_a_path(t: Terrarium) -> None:
    """Two creatures are in one graph if and only if a path of channels joins them."""
    world = t._house.ledger.world
    for graph in t.graphs():
        first = graph.creature_ids[0]
        assert set(world.topology.component(first)) == set(graph.creature_ids)


async def check_policy(t: Terrarium, run_id: str) -> None:
    alive = {creature.id: creature for creature in t.creatures()}
    assert sum(creature.run_id == run_id for creature in alive.values()) <= POPULATION
    assert alive.keys() >= PRIVILEGED
    assert alive["owl"].is_running
    assert {creature.id for creature in alive.values() if creature.is_privileged} == PRIVILEGED
    edits = Counter(
        (event.run_id, event.graph_id, event.turn)
        for event in await ledger_of(t)
        if event.kind == kinds.TOOL_RETURNED and event.payload.get("is_edit")
    )
    assert all(count <= EDITS for key, count in edits.items() if key[0] == run_id)


class Talkative:
    """Says something new each time, so that no scene ends for want of news."""

    name = "talkative"
    said = 0

    async def complete(self, prompt: Prompt) -> Completion:
        self.said += 1
        line = {"kind": kinds.AGENT_SPOKE, "thought": "", "text": f"A {word_for(self.said)} turned over."}
        return Completion(json.dumps(line), self.name)


async def yes(_proposal: Proposal) -> bool:
    """Lets the two runs join each other."""
    return True


async def stories_that_a_dry_run_left(t: Terrarium, before: int) -> list[str]:
    return [event.kind for event in (await ledger_of(t))[before:]]


@pytest.mark.parametrize("seed", rig_seeds(12))
async def test_random_calls_keep_the_rules_and_a_dry_run_changes_nothing(seed: int) -> None:
    rng, store, box = random.Random(seed), MemoryStore(), GroupTools(yes)
    with replayable(seed, "test_group_tools_keep_the_rules.py"):
        async with on_stage(store, models=ModelRouter(Talkative())) as t:
            run = await expedition(t, policy=POLICY, governor=GOVERNOR)
            await t.add_creature(Manifest(name="hermit"), is_privileged=True)
            for _ in range(CALLS):
                caller = "lead" if rng.random() < 0.8 else "hermit"
                tool, arguments = a_call(rng, offered(t, caller))
                before, shape = len(await ledger_of(t)), t.graphs()
                answer = await use(t, tool, by=caller, box=box, **arguments)
                if arguments.get("dry_run") or not answer.is_ok:
                    assert t.graphs() == shape
                    assert await stories_that_a_dry_run_left(t, before) == [
                        kinds.TOOL_CALLED,
                        kinds.TOOL_RETURNED,
                    ]
                check_connected_iff_a_path(t)
                await check_policy(t, run.id)
                if rng.random() < 0.1:
                    await t.step(1)
            await check_folds_agree(t, store)
            await check_ends(store)


@pytest.mark.parametrize("seed", rig_seeds(6))
async def test_whatever_is_offered_and_filled_with_what_is_offered_succeeds(seed: int) -> None:
    rng = random.Random(seed)
    with replayable(seed, "test_group_tools_keep_the_rules.py"):
        async with on_stage() as t:
            await expedition(t, policy={"population_max": 8, "protected": ["owl"]})
            for _ in range(CALLS):
                tools = offered(t, "lead")
                tool = rng.choice([name for name in tools if name not in ("group_channel", "group_wire")])
                properties = tools[tool].parameters["properties"]
                arguments = {name: rng.choice(f["enum"]) for name, f in properties.items() if "enum" in f}

                answer = await use(t, tool, **arguments)

                assert answer.is_ok, answer.text
