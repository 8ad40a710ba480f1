"""A lineage drawn as lanes: a column for every line of descent, a row for every session.

Always holds: sessions come in with parents before children; a lane leads from a parent to exactly one child; a
session stands in the leftmost lane that leads to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from glasshouse.world.values import Session


class Row(NamedTuple):
    """One row of the drawing: the lanes as text, and the session that stands in it, if one does."""

    lanes: str
    session: Session | None


def rows(sessions: Sequence[Session]) -> Iterator[Row]:
    """The drawing, from the oldest session to the newest."""
    lanes: list[str | None] = []
    children_of: dict[str, list[str]] = {session.id: [] for session in sessions}
    for session in sessions:
        for parent in session.parent_session_ids:
            children_of.get(parent, []).append(session.id)
    for session in sessions:
        here, joining = _place(lanes, session)
        if joining:
            yield Row(_link(lanes, here, joining, "╯"), None)
            for column in joining:
                lanes[column] = None
        yield Row(_marks(lanes, here, "●" if session.is_open else "○"), session)
        opened = _open_lanes(lanes, here, children_of[session.id])
        if opened:
            yield Row(_link(lanes, here, opened, "╮"), None)


def _place(lanes: list[str | None], session: Session) -> tuple[int, list[int]]:
    """The column of a session, and the other columns that lead to it."""
    leading = [n for n, child in enumerate(lanes) if child == session.id]
    if leading:
        return leading[0], leading[1:]
    return _free_column(lanes), []


def _free_column(lanes: list[str | None]) -> int:
    if None not in lanes:
        lanes.append(None)
    return lanes.index(None)


def _open_lanes(lanes: list[str | None], here: int, children: list[str]) -> list[int]:
    """Lead a lane to each child: the first goes straight on, the others branch off."""
    lanes[here] = children[0] if children else None
    opened: list[int] = []
    for child in children[1:]:
        column = _free_column(lanes)
        lanes[column] = child
        opened.append(column)
    return opened


def _marks(lanes: list[str | None], here: int, mark: str) -> str:
    cells = ["│" if child is not None else " " for child in lanes]
    cells[here] = mark
    return " ".join(cells).rstrip()


def _link(lanes: list[str | None], here: int, others: list[int], corner: str) -> str:
    """A row that ties columns to the one at `here`: `├─╯` where they join, `├─┬─╮` where they part."""
    line = [" "] * (2 * len(lanes) - 1)
    for column, child in enumerate(lanes):
        if child is not None:
            line[2 * column] = "│"
    last = 2 * max(others)
    for place in range(2 * here + 1, last):
        line[place] = "─" if line[place] == " " else "┼"
    for column in others:
        line[2 * column] = "┬" if corner == "╮" else "┴"
    line[2 * here], line[last] = "├", corner
    return "".join(line).rstrip()
