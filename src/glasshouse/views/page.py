"""The page's view: plain JSON that changes by records, one record an event, so that any moment can be shown.

Always holds: a view is a function of the events and the role. To apply the records of some events to the view before
them gives the view after them; the web page does that with a twin of `apply`. The cost of a record does not depend on
how many events came before. Lists and texts in a view are bounded.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Literal, TypeAlias

import msgspec

from glasshouse.events.event import Json
from glasshouse.reprs import repr_of

version: Final = 8
"""Increased when the view or its fold changes, so that snapshots of the old one are not used."""
list_items_max: Final = 20
"""A list in a view keeps its newest items."""
text_chars_max: Final = 4_000
"""The text of a line in a view or a row; the event has the whole text."""

_PLAIN_OP: Final = 3

Op: TypeAlias = list[Any]
"""One change: `["s", path, value]` sets, `["x", path]` deletes, `["a", path, value]` appends to a bounded list. A name
behind the value says that the row's text belongs into it under this name: a text is sent once."""
Icon = Literal[
    "line", "judge", "visitor", "world", "thought", "silence", "error", "tool", "approval",
    "creature", "channel", "wire", "merge", "split", "session", "run", "turn", "copy",
]  # fmt: skip
"""`copy`: another row tells it, and the feed leaves this one out. A visitor said it, or the world showed it, in several graphs
at once; or it is the call of a group tool, of which the answer tells what was done."""


class Row(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One event in the feed, in one line. Its expander fetches the event."""

    icon: Icon
    actor: str
    turn: int
    graph: str = ""
    """Left out: the graph of the event's lane."""
    text: str = ""
    channel: str | None = None
    tokens: int = 0
    usd: float | msgspec.UnsetType | None = msgspec.UNSET
    """What it cost; none if that is unknown. Left out: nothing."""


class Record(msgspec.Struct, frozen=True, gc=False):
    """What one event changes."""

    __repr__ = repr_of("k", "row", "d")

    k: int
    """The number of the event in its story, counted from 1."""
    p: int | None
    """Its position in the store."""
    id: str
    row: Row
    d: list[Op]


class Changes:
    """A view under change: applies what is told and notes it as ops."""

    def __init__(self, view: Json) -> None:
        self.view = view
        self.ops: list[Op] = []

    def set(self, *path_and_value: Any) -> None:
        """Set what is at a path; what has that value already is left alone. None deletes."""
        *path, value = path_and_value
        parent, name = self._parent(path)
        if value is None:
            if name in parent:
                self._do(["x", path])
        elif parent.get(name) != value:
            self._do(["s", path, value])

    def set_with_text(self, *path_and_value: Any) -> None:
        """Set what is at a path; the text of the row belongs into it."""
        *path, value = path_and_value
        self.ops.append(["s", path, value, "text"])

    def delete(self, *path: str) -> None:
        """Delete what is at a path, if it is there."""
        parent, name = self._parent(path)
        if name in parent:
            self._do(["x", list(path)])

    def append(self, *path_and_value: Any) -> None:
        """Add to a bounded list."""
        *path, value = path_and_value
        self._do(["a", path, value])

    def _parent(self, path: Iterable[str]) -> tuple[Json, str]:
        *before, name = path
        part = self.view
        for step in before:
            part = part[step]
        return part, name

    def _do(self, op: Op) -> None:
        apply_op(self.view, op, "")
        self.ops.append(op)

    def record(self, k: int, position: int | None, event_id: str, row: Row) -> Record:
        """What was changed, as the record of an event."""
        for op in self.ops:
            if len(op) > _PLAIN_OP:
                apply_op(self.view, op, row.text)
        made = Record(k, position, event_id, row, self.ops)
        self.ops = []
        _move_on(self.view, made)
        return made


def apply(view: Json, record: Record) -> None:
    """Bring a view to what it is after the event of a record."""
    for op in record.d:
        apply_op(view, op, record.row.text)
    _move_on(view, record)


def _move_on(view: Json, record: Record) -> None:
    view["k"] = record.k
    view["position"] = record.p
    view["event_id"] = record.id
    view["lanes"][record.id.rpartition(".")[0]]["last"] = record.k


def apply_op(view: Json, op: Op, text: str) -> None:
    """Make one change."""
    what = op[0]
    path = op[1]
    part = view
    for step in path[:-1]:
        part = part[step]
    name = path[-1]
    if what == "x":
        part.pop(name, None)
        return
    # A view does not share its parts with a record: later records change them.
    value = msgspec.to_builtins(op[2]) if isinstance(op[2], dict | list) else op[2]
    if len(op) > _PLAIN_OP:
        value[op[3]] = text
    part[name] = value if what == "s" else [*part.get(name, ()), value][-list_items_max:]


def cut(text: str, chars_max: int) -> str:
    """A text of bounded length."""
    return text if len(text) <= chars_max else f"{text[: chars_max - 1]}…"


def empty_view(role: str) -> Json:
    """The view before the first event."""
    tables: Json = {
        name: {}
        for name in ("runs", "graphs", "creatures", "channels", "wires", "lanes", "approvals", "tools")
    }
    about = {"k": 0, "position": 0, "event_id": "", "role": role, "scene": {}}
    return {**about, **tables, "contest": {"teams": {}, "score": {}, "verdicts": [], "sealed": {}}}
