"""What a branch or a resumed session carries over: who heard what, in which order.

Always holds: the carried past uses the old ids, and `take_over` translates them into the new ones. So no creature
gets the past of another: an incarnation has the past of the creature that it continues, and a new creature has none.
ADR 0031.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from glasshouse.events import carried
from glasshouse.events.carried import CarriedCreature, CarriedShape, CarriedStay, CarriedWire
from glasshouse.events.event import Event
from glasshouse.events.payloads import SessionRestated, converted, picked
from glasshouse.world.fold.members import leave
from glasshouse.world.state.state import CreatureState, Ear, GraphState, Handing, Stay, World
from glasshouse.world.state.topology import LISTEN
from glasshouse.world.state.values import Wire


def shape_of(world: World, graph: GraphState) -> CarriedShape:
    """What a graph carries over."""
    creatures = {name: heard_of(world, world.creatures[name]) for name in graph.creatures}
    topology = world.topology
    channels = graph.channels.owners.values()
    members = {channel: list(topology.members_of.get(channel, ())) for channel in channels}
    runs = picked(world.runs, [world.creatures[name].run_id or "" for name in graph.creatures])
    born = {run_id: run.creatures_born for run_id, run in runs.items() if run_id}
    return CarriedShape(graph.name, graph.turn, creatures, [], members, born)


def heard_of(world: World, creature: CreatureState) -> CarriedCreature:
    """The past of one creature."""
    return CarriedCreature(
        stays=converted(creature.stays, list[CarriedStay]),
        ears={channel_id: _ear_then(ear) for channel_id, ear in creature.ears.items()},
        channels=list(world.topology.channels_of.get(creature.id, ())),
        ordinal=creature.ordinal,
        reborn=list(creature.reborn),
        handed={wire_id: list(map(_wire_then, parts)) for wire_id, parts in (creature.handed or {}).items()},
    )


def _ear_then(ear: Ear) -> carried.CarriedEar:
    begins = ear.spans[::2]
    ends = ear.spans[1::2]
    return carried.CarriedEar(ear.is_full, list(map(carried.CarriedSpan, begins, [*ends, None])))


def _ear_now(ear: carried.CarriedEar) -> Ear:
    times = [time for span in ear.spans for time in (span.since, span.until)]
    return Ear(ear.is_full, tuple([time for time in times if time is not None]))


def _wire_then(handing: Handing) -> CarriedWire:
    wire = handing.wire
    spans = (handing.since, handing.until)
    return CarriedWire(wire.source, wire.target, *spans, wire.with_content, wire.prompt, wire.when)


def places_of(shape: CarriedShape) -> dict[str, None]:
    """The channels and graphs that a creature of the shape remembers."""
    places: dict[str, None] = {}
    for heard in shape.creatures.values():
        places.update(dict.fromkeys(heard.ears))
        places.update(dict.fromkeys([stay.graph_id for stay in heard.stays]))
    return places


def departed_of(world: World, names: Iterable[str]) -> dict[str, list[CarriedStay]]:
    """The stays of creatures that are not in the shape."""
    departed: dict[str, list[CarriedStay]] = {}
    for name in names:
        other = world.ever(name)
        stays = list(world.remembered.get(name, ()))
        if other is not None:
            stays += [*other.stays[:-1], replace(other.stays[-1], handle=other.handle)]
        departed[name] = converted(stays, list[CarriedStay])
    return departed


def take_over(world: World, event: Event, restated: SessionRestated) -> None:
    """Give the creatures of a restated graph the past that was carried over."""
    graph = world.graphs[event.graph_id]
    lamport = event.lamport
    shape = restated.carried.shape
    names = restated.creatures
    places = restated.places
    graph.name = shape.name
    graph.turn = shape.turn
    for key, heard in shape.creatures.items():
        _give(world, world.creatures[names[key]], heard, restated, lamport)
    # A new creature hears restated channels only from now on: the past said there is not its own.
    for key in shape.newcomers:
        for channel_id, ear in world.creatures[names[key]].ears.items():
            if channel_id in places.values():
                ear.is_full = False
    for channel, members in shape.members.items():
        _order(world.topology.members_of, places[channel], [names[key] for key in members])
    in_order = [names[key] for key in (*shape.creatures, *shape.newcomers)]
    graph.creatures = dict.fromkeys(in_order)
    _number(world, shape, restated)
    for name, stays in shape.departed.items():
        new = names.get(name, name)
        as_known = [Stay("", 0, 0, name)] if new != name else []
        world.remembered[new] = [*as_known, *world.remembered.get(new, ()), *_stays(stays, places)]
    for name in names.values():
        stem, _, number = name.partition("~")
        world.numbers_given[stem] = max(world.numbers_given.get(stem, 0), int(number or 1))
    _listen(world, graph, lamport)
    for run_id in shape.born:
        if restated.runs[run_id] in world.runs:
            world.runs[restated.runs[run_id]].grown_in += (restated.session,)
            world.sessions[restated.session].note_run(restated.runs[run_id])


def _give(
    world: World, creature: CreatureState, heard: CarriedCreature, restated: SessionRestated, lamport: int
) -> None:
    places = restated.places
    creature.reborn = (*heard.reborn, restated.session)
    creature.stays = tuple(_stays(heard.stays, places))
    creature.ears = {places[channel]: _ear_now(ear) for channel, ear in heard.ears.items()}
    creature.ears.update({places[channel]: Ear(is_full=False, spans=()) for channel in heard.strange})
    creature.handed = {**_handings(heard.handed, restated, lamport), **(creature.handed or {})}
    creature.ordinal = heard.ordinal
    _order(world.topology.channels_of, creature.id, [places[channel] for channel in heard.channels])


def _handings(
    handed: dict[str, list[CarriedWire]], restated: SessionRestated, lamport: int
) -> dict[str, list[Handing]]:
    """What old wires handed over, with the new ids. Open spans end now, because new wires replace the old ones."""
    names = restated.creatures

    def renamed(wire_id: str, wire: CarriedWire) -> Handing:
        source = names.get(wire.source, wire.source)
        target = names.get(wire.target, wire.target)
        old = Wire(wire_id, source, target, wire.with_content, wire.prompt, wire.when)
        return Handing(old, wire.since, lamport if wire.until is None else wire.until)

    return {wire_id: [renamed(wire_id, wire) for wire in wires] for wire_id, wires in handed.items()}


def _stays(stays: Iterable[CarriedStay], places: dict[str, str]) -> list[Stay]:
    known = [stay for stay in stays if stay.graph_id in places]
    return [Stay(places[stay.graph_id], stay.since, stay.until, stay.handle) for stay in known]


def _number(world: World, shape: CarriedShape, restated: SessionRestated) -> None:
    """Number new creatures after all creatures of their run."""
    for run_id, born in shape.born.items():
        run = world.runs.get(restated.runs[run_id])
        if run is not None:
            run.creatures_born = max(run.creatures_born, born)
    for key in shape.newcomers:
        creature = world.creatures[restated.creatures[key]]
        run = world.runs.get(creature.run_id or "")
        if run is not None:
            run.creatures_born += 1
            creature.ordinal = run.creatures_born


def _order(table: dict[str, dict[str, int]], key: str, names: Iterable[str]) -> None:
    """Restore the old order of edges; new edges come last."""
    row = table.get(key)
    if row is not None:
        table[key] = {name: row[name] for name in dict.fromkeys((*names, *row)) if name in row}


def _listen(world: World, graph: GraphState, lamport: int) -> None:
    """Open or close listening spans where a creature's edges now differ from those in its past."""
    for name in graph.creatures:
        creature = world.creatures[name]
        edges = world.topology.channels_of.get(name, {})
        for channel_id, ear in creature.ears.items():
            if ear.is_open != bool(edges.get(channel_id, 0) & LISTEN):
                ear.spans += (lamport,)
        for channel_id, directions in edges.items():
            if directions & LISTEN and channel_id not in creature.ears:
                is_full = world.channels[channel_id].history == "full"
                creature.ears[channel_id] = Ear(is_full, (lamport,))
        if creature.stays[-1].graph_id != graph.id:
            leave(creature, lamport)
            creature.stays += (Stay(graph.id, lamport),)
