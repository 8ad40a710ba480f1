"""A store that fails at any commit: world, sessions, mail and readers match the ledger, and the play continues."""

import asyncio
import gc
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from glasshouse import Manifest, MemoryStore, Refused, Terrarium
from glasshouse.errors import GlasshouseError, OutcomeUnknown, StoreFailed, StoreFenced
from glasshouse.events.codec import encoded
from glasshouse.runtime.clock import HandMovedClock
from glasshouse.runtime.ledger import ledger, writer
from glasshouse.runtime.store_port import Batch, InboxWrites, SegmentWrite, SideWrites, Snapshot, Store
from glasshouse.views import Change
from tests.every_store import Opener
from tests.rules.world.shape import check_folds_agree
from tests.runtime.stores_around import FailingStore, GatedStore
from tests.runtime.troupe import (
    all_events,
    born,
    line,
    loop_turns,
    mail_of,
    soon,
    taken,
    terrarium_on,
    text_of,
    troupe,
)

Call = Callable[[Terrarium], Awaitable[Any]]

SCRIPT: list[Call] = [
    lambda t: t.add_creature(Manifest(name="ada")),
    lambda t: t.add_creature(Manifest(name="bo")),
    lambda t: t.add_creature(Manifest(name="cy")),
    lambda t: t.connect("ada", "bo", channel="talk", both=True),
    lambda t: t.append("ada", line("one")),
    lambda t: t.connect("bo", "cy", channel="talk", both=True),
    lambda t: t.append("bo", line("two")),
    lambda t: t.stop_creature("cy"),
    lambda t: t.append("ada", line("three")),
    lambda t: t.wire("ada", "cy"),
    lambda t: t.start_creature("cy"),
    lambda t: t.disconnect("ada", "bo", channel="talk"),
    lambda t: t.add_creature(Manifest(name="dee"), graph=t.creature("bo").graph_id),
    lambda t: t.fork(t.creature("bo").session_id),
    lambda t: t.remove_creature("bo"),
    lambda t: t.append("ada", line("four", None)),
]
commits_in_script = len(SCRIPT)


Fault = Callable[[int, Store], FailingStore]
"""(the number of the commit that fails, the store below) -> a store"""

FAULTS: dict[str, Fault] = {
    "before writing": lambda at, inner: FailingStore(at, inner=inner),
    "in doubt, written": lambda at, inner: FailingStore(at, is_in_doubt=True, inner=inner),
    "in doubt, lost": lambda at, inner: FailingStore(at, is_in_doubt=True, is_lost=True, inner=inner),
}


@pytest.fixture(params=FAULTS)
def fault(request: pytest.FixtureRequest) -> Fault:
    return FAULTS[str(request.param)]


async def check_all_is_as_the_ledger_says(t: Terrarium, store: FailingStore, seen: list[str]) -> None:
    """The live world is the folded one, and whoever watched saw each event once."""
    await check_folds_agree(t, store)
    assert seen == [event.id for event in await all_events(store)]
    for graph in t.graphs():
        history = [event.id for event in await t.events(graph.session_id)]
        assert len(history) == len(set(history))


@pytest.mark.parametrize("fails_at", range(1, commits_in_script + 1))
async def test_a_store_that_fails_at_one_commit_leaves_what_the_ledger_says(
    opener: Opener, fault: Fault, fails_at: int
) -> None:
    store = fault(fails_at, opener())
    async with terrarium_on(store) as t:
        watcher = t.subscribe(after=0)
        failures = 0

        for call in SCRIPT:
            try:
                await soon(call(t))
            except StoreFailed:
                failures += 1
            except Refused:
                pass  # What was asked for hangs on what was lost.
            await check_folds_agree(t, store)

        assert failures == (0 if store.writes_in_doubt else 1)
        last = await soon(t.add_creature(Manifest(name="eve")))
        await soon(t.append(last.id, line("we go on", None)))
        seen = [event.id for event in await taken(watcher, await store.position())]
        await check_all_is_as_the_ledger_says(t, store, seen)


async def test_all_behind_a_failed_commit_are_refused_and_nothing_of_them_remains(
    opener: Opener, fault: Fault
) -> None:
    store = fault(0, opener())
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        watcher = t.subscribe(after=0)
        store.gate.clear()
        first = asyncio.create_task(t.append("ada", line("first")))
        await loop_turns()
        behind = [
            asyncio.create_task(t.append("bo", line("second"))),
            asyncio.create_task(t.add_creature(Manifest(name="cy"))),
            asyncio.create_task(t.connect("cy", "ada", channel="talk")),
        ]
        await loop_turns()

        store.fails_at = store.asked + 1
        store.gate.set()
        answers = await soon(asyncio.gather(first, *behind, return_exceptions=True))

        refused = [answer for answer in answers if isinstance(answer, StoreFailed)]
        assert len(refused) == (0 if store.writes_in_doubt else 4)
        assert store.writes_in_doubt or "before it failed" in str(answers[1])
        assert ("cy" in [creature.id for creature in t.creatures()]) == store.writes_in_doubt
        assert await mail_of(t, "bo") == (["first"] if store.writes_in_doubt else [])
        said = await soon(t.append("ada", line("again")))
        seen = [event.id for event in await taken(watcher, said.position or 0)]
        await check_all_is_as_the_ledger_says(t, store, seen)


async def test_mail_that_is_followed_loses_and_doubles_nothing_when_a_commit_fails(
    opener: Opener, fault: Fault
) -> None:
    store = fault(0, opener())
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        mail = t.mail("bo", follow=True)
        await t.append("ada", line("before"))
        heard = [text_of(event) for event in await taken(mail, 1)]
        store.gate.clear()
        lost = asyncio.create_task(t.append("ada", line("in the storm")))
        await loop_turns()
        listening = asyncio.create_task(taken(mail, 2 if store.writes_in_doubt else 1))
        await loop_turns()

        store.fails_at = store.asked + 1
        store.gate.set()
        (answer,) = await soon(asyncio.gather(lost, return_exceptions=True))
        assert isinstance(answer, StoreFailed) != store.writes_in_doubt
        await soon(t.append("ada", line("after")))
        heard += [text_of(event) for event in await soon(listening)]

        assert heard == ["before", *(["in the storm"] if store.writes_in_doubt else []), "after"]
        await mail.aclose()  # type: ignore[attr-defined]


async def test_mail_asked_for_while_a_merge_fails_is_what_was_owed_before() -> None:
    store = FailingStore(0)
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        await born(t, "cy")
        await t.append("ada", line("kept"))
        store.gate.clear()
        merging = asyncio.create_task(t.connect("cy", "bo", channel="talk"))
        saying = asyncio.create_task(t.append("cy", line("lost")))
        await loop_turns()
        reading = asyncio.create_task(mail_of(t, "bo"))
        await loop_turns()

        store.fails_at = store.asked + 1
        store.gate.set()
        answers = await soon(asyncio.gather(merging, saying, return_exceptions=True))

        assert all(isinstance(answer, StoreFailed) for answer in answers)
        assert await soon(reading) == ["kept"]


async def test_a_store_that_cannot_even_be_read_is_tried_again_by_the_next_caller() -> None:
    store = FailingStore(0)
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        store.fails_at, store.failures_of_reads = store.asked + 1, 2

        with pytest.raises(StoreFailed, match="full"):
            await soon(t.append("ada", line("lost")))
        with pytest.raises(StoreFailed, match="cable"):
            await soon(t.append("ada", line("lost too")))
        await soon(t.append("ada", line("kept")))

        assert await mail_of(t, "bo") == ["kept"]
        await check_folds_agree(t, store)


async def refused_behind_a_failed_commit(t: Terrarium, store: FailingStore) -> list[object]:
    """The answers to a call whose commit fails, and to two calls that were queued behind it."""
    store.gate.clear()
    first = asyncio.create_task(t.append("ada", line("first")))
    await loop_turns()
    behind = [asyncio.create_task(t.append("bo", line(text))) for text in ("second", "third")]
    await loop_turns()
    store.fails_at = store.asked + 1
    store.gate.set()
    return await soon(asyncio.gather(first, *behind, return_exceptions=True))


async def test_all_behind_a_failed_commit_are_refused_though_the_world_cannot_be_folded_again() -> None:
    store = FailingStore(0)
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        store.failures_of_reads = 1

        answers = await refused_behind_a_failed_commit(t, store)

        assert [str(answer).count("The disk is full") for answer in answers] == [1, 1, 1]
        assert all(isinstance(answer, StoreFailed) for answer in answers)
        await soon(t.append("ada", line("kept")))
        assert await mail_of(t, "bo") == ["kept"]
        await check_folds_agree(t, store)


async def test_a_fold_that_breaks_after_a_failed_commit_ends_the_ledger_and_keeps_nobody_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = FailingStore(0)
    opened = terrarium_on(store)
    t = await opened.__aenter__()
    await troupe(t, "ada", "bo")
    monkeypatch.setattr(writer, "load_folded", breaks)

    answers = await refused_behind_a_failed_commit(t, store)

    assert [type(answer) for answer in answers] == [StoreFailed] * 3
    with pytest.raises(StoreFailed, match="not open"):
        await soon(t.append("ada", line("too late")))
    with pytest.raises(StoreFailed, match="before its time: RuntimeError"):
        await opened.__aexit__(None, None, None)


async def test_a_fold_that_breaks_loses_nothing_that_is_on_its_way(monkeypatch: pytest.MonkeyPatch) -> None:
    store = GatedStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        store.gate.clear()
        first = asyncio.create_task(t.append("ada", line("first")))
        await loop_turns()
        with monkeypatch.context() as broken:
            broken.setattr(ledger, "fold", breaks_at_once)
            with pytest.raises(RuntimeError):
                await t.add_creature(Manifest(name="cy"))

        second = asyncio.create_task(t.append("bo", line("second")))
        await loop_turns()
        store.gate.set()

        said = [await soon(first), await soon(second)]
        assert [event.payload["text"] for event in said] == ["first", "second"]
        await check_folds_agree(t, store)


def breaks_at_once(*_: object) -> None:
    raise RuntimeError("The fold has an error.")


async def breaks(*_: object) -> None:
    raise RuntimeError("The fold has an error.")


async def test_a_caller_who_leaves_while_the_world_is_folded_again_locks_nobody_out() -> None:
    store = FailingStore(0)
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        store.fails_at, store.failures_of_reads = store.asked + 1, 1
        with pytest.raises(StoreFailed):
            await soon(t.append("ada", line("lost")))
        store.gate_of_reads.clear()
        impatient = asyncio.create_task(t.append("ada", line("never mind")))
        await loop_turns()

        impatient.cancel()
        await loop_turns()
        store.gate_of_reads.set()

        await soon(t.append("ada", line("kept")))
        assert await mail_of(t, "bo") == ["kept"]


async def test_a_ledger_that_somebody_else_wrote_into_answers_every_call() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await born(t, "ada")
        last = await t.append("ada", line("mine", None))
        foreign = replace(
            last, id=f"{last.session_id}.{last.seq + 1}", seq=last.seq + 1, lamport=last.lamport + 1
        )
        await store.commit([Batch((SegmentWrite(last.session_id, last.seq, (encoded(foreign),)),))])

        with pytest.raises(GlasshouseError):
            await soon(t.append("ada", line("not where it thinks", None)))

        said = await soon(t.append("ada", line("after looking again", None)))
        assert said.seq == foreign.seq + 1


async def test_a_snapshot_that_fails_raises_no_alarm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "snapshot_events_min", 4)
    monkeypatch.setattr(writer, "snapshot_bytes_per_event_max", 1 << 40)
    alarms: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: alarms.append(context))
    store = FailingStore(3)
    async with terrarium_on(store) as t:
        calls: list[Awaitable[Any]] = [t.add_creature(Manifest(name="ada")) for _ in range(6)]

        await soon(asyncio.gather(*calls, return_exceptions=True))

        await soon(t.add_creature(Manifest(name="bo")))
        await check_folds_agree(t, store)
    gc.collect()
    assert alarms == []


async def test_what_a_failed_commit_took_back_can_be_asked_for_again() -> None:
    store = FailingStore(0)
    async with terrarium_on(store) as t:
        await born(t, "ada", "bo")
        store.fails_at = store.asked + 1
        with pytest.raises(StoreFailed):
            await soon(t.connect("ada", "bo"))

        change: Change = await soon(t.connect("ada", "bo"))

        assert change.kind == "merge"
        assert len(t.graphs()) == 1


# In doubt


async def test_nobody_is_answered_before_a_commit_in_doubt_was_looked_up() -> None:
    store, clock = FailingStore(0, is_in_doubt=True), HandMovedClock()
    async with Terrarium(store, clock=clock) as t:
        await troupe(t, "ada", "bo")
        store.fails_at = store.asked + 1
        store.failures_of_lookups = 2
        position = await store.position()

        saying = asyncio.create_task(t.append("ada", line("said")))
        for lookups in (1, 2):
            await loop_turns()
            assert not saying.done()
            assert store.lookups == [position + 1] * lookups
            clock.move(writer.lookup_pause_seconds)
        said = await soon(saying)

        assert said.position == position + 1
        assert store.lookups == [position + 1] * 3
        assert await mail_of(t, "bo") == ["said"]
        await check_folds_agree(t, store)


async def test_a_ledger_that_cannot_find_out_what_was_written_is_broken_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(writer, "lookup_pause_seconds", 0.0)
    inner = MemoryStore()
    store = FailingStore(0, is_in_doubt=True, inner=inner)
    async with Terrarium(store) as t:
        await troupe(t, "ada", "bo")
        store.failures_of_lookups = writer.lookups_max

        answers = await refused_behind_a_failed_commit(t, store)
        commits = store.asked

        assert isinstance(answers[0], OutcomeUnknown)
        assert [type(answer) for answer in answers[1:]] == [StoreFailed, StoreFailed]
        for _ in range(2):
            with pytest.raises(OutcomeUnknown, match=r"does not answer.*open the store again"):
                await soon(t.append("ada", line("and now?")))
        assert (len(store.lookups), store.asked) == (writer.lookups_max, commits)

    async with terrarium_on(inner) as t:
        assert await mail_of(t, "bo") == ["first"]


@pytest.mark.parametrize("is_lost", [False, True])
async def test_a_commit_without_events_that_is_in_doubt_is_made_again(opener: Opener, is_lost: bool) -> None:
    store = FailingStore(0, is_in_doubt=True, is_lost=is_lost, inner=opener())
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        number = await store.put_request("{}")
        store.fails_at = store.asked + 1

        await soon(
            t._house.ledger.settle(
                Batch((), SideWrites(labels=(("r-1", ("keep",)),)), InboxWrites(answers=((number, "yes"),)))
            )
        )

        assert store.lookups == []
        assert [request.answer for request in [await store.request(number)] if request is not None] == ["yes"]
        assert await store.labels() == {"r-1": ("keep",)}


class FencedStore(GatedStore):
    """A store that another process takes over."""

    is_fenced = False

    async def commit(self, batches: Sequence[Batch]) -> int:
        if self.is_fenced:
            self.commits.append(-1)
            raise StoreFenced("Process 12 has taken the store over. Nothing was written. Close this one.")
        return await super().commit(batches)


async def test_a_ledger_whose_store_was_taken_over_writes_nothing_more_and_says_so() -> None:
    store = FencedStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        await t.append("ada", line("kept"))
        store.is_fenced = True

        with pytest.raises(StoreFenced, match="Process 12"):
            await soon(t.append("ada", line("lost")))
        tried = len(store.commits)
        with pytest.raises(StoreFenced, match="Process 12"):
            await soon(t.add_creature(Manifest(name="cy")))
        t._house.ledger.keep_snapshot(Snapshot("", "some view", "1", 0, b"view"))
        await loop_turns()

        assert len(store.commits) == tried
        assert [creature.id for creature in t.creatures()] == ["ada", "bo"]
        assert await mail_of(t, "bo") == ["kept"]
        await check_folds_agree(t, store)
