"""`Toolbox`: Python tools for creatures, built-in, given or from a file beside a world. `JoinedTools` combines
toolboxes.

Always holds: a creature is offered only what its manifest grants, and the grant is checked again before every use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from glasshouse.errors import BadWorld, Refused, UnknownName
from glasshouse.events.described_tool import OF_THE_ENGINE, is_of_server
from glasshouse.reprs import shown
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.minds.code_beside import function_beside
from glasshouse.runtime.ports import Toolbox as AnyToolbox
from glasshouse.runtime.tool_context import ToolContext
from glasshouse.tools.builtin import BUILT_IN
from glasshouse.tools.function import Tool, tool
from glasshouse.tools.running import run_tool
from glasshouse.turns.moment.tools import GROUP_PREFIX, ToolAnswer, ToolCall, ToolOffer
from glasshouse.world.state.state import CreatureState

AnyTool = Tool[..., Any]
grants_cache_max: Final = 1_024
"""The number of cached grants. At this number the cache is cleared."""


class Toolbox:
    """Offers Python tools by grant, and runs them."""

    def __init__(self, *tools: AnyTool | Callable[..., Any], has_built_in: bool = True) -> None:
        made = [_as_tool(function) for function in tools]
        names = [each.name for each in made]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise Refused(f"Two tools are called {twice}.", "Name one of them otherwise: @tool(name=...).")
        self._tools = {each.name: each for each in ([*BUILT_IN, *made] if has_built_in else made)}
        self._grants_cache: dict[tuple[str, str | None], dict[str, AnyTool]] = {}

    def __repr__(self) -> str:
        return shown(self, tools=tuple(self._tools))

    def names(self) -> frozenset[str]:
        """The names that a manifest may grant. It may also name a function in a file of its world."""
        return frozenset(self._tools)

    def has(self, tool: str) -> bool:
        """Whether this toolbox handles a tool: it handles all names except the engine's and those of servers."""
        return not tool.startswith(GROUP_PREFIX) and tool not in OF_THE_ENGINE and not is_of_server(tool)

    def offers(self, folded: Folded, creature: CreatureState) -> tuple[ToolOffer, ...]:
        """The tools that a creature's manifest grants, in the order of the manifest."""
        return tuple([granted.offer for granted in self._granted(folded, creature).values()])

    async def use(self, call: ToolCall, context: ToolContext) -> ToolAnswer:
        """Run a tool if the creature's manifest grants it."""
        creature = context.creature
        granted = {} if creature is None else self._granted(context.folded, creature)
        if call.tool not in granted:
            known = ", ".join(granted) or "none"
            return ToolAnswer(is_ok=False, text=f"You may not use {call.tool}. Your tools: {known}.")
        used = granted[call.tool]
        # A built-in tool says by an exception what is wrong with its arguments.
        is_strict = context.is_strict and not any(used is built_in for built_in in BUILT_IN)
        return await run_tool(used, call.arguments, is_strict=is_strict)

    def _granted(self, folded: Folded, creature: CreatureState) -> dict[str, AnyTool]:
        purse = folded.runs.purses.get(creature.run_id or "")
        key = (creature.manifest_digest, None if purse is None else purse.folder)
        if key not in self._grants_cache:
            if len(self._grants_cache) >= grants_cache_max:
                self._grants_cache.clear()
            names = [name for name in folded.world.facts_of(creature).tools if self.has(name)]
            tools = [self._named(name, key[1]) for name in names]
            self._grants_cache[key] = {granted.name: granted for granted in tools}
        return self._grants_cache[key]

    def _named(self, name: str, folder: str | None) -> AnyTool:
        if ":" not in name:
            if name not in self._tools:
                raise UnknownName(noun="tool", name=name, known=self._tools)
            return self._tools[name]
        if folder is None:
            raise BadWorld(f"tools: {name} stands beside no world. Put it into the folder of a world.")
        advice = "it takes what a model gives it, and gives back data."
        return _as_tool(function_beside(folder, name, "tool", advice))


def _as_tool(function: AnyTool | Callable[..., Any]) -> AnyTool:
    return function if isinstance(function, Tool) else tool(function)


class JoinedTools:
    """Several toolboxes as one, asked in order."""

    def __init__(self, *boxes: AnyToolbox) -> None:
        self._boxes = boxes

    def names(self) -> frozenset[str]:
        """The names that a manifest may grant, from all toolboxes."""
        return frozenset().union(*[box.names() for box in self._boxes])

    def has(self, tool: str) -> bool:
        """Whether one of the toolboxes handles this tool."""
        return any(box.has(tool) for box in self._boxes)

    def offers(self, folded: Folded, creature: CreatureState) -> tuple[ToolOffer, ...]:
        """The offers of all toolboxes, in order."""
        return tuple([offer for box in self._boxes for offer in box.offers(folded, creature)])

    async def use(self, call: ToolCall, context: ToolContext) -> ToolAnswer:
        """Pass a call to the first toolbox that handles its tool."""
        for box in self._boxes:
            if box.has(call.tool):
                return await box.use(call, context)
        return ToolAnswer(is_ok=False, text=f"There is no tool {call.tool}.")
