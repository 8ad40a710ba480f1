"""A ledger on the screen: every event, one a line.

    [agent.spoke   ] pocket-actor {"text": "..."}

Always holds: a creature is shown by the handle that it had when it wrote the event.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from glasshouse.cli.drawing.screen import as_json, one_line, print_json
from glasshouse.cli.drawing.stage import Sight
from glasshouse.events import kinds
from glasshouse.events.codec import content_of
from glasshouse.events.event import Event

kind_chars: Final = 14
_NAMED_IN: Final = frozenset({kinds.CREATURE_STARTED, kinds.CREATURE_RENAMED})


def draw_ledger(sight: Sight) -> None:
    """Print the events for people."""
    chars = len(str(sight.count))
    for number, line in enumerate(ledger_lines(sight.events), start=1):
        print(f"{number:>{chars}} {line}" if sight.has_numbers else line)


def tell_ledger(sight: Sight) -> None:
    """Print the events for machines: every field as it is stored."""
    for event in sight.events:
        print_json(content_of(event))


def ledger_lines(events: Iterable[Event]) -> Iterator[str]:
    """Each event as one line; what only some may read follows its payload where it was left to be read."""
    handles: dict[str, str] = {}
    for event in events:
        if event.kind in _NAMED_IN:
            handles[str(event.payload.get("creature"))] = str(event.payload.get("handle"))
        parts = [f"[{event.kind.ljust(kind_chars)}]", one_line(handles.get(event.actor, event.actor))]
        parts.append(as_json(event.payload))
        hidden = {"private": event.private, "sealed": event.sealed, "model": event.model}
        parts += [f"{name} {as_json(part)}" for name, part in hidden.items() if part is not None]
        yield " ".join(parts)
