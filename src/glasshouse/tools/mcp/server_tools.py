"""`ServerTools`: tools of servers, offered as they were granted, and called by way of their servers (ADR 0089).

A server is declared by the user, or by a world. If both declare a name, the user's declaration holds.

Always holds: what is offered comes from the ledger alone. A tool that its server describes otherwise than it was
granted is withheld, and a call of it is not made. A world's server is used only as the world's folder on this machine
declares it, and only where its Python code may run. A world gets no environment variable by naming it. Nothing of the
extra `mcp` is imported before a server is needed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from contextvars import Context
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from glasshouse.errors import GlasshouseError, Refused, UnknownName
from glasshouse.events.described_tool import SERVER_SEPARATOR, DescribedTool, is_of_server, server_of
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ledger.ledger import Ledger, sent_by
from glasshouse.runtime.minds.code_beside import BUNDLED, is_world_code_allowed, path_beside
from glasshouse.runtime.ports import Approver, Clock
from glasshouse.runtime.tool_context import ToolContext
from glasshouse.tools.approval import Approval, ApprovalReason
from glasshouse.turns.moment.playbill import ServerPlan
from glasshouse.turns.moment.tools import ToolAnswer, ToolCall, ToolOffer
from glasshouse.turns.runs.policy import policy_of
from glasshouse.world.decisions.acts import check_may_act
from glasshouse.world.decisions.intents import ChangeTool
from glasshouse.world.state.state import CreatureState

if TYPE_CHECKING:
    from glasshouse.tools.mcp.connections import Connections
    from glasshouse.tools.mcp.tool_server import ToolServer

_MAY_CHANGE: Final = ApprovalReason(
    "its server does not mark it as read-only", "its server does not mark that tool as read-only"
)


class ServerTools:
    """Offers tools of servers by grant, and calls them."""

    def __init__(
        self,
        servers: Iterable[ToolServer],
        value_of: Callable[[str], str],
        clock: Clock,
        approver: Approver | None = None,
    ) -> None:
        """`value_of` gives the value of an environment variable, empty if it is not set."""
        self._declared = declared_once(servers)
        self._value_of = value_of
        self._clock = clock
        self._approval = Approval(approver)
        self._ledger: Ledger | None = None
        self._connections: dict[bytes, Connections] = {}
        self._of_worlds_cache: set[tuple[str | None, str, ServerPlan]] = set()
        """The servers that a world's folder was seen to declare."""
        self._offers_cache: dict[str, ToolOffer | None] = {}
        self._notes: set[asyncio.Task[None]] = set()

    def names(self) -> frozenset[str]:
        """`weather/` stands for every tool of the declared server `weather`."""
        return frozenset([f"{name}{SERVER_SEPARATOR}" for name in self._declared])

    def has(self, tool: str) -> bool:
        """Whether this is a tool of a server."""
        return is_of_server(tool)

    def offers(self, folded: Folded, creature: CreatureState) -> tuple[ToolOffer, ...]:
        """The tools that a creature was granted, but for those that are withheld."""
        if creature.grants is None:
            return ()
        keys = [grant.granted for grant in creature.grants.values() if grant.now is None]
        offers = [self._offer(key, folded.world.tools[key]) for key in keys]
        return tuple([offer for offer in offers if offer is not None])

    def _offer(self, key: str, tool: DescribedTool) -> ToolOffer | None:
        """The offer of a tool. What the ledger says of it may come from a file of others, so it is checked as a server's
        words are; None if no server's tool can be like this."""
        if key not in self._offers_cache:
            from glasshouse.tools.mcp.described import parameters_of

            try:
                parameters = parameters_of(tool)
                offer = ToolOffer(tool.name, tool.description, parameters, is_foreign=True)
                self._offers_cache[key] = offer
            except Refused:
                self._offers_cache[key] = None
        return self._offers_cache[key]

    async def use(self, call: ToolCall, context: ToolContext) -> ToolAnswer:
        """Call a tool if it was granted, is not withheld, and is read-only or approved."""
        try:
            granted = _granted(context, call)
            try:
                server = self._server_of(context, call)
                connections = self._connections_to(server)
                listed = await connections.describe(server.name)
            except Refused as wrong:
                # The words may be the server's, or name files: they are no answer of the engine.
                return ToolAnswer(False, f"{call.tool} was not called. {wrong}")
            now = listed.get(call.tool)
            if isinstance(now, DescribedTool) and now.digest != granted.digest:
                # The connection was open before this creature was granted what an older ledger says.
                self._note(msgspec.json.encode(server), server.name, listed)
                raise _withheld(call.tool)
            # What the ledger says may come from a file of others. Its server says whether it is read-only.
            if not isinstance(now, DescribedTool) or not (granted.is_read_only and now.is_read_only):
                await self._check_approved(context, call)
                granted = _granted(context, call)  # It may have changed while somebody was asked.
        except Refused as refusal:
            return ToolAnswer(False, str(refusal), is_engine=True)
        return await connections.call(call.tool, call.arguments, granted.digest)

    async def _check_approved(self, context: ToolContext, call: ToolCall) -> None:
        caller = context.creature
        assert caller is not None, "its grant was looked up"
        rule = policy_of(context.folded.runs, caller).untrusted_tools
        if rule == "refuse":
            raise Refused(
                f"The policy of this run refuses to call {call.tool}, because {_MAY_CHANGE.for_caller}.",
                "Go on without it.",
            )
        if rule == "ask":
            await self._approval.check(context, caller, call, f"call {call.tool}", [_MAY_CHANGE])

    # Servers

    def server_for(self, name: str, plans: Mapping[str, ServerPlan], folder: str | None) -> ToolServer:
        """The server of this name: the user's, else the one that the world in this folder declares. Refused if that may
        not run here."""
        if name in self._declared:
            return self._declared[name]
        if name not in plans:
            known = [*self._declared, *plans]
            raise UnknownName(noun="tool server", name=name, known=known)
        from glasshouse.tools.mcp.tool_server import ToolServer

        plan = plans[name]
        runs_in = str(path_beside(folder, "")) if folder is not None and plan.command else None
        server = ToolServer(name, plan.command, plan.url or "", runs_in)
        if not _is_allowed(folder):
            what = "run a command" if plan.command else "be asked at an address"
            raise Refused(
                f"The world's tool server {name} would {what}, which is not allowed here: {server.shown}",
                "Read what it does, and set GLASSHOUSE_ALLOW_WORLD_CODE=1 if you trust it.",
            )
        key = (folder, name, plan)
        if key not in self._of_worlds_cache:
            if not _is_declared_in(folder, name, plan):
                raise Refused(
                    f"No world's folder on this machine declares the tool server {name} as this run does: {server.shown}",
                    "Put the world back, or declare it in a tools.yaml or with tool_servers=[ToolServer(…)].",
                )
            self._of_worlds_cache.add(key)
        return server

    def _server_of(self, context: ToolContext, call: ToolCall) -> ToolServer:
        assert context.creature is not None, "its grant was looked up"
        return self._server_in(context.folded, context.creature, call.tool)

    def _server_in(self, folded: Folded, creature: CreatureState, tool: str) -> ToolServer:
        purse = folded.runs.purses.get(creature.run_id or "")
        plans = {} if purse is None else purse.playbill.tool_servers
        name = server_of(tool)
        return self.server_for(name, plans, None if purse is None else purse.folder)

    async def describe(
        self, tools: Collection[str], plans: Mapping[str, ServerPlan], folder: str | None
    ) -> dict[str, DescribedTool]:
        """What servers say of these tools now. Raises `Refused` if a server is not there, or a tool cannot be used."""
        described: dict[str, DescribedTool] = {}
        for name in dict.fromkeys([server_of(tool) for tool in tools]):
            server = self.server_for(name, plans, folder)
            listed = await self._connections_to(server).describe(name)
            for tool in [tool for tool in tools if server_of(tool) == name]:
                if tool not in listed:
                    raise UnknownName(noun=f"tool of {name}", name=tool, known=listed)
                granted = listed[tool]
                if not isinstance(granted, DescribedTool):
                    raise granted
                described[tool] = granted
        return described

    async def listed(self, server: ToolServer) -> Mapping[str, DescribedTool | Refused]:
        """Every tool of a server, or why it cannot be used."""
        return await self._connections_to(server).describe(server.name)

    def _connections_to(self, server: ToolServer) -> Connections:
        """The connection of a declaration. Two worlds may declare different servers of one name."""
        from glasshouse.tools.mcp.connections import Connections

        key = msgspec.json.encode(server)
        if key not in self._connections:
            self._connections[key] = made = Connections([server], self._value_of, self._clock)
            made.on_described(partial(self._note, key))
        return self._connections[key]

    # Changes

    def watch(self, ledger: Ledger) -> None:
        """Tell this ledger from now on what servers describe otherwise than it was granted."""
        self._ledger = ledger

    def _note(self, key: bytes, _name: str, listed: Mapping[str, DescribedTool | Refused]) -> None:
        """Compare what a server says with what was granted. It is called in no act, or makes a task that is in none."""
        if self._ledger is None or self._ledger.asks is not None:
            return
        folded = self._ledger.folded
        changes = dict[str, list[str]]()
        for creature in folded.world.creatures.values():
            for tool, grant in (creature.grants or {}).items():
                now = listed.get(tool)
                is_news = isinstance(now, DescribedTool) and (
                    folded.world.tools[grant.now or grant.granted].digest != now.digest
                )
                if is_news and self._is_served_by(key, folded, creature, tool):
                    changes.setdefault(tool, []).append(creature.id)
        for tool, creatures in changes.items():
            now = listed[tool]
            assert isinstance(now, DescribedTool), "others are no news"
            # In an empty context: it is no part of the act that may be played here. By hand, because a program's task factory
            # need not take a context.
            note: Any = _note_change(self._ledger, ChangeTool(now, tuple(creatures)))
            task: asyncio.Task[None] = asyncio.Task(note, context=Context())
            self._notes.add(task)
            task.add_done_callback(self._notes.discard)

    def _is_served_by(self, key: bytes, folded: Folded, creature: CreatureState, tool: str) -> bool:
        try:
            return msgspec.json.encode(self._server_in(folded, creature, tool)) == key
        except Refused:
            return False

    async def close(self) -> None:
        """End all connections, and all processes that were started for them."""
        open_now = [*self._connections.values()]
        self._connections = {}
        await asyncio.gather(*[connections.close() for connections in open_now])
        await asyncio.gather(*self._notes, return_exceptions=True)


async def _note_change(ledger: Ledger, intent: ChangeTool) -> None:
    server = server_of(intent.tool.name)
    # The ledger may be closing. Then the next connection notes it again.
    with suppress(GlasshouseError), sent_by(f"server {server}"):
        await ledger.change(intent)


def _granted(context: ToolContext, call: ToolCall) -> DescribedTool:
    """The tool as the caller was granted it, or a refusal."""
    creature = context.creature
    if creature is None:
        raise Refused(f"{context.creature_id} was removed in the middle of its act.", "Let the act end here.")
    check_may_act(context.folded.world, creature)
    grant = (creature.grants or {}).get(call.tool)
    if grant is None:
        known = ", ".join(creature.grants or ()) or "none"
        raise Refused(f"You may not use {call.tool}.", f"Your tools of servers: {known}.")
    if grant.now is not None:
        raise _withheld(call.tool)
    return context.folded.world.tools[grant.granted]


def _withheld(tool: str) -> Refused:
    return Refused(
        f"{tool} is withheld: its server describes it otherwise than when you were granted it.",
        "Go on without it. Somebody outside must accept it first.",
    )


def _is_allowed(folder: str | None) -> bool:
    is_bundled = folder is not None and Path(folder).resolve().is_relative_to(BUNDLED)
    return is_bundled or is_world_code_allowed()


def _is_declared_in(folder: str | None, name: str, plan: ServerPlan) -> bool:
    """Whether the world in a folder declares this server. A session that came in a file brings no server along."""
    from glasshouse.manifests.loading import load_world

    try:
        world = None if folder is None else load_world(Path(folder))
    except GlasshouseError:
        return False
    declared = None if world is None else world.scenario.tool_servers.get(name)
    return declared is not None and (declared.command, declared.url) == (plan.command, plan.url)


def declared_once(servers: Iterable[ToolServer]) -> dict[str, ToolServer]:
    """Servers by name. Refused if two have one name."""
    declared: dict[str, ToolServer] = {}
    for server in servers:
        if server.name in declared:
            raise Refused(f"Two tool servers are called {server.name}.", "Name one of them otherwise.")
        declared[server.name] = server
    return declared
