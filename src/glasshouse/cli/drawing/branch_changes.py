"""How a branch or a resumed session differs from the past it grows from, in words.

Always holds: it is read from the ledger, so every command says it alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from glasshouse.cli.drawing.screen import one_line
from glasshouse.events.payloads import BranchChange


def changes_in_words(change: BranchChange | None, limits: Mapping[str, object] | None = None) -> str:
    """All changes as part of a sentence, of the limits only those given, if any are; empty if there are none."""
    return "" if change is None else "; ".join(_changes(change, limits))


def _changes(change: BranchChange, limits: Mapping[str, object] | None) -> Iterator[str]:
    if change.drop:
        yield "the line was never said"
    if change.replace is not None:
        yield f"the line was {_quoted(change.replace)}"
    if change.disturb is not None:
        yield f"the visitor says {_quoted(change.disturb)}"
    for handle, profile in change.profiles.items():
        yield f"{one_line(handle)} has the profile {one_line(profile)}"
    for handle, persona in change.personas.items():
        yield f"{one_line(handle)} is {_quoted(persona)}"
    for manifest in change.add:
        yield f"{one_line(str(manifest.get('name')))} is there"
    for handle in change.remove:
        yield f"{one_line(handle)} is gone"
    for edge in change.connect:
        yield f"{one_line(edge[1])} hears {one_line(edge[0])}{_channel(edge)}"
    for edge in change.disconnect:
        yield f"{one_line(edge[1])} no longer hears {one_line(edge[0])}{_channel(edge)}"
    if change.limits is not None:
        given = limits or msgspec.structs.asdict(change.limits)
        words = ", ".join(f"{name} {value}" for name, value in given.items() if value is not None)
        yield f"its limits are {words or 'none'}"
    if change.edited:
        yield "its scenario was edited"


def _quoted(text: str) -> str:
    return f"“{one_line(text)}”"


def _channel(edge: list[str]) -> str:
    return f" on {one_line(edge[2])}" if len(edge) > 2 else ""
