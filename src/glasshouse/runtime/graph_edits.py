"""`GraphEdits`: changes to the creatures of a house and to their connections.

Always holds: every change goes through the ledger as an intent. A dry run is the same decision without the commit.
Results hold ids and values, never live objects.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace
from pydantic import ValidationError

from glasshouse.errors import Refused, UnknownName, check_type
from glasshouse.events.described_tool import is_grantable
from glasshouse.events.event import VISITOR, Draft, Event, Json, check_text, own_copy
from glasshouse.manifests.manifest import Manifest
from glasshouse.manifests.titles import check_titles
from glasshouse.runtime.acts.inside import check_gives_no_right
from glasshouse.runtime.acts.routes import Routes
from glasshouse.runtime.creature import Creature, creature_of
from glasshouse.runtime.grants import birth_granted
from glasshouse.runtime.house import House
from glasshouse.runtime.ledger.folds import load_folded
from glasshouse.runtime.ledger.ledger import Acknowledgement, Answering, Receipt
from glasshouse.runtime.minds.minds import Agent, Minds
from glasshouse.runtime.ports import Toolbox
from glasshouse.views import topology as topology_views
from glasshouse.views.dry_run import channel_foreseen, creature_foreseen, wire_foreseen
from glasshouse.views.granted_tools import ToolOfRun, tools_of_run
from glasshouse.world.decisions import intents
from glasshouse.world.state.ids import short_hash, the_creature, the_run
from glasshouse.world.state.state import World
from glasshouse.world.state.values import Change, Channel, Environment, Graph, Wire


class GraphEdits:
    """Creatures, channels and wires of one house."""

    def __init__(self, house: House, minds: Minds, tools: Toolbox, routes: Routes) -> None:
        self._house = house
        self._routes = routes
        self._ledger = house.ledger
        self._minds = minds
        self._tools = tools

    @property
    def _world(self) -> World:
        return self._ledger.world

    @property
    def default_run_id(self) -> str:
        """The run of every creature that is added without a run. When a default run is over, the next one is used."""
        number = 0
        while (run := self._world.runs.get(self._default_run(number))) and run.status == "finished":
            number += 1
        return self._default_run(number)

    def _default_run(self, number: int) -> str:
        parts = ("default run", self._house.store.house_id, *([str(number)] if number else []))
        return "r-" + short_hash(*parts)

    # Creatures

    async def add_creature(
        self,
        intent: intents.AddCreature,
        manifest: Manifest,
        agent: Agent | None,
        spawnable: tuple[Manifest, ...],
        *,
        dry_run: bool,
    ) -> Creature:
        """Add a creature with this manifest, which `agent` plays, or the agent that its handle or its manifest names.

        With privilege, it may add those of `spawnable` by a tool.
        """
        self._check_birth(intent, manifest, spawnable)
        if agent is None:
            agent = self._minds.agent_called(intent.handle or intent.name)
        spawn = {each.name: each.as_json() for each in spawnable}
        code = type(agent).__name__
        intent = replace(intent, may_spawn=spawn, played_by_code="" if agent is None else code)
        if self._ledger.asks is None:  # Otherwise the process that plays the store asks the servers.
            intent = await birth_granted(self._house.servers, intent, self._ledger.folded.runs)
        if dry_run:
            return self._creature_foreseen(await self._ledger.foresee(intent), manifest)
        self._minds.remember(manifest)

        def settled(creature_id: str) -> Creature:
            self._minds.give(creature_id, agent)
            return self.creature(creature_id)

        return await self._ledger.change_and_see(intent, settled)

    def _check_birth(
        self, intent: intents.AddCreature, manifest: Manifest, spawnable: tuple[Manifest, ...]
    ) -> None:
        purse = self._ledger.folded.runs.purses.get(intent.run_id or "")
        known = {*self._tools.names(), *(() if purse is None else purse.playbill.servers_granted)}
        check_titles(self._world, intent.graph_id, manifest, *spawnable)
        for each in (manifest, *spawnable):
            for name in each.tools:
                if not is_grantable(name, known):
                    raise UnknownName(where=f"tools of {each.name}", noun="tool", name=name, known=known)
            self._routes.check_price_for(intent.run_id, each.model_profile)
        for each in spawnable:
            self._minds.check(each)
        if intent.is_privileged:
            check_gives_no_right(self._ledger)

    async def make(self, edit: intents.GraphEdit, answering: Answering | None) -> Receipt:
        """Make any edit, as another process may ask for it, and answer it in the same commit; None: a dry run."""
        if isinstance(edit, intents.AddCreature):
            manifest, *spawnable = map(_manifest_from, (edit.manifest, *edit.may_spawn.values()))
            facts = {
                "name": manifest.name,
                "manifest": manifest.as_json(),
                "manifest_digest": manifest.digest,
                "played_by_code": "",  # No object comes from another process.
            }
            spawn = {each.name: each.as_json() for each in spawnable}
            edit = replace(edit, **facts, may_spawn=spawn, granted=())
            self._check_birth(edit, manifest, tuple(spawnable))
            self._minds.check(manifest)
            edit = await birth_granted(self._house.servers, edit, self._ledger.folded.runs)
        elif isinstance(edit, intents.GrantPrivilege | intents.RevokePrivilege | intents.AcceptTool):
            edit = replace(edit, by=VISITOR)
        elif isinstance(edit, intents.ChangeTool):
            raise Refused("Only a tool's server says that it changed.", "Accept it, or leave it withheld.")
        if answering is None:
            return await self._ledger.foresee(edit)
        forget = self._minds.forget if isinstance(edit, intents.RemoveCreature) else None
        return await self._ledger.change(edit, forget, inbox=answering)

    async def alter(self, intent: intents.GraphEdit, *, dry_run: bool) -> Creature:
        """Decide an intent that changes one creature, and return the creature after the change."""
        if isinstance(intent, intents.GrantPrivilege):
            check_gives_no_right(self._ledger)
        elif isinstance(intent, intents.RevokePrivilege):
            check_gives_no_right(self._ledger, "Privilege is not taken back")
        if dry_run:
            return self._creature_foreseen(await self._ledger.foresee(intent))
        return await self._ledger.change_and_see(intent, self.creature)

    def _creature_foreseen(self, foreseen: Receipt, manifest: Manifest | None = None) -> Creature:
        world = self._world
        events = foreseen.events
        state = creature_foreseen(world, foreseen.subject, events)
        session_id = events[0].session_id if events else world.graphs[state.graph_id].session_id
        return creature_of(state, session_id, manifest or self._minds.manifest(state.manifest_digest))

    def creature(self, creature_id: str) -> Creature:
        """One live creature."""
        state = the_creature(self._world, creature_id)
        session_id = self._world.graphs[state.graph_id].session_id
        return creature_of(state, session_id, self._minds.manifest(state.manifest_digest))

    def granted_tools(self, run_id: str) -> tuple[ToolOfRun, ...]:
        """The tools of servers that the creatures of a run were granted."""
        return tools_of_run(self._world, the_run(self._world, run_id).id)

    def creatures(self) -> tuple[Creature, ...]:
        """Every live creature, the oldest first."""
        return tuple([self.creature(name) for name in self._world.creatures])

    def agent(self, creature_id: str) -> Agent | None:
        """The Python object that thinks for a creature, if there is one yet. Changes of the graph never replace it."""
        return self._minds.known(the_creature(self._world, creature_id).id)

    def attach(self, creature_id: str, agent: Agent) -> None:
        """Give a creature that code plays its agent again. What waited for it is due from now on."""
        creature = the_creature(self._world, creature_id)
        if not creature.played_by_code:
            raise Refused(
                f"{creature.handle} is not played by code, so a later process would not ask for its agent.",
                "Add it with add_creature(manifest, agent=...), or write played_by in its manifest.",
            )
        self._minds.give(creature.id, agent)
        self._ledger.graphs_moved[creature.graph_id] = None  # Whether its act waits is looked up again.

    # Channels and wires

    async def change(self, intent: intents.Intent, *, dry_run: bool) -> Change:
        """Decide an intent that may merge or split graphs, and return the change."""
        if isinstance(intent, intents.AcceptTool):
            check_gives_no_right(self._ledger, "A tool is not accepted")
        if dry_run:
            return (await self._ledger.foresee(intent)).change
        forget = self._minds.forget if isinstance(intent, intents.RemoveCreature) else None
        return (await self._ledger.change(intent, forget)).change

    async def alter_channel(self, intent: intents.GraphEdit, *, dry_run: bool) -> Channel:
        """Open, rename or describe a channel, and return the channel after the change."""
        if dry_run:
            foreseen = await self._ledger.foresee(intent)
            return channel_foreseen(self._world, foreseen.subject, foreseen.events)
        return await self._ledger.change_and_see(intent, self._channel)

    def _channel(self, channel_id: str) -> Channel:
        return topology_views.channel_of(self._world, self._world.channels[channel_id])

    async def add_wire(self, intent: intents.AddWire, *, dry_run: bool) -> Wire:
        """Add a wire, or return the equal wire that exists already."""
        if dry_run:
            foreseen = await self._ledger.foresee(intent)
            return wire_foreseen(self._world, foreseen.subject, foreseen.events)
        return await self._ledger.change_and_see(intent, lambda wire_id: self._world.wires[wire_id])

    # Lines

    async def append(self, creature_id: str, draft: Draft, caused_by: str | None, *, dry_run: bool) -> Event:
        """Append an event of a creature. On return it is durable."""
        ledger = self._ledger
        _check_draft(draft)
        if dry_run:
            return own_copy((await ledger.foresee(intents.Say(creature_id, (draft,), caused_by))).events[0])
        if not ledger.writer.takes_more:
            await ledger.wait_for_room()
        event, acknowledged, is_kept = ledger.submit(creature_id, draft, caused_by)
        await acknowledged
        return own_copy(event) if is_kept else event

    def append_nowait(self, creature_id: str, draft: Draft, caused_by: str | None) -> Acknowledgement:
        """Append an event now and await its durability later, for producers with many events in flight (ADR 0019)."""
        _check_draft(draft)
        return Acknowledgement(*self._ledger.submit(creature_id, draft, caused_by))

    async def append_all(
        self, creature_id: str, drafts: Iterable[Draft], caused_by: str | None, *, dry_run: bool
    ) -> tuple[Event, ...]:
        """Append several events of a creature as one batch: all or nothing."""
        check_type("append_all()", drafts, Iterable, "several drafts", "Write append_all(ada, [Draft(...)]).")
        intent = intents.Say(creature_id, tuple(drafts), caused_by)
        for draft in intent.drafts:
            _check_draft(draft)
        answer = await (self._ledger.foresee(intent) if dry_run else self._ledger.change(intent))
        return tuple(answer.events)

    # The shape

    def graph(self, graph_id: str) -> Graph:
        """One open graph."""
        return topology_views.graph_of(self._world, graph_id)

    def graphs(self) -> tuple[Graph, ...]:
        """Every open graph, the oldest first."""
        return topology_views.graphs_of(self._world)

    def environment(self, graph_id: str) -> Environment:
        """The channels of a graph, with their listeners and senders."""
        return topology_views.environment_of(self._world, graph_id)

    async def graphs_at(self, event_id: str) -> tuple[Graph, ...]:
        """Every graph that was open right after the change that an event belongs to."""
        return topology_views.graphs_of(await self._world_at(event_id))

    async def shapes(self, at: str | None = None) -> tuple[topology_views.Shape, ...]:
        """Every open graph with its channels, creatures and wires: now, or right after the change of the event `at`."""
        return topology_views.shapes_of(self._world if at is None else await self._world_at(at))

    async def _world_at(self, event_id: str) -> World:
        position = await self._house.history.end_of_change(event_id)
        return (await load_folded(self._house.store, position)).world


def _manifest_from(plain: Json) -> Manifest:
    try:
        return Manifest.model_validate(plain)
    except ValidationError as wrong:
        fault = wrong.errors()[0]
        where = ".".join(map(str, fault["loc"])) or "it"
        raise Refused(f"The manifest is invalid: {where}: {fault['msg']}.", "Correct its file.") from wrong


def _check_draft(draft: Draft) -> None:
    if type(draft) is not Draft:  # This is called for every line, so a call is spared.
        example = 'Write Draft(kind="agent.spoke", channel="talk", payload={"text": "..."}).'
        check_type("append()", draft, Draft, "a Draft", example)
    check_text(draft)
