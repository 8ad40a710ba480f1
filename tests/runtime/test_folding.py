"""Folding a line that changes no graph: it still settles the cause that it answers, and wires still hand it over. Lines after
the first one like them are folded on a short path, with the same result."""

import pytest

from glasshouse import Draft, Manifest, MemoryStore, Terrarium
from glasshouse.runtime.ledger.folds import fold_from_start
from tests.rules.world.shape import check_folds_agree
from tests.runtime.troupe import mail_of, terrarium_on

UNHEARD = "note.taken"


async def two_of_them(t: Terrarium) -> None:
    """Ada and bo on one channel; bo may also say what nobody subscribes to."""
    await t.add_creature(Manifest(name="ada"))
    await t.add_creature(Manifest(name="bo", may_emit=("agent.spoke", UNHEARD)))
    await t.connect("ada", "bo", channel="talk", both=True)


async def test_an_answer_of_a_kind_that_nobody_hears_settles_its_cause() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await two_of_them(t)
        asked = await t.append("ada", Draft(kind="agent.spoke", channel="talk", payload={"text": "well?"}))
        assert await mail_of(t, "bo") == ["well?"]

        await t.append("bo", Draft(kind=UNHEARD, payload={"text": "noted"}), caused_by=asked.id)

        assert await mail_of(t, "bo") == []
        await check_folds_agree(t, store)


async def test_a_line_of_a_kind_that_nobody_hears_is_handed_over_by_a_wire() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await two_of_them(t)
        await t.wire("bo", "ada")

        await t.append("bo", Draft(kind=UNHEARD, payload={"text": "for ada"}))

        assert await mail_of(t, "ada") == ["for ada"]
        await check_folds_agree(t, store)


@pytest.mark.parametrize("kind", ["agent.spoke", "agent.thought", "agent.passed", "agent.failed", UNHEARD])
async def test_what_is_said_again_is_remembered_as_the_store_has_it(kind: str) -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await t.add_creature(Manifest(name="ada", may_emit=(kind,)))

        for _ in range(3):
            await t.append("ada", Draft(kind=kind, payload={"text": "again", "reason": "none"}))

        anew = await fold_from_start(store, await store.position())
        assert t._house.ledger.folded.tables == anew.tables
