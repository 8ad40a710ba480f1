"""The tour, played on a real terrarium and drawn scene by scene.

Always holds: every count and id in a scene was read back from the terrarium; headings, sentences and what creatures say
are scripted. Script and seed of the ids never change, so the tour is the same every time. Each graph keeps the colour
in which it was first drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Sequence
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import msgspec
import yaml
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from glasshouse.assembly import MemoryStore, SqliteStore
from glasshouse.cli.drawing.screen import counted
from glasshouse.cli.drawing.session_lanes import lanes_of
from glasshouse.cli.program import examples_to_paste
from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.digest import digest_of
from glasshouse.events.event import Draft, Event, Json, session_and_seq
from glasshouse.events.payloads import TopologyChanged, payload_of
from glasshouse.manifests.manifest import Manifest
from glasshouse.runtime.clock import HandMovedClock, SeededIds
from glasshouse.terrarium import Terrarium
from glasshouse.world.state.values import Change, Channel, Graph, Session

SCRIPT: Final = yaml.safe_load(Path(__file__).with_name("tour_script.yaml").read_text(encoding="utf-8"))
IDS_SEED: Final = 1851
ROUNDS: Final = 10
RENAMES: Final[dict[str, str]] = SCRIPT["renames"]
# How the history describes events of these kinds. Of all others it describes only changes of shape.
NOTABLE: Final = {kinds.CREATURE_STARTED: "{creature}", kinds.AGENT_SPOKE: "{text}", **RENAMES}
Played: TypeAlias = tuple[list[RenderableType], Json]  # Drawings, and the same as facts for machines.
PALETTE: Final = ("green", "magenta", "cyan", "yellow", "blue", "red")
short_id_chars: Final = 6
_colours: dict[str, str] = {}


def opening(text: str, hint: str) -> Group:
    """What is drawn before the first scene."""
    title = Rule(Text(" Glasshouse ", "bold green"), style="green")
    last: list[RenderableType] = [Text(), Padding.indent(Text(hint, "dim"), 2)] if hint else []
    return Group(Text(), title, Text(), Padding.indent(Text(text), 2), *last)


def whole_scene(number: int, count: int, title: dict[str, str], drawings: Sequence[RenderableType]) -> Group:
    """One scene under its heading."""
    heading = Text.assemble((str(number), "bold green"), (f"/{count}  ", "dim"), (title["heading"], "bold"))
    call = [Padding.indent(Text(title["call"], "cyan"), 2)] if title["call"] else []
    parts: list[RenderableType] = [Text(), heading, *call, Padding.indent(Text(title["sentence"]), 2)]
    for drawing in drawings:
        parts += [Text(), Padding.indent(drawing, 2)]
    return Group(*parts)


def short(name: str) -> str:
    """The first characters of a generated id; of an event's id, its number, too."""
    owner, seq = session_and_seq(name)
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
    lines = table((Text(name, colour), Text(members)) for name, members in channels)
    box = Panel.fit(Group(creatures, lines), border_style=colour, title_align="left", subtitle_align="right")
    box.title = Text(f"graph {short(graph.id)}", colour)
    box.subtitle = Text(f"session {short(graph.session_id)}", "dim")
    return box


def members_of(channel: Channel, handles: dict[str, str]) -> str:
    """Who is on a channel: joined by lines where all send and listen, by an arrow where it goes one way."""
    senders, listeners = ([handles[name] for name in ids] for ids in (channel.senders, channel.listeners))
    if set(senders) == set(listeners):
        return " ─ ".join(senders) or "nobody is on it"
    return f"{', '.join(senders) or 'nobody'} ──▸ {', '.join(listeners) or 'nobody'}"


def speech(*events: Event) -> Group:
    """Lines with their speakers and channels."""
    lines = [(e.actor, f" on {e.channel}: ", f"“{e.payload['text']}”") for e in events]
    return Group(*[Text.assemble((a, "bold"), (b, "dim"), (c, "italic")) for a, b, c in lines])


def checked(facts: dict[str, str], *, is_good: bool = True) -> Table:
    """Facts with their names, marked as good or bad."""
    mark = ("✓ ", "green") if is_good else ("✗ ", "bold red")
    return table((Text.assemble(mark, (name, "dim")), Text(fact, "bold")) for name, fact in facts.items())


class Scene(NamedTuple):
    """One scene as it was played."""

    number: int
    key: str
    title: dict[str, str]  # Its heading, the call it makes, and a sentence about it.
    drawings: list[RenderableType]
    facts: Json


async def scenes(store: Path, file: Path) -> AsyncGenerator[Scene, None]:
    """The whole tour. Both paths are new: the store, and the file that carries a session elsewhere."""
    tour = _Tour()
    titled = list(enumerate(SCRIPT["scenes"].items(), start=1))
    tour.file = file
    for part in (titled[:-3], titled[-3:]):  # The last three play in the store as it was reopened.
        async with Terrarium(SqliteStore(store), clock=HandMovedClock(), ids=SeededIds(IDS_SEED)) as tour.t:
            for number, (key, title) in part:
                yield Scene(number, key, title, *await getattr(tour, key)())
            tour.standing = tour.stands()


class _Tour:
    """The scenes, one method each, called in the order of the script by their names."""

    t: Terrarium
    file: Path
    crossing: Event  # The line that dew says over the gap: later scenes look back at it.
    standing: Json  # What must be the same after reopening.

    async def troupes(self) -> Played:
        for troupe in SCRIPT["troupes"]:
            (first, *others) = [Manifest(name=name, persona=persona) for name, persona in troupe.items()]
            graph_id = (await self.t.add_creature(first)).graph_id
            await self.t.add_channel(graph_id, "bench")
            for manifest in others:
                await self.t.add_creature(manifest, graph=graph_id, channel="bench")
        graphs = [{"id": graph.id, "creatures": list(graph.creature_ids)} for graph in self.t.graphs()]
        return [self._boxes()], {"graphs": graphs}

    async def mail(self) -> Played:
        said = [await self._say("dew", "bench")]
        said += [await self._say("oona", "bench", said[0].id), await self._say("lux", "bench")]
        lines = {event.id: f"{event.actor}'s line" for event in said}
        owed = await self._owed()
        titles = [Text.assemble((name, "bold"), (" is owed", "dim")) for name in owed]
        names = [", ".join(lines[c] for c in causes) or Text("nothing", "dim") for causes in owed.values()]
        return [speech(*said), table(zip(titles, names, strict=True))], {"owed": owed}

    async def merge(self) -> Played:
        before = await self._owed()
        became, facts = _became(await self.t.connect("dew", "lux", channel="gap"))
        after = await self._owed()
        self.crossing = await self._say("dew", "gap")
        events = [event for event in await self._remembered_by("dew") if event.kind in RENAMES]
        renames = [RENAMES[event.kind].format(**event.payload) for event in events]
        mail = "all that was owed still is" if before == after else "CHANGED"
        shown = {"graphs": became, "renamed": ", ".join(renames), "mail": mail}
        shown["lux is owed"] = f"{len((await self._owed())['lux'])} line from over the gap"
        renamed = dict(rename.split(" is now ") for rename in renames)
        facts |= {"renamed": renamed, "owed_before": before, "owed_after": after}
        return [self._boxes(), checked(shown, is_good=before == after), speech(self.crossing)], facts

    async def split(self) -> Played:
        became, facts = _became(await self.t.disconnect("dew", "lux"))
        before = len((await self._owed())["lux"])
        answer = await self._say("lux", "bench~2", answering=self.crossing.id)
        after = len((await self._owed())["lux"])
        shown = {"graphs": became, "lux is owed": f"{before} before she answers, {after} after"}
        facts |= {"owed_before_answer": before, "owed_after_answer": after}
        return [self._boxes(), checked(shown), speech(answer)], facts

    async def fork(self) -> Played:
        at = self.crossing
        parent = self.t.session(self.crossing.session_id)
        before = len(await self.t.events(parent.id))
        forked = await self.t.fork(parent.id, at=at.id)
        shared = len(await self.t.events(forked.id, upto=at.id))
        after = len(await self.t.events(parent.id))
        shown = {"forked at": f"{short(at.id)}, when dew spoke over the gap", "copied": "nothing"}
        shown["its parent remembers"] = f"{before} events before, {after} after"
        facts = {"session": forked.id, "forked_at": forked.forked_at, "shared": shared, "own": forked.events}
        facts |= {"parent_events_before": before, "parent_events_after": after}
        # A history and its fork, with one mark for each event.
        history = Text(f"{'━' * (shared - 1)}┳{'━' * (after - shared)}", "green")
        own = Text(f"{' ' * (shared - 1)}┗{'━' * forked.events}", "magenta")
        names = [Text(short(session.id), "dim") for session in (parent, forked)]
        counts = [f"{after} events", f"shares {shared}, adds {forked.events}"]
        lines = table(zip(names, (history, own), counts, strict=True))
        return [lines, checked(shown, is_good=before == after)], facts

    async def lineage(self) -> Played:
        rows = []
        facts = []
        for lanes, session in lanes_of(self._sessions()):
            rows.append([Text(lanes, "green")])
            if session is not None:
                about = {"id": session.id, "parents": session.parent_session_ids}
                facts.append({**about, "origin": session.origin, "events": session.events})
                size = Text(counted(session.events, "event"), "dim")
                who = "nobody lives here" if session.origin == "fork" else ", ".join(session.agents)
                rows[-1] += [Text(session.origin, "bold"), Text(short(session.id), "dim"), size, Text(who)]
        legend = Text("● lives on   ○ ended, or never lived", "dim")
        return [table(rows), legend], {"sessions": facts}

    async def rounds(self) -> Played:
        sessions = len(self._sessions())
        known = {event.id for name in ("dew", "lux") for event in await self._remembered_by(name)}
        for _ in range(ROUNDS):
            await self.t.connect("dew", "lux", channel="gap")
            await self.t.disconnect("dew", "lux")
        times = Counter(event.id for event in await self._remembered_by("lux"))
        again = sum(times[name] for name in known)
        doubled = sum(count > 1 for count in times.values())
        shown = {"old events, before the rounds": str(len(known)), "old events, after the rounds": str(again)}
        shown |= {"events told twice": str(doubled), "sessions": f"{sessions} became {len(self._sessions())}"}
        facts = {"rounds": ROUNDS, "old_events_before": len(known), "old_events_after": again}
        facts |= {"doubled": doubled, "sessions_before": sessions, "sessions_after": len(self._sessions())}
        return [checked(shown, is_good=again == len(known) and not doubled)], facts

    async def history(self) -> Played:
        events = await self._remembered_by("lux")
        lines = [event for event in events if event.kind == kinds.AGENT_SPOKE]
        notable = [event for event in events[: events.index(lines[-1]) + 1] if _gist(event)]
        kind_chars = max(len(event.kind) for event in notable)
        kinds_drawn = [Text(f"[{event.kind.ljust(kind_chars)}]", "dim") for event in notable]
        speakers = [Text(event.actor if event in lines else "", "bold") for event in notable]
        rows = table(zip(kinds_drawn, speakers, map(_gist, notable), strict=True), gap=1)
        rest = f"{len(events) - len(notable)} more of {len(events)} events"
        facts = {"session": self.t.creature("lux").session_id, "events": len(events)}
        said = [{"id": event.id, "actor": event.actor, "text": event.payload["text"]} for event in lines]
        return [rows, Text(f"… and {rest}: edges, sessions, and the ten rounds.", "dim")], {
            **facts,
            "lines": said,
        }

    async def shape(self) -> Played:
        past = await self.t.graphs_at(self.crossing.id)
        now = self.t.graphs()
        boxes = [graph_box(g, g.creature_ids, [(name, "") for name in g.channels]) for g in past]
        then, today = [[list(graph.creature_ids) for graph in graphs] for graphs in (past, now)]
        facts = {"at": self.crossing.id, "graphs_then": then, "graphs_now": today}
        return [table([boxes]), checked({"graphs then": str(len(past)), "graphs now": str(len(now))})], facts

    async def refusal(self) -> Played:
        try:
            await self.t.wire("oona", "lux")
        except Refused as refused:
            lines = [Text.assemble(("▌ ", "yellow"), line) for line in (refused.reason, refused.instead)]
            return [Group(*lines)], {"reason": refused.reason, "instead": refused.instead}
        raise Refused("The tour lost its way: a wire joined two graphs.", "Report this.")

    async def reopen(self) -> Played:
        before = self.standing
        after = self.stands()
        shown = {name: f"{before[name]} before, {after[name]} after" for name in ("graphs", "events")}
        shown["same ids, sessions, members"] = "yes" if before["shape"] == after["shape"] else "NO"
        facts = {"before": before, "after": after, "is_same": before == after}
        return [self._boxes(), checked(shown, is_good=before == after)], facts

    async def carry(self) -> Played:
        session_id = self.t.creature("lux").session_id
        here = await self._remembered_by("lux")
        await self.t.export(session_id, self.file, role="director")
        async with Terrarium(MemoryStore()) as elsewhere:
            there = await elsewhere.events((await elsewhere.import_file(self.file)).id)
        sent = digest_of(here)
        arrived = digest_of(there)
        shown = {"events": f"{len(here)} sent, {len(there)} arrived", "digest here": sent[:32]}
        shown["digest there"] = arrived[:32]
        facts = {"session": session_id, "events": len(there), "digest": sent, "digest_there": arrived}
        return [checked(shown, is_good=sent == arrived)], facts

    async def next(self) -> Played:
        steps = {examples_to_paste(f"  {what}").strip(): why for what, why in SCRIPT["next"].items()}
        return [table((Text(what, "bold cyan"), why) for what, why in steps.items())], {"next": list(steps)}

    def stands(self) -> Json:
        """The number of graphs and events, and each graph's session and members."""
        shape = {graph.id: [graph.session_id, list(graph.creature_ids)] for graph in self.t.graphs()}
        events = sum(session.events for session in self._sessions())
        return {"graphs": len(shape), "events": events, "shape": shape}

    async def _say(self, creature: str, channel: str, answering: str | None = None) -> Event:
        payload = {"text": SCRIPT["lines"][channel][creature]}
        draft = Draft(kind=kinds.AGENT_SPOKE, channel=channel, payload=payload)
        return await self.t.append(creature, draft, caused_by=answering)

    async def _owed(self) -> dict[str, list[str]]:
        return {c.id: [event.id async for event in self.t.mail(c.id)] for c in self.t.creatures()}

    async def _remembered_by(self, creature_id: str) -> tuple[Event, ...]:
        return await self.t.events(self.t.creature(creature_id).session_id)

    def _sessions(self) -> list[Session]:
        """Every session: the two first ones, and all that grew from them, parents before children."""
        ancestors = self.t.lineage(self.t.creature("lux").session_id).ancestors
        roots = [session for session in ancestors if not session.parent_session_ids]
        sessions = {s.id: s for root in roots for s in (root, *self.t.lineage(root.id).descendants)}
        order = TopologicalSorter({s.id: s.parent_session_ids for s in sessions.values()}).static_order()
        return [sessions[session_id] for session_id in order]

    def _boxes(self) -> RenderableType:
        handles = {creature.id: creature.handle for creature in self.t.creatures()}
        boxes = []
        for graph in self.t.graphs():
            members = [(c.name, members_of(c, handles)) for c in self.t.environment(graph.id).channels]
            boxes.append(graph_box(graph, [handles[name] for name in graph.creature_ids], members))
        return table([boxes])


def _became(change: Change) -> tuple[str, Json]:
    """The result of a change for the graphs, for people and for machines."""
    facts: Json = msgspec.to_builtins(change)
    counts = f"{len(change.old_graph_ids)} became {len(change.new_graph_ids)}"
    return counts, {"change": facts.pop("kind"), **facts}


def _gist(event: Event) -> str:
    """An event in a few words; empty if the history only counts it."""
    if event.kind != kinds.TOPOLOGY_CHANGED:
        return NOTABLE.get(event.kind, "").format(**event.payload)
    change = payload_of(event, TopologyChanged)
    counts = f"{len(change.old_graph_ids)} to {len(change.new_graph_ids)}"
    return "" if change.kind == "nothing" else f"{change.kind}: {counts}"
