"""The world as data: everything that decisions read and the fold writes.

Always holds: the ledger's `World` is a function of the ledger alone. Only the fold changes it (`fold/evolve.py`, which
names one exception), and it can be dropped and folded again. `runtime/past/what_if.py` changes a world that it folded
for a branch, which is no ledger's. Dicts are used instead of sets, because their order comes from the ledger and not
from hashes. The whole struct can be encoded to bytes; that is a snapshot (ADR 0007). Its parts form a tree without
cycles, so the garbage collector does not track them; for its sake, what is rarely added to is a tuple. Parts of which there are many are encoded as arrays: names of
fields would be half of a snapshot. So a new, moved or removed field needs a new version of the fold.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, Literal

import msgspec
from msgspec.structs import asdict

from glasshouse.events.described_tool import DescribedTool, GrantedTool
from glasshouse.events.event import Event, Json
from glasshouse.events.payloads import History, Recipe
from glasshouse.events.recorded_fields import ManifestFields, fields_of
from glasshouse.world.state.topology import Topology
from glasshouse.world.state.values import SessionOrigin, Wire


class Register(msgspec.Struct, gc=False, array_like=True):
    """Names and their owners, in the order in which they were taken.

    `lowest_free` is a hint for names that many share: every number from 2 up to it is taken.
    """

    owners: dict[str, str] = msgspec.field(default_factory=dict)
    lowest_free: dict[str, int] | None = None

    def take(self, name: str, owner: str) -> None:
        """Give a name to an owner. A taken name stays with its owner."""
        if self.owners.setdefault(name, owner) is not owner:
            return
        stem, mark, _ = name.partition("~")
        if mark:
            hints = self.lowest_free if self.lowest_free is not None else {}
            hints[stem] = first_free(stem, hints.get(stem, 2), self.owners)
            self.lowest_free = hints

    def release(self, name: str, owner: str) -> None:
        """Free a name of this owner."""
        if self.owners.get(name) != owner:
            return
        del self.owners[name]
        stem, mark, number = name.partition("~")
        if mark and self.lowest_free is not None:
            self.lowest_free[stem] = max(2, min(self.lowest_free.get(stem, 2), int(number)))

    def rename(self, old: str, new: str, owner: str) -> None:
        """Change the name of an owner."""
        self.release(old, owner)
        self.take(new, owner)


def first_free(stem: str, start: int, *taken: Collection[str]) -> int:
    """The first number from `start` that is free with this stem."""
    while any(f"{stem}~{start}" in names for names in taken):
        start += 1
    return start


def free_name(name: str, *registers: Register, also_taken: Collection[str] = ()) -> str:
    """The name itself if it is free, else the next free `name~2`."""
    taken = [also_taken, *[register.owners for register in registers]]
    if not any(name in names for names in taken):
        return name
    stem = name.partition("~")[0]
    start = max((register.lowest_free or {}).get(stem, 2) for register in registers)
    return f"{stem}~{first_free(stem, start, *taken)}"


class Parent(msgspec.Struct, frozen=True, gc=False):
    """A segment that another grows from, and the last seq of it that the other sees."""

    session_id: str
    upto: int


class Segment(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """How a session began: what a store keeps of it beside its events.

    Lamport times are dense within a segment: the event at `seq` has the time `base + seq`. `ordinal` counts the
    sessions of the terrarium in which it began. It breaks ties of time before the id does, because ids may be random
    (ADR 0005).
    """

    id: str
    graph_id: str
    origin: SessionOrigin
    ordinal: int
    base: int = 0
    parents: tuple[Parent, ...] = ()
    at: str | None = None
    is_imported: bool = False
    is_redacted: bool = False


class SessionState(msgspec.Struct, gc=False, array_like=True):
    """A session: its segment, the last seq written, and the seq at which each creature joined or left."""

    segment: Segment
    head: int = 0
    children: list[str] | None = None
    joined: dict[str, int] | None = None
    left: dict[str, int] | None = None
    recipes: tuple[Recipe, ...] = ()
    skew: int = 0
    """How far its times are ahead of the story's. Events that only restate a past are not part of the story."""
    runs: tuple[str, ...] = ()
    """The runs whose story includes everything in it: those that began in it, and those of its parent sessions."""
    writers: tuple[str, ...] = ()
    """The runs that wrote something in it, or were given a creature in it."""
    began_at: datetime | None = None
    """The wall time of the merge, split or fork that began it."""
    rank: int = 0
    """The order of sessions that have events at the same story time: by age. A session that continues another has the
    rank of that one."""

    @property
    def lamport(self) -> int:
        """The logical time of the last event written."""
        return self.segment.base + self.head

    def story_time(self, seq: int) -> int:
        """The time of an event in its story: events that only restate a past do not count."""
        return self.segment.base + seq - self.skew

    def note_run(self, run_id: str) -> None:
        """Note that everything in the session is part of this run's story."""
        if run_id not in self.runs:
            self.runs += (run_id,)

    def note_writer(self, run_id: str) -> None:
        """Note that this run wrote in the session, or was given a creature in it."""
        if run_id not in self.writers:
            self.writers += (run_id,)


class Ear(msgspec.Struct, gc=False, array_like=True):
    """When a creature listened on one channel: lamport times of begin and end, alternating; odd length means now."""

    is_full: bool
    spans: tuple[int, ...]

    @property
    def is_open(self) -> bool:
        """Whether the creature listens now."""
        return len(self.spans) % 2 == 1


class Stay(msgspec.Struct, gc=False, array_like=True):
    """When a creature was a member of one graph, in lamport times, and its handle when it left.

    No end means now: then the handle is the creature's current one.
    """

    graph_id: str
    since: int
    until: int | None = None
    handle: str = ""


class Handing(msgspec.Struct, gc=False, array_like=True):
    """When one wire handed lines to a creature, in lamport times; no end means now."""

    wire: Wire
    since: int
    until: int | None = None


class Grant(msgspec.Struct, gc=False, array_like=True):
    """A tool of a server that a creature was granted. Descriptions are in `World.tools`, by these keys."""

    granted: str
    now: str | None = None
    """How its server describes it now, if that is different and nobody has accepted it: then it is withheld."""


class CreatureState(msgspec.Struct, gc=False, array_like=True):
    """A live creature."""

    id: str
    handle: str
    graph_id: str
    cast_key: str
    manifest_digest: str
    born: int
    stays: tuple[Stay, ...]
    ears: dict[str, Ear]
    run_id: str | None = None
    parent: str | None = None
    is_privileged: bool = False
    is_running: bool = True
    ordinal: int = 0
    """Its number in its run. It identifies the creature even if a branch gives it another id."""
    reborn: tuple[str, ...] = ()
    """The sessions through which its past was carried, oldest first."""
    is_root: bool = False
    """Whether it hears every channel of its graph, with or without an edge to it."""
    handed: dict[str, list[Handing]] | None = None
    """The wires that ever led to it, by edge id."""
    may_spawn: dict[str, Json] | None = None
    """Name -> manifest of the creatures that it may add besides those that its run allows."""
    played_by_code: str = ""
    """The class of the Python object that plays it; empty if its manifest does."""
    grants: dict[str, Grant] | None = None
    """The tools of servers that it was granted, by name."""


class Departed(msgspec.Struct, gc=False, array_like=True):
    """A removed creature as it was at its end, and the event that removed it."""

    creature: CreatureState
    at: str


class ChannelState(msgspec.Struct, gc=False, array_like=True):
    """An open channel; its edges are in the topology."""

    id: str
    name: str
    description: str
    history: History
    graph_id: str
    born: int


class GraphState(msgspec.Struct, gc=False, array_like=True):
    """An open graph: its members and channels by name, its session, its turn."""

    id: str
    name: str
    session_id: str
    born: int
    turn: int = 0
    creatures: dict[str, None] = msgspec.field(default_factory=dict)
    handles: Register = msgspec.field(default_factory=Register)
    channels: Register = msgspec.field(default_factory=Register)
    roots: dict[str, None] = msgspec.field(default_factory=dict)
    """The members that hear every channel."""


class ManifestFacts(ManifestFields, frozen=True, gc=False):
    """The fields of a manifest that rules read, and the manifest itself."""

    manifest: Json = msgspec.field(default_factory=dict)


def manifest_facts(manifest: Json) -> ManifestFacts:
    """A manifest with the fields that rules read."""
    return ManifestFacts(**asdict(fields_of(manifest)), manifest=manifest)


RunStatus = Literal["playing", "paused", "finished"]


class RunFacts(msgspec.Struct, gc=False, array_like=True):
    """What the world knows of a run: where it started, and whether its creatures may act."""

    id: str
    session_id: str
    status: RunStatus = "playing"
    is_begun: bool = False
    creatures_born: int = 0
    grown_in: tuple[str, ...] = ()
    """Of a branch or a resumed run: all sessions it started with."""
    creatures_living: int = 0


class Standing(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, omit_defaults=True):
    """The counters of a house from which the ids and numbers of what is made next follow."""

    births: int = 0
    roots: int = 0
    sessions_begun: int = 0
    numbers_given: dict[str, int] = {}


class World(msgspec.Struct, dict=True):
    """The state folded from the ledger."""

    house_id: str = ""
    creatures: dict[str, CreatureState] = msgspec.field(default_factory=dict)
    departed: dict[str, Departed] = msgspec.field(default_factory=dict)
    """Removed creatures, up to a bound; the oldest are forgotten."""
    remembered: dict[str, list[Stay]] = msgspec.field(default_factory=dict)
    """The stays of creatures that are only known from a restated past, by their old ids."""
    channels: dict[str, ChannelState] = msgspec.field(default_factory=dict)
    wires: dict[str, Wire] = msgspec.field(default_factory=dict)
    wires_of: dict[str, dict[str, None]] = msgspec.field(default_factory=dict)
    children_of: dict[str, dict[str, None]] = msgspec.field(default_factory=dict)
    graphs: dict[str, GraphState] = msgspec.field(default_factory=dict)
    sessions: dict[str, SessionState] = msgspec.field(default_factory=dict)
    topology: Topology = msgspec.field(default_factory=Topology)
    manifests: dict[str, ManifestFacts] = msgspec.field(default_factory=dict)
    tools: dict[str, DescribedTool] = msgspec.field(default_factory=dict)
    """The descriptions of servers' tools, by their keys. Many creatures may share one."""
    runs: dict[str, RunFacts] = msgspec.field(default_factory=dict)
    open_runs: dict[str, None] = msgspec.field(default_factory=dict)
    """The runs that have not finished, in the order of `runs`."""
    graphs_by_run: dict[str, dict[str, int]] = msgspec.field(default_factory=dict)
    """Run id -> the graphs that its living creatures are in, each with how many of them. The empty name stands for
    creatures without a run."""
    numbers_given: dict[str, int] = msgspec.field(default_factory=dict)
    births: int = 0
    roots: int = 0
    sessions_begun: int = 0

    def __post_init__(self) -> None:
        self.shape_cache: dict[object, Any] = {}
        """Values computed from the shape of the world, such as who is where, and from the status of runs. `evolve` clears
        it when these change."""

    def facts_of(self, creature: CreatureState) -> ManifestFacts:
        """What the world knows of a creature's manifest."""
        return self.manifests[creature.manifest_digest]

    def granted_to(self, creature: CreatureState) -> list[GrantedTool]:
        """The tools of servers that a creature was granted, in the order of its manifest."""
        grants = (creature.grants or {}).values()
        return [GrantedTool(self.tools[grant.granted], self.tools.get(grant.now or "")) for grant in grants]

    def ever(self, creature_id: str) -> CreatureState | None:
        """A live creature, or a removed one as it was at its end."""
        gone = self.departed.get(creature_id)
        return self.creatures.get(creature_id) or (None if gone is None else gone.creature)

    def by_age(self, creature_ids: Iterable[str]) -> list[str]:
        """Live creatures, oldest first."""
        creatures = self.creatures
        # A merge sorts up to a thousand names. A method of a dict as the key costs a third of a function.
        born = {name: creatures[name].born for name in creature_ids}
        return sorted(born, key=born.__getitem__)

    def is_finished(self, run_id: str | None) -> bool:
        """Whether this run has finished."""
        run = self.runs.get(run_id or "")
        return run is not None and run.status == "finished"

    def graphs_of(self, *run_ids: str) -> dict[str, GraphState]:
        """The graphs of the living creatures of these runs, oldest first. Finished runs that are not named cost
        nothing."""
        graphs: dict[str, GraphState] | None = self.shape_cache.get((GraphState, run_ids))
        if graphs is None:
            names = {name: None for run_id in run_ids for name in self.graphs_by_run.get(run_id, ())}
            by_age = sorted([self.graphs[name] for name in names], key=lambda graph: graph.born)
            graphs = self.shape_cache[GraphState, run_ids] = {graph.id: graph for graph in by_age}
        return graphs

    def graphs_in_play(self) -> dict[str, GraphState]:
        """The graphs with a creature whose run has not finished, oldest first."""
        return self.graphs_of("", *self.open_runs)

    def creatures_of(self, run_id: str) -> list[CreatureState]:
        """The living creatures of a run, graph by graph."""
        names = [name for graph in self.graphs_of(run_id).values() for name in graph.creatures]
        return [creature for name in names if (creature := self.creatures[name]).run_id == run_id]

    def session_of(self, graph: GraphState) -> SessionState:
        """The session that a graph writes into."""
        return self.sessions[graph.session_id]

    def story_time(self, event: Event) -> int:
        """The time of an event in its story: events that only restate a past do not count."""
        return event.lamport - self.sessions[event.session_id].skew
