"""Which part of the engine the CPU time of acts goes to: the running code is looked at a thousand times a second.

Each look counts for the part of the innermost function of the engine, so the time of a library counts for its caller.
Unlike a profiler, this does not make functions slower that are called often. It sees the event loop's thread only.
"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import glasshouse

seconds_between_looks = 0.001
engine = str(Path(glasshouse.__file__).parent)

PARTS = {
    "turns/prompts": "prompt: number, choose and write lines",
    "turns/moment": "prompt: the text of lines, the reply's form",
    "turns/replies": "reply: read it, compare it with what was said",
    "turns/heard": "moment: what a creature heard, and who is around",
    "runtime/acts/asking": "model call: worst case, record",
    "runtime/acts/reservations": "model call: reserve and settle its cost",
    "turns/runs/purses": "model call: reserve and settle its cost",
    "runtime/acts": "act: moment, bounds in time, outcome",
    "runtime/minds": "act: moment, bounds in time, outcome",
    "turns/runs": "whose act is next",
    "runtime/conducting": "whose act is next",
    "runtime/inbox": "whose act is next",
    "runtime/stage": "whose act is next",
    "world": "decide, stamp and fold",
    "events": "encode",
    "runtime/ledger": "ledger: fold, queue, acknowledge",
    "stores": "store",
}
"""The beginning of a module's path in the engine -> its part. The first that fits counts."""
OTHER = "event loop, and the model of this bench"


class Looks:
    """How often each part was running."""

    def __init__(self) -> None:
        self._looks = Counter[str]()

    def look(self, _signal: int, frame: FrameType | None) -> None:
        """Note the part that is running."""
        while frame is not None and not frame.f_code.co_filename.startswith(engine):
            frame = frame.f_back
        path = "" if frame is None else frame.f_code.co_filename.removeprefix(engine).lstrip("/")
        self._looks[next((part for start, part in PARTS.items() if path.startswith(start)), OTHER)] += 1

    def table(self, microseconds: float) -> str:
        """The parts of an act that takes so long, the largest first."""
        total = self._looks.total() or 1
        rows = [
            f"{microseconds * looks / total:7.1f} µs {100 * looks / total:5.1f} %  {part}"
            for part, looks in self._looks.most_common()
        ]
        return "\n".join(rows)


@contextmanager
def looking() -> Iterator[Looks]:
    """Look at what runs, in the main thread, as long as CPU time passes inside."""
    looks = Looks()
    before = signal.signal(signal.SIGPROF, looks.look)
    signal.setitimer(signal.ITIMER_PROF, seconds_between_looks, seconds_between_looks)
    try:
        yield looks
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
