"""`Page`: the view of one story while events change it, with what the fold must know and no view shows.

Three modules fold events into it: `page_shape` (who is where), `page_talk` (what is said and done) and `page_runs` (what
runs have played and spent, and which answers are owed). `page_fold` calls them in order. The types here that are
structs are stored: a changed one needs a new `page.version`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from glasshouse.events.event import Event, Json
from glasshouse.events.model_use import Usage
from glasshouse.events.redaction import Role
from glasshouse.views.graph_names import NamesTaken
from glasshouse.views.page import Changes, Icon, empty_view
from glasshouse.views.timeline import Timeline
from glasshouse.world.state.state import Grant


class Debt(msgspec.Struct, array_like=True, gc=False):
    """An answer that a creature owes: the number of its cause, and the bundle that one act settles as a whole."""

    n: int
    bundle: int = 0


class Clock(msgspec.Struct, gc=False):
    """The turn of a graph, and how many turns each run has played along its line (ADR 0023)."""

    turn: int = 0
    turns: dict[str, int] = {}


class EndNotes(msgspec.Struct, array_like=True, gc=False):
    """What the end of a run refers to: how many lines its creatures said, and the events of its start, last line, verdict and
    scene."""

    lines: int = 0
    started: str = ""
    line: str = ""
    verdict: str = ""
    scene: str = ""
    visits: list[str] = []
    """What visitors said, as far as it is short: no branch suggests it once more."""


class Behind(msgspec.Struct):
    """What the fold needs to know and no view shows."""

    subscribers: dict[str, dict[str, None]] = {}
    """Kind -> the creatures that answer it."""
    roots: dict[str, None] = {}
    """The creatures that hear every channel of their graph."""
    members: dict[str, dict[str, None]] = {}
    """Graph -> its creatures."""
    channels_of: dict[str, dict[str, None]] = {}
    """Creature -> the channels it is on."""
    channels_in: dict[str, dict[str, int]] = {}
    """Graph -> its channels, each with its number by age."""
    channels_opened: int = 0
    troupes: dict[str, str] = {}
    """Creature -> the troupe of its world that it began in, where the world has several."""
    heirs: dict[str, str] = {}
    """Graph of a branch -> the name of the graph that it continues."""
    settled: dict[str, None] = {}
    """The graphs that something was played in: they keep their names."""
    owed: dict[str, dict[str, Debt]] = {}
    """Creature -> cause -> what it owes for it."""
    clocks: dict[str, Clock] = {}
    """Graph -> its clock."""
    usage: dict[str, Usage] = {}
    """Run -> what its model calls cost."""
    timeline: Timeline = msgspec.field(default_factory=Timeline)
    stops: dict[str, int] = {}
    """How many bundles each creature has begun: one at each stop, and one for each full turn that left it something."""
    grants: dict[str, dict[str, Grant]] = {}
    """Creature -> the tools of servers that it was granted, by the keys of their descriptions."""
    digests: dict[str, str] = {}
    """Key of a description -> the digest that its server's definition had."""
    said: dict[str, None] = {}
    """What visitors said: the ids of the newest, of those in several graphs at once that of the first event. And what the world
    showed: a digest of each scene."""
    asked: dict[str, dict[str, str]] = {}
    """Creature -> the arguments of the group tool that it has called, as texts."""
    end_notes: dict[str, EndNotes] = {}
    """Run -> what its end will refer to."""


class PageSnapshot(msgspec.Struct):
    """A view with what the fold needs beside it, as it is stored."""

    view: Json
    behind: Behind


class Page:
    """The view of one story for one role, what is behind it, and the changes of the event that is being folded."""

    def __init__(self, role: Role, snapshot: PageSnapshot | None = None) -> None:
        self.role = role
        self.view: Json = empty_view(role) if snapshot is None else snapshot.view
        self.behind = Behind() if snapshot is None else snapshot.behind
        self.changes = Changes(self.view)
        self.names = NamesTaken(self.view)

    def handle_of(self, creature: str) -> str:
        """The handle of a creature, or its id if the view does not have it."""
        known = self.view["creatures"].get(creature)
        return known["handle"] if known is not None else creature


FeedLine: TypeAlias = tuple[Icon, str]
"""How an event looks in the feed: its icon and its text."""

FoldOne: TypeAlias = Callable[[Page, Event, Event, int], FeedLine]
"""Folds an event of some kinds into a page. Takes the event, the same event as the role may read it, and its number."""
