"""The parts of `session.restated`: what a branch or resumed session carries over from its past (ADR 0031, ADR 0049).

Always holds: everything has its old name here; the event itself maps old names to new ones. The folds have structs of
their own, in the form that suits snapshots, and convert to and from these. A fold may subclass a struct here while the
fields are equal. When the fold's fields change, it declares its own struct, so the ledger's format stays.
"""

from __future__ import annotations

import msgspec

from glasshouse.events.event import Json
from glasshouse.events.model_use import NOTHING, Usage


class CarriedPart(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """The base of all parts: unknown fields are refused, default values are not written."""


class CarriedStay(CarriedPart, frozen=True):
    """When a creature was in a graph, in lamport times, and its handle when it left. No `until`: it is still there."""

    graph_id: str
    since: int
    until: int | None = None
    handle: str = ""


class CarriedSpan(CarriedPart, frozen=True):
    """A period in which a creature listened. No `until`: it still listens."""

    since: int
    until: int | None = None


class CarriedEar(CarriedPart, frozen=True):
    """When a creature listened on a channel. If `is_full`, it also sees what was said before it joined."""

    is_full: bool
    spans: list[CarriedSpan] = []


class CarriedWire(CarriedPart, frozen=True):
    """A wire to a creature, and when it existed. No `until`: it still exists."""

    source: str
    target: str
    since: int
    until: int | None = None
    with_content: bool = True
    prompt: str | None = None
    when: str | None = None


class CarriedCreature(CarriedPart, frozen=True):
    """One creature's past: the graphs it was in, what it listened on, and how its edges are ordered."""

    stays: list[CarriedStay] = []
    ears: dict[str, CarriedEar] = {}
    channels: list[str] = []
    ordinal: int = 0
    reborn: list[str] = []
    """The sessions that took its past over before, the earliest first."""
    handed: dict[str, list[CarriedWire]] = {}
    """The wires that led to it, by their old ids."""
    strange: list[str] = []
    """Channels of another graph that it joins now. It does not see what was said there before."""


class CarriedShape(CarriedPart, frozen=True):
    """What a graph carries over of the world's state: its creatures and members."""

    name: str
    turn: int
    creatures: dict[str, CarriedCreature] = {}
    """All creatures with a past, in the order in which the graph has them."""
    newcomers: list[str] = []
    """Creatures without a past here. They see nothing of what was said before they came."""
    members: dict[str, list[str]] = {}
    """The members of each channel, in order."""
    born: dict[str, int] = {}
    """How many creatures were ever born in each run."""
    departed: dict[str, list[CarriedStay]] = {}
    """Creatures in other graphs or removed whose lines are still remembered: where they were, and their handles."""


class CarriedHandover(CarriedPart, frozen=True):
    """What a wire delivered with a line: whether its words, and what the receiver is asked."""

    with_content: bool = True
    asked: str = ""


class CarriedDebt(CarriedPart, frozen=True):
    """One act that a creature owes: its cause, the time of the cause, and the turn from which it is due."""

    cause: str
    lamport: int
    bundle: int = 0
    due: int = 1
    as_of: int | None = None
    """For a tick: the lamport time just before the first tick of its turn began; none if none has begun."""
    handed: CarriedHandover | None = None
    """What a wire delivered with the line; none if no wire did."""
    begun_by: str | None = None
    """For a tick in a batch: the first event of the batch in this turn. The whole batch sees the world before it."""
    was: str | None = None
    """The id of its creature in that world, if that world is from before a branch."""


class CarriedAct(CarriedPart, frozen=True):
    """An act that has written events but has not ended: its cause, and the ids of these events."""

    cause: str
    events: list[str]


class CarriedAgenda(CarriedPart, frozen=True):
    """The acts that creatures owe, by creature id."""

    owed: dict[str, list[CarriedDebt]] = {}
    ticks: dict[str, CarriedDebt] = {}
    stops: dict[str, int] = {}
    """How many bundles each creature has begun: one at each stop, and one for each full turn that left it something."""
    under_way: dict[str, CarriedAct] = {}
    reflections: dict[str, list[CarriedDebt]] = {}
    """The reflections that creatures owe, each with the line that caused it."""
    own_lines: dict[str, int] = {}
    """How many lines a creature that reflects by cadence has said since it last owed a reflection, if any."""


class CarriedLines(CarriedPart, frozen=True):
    """A range of consecutive lines of one session."""

    session_id: str
    first: int
    last: int
    via: list[str] = []
    """The sessions that took these lines over before, the earliest first."""


class CarriedTable(CarriedPart, frozen=True):
    """Where the newest lines of one place are, and how many older ones were dropped. See `RecentLines`."""

    spans: list[CarriedLines] = []
    count: int = 0
    dropped: int = 0
    speakers: dict[str, None] = {}


class CarriedNames(CarriedPart, frozen=True):
    """Old name -> new name of creatures, places and runs, for a past that was already taken over once."""

    creatures: dict[str, str]
    places: dict[str, str]
    runs: dict[str, str]


class CarriedRenaming(CarriedPart, frozen=True):
    """The present names of a past that these sessions took over, the earliest first."""

    via: list[str]
    names: CarriedNames


class CarriedTables(CarriedPart, frozen=True):
    """What was said in each place, what each creature missed of it, and what it was dealt. See `Tables`."""

    said: dict[str, CarriedTable] = {}
    missed: dict[str, dict[str, int]] = {}
    left: dict[str, dict[str, int]] = {}
    dealt: dict[str, Json] = {}
    renamed: list[CarriedRenaming] = []
    with_a_past: dict[str, int] = {}


class CarriedCounts(CarriedPart, frozen=True):
    """Calls and edits of each run in one part of a turn."""

    calls: dict[str, int] = {}
    edits: dict[str, int] = {}


class CarriedClocks(CarriedPart, frozen=True):
    """The counts of a graph: turns of each run; calls and edits of each run in the current turn. See `Clocks`."""

    turns: dict[str, int] = {}
    calls: dict[str, int] = {}
    turn: int = 0
    edits: dict[str, int] = {}
    shared: dict[str, CarriedCounts] = {}
    stale_lines: int = 0
    """How many lines in a row brought nothing new."""
    full_turns: dict[str, int] = {}
    """How many turns of each run were full."""


class CarriedAccount(CarriedPart, frozen=True):
    """What the model calls of one creature of the cast have cost."""

    cast_key: str
    model: str
    usage: Usage = NOTHING


class CarriedMinute(CarriedPart, frozen=True):
    """The money spent in one minute; `minute` counts from 1970."""

    minute: int
    usd: float


class CarriedRun(CarriedPart, frozen=True):
    """What a run has spent, and its result so far. See `Spent`."""

    seconds: float = 0.0
    usage: Usage = NOTHING
    turns: int = 0
    minutes: list[CarriedMinute] = []
    """The money spent in the last hour, by minute."""
    ends_counted: int = 0
    winner: str | None = None
    why: str | None = None
    truth: Json = {}
    knowers: list[str] = []
    accounts: dict[str, CarriedAccount] = {}
    full_turns: int = 0


class Carried(CarriedPart, frozen=True):
    """Everything that a graph carries over."""

    shape: CarriedShape
    agenda: CarriedAgenda = CarriedAgenda()
    tables: CarriedTables = CarriedTables()
    clocks: CarriedClocks = CarriedClocks()
    runs: dict[str, CarriedRun] = {}
