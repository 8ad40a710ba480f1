"""Resuming as the command line asks for it: in place, or as a child; and what is said about it.

Always holds: an interrupted run continues in place wherever its shape is to stay as it is. It is ended only where its world
was edited, and only once that world has been checked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from glasshouse.assembly import SqliteStore
from glasshouse.cli.drawing.screen import one_line
from glasshouse.cli.live.open_runs import Opened, continue_in_place, playing_with
from glasshouse.cli.store_reader import StoreReader
from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.event import Event, Json
from glasshouse.events.payloads import CreatureStarted, SessionForked, payload_of
from glasshouse.runtime.run import Run
from glasshouse.terrarium import Terrarium
from glasshouse.views.stage import StageProjection, past_runs


@dataclass(frozen=True)
class Resumption:
    """What is to be resumed, and in which shape."""

    name: str
    is_as_was: bool
    worlds: tuple[str, ...] = ()

    async def open(self, store: SqliteStore, terrarium: Terrarium) -> Opened:
        """Continue in place or make a child, and say which."""
        if self.is_as_was and self.worlds:
            raise Refused("--as-was needs no world: the ledger has the shape.", "Leave one of the two away.")
        reader = StoreReader(store, terrarium)
        session_id, playing = await self._find(reader)
        if playing:
            worlds = self.worlds or None
            is_edited = any(terrarium.is_edited(run.id, world=worlds) for run in playing)
            if self.is_as_was or not is_edited:
                return await _in_place(store, terrarium, playing[0])
            for run in playing:
                await terrarium.finish(run.id, "stopped")
            session_id, _ = await reader.session_at_end_of(playing[0].id)
        position = store.position
        shape: Literal["as-was", "recipe"] = "as-was" if self.is_as_was else "recipe"
        child = await terrarium.resume(session_id, shape, world=self.worlds or None)
        stopped = {run.id for run in playing}
        return await _as_child(terrarium, child, session_id, shape, position, stopped)

    async def _find(self, reader: StoreReader) -> tuple[str, list[Run]]:
        """The session to continue from, and the runs that still play in it; the one that was named first."""
        named_id, run = await reader.run_or_session(self.name)
        if run is not None:
            session_id, _ = await reader.session_at_end_of(run.id)
        else:
            session_id = named_id
            here = {graph.id for graph in reader.terrarium.graphs() if graph.session_id == named_id}
            unfinished = [run for run in reader.terrarium.runs() if not run.is_finished]
            run = next((run for run in unfinished if here & set(run.graph_ids)), None)
        if run is None or run.is_finished:
            return session_id, []
        return session_id, [run, *playing_with(reader.terrarium, run)]


async def _as_child(
    terrarium: Terrarium, child: Run, session_id: str, shape: str, position: int, stopped: set[str]
) -> Opened:
    """What there is to say about the runs that were made from a session."""
    runs = (child, *[terrarium.run_of(run_id) for run_id in child.beside])
    forked = await terrarium.event(f"{child.session_id}.1")
    change = payload_of(forked, SessionForked).change
    edited = {} if change is None else change.edited
    said, facts = _several(session_id, runs), []
    for run in runs:
        who = _who(await terrarium.run_events(run.id), run.id, position)
        is_edited = run.id in edited
        said.append(_how(run, session_id, shape, is_edited=is_edited, is_stopped=run.branch_of in stopped))
        for title, handles in zip(("with a past", "new", "gone"), who.values(), strict=True):
            said += [f"{title}: {', '.join(map(one_line, handles))}"] if handles else []
        facts.append(_facts(run, run.branch_of, shape, is_edited, who))
    return Opened(child, position, tuple(said), tuple(facts), beside=runs[1:])


async def _in_place(store: SqliteStore, terrarium: Terrarium, first: Run) -> Opened:
    opened = await continue_in_place(store, terrarium, first)
    said = _several(terrarium.graph(opened.run.graph_ids[0]).session_id, opened.runs)
    facts = []
    for run in opened.runs:
        members = [
            terrarium.creature(name)
            for graph_id in run.graph_ids
            for name in terrarium.graph(graph_id).creature_ids
        ]
        handles = [creature.handle for creature in members if creature.run_id == run.id]
        facts.append(_facts(run, run.id, "in-place", False, {"with_a_past": handles, "new": [], "gone": []}))
        said.append(f"{run.id} continues in place, where it was left: turn {run.turns}.")
    return replace(opened, said=tuple(said), facts=tuple(facts))


def _facts(run: Run, parent: str | None, how: str, is_edited: bool, who: dict[str, list[str]]) -> Json:
    about = {"run_id": run.id, "session_id": run.session_id, "resumed_from": parent, "how": how}
    return {"resumed": {**about, "is_edited": is_edited, **who}}


def _several(session_id: str, runs: tuple[Run, ...]) -> list[str]:
    if len(runs) == 1:
        return []
    titles = [one_line(run.title or run.scenario) for run in runs]
    return [f"{len(runs)} scenarios had met in {session_id}, and all continue: {', '.join(titles)}."]


def _how(child: Run, session_id: str, shape: str, *, is_edited: bool, is_stopped: bool) -> str:
    parent = child.branch_of or session_id
    if shape == "as-was":
        return f"{child.id} continues {parent}, in the very shape it had."
    if is_stopped and not is_edited:
        return f"{parent} is stopped with it, and {child.id} continues it, with its world as it is."
    if is_stopped:
        return f"The world of {parent} was edited: it is stopped, and {child.id} continues it."
    if is_edited:
        return f"{child.id} continues {parent}, with its world as it was edited since."
    return f"{child.id} continues {parent}, with its world as it is."


def _who(events: tuple[Event, ...], run_id: str, position: int) -> dict[str, list[str]]:
    """The handles of those who have a past, of those who are new, and of those who are gone."""
    before = StageProjection(run_id=run_id, past_run_ids=past_runs(events, run_id))
    births: list[CreatureStarted] = []
    for event in events:
        if (event.position or 0) <= position:
            before.apply(event)
        elif event.kind == kinds.CREATURE_STARTED:
            births.append(payload_of(event, CreatureStarted))
    births = [birth for birth in births if birth.run_id == run_id]
    living = {birth.incarnation_of for birth in births}
    return {
        "with_a_past": [birth.handle for birth in births if birth.incarnation_of],
        "new": [birth.handle for birth in births if not birth.incarnation_of],
        "gone": [member.handle for creature, member in before.cast.items() if creature not in living],
    }
