"""Recalling: which of the recent lines a creature may see, in their order.

Always holds: nothing here changes what is kept. A creature recalls what was said on its channels while it listened, what was
said to everybody in its graphs, and its own lines; at most `heard_lines_max` of them.
"""

from __future__ import annotations

from bisect import insort
from typing import Final

from glasshouse.events.event import RESERVED_ACTORS, Event
from glasshouse.turns.tables import RecentLines, Tables, by_rule, heard_lines_max
from glasshouse.world.hearing import visible_to
from glasshouse.world.state import CreatureState, World

few_lines_max: Final = 24
"""Up to so many lines are put into their places one by one; more are sorted in."""


def heard_by(
    tables: Tables, world: World, creature: CreatureState, upto: int | None = None
) -> tuple[list[Event], int]:
    """The newest lines that a creature may see, oldest first, and how many on its channels came before them.

    With `upto`, what was said after that time is left out.
    """
    lines: list[Event] = []
    before, sources = 0, 0
    own = tables.said.get(by_rule(creature.id)) if creature.is_root else None
    if own is not None:
        return _heard_by_root(tables, world, creature, own, upto)
    for channel_id, ear in creature.ears.items():
        table = tables.said.get(channel_id)
        if table is not None:
            sources += 1
            before += _count_heard(tables, channel_id, table, creature.id, upto)
            lines += _all(table, upto) if ear.is_full and ear.is_open else _seen(creature, table, upto)
    if sources > 1:
        lines.sort(key=lambda event: _moment(world, event))
    on_channels, others = len(lines), 0
    for place in _places_without_channel(creature):
        table = tables.said.get(place)
        if table is not None:
            seen = _seen(creature, table, upto)
            more = [event for event in seen if event.channel_id not in creature.ears]
            _set_in(world, lines, more)
            others += len(more)
    newest = lines[-heard_lines_max:]
    if others:
        on_channels = sum([event.channel_id in creature.ears for event in newest])
    return newest, max(0, before - min(on_channels, len(newest)))


def _heard_by_root(
    tables: Tables, world: World, creature: CreatureState, own: RecentLines, upto: int | None
) -> tuple[list[Event], int]:
    """The same for one that hears every channel of its graph: its own table has all that matters, nearly always."""
    lines = _all(own, upto)
    by_id = {event.id: event for event in lines}
    if not _is_whole_for_root(tables, creature, lines):
        for channel_id in creature.ears:
            table = tables.said.get(channel_id)
            by_id.update([(e.id, e) for e in (() if table is None else _seen(creature, table, upto))])
        lines = sorted(by_id.values(), key=lambda event: _moment(world, event))
    for place in _places_without_channel(creature):
        table = tables.said.get(place)
        if table is not None:
            seen = _seen(creature, table, upto)
            _set_in(world, lines, [event for event in seen if event.id not in by_id])
    newest = lines[-heard_lines_max:]
    on_channels = sum([event.channel_id is not None for event in newest])
    return newest, max(0, own.total_at(upto) - on_channels)


def _is_whole_for_root(tables: Tables, creature: CreatureState, lines: list[Event]) -> bool:
    """Whether nothing that a root may see was said on a channel outside these lines of its own, and after the first."""
    since = tables.with_a_past.get(creature.id)
    return since is None or (len(lines) >= heard_lines_max and lines[0].lamport >= since)


Heard = list[tuple[str, RecentLines, bool]]
"""Places, their tables, and whether a creature hears all that is said there."""


def places_heard(tables: Tables, creature: CreatureState) -> Heard:
    """Where others may have spoken in a creature's sight: the channels that it hears, and its graphs."""
    own = tables.said.get(by_rule(creature.id)) if creature.is_root else None
    heard: Heard = [] if own is None else [(by_rule(creature.id), own, True)]
    if own is None or creature.id in tables.with_a_past:
        for channel_id, ear in creature.ears.items():
            table = tables.said.get(channel_id)
            if table is not None:
                heard.append((channel_id, table, ear.is_full and ear.is_open))
    for place in dict.fromkeys([stay.graph_id for stay in creature.stays]):
        table = tables.said.get(place)
        if table is not None and not table.speakers.keys() <= RESERVED_ACTORS:
            heard.append((place, table, False))
    return heard


def speakers_in(creature: CreatureState, heard: Heard) -> dict[str, None]:
    """Whoever has spoken in a creature's sight, place by place, in the order of their first words."""
    names: dict[str, None] = {}
    for _, table, is_all_heard in heard:
        names.update(
            table.speakers
            if is_all_heard
            else dict.fromkeys([event.actor for event in _seen(creature, table, None)])
        )
    return names


def line_heard_by(tables: Tables, world: World, creature_id: str, id_of_event: str) -> Event | None:
    """A line by its id, looked for where this creature listens, the newest first."""
    creature = world.creatures[creature_id]
    for place in (by_rule(creature_id), *creature.ears, creature.graph_id):
        table = tables.said.get(place)
        for line in reversed(table.lines) if table is not None else ():
            if line.id == id_of_event:
                return line
    return None


def _count_heard(tables: Tables, channel_id: str, table: RecentLines, name: str, upto: int | None) -> int:
    """How many lines of a channel a creature was there for, or sees all the same."""
    total = table.total_at(upto)
    until = min(total, tables.left.get(channel_id, {}).get(name, total))
    return until - tables.missed.get(channel_id, {}).get(name, 0)


def _places_without_channel(creature: CreatureState) -> list[str]:
    """Where else it may have heard or said something: graphs it was in, and what it keeps for itself."""
    return list(dict.fromkeys([*(stay.graph_id for stay in creature.stays), creature.id]))


def _all(table: RecentLines, upto: int | None) -> list[Event]:
    """A whole table up to a time, for those who hear everything that is said there."""
    lines = table.lines[-heard_lines_max:]
    while upto is not None and lines and lines[-1].lamport > upto:
        lines.pop()
    return lines


def _seen(creature: CreatureState, table: RecentLines, upto: int | None) -> list[Event]:
    return [event for event in _all(table, upto) if visible_to(creature, event)]


def _set_in(world: World, lines: list[Event], more: list[Event]) -> None:
    """Put some more lines into their places among those already in order."""
    if len(more) > few_lines_max:
        lines += more
        lines.sort(key=lambda event: _moment(world, event))
        return
    for event in more:
        insort(lines, event, key=lambda line: _moment(world, line))


def _moment(world: World, event: Event) -> tuple[int, int, str]:
    session = world.sessions[event.session_id]
    return (event.lamport - session.skew, session.rank, event.id)
