"""What `session.restated` carries over from a past: who heard what, who owes an act, what was said, dealt and spent.

Always holds: everything has its old name; the event maps old names to new ones. The folds keep their own structs and
convert to and from these, so a fold can change without changing the ledger.
"""

from __future__ import annotations

import msgspec

from glasshouse.events.event import Json
from glasshouse.events.model_use import NOTHING, Usage


class CarriedPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What every part shares: strict fields, defaults left out."""


class CarriedStay(CarriedPart, frozen=True):
    """When a creature was in a graph, in lamport times, and the handle it had when it left. No end means now."""

    graph_id: str
    since: int
    until: int | None = None
    handle: str = ""


class CarriedSpan(CarriedPart, frozen=True):
    """A time in which somebody listened. No end means now."""

    since: int
    until: int | None = None


class CarriedEar(CarriedPart, frozen=True):
    """When a creature listened on a channel, and whether it also sees what was said before."""

    is_full: bool
    spans: list[CarriedSpan] = []


class CarriedWire(CarriedPart, frozen=True):
    """A wire as it was while it led to a creature. No end means now."""

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
    reborn: str = ""
    """The sessions by which its own past was taken over before, the first one first."""
    handed: dict[str, list[CarriedWire]] = {}
    """The wires that led to it, by the ids they had."""
    strange: list[str] = []
    """Channels of another graph that it comes to: what was said there before is not its own past."""


class CarriedAges(CarriedPart, frozen=True):
    """Who came before whom among all that live again together, in every graph: the oldest is number 1."""

    creatures: dict[str, int]
    channels: dict[str, int]
    told: int
    """How many have been told of once this graph has been."""


class CarriedShape(CarriedPart, frozen=True):
    """What a graph carries of the world itself."""

    name: str
    turn: int
    creatures: dict[str, CarriedCreature] = {}
    """Everybody, in the order in which the graph has them."""
    newcomers: list[str] = []
    """Those who have no past here, and see nothing of what was said before they came."""
    members: dict[str, list[str]] = {}
    """Who is on each channel, in order."""
    born: dict[str, int] = {}
    """How many creatures each run has brought forth."""
    ages: CarriedAges | None = None
    """None where one graph lives again alone: it is told in the order of age."""
    departed: dict[str, list[CarriedStay]] = {}
    """Those who are elsewhere or gone, and whose lines are still remembered: where they were, and their handles."""


class CarriedHandover(CarriedPart, frozen=True):
    """What a wire gave along with a line: whether its words, and what the one who gets it is asked."""

    with_content: bool = True
    asked: str = ""


class CarriedDebt(CarriedPart, frozen=True):
    """One act that a creature owes: its cause, when it happened, the turn from which it is due."""

    cause: str
    lamport: int
    bundle: int = 0
    due: int = 1
    as_of: int | None = None
    handed: CarriedHandover | None = None
    begun_by: str | None = None
    was: str | None = None


class CarriedAct(CarriedPart, frozen=True):
    """An act that has written something and has not ended: its cause, and the events it has written."""

    cause: str
    events: list[str]


class CarriedAgenda(CarriedPart, frozen=True):
    """What the creatures owe, by creature."""

    owed: dict[str, list[CarriedDebt]] = {}
    ticks: dict[str, CarriedDebt] = {}
    stops: dict[str, int] = {}
    """How often each was stopped."""
    under_way: dict[str, CarriedAct] = {}


class CarriedLines(CarriedPart, frozen=True):
    """Lines that stand one behind the other in one session."""

    session_id: str
    first: int
    last: int
    via: str = ""
    """The sessions by which they were taken over before."""


class CarriedTable(CarriedPart, frozen=True):
    """Where the newest lines of one place stand, and how many were dropped before them."""

    spans: list[CarriedLines] = []
    count: int = 0
    dropped: int = 0
    speakers: dict[str, None] = {}


class CarriedNames(CarriedPart, frozen=True):
    """What creatures, places and runs were called after an earlier past was taken over, by what they were before."""

    creatures: dict[str, str]
    places: dict[str, str]
    runs: dict[str, str]


class CarriedTables(CarriedPart, frozen=True):
    """What was said, by place; and what each creature missed of it, or alone was told."""

    said: dict[str, CarriedTable] = {}
    missed: dict[str, dict[str, int]] = {}
    left: dict[str, dict[str, int]] = {}
    dealt: dict[str, Json] = {}
    renamed: dict[str, CarriedNames] = {}
    with_a_past: dict[str, int] = {}


class CarriedCounts(CarriedPart, frozen=True):
    """Calls and edits of each run in one stretch of a turn."""

    calls: dict[str, int] = {}
    edits: dict[str, int] = {}


class CarriedClocks(CarriedPart, frozen=True):
    """How a graph's clock stands: turns of each run; calls and edits of each run in the present turn."""

    turns: dict[str, int] = {}
    calls: dict[str, int] = {}
    turn: int = 0
    edits: dict[str, int] = {}
    shared: dict[str, CarriedCounts] = {}


class CarriedAccount(CarriedPart, frozen=True):
    """What one creature of the cast has cost."""

    cast_key: str
    model: str
    usage: Usage = NOTHING


class CarriedMinute(CarriedPart, frozen=True):
    """The money of one minute of the clock, counted from 1970."""

    minute: int
    usd: float


class CarriedRun(CarriedPart, frozen=True):
    """What a run has behind it."""

    seconds: float = 0.0
    usage: Usage = NOTHING
    turns: int = 0
    minutes: list[CarriedMinute] = []
    """The money of the last hour."""
    ends_counted: int = 0
    verdict: str | None = None
    winner: str | None = None
    why: str | None = None
    truth: Json = {}
    knowers: list[str] = []
    accounts: dict[str, CarriedAccount] = {}


class Carried(CarriedPart, frozen=True):
    """All that a graph takes over."""

    shape: CarriedShape
    agenda: CarriedAgenda = CarriedAgenda()
    tables: CarriedTables = CarriedTables()
    clocks: CarriedClocks = CarriedClocks()
    runs: dict[str, CarriedRun] = {}
