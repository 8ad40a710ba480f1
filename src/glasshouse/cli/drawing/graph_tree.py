"""The shape of a team on the screen: a tree for each graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec
from rich.text import Text
from rich.tree import Tree

from glasshouse.cli.drawing.screen import Screen, counted, facts_of, one_line, print_json
from glasshouse.cli.drawing.voices import QUIET, Voices
from glasshouse.cli.store_reader import StoreReader, Story, event_count_at, short_ids
from glasshouse.terrarium import stories_of
from glasshouse.views.page_fold import PageFold
from glasshouse.views.topology import Member, Shape
from glasshouse.world.state.values import Channel


@dataclass(frozen=True)
class TreeRead:
    """The graphs of a run or session after an event; no event means now."""

    name: str
    event_id: str | None
    number: int | None
    shapes: tuple[Shape, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    """What each graph is called, as on the page."""


async def read_tree(reader: StoreReader, name: str, at: str | None) -> TreeRead:
    """The graphs that a run's creatures are in, or that of a session; now, or after one of its events."""
    story = await reader.story(name)
    number = None if at is None else event_count_at(story, at)
    if number == 0:
        return TreeRead(story.name, None, 0, ())
    is_imported_run = story.run is None and story.name == story.run_id
    if is_imported_run or (story.run is None and not reader.terrarium.session(story.name).is_open):
        number = len(story.events) if number is None else number
    event_id = None if number is None else story.events[number - 1].id
    shapes = await reader.terrarium.shapes(event_id)

    def is_mine(shape: Shape) -> bool:
        if story.run is None:
            return shape.graph.session_id == story.name
        return any(member.run_id == story.run_id for member in shape.members)

    names = await _names_of_graphs(reader, story, number)
    return TreeRead(story.name, event_id, number, tuple(filter(is_mine, shapes)), names)


async def _names_of_graphs(reader: StoreReader, story: Story, number: int | None) -> dict[str, str]:
    """What the graphs of a story are called after one of its events, by the fold that names them on the page."""
    if story.run is not None:
        stories = stories_of(reader.terrarium)
        shown = stories.of_run(story.run.id)
        last = None if number is None else story.events[number - 1]
        k = None if last is None else await stories.number_of(shown, "director", last)
        fold = await stories.view_at(shown, "director", k)
    else:
        fold = PageFold("director")
        for event in story.events[:number]:
            fold.fold(event)
    return {graph_id: graph["name"] for graph_id, graph in fold.view["graphs"].items()}


def print_tree(read: TreeRead) -> None:
    """One object for each graph."""
    for shape in read.shapes:
        graph = shape.graph
        about = {"name": read.name, "event_id": read.event_id, "at": read.number, "graph_id": graph.id}
        about["graph_name"] = read.names.get(graph.id)
        parts = {"creatures": shape.members, "channels": shape.channels, "wires": graph.wires}
        print_json({**about, **facts_of(graph, "session_id", "turn"), **msgspec.to_builtins(parts)})


def draw_tree(read: TreeRead) -> None:
    """A tree for each graph: its creatures, each under its parent; its channels; its wires."""
    screen = Screen()
    when = "now" if read.event_id is None else f"after event {read.number:,}"
    screen.draw(Text(f"{read.name}, {when}", style="bold"))
    if not read.shapes:
        screen.draw("There is no graph of it then.")
        return
    voices = Voices([member.handle for shape in read.shapes for member in shape.members])
    short = short_ids([shape.graph.id for shape in read.shapes])
    for shape in read.shapes:
        graph_id = shape.graph.id
        screen.draw(_tree_of(shape, read.names.get(graph_id, ""), short[graph_id], voices))


def _tree_of(shape: Shape, name: str, short_id: str, voices: Voices) -> Tree:
    graph = shape.graph
    called = f"graph {one_line(name)}, {short_id}" if name else f"graph {short_id}"
    note = f"  turn {graph.turn}, {counted(len(shape.members), 'creature')}"
    top = Tree(Text.assemble((called, "bold"), (note, QUIET)), guide_style=QUIET)
    handles = {member.id: one_line(member.handle) for member in shape.members}
    _add_members(top.add(Text("creatures", QUIET)), shape.members, voices)
    channels = top.add(Text("channels", QUIET)) if shape.channels else top
    for channel in shape.channels:
        note = "" if channel.history == "full" else "tells newcomers nothing"
        branch = channels.add(_noted(one_line(channel.name), note))
        for line in _users_of(channel, handles):
            branch.add(Text(line))
    wires = top.add(Text("wires", QUIET)) if graph.wires else top
    for wire in graph.wires:
        ends = f"{handles.get(wire.source, wire.source)} → {handles.get(wire.target, wire.target)}"
        when = f"when {one_line(wire.when)}" if wire.when else ""
        prompt = f"as {one_line(wire.prompt)}" if wire.prompt else ""
        wires.add(_noted(ends, "" if wire.with_content else "without its words", when, prompt))
    return top


def _add_members(top: Tree, members: tuple[Member, ...], voices: Voices) -> None:
    """Add each creature under its parent, or at the top if its parent is not in this graph."""
    branches: dict[str, Tree] = {}
    waiting = list(members)
    while waiting:
        parents = {member.id for member in waiting}
        for member in [m for m in waiting if m.parent not in parents] or waiting[:1]:
            branches[member.id] = branches.get(member.parent or "", top).add(_member(member, voices))
        waiting = [member for member in waiting if member.id not in branches]


def _member(member: Member, voices: Voices) -> Text:
    who = Text(one_line(member.handle), f"bold {voices.colour_of(member.handle)}")
    privileged = "privileged" * member.is_privileged
    resting = "resting" * (not member.is_running)
    own_id = "" if member.id == member.handle else one_line(member.id)
    return _noted(who, "" if member.role == "worker" else member.role, privileged, resting, own_id)


def _users_of(channel: Channel, handles: dict[str, str]) -> list[str]:
    """Who is on a channel, in one line or two."""
    listeners = ", ".join(handles.get(name, name) for name in channel.listeners)
    senders = ", ".join(handles.get(name, name) for name in channel.senders)
    if set(channel.senders) == set(channel.listeners):
        return [f"all listen and send: {listeners}" if listeners else "nobody is on it"]
    return [f"listen: {listeners or 'nobody'}", f"send: {senders or 'nobody'}"]


def _noted(text: str | Text, *notes: str) -> Text:
    """A text, and after it the notes that are not empty."""
    noted = ", ".join(note for note in notes if note)
    return Text.assemble(text, (f"  {noted}" if noted else "", QUIET))
