"""`RunView`: one run for people: its stage, kept by an observer, and the lines to show. A header above it and a bar
below it say what is played, how far the run is, and how much of its budget is left.

Always holds: it returns only lines that a person should see. Silences and thoughts are shown only with minds;
failures are always shown, and of group tools what changes who is there. Events of other runs in the same store do not affect it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any, Final, NamedTuple

from msgspec.structs import replace
from rich.cells import cell_len, set_cell_size
from rich.console import RenderableType
from rich.rule import Rule
from rich.text import Text

from glasshouse.cli.drawing.screen import first_words, one_line
from glasshouse.cli.drawing.voices import QUIET, Voices
from glasshouse.cli.pace import duration_of, seconds_of_lines
from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.events.payloads import CreatureStarted, Governor, payload_of, total_usd_max
from glasshouse.events.redaction import Role
from glasshouse.runtime.ledger.observer import Observer
from glasshouse.runtime.run import Thinking
from glasshouse.views.diff import ViewDiff
from glasshouse.views.stage import RunStatus, StageProjection
from glasshouse.views.transcript import TranscriptLine, line_of

quoted_lines_max: Final = 1_000
"""The number of lines kept, so that later lines can quote them."""
quoted_words_max: Final = 6
"""A quotation is cut here."""
turns_kept_max: Final = 8
"""The suggested branch at the end begins at most this many turns back."""


class RunView:
    """Give it events; it gives the lines to show."""

    def __init__(
        self,
        run_id: str,
        role: Role = "director",
        *,
        has_minds: bool = False,
        past_run_ids: tuple[str, ...] = (),
    ) -> None:
        """The role decides what is read, `has_minds` whether thoughts that may be read are shown.

        Of a branch or a resumed run, `past_run_ids` are the runs whose past it has.
        """
        self.run_id = run_id
        self.past_run_ids = past_run_ids
        self.calls_before = 0
        """Calls that were spent before, in events that this view did not get."""
        self.usd_before = 0.0
        """Dollars that were."""
        self.expected: tuple[str, ...] = ()
        """Handles of creatures that join before the first act and whose births were not read yet."""
        self.last_id = ""
        """The last event of this run."""
        self.turn_ids: deque[str] = deque(maxlen=turns_kept_max)
        """The events with which the last turns began."""
        self._has_minds = has_minds
        self._graph_ids: set[str] = set()
        self._quotes: dict[str, str] = {}
        self._lines: list[TranscriptLine] = []
        self._observer = Observer(run_id=run_id, role=role, past_run_ids=past_run_ids)
        self._observer.on_diff(self._take_lines)

    @property
    def stage(self) -> StageProjection:
        """The stage as it is now."""
        return self._observer.view

    @property
    def run(self) -> RunStatus:
        """The run's status."""
        return self.stage.runs.get(self.run_id) or RunStatus()

    @property
    def is_finished(self) -> bool:
        """Whether it is over."""
        return self.run.state == "finished"

    @property
    def handles(self) -> list[str]:
        """The handles of the whole cast, each once."""
        return list(dict.fromkeys([*[member.handle for member in self.stage.cast.values()], *self.expected]))

    @property
    def has_several_graphs(self) -> bool:
        """Whether its graphs have merged or split: beside the one where it began there was more than one."""
        return len(self._graph_ids) > 2

    def expect(self, coming: Iterable[Event]) -> None:
        """Look ahead, so that the whole cast is known when the first of several scenes is shown."""
        before = takewhile(lambda event: event.kind != kinds.TURN_STARTED, coming)
        births = [payload_of(e, CreatureStarted) for e in before if e.kind == kinds.CREATURE_STARTED]
        self.expected = tuple([birth.handle for birth in births if birth.run_id == self.run_id])

    def concerns(self, event: Event) -> bool:
        """Whether an event belongs to this run: said in it, or shaping the graphs that it plays in."""
        if event.run_id is not None:
            is_mine = event.run_id == self.run_id
        elif event.kind == kinds.CREATURE_STARTED:
            is_mine = payload_of(event, CreatureStarted).run_id == self.run_id
        else:
            return event.graph_id in self._graph_ids
        if is_mine:
            self._graph_ids.add(event.graph_id)
        return is_mine

    def remember(self, event: Event) -> None:
        """Take in an event of this run's story that came before what is shown."""
        if self.concerns(event) or event.run_id in (None, *self.past_run_ids):
            self.take(event)

    def take(self, event: Event) -> list[TranscriptLine]:
        """Take in the next event of this run; the lines to show of it."""
        self.last_id = event.id
        if event.kind == kinds.TURN_STARTED:
            self.turn_ids.append(event.id)
        self._observer.consume(event)
        lines = self._lines
        self._lines = []
        return lines

    def _take_lines(self, diff: ViewDiff) -> None:
        for line in map(line_of, diff.new_lines):
            if self._has_minds or (line.kind not in kinds.MINDS and not _is_plumbing(line)):
                shown = replace(line, fields={name: self._quoted(it) for name, it in line.fields.items()})
                self._lines.append(shown if self._has_minds else replace(shown, thought="", mood=""))
                self._quotes[line.id] = f"{line.who}, {first_words(line.text, quoted_words_max)}"
        while len(self._quotes) > quoted_lines_max:
            del self._quotes[next(iter(self._quotes))]

    def _quoted(self, value: Any) -> Any:
        """A field's value; where it is the id of a line, who said that line and how it began."""
        if isinstance(value, list) and any(part in self._quotes for part in value if isinstance(part, str)):
            return "; ".join(str(self._quoted(part)) for part in value)
        return self._quotes.get(value, value) if isinstance(value, str) else value


def _is_plumbing(line: TranscriptLine) -> bool:
    """Whether it is a use of a group tool by which nobody came, went, or hears others than before."""
    return line.used is not None and bool(line.used.deed) and not line.used.moves_somebody


BAR_CHARS: Final = (12, 6, 0)
"""How long a bar is, where there is room and where there is less."""
HINT: Final = "i disturb · space pause · q finish"
KEYS: Final = "Keys: i says something, space pauses, q finishes the run, any other key: next line."
text_shown_max: Final = 40
"""How many characters of a line that is still coming are shown."""
speaking_share: Final = 0.5
"""The part of the cast that speaks in a turn, about: 0.35 to 0.7 in the bundled worlds."""


class Gauge(NamedTuple):
    """How much of a limit is used. None means no limit."""

    name: str
    used: float
    """A float is an amount of dollars."""
    limit: float | None

    def drawn(self, chars: int = BAR_CHARS[0], *, is_plain: bool = False) -> str:
        """The limit as words and a bar."""
        if not self.limit:
            return f"{self.name} {self.used}"
        full = min(chars, int(self.used * chars // self.limit))
        done, left = ("#", "-") if is_plain else ("━", "┄")
        return f"{self.in_words('/')} {done * full}{left * (chars - full)}".rstrip()

    def in_words(self, of: str = " of ") -> str:
        """The limit as words."""
        used, limit = [f"{n:.2f}" if isinstance(n, float) else n for n in (self.used, self.limit)]
        return f"{self.name} {used}{f'{of}{limit}' if self.limit else ''}"


def gauges(view: RunView) -> tuple[Gauge, ...]:
    """The budget: turns and calls, each of its limit; and dollars, if the run has a limit of them."""
    stage = view.stage
    run = view.run
    turns = stage.turn
    calls = stage.counters.calls + view.calls_before
    if run.finished is not None:
        turns = run.finished.turns
        calls = run.finished.calls
    limits = run.budget or Governor(max_turns=None, max_total_calls=None)
    usd_max = total_usd_max(limits)
    usd = view.usd_before + (stage.counters.usd or 0.0)
    if run.finished is not None:
        usd = run.finished.usd or 0.0
    dollars = [] if usd_max is None else [Gauge("USD", usd, usd_max)]
    return Gauge("turn", turns, limits.max_turns), Gauge("calls", calls, limits.max_total_calls), *dollars


def header(view: RunView, voices: Voices) -> list[RenderableType]:
    """Title, seed, cast and how far it is."""
    run = view.run
    stage = view.stage
    names = [Text(one_line(handle), f"bold {voices.colour_of(handle)}") for handle in view.handles]
    cast = Text.assemble(("with ", QUIET), Text(", ", QUIET).join(names))
    title = Text(f" {one_line(run.title or view.run_id)} ", "bold")
    seed = [Text(f"seed: {one_line(run.seed)}", QUIET)] if run.seed else []
    reached = f"turn {stage.turn}" if stage.turn else ""
    parts = [f"run {one_line(view.run_id)}", reached, one_line(stage.scene_title)]
    about = Text(" · ".join(part for part in parts if part), QUIET)
    return [Rule(title, style=QUIET), *seed, cast, *bios(stage, voices), about]


def prospect(view: RunView, turns_max: int | None, seconds: float | None = None) -> str:
    """How long the rest of a run takes, and which keys there are. Without the seconds of a rehearsal: at most, as far as its
    limits tell."""
    turn, calls, *_ = gauges(view)
    # The turn that a run is in when it is shown first is still to be played.
    left = None if turn.limit is None else int(max(0, turn.limit - max(0, turn.used - 1)))
    turns = min([limit for limit in (left, turns_max) if limit is not None], default=None)
    lines = [] if turns is None else [turns * max(1, len(view.handles) * speaking_share)]
    lines += [] if calls.limit is None else [max(0, calls.limit - calls.used)]
    if seconds is None:
        seconds = seconds_of_lines(min(lines)) if lines else None
    if seconds is None:
        return KEYS
    upto = "" if turns is None else f"up to {turns} turn{'' if turns == 1 else 's'}, "
    duration = f"{upto}{duration_of(seconds)} at reading pace (--pace fast: at once)."
    return f"{duration[0].upper()}{duration[1:]} {KEYS}"


def thinking_in_words(thinking: Sequence[Thinking]) -> str:
    """Who thinks, for how long, how far its model is, and the end of what has come of a line; empty if nobody does."""
    if not thinking:
        return ""
    first = next((creature for creature in thinking if not creature.is_waiting), thinking[0])
    beside = _others_in_words([creature for creature in thinking if creature is not first])
    text = one_line(first.text)
    tail = (
        f": {'…' if len(text) > text_shown_max else ''}{text[-text_shown_max:]}"
        if text
        else " · Ctrl-C leaves"
    )
    return f"{one_line(first.handle)} {_doing_in_words(first)}{beside}, {first.seconds:.0f} s{tail}"


def _doing_in_words(creature: Thinking) -> str:
    if creature.is_waiting:
        return "waits for its turn"
    if creature.prompt_percent is not None:
        return f"reads its prompt, {creature.prompt_percent} %"
    if creature.tokens:
        return f"writes, {creature.tokens} token{'' if creature.tokens == 1 else 's'} so far"
    return "thinks"


def _others_in_words(others: Sequence[Thinking]) -> str:
    if not others:
        return ""
    waiting = len([creature for creature in others if creature.is_waiting])
    waits = "waits" if waiting == 1 else "wait"
    if waiting == len(others):
        return f" ({waiting} {waits})"
    return f" (and {len(others)} more{f', {waiting} of them {waits}' if waiting else ''})"


def bios(stage: StageProjection, voices: Voices) -> list[Text]:
    """The bio of each creature that has one, under its name."""
    return [
        Text.assemble(
            (f"  {one_line(member.handle)}", voices.colour_of(member.handle)),
            f", {one_line(member.title)}\n" if member.title else "\n",
            f"    {one_line(member.bio)}",
        )
        for member in stage.cast.values()
        if member.bio
    ]


def status(view: RunView, columns: int, hint: str = HINT, *, is_plain: bool = False) -> str:
    """The bar under the run, on one line that fits: budget, title of the scene, keys."""
    scene = one_line(view.stage.scene_title)
    text = ""
    for title in (scene, ""):
        for chars in BAR_CHARS:
            bars = [gauge.drawn(chars, is_plain=is_plain) for gauge in gauges(view)]
            text = "  ".join(part for part in [*bars, title, hint] if part)
            if cell_len(text) < columns:
                return text
    cut = set_cell_size(text, max(0, columns - 1))
    return cut if text[len(cut) :].startswith(" ") else cut.rpartition(" ")[0]
