"""Long memory finds what a creature heard or said, and nothing else: after any history, on every store.

What a creature may find is asked of `who_knew`, line by line. Then each word is searched for each creature, also up to a time in the past,
by an index that was dropped and made again, and with so small bounds that a line which it may not find would take the room of one that it may.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

import pytest

from glasshouse import (
    Agent,
    Draft,
    Event,
    Manifest,
    MemoryStore,
    Refused,
    SqliteStore,
    Terrarium,
    WhatIf,
    kinds,
)
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.manifest import Schedule
from glasshouse.manifests.scenario import Scenario
from glasshouse.runtime.acts import long_memory
from glasshouse.runtime.acts.long_memory import LongMemory, scope_of
from glasshouse.runtime.store_port import Store
from glasshouse.turns.moment.line_text import words_of_line
from glasshouse.turns.moment.moment import Moment
from tests.every_store import OPENERS
from tests.runtime.stage_crew import show
from tests.servers.postgres import drop_databases
from tests.simulation.seeds import rig_seeds

steps_of_history = 36
VOCABULARY = ("kettle", "lantern", "willow", "ferry", "pocket", "thimble")
LIMITS = {"max_turns": 10_000, "max_calls_per_turn": 100, "max_total_calls": 1_000_000}
TALK = (kinds.AGENT_SPOKE, kinds.AGENT_THOUGHT, kinds.AGENT_REFLECTED)
CAST = [
    Manifest(name="ada", schedule=Schedule(tick_every=1), may_emit=TALK),
    Manifest(name="bo", may_emit=TALK),
    Manifest(name="cy", subscribes_to=(kinds.USER_INJECTED,), may_emit=TALK),
]


class Teller(Agent):
    """Says a few words, or thinks them."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    async def act(self, moment: Moment) -> Draft | None:
        return a_line(self._chance)


def a_line(chance: random.Random, channel: str | None = None) -> Draft:
    text = " ".join(chance.sample(VOCABULARY, 2))
    kind = chance.choice([kinds.AGENT_SPOKE] * 6 + [kinds.AGENT_THOUGHT, kinds.AGENT_REFLECTED])
    payload = {"text": text, "rests_on": []} if kind == kinds.AGENT_REFLECTED else {"text": text}
    return Draft(kind=kind, channel=channel if kind == kinds.AGENT_SPOKE else None, payload=payload)


def house(chance: random.Random, store: Store, ids_seed: int = 7) -> Terrarium:
    minds = {manifest.name: Teller(chance) for manifest in CAST}
    return show(store, minds, ids_seed=ids_seed)


async def make_history(terrarium: Terrarium, chance: random.Random) -> None:
    late = {"description": "kept from newcomers", "history": "since_joined"}
    troupes = {
        "north": {"cast": ["ada", "bo", "cy"], "channels": {"talk": "", "late": late}, "root": "cy"},
        "south": {"cast": ["ada", "cy"]},
        "east": {"cast": ["bo"]},
    }
    scenario = Scenario.model_validate({"name": "w", "troupes": troupes, "governor": LIMITS})
    await terrarium.open_world(LoadedWorld.of(scenario, CAST), rng_seed=1)
    for _ in range(steps_of_history):
        with suppress(Refused):  # Chance asks for much that cannot be.
            await one_step(terrarium, chance)


async def one_step(terrarium: Terrarium, chance: random.Random) -> None:  # noqa: PLR0912 (one case a deed)
    names = [creature.id for creature in terrarium.creatures()]
    first, second = chance.choice(names), chance.choice(names)
    graph = terrarium.graph(terrarium.creature(first).graph_id)
    deeds = {
        "turn": 8,
        "say": 8,
        "connect": 5,
        "part": 4,
        "wire": 3,
        "unwire": 1,
        "remove": 1,
        "add": 1,
        "tell": 1,
    }
    deeds |= {"fork": 1, "branch": 2, "resume": 1, "open": 1, "close": 1}
    match chance.choices([*deeds], [*deeds.values()])[0]:
        case "turn":
            await terrarium.step(1)
        case "say":
            channels = [c.name for c in terrarium.environment(graph.id).channels if first in c.senders]
            await terrarium.append(first, a_line(chance, chance.choice([None, *channels])))
        case "connect":
            channel = chance.choice([None, "talk", "late", "yard"])
            await terrarium.connect(first, second, channel=channel, both=chance.random() < 0.5)
        case "part":
            await terrarium.disconnect(first, second)
        case "wire":
            when = chance.choice([None, None, "text has kettle"])
            await terrarium.wire(first, second, with_content=chance.random() < 0.6, when=when)
        case "unwire":
            await terrarium.unwire(first, second)
        case "remove" if len(names) > 4:
            await terrarium.remove_creature(first)
        case "add" if len(names) < 9:
            await terrarium.add_creature(
                chance.choice(CAST), graph=graph.id, run=terrarium.creature(first).run_id
            )
        case "tell":
            run = terrarium.creature(first).run_id
            if run is not None:
                text = f"Somebody drops a {chance.choice(VOCABULARY)}."
                await terrarium.disturb(run, text, graph_id=chance.choice([graph.id, None]))
        case "fork":
            await terrarium.fork(graph.session_id)
        case "branch" if len(terrarium.runs()) < 4:
            event = chance.choice((await terrarium.events(graph.session_id))[-40:])
            await terrarium.branch(
                graph.session_id, event.id, chance.choice([WhatIf(), WhatIf(disturb="A ferry.")])
            )
        case "resume" if len(terrarium.runs()) < 4:
            sessions = [*terrarium._house.ledger.world.sessions]
            await terrarium.resume(chance.choice(sessions), shape="as-was")
        case "open":
            await terrarium.add_channel(graph.id, f"room-{chance.randrange(99)}")
        case "close" if graph.channels:
            await terrarium.remove_channel(graph.id, chance.choice(graph.channels))


async def ledger_of(store: Store) -> list[Event]:
    return await store.read_after(0, await store.position())


async def known_lines(terrarium: Terrarium) -> dict[str, list[Event]]:
    """The lines that `who_knew` grants each living creature with their words."""
    living = {creature.id for creature in terrarium.creatures()}
    known: dict[str, list[Event]] = {name: [] for name in living}
    for event in await ledger_of(terrarium._house.store):
        if event.kind in kinds.NO_LINES:
            continue
        for knower in (await terrarium.who_knew(event.id)).knowers:
            is_own_copy = event.kind != kinds.USER_INJECTED or await sees_this_copy(
                terrarium, knower.creature, event
            )
            if knower.creature in living and knower.with_content and not knower.is_elsewhere and is_own_copy:
                known[knower.creature].append(event)
    return known


async def sees_this_copy(terrarium: Terrarium, name: str, event: Event) -> bool:
    """Whether a creature heard this very event: `who_knew` answers for all copies of what a visitor said in several graphs."""
    from glasshouse.runtime.past.who_knew import _seen_in

    is_imported = terrarium._house.ledger.world.sessions[event.session_id].segment.is_imported
    seen = _seen_in(terrarium._house.ledger.folded, event, reborn_only=is_imported)
    return any(saw.sighting.creature.id == name for saw in seen)


async def ids_found(
    memory: LongMemory, terrarium: Terrarium, name: str, words: Iterable[str], upto: int | None = None
) -> set[str]:
    ledger = terrarium._house.ledger
    creature = ledger.world.creatures[name]
    now = ledger.world.session_of(ledger.world.graphs[creature.graph_id]).lamport
    scope = scope_of(ledger.folded, creature, now + 10_000 if upto is None else upto, ledger.position)
    return {line.event.id for line in await memory.lines_about(scope, [*words])}


def memory_of(terrarium: Terrarium) -> LongMemory:
    """Another search over the same house, as the next process would make it."""
    house = terrarium._house
    return LongMemory(house.store, house.ledger, house.history.event)


async def check_memory(terrarium: Terrarium, chance: random.Random, known: dict[str, list[Event]]) -> int:
    """Compare all searches with what `who_knew` grants; how many lines were found in all."""
    memory = memory_of(terrarium)
    count = 0
    for name, lines in known.items():
        upto = chance.choice(lines).lamport if lines else 0
        for word in VOCABULARY:
            with_word = [line for line in lines if word in words_of_line(line)]
            count += len(with_word)
            assert await ids_found(memory, terrarium, name, [word]) == {line.id for line in with_word}, (
                name,
                word,
            )
            before = {line.id for line in with_word if line.lamport <= upto}
            assert await ids_found(memory, terrarium, name, [word], upto) == before, (name, word, upto)
            newest = sorted(with_word, key=lambda line: (-line.lamport, -(line.position or 0)))
            with (
                patch.object(long_memory, "lines_of_word_max", 3),
                patch.object(long_memory, "lines_read_max", 2),
            ):
                few = await ids_found(memory, terrarium, name, [word])
            assert few == {line.id for line in newest[:2]}, (name, word)
    return count


@pytest.fixture
def unbounded() -> Iterable[None]:
    with (
        patch.object(long_memory, "lines_of_word_max", 10_000),
        patch.object(long_memory, "lines_read_max", 10_000),
        patch.object(long_memory, "step_events_max", 64),
    ):
        yield


@pytest.mark.usefixtures("unbounded")
@pytest.mark.parametrize("kind", OPENERS)
@pytest.mark.parametrize("seed", rig_seeds(2, also=[65]))
async def test_what_was_heard_is_found_and_nothing_else(kind: str, seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    async with house(chance, OPENERS[kind](tmp_path)()) as terrarium:
        await make_history(terrarium, chance)
        known = await known_lines(terrarium)
        count = await check_memory(terrarium, chance, known)
        await terrarium._house.store.drop_index()
        again = await check_memory(terrarium, chance, known)
    drop_databases()

    assert count == again > 0


@pytest.mark.usefixtures("unbounded")
@pytest.mark.parametrize("seed", rig_seeds(2, also=[17]))
async def test_so_it_is_of_a_past_that_came_in_a_file_and_goes_on_here(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    async with house(chance, MemoryStore(), ids_seed=8) as there:
        await make_history(there, chance)
        biggest = max(there.graphs(), key=lambda graph: len(graph.creature_ids))
        file = await there.export(biggest.session_id, tmp_path / "show.glass", role="director")
    async with house(chance, SqliteStore(tmp_path / "here.glasshouse")) as here:
        await make_history(here, chance)
        imported = await here.import_file(file)
        await here.resume(imported.id, shape="as-was")
        for _ in range(10):
            with suppress(Refused):  # Chance asks for much that cannot be.
                await one_step(here, chance)

        assert await check_memory(here, chance, await known_lines(here)) > 0
