"""The stage header and the bar under the show: what is played, how far it is, what is left of its budget. Pure."""

from __future__ import annotations

from typing import Final, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.console import RenderableType
from rich.rule import Rule
from rich.text import Text

from glasshouse.cli.drawing.programme import Programme
from glasshouse.cli.drawing.screen import one_line
from glasshouse.cli.drawing.voices import QUIET, Voices

BAR_CHARS: Final = (12, 6, 0)
"""How long a bar is, where there is room and where there is less."""
HINT: Final = "i disturb · space pause · q stop"


class Gauge(NamedTuple):
    """How much of a limit is used up. None: there is no limit."""

    name: str
    used: int
    limit: int | None


def header(programme: Programme, voices: Voices) -> list[RenderableType]:
    """Title, seed, cast and how far it is, as they stand above the stage."""
    run = programme.run
    cast = Text.assemble(("with ", QUIET))
    handles = [member.handle for member in programme.stage.cast.values()]
    for place, handle in enumerate(dict.fromkeys([*handles, *programme.expected])):
        cast.append(", " if place else "", style=QUIET)
        cast.append(one_line(handle), style=f"bold {voices.colour_of(handle)}")
    title = f" {one_line(run.title or programme.run_id)} "
    drawn: list[RenderableType] = [Rule(Text(title, style="bold"), style=QUIET)]
    if run.seed:
        drawn.append(Text(f"seed: {one_line(run.seed)}", style=QUIET))
    reached = f"turn {programme.stage.turn}" if programme.stage.turn else ""
    parts = [f"run {one_line(programme.run_id)}", reached, one_line(programme.stage.scene_title)]
    return [*drawn, cast, Text(" · ".join(part for part in parts if part), style=QUIET)]


def gauges(programme: Programme) -> list[Gauge]:
    """The budget: turns and calls, each of its limit."""
    stage, run = programme.stage, programme.run
    calls = stage.counters.calls + programme.calls_before if run.calls is None else run.calls
    turns = stage.turn if run.turns is None else run.turns
    limits = run.budget
    return [
        Gauge("turn", turns, limits.get("max_turns")),
        Gauge("calls", calls, limits.get("max_total_calls")),
    ]


def status(programme: Programme, columns: int, hint: str = HINT, *, is_plain: bool = False) -> str:
    """The bar under the show, on one line that fits: budget, movement, keys."""
    movement = one_line(programme.stage.scene_title)
    text = ""
    for chars, title in [*((chars, movement) for chars in BAR_CHARS), *((chars, "") for chars in BAR_CHARS)]:
        shown = [drawn_gauge(gauge, chars, is_plain=is_plain) for gauge in gauges(programme)]
        text = "  ".join(part for part in [*shown, title, hint] if part)
        if cell_len(text) < columns:
            return text
    return set_cell_size(text, max(0, columns - 1))


def drawn_gauge(gauge: Gauge, chars: int = BAR_CHARS[0], *, is_plain: bool = False) -> str:
    """One limit as words and a bar."""
    if not gauge.limit:
        return f"{gauge.name} {gauge.used}"
    full = min(chars, gauge.used * chars // gauge.limit)
    done, left = ("#", "-") if is_plain else ("━", "┄")
    return f"{gauge.name} {gauge.used}/{gauge.limit} {done * full}{left * (chars - full)}".rstrip()
