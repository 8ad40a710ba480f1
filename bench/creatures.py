"""What the benchmarks play with: small casts, lines of about 440 bytes, stores in a temporary folder."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from glasshouse import Draft, Manifest, Terrarium

LINE = (
    "The moss on the north pane has grown a finger's width since the lamp was moved, and whoever keeps the"
    " kettle says so every evening."
)


def silent(name: str) -> Manifest:
    """A creature that owes nobody an answer."""
    return Manifest(name=name, persona="Sits and listens.", subscribes_to=())


def line(n: int) -> Draft:
    """A line that makes an event of about 440 bytes."""
    return Draft(kind="agent.spoke", channel="talk", payload={"text": LINE, "n": n})


async def pairs(terrarium: Terrarium, count: int) -> list[str]:
    """`count` graphs of two creatures on a channel called talk; the ids of the speakers."""
    speakers: list[str] = []
    for _ in range(count):
        speaker = await terrarium.add_creature(silent("speaker"))
        other = await terrarium.add_creature(silent("listener"))
        await terrarium.connect(speaker.id, other.id, channel="talk")
        speakers.append(speaker.id)
    return speakers


@contextmanager
def store_file() -> Iterator[Path]:
    """A place for a store that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="glasshouse-bench-") as folder:
        yield Path(folder) / "bench.glasshouse"
