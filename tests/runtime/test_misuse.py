"""Misuse of the API: it is refused with a message, changes nothing, and does not affect other callers."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from glasshouse import Draft, EventFilter, Manifest, MemoryStore, Refused, SqliteStore, Terrarium
from glasshouse.errors import StoreError
from glasshouse.runtime.clock import SeededIds
from glasshouse.runtime.ledger import history
from glasshouse.world.state.lineage import Span
from glasshouse.world.state.state import World
from tests.rules.world.shape import check_folds_agree
from tests.runtime.stores_around import FailingStore, GatedStore
from tests.runtime.troupe import (
    born,
    line,
    loop_turns,
    mail_of,
    new_terrarium,
    soon,
    taken,
    terrarium_on,
    troupe,
)

Call = Callable[[Any, str], Awaitable[object]]


def as_given(value: Any) -> Any:
    """A value whose type nobody checked."""
    return value


WRONG: dict[str, Call] = {
    "a history that is none": lambda t, graph: t.add_channel(graph, "x", history="never"),
    "a description that is no text": lambda t, graph: t.add_channel(graph, "x", description=5),
    "a channel name that is no text": lambda t, graph: t.add_channel(graph, 5),
    "a description without end": lambda t, graph: t.add_channel(graph, "x", description="y" * 20_000),
    "a run that is no text": lambda t, graph: t.add_creature(Manifest(name="cy"), run=5),
    "a privilege that is no yes or no": lambda t, graph: t.add_creature(
        Manifest(name="cy"), is_privileged="yes"
    ),
    "a creature without a manifest": lambda t, graph: t.add_creature("cy"),
    "a prompt that is no text": lambda t, graph: t.wire("ada", "bo", prompt=5),
    "nobody": lambda t, graph: t.connect(None, "bo"),
    "a number for a creature": lambda t, graph: t.remove_creature(5),
    "a cause that is no text": lambda t, graph: t.append("ada", line("x"), caused_by=5),
    "a cause with endless digits": lambda t, graph: t.append(
        "ada", line("x"), caused_by="s-1." + "9" * 5_000
    ),
    "a channel that is no text": lambda t, graph: t.append(
        "ada", Draft(kind="agent.spoke", channel=as_given(5))
    ),
    "an event that is none": lambda t, graph: t.event(None),
    "an event with endless digits": lambda t, graph: t.event(
        t.creature("ada").session_id + "." + "9" * 5_000
    ),
    "an event beyond every number": lambda t, graph: t.event(t.creature("ada").session_id + "." + "9" * 17),
}


@pytest.mark.parametrize("wrong", list(WRONG))
@pytest.mark.parametrize("is_durable", [False, True])
async def test_a_wrong_argument_is_refused_in_words_and_harms_nobody(
    wrong: str, is_durable: bool, tmp_path: Path
) -> None:
    store = SqliteStore(tmp_path / "s.glasshouse") if is_durable else MemoryStore()
    async with new_terrarium(store) as t:
        graph = await troupe(t, "ada", "bo")

        with pytest.raises(Refused):
            await WRONG[wrong](t, graph)

        await check_folds_agree(t, store)
        assert (await t.append("ada", line("still here"))).payload == {"text": "still here"}
        assert (await t.add_creature(Manifest(name="dee"))).id == "dee"


async def test_a_filter_that_is_none_is_refused_before_it_can_harm_the_writer() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await troupe(t, "ada", "bo")

        with pytest.raises(Refused, match="EventFilter"):
            t.subscribe({"agent.spoke"})  # type: ignore[arg-type]

        await soon(t.append("ada", line("hello")))


@pytest.mark.parametrize("after", [-1, "x"])
async def test_a_position_that_is_none_is_refused(after: Any) -> None:
    async with terrarium_on(MemoryStore()) as t:
        with pytest.raises(Refused, match="is not a position"):
            t.subscribe(after=after)


class _RaisingFilter(EventFilter):
    def matches(self, event: object) -> bool:
        raise ZeroDivisionError


async def test_whatever_ends_the_writer_leaves_nobody_waiting_and_lets_go_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "s.glasshouse"
    t = new_terrarium(SqliteStore(path))
    await t.open()
    await troupe(t, "ada", "bo")
    watching = t.subscribe(_RaisingFilter())

    await soon(t.append("ada", line("durable, and then the news breaks")))
    with pytest.raises(StoreError):
        await soon(t.append("ada", line("refused")))
    with pytest.raises(StoreError):
        await t.close()

    del watching
    async with new_terrarium(SqliteStore(path)) as again:
        assert await mail_of(again, "bo") == ["durable, and then the news breaks"]


async def test_giving_up_on_closing_does_not_end_it() -> None:
    store = GatedStore()
    t = new_terrarium(store)
    await t.open()
    await born(t, "ada")
    store.gate.clear()
    saying = asyncio.create_task(t.append("ada", line("in flight", None)))
    await loop_turns()
    closing = asyncio.create_task(t.close())
    await loop_turns()

    closing.cancel()
    await loop_turns()
    store.gate.set()

    assert (await soon(saying)).payload == {"text": "in flight"}
    await soon(t.close())


async def test_a_terrarium_is_opened_once() -> None:
    t = new_terrarium(MemoryStore())
    await t.open()

    with pytest.raises(Refused, match="opened once"):
        await t.open()

    await t.close()
    with pytest.raises(Refused, match="opened once"):
        await t.open()


async def test_nothing_can_be_followed_before_opening_or_after_closing() -> None:
    t = new_terrarium(MemoryStore())

    with pytest.raises(StoreError, match="not open"):
        t.subscribe()
    async with t:
        pass
    with pytest.raises(StoreError, match="not open"):
        t.subscribe()


async def test_an_imported_session_with_the_next_id_stands_in_nobodys_way(tmp_path: Path) -> None:
    here, there = tmp_path / "here.glasshouse", tmp_path / "there.glasshouse"
    async with Terrarium(SqliteStore(here), ids=SeededIds(1)) as t:
        await born(t, "ada", "bo")
    shutil.copy(here, there)
    async with Terrarium(SqliteStore(there)) as t:
        await t.connect("ada", "bo")
        await t.add_creature(Manifest(name="cy"))
        for name in ("ada", "cy"):
            await t.export(t.creature(name).session_id, tmp_path / f"{name}.glass", role="director")

    async with Terrarium(SqliteStore(here)) as t:
        for name in ("ada", "cy"):
            await t.import_file(tmp_path / f"{name}.glass")
        change = await t.connect("ada", "bo")
        dee = await t.add_creature(Manifest(name="dee"))

        assert change.kind == "merge"
        assert not t.session(t.creature("ada").session_id).child_session_ids
        assert dee.id == "dee"


async def test_a_history_asked_for_while_its_merge_fails_is_refused_with_the_merge() -> None:
    store = FailingStore(0, is_in_doubt=False)
    async with terrarium_on(store) as t:
        await born(t, "ada", "bo")
        store.gate.clear()
        merging = asyncio.create_task(t.connect("ada", "bo"))
        await loop_turns()
        asking = asyncio.create_task(t.events(t.creature("ada").session_id))
        await loop_turns()

        store.fails_at = store.asked + 1
        store.gate.set()

        with pytest.raises(StoreError):
            await soon(merging)
        with pytest.raises(Refused, match="no session is called"):
            await soon(asking)


async def test_mail_that_is_followed_is_woken_by_its_own_mail_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    async with terrarium_on(MemoryStore()) as t:
        await troupe(t, "ada", "bo")
        await troupe(t, "cy", "dee")
        looks: list[int] = []
        original = history.spans_of_events

        def counted(world: World, causes: list[str]) -> list[Span]:
            looks.append(len(causes))
            return original(world, causes)

        monkeypatch.setattr(history, "spans_of_events", counted)
        mail = t.mail("bo", follow=True)
        waiting = asyncio.create_task(taken(mail, 1))
        await loop_turns()

        for n in range(20):
            await t.append("cy", line(f"elsewhere {n}"))
        assert looks == []

        await t.append("ada", line("for bo"))
        assert [event.payload for event in await soon(waiting)] == [{"text": "for bo"}]
        await mail.aclose()  # type: ignore[attr-defined]


async def test_the_lineage_of_many_sessions_asks_for_each_only_once() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await born(t, "ada", "bo")
        rounds = 60
        for _ in range(rounds):
            await t.connect("ada", "bo", channel="talk")
            await t.disconnect("ada", "bo")

        lineage = t.lineage(t.creature("ada").session_id)

        assert len(lineage.ancestors) == 3 * rounds + 1 - 1
        assert {session.agents for session in lineage.ancestors if session.origin == "merge"} == {
            ("ada", "bo")
        }


async def test_cutting_a_leaf_from_a_hub_splits_off_the_leaf_alone() -> None:
    async with terrarium_on(MemoryStore()) as t:
        await born(t, "hub", *[f"leaf-{n}" for n in range(30)])
        for n in range(30):
            await t.connect("hub", f"leaf-{n}")

        change = await t.disconnect("hub", "leaf-7")

        assert change.kind == "split"
        assert change.affected_creatures == ("leaf-7",)
