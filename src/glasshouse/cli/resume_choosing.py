"""Resuming as the command line asks for it: in place, or as a child; and what is said of it.

Always holds: a run that was cut off goes on in place wherever its shape is to stay as it is. It is ended only where its world
was edited, and only once that world has been found to hold.
"""

from __future__ import annotations

from dataclasses import dataclass

from glasshouse.assembly import SqliteStore, Terrarium
from glasshouse.cli.looking import Lookout
from glasshouse.cli.naming import the_one
from glasshouse.cli.performing import Opened, gone_on_with
from glasshouse.cli.screen import one_line
from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.event import Event, Json
from glasshouse.runtime.run import Run
from glasshouse.views.stage import StageProjection, past_runs


@dataclass(frozen=True)
class Resuming:
    """A resumption that is asked for."""

    name: str
    is_as_was: bool
    world: str | None

    async def open(self, store: SqliteStore, terrarium: Terrarium) -> Opened:
        """Find out which way it goes, and say so."""
        if self.is_as_was and self.world is not None:
            raise Refused("--as-was needs no world: the ledger has the shape.", "Leave one of the two away.")
        lookout = Lookout(store, terrarium)
        session_id, run = await self._meant(lookout)
        is_cut_off = run is not None and not run.is_finished
        if run is not None and is_cut_off:
            if self.is_as_was or not terrarium.is_edited(run.id, world=self.world):
                return await _in_place(store, terrarium, run)
            await terrarium.finish(run.id, "stopped")
            session_id, _ = await lookout.session_to_carry(run.id)
        position = store.position
        shape = "as-was" if self.is_as_was else "recipe"
        child = await terrarium.resume(session_id, "as-was" if self.is_as_was else "recipe", world=self.world)
        events = await terrarium.run_events(child.id)
        who = _who(events, child.id, position)
        told = _how(child, session_id, shape, _is_edited(events, child.id), is_cut_off=is_cut_off)
        facts: Json = {
            "run_id": child.id,
            "session_id": child.session_id,
            "resumed_from": child.branch_of,
            "how": shape,
            "is_edited": _is_edited(events, child.id),
            **who,
        }
        return Opened(child, position, (told, *_listed(who)), {"resumed": facts})

    async def _meant(self, lookout: Lookout) -> tuple[str, Run | None]:
        """The session to go on from, and the run that still plays in it, or was named."""
        terrarium = lookout.terrarium
        known = {run.id: run for run in lookout.runs()}
        found = the_one("run or session", self.name, [*await lookout.session_ids(), *known])
        if found in known:
            return (await lookout.session_to_carry(found))[0], known[found]
        here = [graph for graph in terrarium.graphs() if graph.session_id == found]
        playing = [
            run
            for graph in here
            for run in known.values()
            if graph.id in run.graph_ids and not run.is_finished
        ]
        return found, playing[0] if playing else None


async def _in_place(store: SqliteStore, terrarium: Terrarium, run: Run) -> Opened:
    opened = await gone_on_with(store, terrarium, run)
    handles = [
        terrarium.creature(name).handle
        for graph_id in opened.run.graph_ids
        for name in terrarium.graph(graph_id).creature_ids
    ]
    facts: Json = {
        "run_id": run.id,
        "session_id": run.session_id,
        "resumed_from": run.id,
        "how": "in-place",
        "is_edited": False,
        "with_a_past": handles,
        "new": [],
        "gone": [],
    }
    said = f"{run.id} goes on in place, where it was left: turn {run.turns}."
    return Opened(opened.run, opened.shown_after, (said,), {"resumed": facts})


def _how(child: Run, session_id: str, shape: str, is_edited: bool, *, is_cut_off: bool) -> str:
    parent = child.branch_of or session_id
    if shape == "as-was":
        return f"{child.id} goes on from {parent}, in the very shape it had."
    if is_cut_off:
        return f"The world of {parent} was edited: it is stopped, and {child.id} goes on from it."
    if is_edited:
        return f"{child.id} goes on from {parent}, with its world as it was edited since."
    return f"{child.id} goes on from {parent}, with its world as it is."


def _is_edited(events: tuple[Event, ...], run_id: str) -> bool:
    forks = [event for event in events if event.kind == kinds.SESSION_FORKED]
    return any(run_id in (fork.payload.get("change") or {}).get("edited", {}) for fork in forks)


def _who(events: tuple[Event, ...], run_id: str, position: int) -> dict[str, list[str]]:
    """The handles of those who have a past, of those who are new, and of those who are gone."""
    before = StageProjection(run_id=run_id, past_run_ids=past_runs(events, run_id))
    births: list[Json] = []
    for event in events:
        if (event.position or 0) <= position:
            before.apply(event)
        elif event.kind == kinds.CREATURE_STARTED and event.payload.get("run_id") == run_id:
            births.append(event.payload)
    living = {born.get("incarnation_of") for born in births}
    return {
        "with_a_past": [born["handle"] for born in births if born.get("incarnation_of")],
        "new": [born["handle"] for born in births if not born.get("incarnation_of")],
        "gone": [member.handle for creature, member in before.cast.items() if creature not in living],
    }


def _listed(who: dict[str, list[str]]) -> list[str]:
    names = {"with_a_past": "with a past", "new": "new", "gone": "gone"}
    return [f"{names[key]}: {', '.join(map(one_line, handles))}" for key, handles in who.items() if handles]
