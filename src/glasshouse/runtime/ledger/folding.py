"""Folding a whole ledger into a world: from the beginning, or from the newest snapshot that fits."""

from __future__ import annotations

import msgspec

from glasshouse.errors import StoreDamaged
from glasshouse.events import codec
from glasshouse.events.event import Event
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.ports import Store
from glasshouse.turns.heard import recent_lines
from glasshouse.turns.runs import agenda as agendas
from glasshouse.turns.runs import purses
from glasshouse.world.fold import evolve as folds
from glasshouse.world.fold.evolve import MOVE_THE_WORLD, begin, evolve, note_written, take_in
from glasshouse.world.state.state import World

fold_page_events = 4_096


def snapshot_key() -> str:
    """Under what folds and upcasters a snapshot of the world is good."""
    versions = (folds.version, agendas.version, purses.version, recent_lines.version)
    return f"{'.'.join(map(str, versions))}.{codec.upcaster_set()}"


async def folded_from(store: Store, upto: int | None = None) -> Folded:
    """The world as the store tells it, now or right after the event at a position: the newest snapshot that fits, and
    every event after it."""
    position = store.position if upto is None else upto
    kept = await store.snapshot("", "world", snapshot_key(), position)
    if kept is None:
        return await folded_upto(store, position)
    try:
        folded = msgspec.msgpack.decode(kept.body, type=Folded)
    except msgspec.DecodeError:  # A snapshot is a cache: a broken one is folded again.
        return await folded_upto(store, position)
    folded.position, folded.snapshot_bytes = kept.at, len(kept.body)
    return await _folded_on(store, folded, position)


async def folded_upto(store: Store, position: int) -> Folded:
    """The world right after the event at this position, folded from the beginning."""
    return await _folded_on(store, Folded(World(house_id=store.house_id)), position)


async def _folded_on(store: Store, folded: Folded, upto: int) -> Folded:
    folded.tables.driven_cache = set()  # Lines are brought to hand when somebody drives their graph.
    segments = {segment.id: segment for segment in await store.segments_after(folded.position)}
    position = folded.position
    while position < upto:
        page = await store.read_after(position, min(fold_page_events, upto - position))
        for event in page:
            position += 1
            if event.position != position:
                raise StoreDamaged(f"The ledger lacks the event at position {position}. Restore a copy.")
            if event.session_id not in folded.world.sessions:
                begin(folded.world, segments[event.session_id])
            fold_recorded(folded, event)
        if not page:
            break
    return folded


def fold_recorded(folded: Folded, event: Event) -> None:
    """Move everything on by an event of the store: nobody lives in what was imported."""
    if folded.world.sessions[event.session_id].segment.is_imported:
        take_in(folded.world, event)
    else:
        fold(folded, event)


def fold(folded: Folded, event: Event) -> None:
    """Move everything on by one event. What concerns a part of it not at all costs it no call."""
    world, agenda = folded.world, folded.agenda
    if event.kind in MOVE_THE_WORLD:
        evolve(world, event)
        if agenda.concerns(event):
            agenda.apply(world, event)
        folded.tables.apply(world, event)
        if event.run_id is not None or folded.runs.concerns(event):
            folded.runs.apply(world, event)
        return
    note_written(world, event)
    folded.tables.apply(world, event)
    if event.model is not None or folded.runs.concerns(event):
        folded.runs.apply(world, event)
    if event.kind in agenda.subscribers or event.caused_by is not None or event.actor in world.wires_of:
        agenda.apply(world, event)
