"""A prompt is the same whether its lines were in memory or were read from the store."""

from glasshouse import Draft, Governor, Manifest, MemoryStore, ModelRouter, Terrarium
from glasshouse.manifests.manifest import Schedule
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.runtime.ledger.folds import load_folded
from glasshouse.runtime.ledger.writer import snapshot_on_close_events_min
from glasshouse.turns.heard.recent_lines import heard_lines_max
from tests.made_up_words import word_for
from tests.runtime.test_what_prompts_see import Spy


async def lines_said(t: Terrarium, name: str, channel: str, count: int) -> None:
    drafts = [
        Draft(kind="agent.spoke", channel=channel, payload={"text": f"{channel} {n} by {name}, a pond"})
        for n in range(count)
    ]
    await t.append_all(name, drafts)


async def settled(t: Terrarium) -> None:
    """Three creatures on two channels, with more said on one of them than anybody recalls."""
    for name in ("ada", "bo", "cy"):
        await t.add_creature(
            Manifest(name=name, schedule=Schedule(tick_every=1), persona=f"{name} of the pond")
        )
    await t.connect("ada", "bo", channel="stage", both=True)
    await t.connect("bo", "cy", channel="aside", both=True)
    for round_number in range(12):
        await lines_said(t, "ada", "stage", 100)
        if round_number % 3 == 0:
            await lines_said(t, "cy", "aside", 7)


def terrarium_on(store: MemoryStore, spy: Spy) -> Terrarium:
    return Terrarium(
        store, models=ModelRouter(spy), governor=Governor(), clock=HandMovedClock(), ids=SeededIds(2)
    )


async def test_a_prompt_is_the_same_whether_its_lines_were_at_hand_or_read_after_reopening() -> None:
    through, in_two_sittings = Spy(), Spy()
    async with terrarium_on(MemoryStore(), through) as t:
        await settled(t)
        await t.step(5)
    store = MemoryStore()
    async with terrarium_on(store, in_two_sittings) as t:
        await settled(t)
        await t.step(2)
    said_before = len(in_two_sittings.prompts)
    async with terrarium_on(store, in_two_sittings) as t:
        await t.step(3)

    prompts = [(prompt.system, prompt.user) for prompt in in_two_sittings.prompts]
    assert prompts == [(prompt.system, prompt.user) for prompt in through.prompts]
    assert "stage 99 by ada, a pond" in through.prompts[0].user
    assert f"Line 2, {word_for(2)}." in in_two_sittings.prompts[said_before].user


async def test_a_store_that_is_opened_again_holds_no_lines_until_somebody_drives() -> None:
    store = MemoryStore()
    async with terrarium_on(store, Spy()) as t:
        await settled(t)
        await t.step(1)

    await store.open("again")
    folded = await load_folded(store)
    await store.close()

    tables = folded.tables.said.values()
    assert folded.snapshot_bytes > 0
    assert sum(table.total for table in tables) > snapshot_on_close_events_min
    assert [table.lines_cache for table in tables] == [None] * len(tables)
    assert all(heard_lines_max > table.count - heard_lines_max for table in tables)
