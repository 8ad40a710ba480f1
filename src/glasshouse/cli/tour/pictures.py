"""The drawings of the tour. Each graph keeps the colour in which it was first drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from glasshouse.cli.drawing.screen import counted
from glasshouse.cli.drawing.session_lanes import lanes_of
from glasshouse.events.event import Event, place_of
from glasshouse.world.state.values import Channel, Graph, Session

PALETTE: Final = ("green", "magenta", "cyan", "yellow", "blue", "red")
short_id_chars: Final = 6
_colours: dict[str, str] = {}


def opening(text: str, hint: str) -> Group:
    """What is drawn before the first scene."""
    title = Rule(Text(" Glasshouse ", style="bold green"), style="green")
    last: list[RenderableType] = [Text(), Padding.indent(Text(hint, style="dim"), 2)] if hint else []
    return Group(Text(), title, Text(), Padding.indent(Text(text), 2), *last)


def whole_scene(number: int, count: int, title: dict[str, str], drawings: Sequence[RenderableType]) -> Group:
    """One scene under its heading."""
    counted = (str(number), "bold green"), (f"/{count}  ", "dim")
    parts: list[RenderableType] = [Text(), Text.assemble(*counted, (title["heading"], "bold"))]
    parts += [Padding.indent(Text(title["call"], style="cyan"), 2)] if title["call"] else []
    parts.append(Padding.indent(Text(title["sentence"]), 2))
    for drawing in drawings:
        parts += [Text(), Padding.indent(drawing, 2)]
    return Group(*parts)


def short(name: str) -> str:
    """The first characters of a generated id; of an event's id, its number, too."""
    owner, seq = place_of(name)
    return f"{owner[:short_id_chars]}.{seq}" if seq else owner[:short_id_chars]


def table(lines: Iterable[Sequence[RenderableType]], gap: int = 2) -> Table:
    """Rows of cells, without borders."""
    grid = Table.grid(padding=(0, gap))
    for cells in lines:
        grid.add_row(*cells)
    return grid


def graph_box(graph: Graph, handles: Iterable[str], channels: Iterable[tuple[str, str]]) -> Panel:
    """One graph: its creatures, and its channels, each with who is on it."""
    colour = _colours.setdefault(graph.id, PALETTE[len(_colours) % len(PALETTE)])
    creatures = Text("  ").join(Text.assemble(("● ", colour), (handle, "bold")) for handle in handles)
    lines = table((Text(name, style=colour), Text(members)) for name, members in channels)
    return Panel.fit(
        Group(creatures, lines),
        title=Text(f"graph {short(graph.id)}", style=colour),
        title_align="left",
        subtitle=Text(f"session {short(graph.session_id)}", style="dim"),
        subtitle_align="right",
        border_style=colour,
    )


def members_of(channel: Channel, handles: dict[str, str]) -> str:
    """Who is on a channel: joined by lines where all send and listen, by an arrow where it goes one way."""
    senders, listeners = ([handles[name] for name in ids] for ids in (channel.senders, channel.listeners))
    if set(senders) == set(listeners):
        return " ─ ".join(senders) or "nobody is on it"
    return f"{', '.join(senders) or 'nobody'} ──▸ {', '.join(listeners) or 'nobody'}"


def speech(*events: Event) -> Group:
    """Lines with their speakers and channels."""
    lines = [((e.actor, "bold"), (f" on {e.channel}: ", "dim"), f"“{e.payload['text']}”") for e in events]
    return Group(*[Text.assemble(who, where, (text, "italic")) for who, where, text in lines])


def checked(facts: dict[str, str], *, is_good: bool = True) -> Table:
    """Facts with their names, marked as good or bad."""
    mark = ("✓ ", "green") if is_good else ("✗ ", "bold red")
    return table(
        (Text.assemble(mark, (name, "dim")), Text(fact, style="bold")) for name, fact in facts.items()
    )


def lineage(sessions: Sequence[Session]) -> Group:
    """Sessions as lanes, parents before children."""
    drawn = []
    for lanes, session in lanes_of(sessions):
        cells = [Text(lanes, style="green")]
        if session is not None:
            cells += [Text(session.origin, style="bold"), Text(short(session.id), style="dim")]
            cells.append(Text(counted(session.events, "event"), style="dim"))
            cells.append(Text("nobody lives here" if session.origin == "fork" else ", ".join(session.agents)))
        drawn.append(cells)
    return Group(table(drawn), Text(), Text("● lives on   ○ ended, or never lived", style="dim"))


def timeline(parent: Session, events: int, fork: Session, shared: int) -> Table:
    """A history and its fork, one mark an event, so that the eye sees where the fork begins."""
    history = f"{'━' * (shared - 1)}┳{'━' * (events - shared)}"
    own = f"{' ' * (shared - 1)}┗{'━' * fork.events}"
    counts = f"shares {shared}, adds {fork.events}"
    upper = (Text(short(parent.id), style="dim"), Text(history, style="green"), f"{events} events")
    return table([upper, (Text(short(fork.id), style="dim"), Text(own, style="magenta"), counts)])
