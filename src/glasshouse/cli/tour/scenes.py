"""What a scene of the tour shows, as values: the performance makes them, the drawing draws them.

Always holds: a scene carries everything that is shown of it, so drawing it needs no terrarium; `facts` says the same
to machines, with whole ids.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from glasshouse.cli.drawing.lanes import Descent


@dataclass(frozen=True)
class Lane:
    """A channel in a picture: its name and, by handle and where it is known, who sends and who listens."""

    name: str
    senders: tuple[str, ...] = ()
    listeners: tuple[str, ...] = ()
    is_name_only: bool = False


@dataclass(frozen=True)
class Pane:
    """One graph in a picture."""

    graph_id: str
    session_id: str
    handles: tuple[str, ...]
    lanes: tuple[Lane, ...]


@dataclass(frozen=True)
class Panes:
    """A picture of all graphs, side by side."""

    panes: tuple[Pane, ...]


@dataclass(frozen=True)
class Spoken:
    """Lines as they were said: who, where, what."""

    lines: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Told:
    """Events read back: the kind, the actor, and the gist of the payload."""

    rows: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Owed:
    """Who is owed an answer, and to whose lines."""

    rows: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Counts:
    """Facts with their names, and whether they are as they should be."""

    rows: tuple[tuple[str, str], ...]
    is_good: bool = True


@dataclass(frozen=True)
class Family:
    """Sessions, oldest first, to be drawn as lanes."""

    sessions: tuple[Descent, ...]


@dataclass(frozen=True)
class Timeline:
    """A session's history as a line, and a fork that leaves it after some events."""

    session_id: str
    events: int
    fork_id: str
    shared: int
    own: int


@dataclass(frozen=True)
class Note:
    """A remark by the way."""

    text: str


@dataclass(frozen=True)
class Words:
    """Sentences that something said back."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Pointers:
    """Where to go next: a command or a page, and what it is for."""

    rows: tuple[tuple[str, str], ...]


Shown: TypeAlias = Panes | Spoken | Told | Owed | Counts | Family | Timeline | Note | Words | Pointers


@dataclass(frozen=True)
class Scene:
    """One scene: what it is about, what is shown, and the bare facts."""

    key: str
    heading: str
    call: str
    sentence: str
    shown: tuple[Shown, ...]
    facts: dict[str, Any] = field(default_factory=dict)
