"""Memory places: where the lines are that a creature ever heard or said, and which of them it may remember.

A place is what the index of words finds lines by: a channel in one graph, what was said to all in one graph, what one creature said in
one graph, what wires with one condition carried of that, or what the creature thought there. Always holds: the ranges of a creature hold
every line that `who_knew` grants it with its words, up to a time; what else they hold, `remembered_as` leaves out. Both apply the rule of
hearing, through merges, splits and branches: the past that a creature took over is searched under its old names, up to where it was taken
over.

A line that its creature may not remember must not stand in its ranges in great numbers: it would take the room of those that it may. So what a
wire carries has places of its own, which are known from the first event that adds such a wire.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Final, NamedTuple

from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.event import RESERVED_ACTORS, Event
from glasshouse.events.payloads import WireAdded, payload_of
from glasshouse.turns.heard.recent_lines import public_part
from glasshouse.turns.heard.renaming import NamesNow, Renamed
from glasshouse.world.hearing.conditions import condition_of, holds
from glasshouse.world.hearing.hearing import visible_to, wire_that_handed
from glasshouse.world.hearing.wires import is_carried
from glasshouse.world.state.state import CreatureState, SessionState, World

ranges_max: Final = 256
"""A search looks into this many ranges of places, the newest. A creature has a few for each graph that it was in."""

index_version: Final = 1
"""Increase it when a line gets other places or other words than before, so that indexes of the old rule are not used."""
VERSION_PLACE: Final = f"#{index_version}"
"""A place that every index of this version has, and no line."""

_CHANNEL: Final = "/"
_SPEAKER: Final = "@"
_THINKER: Final = "!"
_CARRIED: Final = ">"
_SIGNS: Final = (_CHANNEL, _SPEAKER, _THINKER, _CARRIED)
_IMPORTED: Final = "~"
"""Before the places of lines that another house wrote: its ids may name something else here."""
_WIRED: Final = "&"
"""Begins a place without lines. It says that a wire from a creature was added, and with which condition."""


class TimeRange(NamedTuple):
    """The lines of a place from one lamport time to another, both included."""

    place: str
    first: int
    last: int


def places_of_line(event: Event, conditions: Iterable[str], *, is_imported: bool) -> tuple[str, ...]:
    """The places where a line is found; none if the event is no line. `conditions` are those of the wires that were ever added from its
    creature. The event that adds one has a place that says so."""
    if event.kind == kinds.OUTPUT_WIRE_ADDED:
        return _place_of_wire(payload_of(event, WireAdded))
    if event.kind in kinds.NO_LINES:
        return ()
    graph = f"{_IMPORTED if is_imported else ''}{event.graph_id}"
    actor = event.actor
    if event.kind in kinds.INNER:
        return (f"{graph}{_THINKER}{actor}",)
    said = f"{graph}{_CHANNEL}{event.channel_id or ''}"
    if actor in RESERVED_ACTORS:
        return (said,)
    carrying = [when for when in conditions if holds(when or None, event)] if is_carried(event) else []
    return (
        said,
        f"{graph}{_SPEAKER}{actor}",
        *[f"{graph}{_CARRIED}{actor}{_key_of(when)}" for when in carrying],
    )


def _place_of_wire(wire: WireAdded) -> tuple[str, ...]:
    """None for a wire without content: what it carried is never remembered."""
    return (f"{_WIRED}{wire.source} {_condition(wire.when)}",) if wire.with_content else ()


def _condition(when: str | None) -> str:
    """The condition of a wire; empty if every line meets it."""
    try:
        return when if when is not None and condition_of(when) else ""
    except Refused:  # Written before conditions were checked: it was true for every line then.
        return ""


def _key_of(when: str) -> str:
    """What stands for a condition in a place: short, and without signs."""
    return f"?{blake2b(when.encode(), digest_size=8).hexdigest()}" if when else ""


class PlaceDirectory:
    """All places of a house, by what they are of."""

    def __init__(self) -> None:
        self.times: dict[str, tuple[int, int]] = {}
        """Place -> the times of its first and its last line."""
        self._by_name: dict[str, list[str]] = {}
        """What a place is of, such as a channel -> its graphs."""
        self._channels: dict[str, list[str]] = {}
        """Graph -> the channels on which something was said there."""

        self._conditions: dict[str, dict[str, None]] = {}
        """Creature -> the conditions of the wires that were ever added from it; an empty one holds for all its lines."""

    def add(self, place: str, first: int, last: int) -> None:
        """Add a place, or lines in it."""
        known = self.times.get(place)
        self.times[place] = (first, last) if known is None else (min(known[0], first), max(known[1], last))
        if known is not None or place == VERSION_PLACE:
            return
        if place.startswith(_WIRED):
            source, _, when = place.removeprefix(_WIRED).partition(" ")
            self._conditions.setdefault(source, {})[when] = None
            return
        end = min([place.index(sign) for sign in _SIGNS if sign in place])
        graph = place[:end]
        sign = place[end]
        name = place[end + 1 :]
        mark = _IMPORTED if graph.startswith(_IMPORTED) else ""
        self._by_name.setdefault(f"{mark}{sign}{name}", []).append(graph)
        if sign == _CHANNEL and name:
            self._channels.setdefault(graph, []).append(name)

    def conditions_of(self, source: str) -> Iterable[str]:
        """The conditions of the wires that were ever added from a creature."""
        return self._conditions.get(source, ())

    def graphs_of(self, sign: str, name: str, mark: str) -> list[str]:
        """The graphs that a channel was in, or where a creature spoke or thought."""
        return self._by_name.get(f"{mark}{sign}{name}", [])

    def channels_in(self, graph: str) -> list[str]:
        """The channels on which something was said in a graph."""
        return self._channels.get(graph, [])


class Hearing(NamedTuple):
    """That a creature hears something from one lamport time to another: a channel, a graph, a graph as its root, what it said or thought
    itself, or what wires carried of another's lines."""

    of: str
    name: str
    first: int
    last: int
    key: str = ""
    """What stands for the condition of these wires."""


_EVER: Final = 2**62
"""Later than any lamport time."""


def hearings_of(creature: CreatureState) -> tuple[Hearing, ...]:
    """All that a creature ever heard until now, by its present names."""
    return tuple(_hearings(creature))


def _hearings(creature: CreatureState) -> Iterator[Hearing]:
    """The same rule as `visible_to` and `wire_that_handed`, as ranges of times."""
    mine = creature.id
    yield Hearing(_SPEAKER, mine, 0, _EVER)
    yield Hearing(_THINKER, mine, 0, _EVER)
    for channel_id, ear in creature.ears.items():
        if ear.is_full:
            yield Hearing(_CHANNEL, channel_id, 0, _EVER if ear.is_open else ear.spans[-1] - 1)
            continue
        for since, until in zip(ear.spans[::2], (*ear.spans[1::2], _EVER), strict=False):
            yield Hearing(_CHANNEL, channel_id, since + 1, until - 1)
    for stay in creature.stays:
        last = _EVER if stay.until is None else stay.until - 1
        yield Hearing("root" if creature.is_root else "graph", stay.graph_id, stay.since, last)
    for handings in (creature.handed or {}).values():
        for handing in handings:
            if handing.wire.with_content:
                last = _EVER if handing.until is None else handing.until - 1
                key = _key_of(_condition(handing.wire.when))
                yield Hearing(_CARRIED, handing.wire.source, handing.since + 1, last, key)


class _Past(NamedTuple):
    """A past as one creature knows it: its part of each graph, and what its places and creatures were called."""

    before: Mapping[str, int]
    """How far older pasts go in each graph: a line has the names of the oldest past that it is in."""
    ends: Mapping[str, int] | None
    """None: the present, which has no end."""
    mark: str
    places: Mapping[str, list[str]]
    creatures: Mapping[str, list[str]]
    has_new_names: frozenset[str]

    def old_names(self, hearing: Hearing) -> list[str]:
        """What something was called then. What has no new name kept its old one."""
        now = self.creatures if hearing.of in (_SPEAKER, _THINKER, _CARRIED) else self.places
        kept = [] if hearing.name in self.has_new_names else [hearing.name]
        return [*now.get(hearing.name, ()), *kept]


def _pasts(
    sessions: Mapping[str, SessionState], pasts: Iterable[tuple[dict[str, int], Renamed]]
) -> Iterator[_Past]:
    """The pasts that a creature took over, oldest first, and the present."""
    ends: dict[str, int] = {}
    for prefixes, renamed in pasts:
        before = ends
        ends = {**before}
        for session_id, seq in prefixes.items():
            segment = sessions[session_id].segment
            graph = f"{_IMPORTED if segment.is_imported else ''}{segment.graph_id}"
            ends[graph] = max(ends.get(graph, 0), segment.base + seq)
        renames = (renamed.places, renamed.creatures)
        olds = [_inverse(names) for names in renames]
        for mark in ("", _IMPORTED):
            yield _Past(before, ends, mark, olds[0], olds[1], frozenset().union(*renames))
    yield _Past(ends, None, "", {}, {}, frozenset())


def _inverse(names: Mapping[str, str]) -> dict[str, list[str]]:
    olds: dict[str, list[str]] = {}
    for old, now in names.items():
        olds.setdefault(now, []).append(old)
    return olds


def ranges_of(
    world: World,
    names: NamesNow,
    directory: PlaceDirectory,
    creature: CreatureState,
    hearings: Iterable[Hearing],
    upto: int,
) -> list[TimeRange]:
    """Where all lines are that a creature may remember up to a lamport time, the newest ranges first; at most `ranges_max`."""
    pasts = [*_pasts(world.sessions, names.pasts_of(creature))]
    ranges = dict.fromkeys(
        [
            part
            for hearing in hearings
            for past in pasts
            for part in _ranges_in(past, directory, hearing, upto)
        ]
    )
    return sorted(ranges, key=lambda part: (-part.last, part.place))[:ranges_max]


def _ranges_in(past: _Past, directory: PlaceDirectory, hearing: Hearing, upto: int) -> Iterator[TimeRange]:
    """The ranges of what was heard in one past, as far as something was said there."""
    for name in past.old_names(hearing):
        for place, graph in _places_named(past, directory, hearing.of, f"{name}{hearing.key}"):
            end = upto if past.ends is None else min(upto, past.ends.get(graph, 0))
            first, last = directory.times.get(place, (1, 0))
            first = max(first, hearing.first, past.before.get(graph, 0) + 1)
            last = min(last, hearing.last, end)
            if first <= last:
                yield TimeRange(place, first, last)


def _places_named(past: _Past, directory: PlaceDirectory, of: str, name: str) -> Iterator[tuple[str, str]]:
    """The places of a channel, graph or creature of this name, each with its graph."""
    if of in ("graph", "root"):
        graph = f"{past.mark}{name}"
        yield f"{graph}{_CHANNEL}", graph
        for channel_id in directory.channels_in(graph) if of == "root" else ():
            yield f"{graph}{_CHANNEL}{channel_id}", graph
        return
    for graph in directory.graphs_of(of, name, past.mark):
        yield f"{graph}{of}{name}", graph


def remembered_as(world: World, names: NamesNow, creature: CreatureState, event: Event) -> Event | None:
    """A line as its creature remembers it, with present names and only its public part; none if `who_knew` does not grant it the words."""
    if event.kind in kinds.NO_LINES:
        return None
    session = world.sessions.get(event.session_id)
    if session is None:
        return None
    heard = names.heard_by(creature, event)
    if heard is event and session.segment.is_imported:
        return None  # An equal id may name another creature there.
    if not visible_to(creature, heard):
        wire = wire_that_handed(creature, heard)
        if wire is None or not wire.with_content:
            return None
    return public_part(heard)
