"""Edits from inside an act: the change and the answer to its caller are one batch, even in a merge or split."""

import pytest

from glasshouse import Event, Manifest, MemoryStore, Refused, kinds
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.store_port import Store
from glasshouse.runtime.tool_context import ToolContext
from glasshouse.terrarium import Terrarium
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall
from glasshouse.world.decisions.intents import CallTool, Connect, Disconnect, Intent, RemoveCreature
from glasshouse.world.state.values import Change
from tests.rules.world.shape import check_folds_agree
from tests.runtime.stores_around import GatedStore
from tests.runtime.troupe import all_events, line, terrarium_on, troupe


def ledger_of(t: Terrarium) -> Ledger:
    return t._house.ledger


async def called_by(t: Terrarium, creature: str) -> ToolContext:
    """A call of a tool that changes the graph, durable and not yet carried out."""
    other = next(known.id for known in t.creatures() if known.id != creature)
    cause = await t.append(other, line("change something", None))
    call = ToolCall("rebuild", {})
    receipt = await ledger_of(t).change(CallTool(creature, cause.id, call.tool, call.arguments, 1))
    return ToolContext(ledger_of(t), creature, receipt.events[0], is_untrusted=False)


def done(change: Change, subject: str) -> ToolAnswer:
    return ToolAnswer(is_ok=True, text=f"{change.kind} of {subject}", is_engine=True)


async def edited(store: Store, context: ToolContext, intent: Intent) -> list[Event]:
    """The events of an edit, as the store has them."""
    before = len(await all_events(store))
    await context.edit(intent, done)
    return (await all_events(store))[before:]


async def test_an_edit_that_merges_the_callers_graph_is_told_in_the_merged_graph_in_the_same_batch() -> None:
    store = GatedStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        await t.add_creature(Manifest(name="cy"))
        context = await called_by(t, "ada")
        commits = len(store.commits)

        events = await edited(store, context, Connect("ada", "cy", "bridge"))

        edit = events[-1]
        assert len(store.commits) == commits + 1
        assert edit.kind == kinds.TOOL_RETURNED
        assert str(edit.payload["text"]).startswith("merge")
        assert context.returned is not None
        assert context.returned.id == edit.id
        assert edit.session_id == t.creature("ada").session_id == t.creature("cy").session_id
        assert {event.caused_by for event in events} == {context.called.id}
        assert {event.change for event in events} == {events[0].position}
        await check_folds_agree(t, store)


async def test_an_edit_that_splits_the_callers_graph_is_told_where_the_caller_is_then() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        await t.add_creature(Manifest(name="cy"))
        await t.connect("bo", "cy", channel="bridge")
        context = await called_by(t, "cy")

        events = await edited(store, context, Disconnect("bo", "cy"))

        edit = events[-1]
        assert edit.kind == kinds.TOOL_RETURNED
        assert edit.graph_id == t.creature("cy").graph_id != t.creature("bo").graph_id
        assert edit.session_id == t.creature("cy").session_id
        assert {event.change for event in events} == {events[0].position}
        await check_folds_agree(t, store)


async def test_an_edit_that_is_refused_leaves_no_trace() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        context = await called_by(t, "ada")
        before = await store.position()

        with pytest.raises(Refused):
            await context.edit(Disconnect("ada", "ada"), done)

        assert await store.position() == before
        assert context.returned is None


async def test_an_edit_that_removes_its_own_caller_is_told_to_nobody() -> None:
    store = MemoryStore()
    async with terrarium_on(store) as t:
        await troupe(t, "ada", "bo")
        context = await called_by(t, "ada")

        events = await edited(store, context, RemoveCreature("ada"))

        assert kinds.TOOL_RETURNED not in {event.kind for event in events}
        await check_folds_agree(t, store)
