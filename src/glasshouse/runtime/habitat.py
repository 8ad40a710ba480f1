"""`Habitat`: the half of the terrarium that runs nobody: creatures, graphs, the ledger and its histories.

It makes intents, waits for the ledger, and shows the world as values.

Always holds: every change goes through `Ledger.change`; every answer carries ids and values, never live objects.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from glasshouse.errors import Refused
from glasshouse.events.event import VISITOR, Draft, Event
from glasshouse.events.filter import EventFilter
from glasshouse.events.payloads import History
from glasshouse.events.redaction import Role
from glasshouse.manifests.manifest import Manifest
from glasshouse.runtime.acts.inside import check_gives_no_right, check_is_outside
from glasshouse.runtime.creature import Creature, creature_of
from glasshouse.runtime.ledger import portable
from glasshouse.runtime.ledger.folding import folded_from
from glasshouse.runtime.ledger.ledger import Ledger, Look
from glasshouse.runtime.ledger.observer import Observer, ObserverPump, Observers
from glasshouse.runtime.ledger.reading import HistoryReader, mail_pages
from glasshouse.runtime.ledger.receipts import Acknowledgement, Receipt
from glasshouse.runtime.ledger.subscriptions import Subscription, Subscriptions
from glasshouse.runtime.minds.agent import Agent
from glasshouse.runtime.ports import Clock, Ids, Store
from glasshouse.views import lineage as lineage_views
from glasshouse.views import topology as topology_views
from glasshouse.views.foreseen import channel_foreseen, creature_foreseen, wire_foreseen
from glasshouse.world.intents import (
    AddChannel,
    AddCreature,
    AddWire,
    AnyIntent,
    CloseGraph,
    Connect,
    Disconnect,
    Fork,
    GrantPrivilege,
    RemoveChannel,
    RemoveCreature,
    RemoveWire,
    Say,
    StartCreature,
    StopCreature,
)
from glasshouse.world.names import short_hash, the_creature
from glasshouse.world.values import Change, Channel, Environment, Graph, Lineage, Session, Wire


class Habitat:
    """Hosts creatures, owns topology and ledger."""

    def __init__(self, store: Store, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._ids = ids
        self._subscriptions = Subscriptions(store)
        self._ledger = Ledger(store, clock, self._subscriptions)
        self._history = HistoryReader(store, self._ledger)
        self._observers = Observers()
        self._agents: dict[str, Agent] = {}
        self._manifests_cache: dict[str, Manifest] = {}
        self._is_used = False
        self._closing: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def open(self) -> None:
        """Open the store and bring every open graph back in place. Adds no event."""
        if self._is_used:
            raise Refused("A terrarium is opened once.", "Make another one on the same store.")
        self._is_used = True
        await self._store.open(self._ids.new())
        try:
            await self._ledger.open()
        except BaseException:
            await self._store.close()
            raise

    async def close(self) -> None:
        """Let everything under way become durable, then let go of the store. Whoever gives up waiting ends nothing."""
        check_is_outside(self._ledger)
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(), name="glasshouse closing")
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        try:
            await self._let_go()
            await self._ledger.close()
        finally:
            self._subscriptions.close()
            try:
                await self._observers.farewell()
            finally:
                await self._store.close()

    async def _let_go(self) -> None:
        """Whatever must end before the ledger is closed."""

    @property
    def default_run_id(self) -> str:
        """The run of every creature that is added without one. When one such run is over, the next begins."""
        runs, number = self._ledger.world.runs, 0
        while (run := runs.get(self._numbered_run(number))) is not None and run.status == "finished":
            number += 1
        return self._numbered_run(number)

    def _numbered_run(self, number: int) -> str:
        parts = ("default run", self._store.house_id, *([str(number)] if number else []))
        return "r-" + short_hash(*parts)

    # Creatures

    async def add_creature(
        self,
        manifest: Manifest,
        *,
        agent: Agent | None = None,
        graph: str | None = None,
        handle: str | None = None,
        is_privileged: bool = False,
        parent: str | None = None,
        run: str | None = None,
        dry_run: bool = False,
    ) -> Creature:
        """Bring a creature to life: in a graph of its own, or on the commons of `graph`."""
        if not isinstance(manifest, Manifest):
            raise Refused("add_creature() takes a Manifest.", "Write Manifest(name='ada', persona='...').")
        self._check_manifest(manifest)
        if is_privileged:
            check_gives_no_right(self._ledger)
        intent = AddCreature(
            name=manifest.name,
            manifest=manifest.as_json(),
            manifest_digest=manifest.digest,
            handle=handle,
            graph_id=graph,
            is_privileged=is_privileged,
            parent=parent,
            run_id=run or self.default_run_id,
        )
        if dry_run:
            return self._creature_foreseen(await self._ledger.foresee(intent), manifest)
        self._manifests_cache.setdefault(intent.manifest_digest, manifest)

        def settled(creature_id: str) -> Creature:
            self._agents.pop(creature_id, None)
            if agent is not None:
                self._agents[creature_id] = agent
            return self.creature(creature_id)

        return await self._ledger.change_and_see(intent, settled)

    def _check_manifest(self, manifest: Manifest) -> None:
        """Whatever keeps a creature from living here."""

    async def remove_creature(self, creature_id: str, *, dry_run: bool = False) -> Change:
        """Take a creature with its edges and wires away; what hung on it alone splits off."""
        return await self._change(
            RemoveCreature(creature_id), lambda gone: self._agents.pop(gone, None), dry_run=dry_run
        )

    async def start_creature(self, creature_id: str, *, dry_run: bool = False) -> Creature:
        """Let a stopped creature run again. What waited for it becomes one act."""
        return await self._altered(StartCreature(creature_id), dry_run=dry_run)

    async def stop_creature(self, creature_id: str, *, dry_run: bool = False) -> Creature:
        """Let a creature rest. Its edges and its mail stay."""
        return await self._altered(StopCreature(creature_id), dry_run=dry_run)

    async def grant_privilege(self, creature_id: str, *, dry_run: bool = False) -> Creature:
        """Let a creature change its graph. Only from outside the graph: no tool can do this."""
        check_gives_no_right(self._ledger)
        return await self._altered(GrantPrivilege(creature_id, by=VISITOR), dry_run=dry_run)

    async def _altered(
        self, intent: StartCreature | StopCreature | GrantPrivilege, *, dry_run: bool
    ) -> Creature:
        if dry_run:
            return self._creature_foreseen(await self._ledger.foresee(intent))
        return await self._ledger.change_and_see(intent, self.creature)

    def _creature_foreseen(self, foreseen: Receipt, manifest: Manifest | None = None) -> Creature:
        world, events = self._ledger.world, foreseen.events
        state = creature_foreseen(world, foreseen.subject, events)
        session_id = events[0].session_id if events else world.graphs[state.graph_id].session_id
        return creature_of(state, session_id, manifest or self._manifest(state.manifest_digest))

    def creature(self, creature_id: str) -> Creature:
        """One live creature."""
        state = the_creature(self._ledger.world, creature_id)
        session_id = self._ledger.world.graphs[state.graph_id].session_id
        return creature_of(state, session_id, self._manifest(state.manifest_digest))

    def creatures(self) -> tuple[Creature, ...]:
        """Every live creature, the oldest first."""
        return tuple([self.creature(name) for name in self._ledger.world.creatures])

    def agent(self, creature_id: str) -> Agent | None:
        """The Python object that thinks for a creature; no change of the graph re-creates it."""
        the_creature(self._ledger.world, creature_id)
        return self._agents.get(creature_id)

    def _manifest(self, digest: str) -> Manifest:
        found = self._manifests_cache.get(digest)
        if found is None:
            found = Manifest.model_validate(self._ledger.world.manifests[digest].manifest)
            self._manifests_cache[digest] = found
        return found

    # The graph

    async def connect(
        self,
        source: str,
        target: str,
        *,
        channel: str | None = None,
        both: bool = False,
        dry_run: bool = False,
    ) -> Change:
        """`source` sends and `target` listens on a channel. Across two graphs: merge. On return, it hears."""
        return await self._change(Connect(source, target, channel, both), dry_run=dry_run)

    async def disconnect(
        self, source: str, target: str, *, channel: str | None = None, dry_run: bool = False
    ) -> Change:
        """Take the edges from `source` to `target` away. Where they were the only bridge: split."""
        return await self._change(Disconnect(source, target, channel), dry_run=dry_run)

    async def add_channel(
        self,
        graph: str,
        name: str,
        description: str = "",
        history: History = "full",
        *,
        dry_run: bool = False,
    ) -> Channel:
        """Open a channel that nobody is on yet."""
        intent = AddChannel(graph, name, description, history)
        if dry_run:
            return channel_foreseen(self._ledger.world, (await self._ledger.foresee(intent)).events)
        return await self._ledger.change_and_see(intent, self._channel)

    def _channel(self, channel_id: str) -> Channel:
        world = self._ledger.world
        return topology_views.channel_of(world, world.channels[channel_id])

    async def remove_channel(self, graph: str, name: str, *, dry_run: bool = False) -> Change:
        """Close a channel. Where it alone joined creatures: split."""
        return await self._change(RemoveChannel(graph, name), dry_run=dry_run)

    async def close_graph(self, graph: str, *, dry_run: bool = False) -> Change:
        """Let a graph go whose runs are all over. Its session stays, can be read, and can be resumed."""
        return await self._change(CloseGraph(graph), dry_run=dry_run)

    async def wire(
        self,
        source: str,
        target: str,
        *,
        with_content: bool = True,
        prompt: str | None = None,
        when: str | None = None,
        dry_run: bool = False,
    ) -> Wire:
        """Hand every finished line of `source` to `target`, within one graph."""
        intent = AddWire(source, target, with_content, prompt, when)
        if dry_run:
            foreseen = await self._ledger.foresee(intent)
            return wire_foreseen(self._ledger.world, foreseen.subject, foreseen.events)
        return await self._ledger.change_and_see(intent, lambda wire_id: self._ledger.world.wires[wire_id])

    async def unwire(self, source: str, target: str, *, dry_run: bool = False) -> Change:
        """Take an output wire away."""
        return await self._change(RemoveWire(source, target), dry_run=dry_run)

    def graph(self, graph_id: str) -> Graph:
        """One open graph."""
        return topology_views.graph_of(self._ledger.world, graph_id)

    def graphs(self) -> tuple[Graph, ...]:
        """Every open graph, the oldest first."""
        return topology_views.graphs_of(self._ledger.world)

    def environment(self, graph_id: str) -> Environment:
        """The channels of a graph, with who listens and who sends."""
        return topology_views.environment_of(self._ledger.world, graph_id)

    async def graphs_at(self, event_id: str) -> tuple[Graph, ...]:
        """Every graph that was open right after the change an event belongs to: the shape of the past."""
        folded = await folded_from(self._store, await self._history.end_of_change(event_id))
        return topology_views.graphs_of(folded.world)

    async def shapes(self, at: str | None = None) -> tuple[topology_views.Shape, ...]:
        """Every open graph with its channels, creatures and wires: now, or right after the change of an event."""
        if at is None:
            return topology_views.shapes_of(self._ledger.world)
        folded = await folded_from(self._store, await self._history.end_of_change(at))
        return topology_views.shapes_of(folded.world)

    # The ledger

    async def append(
        self, creature_id: str, draft: Draft, *, caused_by: str | None = None, dry_run: bool = False
    ) -> Event:
        """Let a creature say something. On return it is durable."""
        ledger, intent = self._ledger, Say(creature_id, (draft,), caused_by)
        if dry_run:
            return (await ledger.foresee(intent)).events[0]
        if not ledger.takes_more:
            await ledger.wait_for_room()
        queued = ledger.submit(intent)
        await queued.acknowledged
        return queued.events[0]

    def append_nowait(
        self, creature_id: str, draft: Draft, *, caused_by: str | None = None
    ) -> Acknowledgement:
        """Let a creature say something now, and await later that it is durable: for producers with many in flight."""
        return Acknowledgement(self._ledger.submit(Say(creature_id, (draft,), caused_by)))

    async def append_all(
        self,
        creature_id: str,
        drafts: Iterable[Draft],
        *,
        caused_by: str | None = None,
        dry_run: bool = False,
    ) -> tuple[Event, ...]:
        """Let a creature say several things as one batch: all or nothing."""
        intent = Say(creature_id, tuple(drafts), caused_by)
        answer = await (self._ledger.foresee(intent) if dry_run else self._ledger.change(intent))
        return tuple(answer.events)

    def session(self, session_id: str) -> Session:
        """One session, open or ended."""
        return lineage_views.session_of(self._ledger.world, session_id)

    def lineage(self, session_id: str) -> Lineage:
        """A session with its ancestors and descendants."""
        return lineage_views.lineage_of(self._ledger.world, session_id)

    async def history(
        self, session_id: str, after: str | None = None, upto: str | None = None
    ) -> AsyncIterator[Event]:
        """What a session remembers, in order, each event once. `after` excludes, `upto` includes."""
        async for page in self._history.pages(session_id, after, upto):
            for event in page:
                yield event

    async def events(
        self, session_id: str, after: str | None = None, upto: str | None = None
    ) -> tuple[Event, ...]:
        """The same as `history`, all at once."""
        found: list[Event] = []
        async for page in self._history.pages(session_id, after, upto):
            found += page
        return tuple(found)

    async def event(self, event_id: str) -> Event:
        """One event by its id."""
        return await self._history.event(event_id)

    def subscribe(self, wanted: EventFilter | None = None, after: int | None = None) -> Subscription:
        """Committed events as they come. `after` is a position: none means from now, 0 from the beginning."""
        self._ledger.check_is_open()
        if wanted is not None and not isinstance(wanted, EventFilter):
            raise Refused("subscribe() takes an EventFilter.", "Write EventFilter(kinds={...}).")
        _check_position(after)
        return self._subscriptions.subscribe(wanted, after)

    async def mail(self, creature_id: str, *, follow: bool = False) -> AsyncIterator[Event]:
        """What a creature is owed now, in order, each cause once; with `follow`, go on as more arrives."""
        async for page in mail_pages(
            self._ledger, self._subscriptions, self._store, creature_id, follow=follow
        ):
            for event in page:
                yield event

    async def fork(self, session_id: str, at: str | None = None) -> Session:
        """Begin a session that shares the past of another up to an event (or to its end)."""
        event_id, writer, upto = await self._history.batch_to_fork(session_id, at)
        receipt = await self._ledger.change(Fork(writer, event_id, upto))
        return self.session(receipt.subject)

    async def export(self, session_id: str, path: str | Path, *, role: Role = "audience") -> Path:
        """Write a session with all it remembers into one file: `.glass`, or `.jsonl` to read in other tools."""
        return await portable.export(self._store, self._ledger, session_id, Path(path), role)

    async def import_file(self, path: str | Path) -> Session:
        """Take in a session from a file. It can be read and grown from; nobody in it lives."""
        session_id = await portable.import_file(self._store, self._ledger, Path(path))
        return self.session(session_id)

    def observe(self, observer: Observer, after: int | None = 0) -> ObserverPump:
        """Let an observer watch, from a position on; 0 is the beginning, none is now. It never holds anything up."""
        return self._observers.admit(self.subscribe(after=after), observer)

    async def _change(self, intent: AnyIntent, look: Look | None = None, *, dry_run: bool) -> Change:
        answer = await (self._ledger.foresee(intent) if dry_run else self._ledger.change(intent, look))
        return answer.change


def _check_position(after: object) -> None:
    if after is not None and not (isinstance(after, int) and after >= 0):
        raise Refused(f"{after!r} is no position.", "Give that of an event you have seen, or 0, or none.")
