"""From values of the terrarium to what a scene shows of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from glasshouse.cli.drawing.lanes import Descent
from glasshouse.cli.tour.scenes import Family, Lane, Pane, Spoken
from glasshouse.events import kinds
from glasshouse.events.event import Event, Json, place_of
from glasshouse.runtime.creature import Creature
from glasshouse.world.values import Change, Environment, Graph, Session

short_id_chars: Final = 6
NOTABLE: Final = frozenset(
    {kinds.CREATURE_STARTED, kinds.AGENT_SPOKE, kinds.CREATURE_RENAMED, kinds.CHANNEL_RENAMED}
)


def short(name: str) -> str:
    """The first characters of a generated id, and for an event its place: enough to tell a few apart."""
    owner, seq = place_of(name)
    return f"{owner[:short_id_chars]}.{seq}" if seq else owner[:short_id_chars]


def pane(graph: Graph, environment: Environment, members: Mapping[str, Creature]) -> Pane:
    """A graph as it is now, by handle."""

    def handles(ids: Iterable[str]) -> tuple[str, ...]:
        return tuple(members[name].handle for name in ids)

    lanes = tuple(Lane(c.name, handles(c.senders), handles(c.listeners)) for c in environment.channels)
    return Pane(graph.id, graph.session_id, handles(graph.creature_ids), lanes)


def past_pane(graph: Graph) -> Pane:
    """A graph as it was: its members by id, its channels by name."""
    return Pane(
        graph.id,
        graph.session_id,
        graph.creature_ids,
        tuple(Lane(name, is_name_only=True) for name in graph.channels),
    )


def spoken(events: Iterable[Event]) -> Spoken:
    """Lines with their speakers and channels."""
    return Spoken(tuple((e.actor, e.channel or "", str(e.payload["text"])) for e in events))


def change_facts(change: Change) -> Json:
    """A change as facts."""
    return {
        "change": change.kind,
        "old_graph_ids": list(change.old_graph_ids),
        "new_graph_ids": list(change.new_graph_ids),
        "affected_creatures": list(change.affected_creatures),
    }


def rename(event: Event) -> tuple[str, str] | None:
    """The old and the new name, if the event tells of a rename."""
    if event.kind == kinds.CREATURE_RENAMED:
        return event.payload["old_handle"], event.payload["handle"]
    if event.kind == kinds.CHANNEL_RENAMED:
        return event.payload["old_name"], event.payload["name"]
    return None


def is_notable(event: Event) -> bool:
    """Whether an event is told in full: births, lines, renames, merges and splits."""
    is_shift = event.kind == kinds.TOPOLOGY_CHANGED and event.payload["kind"] != "nothing"
    return is_shift or event.kind in NOTABLE


def row(event: Event) -> tuple[str, str, str]:
    """A notable event as kind, speaker and gist."""
    named = rename(event)
    if named is not None:
        gist = f"{named[0]} is now {named[1]}"
    elif event.kind == kinds.AGENT_SPOKE:
        gist = str(event.payload["text"])
    elif event.kind == kinds.CREATURE_STARTED:
        gist = str(event.payload["creature"])
    else:
        graphs = len(event.payload["old_graph_ids"]), len(event.payload["new_graph_ids"])
        gist = f"{event.payload['kind']}: {graphs[0]} to {graphs[1]}"
    return event.kind, event.actor if event.kind == kinds.AGENT_SPOKE else "", gist


def family(sessions: Iterable[Session]) -> Family:
    """Sessions as they descend from one another, parents before children."""
    waiting = {session.id: session for session in sessions}
    placed: dict[str, Descent] = {}
    while waiting:
        ready = [s for s in waiting.values() if all(p in placed for p in s.parent_session_ids)]
        for session in ready:
            placed[session.id] = _descent(session)
            del waiting[session.id]
    return Family(tuple(placed.values()))


def _descent(session: Session) -> Descent:
    who = "nobody lives here" if session.origin == "fork" else ", ".join(session.agents)
    return Descent(
        session.id, session.parent_session_ids, session.origin, who, session.events, session.is_open
    )
