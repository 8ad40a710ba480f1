"""Scenes as drawings for a terminal: a box for each graph, a colour for each graph id.

Always holds: a drawing is a function of the scene and of the colours given to graphs so far. Colours are the
console's business: where there is none, the boxes and words say the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, assert_never

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from glasshouse.cli.drawing import lanes
from glasshouse.cli.tour import story
from glasshouse.cli.tour.picturing import short
from glasshouse.cli.tour.scenes import (
    Counts,
    Family,
    Lane,
    Note,
    Owed,
    Pane,
    Panes,
    Pointers,
    Scene,
    Shown,
    Spoken,
    Timeline,
    Told,
    Words,
)

PALETTE: Final = ("green", "magenta", "cyan", "yellow", "blue", "red")
MARGIN: Final = 2


class Sketchbook:
    """Draws scenes, and remembers which graph has which colour."""

    def __init__(self) -> None:
        self._colours: dict[str, str] = {}

    def opening(self, *, is_paced: bool) -> RenderableType:
        """What is drawn before the first scene."""
        title = Rule(Text(" Glasshouse ", style="bold green"), style="green", characters="─")
        hint = [Text(), _indented(Text(story.HINT, style="dim"))] if is_paced else []
        return Group(Text(), title, Text(), _indented(Text(story.OPENING)), *hint)

    def scene(self, number: int, scenes: int, scene: Scene) -> RenderableType:
        """A whole scene."""
        heading = Text.assemble((f"{number}", "bold green"), (f"/{scenes}  ", "dim"), (scene.heading, "bold"))
        parts: list[RenderableType] = [Text(), heading]
        if scene.call:
            parts.append(_indented(Text(scene.call, style="cyan")))
        parts.append(_indented(Text(scene.sentence)))
        for shown in scene.shown:
            parts += [Text(), _indented(self._drawn(shown))]
        return Group(*parts)

    def _drawn(self, shown: Shown) -> RenderableType:
        match shown:
            case Panes():
                return self._panes(shown)
            case Spoken():
                return Group(*(_speech(*line) for line in shown.lines))
            case Told():
                return _told(shown)
            case Owed():
                return _owed(shown)
            case Counts():
                return _counts(shown)
            case Family():
                return _family(shown)
            case Timeline():
                return _timeline(shown)
            case Note():
                return Text(shown.text, style="dim")
            case Words():
                return Group(*(Text.assemble(("▌ ", "yellow"), line) for line in shown.lines))
            case Pointers():
                return _pointers(shown)
            case _:
                assert_never(shown)

    def _panes(self, panes: Panes) -> RenderableType:
        grid = Table.grid(padding=(0, 2))
        grid.add_row(*(self._pane(pane) for pane in panes.panes))
        return grid

    def _pane(self, pane: Pane) -> RenderableType:
        colour = self._colours.setdefault(pane.graph_id, PALETTE[len(self._colours) % len(PALETTE)])
        chips = Text("  ").join(Text.assemble(("● ", colour), (handle, "bold")) for handle in pane.handles)
        channels = Table.grid(padding=(0, 2))
        for lane in pane.lanes:
            channels.add_row(Text(lane.name, style=colour), _reach(lane))
        return Panel(
            Group(chips, channels),
            title=Text(f"graph {short(pane.graph_id)}", style=colour),
            title_align="left",
            subtitle=Text(f"session {short(pane.session_id)}", style="dim"),
            subtitle_align="right",
            border_style=colour,
            box=box.ROUNDED,
            padding=(0, 1),
            expand=False,
        )


def _indented(drawing: RenderableType) -> RenderableType:
    return Padding.indent(drawing, MARGIN)


def _reach(lane: Lane) -> Text:
    """Who is on a channel: a ring where all send and listen, an arrow where it goes one way."""
    if lane.is_name_only:
        return Text()
    if not lane.senders and not lane.listeners:
        return Text("nobody is on it", style="dim")
    if set(lane.senders) == set(lane.listeners):
        return Text(" ─ ".join(lane.senders))
    return Text(f"{', '.join(lane.senders) or 'nobody'} ──▸ {', '.join(lane.listeners) or 'nobody'}")


def _speech(speaker: str, channel: str, text: str) -> Text:
    return Text.assemble((speaker, "bold"), (f" on {channel}: ", "dim"), (f"“{text}”", "italic"))


def _told(told: Told) -> RenderableType:
    table = Table.grid(padding=(0, 1))
    wide = max(len(first) for first, _, _ in told.rows)
    for first, second, third in told.rows:
        table.add_row(Text(f"[{first.ljust(wide)}]", style="dim"), Text(second, style="bold"), Text(third))
    return table


def _owed(owed: Owed) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    for name, speakers in owed.rows:
        said = ", ".join(f"{speaker}'s line" for speaker in speakers)
        table.add_row(
            Text.assemble((name, "bold"), (" is owed", "dim")), said or Text("nothing", style="dim")
        )
    return table


def _counts(counts: Counts) -> RenderableType:
    mark = ("✓ ", "green") if counts.is_good else ("✗ ", "bold red")
    table = Table.grid(padding=(0, 2))
    for name, value in counts.rows:
        table.add_row(Text.assemble(mark, (name, "dim")), Text(value, style="bold"))
    return table


def _family(family: Family) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    for row in lanes.rows(family.sessions):
        table.add_row(Text(row.lanes, style="green"), *_about(row))
    return Group(table, Text(), Text("● lives on   ○ ended, or never lived", style="dim"))


def _about(row: lanes.Row) -> Iterator[Text]:
    session = row.session
    if session is not None:
        yield Text(session.origin, style="bold")
        yield Text(short(session.session_id), style="dim")
        yield Text(f"{session.events} event{'s'[: session.events != 1]}", style="dim")
        yield Text(session.who)


def _timeline(line: Timeline) -> RenderableType:
    """One mark an event, so that the place of the fork is seen and not only told."""
    after = "━" * (line.events - line.shared)
    table = Table.grid(padding=(0, 2))
    table.add_row(
        Text(short(line.session_id), style="dim"),
        Text.assemble(("━" * (line.shared - 1) + "┳", "green"), (after, "green")),
        f"{line.events} events",
    )
    table.add_row(
        Text(short(line.fork_id), style="dim"),
        Text(" " * (line.shared - 1) + "┗" + "━" * line.own, style="magenta"),
        f"shares {line.shared}, adds {line.own}",
    )
    return table


def _pointers(pointers: Pointers) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    for what, why in pointers.rows:
        table.add_row(Text(what, style="bold cyan"), Text(why))
    return table
