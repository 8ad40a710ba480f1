"""A past made ready to live again: the shape of its graphs, and what each of them carries over, as one intent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from glasshouse.events import kinds
from glasshouse.events.carried import (
    Carried,
    CarriedAges,
    CarriedClocks,
    CarriedShape,
    CarriedTable,
    converted,
)
from glasshouse.events.event import RESERVED_ACTORS, Json
from glasshouse.events.run_payloads import BranchOf, RunStarted
from glasshouse.runtime.past.past import Past
from glasshouse.turns.clocks import Clocks
from glasshouse.turns.runs import carried_run
from glasshouse.world import carrying
from glasshouse.world.carrying import shape_of
from glasshouse.world.intents import LineAfter, Regrown, Reopened, Rerun, Restate, Revived, Rewired
from glasshouse.world.state import CreatureState, GraphState
from glasshouse.world.values import Wire

Limits = Mapping[str, object]


def restate_of(
    past: Past,
    how: Literal["branch", "resume"],
    new_run: Callable[[], str],
    started: Mapping[str, RunStarted],
    *,
    limits: Limits | None = None,
    change: Json | None = None,
    lines: tuple[LineAfter, ...] = (),
) -> Restate:
    """The intent that lets a past live again just as it was, or as it has been changed."""
    graphs = [past.world.graphs[name] for name in past.graph_ids]
    creatures = [past.world.creatures[name] for graph in graphs for name in graph.creatures]
    run_ids = dict.fromkeys([creature.run_id for creature in creatures if creature.run_id is not None])
    runs = tuple([_rerun(past, run_id, new_run(), started.get(run_id), limits) for run_id in run_ids])
    is_over = how == "resume" and past.at.kind == kinds.RUN_FINISHED
    is_as_it_was = change is None and not past.is_foreign
    ages = carrying.ages_of(past.world, graphs) if len(graphs) > 1 else [None]
    regrown = [
        _regrown(past, graph, own, is_over=is_over, is_as_it_was=is_as_it_was)
        for graph, own in zip(graphs, ages, strict=True)
    ]
    for number, graph in enumerate(graphs):
        here = [line for line in lines if _graph_of(past, line) == graph.id]
        regrown[number] = msgspec.structs.replace(regrown[number], lines=tuple(here))
    return Restate(how, past.at.id, tuple(regrown), runs, change, past.times_changed)


def _graph_of(past: Past, line: LineAfter) -> str:
    """Where a line is said: where its speaker is; the visitor's at home."""
    speaker = past.world.creatures.get(line.actor)
    return past.home if speaker is None else speaker.graph_id


def _rerun(past: Past, old: str, new: str, started: RunStarted | None, limits: Limits | None) -> Rerun:
    if started is None:
        return Rerun(old, new)
    started = msgspec.structs.replace(
        started, branch_of=BranchOf(old, past.cut), limits={**started.limits, **(limits or {})}
    )
    return Rerun(old, new, started, is_paused=past.world.runs[old].status == "paused")


def _regrown(
    past: Past, graph: GraphState, ages: CarriedAges | None, *, is_over: bool, is_as_it_was: bool
) -> Regrown:
    world = past.world
    runs = {run_id: None for name in graph.creatures if (run_id := world.creatures[name].run_id) is not None}
    shape = msgspec.structs.replace(shape_of(world, graph), ages=ages)
    in_order = sorted(graph.creatures, key=lambda name: world.creatures[name].born)
    channels = sorted(graph.channels.values(), key=lambda channel_id: world.channels[channel_id].born)
    wires = [wire for wire in world.wires.values() if wire.source in graph.creatures]
    places = carrying.places_of(shape)
    carried = carried_of(
        past,
        shape,
        graph.id,
        {**dict.fromkeys(channels), **places, graph.id: None},
        runs,
        is_over=is_over,
        is_as_it_was=is_as_it_was,
    )
    return Regrown(
        parents=past.parents_of(graph.session_id),
        turn=graph.turn,
        creatures=tuple([_revived(past, world.creatures[name]) for name in in_order]),
        channels=tuple([_reopened(past, channel_id) for channel_id in channels]),
        wires=tuple([_rewired(past, wire) for wire in wires]),
        graph_ids=(graph.id,),
        places=tuple(places),
        strangers=strangers_in(past, carried),
        carried=carried,
    )


def carried_of(
    past: Past,
    shape: CarriedShape,
    graph_id: str,
    places: Mapping[str, None],
    runs: Mapping[str, None],
    *,
    is_over: bool,
    is_as_it_was: bool = False,
) -> Carried:
    """What a graph takes over, in the names it had. A run that was over has its end before it again."""
    folded = past.folded
    vias = {name: heard.reborn for name, heard in shape.creatures.items()}
    remembered = folded.tables.remembered_by(vias, places)
    if past.is_foreign:  # What others said at a place after somebody had left it need not be in the file.
        heads = {name: session.head for name, session in past.world.sessions.items()}
        said = {place: _within(table, heads) for place, table in remembered.said.items()}
        remembered = msgspec.structs.replace(remembered, said=said)
    speakers = {name: None for table in remembered.said.values() for name in table.speakers}
    others = [name for name in speakers if name not in shape.creatures and name not in RESERVED_ACTORS]
    shape = msgspec.structs.replace(shape, departed=carrying.departed_of(past.world, others))
    clocks = folded.runs.clocks.get(graph_id, Clocks())
    purses = {run_id: folded.runs.purses[run_id] for run_id in runs if run_id in folded.runs.purses}
    return Carried(
        shape,
        folded.agenda.owed_by(shape.creatures, past.has_happened, is_as_it_was=is_as_it_was),
        remembered,
        converted(clocks, CarriedClocks),
        {run_id: carried_run(purse, past.at.created_at, is_over=is_over) for run_id, purse in purses.items()},
    )


def _within(table: CarriedTable, heads: Mapping[str, int]) -> CarriedTable:
    """The lines of it that stand in these sessions, so far as each is known."""
    known = [part for part in table.spans if part.first <= heads.get(part.session_id, 0)]
    spans = [msgspec.structs.replace(part, last=min(part.last, heads[part.session_id])) for part in known]
    count = sum([part.last - part.first + 1 for part in spans])
    return msgspec.structs.replace(table, spans=spans, count=count)


def strangers_in(past: Past, carried: Carried) -> tuple[str, ...]:
    """Those whom a past from another house remembers, and who are not among the living of it."""
    return tuple(carried.shape.departed) if past.is_foreign else ()


def _rewired(past: Past, wire: Wire) -> Rewired:
    key = "" if past.is_new(wire.id) else wire.id
    return Rewired(key, wire.source, wire.target, wire.with_content, wire.prompt, wire.when)


def _revived(past: Past, creature: CreatureState) -> Revived:
    return Revived(
        key=creature.id,
        name=creature.cast_key,
        manifest=past.world.facts_of(creature).manifest,
        manifest_digest=creature.manifest_digest,
        handle=creature.handle,
        run_id=creature.run_id,
        parent=creature.parent,
        is_privileged=creature.is_privileged,
        is_running=creature.is_running,
        is_new=past.is_new(creature.id),
        is_root=creature.is_root,
    )


def _reopened(past: Past, channel_id: str) -> Reopened:
    channel = past.world.channels[channel_id]
    return Reopened(
        key=channel_id,
        name=channel.name,
        description=channel.description,
        history=channel.history,
        is_new=past.is_new(channel_id),
        members=tuple(past.world.topology.members_of.get(channel_id, {}).items()),
    )
