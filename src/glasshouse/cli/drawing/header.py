"""The header above a run and the bar under it: what is played, how far it is, what is left of its budget."""

from __future__ import annotations

from typing import Final, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.console import RenderableType
from rich.rule import Rule
from rich.text import Text

from glasshouse.cli.drawing.run_view import RunView
from glasshouse.cli.drawing.screen import one_line
from glasshouse.cli.drawing.voices import QUIET, Voices
from glasshouse.events.limits import Governor

BAR_CHARS: Final = (12, 6, 0)
"""How long a bar is, where there is room and where there is less."""
HINT: Final = "i disturb · space pause · q stop"


class Gauge(NamedTuple):
    """How much of a limit is used up. None: there is no limit."""

    name: str
    used: int
    limit: int | None

    def drawn(self, chars: int = BAR_CHARS[0], *, is_plain: bool = False) -> str:
        """The limit as words and a bar."""
        if not self.limit:
            return f"{self.name} {self.used}"
        full = min(chars, self.used * chars // self.limit)
        done, left = ("#", "-") if is_plain else ("━", "┄")
        return f"{self.name} {self.used}/{self.limit} {done * full}{left * (chars - full)}".rstrip()


def gauges(view: RunView) -> tuple[Gauge, Gauge]:
    """The budget: turns and calls, each of its limit."""
    stage, run = view.stage, view.run
    ending = run.finished
    calls = stage.counters.calls + view.calls_before if ending is None else ending.calls
    turns = stage.turn if ending is None else ending.turns
    limits = run.budget or Governor(max_turns=None, max_total_calls=None)
    return Gauge("turn", turns, limits.max_turns), Gauge("calls", calls, limits.max_total_calls)


def header(view: RunView, voices: Voices) -> list[RenderableType]:
    """Title, seed, cast and how far it is."""
    run, stage = view.run, view.stage
    cast = Text.assemble(("with ", QUIET))
    handles = [member.handle for member in stage.cast.values()]
    for index, handle in enumerate(dict.fromkeys([*handles, *view.expected])):
        cast.append(", " if index else "", style=QUIET)
        cast.append(one_line(handle), style=f"bold {voices.colour_of(handle)}")
    title = f" {one_line(run.title or view.run_id)} "
    seed = [Text(f"seed: {one_line(run.seed)}", style=QUIET)] if run.seed else []
    reached = f"turn {stage.turn}" if stage.turn else ""
    parts = [f"run {one_line(view.run_id)}", reached, one_line(stage.scene_title)]
    about = Text(" · ".join(part for part in parts if part), style=QUIET)
    return [Rule(Text(title, style="bold"), style=QUIET), *seed, cast, about]


def status(view: RunView, columns: int, hint: str = HINT, *, is_plain: bool = False) -> str:
    """The bar under the run, on one line that fits: budget, title of the scene, keys."""
    scene, text = one_line(view.stage.scene_title), ""
    for title in (scene, ""):
        for chars in BAR_CHARS:
            bars = [gauge.drawn(chars, is_plain=is_plain) for gauge in gauges(view)]
            text = "  ".join(part for part in [*bars, title, hint] if part)
            if cell_len(text) < columns:
                return text
    return set_cell_size(text, max(0, columns - 1))
