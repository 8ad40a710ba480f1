"""Concurrent calls: each is decided as a whole, in one order, as if the calls had come one after another."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from glasshouse import Draft, Manifest, Refused, Terrarium, kinds
from glasshouse.errors import UnknownName
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.views import Change
from tests.rules.world.reference_model import Outcome, ReferenceModel
from tests.rules.world.shape import check_folds_agree
from tests.rules.world.test_rules_of_the_graph import RulesOfTheGraph
from tests.runtime.stores_around import GatedStore, StoreAround
from tests.runtime.troupe import all_events, born, line, loop_turns, soon, terrarium_on, troupe

Step = tuple[str, tuple[Any, ...]]

tasks = 12
calls_of_a_task = 12


def step_from(dice: random.Random, t: Terrarium) -> Step:
    """A call that makes sense in the world as it is pending now."""
    alive = [creature.id for creature in t.creatures()]
    if len(alive) < 4:
        return "add", (dice.choice(["ada", "bo", "cy"]),)
    first, other = dice.choice(alive), dice.choice(alive)
    sort = dice.choice(
        ["add", "connect", "connect", "disconnect", "disconnect", "remove", "append", "append"]
    )
    if sort == "add":
        return "add", (dice.choice(["ada", "bo", "cy"]),)
    if sort == "connect":
        return "connect", (first, other, dice.choice([None, "talk", "den"]))
    if sort == "disconnect":
        return "disconnect", (first, other)
    if sort == "remove":
        return "remove", (first,)
    return "append", (first, dice.choice([None, None, *t.graph(t.creature(first).graph_id).channels]))


async def call(t: Terrarium, step: Step, **dry: Any) -> Any:
    sort, given = step
    calls: dict[str, Callable[..., Awaitable[Any]]] = {
        "add": lambda name: t.add_creature(Manifest(name=name), **dry),
        "connect": lambda a, b, channel: t.connect(a, b, channel=channel, **dry),
        "disconnect": lambda a, b: t.disconnect(a, b, **dry),
        "remove": lambda name: t.remove_creature(name, **dry),
        "append": lambda name, channel: t.append(name, said(channel), **dry),
    }
    return await calls[sort](*given)


def said(channel: str | None) -> Draft:
    return Draft(kind=kinds.AGENT_SPOKE, channel=channel, payload={"text": "hm"})


def modelled(model: ReferenceModel, step: Step) -> Outcome:
    sort, given = step
    if sort == "add":
        return model.add(given[0], (kinds.AGENT_SPOKE,), (kinds.AGENT_SPOKE,))[1]
    if sort == "connect":
        return model.connect(*given, both=False)
    if sort == "disconnect":
        return model.disconnect(given[0], given[1], None)
    if sort == "remove":
        return model.remove(*given)
    model.say(given[0], kinds.AGENT_SPOKE, given[1])
    return Outcome(is_told=False)


async def played_at_once(seed: int) -> tuple[list[Step], list[Any]]:
    """Steps in the order in which they were decided, and the ledger they left."""
    store, steps = StoreAround(), list[Step]()
    async with Terrarium(store, clock=HandMovedClock(), ids=SeededIds(0)) as t:

        async def caller(number: int) -> None:
            dice = random.Random(f"{seed}.{number}")
            for _ in range(calls_of_a_task):
                step = step_from(dice, t)
                steps.append(step)
                with suppress(Refused):
                    await call(t, step)
                for _ in range(dice.randrange(3)):
                    await asyncio.sleep(0)

        await soon(asyncio.gather(*(caller(n) for n in range(tasks))))
        await check_folds_agree(t, store)
    assert max(store.commits) > 8, "calls did share commits"
    return steps, [_facts_of(event) for event in await all_events(store)]


def _facts_of(event: Any) -> tuple[Any, ...]:
    return (event.id, event.kind, event.actor, event.payload, event.lamport, event.graph_id, event.channel_id)


@pytest.mark.parametrize("seed", range(4))
def test_calls_at_once_come_out_as_calls_one_after_another(seed: int) -> None:
    steps, ledger = asyncio.run(played_at_once(seed))
    replay = RulesOfTheGraph()
    replay.opens()

    try:
        for step in steps:
            replay.play(
                lambda step=step: modelled(replay.model, step),  # type: ignore[misc]
                lambda step=step, **dry: call(replay.terrarium, step, **dry),
            )
        replay.the_terrarium_is_as_the_model_says()
        again = [_facts_of(event) for event in replay.wait(all_events(replay.store))]
    finally:
        replay.teardown()

    assert again == ledger


async def test_removing_one_creature_twice_at_once_is_one_success_and_one_refusal() -> None:
    async with terrarium_on(StoreAround()) as t:
        await troupe(t, "ada", "bo", "cy")

        answers = await soon(
            asyncio.gather(t.remove_creature("bo"), t.remove_creature("bo"), return_exceptions=True)
        )

        assert [type(answer) for answer in answers] == [Change, UnknownName]
        assert [creature.id for creature in t.creatures()] == ["ada", "cy"]


async def test_two_who_connect_the_same_pair_at_once_make_one_merge() -> None:
    async with terrarium_on(StoreAround()) as t:
        await born(t, "ada", "bo")

        first, other = await soon(asyncio.gather(t.connect("ada", "bo"), t.connect("bo", "ada")))

        assert sorted([first.kind, other.kind]) == ["merge", "nothing"]
        assert len(t.graphs()) == 1


@pytest.mark.parametrize(
    ("makes", "unmakes"),
    [
        (lambda t: t.add_creature(Manifest(name="eve")), lambda t: t.remove_creature("eve")),
        (lambda t: t.wire("ada", "bo"), lambda t: t.unwire("ada", "bo")),
        (lambda t: t.stop_creature("bo"), lambda t: t.remove_creature("bo")),
        (lambda t: t.grant_privilege("bo"), lambda t: t.remove_creature("bo")),
        (
            lambda t: t.add_channel(t.creature("ada").graph_id, "den"),
            lambda t: t.remove_channel(t.creature("ada").graph_id, "den"),
        ),
    ],
    ids=["add", "wire", "stop", "grant", "channel"],
)
async def test_a_call_whose_work_is_undone_at_once_by_another_still_succeeded(
    makes: Callable[[Terrarium], Awaitable[Any]], unmakes: Callable[[Terrarium], Awaitable[Any]]
) -> None:
    store = GatedStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        store.gate.clear()

        making = asyncio.ensure_future(makes(t))
        await loop_turns()
        unmaking = asyncio.ensure_future(unmakes(t))
        await loop_turns()
        store.gate.set()
        answers = await soon(asyncio.gather(making, unmaking, return_exceptions=True))

        assert [answer for answer in answers if isinstance(answer, Exception)] == []


async def test_an_append_goes_to_the_graph_its_creature_is_in_when_it_is_decided() -> None:
    store = GatedStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        await born(t, "cy")
        store.gate.clear()

        calls: list[asyncio.Future[Any]] = [
            asyncio.ensure_future(t.append("ada", line("before"))),
            asyncio.ensure_future(t.connect("cy", "ada", channel="talk", both=True)),
            asyncio.ensure_future(t.append("ada", line("after"))),
        ]
        await loop_turns()
        store.gate.set()
        before, merge, after = await soon(asyncio.gather(*calls))

        assert merge.kind == "merge"
        assert after.session_id == t.creature("ada").session_id
        assert before.session_id in t.session(after.session_id).parent_session_ids
