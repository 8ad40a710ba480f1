"""A lineage on the screen: a row for every session, a lane for every line of descent; merges and splits join lanes.

Always holds: parents come before children. A lane leads from a parent to exactly one child. A session is drawn in the
leftmost lane that leads to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Final, NamedTuple

import msgspec
from rich.cells import cell_len
from rich.text import Text

from glasshouse.cli.drawing.screen import Screen, counted, one_line, print_json
from glasshouse.cli.drawing.voices import QUIET
from glasshouse.cli.store_reader import StoreReader, short_ids
from glasshouse.events.event import session_and_seq
from glasshouse.world.state.values import Session

sessions_drawn_max: Final = 256
"""The number of sessions drawn; of a larger lineage, the newest. JSON output has all sessions."""
lane_chars_max: Final = 24
"""Lanes are cut at this width, so that text has room."""
NO_BREAK: Final = "\N{NO-BREAK SPACE}"
who_chars_min: Final = 20
"""With less room beside the other columns, the members of a session are drawn below them."""


@dataclass(frozen=True)
class LineageRead:
    """The sessions of a lineage, parents before children, with the first and last turn that each played."""

    session_id: str
    """The session that was asked for, or in which the run began."""
    sessions: tuple[Session, ...]
    turns: dict[str, list[int]]
    handles: dict[str, str]


async def read_lineage(reader: StoreReader, name: str) -> LineageRead:
    """The sessions of a run, or those around a session."""
    terrarium = reader.terrarium
    named_id, run = await reader.run_or_session(name)
    if named_id in terrarium.imported_runs():
        named_id = (await terrarium.run_events(named_id))[0].session_id
    lineage = terrarium.lineage(named_id if run is None else run.session_id)
    sessions = (*lineage.ancestors, lineage.session, *lineage.descendants)
    turns: dict[str, list[int]] = {}
    for session in sessions[-sessions_drawn_max:]:
        if session.events:
            ends = [f"{session.id}.{seq}" for seq in (1, session.events)]
            turns[session.id] = [(await terrarium.event(event_id)).turn for event_id in ends]
    handles = {creature.id: creature.handle for creature in terrarium.creatures()}
    return LineageRead(lineage.session_id, sessions, turns, handles)


def print_lineage(read: LineageRead) -> None:
    """One JSON object for each session."""
    for session in read.sessions:
        first, last = read.turns.get(session.id, (None, None))
        print_json({**msgspec.to_builtins(session), "first_turn": first, "last_turn": last})


def draw_lineage(read: LineageRead) -> None:
    """The lanes, and beside each session how it began, its turns, its events, when it began, and who was in it."""
    screen = Screen()
    drawn = read.sessions[-sessions_drawn_max:]
    if len(drawn) < len(read.sessions):
        screen.draw(Text(f"{len(read.sessions) - len(drawn):,} older sessions are left out", style=QUIET))
    short = short_ids([session.id for session in read.sessions])
    rows = list(lanes_of(drawn))
    lanes_width = min(lane_chars_max, max(cell_len(row.lanes) for row in rows))
    columns = {session.id: _columns(session, read, short) for session in drawn}
    widths = [max(map(cell_len, column)) for column in zip(*columns.values(), strict=True)]
    parents = {name for session in drawn for name in session.parent_session_ids}
    for row, session in rows:
        lanes = row if len(row) <= lane_chars_max else f"{row[: lane_chars_max - 1]}…"
        if session is None:
            screen.draw(Text(lanes, style="green"))
            continue
        before = f"{lanes.ljust(lanes_width)}  "
        words = "  ".join(cell.ljust(width) for cell, width in zip(columns[session.id], widths, strict=True))
        who = ", ".join(one_line(read.handles.get(name, name)) for name in session.agents) or "nobody"
        who += _moment(session, short)
        folded = _folded(who, len(before), len(words), screen.width)
        beside, *below = [line.replace(NO_BREAK, " ") for line in folded]
        style = "bold" if session.id == read.session_id else ""
        text = Text.assemble((before, "green"), (words, style), (f"  {beside}".rstrip(), QUIET))
        text.truncate(screen.width, overflow="ellipsis")
        screen.draw(text)
        onward = "│" if session.id in parents else " "
        passing = before.replace("○", onward).replace("●", onward)
        for names in below:
            screen.draw(Text.assemble((passing, "green"), (names, QUIET)))
    screen.draw(Text("● lives on   ○ ended, or never lived", style=QUIET))


def _columns(session: Session, read: LineageRead, short: dict[str, str]) -> tuple[str, ...]:
    first, last = read.turns.get(session.id, (0, 0))
    turns = f"turn {first}" if first == last else f"turns {first}-{last}"
    return session.origin, short[session.id], turns, counted(session.events, "event")


def _moment(session: Session, short: dict[str, str]) -> str:
    """The event at which a session began, and the wall time."""
    at = session.merged_at or session.split_at or session.forked_at
    if at is None or session.began_at is None:
        return ""
    writer, seq = session_and_seq(at)
    moment = f"at {short.get(writer, writer)}.{seq}, {session.began_at:%Y-%m-%d %H:%M:%S}"
    return f"; {moment.replace(' ', NO_BREAK)}"


def _folded(who: str, before: int, words: int, width: int) -> list[str]:
    """The members of a session: what stands beside its other columns, then the lines under it. Without room beside
    them, all of it stands below."""
    room = width - before - words - 2
    if len(who) <= room:
        return [who]
    if room >= who_chars_min:
        lines = wrap(who, room, break_long_words=False, break_on_hyphens=False)
        if max(map(len, lines)) <= room:
            return [lines[0], *[" " * (words + 2) + line for line in lines[1:]]]
    return ["", *wrap(who, max(who_chars_min, width - before), break_on_hyphens=False)]


class Row(NamedTuple):
    """One row of the lanes, and the session that stands in it, if one does."""

    lanes: str
    session: Session | None


def lanes_of(sessions: Sequence[Session]) -> Iterator[Row]:
    """The lanes, from the oldest session to the newest."""
    lanes: list[str | None] = []
    """For each column, the session that its lane leads to; none if the column is free."""
    children_of: dict[str, list[str]] = {session.id: [] for session in sessions}
    for session in sessions:
        for parent in session.parent_session_ids:
            children_of.get(parent, []).append(session.id)
    for session in sessions:
        leading = [column for column, child in enumerate(lanes) if child == session.id]
        here, *joining = leading or [_free_column(lanes)]
        if joining:
            yield Row(_link(lanes, here, joining, "╯"), None)
            for column in joining:
                lanes[column] = None
        cells = list(_cells(lanes))
        cells[2 * here] = "●" if session.is_open else "○"
        yield Row("".join(cells).rstrip(), session)
        if opened := _open_lanes(lanes, here, children_of[session.id]):
            yield Row(_link(lanes, here, opened, "╮"), None)


def _cells(lanes: list[str | None]) -> str:
    """The lanes that pass, one column each, with room between them."""
    return " ".join(" " if child is None else "│" for child in lanes)


def _free_column(lanes: list[str | None]) -> int:
    if None not in lanes:
        lanes.append(None)
    return lanes.index(None)


def _open_lanes(lanes: list[str | None], here: int, children: list[str]) -> list[int]:
    """Lead a lane to each child: the first goes straight on, the others branch off."""
    lanes[here] = children[0] if children else None
    columns = []
    for child in children[1:]:
        columns.append(_free_column(lanes))
        lanes[columns[-1]] = child
    return columns


def _link(lanes: list[str | None], here: int, others: list[int], corner: str) -> str:
    """A row that ties columns to the one at `here`: `├─╯` where they join, `├─┬─╮` where they part."""
    line = list(_cells(lanes))
    last = 2 * max(others)
    for index in range(2 * here + 1, last):
        line[index] = "─" if line[index] == " " else "┼"
    for column in others:
        line[2 * column] = "┬" if corner == "╮" else "┴"
    line[2 * here] = "├"
    line[last] = corner
    return "".join(line).rstrip()
