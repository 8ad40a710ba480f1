"""A ledger as a plain list, against which a store is played at random."""

from __future__ import annotations

import random

from glasshouse.runtime.store_port import Batch
from glasshouse.testing.contracts.writing import lines, opening
from glasshouse.world.state.state import Segment


class Plain:
    """A ledger as one would write it in a minute: a list, and a head for each session."""

    def __init__(self) -> None:
        self.ledger: list[tuple[str, int, str]] = []
        self.begun: dict[str, Segment] = {}

    def head(self, segment: Segment) -> int:
        """How many events a session has."""
        return sum(1 for name, _, _ in self.ledger if name == segment.id)

    def of(self, segment: Segment) -> list[str]:
        """What a session says."""
        return [text for name, _, text in self.ledger if name == segment.id]


def planned_commit(
    chance: random.Random, plain: Plain, segments: list[Segment], step: int
) -> tuple[list[tuple[str, int, str]], list[Batch], bool]:
    """A few batches, each behind the one before; one commit in five expects a wrong seq somewhere."""
    planned: list[tuple[str, int, str]] = []
    batches: list[Batch] = []
    is_sound = chance.random() < 0.8
    for n in range(chance.randint(1, 4)):
        segment = chance.choice(segments)
        head = plain.head(segment) + sum(1 for name, _, _ in planned if name == segment.id)
        texts = [f"{step}/{n}/{k}" for k in range(chance.randint(1, 3))]
        write = lines(segment, head, *texts) if head else opening(segment, *texts)
        batches.append(Batch((write,)))
        planned += [(segment.id, seq, text) for seq, text in enumerate(texts, head + 1)]
    if not is_sound:
        batches.insert(
            chance.randint(0, len(batches)), Batch((lines(chance.choice(segments), 5_000, "far"),))
        )
    return planned, batches, is_sound
