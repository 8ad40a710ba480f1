"""The agenda: the acts that creatures owe now, as a set of (creature, cause), folded from the ledger (ADR 0014).

Always holds: a creature owes an act for each event that it hears when the event is said and whose kind is in its
`subscribes_to`, except its own events. A root hears every channel of its graph. The target of a wire owes an act for
each line on the wire; what the wire delivered is kept with the debt, even if the wire is removed later. One cause gives
one act: the event that ends an act names its cause and settles the debt. What a stopped creature hears waits as one
bundle. So does what a creature still owes after a full turn (ADR 0106). One act, which has heard the whole bundle,
answers its newest cause and settles it. Debts are kept by creature id, so merges and splits do not change them.

A creature with `reflect_every` also owes a reflection for every Nth line of its own (ADR 0161). The line is its cause, and
only a reflection or an act without a line settles it. It comes last in its turn, and one that its turn had no call for is
left out when the next turn begins.

What a reaction causes is due in the same turn. What comes from outside and what ticks cause is due in the next turn.
The cause of a tick is the `turn.started` of its turn (ADR 0021). An act that has called a tool and has not ended is
under way: the agenda notes the events that it has written, and it comes before all others. So the ledger alone says
what is left of a turn, and an interrupted run continues exactly where it was.

The engine asks before every act which creature is next. A queue for each graph, `Ready`, holds the creatures with an
act due in the current turn, so that the engine need not look at every member (ADR 0051). It is a cache, rebuilt when it
is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping
from functools import partial
from heapq import heapify, heappop, heappush
from itertools import takewhile
from operator import attrgetter
from typing import Any, Final, Protocol

import msgspec
from msgspec.structs import replace

from glasshouse.events import kinds, payloads
from glasshouse.events.carried import CarriedAct, CarriedAgenda, CarriedDebt
from glasshouse.events.event import CONDUCTOR, RESERVED_ACTORS, Event, session_and_seq
from glasshouse.events.payloads import converted, payload_of, picked
from glasshouse.world.hearing.bundles import begin_bundle, bundle_heard_into, bundle_up, settle
from glasshouse.world.hearing.hearing import hearers_of
from glasshouse.world.hearing.wires import Handed, handed, wires_taken
from glasshouse.world.state.state import CreatureState, GraphState, World
from glasshouse.world.state.topology import discard
from glasshouse.world.state.values import Wire

version: Final = 9
"""Increase it when the fold changes, so that snapshots of the old fold are not used."""

_DISPATCHED: Final = frozenset(
    {kinds.RUN_FINISHED, kinds.CREATURE_STARTED, kinds.CREATURE_STOPPED, kinds.SESSION_RESTATED}
)
"""The kinds that change the agenda even if no creature hears them."""


class Members(msgspec.Struct, frozen=True):
    """The runs and the tickers of a graph, in the order of its members. Cached until the shape of the world or a run
    changes, so that a turn costs as much in a graph of a thousand listeners as in a small one."""

    runs: tuple[str, ...]
    """The runs of its creatures, each once. The empty name stands for creatures without a run."""
    runs_acting: tuple[str, ...]
    """The runs of the creatures that may act."""
    tickers: tuple[tuple[str, int], ...]
    """The running creatures that tick and whose run has not finished, each with the number of turns from one tick to
    the next."""
    tickers_acting: tuple[tuple[str, int], ...]
    """Those of them that may act."""


def members_of(world: World, graph: GraphState) -> Members:
    """The members of a graph."""
    key = (Members, graph.id)
    members: Members | None = world.shape_cache.get(key)
    if members is None:
        creatures = [world.creatures[name] for name in graph.creatures]
        every = {c.id: world.facts_of(c).schedule.tick_every for c in creatures if c.is_running}
        tickers = [(c, turns) for c in creatures if (turns := every.get(c.id))]
        members = world.shape_cache[key] = Members(
            tuple(dict.fromkeys([c.run_id or "" for c in creatures])),
            tuple(dict.fromkeys([c.run_id or "" for c in creatures if may_act(world, c)])),
            tuple([(c.id, turns) for c, turns in tickers if _is_playing(world, c)]),
            tuple([(c.id, turns) for c, turns in tickers if may_act(world, c)]),
        )
    return members


def may_act(world: World, creature: CreatureState) -> bool:
    """Whether a creature is running and its run is playing."""
    run = world.runs.get(creature.run_id or "")
    return creature.is_running and (run is None or run.status == "playing")


class Owed(CarriedDebt, frozen=True, gc=False, array_like=True):
    """One act that a creature owes, as snapshots keep it. One act settles a whole bundle."""

    handed: Handed | None = None


class UnderWay(CarriedAct, frozen=True, gc=False, array_like=True):
    """An act that has written events but has not ended, as snapshots keep it."""


Place = tuple[int, int, int]
"""The sort key of an act in its turn (ADR 0005). For a reaction: the time and the session of its cause, then the age of
its creature. For a tick: the turn in which it became due, then the age of its creature."""


class IsDeferred(Protocol):
    """Whether a run puts off one more act in a graph to the next turn. A reaction leaves calls for the ticks that are
    left."""

    def __call__(self, run_id: str, graph_id: str, ticks_left: Callable[[], int] = ..., /) -> bool: ...


Queue = list[tuple[Place, str, str]]
"""A heap of creatures by the place of their first act, each with the cause of that act. Always holds: the first act of
every creature has an entry. Other entries may be out of date; they are dropped when they come to the front."""


class IsFull(Protocol):
    """Whether a run has no call left in the current turn of a graph."""

    def __call__(self, run_id: str, graph_id: str, /) -> bool: ...


class Ready(msgspec.Struct):
    """The creatures with an act due in the current turn of a graph.

    A merge or split gives the graph another session; then the queue is rebuilt.
    """

    session_id: str
    turn: int
    reactions: Queue
    ticks: Queue
    reflections: Queue


class Agenda(msgspec.Struct, dict=True):
    """The debts, by creature and then by cause, each in the order of the ledger."""

    owed: dict[str, dict[str, Owed]] = msgspec.field(default_factory=dict)
    ticks: dict[str, Owed] = msgspec.field(default_factory=dict)
    stops: dict[str, int] = msgspec.field(default_factory=dict)
    """How many bundles each creature has begun: one at each stop, and one for each full turn that left it something."""
    subscribers: dict[str, dict[str, None]] = msgspec.field(default_factory=dict)
    under_way: dict[str, UnderWay] = msgspec.field(default_factory=dict)
    """The acts that have used tools and have not ended, by creature id."""
    reflections: dict[str, dict[str, Owed]] = msgspec.field(default_factory=dict)
    """The reflections that are owed, by creature and then by the line that caused them."""
    own_lines: dict[str, int] = msgspec.field(default_factory=dict)
    """How many lines each creature that reflects by cadence has said since it last owed a reflection."""

    def __post_init__(self) -> None:
        self.ready_cache: dict[str, Ready] = {}
        """Graph id -> its queue."""

    def first_free(
        self, world: World, graph: GraphState, is_deferred: IsDeferred, is_full: IsFull
    ) -> tuple[str, Owed] | None:
        """The creature that acts next, of those that may act now, and what it owes. Reactions come before ticks, and
        reflections last. Among reactions and reflections, the oldest cause comes first; among ticks, the one that has waited
        longest; then the oldest creature."""
        ready = self.ready_cache.get(graph.id)
        if ready is None or ready.turn != graph.turn or ready.session_id != graph.session_id:
            ready = self.ready_cache[graph.id] = self._ready(world, graph)
        runs = members_of(world, graph).runs_acting
        if ready.reactions:
            turn = graph.turn
            ticks_of = partial(self.ticks_without_a_call, world, graph)
            free = [run_id for run_id in runs if not is_deferred(run_id, graph.id, partial(ticks_of, run_id))]
            first = _first(ready.reactions, lambda name: self.first_due(name, turn), world, graph, free)
            if first is not None:
                return first
        if ready.ticks:
            free = [run_id for run_id in runs if not is_deferred(run_id, graph.id)]
            first = _first(ready.ticks, self.ticks.get, world, graph, free)
            if first is not None:
                return first
        if not ready.reflections:
            return None
        free = [run_id for run_id in runs if not is_full(run_id, graph.id)]
        return _first(ready.reflections, self.first_reflection, world, graph, free)

    def first_reflection(self, name: str) -> Owed | None:
        """The reflection that a creature has owed longest; none if it owes none."""
        return next(iter(self.reflections.get(name, _NOTHING).values()), None)

    def owes_reflection(self, creature_id: str, cause: str) -> bool:
        """Whether what a creature owes for this cause is a reflection."""
        return cause in self.reflections.get(creature_id, _NOTHING)

    def ticks_without_a_call(
        self, world: World, graph: GraphState, run_id: str, besides: Container[str] = ()
    ) -> int:
        """How many ticks a run owes in a graph that have made no call: neither one on record nor, if their creatures are
        not in `besides`, one that is not written yet."""
        ticks = names_in_both(graph.creatures, self.ticks)
        creatures = world.creatures
        return sum(
            (creatures[name].run_id or "") == run_id
            and name not in besides
            and not self._is_ticking(name)
            and may_act(world, creatures[name])
            for name in ticks
        )

    def runs_left_over(self, world: World, graph: GraphState) -> tuple[str, ...]:
        """The runs whose creatures may act and still have an act due in the current turn."""
        reactions = names_in_both(graph.creatures, self.owed)
        ticks = names_in_both(graph.creatures, self.ticks)
        if not reactions and not ticks:
            return ()
        names = [*ticks, *[name for name in reactions if self.first_due(name, graph.turn) is not None]]
        owing = [world.creatures[name] for name in names]
        runs = {creature.run_id or "" for creature in owing if may_act(world, creature)}
        return tuple([run_id for run_id in members_of(world, graph).runs if run_id in runs])

    def first_due(self, name: str, turn: int) -> Owed | None:
        """The first debt of a creature that is due in this turn; none if there is none."""
        for owed in self.owed.get(name, _NOTHING).values():
            if owed.due <= turn:
                return owed
        return None

    def _ready(self, world: World, graph: GraphState) -> Ready:
        creatures = world.creatures
        reactions: Queue = []
        for name in names_in_both(graph.creatures, self.owed):
            owed = self.first_due(name, graph.turn)
            if owed is not None:
                reactions.append((_place_of_owed(world, creatures[name], owed), name, owed.cause))
        ticks: Queue = []
        for name in names_in_both(graph.creatures, self.ticks):
            tick = self.ticks[name]
            ticks.append(((tick.due, 0, creatures[name].born), name, tick.cause))
        reflections: Queue = []
        for name in names_in_both(graph.creatures, self.reflections):
            owed = self.first_reflection(name)
            if owed is not None:
                reflections.append((_place_of_owed(world, creatures[name], owed), name, owed.cause))
        heapify(reactions)
        heapify(ticks)
        heapify(reflections)
        return Ready(graph.session_id, graph.turn, reactions, ticks, reflections)

    def _line_up(self, world: World, creature: CreatureState, owed: Owed) -> None:
        """Add a creature to the queue of its graph for a debt, if the debt is due in the current turn."""
        ready = self.ready_cache.get(creature.graph_id)
        if ready is not None and owed.due <= ready.turn:
            heappush(ready.reactions, (_place_of_owed(world, creature, owed), creature.id, owed.cause))

    def owed_since(self, creature_id: str, lamport: int) -> tuple[Owed, ...]:
        """The debts of a creature whose causes came after a lamport time, oldest cause first."""
        newest_first = reversed(self.owed.get(creature_id, {}).values())
        return tuple(takewhile(lambda owed: owed.lamport > lamport, newest_first))[::-1]

    def owes(self, creature_id: str, cause: str) -> bool:
        """Whether a creature owes an act for this cause: a tick, or an answer."""
        tick = self.ticks.get(creature_id)
        return (
            (tick is not None and tick.cause == cause)
            or cause in self.owed.get(creature_id, _NOTHING)
            or self.owes_reflection(creature_id, cause)
        )

    def handed_to(self, creature_id: str, cause: str) -> Handed | None:
        """What a wire delivered with a line that a creature still has to answer."""
        owed = self.owed.get(creature_id, {}).get(cause)
        return None if owed is None else owed.handed

    def concerns(self, world: World, event: Event) -> bool:
        """Whether an event could change the agenda."""
        return (
            event.caused_by is not None
            or event.kind in self.subscribers
            or event.actor in world.wires_of
            or event.actor in self.own_lines
            or event.kind in _DISPATCHED
        )

    def apply(self, world: World, event: Event) -> None:
        """Fold in one event, which the world has already taken in."""
        kind = event.kind
        is_tick = event.caused_by is not None and self._settle_cause(world, event, event.caused_by)
        if self.under_way or kind in kinds.MID_ACT:
            is_tick = self._note_under_way(event) or is_tick
        if kind == kinds.TURN_STARTED:
            self._owe_ticks(world, event)
        elif kind in _DISPATCHED:
            self._note(world, event)
        if kind in self.subscribers:
            self._owe_hearers(world, event, _turn_due(event, is_tick=is_tick))
        for wire in wires_taken(world, event) if event.actor in world.wires_of else ():
            self._owe_wired(world, event, _turn_due(event, is_tick=is_tick), wire)
        if event.actor in self.own_lines:
            self._count_line(world, event)

    def _settle_cause(self, world: World, event: Event, cause: str) -> bool:
        """Settle the debt if the event ends its act. True if the event belongs to a tick."""
        tick = self.ticks.get(event.actor)
        if tick is None or tick.cause != cause:
            if self.owes_reflection(event.actor, cause):
                self._settle_reflection(world, event, cause)
            elif event.ends_its_act:
                self._settle(world, event.actor, cause)
            return False
        if event.ends_its_act:
            del self.ticks[event.actor]
        creature = world.creatures[event.actor]
        # The first tick of a turn: all ticks of a batch see the past up to here, even after a crash.
        is_first = tick.as_of is None or tick.due < event.turn
        # The whole batch has begun: all its creatures see the world before this event.
        begins_batch = (
            world.facts_of(creature).schedule.together
            and event.actor not in self.under_way
            and _may_begin(tick, event)
        )
        ticks = self.ticks
        graph = world.graphs[creature.graph_id]
        for name in names_in_both(graph.creatures, ticks) if is_first or begins_batch else ():
            if is_first and ticks[name].as_of is None:
                ticks[name] = replace(ticks[name], as_of=event.lamport - 1)
            if begins_batch and ticks[name].begun_by is None:
                ticks[name] = replace(ticks[name], begun_by=event.id, was=None)
        return True

    def _note_under_way(self, event: Event) -> bool:
        """Note what an act writes before its end, and forget it at its end. True if the event was caused by a tick."""
        cause = event.caused_by
        act = self.under_way.get(event.actor)
        if event.kind in kinds.MID_ACT and event.actor not in RESERVED_ACTORS:
            if event.kind == kinds.TOOL_CALLED and cause is not None and (act is None or act.cause != cause):
                act = self.under_way[event.actor] = UnderWay(cause, [])
            if act is not None:
                act.events.append(event.id)
            return self._is_ticking(event.actor)
        if event.kind in kinds.ENGINE and cause is not None:
            return any(cause in act.events and self._is_ticking(name) for name, act in self.under_way.items())
        if act is not None and event.ends_its_act and cause == act.cause:
            del self.under_way[event.actor]
        return False

    def _is_ticking(self, name: str) -> bool:
        act = self.under_way.get(name)
        tick = self.ticks.get(name)
        return act is not None and tick is not None and tick.cause == act.cause

    def _note(self, world: World, event: Event) -> None:
        # A restated past changes ages and debts. The other kinds clear the cache so that it keeps no ended graphs.
        self.ready_cache.clear()
        if event.kind == kinds.RUN_FINISHED:
            self._forget_run(world, event.run_id)
        elif event.kind == kinds.CREATURE_STARTED:
            self._note_start(world, event)
        elif event.kind == kinds.SESSION_RESTATED:
            self._take_over(payload_of(event, payloads.SessionRestated))
        else:
            self._note_stop(event)

    def _owe_hearers(self, world: World, event: Event, due: int) -> None:
        graph = world.graphs.get(event.graph_id)
        members = _NOBODY if graph is None else graph.creatures
        roots = _NOBODY if graph is None else graph.roots
        edges = world.topology.members_of.get(event.channel_id or "", _NO_EDGES)
        hearers = hearers_of(event, members, edges, roots)
        for name in names_in_both(hearers, self.subscribers[event.kind]):
            if name != event.actor:
                self._add(world, world.creatures[name], event, due)

    def _owe_ticks(self, world: World, event: Event) -> None:
        """Add the ticks of this turn. A creature whose last tick still waits does not get a second one."""
        graph = world.graphs.get(event.graph_id)
        if graph is None:
            return
        if "full" in event.payload:
            self._bundle(world, graph, payload_of(event, payloads.TurnStarted).full)
        for name in names_in_both(graph.creatures, self.ticks):
            if self.ticks[name].begun_by is not None:  # It joins the batch of this turn.
                self.ticks[name] = replace(self.ticks[name], begun_by=None)
        self._leave_out_reflections(world, graph, event.turn)
        for name, every in members_of(world, graph).tickers:
            if event.turn % every == 0 and name not in self.ticks:
                self.ticks[name] = Owed(event.id, event.lamport, due=event.turn)

    def _bundle(self, world: World, graph: GraphState, run_ids: Collection[str]) -> None:
        """Make one bundle of all that each creature of these runs owes. What a stopped creature owes is one already, and an
        act under way answers its own cause alone."""
        for name in names_in_both(graph.creatures, self.owed):
            creature = world.creatures[name]
            if (creature.run_id or "") in run_ids and may_act(world, creature):
                act = self.under_way.get(name)
                number = begin_bundle(self.stops, name)
                bundle_up(self.owed[name], number, but=None if act is None else act.cause)

    def _forget_run(self, world: World, run_id: str | None) -> None:
        """Remove all debts and subscriptions of the creatures of a finished run: they never owe an act again."""
        debts: tuple[dict[str, Any], ...] = (
            self.owed,
            self.ticks,
            self.under_way,
            self.reflections,
            self.own_lines,
        )
        for creature in world.creatures_of(run_id or ""):
            for by_name in debts:
                by_name.pop(creature.id, None)
            for kind in world.facts_of(creature).subscribes_to:
                discard(self.subscribers, kind, creature.id)

    def _owe_wired(self, world: World, event: Event, due: int, wire: Wire) -> None:
        """Add a debt for the wire's target. If it also heard the line, its debt only gets what the wire delivered."""
        self._add(world, world.creatures[wire.target], event, due)
        mailbox = self.owed.get(wire.target, {})
        owed = mailbox.get(event.id)
        if owed is not None:
            mailbox[event.id] = replace(owed, handed=handed(wire, event, world.creatures[wire.source].handle))

    def _add(self, world: World, creature: CreatureState, event: Event, due: int) -> None:
        if not _is_playing(world, creature):
            return
        bundle = bundle_heard_into(self.stops, creature.id, is_running=creature.is_running)
        mailbox = self.owed.setdefault(creature.id, {})
        if event.id not in mailbox:
            owed = mailbox[event.id] = Owed(event.id, event.lamport, bundle, due)
            self._line_up(world, creature, owed)

    def _settle(self, world: World, creature_id: str, cause: str) -> None:
        mailbox = self.owed.get(creature_id)
        if mailbox is None or settle(mailbox, cause, _lamport) is None:
            return
        if not mailbox:
            del self.owed[creature_id]
            return
        creature = world.creatures[creature_id]
        follows = self.first_due(creature_id, world.graphs[creature.graph_id].turn)
        if follows is not None:
            self._line_up(world, creature, follows)

    def _count_line(self, world: World, event: Event) -> None:
        """Count a line that a creature said itself. The Nth since it last owed a reflection causes the next one."""
        creature = world.creatures.get(event.actor)
        if creature is None or event.kind in kinds.NO_LINES or event.kind in kinds.INNER:
            return
        count = self.own_lines[creature.id] + 1
        every = world.facts_of(creature).memory.reflect_every
        if every is None or count < every:
            self.own_lines[creature.id] = count
            return
        self.own_lines[creature.id] = 0
        owed = Owed(event.id, event.lamport, due=max(1, event.turn))
        self.reflections.setdefault(creature.id, {})[event.id] = owed
        self._line_up_reflection(world, creature, owed)

    def _settle_reflection(self, world: World, event: Event, cause: str) -> None:
        """A reflection, or an act that ended without a line, settles what is owed; another line with this cause does not."""
        if event.kind != kinds.AGENT_REFLECTED and event.kind not in kinds.WITHOUT_A_LINE:
            return
        mailbox = self.reflections[event.actor]
        del mailbox[cause]
        follows = self.first_reflection(event.actor)
        if follows is None:
            del self.reflections[event.actor]
        elif event.actor in world.creatures:
            self._line_up_reflection(world, world.creatures[event.actor], follows)

    def _line_up_reflection(self, world: World, creature: CreatureState, owed: Owed) -> None:
        ready = self.ready_cache.get(creature.graph_id)
        if ready is not None:
            heappush(ready.reflections, (_place_of_owed(world, creature, owed), creature.id, owed.cause))

    def _leave_out_reflections(self, world: World, graph: GraphState, turn: int) -> None:
        """Drop the reflections that the turns before this one had no call for. A creature that cannot act keeps them: it is
        stopped, or its run is paused."""
        for name in names_in_both(graph.creatures, self.reflections):
            if may_act(world, world.creatures[name]):
                kept = {cause: owed for cause, owed in self.reflections[name].items() if owed.due >= turn}
                if kept:
                    self.reflections[name] = kept
                else:
                    del self.reflections[name]

    def owed_by(
        self, names: Iterable[str], has_happened: Callable[[str], bool], *, is_as_it_was: bool
    ) -> CarriedAgenda:
        """The debts that a branch or resumed session carries over for some creatures; only for causes that it keeps.

        If the branch changes anything, its batch of ticks must not see the old world that the batch began with.
        """
        owing = list(names)
        ticks = picked(self.ticks, owing)
        if not is_as_it_was:
            ticks = {name: replace(tick, begun_by=None) for name, tick in ticks.items()}
        mailboxes = {
            name: [owed for owed in mailbox.values() if has_happened(owed.cause)]
            for name, mailbox in picked(self.owed, owing).items()
        }
        reflections = {
            name: [owed for owed in mailbox.values() if has_happened(owed.cause)]
            for name, mailbox in picked(self.reflections, owing).items()
        }
        part = {
            "reflections": {name: mailbox for name, mailbox in reflections.items() if mailbox},
            "own_lines": {name: count for name, count in picked(self.own_lines, owing).items() if count},
            "owed": {name: mailbox for name, mailbox in mailboxes.items() if mailbox},
            "ticks": ticks,
            "stops": picked(self.stops, owing),
            "under_way": picked(self.under_way, owing),
        }
        return converted(part, CarriedAgenda)

    def _take_over(self, restated: payloads.SessionRestated) -> None:
        """Take over the debts of a restated past under the new names."""
        debts = restated.carried.agenda
        shape = restated.carried.shape
        named = restated.creatures
        for name in (*shape.creatures, *shape.newcomers):
            self.owed.pop(named[name], None)  # Events that only restate the past need no answer.
        for name, mailbox in debts.owed.items():
            self.owed[named[name]] = {owed.cause: converted(owed, Owed) for owed in mailbox}
        for name, tick in debts.ticks.items():
            self.ticks[named[name]] = replace(converted(tick, Owed), was=tick.was or name)
        self._take_over_reflections(debts, named)
        self.stops.update({named[name]: stops for name, stops in debts.stops.items()})
        self.under_way.update(
            {named[name]: converted(act, UnderWay) for name, act in debts.under_way.items()}
        )

    def _take_over_reflections(self, debts: CarriedAgenda, named: Mapping[str, str]) -> None:
        """Take over counts and reflections, of those that still reflect by cadence in the branch."""
        for name, count in debts.own_lines.items():
            if named[name] in self.own_lines:
                self.own_lines[named[name]] = count
        for name, mailbox in debts.reflections.items():
            if named[name] in self.own_lines:
                self.reflections[named[name]] = {owed.cause: converted(owed, Owed) for owed in mailbox}

    def _note_start(self, world: World, event: Event) -> None:
        creature = world.creatures[payload_of(event, payloads.CreatureStarted).creature]
        if world.facts_of(creature).memory.reflect_every is not None:
            self.own_lines.setdefault(creature.id, 0)
        for kind in world.facts_of(creature).subscribes_to:
            self.subscribers.setdefault(kind, {})[creature.id] = None

    def _note_stop(self, event: Event) -> None:
        stopped = payload_of(event, payloads.CreatureStopped)
        name = stopped.creature
        if stopped.reason != "removed":
            begin_bundle(self.stops, name)
            return
        debts: tuple[dict[str, Any], ...] = (
            self.owed,
            self.ticks,
            self.stops,
            self.under_way,
            self.reflections,
            self.own_lines,
        )
        for by_name in (*debts, *self.subscribers.values()):
            by_name.pop(name, None)


_NOTHING: Final[dict[str, Owed]] = {}
_NOBODY: Final[dict[str, None]] = {}
_NO_EDGES: Final[dict[str, int]] = {}
_lamport: Final = attrgetter("lamport")


def names_in_both(members: Mapping[str, object], owing: Mapping[str, object]) -> list[str]:
    """The names in both, found by iterating over the shorter of the two."""
    if not owing:
        return []
    if len(members) > len(owing):
        members, owing = owing, members
    return [name for name in members if name in owing]


def _place_of_owed(world: World, creature: CreatureState, owed: Owed) -> Place:
    session = world.sessions[session_and_seq(owed.cause)[0]]
    return (owed.lamport - session.skew, session.rank, creature.born)


def _first(
    queue: Queue,
    owed_by: Callable[[str], Owed | None],
    world: World,
    graph: GraphState,
    runs: Collection[str],
) -> tuple[str, Owed] | None:
    """The first creature of a queue that may act now, and what it owes. Only creatures of these runs may. Creatures before
    it keep their place."""
    if not runs:  # The turn is full for everybody here.
        return None
    waiting: Queue = []
    first: tuple[str, Owed] | None = None
    while queue:
        _, name, cause = queue[0]
        owed = owed_by(name) if name in graph.creatures else None
        if owed is None or owed.cause != cause:
            heappop(queue)
        elif (creature := world.creatures[name]).is_running and (creature.run_id or "") in runs:
            first = name, owed
            break
        else:
            waiting.append(heappop(queue))
    for entry in waiting:
        heappush(queue, entry)
    return first


def _may_begin(tick: Owed, event: Event) -> bool:
    """Whether a tick may begin a batch: it is in none yet, or its batch began before a merge that may add ticks."""
    return tick.begun_by is None or session_and_seq(tick.begun_by)[0] != event.session_id


def _turn_due(event: Event, *, is_tick: bool) -> int:
    is_of_this_turn = not is_tick and (event.caused_by is not None or event.actor == CONDUCTOR)
    return max(1, event.turn) if is_of_this_turn else event.turn + 1


def _is_playing(world: World, creature: CreatureState) -> bool:
    run = world.runs.get(creature.run_id or "")
    return run is None or run.status != "finished"
