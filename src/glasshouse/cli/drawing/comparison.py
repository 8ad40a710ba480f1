"""Two stories side by side on the screen.

Always holds: what is shown of events is what an audience may read.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from rich.text import Text

from glasshouse.cli.drawing.branch_changes import changes_in_words
from glasshouse.cli.drawing.screen import Screen, one_line, print_json
from glasshouse.cli.drawing.tables import draw_table
from glasshouse.cli.drawing.voices import QUIET, Voices
from glasshouse.events import kinds
from glasshouse.events.codec import content_of
from glasshouse.events.event import Event, Json
from glasshouse.events.payloads import SessionForked, payload_of
from glasshouse.events.redaction import redacted
from glasshouse.views.comparing import Comparison, Told
from glasshouse.views.spend import Spend
from glasshouse.views.transcript import TranscriptLine


def print_comparison(found: Comparison) -> None:
    """The comparison for machines."""
    print_json(
        {
            "is_same": found.is_same,
            "shared_events": found.shared_events,
            "shared_lines": found.shared_lines,
            "first": _facts(found.first),
            "second": _facts(found.second),
        }
    )


def _facts(told: Told) -> Json:
    parts_with = None if told.parts_with is None else content_of(redacted(told.parts_with, "audience"))
    return {
        "name": told.name,
        "events": told.events,
        "lines": told.lines,
        "turns": told.turns,
        "reason": told.reason,
        "winner": told.winner,
        "cost": _cost_facts(told.cost),
        "cost_apart": _cost_facts(told.cost_apart),
        "parts_with": parts_with,
        "only_here": [msgspec.to_builtins(line) for line in told.only_here],
    }


def _cost_facts(spend: Spend) -> Json:
    return {"calls": spend.calls, "tokens": spend.tokens, "usd": spend.usd}


def draw_comparison(found: Comparison, lines_shown: int) -> None:
    """The comparison for people."""
    screen = Screen()
    if found.is_same:
        screen.draw(Text(f"One story: {found.shared_events:,} events, byte for byte.", style="bold"))
    else:
        screen.draw(
            Text(
                f"They share {_counted(found.shared_events, 'event')} and"
                f" {_counted(found.shared_lines, 'line')}, then they part.",
                style="bold",
            )
        )
        for told in (found.first, found.second):
            _draw_plain(screen, f"{told.name} goes on with {_gist(told.parts_with)}")
    screen.draw(Text())
    rows = [
        ("turns", *(f"{told.turns:,}" for told in (found.first, found.second))),
        ("lines", *(f"{told.lines:,}" for told in (found.first, found.second))),
        ("events", *(f"{told.events:,}" for told in (found.first, found.second))),
        ("ended", *(told.reason or "not yet" for told in (found.first, found.second))),
        ("winner", *(told.winner or "nobody" for told in (found.first, found.second))),
        ("cost", *(_cost(told.cost) for told in (found.first, found.second))),
        ("of it apart", *(_cost(told.cost_apart) for told in (found.first, found.second))),
    ]
    names = [found.first.name, found.second.name]
    if names[0] == names[1]:
        names[1] = f"{names[1]} again"
    draw_table(screen, ("", *names), rows, loose=names)
    voices = Voices()
    for told in (found.first, found.second):
        _draw_only(screen, voices, told, lines_shown)


def _draw_only(screen: Screen, voices: Voices, told: Told, lines_shown: int) -> None:
    shown: Sequence[TranscriptLine] = told.only_here[:lines_shown]
    if not shown:
        return
    more = len(told.only_here) - len(shown)
    screen.draw(Text(), Text(f"only in {told.name}:", style="bold"))
    for line in shown:
        voices.show(screen, line)
    if more:
        screen.draw(Text(f"and {more:,} more", style=QUIET))


def _draw_plain(screen: Screen, text: str) -> None:
    screen.draw(Text(text) if screen.is_terminal else text)


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


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _cost(spend: Spend) -> str:
    price = "price unknown" if spend.usd is None else f"{spend.usd:.4f} USD" if spend.usd else "free"
    return f"{_counted(spend.calls, 'call')}, {_counted(spend.tokens, 'token')}, {price}"
