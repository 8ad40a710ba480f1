"""A plain, slow model of the rules of the graph, to hold the real world against.

It keeps edges as one set and works everything else out again from nothing after every change: components by brute
force, graphs by the survivor rules, names by the `~2` rule. It knows no event, no fold and no id that is a hash:
graphs, channels and sessions are numbers in order of birth. Histories are whole lists, copied and never shared.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import Literal

Direction = Literal["listen", "send"]
Kind = Literal["merge", "split", "nothing"]
MID_ACT = frozenset({"tool.called", "tool.returned"})


class Refusal(Exception):
    """The model would refuse this."""


@dataclass
class Member:
    """A creature."""

    id: str
    handle: str
    cast_key: str
    age: int
    subscribes_to: frozenset[str]
    may_emit: frozenset[str]
    graph: int | None = None
    parent: str | None = None
    is_privileged: bool = False
    is_running: bool = True
    stops: int = 0
    mailbox: list[tuple[str, int]] = field(default_factory=list)


@dataclass
class Channel:
    """A channel. Its name is none until the engine has told the name it made up."""

    number: int
    name: str | None
    graph: int


@dataclass(frozen=True)
class EventRead:
    """What the model reads of an event."""

    id: str
    kind: str
    actor: str
    channel: int | None = None
    caused_by: str | None = None


@dataclass
class Book:
    """A session: all that it remembers, as a list of its own. Entries are (lamport, session, seq, event id)."""

    number: int
    graph: int
    origin: str
    parents: tuple[int, ...]
    agents: set[str]
    history: list[tuple[int, int, int, str]] = field(default_factory=list)
    written: int = 0


@dataclass
class Outcome:
    """What a change does to the shape of the world."""

    kind: Kind = "nothing"
    old: tuple[int, ...] = ()
    new: tuple[int, ...] = ()
    affected: tuple[str, ...] = ()
    renamed: set[tuple[str, str, str]] = field(default_factory=set)
    parted_wires: set[tuple[str, str]] = field(default_factory=set)
    is_told: bool = True
    """Whether one `topology.changed` tells of it."""


def free(name: str, taken: Container[str]) -> str:
    """The name, or the next free `name~2`."""
    if name not in taken:
        return name
    stem, number = name.split("~", maxsplit=1)[0], 2
    while f"{stem}~{number}" in taken:
        number += 1
    return f"{stem}~{number}"


class ReferenceModel:
    """The whole terrarium, worked out the slow way."""

    def __init__(self) -> None:
        self.edges: set[tuple[str, int, Direction]] = set()
        self.members: dict[str, Member] = {}
        self.channels: dict[int, Channel] = {}
        self.wires: dict[tuple[str, str], tuple[bool, str | None]] = {}
        self.sessions: list[Book] = []
        self.session_of: dict[int, int] = {}
        self.ids_given: list[str] = []
        self.unwritten: list[Book] = []
        self._graph_numbers = 0
        self._channel_numbers = 0

    def member(self, name: str) -> Member:
        """A live creature."""
        if name not in self.members:
            raise Refusal(f"no creature {name}")
        return self.members[name]

    def members_of(self, graph: int | None) -> list[Member]:
        """The creatures of a graph, oldest first."""
        return sorted((m for m in self.members.values() if m.graph == graph), key=lambda m: m.age)

    def channels_of(self, graph: int | None) -> dict[str, Channel]:
        """The named channels of a graph."""
        return {p.name: p for p in self.channels.values() if p.graph == graph and p.name is not None}

    def _channel(self, graph: int | None, name: str) -> Channel:
        channel = self.channels_of(graph).get(name)
        if channel is None:
            raise Refusal(f"no channel {name}")
        return channel

    # The calls

    def add(
        self, cast_key: str, subscribes_to: Iterable[str], may_emit: Iterable[str], *, graph: int | None = None,
        handle: str | None = None, is_privileged: bool = False, parent: str | None = None, channel: str | None = None,
    ) -> tuple[str, Outcome]:  # fmt: skip
        """A new creature, alone or in a graph: on the channel named, its only one, or a new one with its oldest."""
        if parent is not None:
            self.member(parent)
        if graph is not None and graph not in self.session_of:
            raise Refusal("no such graph")
        handles = {m.handle for m in self.members_of(graph)} if graph is not None else set()
        if handle in handles:
            raise Refusal("handle taken")
        if channel is not None and graph is None:
            raise Refusal("a channel of no graph")
        open_here = [] if graph is None else [p for p in self.channels.values() if p.graph == graph]
        only = open_here[0] if len(open_here) == 1 else None
        joined = self._channel(graph, channel) if channel is not None else only
        number = sum(name.split("~")[0] == cast_key for name in self.ids_given)
        name = cast_key if number == 0 else f"{cast_key}~{number + 1}"
        others = [m.id for m in self.members_of(graph)] if graph is not None else []
        self.members[name] = Member(
            name, handle or free(cast_key, handles), cast_key, len(self.ids_given),
            frozenset(subscribes_to), frozenset(may_emit), None, parent, is_privileged,
        )  # fmt: skip
        self.ids_given.append(name)
        if graph is not None:
            there = joined or self._opened(graph, None)
            is_used = any(where == there.number for _, where, _ in self.edges)
            for who in [name] if is_used else [others[0], name]:
                self.edges |= {(who, there.number, "listen"), (who, there.number, "send")}
        return name, self._reshaped(touched=graph, affected=(name,))

    def remove(self, name: str) -> Outcome:
        """A creature gone with its edges and wires, and with the channels it had with its parent alone; its children go
        to its parent."""
        gone = self.member(name)
        for number in list(self.channels):
            on_it = {who for who, where, _ in self.edges if where == number}
            if on_it == {name, gone.parent}:
                self.edges = {edge for edge in self.edges if edge[1] != number}
                del self.channels[number]
        self.edges = {edge for edge in self.edges if edge[0] != name}
        self.wires = {ends: how for ends, how in self.wires.items() if name not in ends}
        for other in self.members.values():
            if other.parent == name:
                other.parent = gone.parent
        del self.members[name]
        return self._reshaped(touched=gone.graph, affected=(name,))

    def set_running(self, name: str, *, is_running: bool) -> Outcome:
        """Start or stop."""
        member = self.member(name)
        member.stops += member.is_running and not is_running
        member.is_running = is_running
        return Outcome(is_told=False)

    def grant_privilege(self, name: str) -> Outcome:
        """Privilege, once."""
        self.member(name).is_privileged = True
        return Outcome(is_told=False)

    def revoke_privilege(self, name: str) -> Outcome:
        """No privilege any more."""
        self.member(name).is_privileged = False
        return Outcome(is_told=False)

    def set_parent(self, name: str, parent: str | None) -> Outcome:
        """Another parent, who does not descend from the creature."""
        child, ancestor = self.member(name), None if parent is None else self.member(parent)
        while ancestor is not None:
            if ancestor is child:
                raise Refusal("a circle")
            ancestor = self.members.get(ancestor.parent or "")
        child.parent = parent
        return Outcome(is_told=False)

    def rename_channel(self, graph: int, name: str, new_name: str) -> Outcome:
        """Another name, that is free."""
        if graph not in self.session_of:
            raise Refusal("no such graph")
        channel = self._channel(graph, name)
        if new_name == name:
            return Outcome(is_told=False)
        if new_name in self.channels_of(graph):
            raise Refusal("name taken")
        channel.name = new_name
        return Outcome(is_told=False, renamed={(str(channel.number), name, new_name)})

    def add_channel(self, graph: int, name: str) -> Outcome:
        """A channel nobody is on."""
        if graph not in self.session_of or name in self.channels_of(graph):
            raise Refusal("no graph, or name taken")
        self._opened(graph, name)
        return Outcome(is_told=False)

    def remove_channel(self, graph: int, name: str) -> Outcome:
        """A channel gone with its edges."""
        if graph not in self.session_of:
            raise Refusal("no such graph")
        channel = self._channel(graph, name)
        self.edges = {edge for edge in self.edges if edge[1] != channel.number}
        del self.channels[channel.number]
        return self._reshaped(touched=graph)

    def connect(self, source: str, target: str, channel: str | None, *, both: bool) -> Outcome:
        """`source` sends, `target` listens."""
        a, b = self.member(source), self.member(target)
        if a is b:
            raise Refusal("itself")
        known = None
        if channel is not None:
            known = self.channels_of(a.graph).get(channel) or self.channels_of(b.graph).get(channel)
        is_new = known is None
        joined = known or self._opened(a.graph, channel)
        wanted: set[tuple[str, int, Direction]] = {
            (source, joined.number, "send"),
            (target, joined.number, "listen"),
        }
        if both:
            wanted |= {(source, joined.number, "listen"), (target, joined.number, "send")}
        if wanted <= self.edges:
            return Outcome(old=(a.graph or 0,), new=(a.graph or 0,), is_told=False)
        self.edges |= wanted
        return self._reshaped(touched=a.graph, opened=joined if is_new else None)

    def disconnect(self, source: str, target: str, channel: str | None) -> Outcome:
        """`source` no longer sends where `target` no longer listens."""
        a, b = self.member(source), self.member(target)
        if a is b:
            raise Refusal("itself")
        wanted = set(self.channels) if channel is None else {self._channel(a.graph, channel).number}
        shared = {p for p in wanted if {(source, p, "send"), (target, p, "listen")} <= self.edges}
        if not shared:
            raise Refusal("not connected")
        for number in shared:
            self.edges -= {(source, number, "send"), (target, number, "listen")}
        return self._reshaped(touched=a.graph)

    def wire(self, source: str, target: str, with_content: bool, prompt: str | None) -> Outcome:
        """An output wire within one graph."""
        a, b = self.member(source), self.member(target)
        if a is b or a.graph != b.graph:
            raise Refusal("not in one graph")
        self.wires[source, target] = (with_content, prompt)
        return Outcome(is_told=False)

    def unwire(self, source: str, target: str) -> Outcome:
        """A wire taken away."""
        graph = self.member(source).graph or 0
        self.member(target)
        if (source, target) not in self.wires:
            raise Refusal("no wire")
        del self.wires[source, target]
        return Outcome(old=(graph,), new=(graph,), is_told=False)

    def say(self, name: str, kind: str, channel: str | None) -> int | None:
        """Check that a creature may say this there; the channel it goes to."""
        member = self.member(name)
        if kind not in member.may_emit:
            raise Refusal("kind not granted")
        if channel is None:
            return None
        said_on = self._channel(member.graph, channel)
        if (name, said_on.number, "send") not in self.edges:
            raise Refusal("does not send there")
        return said_on.number

    def fork(self, session: int, at: str) -> Book:
        """A session that shares the past up to the end of the batch of `at`; `history` is set when it is written."""
        if at not in [event for _, _, _, event in self.sessions[session].history]:
            raise Refusal("not in that history")
        self._graph_numbers += 1
        return self._begun(self._graph_numbers, "fork", (), set())

    # What a change leads to, from nothing

    def _opened(self, graph: int | None, name: str | None) -> Channel:
        self._channel_numbers += 1
        self.channels[self._channel_numbers] = Channel(self._channel_numbers, name, graph or 0)
        return self.channels[self._channel_numbers]

    def _begun(self, graph: int, origin: str, parents: tuple[int, ...], agents: set[str]) -> Book:
        book = Book(len(self.sessions), graph, origin, parents, agents)
        self.sessions.append(book)
        self.unwritten.append(book)
        return book

    def components(self) -> list[list[Member]]:
        """Who is joined to whom by channels, the oldest first: brute force."""
        parts: list[set[str]] = [{name} for name in self.members]
        for number in {number for _, number, _ in self.edges}:
            on_it = {name for name, where, _ in self.edges if where == number}
            joined = set().union(*(part for part in parts if part & on_it))
            parts = [part for part in parts if not part & on_it] + [joined]
        by_age = [sorted((self.members[n] for n in part), key=lambda m: m.age) for part in parts]
        return sorted(by_age, key=lambda part: part[0].age)

    def _reshaped(
        self, touched: int | None, affected: tuple[str, ...] = (), opened: Channel | None = None
    ) -> Outcome:
        parts = self.components()
        for part in parts:
            before = {m.graph for m in part if m.graph is not None}
            if len(before) == 2:
                return self._merged(before, opened)
            if not before:
                return self._born(part, affected)
        if touched is None or touched not in {m.graph for m in self.members.values()}:
            return self._closed(touched, affected)
        sides = [part for part in parts if any(m.graph == touched for m in part)]
        if len(sides) > 1:
            return self._split(touched, sides)
        for member in sides[0]:
            member.graph = touched
        self.sessions[self.session_of[touched]].agents |= {m.id for m in sides[0]}
        return Outcome("nothing", (touched,), (touched,), affected)

    def _born(self, part: list[Member], affected: tuple[str, ...]) -> Outcome:
        self._graph_numbers += 1
        part[0].graph = graph = self._graph_numbers
        self.session_of[graph] = self._begun(graph, "root", (), {part[0].id}).number
        return Outcome("nothing", (), (graph,), affected)

    def _closed(self, graph: int | None, affected: tuple[str, ...]) -> Outcome:
        self.channels = {n: p for n, p in self.channels.items() if p.graph != graph}
        del self.session_of[graph or 0]
        return Outcome("nothing", (graph or 0,), (), affected)

    def _merged(self, graphs: set[int], opened: Channel | None) -> Outcome:
        survivor, dropped = sorted(graphs, key=lambda g: (-len(self.members_of(g)), g))
        moved = self.members_of(dropped)
        if opened is not None:
            del self.channels[opened.number]
        renamed = self._renamed(survivor, dropped, opened.name if opened is not None else None)
        for member in moved:
            member.graph = survivor
        for channel in self.channels.values():
            channel.graph = survivor if channel.graph == dropped else channel.graph
        if opened is not None:
            self.channels[opened.number] = opened
            opened.graph = survivor
        parents = (self.session_of[survivor], self.session_of.pop(dropped))
        everybody = {m.id for m in self.members_of(survivor)}
        self.session_of[survivor] = self._begun(survivor, "merge", parents, everybody).number
        return Outcome("merge", (survivor, dropped), (survivor,), tuple(m.id for m in moved), renamed)

    def _renamed(self, survivor: int, dropped: int, asked_for: str | None) -> set[tuple[str, str, str]]:
        """Clashing names of the dropped side get the next free one; a name asked for in this call is not free."""
        renamed: set[tuple[str, str, str]] = set()
        handles = {m.handle for g in (survivor, dropped) for m in self.members_of(g)}
        for member in self.members_of(dropped):
            if member.handle in {m.handle for m in self.members_of(survivor)}:
                old, member.handle = member.handle, free(member.handle, handles)
                handles.add(member.handle)
                renamed.add((member.id, old, member.handle))
        names = {*self.channels_of(survivor), *self.channels_of(dropped), *([asked_for] if asked_for else [])}
        kept = set(self.channels_of(survivor))
        for channel in [p for n, p in sorted(self.channels.items()) if p.graph == dropped]:
            if channel.name in kept:
                old, channel.name = channel.name or "", free(channel.name or "", names)
                names.add(channel.name)
                renamed.add((str(channel.number), old, channel.name))
        return renamed

    def _split(self, graph: int, sides: list[list[Member]]) -> Outcome:
        survivor = max(sides, key=lambda side: (len(side), -side[0].age))
        others = [side for side in sides if side is not survivor]
        moved = sorted((m for side in others for m in side), key=lambda m: m.age)
        parent = self.session_of[graph]
        numbers = [graph]
        self.session_of[graph] = self._begun(graph, "split", (parent,), {m.id for m in survivor}).number
        for side in others:
            self._graph_numbers += 1
            numbers.append(self._graph_numbers)
            book = self._begun(self._graph_numbers, "split", (parent,), {m.id for m in side})
            self.session_of[self._graph_numbers] = book.number
            for member in side:
                member.graph = self._graph_numbers
        for name, number, _ in self.edges:
            self.channels[number].graph = self.members[name].graph or 0
        parted = {(a, b) for a, b in self.wires if self.members[a].graph != self.members[b].graph}
        self.wires = {ends: how for ends, how in self.wires.items() if ends not in parted}
        affected = tuple(m.id for m in moved)
        return Outcome("split", (graph,), tuple(numbers), affected, parted_wires=parted)

    # Histories and mail

    def open_book(self, fork_of: list[tuple[int, int, int, str]] | None = None) -> Book:
        """The next session that was begun gets its first event: from here it holds its parents' past."""
        book = self.unwritten.pop(0)
        past = {entry for number in book.parents for entry in self.sessions[number].history}
        book.history = sorted(past) if fork_of is None else list(fork_of)
        return book

    def record(self, session: int, event: EventRead, outcome: Outcome) -> tuple[int, int]:
        """Write an event into its session and owe it to whom it is owed; its lamport and seq."""
        book = self.sessions[session]
        book.written += 1
        lamport = 1 + max((entry[0] for entry in book.history), default=0)
        book.history.append((lamport, session, book.written, event.id))
        self._owe(event, book.graph, outcome)
        return lamport, book.written

    def _owe(self, event: EventRead, graph: int, outcome: Outcome) -> None:
        actor = self.members.get(event.actor)
        ends_act = actor is not None and event.kind not in MID_ACT
        if actor is not None and ends_act and event.caused_by is not None:
            _settle(actor, event.caused_by)
        for member in self.members.values():
            if member is actor:
                continue
            if event.kind == "topology.changed":
                hears = member.graph in outcome.new
            elif event.channel is not None:
                hears = (member.id, event.channel, "listen") in self.edges
            else:
                hears = member.graph == graph and actor is not None
            is_wired = ends_act and (event.actor, member.id) in self.wires
            if (hears and event.kind in member.subscribes_to) or is_wired:
                member.mailbox.append((event.id, 0 if member.is_running else member.stops))


def _settle(actor: Member, cause: str) -> None:
    """Settle a cause, and of its bundle what came before it: whoever answered it had heard that."""
    at = next((n for n, (event, _) in enumerate(actor.mailbox) if event == cause), None)
    if at is not None:
        bundle = actor.mailbox[at][1]
        before = [(e, b) for e, b in actor.mailbox[:at] if not bundle or b != bundle]
        actor.mailbox = before + actor.mailbox[at + 1 :]
