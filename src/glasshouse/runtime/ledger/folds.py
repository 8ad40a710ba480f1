"""Folding: how events become the state that everything is decided on, and which parts of it an event concerns.

The state (`Folded`) has four parts: the world, the agenda of what is owed, the tables of recent lines, and the purses of
runs. Every event reaches the world. Whether it concerns another part is asked here and nowhere else, because a skipped
part costs nothing:

| kinds | world | agenda | recent lines | runs |
|---|---|---|---|---|
| `turn.started` | `begin_turn` | yes | no | yes |
| of the engine, of runs | `evolve` | asked | yes | asked |
| lines and ends of acts | `note_written` | asked | yes | asked |
| any kind in an imported session | `note_imported` | no | no | no |

"Asked" means `Agenda.concerns` and `Runs.concerns`. They depend on who subscribes, which wires there are and what ends a
run, so a table by kind cannot tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from glasshouse.errors import BadEvent, StoreDamaged
from glasshouse.events import codec, kinds
from glasshouse.events.event import Event
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.store_port import Store
from glasshouse.turns.heard import recent_lines
from glasshouse.turns.runs import agenda as agendas
from glasshouse.turns.runs import purses
from glasshouse.world.fold import evolve as world_fold
from glasshouse.world.fold.evolve import (
    MORE_THAN_LINES,
    begin,
    begin_turn,
    evolve,
    note_imported,
    note_written,
)
from glasshouse.world.state.state import Segment, World

fold_page_events: Final = 4_096
"""How many events are read from a store at a time while they are folded."""


def fold(folded: Folded, event: Event) -> None:
    """Fold one event into the parts of the state that it concerns."""
    world = folded.world
    agenda = folded.agenda
    runs = folded.runs
    kind = event.kind
    if kind == kinds.TURN_STARTED:
        begin_turn(world, event)
        agenda.apply(world, event)
        runs.apply(world, event)
        return  # Nobody hears that a turn begins, so it is in no table of lines.
    if kind in MORE_THAN_LINES:
        evolve(world, event)
    else:
        note_written(world, event)
    folded.tables.apply(world, event)
    # Asked after the world was folded: what an event changes there may concern the event itself.
    if agenda.concerns(world, event):
        agenda.apply(world, event)
    if runs.concerns(event):
        runs.apply(world, event)


def is_only_a_line(folded: Folded, like: Event) -> bool:
    """Whether folding lines like this one changes nothing but the length of their session and the tables of recent lines.
    It stays so until the shape of the world changes: who subscribes, which wires there are, what ends a run."""
    if like.kind in kinds.NO_LINES:
        return False  # Other kinds are folded into more than these.
    return not folded.agenda.concerns(folded.world, like) and not folded.runs.concerns(like)


def open_and_fold(folded: Folded, event: Event, segments: Mapping[str, Segment]) -> None:
    """Fold the next event of a ledger. If it is the first of its session, that session is one of `segments`."""
    session = folded.world.sessions.get(event.session_id)
    if session is None:
        begin(folded.world, segments[event.session_id])
        session = folded.world.sessions[event.session_id]
    if session.segment.is_imported:
        note_imported(folded.world, event)  # No creature of an imported session lives here.
    else:
        fold(folded, event)


# From a store


def snapshot_key() -> str:
    """The versions of folds and upcasters. A snapshot with another key is not used."""
    versions = (world_fold.version, agendas.version, purses.version, recent_lines.version)
    return f"{'.'.join(map(str, versions))}.{codec.upcaster_set()}"


async def load_folded(store: Store, upto: int | None = None) -> Folded:
    """The state as the store has it, now or right after the event at position `upto`. The fold starts at the newest
    snapshot that fits."""
    position = await store.position() if upto is None else upto
    kept = await store.snapshot("", "world", snapshot_key(), position)
    if kept is None:
        return await fold_from_start(store, position)
    try:
        folded = msgspec.msgpack.decode(kept.body, type=Folded)
    except msgspec.DecodeError:  # A snapshot is only a cache: a broken one is ignored.
        return await fold_from_start(store, position)
    if folded.position != kept.at:  # Folded from there, the ledger would miss events, or take some twice.
        return await fold_from_start(store, position)
    folded.snapshot_bytes = len(kept.body)
    return await fold_on(store, folded, position)


async def fold_from_start(store: Store, position: int) -> Folded:
    """The state right after the event at a position, folded from the beginning without a snapshot."""
    return await fold_on(store, Folded(World(house_id=store.house_id)), position)


async def fold_on(store: Store, folded: Folded, upto: int) -> Folded:
    """The same state, after the events of the store from its own position to this one were folded into it."""
    folded.tables.driven_cache = set()  # The lines of a graph are loaded when it is first driven.
    segments = {segment.id: segment for segment in await store.segments_after(folded.position)}
    position = folded.position
    while position < upto:
        page = await store.read_after(position, min(fold_page_events, upto - position))
        try:
            for event in page:
                position += 1
                if event.position != position:
                    raise StoreDamaged(f"The ledger lacks the event at position {position}. Restore a copy.")
                open_and_fold(folded, event, segments)
        except (LookupError, BadEvent) as unfit:
            raise unfit_event(position, unfit) from unfit
        if not page:
            break
    return folded


def unfit_event(position: int | None, unfit: Exception) -> StoreDamaged:
    """That the store is damaged: folding the event at a position raised this."""
    return StoreDamaged(
        f"The event at position {position} does not fit what stands before it ({unfit!r}). Restore a copy."
    )
