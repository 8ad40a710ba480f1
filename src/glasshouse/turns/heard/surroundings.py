"""Surroundings: the creatures around a creature when its act begins, their names, and the prompt lines about them.

Always holds: the surroundings depend only on the topology at that moment, and their size is bounded, however large the
graph is. A creature sees only the members of its own channels, the other ends of its wires, and its children. A root
also sees members of the other channels of its graph. A creature in another graph is known by the handle that it had
when both were last in one graph, so that nothing that happens elsewhere is visible here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from msgspec.structs import replace

from glasshouse.events.event import RESERVED_ACTORS, Event
from glasshouse.turns.heard.recent_lines import (
    Places,
    Tables,
    Whole,
    places_heard,
    public_part,
    speakers_seen,
)
from glasshouse.turns.moment.line_text import and_more, safe_line
from glasshouse.turns.moment.moment import Around, Moment, Neighbour
from glasshouse.world.hearing.hearing import visible_to
from glasshouse.world.hearing.wires import Handed
from glasshouse.world.state.state import CreatureState, GraphState, Stay, World
from glasshouse.world.state.topology import LISTEN, SEND

neighbours_max: Final = 12
"""A creature sees at most this many neighbours, and twice as many wires; more neighbours are counted, not
named."""
channels_seen_max: Final = 12
"""A creature sees at most this many of its channels."""
members_looked_at_max: Final = 256
"""This many members of a channel are searched for neighbours."""
names_shown_max: Final = 8
"""More channels, wires and children are counted, not named."""
around_cache_values_max: Final = 4_096
"""Kept so as not to be computed again: descriptions of who is nearby."""

PLAYED_BY_VISITOR: Final = "visitor"

_NOTHING: Final[dict[str, int]] = {}


class _Shared(NamedTuple):
    """What is the same for all creatures that are on the same channels in the same directions."""

    listens: tuple[str, ...]
    sends: tuple[str, ...]
    members: dict[str, list[str]]
    """Member id -> the names of its channels among these, in the order in which the members are found."""
    nearest: list[tuple[str, Neighbour]]
    """The first members: one more than is shown, because a creature is not its own neighbour."""


class Surroundings(NamedTuple):
    """What one creature sees of the shape of its graph."""

    around: Around
    channels: dict[str, str]
    """The channels that it is on: name -> id."""
    channels_of_others: tuple[str, ...]
    """The ids of the channels on which it meets others. Those whose members are all on another of them are left out."""


def surroundings_of(world: World, creature: CreatureState) -> Surroundings:
    """The present surroundings of a creature in its graph."""
    key = (Surroundings, creature.id)
    surroundings: Surroundings | None = world.shape_cache.get(key)
    if surroundings is None:
        surroundings = world.shape_cache[key] = _seen_by(world, creature)
    return surroundings


def _seen_by(world: World, creature: CreatureState) -> Surroundings:
    mine = creature.id
    channels = tuple(_channels_seen(world, creature).items())
    shared: _Shared | None = world.shape_cache.get(channels)
    if shared is None:
        shared = world.shape_cache[channels] = _shared(world, channels)
    neighbours = [neighbour for name, neighbour in shared.nearest if name != mine][:neighbours_max]
    wired_to, wired_from = _wired(world, mine) if mine in world.wires_of else ((), ())
    children = world.children_of.get(mine, {}) if creature.is_privileged else {}
    around = Around(
        shared.listens,
        shared.sends,
        tuple(neighbours),
        len(shared.members) - (mine in shared.members),
        wired_to,
        wired_from,
        len(world.graphs[creature.graph_id].channels.owners) if creature.is_root else 0,
        tuple([name_for(world, creature, child) for child in islice(children, neighbours_max)]),
        len(children),
    )
    own = world.topology.channels_of.get(mine, _NOTHING)
    return Surroundings(
        around,
        {world.channels[channel_id].name: channel_id for channel_id in own},
        _channels_of_others(world, mine, [channel_id for channel_id, _ in channels[:channels_seen_max]]),
    )


def _channels_of_others(world: World, mine: str, channel_ids: list[str]) -> tuple[str, ...]:
    if len(channel_ids) < 2:
        return tuple(channel_ids)  # There is no other channel whose members could include these.
    others = {channel_id: {*_members(world, channel_id)} - {mine} for channel_id in channel_ids}
    kept: list[str] = []
    for channel_id in sorted(channel_ids, key=lambda name: -len(others[name])):
        if not any(others[channel_id] <= others[larger] for larger in kept):
            kept.append(channel_id)
    return tuple(kept)


def _shared(world: World, channels: Iterable[tuple[str, int]]) -> _Shared:
    listens: list[str] = []
    sends: list[str] = []
    members: dict[str, list[str]] = {}
    for number, (channel_id, how) in enumerate(channels):
        if number >= channels_seen_max <= min(len(listens), len(sends)):
            break
        name = world.channels[channel_id].name
        if how & LISTEN:
            listens.append(name)
        if how & SEND:
            sends.append(name)
        if number < channels_seen_max:
            for member in _members(world, channel_id):
                members.setdefault(member, []).append(name)
    nearest: list[tuple[str, Neighbour]] = []
    for member, on in islice(members.items(), neighbours_max + 1):
        creature = world.creatures[member]
        facts = world.facts_of(creature)
        nearest.append((member, Neighbour(creature.handle, facts.role, tuple(on), facts.title)))
    return _Shared(tuple(listens[:channels_seen_max]), tuple(sends[:channels_seen_max]), members, nearest)


def _channels_seen(world: World, creature: CreatureState) -> dict[str, int]:
    """Channel id -> directions, for a creature's channels; for a root also channels that it hears without an edge."""
    own = world.topology.channels_of.get(creature.id, _NOTHING)
    if not creature.is_root:
        return own
    here = islice(world.graphs[creature.graph_id].channels.owners.values(), 2 * channels_seen_max)
    heard = {channel_id: LISTEN for channel_id in here if channel_id not in own}
    return {channel_id: how | LISTEN for channel_id, how in own.items()} | heard


def _wired(world: World, mine: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The handles at the other ends of a creature's wires: first of the targets, then of the sources."""
    wires = [world.wires[wire_id] for wire_id in world.wires_of[mine]][: 2 * neighbours_max]
    return (
        tuple([world.creatures[wire.target].handle for wire in wires if wire.source == mine]),
        tuple([world.creatures[wire.source].handle for wire in wires if wire.target == mine]),
    )


def _members(world: World, channel_id: str) -> Iterable[str]:
    """The first members of a channel, at most `members_looked_at_max`."""
    return islice(world.topology.members_of.get(channel_id, _NOTHING), members_looked_at_max)


def handles_of(
    world: World, tables: Tables, creature: CreatureState, places: Places, cause_actor: str
) -> Mapping[str, str]:
    """Id -> handle of the speakers and the creatures around, as this creature knows them.

    Creatures that hear the same get the same cached object, unless they know somebody whom the others do not.
    """
    speakers = sum(map(len, places.speakers))
    known_speakers, handles = places.handles_cache
    # Speakers are only ever added, so an unchanged number of speakers means unchanged speakers.
    if speakers == known_speakers and cause_actor in handles:
        return handles
    whole, in_part = places_heard(tables, creature, places)
    shared = _shared_handles(world, creature, whole)
    handles = shared.handles
    known = handles.keys()
    # Nearly always, whoever spoke in a place that it hears in part is known. If not, the lines there tell whom it heard.
    with_others = [table for table in in_part if not table.speakers.keys() <= known]
    if not with_others and not shared.strangers and creature.id in known:
        places.handles_cache = speakers, handles
    heard = [name for table in with_others for name in speakers_seen(creature, table)]
    names = dict.fromkeys([creature.id, cause_actor, *shared.strangers, *heard])
    more = {name: name_for(world, creature, name) for name in names if name not in known}
    return handles | more if more else handles


class _SharedHandles(NamedTuple):
    """The handles that all creatures know who hear the same, and whom each of them knows by a name of its own."""

    counts: list[int]
    """How many had spoken in each of the places then."""
    handles: dict[str, str]
    """Those in their graph. Moments hold this very object, so it is never changed."""
    strangers: list[str]
    """Those who spoke and are not in the graph."""


def _shared_handles(world: World, creature: CreatureState, whole: Whole) -> _SharedHandles:
    """The shared handles of those who hear all lines of these places. New speakers are added to those known before."""
    channels = surroundings_of(world, creature).channels_of_others
    key = (_SharedHandles, creature.graph_id, channels, *whole)
    counts = [len(table.speakers) for table in whole.values()]
    before: _SharedHandles | None = world.shape_cache.get(key)
    if before is not None and before.counts == counts:
        return before
    if before is not None and len(whole) == 1:
        # Added one after another, speakers of several places would stand in another order than if all came at once.
        handles = before.handles
        strangers = before.strangers
        new = [*islice(next(iter(whole.values())).speakers, before.counts[0], None)]
    else:
        handles = {}
        strangers = []
        members = [name for channel_id in channels for name in _members(world, channel_id)]
        speakers = [name for table in whole.values() for name in table.speakers]
        # A cause may be an event of the engine, so its actors are always included.
        new = [*members, *sorted(RESERVED_ACTORS), *speakers]
    graph = world.graphs[creature.graph_id]
    known = {name: name_for(world, creature, name) for name in new if _has_one_name(graph, name)}
    unknown = [name for name in new if not _has_one_name(graph, name)]
    shared = world.shape_cache[key] = _SharedHandles(counts, handles | known, [*strangers, *unknown])
    return shared


def _has_one_name(graph: GraphState, name: str) -> bool:
    """Whether all creatures in a graph know somebody by the same name."""
    return name in graph.creatures or name in RESERVED_ACTORS


def visitors_among(world: World, moment: Moment) -> frozenset[str]:
    """The creatures in a moment that a visitor plays, or played until they were removed.

    Creatures that this store does not know are included, because a visitor may have played them.
    """
    events = [moment.cause, *moment.recent_events, *[line.event for line in moment.recalled]]
    names = {event.actor for event in events} - RESERVED_ACTORS
    return frozenset([name for name in names if is_by_stranger(world, name)])


def is_by_stranger(world: World, actor: str) -> bool:
    """Whether a visitor plays or played a creature, or this store does not know it, so that a visitor may have."""
    creature = world.ever(actor)
    if actor in RESERVED_ACTORS:
        return False
    return creature is None or world.facts_of(creature).played_by == PLAYED_BY_VISITOR


def name_for(world: World, creature: CreatureState, name: str) -> str:
    """The name by which a creature knows another: its handle, or the one it had when both were last in one graph.

    If they were never in one graph, the name is the id.
    """
    other = world.creatures.get(name)
    if other is not None and other.graph_id == creature.graph_id:
        return other.handle
    ever = world.ever(name)
    stays = (*world.remembered.get(name, ()), *(() if ever is None else ever.stays))
    for stay in reversed(stays):
        if any(_met(stay, mine) for mine in creature.stays):
            return stay.handle or (name if other is None else other.handle)
    return next((stay.handle for stay in stays if not stay.graph_id), name)


def _met(theirs: Stay, mine: Stay) -> bool:
    """Whether the other creature came to a graph of mine before I left it."""
    return theirs.graph_id == mine.graph_id and (mine.until is None or theirs.since < mine.until)


def cause_as_seen(creature: CreatureState, cause: Event, handed: Handed | None) -> Event:
    """The cause of an act as its creature sees it: the public part, without the words if a wire withheld them."""
    seen = public_part(cause)
    is_kept_back = handed is not None and not handed.with_content and not visible_to(creature, cause)
    return replace(seen, payload={}) if is_kept_back else seen


@lru_cache(maxsize=around_cache_values_max)
def around_lines(around: Around) -> tuple[str, ...]:
    """The prompt lines about the creature's neighbours, channels, wires and children."""
    heard = "You hear every channel here" if around.channels_heard_count else "You hear"
    near = around.neighbours[:neighbours_max]
    texts = [_neighbour_text(neighbour) for neighbour in near]
    parts = (
        ("With you", and_more(texts, max(around.neighbours_count, len(around.neighbours)))),
        (heard, _names(around.listens, around.channels_heard_count)),
        ("You speak on", _names(around.sends)),
        ("Your lines are handed to", _names(around.wired_to)),
        ("You are handed the lines of", _names(around.wired_from)),
        ("Your children", _names(around.children, around.children_count)),
        ("Called", "; ".join([f"{safe_line(n.handle)} is {safe_line(n.title)}" for n in near if n.title])),
    )
    return tuple(f"{what}: {names}." for what, names in parts if names)


def _neighbour_text(neighbour: Neighbour) -> str:
    where = f", on {_names(neighbour.channels)}" if neighbour.channels else ""
    return f"{safe_line(neighbour.handle)} ({safe_line(neighbour.role)}{where})"


def _names(names: Sequence[str], count: int = 0) -> str:
    return and_more([safe_line(name) for name in names[:names_shown_max]], count or len(names))
