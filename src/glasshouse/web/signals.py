"""Signals: what happens in a story now and is in no ledger: who thinks, what is being written, which runs are played.

Always holds: a signal has the whole state of a story, so only the newest counts. It is never part of a view. Its only
text is the public part of a reply that is being written; the engine leaves thoughts out of it.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec

from glasshouse.runtime.past.stories import Story
from glasshouse.runtime.run import Thinking
from glasshouse.terrarium import Terrarium
from glasshouse.web.driving import Drivers

signal_seconds: Final = 0.1
"""How long apart two signals are at least."""
thinkers_shown_max: Final = 50
"""A signal tells of no more creatures that think; those that have thought longest come first."""

RECORDED: Final = {"state": "recorded"}
"""A run that came in a file: it is read here, and nobody can play it as it is."""

_encode: Final = msgspec.json.Encoder().encode


class Signals:
    """What goes on in the house at one moment, and in each story of it."""

    def __init__(self, terrarium: Terrarium, drivers: Drivers) -> None:
        self._terrarium = terrarium
        self._drivers = drivers
        self._thinking: dict[str, tuple[Thinking, str]] = {}

    def look(self) -> None:
        """Look at who thinks now, and since when."""
        now = datetime.now(UTC)
        self._thinking = {
            act.creature_id: (act, (now - timedelta(seconds=act.seconds)).isoformat(timespec="seconds"))
            for act in self._terrarium.thinking()
        }

    def of(self, story: Story) -> bytes:
        """What goes on in a story, as one event of a stream."""
        run_ids = () if story.is_imported else story.runs
        thinking = [entry for entry in self._thinking.values() if entry[0].run_id in run_ids]
        signal = {
            "thinking": {act.creature_id: _shown(act, since) for act, since in thinking[:thinkers_shown_max]},
            "driver": dict.fromkeys(story.runs, RECORDED)
            if story.is_imported
            else self._drivers.states(run_ids),
        }
        return b"event: signal\ndata: " + _encode(signal) + b"\n\n"


def _shown(act: Thinking, since: str) -> dict[str, Any]:
    signal: dict[str, Any] = {"since": since}
    if act.is_waiting:
        signal["queued"] = act.queue_number
    if act.prompt_percent is not None:
        signal["prompt_percent"] = act.prompt_percent
    if act.tokens:
        signal["tokens"] = act.tokens
    if act.text:
        signal["text"] = act.text
    return signal
