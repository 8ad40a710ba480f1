"""Two stories side by side on the screen, and how a branch differs from its past, in words.

Always holds: only what the role of the reader may read is shown. Every command describes a change in the same words;
the command that makes a branch names only the limits that were given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec
from rich.text import Text

from glasshouse.cli.drawing.screen import Screen, counted, draw_table, facts_of, one_line, price, print_json
from glasshouse.cli.drawing.voices import QUIET, Voices
from glasshouse.events import kinds
from glasshouse.events.codec import content_of
from glasshouse.events.event import Json, text_of
from glasshouse.events.model_use import Usage
from glasshouse.events.payloads import BranchChange, SessionForked, payload_of
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
    yield from (f"{one_line(who)} has the profile {one_line(it)}" for who, it in change.profiles.items())
    for who, persona in change.personas.items():  # A spectator does not read the persona.
        yield f"{one_line(who)} is {_quoted(persona) if persona else 'somebody else'}"
    yield from (f"{one_line(str(manifest.get('name')))} is there" for manifest in change.add)
    yield from (f"{one_line(handle)} is gone" for handle in change.remove)
    for verb, edges in (("hears", change.connect), ("no longer hears", change.disconnect)):
        for edge in edges:
            where = "" if edge.channel is None else f" on {one_line(edge.channel)}"
            yield f"{one_line(edge.listener)} {verb} {one_line(edge.sender)}{where}"
    if change.limits is not None:
        given = limits or msgspec.to_builtins(change.limits)
        words = ", ".join(f"{name} {value}" for name, value in given.items() if value is not None)
        yield f"its limits are {words or 'none'}"
    if change.edited:
        yield "its scenario was edited"


def _quoted(text: str) -> str:
    return f"“{one_line(text)}”"


def print_comparison(comparison: Comparison) -> None:
    """Print the comparison for machines."""
    facts = facts_of(comparison, "is_same", "shared_events", "shared_lines")
    print_json({**facts, "first": _facts(comparison.first), "second": _facts(comparison.second)})


def _facts(story: ComparedStory) -> Json:
    facts = facts_of(story, "name", "events", "lines", "turns", "reason", "winner")
    facts |= {
        name: facts_of(getattr(story, name), "calls", "tokens", "usd") for name in ("cost", "cost_apart")
    }
    parts_with = story.parts_with
    facts["parts_with"] = None if parts_with is None else content_of(parts_with)
    lines = [{"number": story.numbers[line.id], **msgspec.to_builtins(line)} for line in story.only_here]
    return {**facts, "parts_with_number": _number(story), "only_here": lines}


def _number(story: ComparedStory) -> int | None:
    """The number of the event with which a story parts from the other, as `show --numbers` counts it."""
    return None if story.parts_with is None else story.numbers[story.parts_with.id]


def draw_comparison(comparison: Comparison, lines_shown: int) -> None:
    """Draw the comparison for people."""
    screen = Screen()
    stories = (comparison.first, comparison.second)
    if comparison.is_same:
        screen.draw(Text(f"One story: {comparison.shared_events:,} events, byte for byte.", style="bold"))
    else:
        events = counted(comparison.shared_events, "event")
        lines = counted(comparison.shared_lines, "line")
        screen.draw(Text(f"They share {events} and {lines}, then they part.", style="bold"))
        for story in stories:
            text = f"{story.name} continues with {_gist(story)}"
            screen.draw(Text(text) if screen.is_terminal else text)
    screen.draw(Text())
    first, second = [story.name for story in stories]
    names = (first, f"{second} again" if first == second else second)
    titles = ("turns", "lines", "events", "ended", "winner", "cost", "of it apart")
    draw_table(screen, ("", *names), [*zip(titles, *map(_cells, stories), strict=True)], loose=names)
    for story in stories:
        voices = Voices(numbers=story.numbers)
        if shown := story.only_here[:lines_shown]:
            screen.draw(Text(), Text(f"only in {story.name}:", "bold"))
            for line in shown:
                voices.show(screen, line)
            if len(shown) < len(story.only_here):
                screen.draw(Text(f"and {len(story.only_here) - len(shown):,} more", QUIET))


def _cells(story: ComparedStory) -> list[str]:
    counts = [f"{count:,}" for count in (story.turns, story.lines, story.events)]
    ending = [story.reason or "not yet", story.winner or "nobody"]
    return [*counts, *ending, _cost(story.cost), _cost(story.cost_apart)]


def _gist(story: ComparedStory) -> str:
    event = story.parts_with
    at = f"event {_number(story)}"
    if event is None:
        return "nothing: it ends there"
    if event.kind == kinds.SESSION_FORKED:
        forked = payload_of(event, SessionForked)
        how = "a branch" if forked.how == "branch" else "what was resumed"
        return f"{at}, {how}, turn {event.turn}: {changes_in_words(forked.change) or 'no changes'}"
    said = f": {one_line(text)}" if (text := text_of(event)) else ""
    return f"{at}, {event.kind} by {one_line(event.actor)}, turn {event.turn}{said}"


def _cost(usage: Usage) -> str:
    return f"{counted(usage.calls, 'call')}, {counted(usage.tokens, 'token')}, {price(usage.usd)}"
