"""`Programme`: what somebody in the audience knows of one run, folded from its events as they come.

Always holds: only lines that a person should see come out of it: silences and thoughts when minds are shown, failures
always. What the audience may not read was taken off before. Events of other runs in the same store do not touch it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import takewhile
from typing import Any, Final

from msgspec.structs import replace

from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.events.redaction import redacted
from glasshouse.views.stage import RunStatus, StageProjection
from glasshouse.views.transcript import Transcript, TranscriptLine

quoted_lines_max: Final = 1_000
"""So many lines can be quoted by later ones."""
quoted_words_max: Final = 6
turns_kept_max: Final = 8
"""So many turns back a branch is offered to begin."""


class Programme:
    """One run as it goes: apply events, get the lines to show."""

    def __init__(self, run_id: str, *, has_minds: bool = False, past_run_ids: tuple[str, ...] = ()) -> None:
        """Of a branch or a resumed run, `past_run_ids` are the runs whose past it has."""
        self.run_id = run_id
        self.past_run_ids = past_run_ids
        self.parent: str | None = None
        """The run that it can be compared with, where it is a branch of one or was resumed from one."""
        self.calls_recalled: int | None = None
        """Of a branch that was just made: how many of its calls were answered from the record."""
        self.is_one_of_several = False
        """Whether other runs are played in one go with it, so that it has to be told apart."""
        self.has_nothing_left = False
        """Whether it goes on from a past after which there was nothing to do."""
        self.calls_before = 0
        """Calls that were spent before and that no event in sight tells of."""
        self.expected: tuple[str, ...] = ()
        """Handles of those who come in before anybody acts, and whose births are not applied yet."""
        self.disturbances: tuple[str, ...] = ()
        """What the world suggests to throw in."""
        self.last_id = ""
        """The last event of this run."""
        self.turn_ids: deque[str] = deque(maxlen=turns_kept_max)
        """The events with which the last turns began."""
        self.stage = StageProjection(run_id=run_id, past_run_ids=past_run_ids)
        self._transcript = Transcript(run_id, past_run_ids)
        self._has_minds = has_minds
        self._graph_ids: set[str] = set()
        self._quotes: dict[str, str] = {}

    @property
    def run(self) -> RunStatus:
        """How the run stands."""
        return self.stage.runs.get(self.run_id) or RunStatus()

    @property
    def is_finished(self) -> bool:
        """Whether it is over."""
        return self.run.state == "finished"

    @property
    def has_lines(self) -> bool:
        """Whether anybody has said anything."""
        return self.stage.counters.lines > 0

    @property
    def has_several_graphs(self) -> bool:
        """Whether its graphs have parted or come together: beside where it began there was more than one."""
        return len(self._graph_ids) > 2

    @property
    def judged(self) -> list[str]:
        """What judges have said."""
        return [note.text for note in self.stage.judge_notes]

    def expect(self, coming: Iterable[Event]) -> None:
        """Look ahead, so that the whole cast is known when the first scene of several is shown."""
        births = takewhile(lambda event: event.kind != kinds.TURN_STARTED, coming)
        self.expected = tuple(
            [
                str(event.payload.get("handle", ""))
                for event in births
                if event.kind == kinds.CREATURE_STARTED and event.payload.get("run_id") == self.run_id
            ]
        )

    def concerns(self, event: Event) -> bool:
        """Whether an event belongs to this run: said in it, or shaping the graphs that it plays in."""
        if event.run_id is not None:
            is_mine = event.run_id == self.run_id
        elif event.kind == kinds.CREATURE_STARTED:
            is_mine = event.payload.get("run_id") == self.run_id
        else:
            return event.graph_id in self._graph_ids
        if is_mine:
            self._graph_ids.add(event.graph_id)
        return is_mine

    def remember(self, event: Event) -> None:
        """Take in an event of this run's story that came before what is shown."""
        if self.concerns(event) or event.run_id in (None, *self.past_run_ids):
            self.apply(event)

    def apply(self, event: Event) -> TranscriptLine | None:
        """Take the next event of this run in; give the line to show, if it is one."""
        self.last_id = event.id
        self.stage.apply(event)
        if event.kind == kinds.RUN_STARTED:
            self.disturbances = _suggested(event)
        elif event.kind == kinds.TURN_STARTED:
            self.turn_ids.append(event.id)
        line = self._transcript.apply(redacted(event, "audience"))
        if line is None or not self._is_shown(line):
            return None
        shown = replace(line, fields={name: self._quoted(value) for name, value in line.fields.items()})
        self._keep_quote(line)
        return shown if self._has_minds else replace(shown, thought="", mood="")

    def _is_shown(self, line: TranscriptLine) -> bool:
        return self._has_minds or (line.kind != kinds.AGENT_PASSED and line.kind not in kinds.INNER)

    def _keep_quote(self, line: TranscriptLine) -> None:
        words = line.text.split()
        dots = "…" if len(words) > quoted_words_max else ""
        self._quotes[line.id] = f"{line.who}, “{' '.join(words[:quoted_words_max])}{dots}”"
        if len(self._quotes) > quoted_lines_max:
            del self._quotes[next(iter(self._quotes))]

    def _quoted(self, value: Any) -> Any:
        """A field's value; where it names a line, who said it and how it began."""
        if isinstance(value, list) and any(part in self._quotes for part in value if isinstance(part, str)):
            return "; ".join(str(self._quoted(part)) for part in value)
        return self._quotes.get(value, value) if isinstance(value, str) else value


def _suggested(started: Event) -> tuple[str, ...]:
    scenario = started.payload.get("scenario") or {}
    return tuple(str(text) for text in scenario.get("disturbances") or ())
