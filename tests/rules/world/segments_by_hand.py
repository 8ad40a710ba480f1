"""Random DAGs of segments with the plainest bookkeeping beside them: every session holds a copy of all it sees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from glasshouse.world.fold.evolve import begin
from glasshouse.world.state.lineage import Span, pages, spans_between, visible_prefixes
from glasshouse.world.state.state import Parent, Segment, World
from glasshouse.world.state.values import SessionOrigin

EventKey = tuple[int, int, str, int]
"""Lamport, ordinal, session, seq: the order of histories is the order of these."""


class Segments:
    """Sessions that are written, split, merged and forked, each with a copy of its whole past."""

    def __init__(self) -> None:
        self.world = World()
        self.past: dict[str, set[EventKey]] = {}
        self.own: dict[str, list[EventKey]] = {}
        self.parents: dict[str, set[str]] = {}
        self.sealed: set[str] = set()

    @property
    def names(self) -> list[str]:
        return list(self.own)

    @property
    def open(self) -> list[str]:
        return [name for name in self.own if name not in self.sealed]

    def begin(self, origin: SessionOrigin = "root", parents: Iterable[tuple[str, int]] = ()) -> str:
        """A new session that sees its parents up to the given seqs; it has one event of its own."""
        seen = list(parents)
        # Names count backwards, so that neither ids nor hashes happen to be in the order of birth.
        name = f"s{999 - len(self.own)}"
        base = max((self.lamport_at(parent, upto) for parent, upto in seen), default=0)
        segment = Segment(
            id=name,
            graph_id=f"g-{name}",
            origin=origin,
            ordinal=self.world.sessions_begun,
            base=base,
            parents=tuple([Parent(parent, upto) for parent, upto in seen]),
        )
        begin(self.world, segment)
        self.past[name] = set(
            chain.from_iterable((*self.past[parent], *self.own[parent][:upto]) for parent, upto in seen)
        )
        self.own[name] = []
        self.parents[name] = {parent for parent, _ in seen}
        self.write(name)
        return name

    def write(self, name: str, events: int = 1) -> None:
        """Append to a session's own segment."""
        state = self.world.sessions[name]
        for _ in range(events):
            state.head += 1
            key = (state.segment.base + state.head, state.segment.ordinal, name, state.head)
            self.own[name].append(key)

    def lamport_at(self, name: str, seq: int) -> int:
        return self.world.sessions[name].segment.base + seq

    def head(self, name: str) -> int:
        return self.world.sessions[name].head

    def split(self, name: str, sides: int = 2) -> list[str]:
        self.sealed.add(name)
        return [self.begin("split", [(name, self.head(name))]) for _ in range(sides)]

    def merge(self, first: str, second: str) -> str:
        self.sealed |= {first, second}
        return self.begin("merge", [(first, self.head(first)), (second, self.head(second))])

    def fork(self, name: str, upto: int) -> str:
        return self.begin("fork", [(name, upto)])

    def history(self, name: str) -> list[EventKey]:
        """Everything a session sees, in order, told from the copies."""
        return sorted({*self.past[name], *self.own[name]})

    def ancestors(self, name: str) -> set[str]:
        seen: set[str] = set()
        waiting = [name]
        while waiting:
            for parent in self.parents[waiting.pop()] - seen:
                seen.add(parent)
                waiting.append(parent)
        return seen


def grown(choices: list[int]) -> Segments:
    """A DAG grown by these choices."""
    made = Segments()
    made.begin()
    numbers = iter(choices)
    for choice in numbers:
        first, other, count = (next(numbers, 0) for _ in range(3))
        match choice % 8:
            case 0:
                made.begin()
            case 1 if made.open:
                made.split(made.open[first % len(made.open)], 2 + count % 2)
            case 2 | 3 if len(made.open) > 1:
                left = made.open[first % len(made.open)]
                others = [name for name in made.open if name != left]
                made.merge(left, others[other % len(others)])
            case 4 | 5:
                parent = made.names[first % len(made.names)]
                made.fork(parent, 1 + count % made.head(parent))
            case _ if made.open:
                made.write(made.open[first % len(made.open)], 1 + count % 6)
            case _:
                made.begin()
    return made


def placed(made: Segments, spans: Iterable[Span]) -> Iterator[EventKey]:
    """The events of spans, one by one."""
    for span in spans:
        for seq in range(span.first, span.last + 1):
            yield (made.lamport_at(span.session_id, seq), span.ordinal, span.session_id, seq)


def read(
    made: Segments, session: str, after: EventKey | None = None, upto: EventKey | None = None
) -> list[EventKey]:
    """A history as a reader gets it: page by page, each page sorted by itself."""
    sessions = made.world.sessions
    spans = spans_between(
        sessions,
        visible_prefixes(sessions, session),
        None if after is None else after[:3],
        None if upto is None else upto[:3],
    )
    return [key for page in pages(spans, 5) for key in sorted(placed(made, page))]
