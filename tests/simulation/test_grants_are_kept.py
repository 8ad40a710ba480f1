"""Random histories: merges, splits, branches, files and reopened stores keep what each creature was granted, and what is
withheld from it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from glasshouse import Manifest, MemoryStore, Refused, Terrarium
from glasshouse.events.described_tool import DescribedTool
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.tools import ToolServer
from glasshouse.views.page_fold import PageFold
from glasshouse.world.decisions.intents import ChangeTool
from tests.runtime.stage_crew import ticking, world_of
from tests.simulation.ledger_checks import ledger_of

TOOLS = ("s/a", "s/b", "s/c")
PICKS = st.integers(0, 9)
TOOL = st.sampled_from(TOOLS)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.sets(TOOL, max_size=3)),
        st.tuples(st.just("connect"), PICKS, PICKS),
        st.tuples(st.just("disconnect"), PICKS, PICKS),
        st.tuples(st.just("change"), TOOL, st.integers(0, 2)),
        st.tuples(st.just("accept"), TOOL),
        st.tuples(st.sampled_from(["branch", "carry"]), PICKS),
        st.tuples(st.just("reopen")),
    ),
    max_size=14,
)
Grants = dict[str, tuple[str, str | None]]


class FakeServers:
    """Describes tools by the number of their version."""

    def __init__(self) -> None:
        self.versions = dict.fromkeys(TOOLS, 0)

    def tool(self, name: str) -> DescribedTool:
        version = f"v{self.versions[name]}"
        return DescribedTool(name, version, {"type": "object", "properties": {}}, True, version)

    async def describe(
        self, tools: Collection[str], _plans: Mapping[str, Any], _folder: str | None
    ) -> dict[str, DescribedTool]:
        return {name: self.tool(name) for name in tools}

    def watch(self, _ledger: object) -> None: ...

    async def close(self) -> None: ...


class History:
    """A terrarium, and what each of its creatures should have been granted."""

    def __init__(self, folder: Path) -> None:
        self.store = MemoryStore()
        self.servers = FakeServers()
        self.expected: dict[str, Grants] = {}
        self.folder = folder

    async def open(self, store: MemoryStore) -> Terrarium:
        t = Terrarium(
            store,
            clock=HandMovedClock(),
            ids=SeededIds(len(self.expected)),
            tool_servers=[ToolServer("s", command=["unused"])],
        )
        t._house.host(self.servers)
        await t.open()
        return t

    async def play(self, steps: list[tuple[Any, ...]]) -> None:
        self.t = await self.open(self.store)
        try:
            for name, *given_values in steps:
                await getattr(self, name)(*given_values)
                assert self.granted_in(self.t) == self.expected
                await self.check_page()
        finally:
            await self.t.close()

    async def check_page(self) -> None:
        """The page shows what is withheld, with what was granted and what it is now."""
        fold = PageFold("director")
        for event in await ledger_of(self.store):
            fold.fold(event)
        tools = fold.view["tools"]
        for name, creature in fold.view["creatures"].items():
            assert {
                tool: [tools[key]["digest"] for key in keys]
                for tool, keys in creature.get("withheld", {}).items()
            } == {tool: list(both) for tool, both in self.expected[name].items() if both[1] is not None}

    def granted_in(self, t: Terrarium) -> dict[str, Grants]:
        world = t._house.ledger.world
        return {
            creature.id: {
                grant.tool.name: (grant.tool.digest, None if grant.now is None else grant.now.digest)
                for grant in world.granted_to(creature)
            }
            for creature in world.creatures.values()
        }

    def picked(self, number: int) -> str | None:
        names = list(self.expected)
        return names[number % len(names)] if names else None

    async def add(self, tools: set[str]) -> None:
        creature = await self.t.add_creature(Manifest(name="ada", tools=sorted(tools)))
        self.expected[creature.id] = {name: (f"v{self.servers.versions[name]}", None) for name in tools}

    async def connect(self, first: int, second: int) -> None:
        ends = self.picked(first), self.picked(second)
        if ends[0] is not None and ends[1] is not None and ends[0] != ends[1]:
            await self.t.connect(ends[0], ends[1], both=True)

    async def disconnect(self, first: int, second: int) -> None:
        ends = self.picked(first), self.picked(second)
        try:
            if ends[0] is not None and ends[1] is not None:
                await self.t.disconnect(ends[0], ends[1])
                await self.t.disconnect(ends[1], ends[0])
        except Refused:
            pass

    async def change(self, tool: str, version: int) -> None:
        self.servers.versions[tool] = version
        now = self.servers.tool(tool)
        await self.t._house.ledger.change(ChangeTool(now, tuple(self.expected)))
        for grants in self.expected.values():
            if tool in grants:
                granted = grants[tool][0]
                grants[tool] = (granted, None if granted == now.digest else now.digest)

    async def accept(self, tool: str) -> None:
        run_ids = {
            creature.run_id
            for creature in self.t.creatures()
            if (self.expected[creature.id].get(tool) or ("", None))[1]
        }
        for run_id in run_ids:
            await self.t.accept_tool(run_id or "", tool)
        for grants in self.expected.values():
            granted, now = grants.get(tool, ("", None))
            if now is not None:
                grants[tool] = (now, None)
            assert granted or tool not in grants

    async def branch(self, number: int) -> None:
        creature_id = self.picked(number)
        if creature_id is None:
            return
        graph = self.t.graph(self.t.creature(creature_id).graph_id)
        by_handle = {self.t.creature(name).handle: self.expected[name] for name in graph.creature_ids}
        run = await self.t.branch(graph.session_id)
        for creature in [branched for branched in self.t.creatures() if branched.id not in self.expected]:
            assert creature.run_id == run.id
            self.expected[creature.id] = dict(by_handle[creature.handle])

    async def carry(self, number: int) -> None:
        creature_id = self.picked(number)
        if creature_id is None:
            return
        graph = self.t.graph(self.t.creature(creature_id).graph_id)
        file = self.folder / "session.glass"
        file.unlink(missing_ok=True)
        await self.t.export(graph.session_id, file)
        elsewhere = await self.open(MemoryStore())
        try:
            session = await elsewhere.import_file(file)
            await elsewhere.resume(session.id, "as-was")
            there = self.granted_in(elsewhere)
            handles = {creature.handle: there[creature.id] for creature in elsewhere.creatures()}
        finally:
            await elsewhere.close()
        assert handles == {self.t.creature(name).handle: self.expected[name] for name in graph.creature_ids}

    async def reopen(self) -> None:
        await self.t.close()
        self.t = await self.open(self.store)


@given(STEPS)
@example(
    [
        ("add", {"s/a"}),
        ("change", "s/a", 1),
        ("change", "s/a", 0),
        ("change", "s/a", 2),
        ("branch", 0),
        ("accept", "s/a"),
        ("change", "s/a", 1),
    ]
)
def test_every_history_keeps_what_each_creature_was_granted(steps: list[tuple[Any, ...]]) -> None:
    with TemporaryDirectory() as folder:
        asyncio.run(History(Path(folder)).play(steps))


async def test_a_resumed_creature_keeps_its_grants_and_is_granted_what_its_scenario_adds(
    tmp_path: Path,
) -> None:
    history = History(tmp_path)
    history.t = t = await history.open(history.store)
    run = await t.open_world(world_of(ticking("moth", tools=("s/a",)), governor={"max_turns": 1}))
    await t.run(run.id)
    history.servers.versions.update({"s/a": 1, "s/b": 2})
    (moth,) = t.creatures()

    edited = world_of(ticking("moth", tools=("s/a", "s/b")), governor={"max_turns": 2})
    resumed = await t.resume(moth.session_id, world=edited)

    granted = {tool.name: tool.tool.digest for tool in t.granted_tools(resumed.id)}
    await t.close()
    assert granted == {"s/a": "v0", "s/b": "v2"}
