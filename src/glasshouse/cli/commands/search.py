"""`glasshouse search` finds lines of all runs in a store by their words."""

from __future__ import annotations

import re
from collections import deque
from textwrap import fill
from typing import Any, Final, NamedTuple

import typer
from rich.text import Text

from glasshouse.cli import options
from glasshouse.cli.drawing.screen import Screen, counted, one_line, print_json
from glasshouse.cli.options import option
from glasshouse.cli.prose import say
from glasshouse.cli.store_reader import StoreReader, Story, counted_in_of, read_store, short_ids
from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.events.redaction import Role, redacted
from glasshouse.views.line_search import holds, line_in, words_in, words_max
from glasshouse.views.stage import StageProjection, handle_on, rebuild_stage

lines_listed: Final = 20
"""How many lines are listed if nothing else is said: a screen."""
lines_listed_max: Final = 1_000
"""More lines are refused: whoever wants all of them reads the ledger."""
page_events: Final = 2_000
"""The ledger is read in pages of this many events."""


class Match(NamedTuple):
    """A line that holds the words, and its place."""

    event: Event
    run_id: str
    """Empty if it belongs to no run."""
    number: int | None
    """Its number in its run; none if it belongs to none."""
    world: str
    handle: str
    """Who said it, as its run calls it."""


def search(
    words: list[str] = typer.Argument(
        metavar="WORDS", help="Words that a line must hold, all of them, in any order."
    ),
    *,
    run: str | None = option("RUN", f"Only lines of this run: {options.RUN_NAMES}"),
    lines: int = option(
        "N",
        f"List the newest N lines, up to {lines_listed_max:,}.",
        lines_listed,
        min=1,
        max=lines_listed_max,
    ),
    role: options.RoleOption = options.RoleName.AUDIENCE,
    store: options.StoreOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Find lines by their words, in all runs of a store; the newest last.

    \b
    Examples:
      glasshouse search kettle                     every line with a kettle in it, or kettles
      glasshouse search kettle sea --run last      both words, in the last run
      glasshouse search kettle --json              for machines
    """
    wanted = words_in(words)
    if not wanted or len(wanted) > words_max:
        raise Refused(f"A search has 1 to {words_max} words.", "Name what you remember of the line.")

    async def searched(reader: StoreReader) -> tuple[list[Match], int]:
        only = None if run is None else reader.any_run(run)
        return await _matches(reader, wanted, only, role.value, lines)

    matches, count = read_store(store, searched)
    if as_json:
        print_json(*[_facts(match) for match in matches])
    elif matches:
        _draw(matches, count, wanted)
    else:
        say(f"No line holds {' and '.join(map(repr, wanted))}.")


async def _matches(
    reader: StoreReader, wanted: tuple[str, ...], only: str | None, role: Role, lines: int
) -> tuple[list[Match], int]:
    """The newest lines that hold the words, and how many do."""
    newest: deque[Event] = deque(maxlen=lines)
    count = 0
    position = 0
    while events := await reader.store.read_after(position, page_events):
        position = events[-1].position or 0
        for event in events:
            if only is not None and event.run_id != only:
                continue
            shown = redacted(event, role)
            if holds(line_in(shown), wanted):
                newest.append(shown)
                count += 1
    stories: dict[str, tuple[Story, StageProjection]] = {}
    return [await _placed(reader, event, stories) for event in newest], count


async def _placed(
    reader: StoreReader, event: Event, stories: dict[str, tuple[Story, StageProjection]]
) -> Match:
    counted_in = await counted_in_of(reader, event)
    if counted_in is None:
        return Match(event, "", None, "", event.actor)
    if counted_in not in stories:
        story = await reader.story(counted_in)
        stories[counted_in] = (story, rebuild_stage(story.events))
    story, stage = stories[counted_in]
    begun = [
        past.payload
        for past in story.events
        if past.kind == kinds.RUN_STARTED and past.run_id == story.run_id
    ]
    world = str(begun[-1].get("scenario", {}).get("name", "")) if begun else ""
    number = story.numbers.get(event.id)
    return Match(event, story.run_id or "", number, world, handle_on(stage, event.actor))


def _facts(match: Match) -> dict[str, Any]:
    event = match.event
    return {
        "run_id": match.run_id or None,
        "world": match.world,
        "turn": event.turn,
        "number": match.number,
        "event_id": event.id,
        "actor": event.actor,
        "handle": match.handle,
        "kind": event.kind,
        "text": line_in(event),
    }


def _draw(matches: list[Match], count: int, wanted: tuple[str, ...]) -> None:
    """The lines under the heading of their run, with the words marked on a terminal."""
    screen = Screen()
    short = short_ids([match.run_id for match in matches])
    heading = ""
    for match in matches:
        event = match.event
        of_run = f"{short[match.run_id]} {match.world}".strip() or "in no run"
        if of_run != heading:
            heading = of_run
            screen.draw(Text(one_line(of_run), style="bold"))
        number = "" if match.number is None else str(match.number)
        said = f"{one_line(match.handle)}: {one_line(line_in(event))}"
        shown = f"({said})" if event.kind in kinds.INNER else said
        line = f"{number:>6}  turn {event.turn}  {shown}"
        screen.draw(_marked(line, wanted, screen.width) if screen.is_terminal else line)
    if count > len(matches):
        screen.draw(
            f"These are the newest {len(matches)} of {counted(count, 'line')}. See more with --lines."
        )


def _marked(line: str, wanted: tuple[str, ...], columns: int) -> Text:
    """A line that is broken between words, with the words that were searched in bold."""
    drawn = Text(fill(line, columns, subsequent_indent=" " * 8, break_long_words=False))
    drawn.highlight_regex("|".join(f"(?i:{re.escape(word)})" for word in wanted), style="bold")
    return drawn
