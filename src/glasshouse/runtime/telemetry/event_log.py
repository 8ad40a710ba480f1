"""`EventLog`: one log line for each event, for logs with structure.

Always holds: a line tells ids, kinds, numbers and costs. It holds nothing that a creature, a model, a tool or a visitor
wrote: no text, no thought, no sealed value.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from glasshouse.events import kinds
from glasshouse.events.event import Event, Json, usage_in
from glasshouse.runtime.ledger.observer import Observer
from glasshouse.views.diff import UNCHANGED, ViewDiff

_log = logging.getLogger("glasshouse.events")


def is_event_log_read() -> bool:
    """Whether anybody wants lines about events."""
    return _log.isEnabledFor(logging.INFO)


class EventLog(Observer):
    """Logs every event: what begins, pauses and ends runs as information, the others for debugging."""

    def __init__(self, span_of: Callable[[str], tuple[str, str] | None]) -> None:
        super().__init__(role="spectator")
        self._span_of = span_of

    def consume(self, event: Event) -> ViewDiff:
        """Log the next event."""
        level = logging.INFO if event.kind in kinds.OF_RUNS else logging.DEBUG
        if _log.isEnabledFor(level):
            span = self._span_of(event.id)
            facts = _facts_of(event)
            if span is not None:
                facts |= {"trace_id": span[0], "span_id": span[1]}
            _log.log(level, "%s %s", event.kind, event.id, extra={"fields": facts})
        return UNCHANGED


def _facts_of(event: Event) -> Json:
    facts: Json = {
        "event_id": event.id,
        "kind": event.kind,
        "actor": event.actor,
        "run_id": event.run_id,
        "graph_id": event.graph_id,
        "turn": event.turn,
        "position": event.position,
        "caused_by": event.caused_by,
        "channel_id": event.channel_id,
    }
    if event.model is not None:
        used = usage_in([event])
        seconds = sum([call.milliseconds for call in event.model.calls]) / 1_000
        facts |= {"calls": used.calls, "tokens": used.tokens, "usd": used.usd, "model_seconds": seconds}
    return {name: value for name, value in facts.items() if value is not None}
