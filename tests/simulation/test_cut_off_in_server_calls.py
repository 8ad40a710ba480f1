"""A run that calls tools of servers, cut off after any batch: no call that a server may have got is made again, and every
other call is made once.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from msgspec.structs import replace

from glasshouse import Event, MemoryStore, Terrarium, kinds
from glasshouse.events.described_tool import DescribedTool
from glasshouse.events.event import Json
from glasshouse.model_values import Tokens
from glasshouse.models.router import ModelRouter
from glasshouse.runtime.acts.tool_use import NOT_KNOWN
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.terrarium import verify
from glasshouse.tools import Proposal, ToolAnswer, ToolServer
from glasshouse.turns.moment.prompt import TOOLS_SAID, Completion, Prompt
from tests.runtime.stage_crew import ticking, world_of
from tests.simulation.ledger_checks import check_ends
from tests.simulation.test_cut_off_anywhere import NotingStore

NO_PARAMETERS = {"type": "object", "properties": {}}
TOOLS = {
    name: DescribedTool(name, "A tool.", NO_PARAMETERS, is_read_only, name)
    for name, is_read_only in (("s/look", True), ("s/book", False))
}


class Connections:
    """One server that answers at once, and counts its calls."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.tools = TOOLS

    async def describe(self, _server: str) -> dict[str, DescribedTool]:
        return self.tools

    async def call(self, tool: str, _arguments: Any, digest: str) -> ToolAnswer:
        assert digest == tool
        self.calls.append(tool)
        return ToolAnswer(is_ok=True, text=f"{tool} did it.")

    async def close(self) -> None: ...


class LooksThenBooks:
    """A model that calls both tools, one after the other, and then speaks. It reads from its prompt how far it is."""

    name, is_free = "looks", True

    async def complete(self, prompt: Prompt) -> Completion:
        said = prompt.user.partition(f"{TOOLS_SAID}\n")[2]
        is_offered = "s/look" in prompt.system
        tool = "s/look" if is_offered and "s/look" not in said else "s/book" if "s/book" not in said else None
        call: Json = {"kind": "tool.called", "thought": "", "tool": tool, "arguments": {}}
        line: Json = {"kind": "agent.spoke", "thought": "", "text": f"I have {len(said)} letters."}
        return Completion(json.dumps(line if tool is None else call), self.name, Tokens(1, 1), usd=0.0)


async def approver(_proposal: Proposal) -> bool:
    return True


def terrarium_on(store: MemoryStore) -> tuple[Terrarium, Connections]:
    t = Terrarium(
        store,
        models=ModelRouter(LooksThenBooks()),
        tool_servers=[ToolServer("s", command=["unused"])],
        approver=approver,
        clock=HandMovedClock(),
        ids=SeededIds(7),
    )
    connections = Connections()
    t._house.servers._connections_to = lambda _server: connections  # type: ignore[union-attr]
    return t, connections


def made_before(events: list[Event]) -> int:
    """How many calls a server may have got by these events: all that are recorded, but for one that waits for a yes."""
    counts = Counter(event.kind for event in events)
    return counts[kinds.TOOL_CALLED] - (counts[kinds.EDIT_PROPOSED] - counts[kinds.EDIT_DECIDED])


async def test_a_run_cut_off_anywhere_makes_each_call_once() -> None:
    whole = NotingStore()
    t, connections = terrarium_on(whole)
    async with t:
        manifest = ticking("moth", tools=tuple(TOOLS))
        await t.open_world(world_of(manifest, governor={"max_turns": 2}), run_id="r-cut")
        await t.run("r-cut")
    assert connections.calls == ["s/look", "s/book"] * 2

    lost = 0
    for count in range(1, len(whole.batches) + 1):
        cut = MemoryStore()
        await cut.open(whole.house_id)
        await cut.commit(whole.batches[:count])
        before = await cut.read_after(0, 100_000)
        await cut.close()
        t, again = terrarium_on(cut)
        async with t:
            await t.run("r-cut")
            assert t.run_of("r-cut").is_finished
            await check_ends(cut)
            events = await t.run_events("r-cut")
            calls = len(again.calls)
            outcome = await verify(t, "r-cut")
        returned = [event.payload for event in events if event.kind == kinds.TOOL_RETURNED]
        lost += len([payload for payload in returned if payload["text"] == NOT_KNOWN.text])
        assert calls == 4 - made_before(before)
        assert len(again.calls) == calls, "a replay calls nobody"
        assert outcome.is_same, (count, outcome.recorded_event, outcome.replayed_event)
    assert lost == 6, (
        "each call is cut off between its record and its answer, and once before somebody was asked"
    )


async def test_a_tool_that_had_changed_before_the_call_is_told_and_nobody_is_asked() -> None:
    """Its connection was open already, so nothing else would tell the ledger: as in a branch of an older past."""
    t, connections = terrarium_on(MemoryStore())
    async with t:
        manifest = ticking("moth", tools=("s/book",))
        run = await t.open_world(world_of(manifest, governor={"max_turns": 1}))
        connections.tools = {"s/book": replace(TOOLS["s/book"], digest="otherwise")}
        await t.run(run.id)
        events = await t.run_events(run.id)
        withheld = [tool.name for tool in t.granted_tools(run.id) if tool.is_withheld]
        outcome = await verify(t, run.id)

    returned = [event.payload["text"] for event in events if event.kind == kinds.TOOL_RETURNED]
    assert all("is withheld" in text for text in returned)
    assert returned
    assert withheld == ["s/book"]
    assert connections.calls == []
    assert not [event for event in events if event.kind == kinds.EDIT_PROPOSED]
    assert outcome.is_same
