"""`Played`: one played run as a value: its lines, its events, who won, and who could hear what.

Always holds: it stays valid after its terrarium is closed. A creature could hear the same events that the runtime may
put into its prompts, without the thoughts of others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from types import MappingProxyType
from typing import Final

from glasshouse.errors import UnknownName
from glasshouse.events.digest import digest_of
from glasshouse.events.event import Event
from glasshouse.events.payloads import picked
from glasshouse.events.redaction import Role, redacted
from glasshouse.reprs import repr_of
from glasshouse.runtime.creature import Creature, CreatureOrId, id_of
from glasshouse.runtime.parts import Parts
from glasshouse.runtime.run import Run
from glasshouse.views.transcript import TranscriptLine, transcript_of
from glasshouse.world.hearing.hearing import visible_to

notebook_bytes_max: Final = 4_000_000
"""A page of a run for a notebook is not larger: it is kept in the notebook's file."""
html_lines_max: Final = 50
"""A transcript in a notebook has at most this many lines, and the number of the rest: it is kept in the notebook's file."""


class FramedPage(str):
    """A run as one HTML file, which a notebook shows in a frame that may do nothing else."""

    run_title: str = ""

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="{escape(self.run_title)}" sandbox="allow-scripts" '
            f'style="width:100%;height:820px;border:0" srcdoc="{escape(self)}"></iframe>'
        )


@dataclass(frozen=True)
class Played:
    """A run that was played: to its end, or for some turns."""

    __repr__ = repr_of("run", "lines", "digest")

    run: Run
    events: tuple[Event, ...] = field(repr=False)
    """All events of the run, in the order of histories."""
    creatures: Mapping[str, Creature] = field(repr=False)
    """The creatures that were alive at the end, by id."""
    _heard: Mapping[str, frozenset[str]] = field(repr=False)
    """The ids of the events of others that each of these creatures could hear."""
    _skews: Mapping[str, int] = field(repr=False)
    """By session: how far its logical time is ahead of the story's, because of a branch. The digest needs this."""

    @cached_property
    def digest(self) -> str:
        """Equal for equal stories, wherever and whenever they were played (ADR 0030)."""
        return digest_of(self.events, skews=self._skews)

    @cached_property
    def lines(self) -> tuple[TranscriptLine, ...]:
        """What was said and done, as the audience reads it, with thoughts."""
        return tuple(line for line in self._transcript if line.voice != "ending")

    @cached_property
    def _transcript(self) -> tuple[TranscriptLine, ...]:
        """The lines, and at last how the run ended."""
        return self._lines(self.events, "audience")

    @property
    def winner(self) -> str | None:
        """Who won, if anybody did."""
        return self.run.winner

    def heard_by(self, creature_id: CreatureOrId) -> tuple[TranscriptLine, ...]:
        """The lines of others that a creature could hear, without their thoughts."""
        heard = self._heard.get(id_of(creature_id))
        if heard is None:
            raise UnknownName(noun="creature", name=id_of(creature_id), known=self.creatures)
        lines = self._lines(self.events, "spectator")
        return tuple(line for line in lines if line.id in heard and line.voice not in {"silence", "change"})

    def page(self) -> FramedPage:
        """The run as one HTML file with thoughts, that of `Terrarium.share`. A notebook shows it in a frame, and its own file
        grows by it: about 0.8 MB. A longer run than that of 4 MB is refused."""
        # Imported here: few callers need it.
        from glasshouse.runtime.sharing.shared_run import SharedRun

        shared = SharedRun(self.run.id, has_minds=True, file_bytes_max=notebook_bytes_max)
        for event in self.events:
            shared.take(event)
        page = FramedPage(shared.file().content.decode())
        page.run_title = self.run.title or self.run.id
        return page

    def __str__(self) -> str:
        return "\n".join(line.plain for line in self._transcript)

    def _repr_html_(self) -> str:
        """The run as a notebook shows it: a small transcript. All text of creatures is escaped."""
        shown = self.lines[:html_lines_max]
        rows = "".join(map(_row, shown))
        left = len(self.lines) - len(shown)
        more = f"<p>and {left} more lines</p>" if left else ""
        return f"<div><p><b>{escape(self.run.title or self.run.id)}</b></p><p>{escape(self._ending)}</p><table>{rows}</table>{more}</div>"

    @property
    def _ending(self) -> str:
        run = self.run
        state = run.status if run.finished is None else run.finished.reason
        won = f", won by {run.winner}" if run.winner else ""
        seed = f"{run.seed} · " if run.seed else ""
        return f"{seed}{run.turns} turns, {run.calls} calls, {state}{won} · {self.digest[:12]}"

    def _lines(self, events: tuple[Event, ...], role: Role) -> tuple[TranscriptLine, ...]:
        return tuple(transcript_of((redacted(event, role) for event in events), self.run.id))


async def played_of(parts: Parts, run_id: str) -> Played:
    """A run of an open terrarium as a value, as it stands now."""
    events = await parts.archive.run_events(run_id)
    creatures = {c.id: c for c in parts.edits.creatures() if c.run_id == run_id}
    heard = {
        name: frozenset([e.id for e in events if e.actor != name and visible_to(listener, e)])
        for name, listener in picked(parts.house.ledger.world.creatures, creatures).items()
    }
    run = parts.stage.run_of(run_id)
    skews = parts.house.history.skews()
    return Played(run, events, MappingProxyType(creatures), heard, skews)


def _row(line: TranscriptLine) -> str:
    who = '<td style="vertical-align:top;text-align:left;white-space:nowrap"><b>{}</b></td>'
    said = '<td style="text-align:left;white-space:pre-wrap">{}{}</td>'
    thought = f"<br><small><i>{escape(line.thought)}</i></small>" if line.thought else ""
    return f"<tr>{who.format(escape(line.who))}{said.format(escape(line.text), thought)}</tr>"
