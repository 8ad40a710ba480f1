"""Commits: events are acknowledged and published only when durable, in bounded groups, even if a caller leaves."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import product

import msgspec
import pytest

from glasshouse import Draft, Manifest, MemoryStore, Refused, Terrarium, kinds
from glasshouse.errors import BadEvent, StoreError
from glasshouse.events.codec import encoded
from glasshouse.runtime.ledger import writer
from glasshouse.runtime.ledger.folds import snapshot_key
from glasshouse.runtime.store_port import Batch, SideWrites, Snapshot
from tests.rules.world.shape import check_folds_agree, image_of
from tests.runtime.stores_around import FailingStore, GatedStore, StoreAround
from tests.runtime.troupe import (
    all_events,
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


async def test_an_append_returns_and_is_told_only_when_it_is_durable() -> None:
    store = GatedStore()
    async with terrarium_on(store) as t:
        await born(t, "ada")
        reader = t.subscribe()
        hearing = asyncio.create_task(anext(reader))
        store.gate.clear()

        saying = asyncio.create_task(t.append("ada", line("hello", None)))
        await loop_turns()

        assert not saying.done()
        assert not hearing.done()
        store.gate.set()
        assert await soon(saying) == await soon(hearing)


@pytest.mark.parametrize("subscribes_to", [(), (kinds.AGENT_SPOKE,)])
async def test_a_line_is_the_same_event_and_folded_the_same_by_every_way(
    subscribes_to: tuple[str, ...],
) -> None:
    drafts = [
        line("to all", None),
        Draft(kind=kinds.AGENT_SPOKE, channel="talk", payload={"text": "on it", "deep": [{"n": 1}, (2, 3)]}),
        Draft(kind=kinds.AGENT_THOUGHT, payload={"text": "inside"}),
        Draft(kind=kinds.AGENT_SPOKE, payload={"text": "aside"}, private={"why": "so"}),
    ]

    async def said(by: str) -> tuple[list[bytes], bytes]:
        store = MemoryStore()
        async with new_terrarium(store) as t:
            for name in ("ada", "bo", "cy"):
                may_emit = (kinds.AGENT_SPOKE, kinds.AGENT_THOUGHT)
                await t.add_creature(Manifest(name=name, subscribes_to=subscribes_to, may_emit=may_emit))
            await t.connect("ada", "bo", channel="talk", both=True)
            await t.connect("bo", "cy", channel="talk")
            for name, draft in product(("ada", "bo"), drafts * 3):
                if by == "append":
                    await t.append(name, draft)
                elif by == "append_nowait":
                    await t.append_nowait(name, draft)
                else:
                    await t.append_all(name, [draft])
            await check_folds_agree(t, store)
            events = [encoded(event) for event in await store.read_after(0, 1_000)]
            return events, msgspec.msgpack.encode(t._house.ledger.folded)

    assert await said(by="append") == await said(by="append_nowait") == await said(by="append_all")


async def test_what_was_staged_together_is_one_commit() -> None:
    store = GatedStore()
    async with terrarium_on(store) as t:
        await born(t, "ada", "bo")
        store.gate.clear()
        before = len(store.commits)
        first = asyncio.create_task(t.append("ada", line("one", None)))
        await loop_turns()
        rest = [asyncio.create_task(t.append(name, line("two", None))) for name in ("ada", "bo", "ada")]
        await loop_turns()

        store.gate.set()
        events = await soon(asyncio.gather(first, *rest))

        assert store.commits[before:] == [1, 3]
        positions = [event.position or 0 for event in events]
        assert positions == list(range(positions[0], positions[0] + 4))


async def test_a_commit_holds_at_most_512_events_but_a_batch_is_never_divided() -> None:
    store = GatedStore()
    async with terrarium_on(store) as t:
        await born(t, "ada")
        store.gate.clear()
        before = len(store.commits)
        first = asyncio.create_task(t.append("ada", line("first", None)))
        await loop_turns()
        batches = [
            asyncio.create_task(t.append_all("ada", [line("x", None)] * size))
            for size in (300, 212, 1, 700, 5)
        ]
        await loop_turns()

        store.gate.set()
        await soon(asyncio.gather(first, *batches))

        assert store.commits[before:] == [1, 512, 1, 700, 5]


@pytest.mark.parametrize("private", [None, {"why": "so"}], ids=["the short path", "the long path"])
async def test_a_commit_holds_at_most_so_many_bytes(
    private: dict[str, str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "commit_bytes_max", 10_000)
    store = GatedStore()
    async with terrarium_on(store) as t:
        await born(t, "ada")
        store.gate.clear()
        before = len(store.commits)
        draft = Draft(kind=kinds.AGENT_SPOKE, payload={"text": "x" * 2_900}, private=private)
        calls = [asyncio.create_task(t.append("ada", draft)) for _ in range(10)]
        await loop_turns()

        store.gate.set()
        await soon(asyncio.gather(*calls))

        assert sum(store.commits[before:]) == 10
        assert max(store.commits[before:]) == 3


async def test_callers_wait_when_too_many_events_are_pending(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "pending_events_max", 10)
    monkeypatch.setattr(writer, "commit_events_max", 4)
    store = GatedStore()
    async with terrarium_on(store) as t:
        await born(t, "ada")
        store.gate.clear()
        pending_most = 0

        calls = [asyncio.create_task(t.append("ada", line(f"{n}", None))) for n in range(60)]
        while not all(call.done() for call in calls):
            await asyncio.sleep(0)
            pending_most = max(pending_most, t._house.ledger.writer.queued_events)
            store.gate.set()
        said = [event.payload["text"] for event in await soon(asyncio.gather(*calls))]

        assert pending_most <= 10
        assert said == [f"{n}" for n in range(60)]


@pytest.mark.parametrize("private", [None, {"why": "so"}], ids=["the short path", "the long path"])
@pytest.mark.parametrize("text", ["x" * 900, "\N{SNOWMAN}" * 300], ids=["of one byte", "of three bytes"])
async def test_callers_wait_when_too_many_bytes_are_pending(
    text: str, private: dict[str, str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "pending_bytes_max", 10_000)
    monkeypatch.setattr(writer, "commit_events_max", 4)
    store = GatedStore()
    async with terrarium_on(store) as t:
        await born(t, "ada")
        store.gate.clear()
        draft = Draft(kind=kinds.AGENT_SPOKE, payload={"text": text}, private=private)
        pending_most = 0

        calls = [asyncio.create_task(t.append("ada", draft)) for _ in range(60)]
        while not all(call.done() for call in calls):
            await asyncio.sleep(0)
            pending_most = max(pending_most, t._house.ledger.writer.queued_events)
            store.gate.set()
        await soon(asyncio.gather(*calls))

        # A line is 900 bytes of text, and less than 300 others.
        assert 10_000 / 1_200 <= pending_most <= 10_000 / 900 + 1
        assert t._house.ledger.writer.queued_bytes == 0


async def test_prompts_and_snapshots_are_pending_bytes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "pending_bytes_max", 10_000)
    store = GatedStore()
    async with terrarium_on(store) as t:
        await born(t, "ada")
        for beside in (
            Batch(side=SideWrites(prompts=(("a digest", "x" * 10_000),))),
            Batch(snapshot=Snapshot("", "a view", "k", 1, b"x" * 10_000)),
        ):
            store.gate.clear()
            settling = [asyncio.create_task(t._house.ledger.settle(beside)) for _ in range(2)]
            await loop_turns()
            assert not t._house.ledger.writer.takes_more

            store.gate.set()
            await soon(asyncio.gather(*settling))
            assert t._house.ledger.writer.takes_more


async def test_a_refused_commit_leaves_no_bytes_pending(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "pending_bytes_max", 2_000)
    store = FailingStore(fails_at=2)
    async with terrarium_on(store) as t:
        await born(t, "ada")
        store.gate.clear()
        calls = [asyncio.create_task(t.append("ada", line("x" * 900, None))) for _ in range(4)]
        await loop_turns()
        store.gate.set()
        answers = await soon(asyncio.gather(*calls, return_exceptions=True))

        assert any(isinstance(answer, StoreError) for answer in answers)
        assert (t._house.ledger.writer.queued_bytes, t._house.ledger.writer.takes_more) == (0, True)


async def test_the_grouping_of_commits_shows_nowhere_in_the_content() -> None:
    async def played(store: StoreAround, *, is_together: bool) -> list[bytes]:
        async with terrarium_on(store) as t:
            await troupe(t, "ada", "bo")
            calls = [t.append("ada", line(f"{n}")) for n in range(20)]
            if is_together:
                await asyncio.gather(*calls)
            else:
                for call in calls:
                    await call
        return [encoded(event) for event in await all_events(store)]

    together, one_by_one = StoreAround(), StoreAround()

    bodies = await played(together, is_together=True)

    assert bodies == await played(one_by_one, is_together=False)
    assert len(together.commits) < len(one_by_one.commits)


async def test_a_caller_who_leaves_harms_nobody() -> None:
    store = GatedStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        store.gate.clear()
        calls = [asyncio.create_task(t.append("ada", line(f"{n}"))) for n in range(4)]
        await loop_turns()

        calls[1].cancel()
        await loop_turns()
        store.gate.set()
        done = await soon(asyncio.gather(*calls, return_exceptions=True))

        assert isinstance(done[1], asyncio.CancelledError)
        assert await mail_of(t, "bo") == ["0", "1", "2", "3"]
        await check_folds_agree(t, store)


async def test_mail_waits_for_durability_though_the_last_caller_has_left() -> None:
    store = GatedStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        store.gate.clear()
        calls = [asyncio.create_task(t.append("ada", line(f"{n}"))) for n in range(2)]
        await loop_turns()
        calls[1].cancel()
        await loop_turns()

        reading = asyncio.create_task(mail_of(t, "bo"))
        await loop_turns()
        store.gate.set()

        assert await soon(reading) == ["0", "1"]


async def test_a_call_that_finds_its_wish_pending_waits_until_it_is_durable() -> None:
    store = GatedStore()
    async with terrarium_on(store) as t:
        await born(t, "ada", "bo")
        store.gate.clear()

        calls = [asyncio.create_task(t.connect("ada", "bo", channel="talk")) for _ in range(2)]
        await loop_turns()

        assert [call.done() for call in calls] == [False, False]
        store.gate.set()
        assert [change.kind for change in await soon(asyncio.gather(*calls))] == ["merge", "nothing"]


async def test_a_refused_call_changes_nothing() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        graph = await troupe(t, "ada", "bo")
        await born(t, "cy")
        before, position = image_of(t), await store.position()

        refusals: list[Callable[[], Awaitable[object]]] = [
            lambda: t.append("ada", line("x", "nowhere")),
            lambda: t.append("ada", line("x" * 70_000)),
            lambda: t.append_all("ada", [line("fine"), line("x" * 70_000)]),
            lambda: t.connect("ada", "ada"),
            lambda: t.disconnect("ada", "cy"),
            lambda: t.disconnect("ada", "ada"),
            lambda: t.wire("ada", "cy"),
            lambda: t.unwire("ada", "bo"),
            lambda: t.add_channel(graph, "talk"),
            lambda: t.remove_channel(graph, "nowhere"),
            lambda: t.remove_creature("nobody"),
            lambda: t.start_creature("nobody"),
            lambda: t.fork("s-nowhere"),
        ]
        for refused in refusals:
            with pytest.raises(Refused):
                await refused()

        assert image_of(t) == before
        assert await store.position() == position


async def test_a_batch_is_written_whole_or_not_at_all() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        position = await store.position()

        with pytest.raises(BadEvent, match="at most"):
            await t.append_all("ada", [line("fine"), line("x" * 70_000)])

        assert await store.position() == position
        assert await mail_of(t, "bo") == []
        said = await t.append_all("ada", [line("one"), line("two")])
        assert [event.seq for event in said] == [said[0].seq, said[0].seq + 1]


async def test_an_empty_batch_writes_nothing() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await born(t, "ada")
        position = await store.position()

        said = await t.append_all("ada", [])

        assert said == ()
        assert await store.position() == position


async def test_what_is_written_does_not_follow_the_callers_dict() -> None:
    store = GatedStore()
    async with terrarium_on(store) as t:
        await born(t, "ada")
        draft = line("as said", None)
        draft.payload["words"] = ["as"]
        reader = t.subscribe()
        store.gate.clear()

        saying = asyncio.create_task(t.append("ada", draft))
        await loop_turns()
        draft.payload["text"] = "forged"
        draft.payload["words"].append("forged")
        store.gate.set()
        said = await soon(saying)
        draft.payload["text"] = "forged again"

        assert said.payload == {"text": "as said", "words": ["as"]}
        assert (await taken(reader, 1))[0].payload == said.payload
        assert (await t.event(said.id)).payload == said.payload


async def test_closing_makes_everything_under_way_durable() -> None:
    store = GatedStore()
    t = new_terrarium(store)
    await t.open()
    await born(t, "ada")
    store.gate.clear()
    calls = [asyncio.create_task(t.append("ada", line(f"{n}", None))) for n in range(5)]
    await loop_turns()

    closing = asyncio.create_task(t.close())
    await loop_turns()
    assert not closing.done()
    store.gate.set()
    await soon(closing)

    assert [event.payload["text"] for event in await soon(asyncio.gather(*calls))] == [
        "0",
        "1",
        "2",
        "3",
        "4",
    ]
    assert [e.payload["text"] for e in await all_events(store) if e.kind == kinds.AGENT_SPOKE][-1] == "4"


@pytest.mark.parametrize("turns", range(8))
async def test_a_call_that_meets_the_closing_is_answered_one_way_or_the_other(turns: int) -> None:
    store = MemoryStore()
    t = new_terrarium(store)
    await t.open()
    await born(t, "ada")

    closing = asyncio.create_task(t.close())
    for _ in range(turns):
        await asyncio.sleep(0)
    saying = asyncio.create_task(t.append("ada", line("late", None)))
    await soon(closing)
    (answer,) = await soon(asyncio.gather(saying, return_exceptions=True))

    is_written = [e.payload.get("text") for e in await all_events(store)][-1] == "late"
    assert is_written != isinstance(answer, StoreError)


async def test_a_closed_terrarium_says_that_it_is_not_open() -> None:
    t = Terrarium()
    async with t:
        await born(t, "ada")

    with pytest.raises(StoreError, match="not open"):
        await t.append("ada", line("too late", None))


async def test_a_snapshot_in_the_middle_of_a_commit_leaves_out_nothing_behind_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = StoreAround()
    async with terrarium_on(store) as t:
        await born(t, "ada", "bo", "cy")
        monkeypatch.setattr(t._house.ledger.writer, "snapshot_due_at", t._house.ledger.position + 1)

        await asyncio.gather(t.connect("ada", "bo"), t.connect("bo", "cy"), t.append("cy", line("hi", None)))

        assert await store.snapshot("", "world", snapshot_key()) is not None
        await check_folds_agree(t, store)
