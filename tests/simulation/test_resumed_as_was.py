"""A play with any history that is stopped, then reopened or resumed, continues as if it had never stopped.

The agents here say everything they see: who is around them, what they heard, what wires handed them. So if a creature
lost part of its memory, edges or mail, or got those of another, its next line would differ.
"""

from __future__ import annotations

import random
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from glasshouse import Agent, Draft, Manifest, MemoryStore, Refused, SqliteStore, Toolbox, WhatIf, kinds
from glasshouse.manifests.loading import LoadedWorld
from glasshouse.manifests.manifest import Schedule
from glasshouse.manifests.scenario import Scenario
from glasshouse.models.router import ModelRouter
from glasshouse.models.scripted import ScriptedModel
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.runtime.parts import Parts
from glasshouse.runtime.store_port import Store
from glasshouse.terrarium import Terrarium
from glasshouse.turns.moment.moment import Moment
from tests.runtime.troupe import terrarium_of
from tests.simulation.ledger_checks import check_ends
from tests.simulation.seeds import rig_seeds

steps_of_history = 40
turns_after = 20
steps_after_a_branch = 8
creatures_max = 9
LIMITS = {"max_turns": 10_000, "max_calls_per_turn": 10_000, "max_total_calls": 1_000_000}


class Witness(Agent):
    """Says a fingerprint of everything that it was shown."""

    async def act(self, moment: Moment) -> Draft | None:
        seen: list[Any] = [
            [
                (moment.handles.get(e.actor, e.actor), e.kind, e.channel, e.payload)
                for e in moment.recent_events
            ],
            repr(moment.around),
            (moment.cause.kind, moment.cause.payload, moment.cause.channel),
            repr(moment.handed),
            moment.lines_before,
            sorted(moment.known.items()),
            moment.seed,
        ]
        mark = blake2b(repr(seen).encode(), digest_size=6).hexdigest()
        kind = kinds.AGENT_SPOKE if len(moment.recent_events) % 3 else "note.made"
        return Draft(kind=kind, payload={"text": mark})


MANIFESTS = [
    Manifest(name="ada", schedule=Schedule(tick_every=1), may_emit=(kinds.AGENT_SPOKE, "note.made")),
    Manifest(
        name="bo",
        schedule=Schedule(tick_every=3),
        subscribes_to=("note.made",),
        may_emit=(kinds.AGENT_SPOKE, "note.made"),
    ),
    Manifest(name="cy", subscribes_to=(kinds.USER_INJECTED, "note.made"), may_emit=(kinds.AGENT_SPOKE,)),
    Manifest(
        name="di", schedule=Schedule(tick_every=2, together=True), may_emit=(kinds.AGENT_SPOKE, "note.made")
    ),
]


def house(store: Store | None = None) -> Terrarium:
    parts = Parts(
        store or MemoryStore(),
        HandMovedClock(),
        SeededIds(5),
        ModelRouter(ScriptedModel("{}")),
        lambda _manifest: Witness(),
        Toolbox(has_built_in=False),
    )
    return terrarium_of(parts)


async def make_history(terrarium: Terrarium, seed: int) -> None:
    """Adds, removes, merges, splits, forks, stops, wires and turns, in an order that the seed decides."""
    chance = random.Random(seed)
    troupes = {f"t{number}": {"cast": [chance.choice(MANIFESTS).name]} for number in range(4)}
    scenario = Scenario.model_validate(
        {"name": "w", "troupes": troupes, "governor": LIMITS, "kinds": {"note.made": {"text": "string"}}}
    )
    await terrarium.open_world(LoadedWorld.of(scenario, MANIFESTS), rng_seed=seed)
    for _ in range(steps_of_history):
        try:
            await one_step(terrarium, chance)
        except Refused:
            continue


async def one_step(terrarium: Terrarium, chance: random.Random) -> None:  # noqa: PLR0912 (one case a deed)
    names = [creature.id for creature in terrarium.creatures()]
    first, second = chance.choice(names), chance.choice(names)
    graph = terrarium.graph(terrarium.creature(first).graph_id)
    deed = chance.choices(
        [
            "turn",
            "add",
            "remove",
            "connect",
            "part",
            "stop",
            "start",
            "wire",
            "unwire",
            "close",
            "fork",
            "tell",
        ],
        [10, 2, 1, 5, 3, 1, 2, 2, 1, 1, 1, 1],
    )[0]
    match deed:
        case "turn":
            await terrarium.step(1)
        case "add" if len(names) < creatures_max:
            run_id = terrarium.creature(first).run_id
            await terrarium.add_creature(chance.choice(MANIFESTS), graph=graph.id, run=run_id)
        case "remove" if len(names) > 3:
            await terrarium.remove_creature(first)
        case "connect":
            channel = chance.choice([None, "talk", "yard"])
            await terrarium.connect(first, second, channel=channel, both=chance.random() < 0.5)
        case "part":
            await terrarium.disconnect(first, second)
        case "stop":
            await terrarium.stop_creature(first)
        case "start":
            await terrarium.start_creature(first)
        case "wire":
            await terrarium.wire(first, second, prompt=chance.choice([None, "What of {text}?"]))
        case "unwire":
            await terrarium.unwire(first, second)
        case "close" if graph.channels:
            await terrarium.remove_channel(graph.id, chance.choice(graph.channels))
        case "fork":
            await terrarium.fork(graph.session_id)
        case "tell":
            run = terrarium.creature(first).run_id
            if run is not None:
                where = chance.choice([graph.id, None])
                await terrarium.disturb(run, f"A knock, {chance.random()}.", graph_id=where)
        case _:
            await terrarium.add_channel(graph.id, f"room-{chance.randrange(1000)}")


async def branch_somewhere(terrarium: Terrarium, chance: random.Random) -> None:
    """A branch from a late event of some graph, with or without a change, and some steps after it."""
    graph = chance.choice(terrarium.graphs())
    event = chance.choice((await terrarium.events(graph.session_id))[-60:])
    handle = terrarium.creature(chance.choice(graph.creature_ids)).handle
    change = chance.choice(
        [
            WhatIf(),
            WhatIf(disturb="A door slams."),
            WhatIf(drop=True),
            WhatIf(replace="Otherwise."),
            WhatIf(remove=(handle,)),
            WhatIf(add=(chance.choice(MANIFESTS),)),
        ]
    )
    with suppress(Refused):  # Chance asks for much that cannot be.
        await terrarium.branch(graph.session_id, event.id, change)
    for _ in range(steps_after_a_branch):
        with suppress(Refused):  # The same.
            await one_step(terrarium, chance)


def shape_of(terrarium: Terrarium, graph_id: str) -> dict[str, Any]:
    """A graph by the handles of its creatures and the names of its channels."""
    graph = terrarium.graph(graph_id)
    handle = {name: terrarium.creature(name).handle for name in graph.creature_ids}
    channels = terrarium.environment(graph_id).channels
    return {
        "turn": graph.turn,
        "creatures": sorted(
            (handle[n], terrarium.creature(n).is_running, terrarium.creature(n).cast_key)
            for n in graph.creature_ids
        ),
        "channels": sorted(
            (c.name, c.history, [handle[n] for n in c.listeners], [handle[n] for n in c.senders])
            for c in channels
        ),
        "wires": [(handle[w.source], handle[w.target], w.with_content, w.prompt) for w in graph.wires],
    }


async def owed_in(terrarium: Terrarium, graph_id: str) -> dict[str, list[str]]:
    """What is owed, by handle: the kinds and words of the causes, in order."""
    graph = terrarium.graph(graph_id)
    return {
        terrarium.creature(name).handle: [f"{e.kind} {e.payload}" async for e in terrarium.mail(name)]
        for name in graph.creature_ids
    }


async def play_on(terrarium: Terrarium, graph_id: str) -> list[tuple[Any, ...]]:
    """What happens in a graph in its next turns."""
    graph = terrarium.graph(graph_id)
    last = graph.turn + turns_after
    before = {event.id for event in await terrarium.events(graph.session_id)}
    while terrarium.graph(graph_id).turn < last and await terrarium.step_one(graph_id) is not None:
        pass
    events = [e for e in await terrarium.events(graph.session_id) if e.id not in before and e.turn < last]
    handle = {name: terrarium.creature(name).handle for name in graph.creature_ids}
    return [(e.turn, e.kind, handle.get(e.actor, e.actor), e.channel, str(e.payload)) for e in events]


def is_over(terrarium: Terrarium, graph_id: str) -> bool:
    """Whether a run of a graph's creatures has ended: there it stays over, but a resumed session continues with it."""
    runs = {terrarium.creature(name).run_id for name in terrarium.graph(graph_id).creature_ids}
    return any(run.status == "finished" for run in terrarium.runs() if run.id in runs)


async def is_told_whole(terrarium: Terrarium, graph_id: str) -> bool:
    """Whether the runs in a graph are nowhere else, and never acted in a session that its history lacks."""
    runs = [run for run in terrarium.runs() if graph_id in run.graph_ids]
    history = {event.id for event in await terrarium.events(terrarium.graph(graph_id).session_id)}
    acts = [e.id for run in runs for e in await terrarium.run_events(run.id) if e.run_id == run.id]
    return history.issuperset(acts) and all(run.graph_ids == (graph_id,) for run in runs)


def worth_looking_at(terrarium: Terrarium) -> str:
    """The graph with most creatures, the oldest of those."""
    graphs = terrarium.graphs()
    return max(graphs, key=lambda graph: len(graph.creature_ids)).id


async def carried_and_resumed(there: Terrarium, graph_id: str, here: Terrarium, folder: Path) -> str:
    """A graph exported, imported into another house, and resumed there as it was; its id there."""
    session_id = there.graph(graph_id).session_id
    file = await there.export(session_id, folder / "show.glass", role="director")
    imported = await here.import_file(file)
    (again,) = (await here.resume(imported.id, shape="as-was")).graph_ids
    return again


async def check_that_both_go_on_alike(there: Terrarium, graph_id: str, here: Terrarium, again: str) -> None:
    assert shape_of(here, again) == shape_of(there, graph_id)
    if is_over(there, graph_id):
        return
    assert await owed_in(here, again) == await owed_in(there, graph_id)
    is_whole = await is_told_whole(there, graph_id)
    resumed, went_on = await play_on(here, again), await play_on(there, graph_id)
    # There, the run waits for its other graphs, and counts what was spent in them; the file has no others.
    if not is_whole:
        resumed = [line for line in resumed if line[1] != kinds.RUN_FINISHED]
        went_on = [line for line in went_on if line[1] != kinds.RUN_FINISHED]
    assert resumed == went_on
    for played in (here, there):
        await check_ends(played._house.store)


@pytest.mark.parametrize("seed", rig_seeds(12, also=(117, 122)))
async def test_resumed_as_it_was_it_goes_on_as_if_it_had_never_stopped(seed: int, tmp_path: Path) -> None:
    async with house() as there, house() as here:
        await make_history(there, seed)

        graph_id = worth_looking_at(there)
        again = await carried_and_resumed(there, graph_id, here, tmp_path)

        await check_that_both_go_on_alike(there, graph_id, here, again)


@pytest.mark.parametrize("seed", rig_seeds(8, also=(14, 100, 109)))
async def test_a_past_with_branches_in_it_is_resumed_as_it_was_too(seed: int, tmp_path: Path) -> None:
    async with house() as there, house() as here:
        await make_history(there, seed)
        chance = random.Random(f"branches {seed}")
        for _ in range(2):
            await branch_somewhere(there, chance)

        graph_id = there.graphs()[-1].id
        again = await carried_and_resumed(there, graph_id, here, tmp_path)

        await check_that_both_go_on_alike(there, graph_id, here, again)


@pytest.mark.parametrize("seed", rig_seeds(6))
async def test_branched_in_place_it_goes_on_as_its_parent_does(seed: int) -> None:
    async with house() as terrarium:
        await make_history(terrarium, seed)
        graph_id = worth_looking_at(terrarium)

        session_id = terrarium.graph(graph_id).session_id
        run = await terrarium.branch(session_id)

        (again,) = [
            name
            for name in run.graph_ids
            if terrarium.session(terrarium.graph(name).session_id).parent_session_ids == (session_id,)
        ]
        assert shape_of(terrarium, again) == shape_of(terrarium, graph_id)
        if not is_over(terrarium, graph_id):
            assert await play_on(terrarium, again) == await play_on(terrarium, graph_id)
        await check_ends(terrarium._house.store)


@pytest.mark.parametrize("seed", rig_seeds(6))
async def test_reopened_it_goes_on_as_if_it_had_never_been_closed(seed: int, tmp_path: Path) -> None:
    async with house() as never_closed:
        await make_history(never_closed, seed)
        graph_id = worth_looking_at(never_closed)
        expected = await play_on(never_closed, graph_id)
    async with house(SqliteStore(tmp_path / "a.glasshouse")) as closed:
        await make_history(closed, seed)
        graph_then = worth_looking_at(closed)
        shape, owed = shape_of(closed, graph_then), await owed_in(closed, graph_then)

    async with house(SqliteStore(tmp_path / "a.glasshouse")) as reopened:
        assert shape_of(reopened, graph_then) == shape
        assert await owed_in(reopened, graph_then) == owed
        assert await play_on(reopened, graph_then) == expected
        await check_ends(reopened._house.store)
