"""The public API: `Terrarium`; `play`, the one blocking call; and `verify`.

`Terrarium` only passes calls on: a method calls one of its four parts (house, graph edits, stage, archive), which does
the work (ADR 0045). Exceptions: opening and closing, `played` and a verified `share` use several parts. `Terrarium` takes
creatures or their ids; the parts take only ids. Its calls stand in groups, in the order of `docs/reference/api.md`. What
few programs need is a function that takes a terrarium. What only our own faces need is in `runtime/`; the functions at
the end give them what it takes.

Always holds: results about creatures, graphs, runs and events are values, true at the time of the call. They belong to
the caller: changing the JSON of a returned event changes no other reader's copy.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from glasshouse.assembly import ModelRouter, router_meant, server_tools, store_meant, usual_agent, usual_tools
from glasshouse.errors import (
    Refused,
    StoreDamaged,
    StoreError,
    StoreFenced,
    UnknownName,
    check_has,
    check_type,
)
from glasshouse.events.event import VISITOR, Draft, Event, own_copy
from glasshouse.events.filter import EventFilter
from glasshouse.events.payloads import FinishReason, Governor, History, check_governor
from glasshouse.events.redaction import Role
from glasshouse.manifests.manifest import Manifest
from glasshouse.reprs import shown
from glasshouse.runtime.acts.act_time import act_seconds_max
from glasshouse.runtime.acts.shared_purse import SharedPurse
from glasshouse.runtime.blocking import outcome_of
from glasshouse.runtime.capabilities import Pacing, capabilities_of_router
from glasshouse.runtime.clock import RandomIds, SystemClock
from glasshouse.runtime.conducting.conductor import BeforeAct
from glasshouse.runtime.conducting.order import Conducted
from glasshouse.runtime.creature import Creature, CreatureOrId, id_of
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.inbox.guest import Guest
from glasshouse.runtime.ledger.ledger import Acknowledgement
from glasshouse.runtime.ledger.observer import Observer, ObserverPump
from glasshouse.runtime.ledger.subscriptions import Subscription
from glasshouse.runtime.minds.minds import Agent, AgentFor
from glasshouse.runtime.parts import Parts
from glasshouse.runtime.past import recipes
from glasshouse.runtime.past.curtain import CurtainReader
from glasshouse.runtime.past.recipes import AnyWorld, WorldsNow
from glasshouse.runtime.past.stories import Stories
from glasshouse.runtime.past.what_if import WhatIf
from glasshouse.runtime.played import Played, played_of
from glasshouse.runtime.ports import Approver, Clock, Ids, Proposal, Router, Toolbox, Verdict
from glasshouse.runtime.run import DueTurn, Run, Thinking
from glasshouse.runtime.store_port import Store
from glasshouse.runtime.telemetry.configured import configured_telemetry
from glasshouse.runtime.telemetry.event_log import EventLog, is_event_log_read
from glasshouse.turns.moment.playbill import Policy
from glasshouse.views.comparison import Comparison
from glasshouse.views.granted_tools import ToolOfRun
from glasshouse.views.leaderboard import By, Standing
from glasshouse.views.shared_file import SharedFile
from glasshouse.views.topology import Shape
from glasshouse.views.who_knew import WhoKnew
from glasshouse.views.why import Why
from glasshouse.world.decisions import intents
from glasshouse.world.state.values import Change, Channel, Environment, Graph, Lineage, Session, Wire

if TYPE_CHECKING:
    from glasshouse.assembly import ToolServer
    from glasshouse.manifests.loading import LoadedWorld
    from glasshouse.runtime.replay.replay import Verification


class Terrarium:
    """Hosts creatures, and owns their graphs, the ledger and the conductor. It runs no model itself.

    Defaults: a store in memory, the offline troupe as models, the built-in tools, no approver, the machine's clock and
    random ids. A path opens a SQLite store. `models` may be a text, such as "ollama" or the path of a models.yaml;
    then what it means is looked up when the terrarium is opened, and `pacing` is `free` unless it is given.

    `strict` is for debugging: what an agent raises, or a Python tool that is not built in, is raised to whoever drives,
    and the act stays due. Otherwise an agent's is recorded as `agent.failed`, a tool's is its answer, and the play continues. `agents` play, by handle, the creatures that are added or
    opened with a world, and those that were added with an agent; of these, those without one wait (see `attach`).
    """

    _ending: asyncio.Task[None] | None = None
    """Closes this terrarium, once another process has taken its store over."""

    def __init__(
        self,
        store: Store | str | Path | None = None,
        *,
        models: Router | str | Path | None = None,
        tools: Toolbox | None = None,
        tool_servers: Collection[ToolServer] = (),
        approver: Approver | None = None,
        governor: Governor | None = None,
        policy: Policy | None = None,
        pacing: Pacing | None = None,
        act_seconds_max: float = act_seconds_max,
        strict: bool = False,
        clock: Clock | None = None,
        ids: Ids | None = None,
        agent_for: AgentFor | None = None,
        agents: Mapping[str, Agent] | None = None,
    ) -> None:
        self.approver = approver
        """Asked about changes that untrusted text may have led to. It may be set or removed at any time."""

        async def ask(proposal: Proposal) -> bool | Verdict | None:
            return None if self.approver is None else await self.approver(proposal)

        if governor is not None:
            check_governor(governor)
        router = router_meant(models)
        pace = capabilities_of_router(router).pacing if pacing is None else pacing
        if pace not in get_args(Pacing):
            raise UnknownName(noun="pacing", name=pace, known=get_args(Pacing))
        clock = clock or SystemClock()
        servers = server_tools(tool_servers, ask, clock)
        self._parts = parts = Parts(
            store_meant(store),
            clock,
            ids or RandomIds(),
            router,
            agent_for or usual_agent,
            usual_tools(tools, ask, servers),
            governor=governor,
            policy=policy,
            pacing=pace,
            act_seconds_max=act_seconds_max,
            strict=strict,
            offline=ModelRouter(),
            telemetry=configured_telemetry(),
            agents={
                handle: _checked("Terrarium(agents=...)", agent) for handle, agent in (agents or {}).items()
            },
        )
        self._house = parts.house
        self._house.host(servers)
        self._guest = parts.guest
        self._edits = parts.edits
        self._stage = parts.stage
        self._archive = parts.archive

    def __repr__(self) -> str:
        world = self._house.ledger.world
        return shown(self, store=self._house.store, graphs=len(world.graphs), creatures=len(world.creatures))

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    # Opening and closing

    async def open(self) -> None:
        """Look up the models if they were given by name, and start those in files; open the store and restore every open
        graph. Adds no event."""
        await self._parts.router_can.open()
        try:
            if self._guest is None:  # Whoever plays the store asks models; a guest asks that one.
                await self._parts.router_can.start()
            await self._house.open()
        except BaseException:
            await self._close_models()
            raise
        if self._guest is None:
            self._house.ledger.writer.on_fenced = self._end
            self._stage.listen()
        if is_event_log_read():
            self._house.observe(EventLog(partial(span_of, self)), None)

    def _end(self, fenced: StoreFenced) -> None:
        """Another process has taken the store over: end the acts at once, then close. Whoever calls is told why."""
        self._parts.conductor.timer.end_all(fenced)
        self._ending = asyncio.create_task(self._end_quietly(), name="glasshouse ends")

    async def _end_quietly(self) -> None:
        with suppress(StoreError):  # Nobody awaits this task. Whoever closes it too is told.
            await self.close()

    async def close(self) -> None:
        """Wait until everything in flight is durable, then close the store."""
        try:
            await self._house.close(self._stage.stop_acts)
        finally:
            await self._close_models()

    async def _close_models(self) -> None:
        """Close the connections to the servers of models. A model that is asked again opens a new one."""
        await self._parts.router_can.close()

    # Playing

    async def open_world(
        self,
        world: AnyWorld,
        seed: str | None = None,
        rng_seed: int = 0,
        governor: Governor | None = None,
        *,
        run_id: str | None = None,
        models: Mapping[str, str] | None = None,
    ) -> Run:
        """Open a world as one batch: its run, its creatures and its channels. No creature acts until the run is driven.

        `models` binds handles or teams to models by name, for this run only.
        """
        return await self._stage.open_world(world, seed, rng_seed, governor, run_id=run_id, models=models)

    def runs(self) -> tuple[Run, ...]:
        """Every run that has begun, the oldest first."""
        return self._stage.runs()

    def run_of(self, run_id: str) -> Run:
        """One run, at the time of the call."""
        return self._stage.run_of(run_id)

    @property
    def default_run_id(self) -> str:
        """The run of every creature that is added without a run. When a default run is over, the next one is used."""
        return self._edits.default_run_id

    def due(self, run_id: str) -> tuple[DueTurn, ...]:
        """The next turn of each graph of a run that has something to do, in lockstep order; empty if nothing is due."""
        return self._stage.due(run_id)

    async def step_one(self, graph_id: str | None = None) -> Event | None:
        """Play one act, of the graph named or of the first in order. Returns its last event, or None if nothing is
        due."""
        event = await self._stage.step_one(graph_id)
        return None if event is None else own_copy(event)

    async def step(self, turns: int = 1, *, before_act: BeforeAct | None = None) -> Conducted:
        """Play this many turns of every graph."""
        return _own(await self._stage.run(turns=turns, before_act=before_act))

    async def run(
        self, *run_ids: str, turns: int | None = None, before_act: BeforeAct | None = None
    ) -> Conducted:
        """Play until nothing is due or the runs named are over; with `turns`, at most this many turns of each graph,
        empty ones too, and at least one.

        `before_act` is a gate that is awaited before each act. It may wait. If it returns False, the drive ends.
        """
        return _own(await self._stage.run(*run_ids, turns=turns, before_act=before_act))

    async def disturb(self, run_id: str, text: str, *, graph_id: str | None = None) -> Event:
        """Say something as the visitor to everybody in the graph named, or in each graph where the run has a creature.
        Returns the first of the events; the others name it in `copy_of`."""
        return own_copy(await self._stage.disturb(run_id, text, graph_id=graph_id))

    def speak_as(self, creature_id: CreatureOrId, text: str) -> None:
        """Give the next line to a creature that a visitor plays."""
        self._stage.speak_as(id_of(creature_id), text)

    def send_visitors_away(self, run_id: str) -> tuple[str, ...]:
        """Let creatures that a visitor plays pass at once instead of waiting for a line. Returns their handles."""
        return self._stage.send_visitors_away(run_id)

    def thinking(self) -> tuple[Thinking, ...]:
        """Who waits for a model that takes its time, the longest first. The offline troupe takes none.

        From the first call on, servers are asked to send their text as it comes, and `text` has what is public of it.
        """
        return self._stage.thinking()

    async def pause(self, run_id: str, reason: str = "asked to") -> None:
        """Pause a run: none of its creatures begins an act until the run continues."""
        await self._stage.pause(run_id, reason)

    async def continue_run(self, run_id: str, *, offline: bool = False, by: str = "") -> None:
        """Continue a paused run. With `offline`, the offline troupe plays the rest of it; `by` says who decided that.

        A model in a file that has ended is started again.
        """
        if not offline and self._guest is None:
            await self._parts.router_can.start()
        await self._stage.continue_run(run_id, offline=offline, by=by)

    async def finish(self, run_id: str, reason: FinishReason = "stopped") -> Event | None:
        """End a run once none of its creatures is thinking any more; the `run.finished` event."""
        event = await self._stage.finish(run_id, reason)
        return None if event is None else own_copy(event)

    # Creatures

    async def add_creature(
        self,
        manifest: Manifest,
        *,
        agent: Agent | None = None,
        graph: str | None = None,
        channel: str | None = None,
        handle: str | None = None,
        is_privileged: bool = False,
        may_spawn: Iterable[Manifest] = (),
        parent: CreatureOrId | None = None,
        run: str | None = None,
        dry_run: bool = False,
    ) -> Creature:
        """Add a creature: in a new graph, or in `graph`: on `channel`, else on the graph's only channel, else on a new
        channel with its oldest member.

        With privilege, it may add the creatures of `may_spawn` by a tool, besides those that its scenario lists.
        """
        example = "Write Manifest(name='ada', persona='...')."
        spawnable = tuple(may_spawn)
        check_type("add_creature()", manifest, Manifest, "a Manifest", example)
        for each in spawnable:
            check_type("add_creature(may_spawn=[...])", each, Manifest, "manifests", example)
        if agent is not None:
            _checked("add_creature(agent=...)", agent)
        facts = (manifest.name, manifest.as_json(), manifest.digest)
        parent_id = None if parent is None else id_of(parent)
        run_id = run or self.default_run_id
        intent = intents.AddCreature(*facts, handle, graph, is_privileged, parent_id, run_id, channel)
        return await self._edits.add_creature(intent, manifest, agent, spawnable, dry_run=dry_run)

    def attach(self, creature_id: CreatureOrId, agent: Agent) -> None:
        """Give a creature that was added with an agent its agent again, after the store was reopened or in a branch.
        What waited for it is due from now on."""
        self._edits.attach(id_of(creature_id), _checked("attach()", agent))

    async def remove_creature(self, creature_id: CreatureOrId, *, dry_run: bool = False) -> Change:
        """Remove a creature with its edges and wires. The graph splits if the creature was its only connection."""
        return await self._edits.change(intents.RemoveCreature(id_of(creature_id)), dry_run=dry_run)

    async def start_creature(self, creature_id: CreatureOrId, *, dry_run: bool = False) -> Creature:
        """Start a stopped creature. It answers everything that waited for it in one act."""
        return await self._edits.alter(intents.StartCreature(id_of(creature_id)), dry_run=dry_run)

    async def stop_creature(self, creature_id: CreatureOrId, *, dry_run: bool = False) -> Creature:
        """Stop a creature. Its edges and its mail stay."""
        return await self._edits.alter(intents.StopCreature(id_of(creature_id)), dry_run=dry_run)

    async def set_parent(
        self, creature_id: CreatureOrId, parent: CreatureOrId | None, *, dry_run: bool = False
    ) -> Creature:
        """Give a creature another parent, or none."""
        intent = intents.SetParent(id_of(creature_id), None if parent is None else id_of(parent))
        return await self._edits.alter(intent, dry_run=dry_run)

    async def grant_privilege(self, creature_id: CreatureOrId, *, dry_run: bool = False) -> Creature:
        """Give a creature the right to change its graph. This is refused from inside an act, so no tool can do it."""
        return await self._edits.alter(
            intents.GrantPrivilege(id_of(creature_id), by=VISITOR), dry_run=dry_run
        )

    async def revoke_privilege(self, creature_id: CreatureOrId, *, dry_run: bool = False) -> Creature:
        """Take back the right of a creature to change its graph. An act that is under way is refused its next change.

        This is refused from inside an act, so no tool can do it.
        """
        return await self._edits.alter(
            intents.RevokePrivilege(id_of(creature_id), by=VISITOR), dry_run=dry_run
        )

    async def accept_tool(
        self, run_id: str, tool: str, *, digest: str | None = None, dry_run: bool = False
    ) -> None:
        """Let the creatures of a run use a tool as its server describes it now. This is refused from inside an act.

        With the digest of a description that you have read, no later one is accepted.
        """
        intent = intents.AcceptTool(run_id, tool, VISITOR, digest or "")
        await self._edits.change(intent, dry_run=dry_run)

    def granted_tools(self, run_id: str) -> tuple[ToolOfRun, ...]:
        """The tools of servers that the creatures of a run were granted, and which of them are withheld."""
        return self._edits.granted_tools(run_id)

    def creature(self, creature_id: CreatureOrId) -> Creature:
        """One live creature, as it is now."""
        return self._edits.creature(id_of(creature_id))

    def creatures(self) -> tuple[Creature, ...]:
        """Every live creature, the oldest first."""
        return self._edits.creatures()

    def agent(self, creature_id: CreatureOrId) -> Agent | None:
        """The Python object that thinks for a creature, if there is one yet. Changes of the graph never replace it."""
        return self._edits.agent(id_of(creature_id))

    # The graph

    async def connect(
        self,
        source: CreatureOrId,
        target: CreatureOrId,
        *,
        channel: str | None = None,
        both: bool = False,
        dry_run: bool = False,
    ) -> Change:
        """Let `source` send and `target` listen on a channel. If they are in two graphs, these merge. On return,
        `target` hears `source`."""
        intent = intents.Connect(id_of(source), id_of(target), channel, both)
        return await self._edits.change(intent, dry_run=dry_run)

    async def disconnect(
        self, source: CreatureOrId, target: CreatureOrId, *, channel: str | None = None, dry_run: bool = False
    ) -> Change:
        """Remove the edges from `source` to `target`. The graph splits if they were its only bridge."""
        intent = intents.Disconnect(id_of(source), id_of(target), channel)
        return await self._edits.change(intent, dry_run=dry_run)

    async def join_channel(self, creature_id: CreatureOrId, channel: str, *, dry_run: bool = False) -> Change:
        """Let a creature listen and send on a channel of its graph, by name or id."""
        return await self._edits.change(intents.JoinChannel(id_of(creature_id), channel), dry_run=dry_run)

    async def leave_channel(
        self, creature_id: CreatureOrId, channel: str, *, dry_run: bool = False
    ) -> Change:
        """Take a creature off a channel. The graph splits if that was its only connection."""
        return await self._edits.change(intents.LeaveChannel(id_of(creature_id), channel), dry_run=dry_run)

    async def add_channel(
        self,
        graph: str,
        name: str,
        description: str = "",
        history: History = "full",
        *,
        dry_run: bool = False,
    ) -> Channel:
        """Open a channel without listeners and senders."""
        intent = intents.AddChannel(graph, name, description, history)
        return await self._edits.alter_channel(intent, dry_run=dry_run)

    async def rename_channel(self, graph: str, old: str, new: str, *, dry_run: bool = False) -> Channel:
        """Give a channel another name. Who hears it stays the same."""
        return await self._edits.alter_channel(intents.RenameChannel(graph, old, new), dry_run=dry_run)

    async def describe_channel(
        self, graph: str, name: str, description: str, *, dry_run: bool = False
    ) -> Channel:
        """Give a channel another description."""
        intent = intents.DescribeChannel(graph, name, description)
        return await self._edits.alter_channel(intent, dry_run=dry_run)

    async def remove_channel(self, graph: str, name: str, *, dry_run: bool = False) -> Change:
        """Close a channel. The graph splits if only this channel connected some of its creatures."""
        return await self._edits.change(intents.RemoveChannel(graph, name), dry_run=dry_run)

    async def close_graph(self, graph: str, *, dry_run: bool = False) -> Change:
        """Close a graph whose runs are all over. Its session stays, can be read, and can be resumed."""
        return await self._edits.change(intents.CloseGraph(graph), dry_run=dry_run)

    async def wire(
        self,
        source: CreatureOrId,
        target: CreatureOrId,
        *,
        with_content: bool = True,
        prompt: str | None = None,
        when: str | None = None,
        dry_run: bool = False,
    ) -> Wire:
        """Hand every line of `source` to `target`, within one graph; `when` is a condition (ADR 0036)."""
        intent = intents.AddWire(id_of(source), id_of(target), with_content, prompt, when)
        return await self._edits.add_wire(intent, dry_run=dry_run)

    async def unwire(self, source: CreatureOrId, target: CreatureOrId, *, dry_run: bool = False) -> Change:
        """Remove a wire."""
        return await self._edits.change(intents.RemoveWire(id_of(source), id_of(target)), dry_run=dry_run)

    def graph(self, graph_id: str) -> Graph:
        """One open graph."""
        return self._edits.graph(graph_id)

    def graphs(self) -> tuple[Graph, ...]:
        """Every open graph, the oldest first."""
        return self._edits.graphs()

    def environment(self, graph_id: str) -> Environment:
        """The channels of a graph, with their listeners and senders."""
        return self._edits.environment(graph_id)

    async def graphs_at(self, event_id: str) -> tuple[Graph, ...]:
        """Every graph that was open right after the change that an event belongs to."""
        return await self._edits.graphs_at(event_id)

    async def shapes(self, at: str | None = None) -> tuple[Shape, ...]:
        """Every open graph with its channels, creatures and wires: now, or right after the change of the event `at`."""
        return await self._edits.shapes(at)

    # Writing and following

    def append(
        self, creature_id: CreatureOrId, draft: Draft, *, caused_by: str | None = None, dry_run: bool = False
    ) -> Coroutine[Any, Any, Event]:
        """Append an event of a creature. Once this is awaited, the event is durable."""
        return self._edits.append(id_of(creature_id), draft, caused_by, dry_run=dry_run)

    def append_nowait(
        self, creature_id: CreatureOrId, draft: Draft, *, caused_by: str | None = None
    ) -> Acknowledgement:
        """Append an event now and await its durability later, for producers with many events in flight (ADR 0019)."""
        return self._edits.append_nowait(id_of(creature_id), draft, caused_by)

    async def append_all(
        self,
        creature_id: CreatureOrId,
        drafts: Iterable[Draft],
        *,
        caused_by: str | None = None,
        dry_run: bool = False,
    ) -> tuple[Event, ...]:
        """Append several events of a creature as one batch: all or nothing."""
        events = await self._edits.append_all(id_of(creature_id), drafts, caused_by, dry_run=dry_run)
        return tuple(map(own_copy, events))

    def subscribe(
        self, wanted: EventFilter | None = None, after: int | None = None, *, role: Role = "director"
    ) -> Subscription:
        """Committed events as they come, after a position, as a role may read them. None means from now on, 0 from the
        beginning."""
        return self._house.subscribe(wanted, after, role)

    def mail(self, creature_id: CreatureOrId, *, follow: bool = False) -> AsyncIterator[Event]:
        """The events that a creature must still answer, in order, each once; with `follow`, also later ones (ADR
        0014)."""
        return self._house.mail(id_of(creature_id), follow=follow)

    def observe(self, observer: Observer, after: int | None = 0) -> ObserverPump:
        """Attach an observer after a position: 0 is the beginning, None is now. A slow observer delays no writer.

        Await `caught_up()` of what it returns to find everything committed so far in the observer's view.
        """
        return self._house.observe(observer, after)

    # Reading

    def session(self, session_id: str) -> Session:
        """One session, open or ended."""
        return self._archive.session(session_id)

    def lineage(self, session_id: str) -> Lineage:
        """A session with its ancestors and descendants."""
        return self._archive.lineage(session_id)

    def history(
        self, session_id: str, after: str | None = None, upto: str | None = None
    ) -> AsyncIterator[Event]:
        """The events that a session remembers, in order, each once. `after` is exclusive, `upto` is inclusive."""
        return self._archive.history(session_id, after, upto)

    async def events(
        self, session_id: str, after: str | None = None, upto: str | None = None
    ) -> tuple[Event, ...]:
        """The events of `history`, as one tuple."""
        return tuple([event async for event in self.history(session_id, after, upto)])

    async def event(self, event_id: str) -> Event:
        """One event by its id."""
        return await self._house.history.event(event_id)

    async def run_events(self, run_id: str) -> tuple[Event, ...]:
        """All events of a run and the changes of its graphs until its end, in the order of histories."""
        return await self._archive.run_events(run_id)

    async def digest(self, run_id: str) -> str:
        """The digest of a run. Equal stories have equal digests, wherever and whenever they were played (ADR 0030)."""
        return await self._archive.digest(run_id)

    async def played(self, run_id: str) -> Played:
        """A recorded run as a value: its lines, its digest, who won. Asks no model and writes nothing."""
        return await played_of(self._parts, run_id)

    async def compare(self, first: str, second: str, *, role: Role = "audience") -> Comparison:
        """Compare two runs or sessions: where they diverge, which lines differ, and what each cost."""
        return await self._archive.compare(first, second, role)

    async def why(self, event_id: str, *, role: Role = "audience") -> Why:
        """Why an event happened: the chain of its causes back to the first one, each with what its actor was shown."""
        return await self._archive.why_reader.why(event_id, role)

    async def who_knew(self, event_id: str, *, at: str | None = None) -> WhoKnew:
        """Which creatures could see an event, how, and since when. Includes removed creatures.

        With `at`, an event of this house: which of its creatures could right after the change of that event.
        """
        return await self._archive.who_knew_reader.who_knew(event_id, at)

    async def prompt(self, digest: str) -> str | None:
        """The prompt text with this digest, if the store still keeps it."""
        return await self._house.store.prompt(digest)

    def leaderboard(
        self,
        by: By = "creature",
        *,
        world: str | None = None,
        run_ids: Collection[str] | None = None,
        branches: bool = False,
    ) -> tuple[Standing, ...]:
        """Who won how often, over all finished contests, best first: by creature, team or model.

        Branches are left out unless `branches` is true: the past that they share with their parents would count
        twice. If `run_ids` is given, exactly those runs count, also branches.
        """
        return self._archive.leaderboard(by, world, run_ids, branches=branches)

    async def label_run(self, run_id: str, labels: Iterable[str]) -> tuple[str, ...]:
        """Give a run these labels in place of those it had. Labels stand beside the ledger: they change no story and no
        digest, and are not exported."""
        return await self._archive.label(run_id, labels)

    async def labels(self) -> Mapping[str, tuple[str, ...]]:
        """The labels of every run that has some."""
        return await self._archive.labels()

    # Files

    async def export(self, run_or_session_id: str, path: str | Path, *, role: Role = "audience") -> Path:
        """Write a run with all sides of its splits, or a session, into one file: `.glass`, or `.jsonl` for other
        tools. The file holds the whole past of both."""
        return await self._archive.export(run_or_session_id, path, role=role)

    async def share(
        self,
        run_id: str,
        *,
        minds: bool = False,
        first: int = 1,
        last: int | None = None,
        verify: bool = False,
    ) -> SharedFile:
        """A run as one HTML file that opens from disk and asks nobody for anything: for spectators or, with `minds`, with
        everybody's thoughts. `first` and `last` choose some of its events. With `verify`, it is replayed first, refused
        if anything differs, and the file says that it replays to its digest."""
        digest = await _verified_digest(self, run_id) if verify else None
        return await self._archive.share(run_id, minds=minds, first=first, last=last, verified_digest=digest)

    async def import_file(self, path: str | Path) -> Session:
        """Import a session from a file. It can be read, forked, branched and resumed, but it has no live creatures."""
        return await self._archive.import_file(path)

    def imported_runs(self) -> tuple[str, ...]:
        """The ids of the runs that came in files. They can be read, compared and exported, and branched from their
        sessions; nobody in them lives here."""
        return self._archive.imported_runs()

    # Continuing from the past

    async def fork(self, session_id: str, at: str | None = None) -> Session:
        """Begin a session that shares the past of another one up to an event, or up to its end."""
        return await self._archive.fork(session_id, at)

    async def branch(self, session_id: str, at: str | None = None, change: WhatIf | None = None) -> Run:
        """Begin a counterfactual run that shares the past of a session up to an event, or up to its end.

        The parent does not change. Calls that equal the parent's are answered from its record (ADR 0039).
        """
        return await self._archive.branch(session_id, at, change)

    async def resume(
        self, session_id: str, shape: Literal["recipe", "as-was"] = "recipe", *, world: WorldsNow = None
    ) -> Run:
        """Continue a session that is closed, imported or over, in a child session.

        `recipe` opens the scenario as it is on disk now, edited or not; one that was edited before the start comes from
        its record. Each creature keeps its own past. `as-was` restores the graphs that the session ended with. `world`
        says where the scenario is now, if it has moved. If several scenarios had met in the session, all of them
        continue: `beside` of the returned run names the others.
        """
        return await self._archive.resume(session_id, shape, world=world)

    async def script_change(self, run_id: str) -> str:
        """A sentence if a run that goes on plays from another script than it began with, or than the run that it continues; else
        empty."""
        return await self._archive.script_change(run_id)


def _checked(call: str, agent: Agent) -> Agent:
    """The agent, or a refusal of what cannot act."""
    given: object = agent
    made = (
        f"Write agent={given.__name__}()."
        if isinstance(given, type)
        else "Give it an object of your own class."
    )
    check_has(call, agent, "act", "an object with an `act` method", made)
    return agent


def _own(conducted: Conducted) -> Conducted:
    ended = tuple(map(own_copy, conducted.ended))
    last = None if conducted.last is None else own_copy(conducted.last)
    return Conducted(conducted.because, conducted.turns, ended, last, conducted.waiting)


def play(
    world: str | Path | LoadedWorld,
    *,
    seed: str | None = None,
    rng_seed: int = 0,
    turns: int | None = None,
    governor: Governor | None = None,
    store: Store | str | Path | None = None,
    models: Router | str | Path | None = None,
    tools: Toolbox | None = None,
    tool_servers: Collection[ToolServer] = (),
    approver: Approver | None = None,
    agents: Mapping[str, Agent] | None = None,
) -> Played:
    """Play a world to its end, or for this many turns, and return the played run.

    This is the one blocking call, for scripts and notebooks. It also works where an event loop is running. What is not
    about the world is as in `Terrarium`: `agents` play, by handle, members of its cast.
    """
    if isinstance(turns, int) and turns < 1:
        raise Refused(f"{turns} turns cannot be played.", "Give a number from 1 on, or leave it out.")

    async def played() -> Played:
        async with Terrarium(
            store, models=models, tools=tools, tool_servers=tool_servers, approver=approver, agents=agents
        ) as terrarium:
            run = await terrarium.open_world(world, seed, rng_seed, governor)
            await terrarium.run(run.id, turns=turns)
            return await terrarium.played(run.id)

    return outcome_of(played)


async def verify(terrarium: Terrarium, run_id: str) -> Verification:
    """Play a run again from its record, in memory, and report the differences."""
    from glasshouse.runtime.replay.replay import verified  # Imported here: most programs do not need it.

    try:
        return await verified(terrarium._house, terrarium._parts.tools, run_id)
    except (LookupError, ValueError) as unfit:  # A manifest or a name that no run can have recorded.
        raise StoreDamaged(
            f"What {run_id} recorded does not fit together ({unfit!r}), so it cannot be played again. Restore a copy."
        ) from unfit


def is_edited(terrarium: Terrarium, run_id: str, *, world: WorldsNow = None) -> bool:
    """Whether the scenario on disk differs from the one that a run was opened from. `world` says where it is now, if it
    has moved."""
    return recipes.is_edited(folded_of(terrarium), run_id, world, terrarium._parts.tools.names())


def check_code(terrarium: Terrarium, run_ids: Iterable[str]) -> None:
    """Refuse to continue runs in place if code of their worlds may not run here, or cannot be loaded."""
    terrarium._archive.check_code(run_ids)


def check_code_on_disk(terrarium: Terrarium, run_ids: Iterable[str], *, world: WorldsNow = None) -> None:
    """Refuse to resume runs from their worlds on disk if code of these may not run here, or cannot be loaded."""
    terrarium._archive.check_code_on_disk(run_ids, world)


def span_of(terrarium: Terrarium, event_id: str) -> tuple[str, str] | None:
    """The ids of the trace and the span in which an event was written, in hexadecimal; none if this program does not
    trace, or wrote the event long ago."""
    telemetry = terrarium._parts.telemetry
    return None if telemetry is None else telemetry.span_of(event_id)


def event_of_span(terrarium: Terrarium, span_id: str) -> str | None:
    """The id of the newest event that was written in a span, if it is known; `span_id` is in hexadecimal."""
    telemetry = terrarium._parts.telemetry
    return None if telemetry is None else telemetry.event_of(span_id)


async def _verified_digest(terrarium: Terrarium, run_id: str) -> str:
    """The digest of a run that comes out the same when it is replayed, together with the runs it continues."""
    result = own = await verify(terrarium, run_id)
    while result.is_same and result.grows_from is not None:
        result = await verify(terrarium, result.grows_from)
    if not result.is_same:
        raise Refused(
            f"{run_id} does not replay to the same digest.",
            "See glasshouse replay --verify for the difference.",
        )
    return own.recorded_digest


def stories_of(terrarium: Terrarium) -> Stories:
    """What the page's server reads: the stories of a terrarium, and their views at any event."""
    return terrarium._archive.stories


def curtain_reader_of(terrarium: Terrarium) -> CurtainReader:
    """What the page's server reads: how the runs of a terrarium ended."""
    return terrarium._archive.curtain_reader


def folded_of(terrarium: Terrarium) -> Folded:
    """What the command line and the page's server compute from: the folds of a terrarium's ledger."""
    return terrarium._house.ledger.folded


def skews_of(terrarium: Terrarium) -> Mapping[str, int]:
    """What the command line needs for a digest of events that it has read: see `HistoryReader.skews`."""
    return terrarium._house.history.skews()


def router_of(terrarium: Terrarium) -> Router:
    """What the page's server tells about models: the router of a terrarium."""
    return terrarium._parts.router


def tools_of(terrarium: Terrarium) -> frozenset[str]:
    """What the page's server checks worlds with: the names of the tools that a terrarium can grant."""
    return terrarium._parts.tools.names()


def share_purse(terrarium: Terrarium, purse: SharedPurse) -> None:
    """Let the runs of a terrarium draw on a purse that other terrariums draw on too, beside their own."""
    terrarium._parts.model_access.reservations.shared = purse


def keep_script(terrarium: Terrarium, world: LoadedWorld) -> None:
    """Play the script of this world in its runs that were opened before, wherever its files are."""
    terrarium._parts.routes.keep_script(world)


async def open_apart(
    terrarium: Terrarium,
    world: LoadedWorld,
    seed: str | None,
    rng_seed: int,
    governor: Governor | None,
    *,
    run_id: str | None,
    models: Mapping[str, str],
) -> Run:
    """Open a world as if the terrarium held no other run: none of their creatures finds one of the other. For runs that are compared."""
    return await terrarium._stage.open_world(
        world, seed, rng_seed, governor, run_id=run_id, models=models, is_apart=True
    )


def leave_acts_due(terrarium: Terrarium, on_outage: Callable[[str], None]) -> None:
    """Let closing write nothing for acts that are cut off. They are thought again, and the calls they made are paid twice. An outage
    pauses no run: `on_outage` is told, and cancels whoever drives it."""
    conductor = terrarium._parts.conductor
    conductor.leaves_acts_due = True
    conductor.runs.on_outage = on_outage


def guest_of(terrarium: Terrarium) -> Guest | None:
    """How a terrarium follows and asks the process that plays its store; None if it plays the store itself."""
    return terrarium._guest
