"""Recent lines: the newest lines on each channel and in each graph, folded from the ledger; and what creatures recall.

Always holds: only the public part of a line is kept. Lines are kept by place, not by hearer (ADR 0025). The lines of a
place are cut to `heard_lines_max` when there are twice as many. A creature recalls what it may see on its channels,
what was said to all in its graphs, and its own lines; at most `heard_lines_max` lines in total.

A place is a channel id, a graph id for what was said to all, a creature id for its own lines, or `by_rule` of a root.
The fold holds where the lines of each place are in the ledger and how many there are. It is small and goes into
snapshots. The lines themselves are a cache, kept for graphs that are driven and loaded from the store when a graph is
first driven. A place whose lines are not loaded is cold.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Final

import msgspec
from msgspec.structs import replace

from glasshouse.events import kinds, payloads
from glasshouse.events.carried import CarriedNames, CarriedRenaming, CarriedTable, CarriedTables
from glasshouse.events.event import Event, Json, session_and_seq
from glasshouse.events.payloads import converted, payload_of, picked, sealed_of
from glasshouse.turns.heard.renaming import Renamed
from glasshouse.turns.moment.moment import Recent
from glasshouse.world.hearing.hearing import visible_to
from glasshouse.world.state.state import CreatureState, GraphState, World

version: Final = 7
"""Increase it when the fold changes, so that snapshots of the old fold are not used."""
heard_lines_max: Final = 256
"""How many lines a creature can recall; a table is cut to this when it holds `table_lines_max`."""
table_lines_max: Final = 2 * heard_lines_max
"""The lines of a channel, graph or creature are cut to `heard_lines_max` when this many are kept."""
few_lines_max: Final = 24
"""Up to this number, lines are inserted one by one; more lines are sorted."""
_lamport_of: Final = attrgetter("lamport")


class Stretch(msgspec.Struct, array_like=True, gc=False):
    """A range of consecutive lines of one session."""

    session_id: str
    first: int
    last: int
    via: tuple[str, ...] = ()
    """The sessions that took these lines over from a past, oldest first: the key in `Tables.renamed`."""


class RecentLines(msgspec.Struct, dict=True, array_like=True):
    """Where the newest lines of one place are in the ledger, and how many older ones were dropped."""

    spans: list[Stretch] = msgspec.field(default_factory=list)
    count: int = 0
    dropped: int = 0
    speakers: dict[str, None] = msgspec.field(default_factory=dict)
    """The ids of all who spoke here, in the order of their first lines."""

    def __post_init__(self) -> None:
        self.lines_cache: list[Event] | None = None if self.count else []
        """The lines themselves; none if they are not loaded. Moments share the list, so lines are only appended."""

    @property
    def lines(self) -> list[Event]:
        """The newest lines, oldest first; empty if the place is cold."""
        return self.lines_cache or []

    def newest(self, upto: int | None) -> Recent:
        """The newest lines up to a lamport time, for a creature that hears all of them."""
        lines = self.lines_cache or []
        stop = len(lines)
        start = stop - heard_lines_max if stop > heard_lines_max else 0
        while upto is not None and stop > start and lines[stop - 1].lamport > upto:
            stop -= 1
        return Recent(lines, start, stop)

    @property
    def total(self) -> int:
        """How many lines were ever said here."""
        return self.dropped + self.count

    def total_at(self, upto: int | None) -> int:
        """How many lines had been said here up to a lamport time."""
        lines = self.lines_cache
        if upto is None or not lines or lines[-1].lamport <= upto:
            return self.dropped + self.count
        return self.dropped + bisect_right(lines, upto, key=_lamport_of)

    def drop(self, lines: int) -> None:
        """Forget the oldest lines."""
        self.dropped += lines
        self.count -= lines
        if self.lines_cache is not None:
            self.lines_cache = self.lines_cache[lines:]
        while lines:
            oldest = self.spans[0]
            size = oldest.last - oldest.first + 1
            if size > lines:
                oldest.first += lines
                return
            lines -= size
            del self.spans[0]


def note_line(tables: list[RecentLines], line: Event) -> bool:
    """Add a line to these tables. Returns whether one of them keeps the event itself."""
    session_id = line.session_id
    seq = line.seq
    speaker = line.actor
    is_kept = False
    for table in tables:
        spans = table.spans
        if spans and (last := spans[-1]).last + 1 == seq and last.session_id == session_id:
            last.last = seq
        else:
            spans.append(Stretch(session_id, seq, seq))
        table.count = count = table.count + 1
        table.speakers[speaker] = None
        if (lines := table.lines_cache) is not None:
            lines.append(line)
            is_kept = True
        if count == table_lines_max:
            table.drop(heard_lines_max)
    return is_kept


def public_part(event: Event) -> Event:
    """The part of an event that every hearer may read."""
    if event.private is None and event.sealed is None and event.model is None and not event.tools:
        return event
    return replace(event, private=None, sealed=None, model=None, tools=())


ROOTS_OWN: Final = "*"

Counts = dict[str, dict[str, int]]


class Tables(msgspec.Struct, dict=True, omit_defaults=True):
    """The recent lines of all places, and what each creature missed or was dealt."""

    said: dict[str, RecentLines] = msgspec.field(default_factory=dict)
    missed: Counts = msgspec.field(default_factory=dict)
    """Channel id -> creature id -> how many lines the creature may not see, because it was not listening."""
    left: Counts = msgspec.field(default_factory=dict)
    """Channel id -> creature id -> how many lines had been said when the creature stopped listening."""
    dealt: dict[str, Json] = msgspec.field(default_factory=dict)
    """Creature id -> the facts that were dealt to it."""
    renamed: dict[tuple[str, ...], Renamed] = msgspec.field(default_factory=dict)
    """For the sessions that took a past over, one after another: the present names."""
    with_a_past: dict[str, int] = msgspec.field(default_factory=dict)
    """Root id -> when it last began to listen where lines had been said before. Its own table lacks those lines."""

    def __post_init__(self) -> None:
        self.driven_cache: set[str] | None = None
        """The graphs whose lines are kept loaded; none means all."""

    def apply(self, world: World, event: Event) -> None:
        """Fold in one event."""
        if event.kind in kinds.NO_LINES:
            if event.kind == kinds.CHANNEL_JOINED:
                self._note_joined(world, event)
            elif event.kind == kinds.CHANNEL_LEFT:
                self._note_left(event)
            elif event.kind == kinds.SESSION_RESTATED:
                self._take_over(world, payload_of(event, payloads.SessionRestated), event.lamport)
            return
        if event.sealed is not None:
            sealed = sealed_of(event)
            for owner in sealed.to:
                self.dealt[owner] = {**self.dealt.get(owner, {}), **sealed.facts}
        note_line(self.tables_of(world, event), public_part(event))

    def tables_of(self, world: World, event: Event) -> list[RecentLines]:
        """The recent lines that a line joins. They are the same for all lines of its speaker, kind and channel until the
        shape of the world changes."""
        key = (Tables, event.actor, event.kind, event.channel_id, event.graph_id)
        tables: list[RecentLines] | None = world.shape_cache.get(key)
        if tables is None:
            tables = world.shape_cache[key] = [
                self._table(event, place) for place in _places_of_line(world, event)
            ]
        return tables

    def _table(self, event: Event, place: str) -> RecentLines:
        table = self.said.get(place)
        if table is None:
            table = self.said[place] = RecentLines()
            if self.driven_cache is not None and event.graph_id not in self.driven_cache:
                table.lines_cache = None
        return table

    def places_recalled_in(self, world: World, graph: GraphState) -> dict[str, RecentLines]:
        """The places whose lines some creature in a graph may recall, each with its table."""
        places = dict.fromkeys([graph.id, *graph.channels.owners.values(), *graph.creatures])
        for name in graph.creatures:
            creature = world.creatures[name]
            places.update(dict.fromkeys([*creature.ears, *[stay.graph_id for stay in creature.stays]]))
            if creature.is_root:
                places[by_rule(name)] = None
        return picked(self.said, places)

    def cold_places(self, world: World, graph: GraphState) -> list[str]:
        """The cold places whose lines some creature in a graph may recall."""
        tables = self.places_recalled_in(world, graph)
        return [place for place, table in tables.items() if table.lines_cache is None]

    def let_go(self, place: str) -> list[Event]:
        """Make a place cold. Returns its lines, so that what was made from them can be let go too."""
        table = self.said[place]
        lines = table.lines
        if table.count:
            table.lines_cache = None
        return lines

    def warm(self, place: str, events: Iterable[Event]) -> bool:
        """Load the lines of a cold place from these events; false if some lines are missing."""
        table = self.said[place]
        standing = {
            (part.session_id, seq): part.via
            for part in table.spans
            for seq in range(part.first, part.last + 1)
        }
        lines: list[Event] = []
        for event in events:
            via = standing.get((event.session_id, event.seq))
            if via is not None:
                line = public_part(event)
                lines.append(self.renamed[via].heard_now(line) if via else line)
        if len(lines) != table.count:
            return False
        table.lines_cache = lines
        return True

    def cause_for(self, world: World, creature_id: str, event: Event) -> Event:
        """The cause of a creature's act, with present names if it is from a past that the creature took over."""
        via = world.creatures[creature_id].reborn
        if via and event.lamport <= world.sessions[via[-1]].segment.base:
            return self.renamed[via].heard_now(event)
        return event

    def remembered_by(self, names: Mapping[str, tuple[str, ...]], places: Iterable[str]) -> CarriedTables:
        """What a branch or resumed session carries over: the lines of some creatures and places.

        `names` maps each creature to the sessions that took its past over before.
        """
        owners = list(names)
        here = list(places)
        said = picked(self.said, (*here, *owners, *map(by_rule, owners)))
        pasts = {*names.values(), *[part.via for table in said.values() for part in table.spans]}
        return CarriedTables(
            said=converted(said, dict[str, CarriedTable]),
            missed={place: picked(counts, owners) for place, counts in picked(self.missed, here).items()},
            left={place: picked(counts, owners) for place, counts in picked(self.left, here).items()},
            dealt=picked(self.dealt, owners),
            renamed=[
                CarriedRenaming(list(via), converted(names, CarriedNames))
                for via, names in self.renamed.items()
                if via in pasts
            ],
            with_a_past=picked(self.with_a_past, owners),
        )

    def _take_over(self, world: World, restated: payloads.SessionRestated, lamport: int) -> None:
        """Take over the lines of a restated past. If it had taken over an older past, the names of both are chained."""
        past = restated.carried.tables
        shape = restated.carried.shape
        named = restated.creatures
        names = self.renamed[restated.session,] = Renamed(named, restated.places, restated.runs)
        for older in past.renamed:
            self.renamed[*older.via, restated.session] = converted(older.names, Renamed).then(names)
        for place, table in past.said.items():
            self.said[_place_now(restated, place)] = RecentLines(
                [
                    Stretch(part.session_id, part.first, part.last, (*part.via, restated.session))
                    for part in table.spans
                ],
                table.count,
                table.dropped,
                {named.get(name, name): None for name in table.speakers},
            )
        for mine, carried in ((self.missed, past.missed), (self.left, past.left)):
            for place, counts in carried.items():
                here = mine.setdefault(restated.places[place], {})
                here.update({named[name]: count for name, count in counts.items()})
        self.dealt.update({named[name]: facts for name, facts in past.dealt.items()})
        for name in named.values():
            if by_rule(name) not in self.said and name in world.creatures and world.creatures[name].is_root:
                self.with_a_past[name] = lamport  # It was not a root then, or nothing was said.
        self.with_a_past.update({named[name]: since for name, since in past.with_a_past.items()})
        for name in shape.newcomers:
            creature = world.creatures[named[name]]
            self._count_now(creature.id, self.missed, creature.ears)
        for name, heard in shape.creatures.items():
            creature = world.creatures[named[name]]
            ends = [c for c, ear in creature.ears.items() if not ear.is_open and ear.spans[-1] == lamport]
            self._count_now(creature.id, self.left, ends)
            self._count_now(creature.id, self.missed, [restated.places[place] for place in heard.strange])

    def _count_now(self, name: str, counts: Counts, channel_ids: Iterable[str]) -> None:
        """Set a creature's count for these channels to the number of lines said so far."""
        for channel_id, table in picked(self.said, channel_ids).items():
            if table.total:
                counts.setdefault(channel_id, {})[name] = table.total

    def _note_joined(self, world: World, event: Event) -> None:
        edge = payload_of(event, payloads.ChannelEdge)
        channel_id = edge.channel_id
        name = edge.creature
        table = self.said.get(edge.channel_id)
        if edge.direction != "listen":
            return
        there_until = self.left.get(channel_id, {}).pop(name, 0)
        if table is None:
            return
        if world.creatures[name].is_root and not _was_there_for(world, world.creatures[name], table):
            self.with_a_past[name] = event.lamport
        if world.channels[channel_id].history == "since_joined":
            late = self.missed.setdefault(channel_id, {})
            late[name] = late.get(name, 0) + table.total - there_until

    def _note_left(self, event: Event) -> None:
        edge = payload_of(event, payloads.ChannelEdge)
        if edge.direction == "listen":
            table = self.said.get(edge.channel_id)
            self.left.setdefault(edge.channel_id, {})[edge.creature] = 0 if table is None else table.total


def _places_of_line(world: World, event: Event) -> Iterator[str]:
    """The places that a line is kept for. They depend only on its kind, speaker, channel and graph."""
    channel_id = event.channel_id
    speaker = event.actor
    yield speaker if event.kind in kinds.INNER else channel_id or event.graph_id
    if channel_id is not None:
        actor = world.creatures.get(speaker)
        if actor is not None and channel_id not in actor.ears:
            yield speaker  # A creature recalls its own lines even where it does not listen.
        graph = world.graphs.get(event.graph_id)
        # A root hears every channel of its graph, so it has one place for all these lines.
        yield from () if graph is None else map(by_rule, graph.roots)


def _place_now(restated: payloads.SessionRestated, place: str) -> str:
    """The present name of a place of the past: of a channel, a graph, a creature, or a root's own place."""
    if place.startswith(ROOTS_OWN):
        return by_rule(restated.creatures[place.removeprefix(ROOTS_OWN)])
    return restated.places.get(place) or restated.creatures[place]


def by_rule(root_id: str) -> str:
    """The place for what a root heard on all its channels. No channel, graph or creature has such an id."""
    return f"{ROOTS_OWN}{root_id}"


def _was_there_for(world: World, root: CreatureState, table: RecentLines) -> bool:
    """Whether a root was in the graph when each of these lines was said, so that its own table has them."""
    for part in table.spans:
        segment = world.sessions[part.session_id].segment
        said = segment.base + part.first
        stays = [stay for stay in root.stays if stay.graph_id == segment.graph_id and stay.since <= said]
        if not any(stay.until is None or said < stay.until for stay in stays):
            return False
    return True


Heard = list[tuple[str, RecentLines, bool]]
"""Places, their tables, and whether the creature hears all lines there."""


class Places(msgspec.Struct):
    """The places of a creature's lines, of those where something was said."""

    said_count: int
    """In how many places of the house something was said. A new place may be one of the creature's."""
    own: RecentLines | None
    """For a root: what it heard on all channels."""
    channels: Heard
    without_channel: list[tuple[str, RecentLines]]
    """The graphs that it was in, and its own place."""
    speakers: list[dict[str, None]]
    """The speakers of each of these places."""
    is_one_channel: bool
    """Whether it hears all lines of one channel, and nothing was said anywhere else that it may recall."""
    handles_cache: tuple[int, dict[str, str]] = (0, {})
    """The names by which it knows these speakers and the creatures around, and how many speakers there were then."""


def places_of(tables: Tables, world: World, creature: CreatureState) -> Places:
    """The places where lines are that a creature may recall. They stay the same until something is said in a new place, or
    the shape of the world changes."""
    said = tables.said
    key = (Places, creature.id)
    places: Places | None = world.shape_cache.get(key)
    if places is None or places.said_count != len(said):
        ears = creature.ears
        without_channel = dict.fromkeys([*[stay.graph_id for stay in creature.stays], creature.id])
        own = said.get(by_rule(creature.id)) if creature.is_root else None
        channels = picked(said, ears)
        others = picked(said, without_channel)
        tables_here = [*channels.values(), *others.values(), *([] if own is None else [own])]
        heard = [(c, table, ears[c].is_full and ears[c].is_open) for c, table in channels.items()]
        places = world.shape_cache[key] = Places(
            len(said),
            own,
            heard,
            [*others.items()],
            [table.speakers for table in tables_here],
            len(tables_here) == 1
            and [is_all_heard for _, _, is_all_heard in heard] == [True]
            and not any(
                creature.id in counts.get(heard[0][0], ()) for counts in (tables.left, tables.missed)
            ),
        )
    return places


def heard_by(
    tables: Tables, world: World, creature: CreatureState, places: Places, upto: int | None = None
) -> tuple[Recent, int]:
    """The newest lines that a creature may see in its places, oldest first, and how many lines it heard before these.

    With `upto`, lines after that lamport time are left out.
    """
    if places.own is not None:
        return _heard_by_root(tables, world, creature, places, upto)
    if places.is_one_channel:
        table = places.channels[0][1]
        recent = table.newest(upto)
        return recent, table.total_at(upto) - (recent.stop - recent.start)
    total = 0
    parts: list[Recent] = []
    for channel_id, table, is_all_heard in places.channels:
        total += _count_heard(tables, channel_id, table, creature.id, upto)
        parts.append(table.newest(upto) if is_all_heard else Recent.of(_seen(creature, table, upto)))
    others: list[list[Event]] = []
    for place, table in places.without_channel:
        more, older = _seen_without_channel(creature, place, table, upto)
        if more:
            others.append(more)
        total += len(more) + older
    if len(parts) == 1:
        part = parts[0]
        if part.stop - part.start == heard_lines_max:
            # It recalls no line that is older than all these. The lines of a table are in order.
            oldest = _time_of(world, part.shared[part.start])
            others = [more for more in others if _time_of(world, more[-1]) > oldest]
        if not others:
            return part, max(0, total - (part.stop - part.start))
    lines = [event for part in parts for event in part.events]
    if len(parts) > 1:
        lines.sort(key=lambda event: _time_of(world, event))
    for more in others:
        _set_in(world, lines, more)
    newest = lines[-heard_lines_max:]
    return Recent.of(newest), max(0, total - len(newest))


def _heard_by_root(
    tables: Tables, world: World, creature: CreatureState, places: Places, upto: int | None
) -> tuple[Recent, int]:
    """The same for a root, which hears every channel of its graph. Its own table nearly always has all its lines."""
    assert places.own is not None
    lines = places.own.newest(upto).events
    total = places.own.total_at(upto)
    by_id = {event.id: event for event in lines}
    since = tables.with_a_past.get(creature.id)
    if since is not None and (len(lines) < heard_lines_max or lines[0].lamport < since):
        # Its own table lacks lines that were said on its channels before it began to listen.
        for _, table, _ in places.channels:
            by_id.update([(event.id, event) for event in _seen(creature, table, upto)])
        total += len(by_id.keys() - {event.id for event in places.own.lines})
        lines = sorted(by_id.values(), key=lambda event: _time_of(world, event))
    for place, table in places.without_channel:
        more = [event for event in _seen(creature, table, upto) if event.id not in by_id]
        total += len(more) + _count_older(creature, place, table, upto)
        _set_in(world, lines, more)
    newest = lines[-heard_lines_max:]
    return Recent.of(newest), max(0, total - len(newest))


Whole = dict[str, RecentLines]
"""The places all of whose lines a creature hears, and their tables."""


def places_heard(tables: Tables, creature: CreatureState, places: Places) -> tuple[Whole, list[RecentLines]]:
    """Those of a creature's places where it may have heard others: those of which it hears all lines, and the tables of
    those of which it hears some: channels that it left or joined late, and its graphs."""
    own = places.own
    whole: Whole = {} if own is None else {by_rule(creature.id): own}
    in_part: list[RecentLines] = []
    if own is None or creature.id in tables.with_a_past:
        for channel_id, table, is_all_heard in places.channels:
            if is_all_heard:
                whole[channel_id] = table
            else:
                in_part.append(table)
    in_part += [table for place, table in places.without_channel if place != creature.id]
    return whole, in_part


def speakers_seen(creature: CreatureState, table: RecentLines) -> dict[str, None]:
    """The actors of those newest lines of a place that a creature may see, in the order of these lines."""
    return dict.fromkeys([event.actor for event in _seen(creature, table, None)])


def line_heard_by(tables: Tables, world: World, creature_id: str, id_of_event: str) -> Event | None:
    """The line with this id, if it is loaded in a place where this creature listens; else none."""
    creature = world.creatures[creature_id]
    session_id, seq = session_and_seq(id_of_event)
    said_at = world.sessions[session_id].segment.base + seq
    for place in (by_rule(creature_id), *creature.ears, creature.graph_id):
        lines = tables.said[place].lines if place in tables.said else []
        at = bisect_left(lines, said_at, key=_lamport_of)
        if at < len(lines) and lines[at].id == id_of_event:
            return lines[at]
    return None


def _count_heard(tables: Tables, channel_id: str, table: RecentLines, name: str, upto: int | None) -> int:
    """How many lines of a channel a creature may see."""
    total = table.total_at(upto)
    if channel_id in tables.left:
        total = min(total, tables.left[channel_id].get(name, total))
    return total - tables.missed[channel_id].get(name, 0) if channel_id in tables.missed else total


def _seen_without_channel(
    creature: CreatureState, place: str, table: RecentLines, upto: int | None
) -> tuple[list[Event], int]:
    """The newest lines in one of a creature's graphs, or in its own place, that it saw on none of its channels; and how
    many older ones it saw there."""
    if _was_there_for_all(creature, place, table.lines):
        older = max(0, len(table.lines) - heard_lines_max)
        if older and upto is not None:
            older = min(older, bisect_right(table.lines, upto, key=_lamport_of))
        return table.newest(upto).events, older
    newest = [event for event in _seen(creature, table, upto) if event.channel_id not in creature.ears]
    return newest, _count_older(creature, place, table, upto)


def _was_there_for_all(creature: CreatureState, graph_id: str, lines: list[Event]) -> bool:
    """Whether a creature was in a graph without a break while these lines were said to all there. So it saw them all, and
    nobody needs to ask `visible_to` of each. Always false for a place that is no graph."""
    return bool(lines) and any(
        stay.graph_id == graph_id
        and stay.since <= lines[0].lamport
        and (stay.until is None or lines[-1].lamport < stay.until)
        for stay in creature.stays
    )


def _count_older(creature: CreatureState, place: str, table: RecentLines, upto: int | None) -> int:
    """How many lines that were said on no channel of a creature it saw, before those that `_seen` looks at.

    Lines that the table of a graph has dropped do not count: nobody knows whether the creature was there.
    """
    older = max(0, len(table.lines) - heard_lines_max)
    if not older:
        return 0
    saw = [
        visible_to(creature, event) and event.channel_id not in creature.ears for event in table.lines[:older]
    ]
    if upto is not None:
        del saw[bisect_right(table.lines, upto, key=_lamport_of) :]
    return sum(saw) + (table.dropped if place == creature.id else 0)


def _seen(creature: CreatureState, table: RecentLines, upto: int | None) -> list[Event]:
    return [event for event in table.newest(upto).events if visible_to(creature, event)]


def _set_in(world: World, lines: list[Event], more: list[Event]) -> None:
    """Insert more lines into a list of lines that is in order."""
    if len(more) > few_lines_max:
        lines += more
        lines.sort(key=lambda event: _time_of(world, event))
        return
    for event in more:
        insort(lines, event, key=lambda line: _time_of(world, line))


def _time_of(world: World, event: Event) -> tuple[int, int, str]:
    session = world.sessions[event.session_id]
    return (event.lamport - session.skew, session.rank, event.id)
