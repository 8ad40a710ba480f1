"""Making a branch as the command line asks for it: where it begins, what is changed, and what is said about it.

Always holds: what cannot be done is refused before anything is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import msgspec

from glasshouse.assembly import SqliteStore
from glasshouse.cli.drawing.branch_changes import changes_in_words
from glasshouse.cli.drawing.screen import first_words, one_line
from glasshouse.cli.event_names import find_event, is_line
from glasshouse.cli.live.open_runs import Opened
from glasshouse.cli.store_reader import StoreReader, Story
from glasshouse.errors import Refused, UnknownName
from glasshouse.events import kinds
from glasshouse.events.event import RESERVED_ACTORS, VISITOR, Event, Json
from glasshouse.events.limits import Governor
from glasshouse.events.payloads import builtins_of, payload_of
from glasshouse.events.run_payloads import RunStarted
from glasshouse.manifests.loading import load_creature
from glasshouse.manifests.manifest import Manifest
from glasshouse.runtime.past.what_if import Edge, WhatIf
from glasshouse.runtime.run import Run
from glasshouse.terrarium import Terrarium
from glasshouse.views.transcript import transcript_of

words_shown_max: Final = 10
"""So many words of the line at which a branch begins are said again."""


@dataclass(frozen=True)
class Branching:
    """A branch that is asked for."""

    name: str
    at: str | None
    what_if: WhatIf
    limits: Mapping[str, int | float] = field(default_factory=dict)

    async def open(self, store: SqliteStore, terrarium: Terrarium) -> Opened:
        """Make it, and say what it is."""
        reader = StoreReader(store, terrarium)
        story = await reader.story(self.name)
        event, session_id = await self._begin(reader, story)
        what_if = replace(self.what_if, limits=self._limits_in(story, event))
        position = store.position
        run = await terrarium.branch(session_id, None if event is None else event.id, what_if)
        opened = self._opened(story, event, what_if, run, position)
        return replace(opened, beside=tuple([terrarium.run_of(run_id) for run_id in run.beside]))

    async def _begin(self, reader: StoreReader, story: Story) -> tuple[Event | None, str]:
        """The event at which it begins, none for the end; and the session that it is looked at from."""
        if self.at is not None:
            event = (await find_event(reader, self.at, story.name)).event
            if event.id not in story.numbers:
                raise UnknownName(noun=f"event of {story.name}", name=self.at)
        elif self.what_if.begins_before:
            event = _last_line(story)
        else:
            return None, (await reader.session_at_end_of(self.name))[0]
        return event, event.session_id

    def _limits_in(self, story: Story, event: Event | None) -> Governor | None:
        """The limits that were there, with those that were given."""
        if not self.limits:
            return None
        begun = [started for started in story.events if started.kind == kinds.RUN_STARTED]
        mine = [started for started in begun if event is not None and started.run_id == event.run_id] or begun
        then = payload_of(mine[-1], RunStarted).limits if mine else None
        return msgspec.structs.replace(then or Governor(), **self.limits)

    def _opened(self, story: Story, event: Event | None, what_if: WhatIf, run: Run, position: int) -> Opened:
        change = what_if.recorded()
        number = len(story.events) if event is None else story.numbers[event.id]
        facts: Json = {
            "run_id": run.id,
            "session_id": run.session_id,
            "branch_of": run.branch_of,
            "at": event.id if event is not None else story.events[-1].id,
            "number": number,
            "change": None if change is None else builtins_of(change),
        }
        where = f"the end (event {number:,})" if event is None else _where(story, event, number)
        side = "from right before" if what_if.begins_before else "from"
        said = f"{run.id}: a branch of {run.branch_of or story.name}, {side} {where} on."
        changes = changes_in_words(change, self.limits)
        end = "" if changes.endswith("”") else "."
        what = f"Changed: {changes}{end}" if changes else "Nothing is changed."
        return Opened(run, position, (said, what), ({"branched": facts},), is_branch=True)


def _last_line(story: Story) -> Event:
    """The last line that a creature or the visitor said: only such a line can be left out."""
    said = [e for e in story.events if e.actor not in RESERVED_ACTORS - {VISITOR} and is_line(e)]
    if not said:
        raise Refused(f"Nothing was said in {story.name} yet.", "Leave --drop and --replace away.")
    return said[-1]


def _where(story: Story, event: Event, number: int) -> str:
    """An event as people find it again."""
    lines = [line for line in transcript_of(story.events) if line.id == event.id]
    if lines and lines[0].text:
        text = first_words(one_line(lines[0].text), words_shown_max)
        return f"event {number:,} (turn {event.turn}, {one_line(lines[0].who)}, {text})"
    return f"event {number:,} (turn {event.turn}, {event.kind})"


def pairs(option: str, noun: str, given: list[str] | None) -> dict[str, str]:
    """Options of the form HANDLE=VALUE."""
    read: dict[str, str] = {}
    for words in given or ():
        handle, equals, value = words.partition("=")
        if not equals or not handle or not value:
            raise Refused(f"{option} {words!r} says nothing.", f"Write {option} HANDLE={noun}.")
        read[handle] = value
    return read


def edges(option: str, given: list[str] | None) -> tuple[Edge, ...]:
    """Options of the form A:B or A:B:CHANNEL."""
    read: list[Edge] = []
    for words in given or ():
        match words.split(":"):
            case [source, target] if source and target:
                read.append((source, target))
            case [source, target, channel] if source and target and channel:
                read.append((source, target, channel))
            case _:
                raise Refused(
                    f"{option} {words!r} names no two creatures.", f"Write {option} A:B or A:B:CHANNEL."
                )
    return tuple(read)


def creatures(given: list[Path] | None) -> tuple[Manifest, ...]:
    """The creatures in these files."""
    for path in given or ():
        if not path.is_file():
            raise Refused(f"There is no file {path}.", "Give a creature's file, such as creatures/ada.yaml.")
    return tuple([load_creature(path) for path in given or ()])
