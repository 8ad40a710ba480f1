"""Two stories side by side on the screen, and how a branch differs from its past, in words.

Always holds: only what an audience may read is shown. Changes are read from the ledger, so every command describes them
the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import msgspec
from rich.text import Text

from glasshouse.cli.drawing.screen import Screen, counted, draw_table, facts_of, one_line, price, print_json
from glasshouse.cli.drawing.voices import QUIET, Voices
from glasshouse.events import kinds
from glasshouse.events.codec import content_of
from glasshouse.events.event import Event, Json
from glasshouse.events.model_use import Usage
from glasshouse.events.payloads import BranchChange, SessionForked, payload_of
from glasshouse.events.redaction import redacted
from glasshouse.views.comparison import ComparedStory, Comparison


def changes_in_words(change: BranchChange | None, limits: Mapping[str, object] | None = None) -> str:
    """All changes as part of a sentence, or an empty text. With `limits`, only those limits are named."""
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


def print_comparison(comparison: Comparison) -> None:
    """Print the comparison for machines."""
    facts = facts_of(comparison, "is_same", "shared_events", "shared_lines")
    print_json({**facts, "first": _facts(comparison.first), "second": _facts(comparison.second)})


def _facts(story: ComparedStory) -> Json:
    facts = facts_of(story, "name", "events", "lines", "turns", "reason", "winner")
    for name, usage in (("cost", story.cost), ("cost_apart", story.cost_apart)):
        facts[name] = facts_of(usage, "calls", "tokens", "usd")
    parts_with = story.parts_with
    facts["parts_with"] = None if parts_with is None else content_of(redacted(parts_with, "audience"))
    facts["only_here"] = [msgspec.to_builtins(line) for line in story.only_here]
    return facts


def draw_comparison(comparison: Comparison, lines_shown: int) -> None:
    """Draw the comparison for people."""
    screen, stories = Screen(), (comparison.first, comparison.second)
    if comparison.is_same:
        screen.draw(Text(f"One story: {comparison.shared_events:,} events, byte for byte.", style="bold"))
    else:
        events, lines = counted(comparison.shared_events, "event"), counted(comparison.shared_lines, "line")
        screen.draw(Text(f"They share {events} and {lines}, then they part.", style="bold"))
        for story in stories:
            text = f"{story.name} goes on with {_gist(story.parts_with)}"
            screen.draw(Text(text) if screen.is_terminal else text)
    screen.draw(Text())
    columns: dict[str, Callable[[ComparedStory], str]] = {
        "turns": lambda story: f"{story.turns:,}",
        "lines": lambda story: f"{story.lines:,}",
        "events": lambda story: f"{story.events:,}",
        "ended": lambda story: story.reason or "not yet",
        "winner": lambda story: story.winner or "nobody",
        "cost": lambda story: _cost(story.cost),
        "of it apart": lambda story: _cost(story.cost_apart),
    }
    first, second = [story.name for story in stories]
    names = (first, f"{second} again" if first == second else second)
    rows = [(title, *map(cell, stories)) for title, cell in columns.items()]
    draw_table(screen, ("", *names), rows, loose=names)
    voices = Voices()
    for story in stories:
        shown = story.only_here[:lines_shown]
        if shown:
            screen.draw(Text(), Text(f"only in {story.name}:", style="bold"))
            for line in shown:
                voices.show(screen, line)
            if len(shown) < len(story.only_here):
                screen.draw(Text(f"and {len(story.only_here) - len(shown):,} more", style=QUIET))


def _gist(event: Event | None) -> str:
    if event is None:
        return "nothing: it ends there"
    if event.kind == kinds.SESSION_FORKED:
        forked = payload_of(event, SessionForked)
        how = "a branch" if forked.how == "branch" else "what was resumed"
        return f"{how}, turn {event.turn}: {changes_in_words(forked.change) or 'no changes'}"
    text = event.payload.get("text")
    said = f": {one_line(text)}" if isinstance(text, str) and text else ""
    return f"{event.kind} by {one_line(event.actor)}, turn {event.turn}{said}"


def _cost(usage: Usage) -> str:
    return f"{counted(usage.calls, 'call')}, {counted(usage.tokens, 'token')}, {price(usage.usd)}"
