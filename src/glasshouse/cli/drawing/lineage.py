"""A lineage on the screen: one row for each session, merges and splits as lanes."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import Final

import msgspec
from rich.cells import cell_len
from rich.text import Text

from glasshouse.cli.drawing.lanes import rows
from glasshouse.cli.drawing.screen import Screen, one_line, print_json
from glasshouse.cli.drawing.voices import QUIET
from glasshouse.cli.looking import Lookout
from glasshouse.cli.naming import short_ids, the_one
from glasshouse.world.values import Session

sessions_drawn_max: Final = 256
"""Of a larger lineage the newest are drawn; for machines all are told."""
lane_chars_max: Final = 24
"""Lanes are cut here, so that words have room."""
who_chars_min: Final = 20
"""With less room beside the other columns, those who were in a session stand below them."""


@dataclass(frozen=True)
class Seen:
    """The sessions of a lineage, parents before children, with the turns that each played."""

    session_id: str
    """The session that was asked for, or that the run began in."""
    sessions: tuple[Session, ...]
    turns: dict[str, tuple[int, int]]
    handles: dict[str, str]


async def lineage_seen(lookout: Lookout, name: str) -> Seen:
    """The sessions of a run, or those around a session."""
    terrarium = lookout.terrarium
    runs = [run.id for run in lookout.runs()]
    found = the_one("run or session", name, [*await lookout.session_ids(), *runs])
    lineage = terrarium.lineage(terrarium.run_of(found).session_id if found in runs else found)
    sessions = (*lineage.ancestors, lineage.session, *lineage.descendants)
    turns: dict[str, tuple[int, int]] = {}
    for session in sessions[-sessions_drawn_max:]:
        if session.events:
            first = await terrarium.event(f"{session.id}.1")
            last = await terrarium.event(f"{session.id}.{session.events}")
            turns[session.id] = (first.turn, last.turn)
    handles = {creature.id: creature.handle for creature in terrarium.creatures()}
    return Seen(lineage.session_id, sessions, turns, handles)


def tell_lineage(seen: Seen) -> None:
    """One object for each session."""
    for session in seen.sessions:
        first, last = seen.turns.get(session.id, (None, None))
        print_json({**msgspec.to_builtins(session), "first_turn": first, "last_turn": last})


def draw_lineage(seen: Seen) -> None:
    """The lanes, and beside each session how it began, its turns, its events, and who was in it."""
    screen = Screen()
    drawn = seen.sessions[-sessions_drawn_max:]
    if len(drawn) < len(seen.sessions):
        screen.draw(Text(f"{len(seen.sessions) - len(drawn):,} older sessions are left out", style=QUIET))
    short = short_ids([session.id for session in seen.sessions])
    found = list(rows(drawn))
    lanes_width = min(lane_chars_max, max(cell_len(row.lanes) for row in found))
    columns = [_columns(row.session, seen, short) for row in found if row.session is not None]
    widths = [max(map(cell_len, column)) for column in zip(*columns, strict=True)]
    parents = {name for session in drawn for name in session.parent_session_ids}
    for row in found:
        lanes = row.lanes if len(row.lanes) <= lane_chars_max else f"{row.lanes[: lane_chars_max - 1]}…"
        if row.session is None:
            screen.draw(Text(lanes, style="green"))
            continue
        cells = [
            cell.ljust(width) for cell, width in zip(_columns(row.session, seen, short), widths, strict=True)
        ]
        before = f"{lanes.ljust(lanes_width)}  "
        words = "  ".join(cells)
        who = _folded(_who(row.session, seen), len(before), len(words), screen.width)
        drawn_row = Text.assemble(
            (before, "green"),
            (words, "bold" if row.session.id == seen.session_id else ""),
            (f"  {who[0]}".rstrip(), QUIET),
        )
        drawn_row.truncate(screen.width, overflow="ellipsis")
        screen.draw(drawn_row)
        onward = _passing(before, is_parent=row.session.id in parents)
        for names in who[1:]:
            screen.draw(Text.assemble((onward, "green"), (names, QUIET)))
    screen.draw(Text("● lives on   ○ ended, or never lived", style=QUIET))


def _columns(session: Session, seen: Seen, short: dict[str, str]) -> tuple[str, ...]:
    first, last = seen.turns.get(session.id, (0, 0))
    turns = f"turn {first}" if first == last else f"turns {first}-{last}"
    count = f"{session.events:,} event{'s'[: session.events != 1]}"
    return session.origin, short[session.id], turns, count


def _who(session: Session, seen: Seen) -> str:
    return ", ".join(one_line(seen.handles.get(name, name)) for name in session.agents) or "nobody"


def _folded(who: str, before: int, words: int, width: int) -> list[str]:
    """Who was in a session: what stands beside its other columns, and the lines under it. Where there is no room beside
    them, all of it stands below."""
    room = width - before - words - 2
    if len(who) <= room:
        return [who]
    if room >= who_chars_min:
        lines = wrap(who, room, break_long_words=False, break_on_hyphens=False)
        if max(map(len, lines)) <= room:
            return [lines[0], *[" " * (words + 2) + line for line in lines[1:]]]
    return ["", *wrap(who, max(who_chars_min, width - before), break_on_hyphens=False)]


def _passing(before: str, *, is_parent: bool) -> str:
    """The lanes beside a line that goes on: those that pass, and that of the session if something grows from it."""
    return before.replace("○", "│" if is_parent else " ").replace("●", "│" if is_parent else " ")
