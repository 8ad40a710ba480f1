"""Replay of runs whose graph was changed from outside: the result is the same, and a modified record is detected."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest
from msgspec.structs import replace

from glasshouse import Event, Manifest, MemoryStore, Refused, Terrarium, kinds
from glasshouse.models.router import ModelRouter
from glasshouse.runtime.replay.record import RunRecord
from glasshouse.runtime.replay.replay import Verification
from glasshouse.runtime.run import Run
from glasshouse.terrarium import verify
from glasshouse.turns.moment.prompt import Completion, Prompt
from glasshouse.world.decisions.intents import AddCreature, Disconnect
from tests.runtime.stage_crew import ticking, world_of
from tests.runtime.test_replay import forged, verified_otherwise, written
from tests.runtime.troupe import soon
from tests.simulation.worlds_by_code import two_troupes

Deed = Callable[[Terrarium, Run], Awaitable[object]]
MOTH = Manifest(name="moth", persona="circles the lamp", subscribes_to=(kinds.AGENT_SPOKE,))


async def opened(t: Terrarium) -> Run:
    run = await t.open_world("thousand-token-wood", rng_seed=4)
    await t.step(2)
    return run


def graph_of(t: Terrarium, run: Run) -> str:
    return t.run_of(run.id).graph_ids[0]


async def plugged_in(t: Terrarium, run: Run, channel: str | None = None) -> str:
    born = await t.add_creature(MOTH, graph=graph_of(t, run), run=run.id, channel=channel)
    return born.id


async def cast_of(t: Terrarium, run: Run) -> list[str]:
    return [creature.id for creature in t.creatures() if creature.run_id == run.id]


async def plug_in(t: Terrarium, run: Run) -> None:
    moth = await plugged_in(t, run)
    await t.connect((await cast_of(t, run))[0], moth, channel="whispers", both=True)


async def come_from_afar(t: Terrarium, run: Run) -> None:
    """Born in a graph of its own, then joined: a merge."""
    moth = await t.add_creature(MOTH, run=run.id)
    await t.step(1)
    await t.connect((await cast_of(t, run))[0], moth.id, channel="stage")


async def cut_off(t: Terrarium, run: Run) -> None:
    await t.add_channel(graph_of(t, run), "perch")
    moth = await plugged_in(t, run, "perch")
    first = (await cast_of(t, run))[0]
    await t.connect(first, moth, channel="whispers", both=True)
    await t.step(1)
    await t.disconnect(first, moth, channel="whispers")
    await t.remove_channel(graph_of(t, run), "perch")


async def wire_and_unwire(t: Terrarium, run: Run) -> None:
    first, other, *_ = await cast_of(t, run)
    await t.wire(first, other, prompt="What of {text}?")
    await t.step(1)
    await t.wire(first, other, with_content=False)
    await t.step(1)
    await t.unwire(first, other)


async def rename_and_adopt(t: Terrarium, run: Run) -> None:
    first, other, *_ = await cast_of(t, run)
    await t.rename_channel(graph_of(t, run), "stage", "hall")
    await t.describe_channel(graph_of(t, run), "hall", "where echoes live")
    await t.set_parent(other, first)
    await t.step(1)
    await t.set_parent(other, None)
    await t.rename_channel(graph_of(t, run), "hall", "stage")


async def rest_and_wake(t: Terrarium, run: Run) -> None:
    first, other, *_ = await cast_of(t, run)
    await t.stop_creature(first)
    await t.grant_privilege(other)
    await t.add_channel(graph_of(t, run), "cellar", "where it is cool", "since_joined")
    await t.step(1)
    await t.start_creature(first)
    await t.connect(first, other, channel="cellar")
    await t.connect(other, first, channel="cellar")


async def leave(t: Terrarium, run: Run) -> None:
    await t.remove_creature((await cast_of(t, run))[0])


async def fork_it(t: Terrarium, run: Run) -> None:
    await t.fork(t.graph(graph_of(t, run)).session_id)


DEEDS: list[Deed] = [
    plug_in,
    come_from_afar,
    cut_off,
    wire_and_unwire,
    rename_and_adopt,
    rest_and_wake,
    leave,
    fork_it,
]


async def verified(t: Terrarium, run_id: str) -> Verification:
    return await asyncio.wait_for(verify(t, run_id), 60)


def difference(outcome: Verification) -> tuple[object, ...]:
    return outcome.recorded_event, outcome.replayed_event, outcome.prompt_diffs


@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.__name__)
async def test_what_somebody_outside_changed_is_changed_again_at_its_place(deed: Deed) -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await opened(t)
        await deed(t, run)
        await t.run(run.id)

        outcome = await verified(t, run.id)

        assert outcome.is_same, difference(outcome)
        assert (outcome.prompt_diffs, outcome.taken) == ((), 0)
        assert outcome.recorded_digest == await t.digest(run.id)


@pytest.mark.parametrize("seed", range(6))
async def test_any_changes_in_any_order_come_out_the_same(seed: int) -> None:
    chance = random.Random(seed)
    async with Terrarium(MemoryStore()) as t:
        run = await t.open_world(two_troupes(), rng_seed=seed)
        for _ in range(14):
            with suppress(Refused):  # Chance asks for much that cannot be.
                await some_change(t, run, chance)
            if chance.random() < 0.6:
                await t.step_one()
        await t.run(run.id)

        outcome = await verified(t, run.id)

        assert outcome.is_same, difference(outcome)
        assert outcome.prompt_diffs == ()


async def some_change(t: Terrarium, run: Run, chance: random.Random) -> None:
    living = await cast_of(t, run)
    first, other = chance.choice(living), chance.choice(living)
    graph = t.creature(first).graph_id
    channels = [channel.name for channel in t.environment(graph).channels]
    asked: list[Callable[[], Awaitable[object]]] = [
        lambda: t.add_creature(ticking("moth"), run=run.id, graph=chance.choice([graph, None])),
        lambda: t.connect(first, other, channel=chance.choice([*channels, None]), both=chance.random() < 0.5),
        lambda: t.connect(first, other, channel=chance.choice([*channels, "loft"])),
        lambda: t.disconnect(first, other, channel=chance.choice([*channels, None])),
        lambda: t.remove_creature(first),
        lambda: t.remove_channel(graph, chance.choice([*channels, "attic"])),
        lambda: t.wire(first, other, with_content=chance.random() < 0.5),
        lambda: t.set_parent(first, chance.choice([other, None])),
        lambda: t.rename_channel(graph, chance.choice([*channels, "attic"]), f"room-{chance.randrange(9)}"),
        lambda: t.describe_channel(graph, chance.choice([*channels, "attic"]), f"{chance.random()}"),
        lambda: t.stop_creature(first),
        lambda: t.start_creature(first),
        lambda: t.disturb(run.id, "A bell.", graph_id=graph),
    ]
    await chance.choice(asked)()


class Slow:
    """Thinks for as long as it is let; somebody changes the graph meanwhile."""

    def __init__(self) -> None:
        self._troupe = ModelRouter().route("fast").model
        self.is_asked, self.may_answer = asyncio.Event(), asyncio.Event()

    async def complete(self, prompt: Prompt) -> Completion:
        self.is_asked.set()
        await self.may_answer.wait()
        return await self._troupe.complete(prompt)


async def test_a_change_in_the_middle_of_a_thought_and_one_right_before_it_are_told_apart() -> None:
    model = Slow()
    async with Terrarium(MemoryStore(), models=ModelRouter(model)) as t:
        run = await t.open_world("thousand-token-wood", rng_seed=4)
        playing = asyncio.create_task(t.run(run.id))
        await soon(model.is_asked.wait())
        await plugged_in(t, run)
        await t.disturb(run.id, "A lantern is lit.")
        model.may_answer.set()
        await playing

        outcome = await verified(t, run.id)

        assert outcome.is_same, difference(outcome)
        assert outcome.prompt_diffs == ()


async def test_two_runs_that_shared_a_graph_are_both_played_again() -> None:
    async with Terrarium(MemoryStore()) as t:
        run, other = await opened(t), await opened(t)
        await t.connect((await cast_of(t, run))[0], (await cast_of(t, other))[0], channel="stage")
        await t.step(1)

        for played in (run, other):
            outcome = await verified(t, played.id)
            assert outcome.is_same, difference(outcome)
            assert outcome.recorded_digest == await t.digest(played.id)


async def test_a_stranger_in_the_graph_is_played_again_with_its_run() -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await opened(t)
        await t.add_creature(Manifest(name="stone", subscribes_to=()), graph=graph_of(t, run))
        await t.step(2)

        for run_id in (run.id, t.default_run_id):
            outcome = await verified(t, run_id)
            assert outcome.is_same, difference(outcome)


def event_of_kind(record: RunRecord, kind: str, index: int = -1) -> Event:
    return [event for event in written(record) if event.kind == kind][index]


def without(record: RunRecord, event: Event) -> RunRecord:
    def left(events: tuple[Event, ...]) -> tuple[Event, ...]:
        return tuple([known for known in events if known.id != event.id])

    changes = [replace(change, events=left(change.events)) for change in record.changes]
    return replace(
        record, story=left(record.story), changes=tuple([change for change in changes if change.events])
    )


def asked_otherwise(record: RunRecord, kind: type, **fields: object) -> RunRecord:
    """The last intent of a kind is another, or with no fields is not there."""
    changes = list(record.changes)
    number = max(
        n
        for n, change in enumerate(changes)
        if change.request is not None and isinstance(change.request.intent, kind)
    )
    request = changes[number].request
    assert request is not None
    assert request.intent is not None
    intent = replace(request.intent, **fields) if fields else None
    changes[number] = replace(changes[number], request=replace(request, intent=intent))
    return replace(record, changes=tuple(changes))


def unasked(record: RunRecord) -> RunRecord:
    """No request is on record any more."""
    return replace(record, changes=tuple([replace(change, request=None) for change in record.changes]))


def with_payload(record: RunRecord, event: Event, **fields: object) -> RunRecord:
    return forged(record, replace(event, payload={**event.payload, **fields}))


ALTERATIONS: dict[str, Callable[[RunRecord], RunRecord]] = {
    "a line is another": lambda r: with_payload(
        r, event_of_kind(r, kinds.AGENT_SPOKE), text="I never said this."
    ),
    "a handle is another": lambda r: with_payload(
        r, event_of_kind(r, kinds.CREATURE_STARTED), handle="mothra"
    ),
    "a persona is another": lambda r: with_payload(
        r, event_of_kind(r, kinds.CREATURE_STARTED), manifest={**MOTH.as_json(), "persona": "eats the lamp"}
    ),
    "an edge is missing": lambda r: without(r, event_of_kind(r, kinds.CHANNEL_LEFT)),
    "an edge is another's": lambda r: with_payload(
        r, event_of_kind(r, kinds.CHANNEL_LEFT), creature="nobody"
    ),
    "a channel is another": lambda r: with_payload(r, event_of_kind(r, kinds.CHANNEL_CLOSED), name="stage"),
    "nothing was asked for": unasked,
    "an intent is missing": lambda r: asked_otherwise(r, Disconnect),
    "an intent asks for another": lambda r: asked_otherwise(r, AddCreature, handle="mothra"),
    "a change tells of others": lambda r: with_payload(
        r, event_of_kind(r, kinds.TOPOLOGY_CHANGED, 1), affected_creatures=[]
    ),
}


@pytest.mark.parametrize("name", ALTERATIONS)
async def test_a_record_of_changes_that_was_tampered_with_does_not_pass(name: str) -> None:
    async with Terrarium(MemoryStore()) as t:
        run = await opened(t)
        await cut_off(t, run)
        await t.run(run.id)

        outcome = await verified_otherwise(t, run.id, ALTERATIONS[name])

        assert not outcome.is_same
        assert outcome.recorded_event is not None or outcome.replayed_event is not None


@pytest.mark.parametrize("name", ["ada", "bo"])
async def test_a_run_that_ends_with_the_turns_of_one_graph_ends_so_again_whatever_the_others_owe(
    name: str,
) -> None:
    async with Terrarium(MemoryStore()) as t:
        rooms = {"north": {"cast": ["ada"]}, "south": {"cast": ["bo"]}}
        run = await t.open_world(
            world_of(ticking("ada"), ticking("bo"), troupes=rooms, governor={"max_turns": 2})
        )
        (other,) = {"ada", "bo"} - {name}
        for _ in range(9):  # So that the other room is further in time, and the end is told there.
            await t.disturb(run.id, "A knock.", graph_id=t.creature(other).graph_id)
        while not t.run_of(run.id).is_finished:
            await t.step_one(t.creature(name).graph_id)

        outcome = await verified(t, run.id)

        assert outcome.is_same, difference(outcome)
