"""Dry runs: the same decision without the commit. They leave no trace."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from glasshouse import Draft, Event, Manifest, MemoryStore, Refused, Terrarium
from glasshouse.errors import BadEvent, StoreError
from glasshouse.events.codec import encoded
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from tests.rules.world.shape import image_of
from tests.runtime.troupe import all_events, born, line, new_terrarium, terrarium_on, troupe
from tests.simulation.mixing import operate
from tests.simulation.seeds import rig_seeds

Call = Callable[..., Awaitable[Any]]

CHANGES = (
    "add_creature",
    "remove_creature",
    "start_creature",
    "stop_creature",
    "grant_privilege",
    "revoke_privilege",
    "connect",
    "disconnect",
    "add_channel",
    "remove_channel",
    "close_graph",
    "wire",
    "unwire",
    "append",
    "append_all",
)
steps_in_play = 120


def trying_first(call: Call) -> Call:
    """The same call, after two dry runs of it."""

    async def tried(*given: Any, **options: Any) -> Any:
        forecasts = [await answer_or_refusal(call, *given, **options, dry_run=True) for _ in range(2)]
        answer = await answer_or_refusal(call, *given, **options)
        assert [as_told(forecast) for forecast in forecasts] == [as_told(answer)] * 2
        if isinstance(answer, Refused):
            raise answer
        return answer

    return tried


async def answer_or_refusal(call: Call, *given: Any, **options: Any) -> Any:
    try:
        return await call(*given, **options)
    except Refused as refusal:
        return refusal


def as_told(answer: Any) -> Any:
    """An answer as a dry run can give it: events without their place in the store, refusals as their words."""
    if isinstance(answer, Refused):
        return type(answer), str(answer)
    if isinstance(answer, tuple):
        return [as_told(item) for item in answer]
    return encoded(answer) if isinstance(answer, Event) else answer


def test_every_change_of_the_graph_has_a_dry_run_that_gives_what_the_call_gives() -> None:
    for name in CHANGES:
        option = inspect.signature(getattr(Terrarium, name)).parameters["dry_run"]
        assert (option.kind, option.default) == (option.KEYWORD_ONLY, False)


@pytest.mark.parametrize("seed", rig_seeds(4))
async def test_a_ledger_is_the_same_to_the_byte_with_and_without_dry_runs(seed: int) -> None:
    ledgers: list[list[bytes]] = []
    for tries in (False, True):
        store = MemoryStore()
        async with terrarium_on(store) as t:
            for name in CHANGES if tries else ():
                setattr(t, name, trying_first(getattr(t, name)))
            for step in range(steps_in_play):
                await operate(t, seed, step)
        ledgers.append([encoded(event) for event in await all_events(store)])

    assert ledgers[0] == ledgers[1]
    assert len(ledgers[0]) > steps_in_play


async def test_a_show_has_the_same_digest_with_dry_runs_between_its_turns() -> None:
    digests: list[str] = []
    for tries in (False, True):
        async with Terrarium(MemoryStore(), clock=HandMovedClock(), ids=SeededIds(3)) as t:
            run = await t.open_world("thousand-token-wood", rng_seed=5, run_id="r-dry")
            for _ in range(4):
                await t.step(1)
                for creature in t.creatures() if tries else ():
                    await t.stop_creature(creature.id, dry_run=True)
                    await t.remove_creature(creature.id, dry_run=True)
                    await t.add_channel(creature.graph_id, "den", dry_run=True)
                    await t.add_creature(
                        Manifest(name="guest"), graph=creature.graph_id, run=run.id, dry_run=True
                    )
            digests.append(await t.digest(run.id))

    assert digests[0] == digests[1]


async def test_a_newcomer_that_is_only_tried_takes_no_id_and_leaves_no_agent() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        graph = await troupe(t, "ada", "bo")
        before, position = image_of(t), await store.position()

        tried = [
            await t.add_creature(Manifest(name="ada", persona="new"), graph=graph, dry_run=True)
            for _ in range(3)
        ]

        assert (image_of(t), await store.position()) == (before, position)
        assert {(born.id, born.handle, born.graph_id) for born in tried} == {("ada~2", "ada~2", graph)}
        assert len(t.creatures()) == 2
        assert await t.add_creature(Manifest(name="ada", persona="new"), graph=graph) == tried[0]


async def test_what_is_as_it_should_be_already_is_foreseen_as_it_is() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await troupe(t, "ada", "bo")
        wire = await t.wire("ada", "bo", when="kind is agent.spoke")

        assert await t.wire("ada", "bo", when="kind is agent.spoke", dry_run=True) == wire
        assert (await t.wire("ada", "bo", dry_run=True)).when is None
        assert await t.start_creature("ada", dry_run=True) == t.creature("ada")
        assert (await t.stop_creature("ada", dry_run=True)).is_running is False
        assert (await t.grant_privilege("bo", dry_run=True)).is_privileged is True
        assert (await t.revoke_privilege("bo", dry_run=True)).is_privileged is False
        assert t.creature("ada").is_running
        assert not t.creature("bo").is_privileged


async def test_a_line_that_is_only_tried_is_heard_by_nobody_and_refused_as_it_would_be() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        before, position = image_of(t), await store.position()

        tried = await t.append("ada", line("hello"), dry_run=True)
        with pytest.raises(BadEvent, match="at most"):
            await t.append_all("ada", [line("fine"), line("x" * 70_000)], dry_run=True)
        with pytest.raises(Refused, match="may not"):
            await t.append("ada", Draft(kind="story.told", payload={}), dry_run=True)

        assert (image_of(t), await store.position(), tried.position) == (before, position, None)
        assert [event async for event in t.mail("bo")] == []
        assert encoded(await t.append("ada", line("hello"))) == encoded(tried)


async def test_a_terrarium_that_is_not_open_refuses_a_dry_run_too() -> None:
    t = new_terrarium(MemoryStore())
    with pytest.raises(StoreError, match="not open"):
        await t.add_creature(Manifest(name="ada"), dry_run=True)

    async with t:
        await born(t, "ada")
    with pytest.raises(StoreError, match="not open"):
        await t.remove_creature("ada", dry_run=True)
