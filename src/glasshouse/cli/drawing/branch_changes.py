"""How a branch or a resumed session differs from the past it grows from, in words.

Always holds: it is read from the ledger, so every command says it alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from glasshouse.cli.drawing.screen import one_line
from glasshouse.events.event import Json


def changes_in_words(change: Json | None) -> str:
    """All changes as part of a sentence; empty if there are none."""
    return "; ".join(_changes(change or {}))


def _changes(change: Json) -> Iterator[str]:
    if change.get("drop"):
        yield "the line was never said"
    if "replace" in change:
        yield f"the line was {_quoted(change['replace'])}"
    if "disturb" in change:
        yield f"the visitor says {_quoted(change['disturb'])}"
    for handle, profile in change.get("profiles", {}).items():
        yield f"{one_line(handle)} has the profile {one_line(profile)}"
    for handle, persona in change.get("personas", {}).items():
        yield f"{one_line(handle)} is {_quoted(persona)}"
    for manifest in change.get("add", ()):
        yield f"{one_line(str(manifest.get('name')))} is there"
    for handle in change.get("remove", ()):
        yield f"{one_line(handle)} is gone"
    for edge in change.get("connect", ()):
        yield f"{one_line(edge[1])} hears {one_line(edge[0])}{_channel(edge)}"
    for edge in change.get("disconnect", ()):
        yield f"{one_line(edge[1])} no longer hears {one_line(edge[0])}{_channel(edge)}"
    limits = change.get("limits") or {}
    if limits:
        given = ", ".join(f"{name} {value}" for name, value in limits.items() if value is not None)
        yield f"its limits are {given or 'none'}"
    if change.get("edited"):
        yield "its scenario was edited"


def _quoted(text: Any) -> str:
    return f"“{one_line(str(text))}”"


def _channel(edge: list[str]) -> str:
    return f" on {one_line(edge[2])}" if len(edge) > 2 else ""
