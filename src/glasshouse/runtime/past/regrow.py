"""Makes the one intent that continues a past (ADR 0031, ADR 0054).

A branch continues in the shape the past had. A resumed session continues in that shape, or in the shape of its scenario
as it is on disk now.

Always holds: no creature gets the past of another. If a scenario is continued, a creature's past is found by its run
and its handle at the opening. A new creature starts empty and sees nothing that was said before. A creature that is no
longer in the scenario does not live again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec.structs import replace

from glasshouse.events import carried, kinds, payloads
from glasshouse.events.event import RESERVED_ACTORS
from glasshouse.events.payloads import converted, picked
from glasshouse.runtime.past.past_world import Past
from glasshouse.runtime.past.what_if import WhatIf
from glasshouse.turns.runs.purses import Clocks, carried_run, merged
from glasshouse.world.decisions import intents
from glasshouse.world.decisions.creatures import as_started, birth
from glasshouse.world.decisions.decision import Fact
from glasshouse.world.decisions.runs import Ensemble, cast_entry, dealt_to, ensembles_of
from glasshouse.world.fold import carried_over
from glasshouse.world.state.state import ChannelState, CreatureState, GraphState
from glasshouse.world.state.topology import LISTEN, SEND
from glasshouse.world.state.values import Wire

if TYPE_CHECKING:
    from glasshouse.manifests.loading import LoadedWorld


def restate_of(
    past: Past,
    how: Literal["branch", "resume"],
    what_if: WhatIf,
    lines: tuple[Fact, ...],
    new_run: Callable[[], str],
    started: Mapping[str, payloads.RunStarted],
) -> intents.Restate:
    """The intent that continues a past in the shape it has. `what_if` was applied to it and gave these lines."""
    world = past.world
    change = what_if.recorded()
    graphs = [world.graphs[name] for name in past.graph_ids]
    run_ids = dict.fromkeys([creature.run_id for creature in past.creatures if creature.run_id is not None])
    runs = [_rerun(past, name, new_run(), started.get(name), what_if.limits) for name in run_ids]
    is_over = how == "resume" and past.at.kind == kinds.RUN_FINISHED
    is_as_it_was = change is None and not past.is_foreign
    regrown = []
    for graph in graphs:
        creatures = sorted(map(world.creatures.__getitem__, graph.creatures), key=attrgetter("born"))
        channel_ids = graph.channels.owners.values()
        channels = sorted(map(world.channels.__getitem__, channel_ids), key=attrgetter("born"))
        taken_over = _taken_over(
            past,
            [graph],
            carried_over.shape_of(world, graph),
            [_reopened(past, channel) for channel in channels],
            past.folded.runs.clocks.get(graph.id, Clocks()),
            is_over=is_over,
            is_as_it_was=is_as_it_was,
        )
        wires = [wire for wire in world.wires.values() if wire.source in graph.creatures]
        graph_now = replace(
            taken_over,
            creatures=tuple([_born(past, creature) for creature in creatures]),
            stopped=tuple([creature.id for creature in creatures if not creature.is_running]),
            wires=tuple([_rewired(past, wire) for wire in wires]),
            lines=tuple([line for line in lines if _is_said_in(past, line, graph)]),
        )
        regrown.append(graph_now)
    return intents.Restate(how, past.at.id, tuple(regrown), tuple(runs), change, past.times_changed)


def _is_said_in(past: Past, line: Fact, graph: GraphState) -> bool:
    """Whether a line is said in a graph: that of its speaker. The visitor speaks in the past's home graph, or in each
    graph where the run has a creature."""
    creatures = past.world.creatures
    speaker = creatures.get(line.actor)
    if speaker is None and "copy_of" in line.payload and line.run_id is not None:
        return any(creatures[name].run_id == line.run_id for name in graph.creatures)
    return graph.id == (past.home if speaker is None else speaker.graph_id)


def _rerun(
    past: Past, old: str, new: str, started: payloads.RunStarted | None, limits: payloads.Governor | None
) -> intents.RestatedRun:
    if started is None:
        return intents.RestatedRun(old, new)
    started = replace(
        started,
        branch_of=payloads.BranchOf(old, past.cut, started.prompting),
        rules=payloads.rules_now,
        prompting=payloads.prompting_now,
    )
    if limits is not None:
        before = started.limits or payloads.Governor()
        given = [*started.limits_given, *payloads.axes_given(limits, before)]
        limits = payloads.settled(limits, len(started.cast))
        given += payloads.axes_changed(limits, before)
        started = replace(started, limits=limits, limits_given=list(dict.fromkeys(given)))
    return intents.RestatedRun(old, new, started, is_paused=past.world.runs[old].status == "paused")


def _taken_over(
    past: Past,
    graphs: Sequence[GraphState],
    shape: carried.CarriedShape,
    channels: Sequence[intents.Reopened],
    clocks: Clocks,
    *,
    is_over: bool,
    is_as_it_was: bool = False,
) -> intents.RestatedGraph:
    """A graph that continues `graphs`, with the state it carries over under the old ids. It has no creatures yet.

    If the run was over (`is_over`), its verdict is not carried over, and the run can end again.
    """
    folded = past.folded
    graph_ids = [graph.id for graph in graphs]
    places = {**carried_over.places_of(shape), **dict.fromkeys(graph_ids)}
    vias = {name: tuple(heard.reborn) for name, heard in shape.creatures.items()}
    here = dict.fromkeys([*[channel.opened.channel_id for channel in channels], *places])
    remembered = folded.tables.remembered_by(vias, here)
    if past.is_foreign:  # The file may lack lines that were said in a place after a creature had left it.
        heads = {name: session.head for name, session in past.world.sessions.items()}
        said = {name: _within(table, heads) for name, table in remembered.said.items()}
        remembered = replace(remembered, said=said)
    speakers = {name: None for table in remembered.said.values() for name in table.speakers}
    others = [name for name in speakers if name not in shape.creatures and name not in RESERVED_ACTORS]
    shape = replace(shape, departed=carried_over.departed_of(past.world, others))
    purses = picked(folded.runs.purses, shape.born)
    taken = carried.Carried(
        shape,
        folded.agenda.owed_by(shape.creatures, past.has_happened, is_as_it_was=is_as_it_was),
        remembered,
        converted(clocks, carried.CarriedClocks),
        {run_id: carried_run(purse, past.at.created_at, is_over=is_over) for run_id, purse in purses.items()},
    )
    parents = dict([parent for graph in graphs for parent in past.parents_of(graph.session_id)])
    return intents.RestatedGraph(
        parents=tuple(parents.items()),
        turn=shape.turn,
        creatures=(),
        channels=tuple(channels),
        graph_ids=tuple(graph_ids),
        places=tuple(places),
        strangers=tuple(shape.departed) if past.is_foreign else (),
        carried=taken,
    )


def _within(table: carried.CarriedTable, heads: Mapping[str, int]) -> carried.CarriedTable:
    """The part of a table whose lines are in known sessions, each up to its known head."""
    known = [part for part in table.spans if part.first <= heads.get(part.session_id, 0)]
    spans = [replace(part, last=min(part.last, heads[part.session_id])) for part in known]
    count = sum([part.last - part.first + 1 for part in spans])
    return replace(table, spans=spans, count=count)


def _rewired(past: Past, wire: Wire) -> payloads.WireAdded:
    was = None if past.is_new(wire.id) else wire.id
    return payloads.WireAdded(
        wire.id, wire.source, wire.target, wire.with_content, wire.prompt, wire.when, was
    )


def _born(past: Past, creature: CreatureState) -> payloads.CreatureStarted:
    manifest = past.world.facts_of(creature).manifest
    was = None if past.is_new(creature.id) else creature.id
    may_spawn = creature.may_spawn or {}
    granted = past.world.granted_to(creature)
    born = replace(as_started(creature), manifest=manifest, incarnation_of=was, may_spawn=may_spawn)
    return replace(born, granted=granted, born=creature.born)


def _reopened(past: Past, channel: ChannelState) -> intents.Reopened:
    was = None if past.is_new(channel.id) else channel.id
    named = (channel.id, channel.name, channel.description)
    opened = payloads.ChannelOpened(*named, channel.history, was, channel.born)
    return intents.Reopened(opened, tuple(past.world.topology.members_of.get(channel.id, {}).items()))


class Recipe(NamedTuple):
    """A scenario that is resumed: its opening, which has the new run id, and whose past each member continues."""

    opening: intents.OpenRun
    pasts: list[str | None]
    """The id of the old creature, or None, for each member of the cast in order."""
    world: LoadedWorld | None = None
    """The world as it is on disk now; none if it is taken from the record."""


Recipes = dict[str, Recipe]
"""The recipe of each resumed run, by the old run id."""


def resume_of(past: Past, recipes: Recipes) -> intents.Restate:
    """The intent that continues a past with its scenarios as they are on disk now."""
    graphs: list[intents.RestatedGraph] = []
    runs: list[intents.RestatedRun] = []
    edited: dict[str, str] = {}
    continued: set[str] = set()
    for old, recipe in recipes.items():
        opening = recipe.opening
        purse = past.folded.runs.purses[old]
        members = [member for troupe in opening.troupes for member in troupe.members]
        keys = {
            id(member): name or f"new {old} {n}"
            for n, (member, name) in enumerate(zip(members, recipe.pasts, strict=True))
        }
        cast = [cast_entry(member, keys[id(member)]) for member in members]
        branch_of = payloads.BranchOf(old, past.cut, purse.prompting)
        started = replace(opening.started, branch_of=branch_of, cast=cast)
        runs.append(intents.RestatedRun(old, opening.run_id, started))
        if purse.scenario_digest != started.scenario_digest:
            edited[opening.run_id] = started.scenario_digest
        parts = [part for troupe in opening.troupes for part in ensembles_of(troupe)]
        graphs += [_ResumedGraph(past, old, keys, part, continued).regrown() for part in parts]
    change = payloads.BranchChange(edited=edited) if edited else None
    return intents.Restate("resume", past.at.id, tuple(graphs), tuple(runs), change)


def _old_id(key: str) -> str | None:
    """The id that a creature or channel had in the past, or None if it is new."""
    return None if key.startswith("new ") else key


class _ResumedGraph:
    """Builds one graph of a scenario that is resumed."""

    def __init__(
        self, past: Past, run_id: str, keys: dict[int, str], part: Ensemble, continued: set[str]
    ) -> None:
        self._past = past
        self._run_id = run_id
        self._members = part.members
        self._plans = part.channels
        self._keys = {member.handle: keys[id(member)] for member in part.members}
        self._old = [key for key in self._keys.values() if _old_id(key) is not None]
        graph_ids = dict.fromkeys([past.world.creatures[name].graph_id for name in self._old])
        self._graphs = [past.world.graphs[name] for name in graph_ids or past.graph_ids[:1]]
        self._continued = continued
        self._channels = {plan.name: self._channel_key(plan.name) for plan in part.channels}

    def _channel_key(self, name: str) -> str:
        """The old channel of this name in the graphs that are continued, unless another graph already continues it;
        otherwise the key of a new channel."""
        for graph in self._graphs:
            channel_id = graph.channels.owners.get(name)
            if channel_id is not None and channel_id not in self._continued:
                self._continued.add(channel_id)
                return channel_id
        return f"new {next(iter(self._keys.values()))} {name}"

    def regrown(self) -> intents.RestatedGraph:
        """The graph as the scenario describes it, with the state that its creatures carry over."""
        channels = [self._reopened(plan) for plan in self._plans]
        is_over = self._past.at.kind == kinds.RUN_FINISHED
        regrown = _taken_over(
            self._past, self._graphs, self._shape(), channels, self._clocks(), is_over=is_over
        )
        return replace(
            regrown,
            creatures=tuple([self._born(member) for member in self._members]),
            wires=tuple(self._wires()),
            lines=tuple(self._dealt()),
        )

    def _shape(self) -> carried.CarriedShape:
        world = self._past.world
        creatures: dict[str, carried.CarriedCreature] = {}
        for member in self._members:
            key = self._keys[member.handle]
            if key in self._old:
                joined = dict.fromkeys((*member.sends, *member.listens))
                channels = [self._channels[name] for name in joined]
                heard = carried_over.heard_of(world, world.creatures[key])
                strange = [self._channels[name] for name in member.listens if self._is_strange(key, name)]
                creatures[key] = replace(heard, channels=channels, strange=strange)
        run = world.runs[self._run_id]
        return carried.CarriedShape(
            name=self._members[0].handle,
            turn=max(graph.turn for graph in self._graphs),
            creatures=creatures,
            newcomers=[key for key in self._keys.values() if key not in creatures],
            born={self._run_id: run.creatures_born},
        )

    def _is_strange(self, key: str, name: str) -> bool:
        """Whether a channel continues one of another graph, which the creature did not hear."""
        world = self._past.world
        channel_id = self._channels[name]
        channel = world.channels.get(channel_id)
        creature = world.creatures[key]
        return (
            channel is not None and channel.graph_id != creature.graph_id and channel_id not in creature.ears
        )

    def _clocks(self) -> Clocks:
        clocks = self._past.folded.runs.clocks
        whole = merged([clocks.get(graph.id, Clocks()) for graph in self._graphs])
        return Clocks(whole.turns, turn=whole.turn)

    def _born(self, member: intents.Member) -> payloads.CreatureStarted:
        key = self._keys[member.handle]
        born = birth(member, key, member.handle, self._run_id)
        return replace(born, incarnation_of=_old_id(key), is_root=member.is_root)

    def _reopened(self, plan: intents.ChannelPlan) -> intents.Reopened:
        key = self._channels[plan.name]
        members: list[tuple[str, int]] = []
        for member in self._members:
            sends = plan.name in member.sends
            listens = plan.name in member.listens
            if sends or listens:
                members.append((self._keys[member.handle], SEND * sends | LISTEN * listens))
        opened = payloads.ChannelOpened(key, plan.name, plan.description, plan.history, _old_id(key))
        return intents.Reopened(opened, tuple(members))

    def _wires(self) -> list[payloads.WireAdded]:
        keys = self._keys
        pairs = [(member, wire) for member in self._members for wire in member.wires]
        return [
            payloads.WireAdded(
                "", keys[member.handle], keys[wire.to], wire.with_content, wire.prompt, wire.when
            )
            for member, wire in pairs
        ]

    def _dealt(self) -> list[Fact]:
        """The deals to new creatures. The others keep what they were dealt."""
        dealt = [(member, self._keys[member.handle]) for member in self._members if member.dealt]
        return [dealt_to(member, key, self._run_id) for member, key in dealt if key not in self._old]
