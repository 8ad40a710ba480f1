"""Resuming as the command line asks for it: in place, or as a child; and what is said of it.

Always holds: a run that was cut off goes on in place wherever its shape is to stay as it is. It is ended only where its world
was edited, and only once that world has been found to hold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from glasshouse.assembly import SqliteStore
from glasshouse.cli.drawing.screen import one_line
from glasshouse.cli.looking import Lookout
from glasshouse.cli.naming import the_one
from glasshouse.cli.performing.evening import Opened, gone_on_with, playing_with
from glasshouse.errors import Refused
from glasshouse.events import kinds
from glasshouse.events.event import Event, Json
from glasshouse.runtime.run import Run
from glasshouse.terrarium import Terrarium
from glasshouse.views.stage import StageProjection, past_runs


@dataclass(frozen=True)
class Resuming:
    """A resumption that is asked for."""

    name: str
    is_as_was: bool
    worlds: tuple[str, ...] = ()

    async def open(self, store: SqliteStore, terrarium: Terrarium) -> Opened:
        """Find out which way it goes, and say so."""
        if self.is_as_was and self.worlds:
            raise Refused("--as-was needs no world: the ledger has the shape.", "Leave one of the two away.")
        lookout = Lookout(store, terrarium)
        session_id, playing = await self._meant(lookout)
        if playing:
            edited = [] if self.is_as_was else [run for run in playing if self._is_edited(terrarium, run)]
            if not edited:
                return await _in_place(store, terrarium, playing[0])
            for run in playing:
                await terrarium.finish(run.id, "stopped")
            session_id, _ = await lookout.session_to_carry(playing[0].id)
        position = store.position
        shape: Literal["as-was", "recipe"] = "as-was" if self.is_as_was else "recipe"
        child = await terrarium.resume(session_id, shape, world=self.worlds or None)
        cut_off = {run.id for run in playing}
        return await _told(terrarium, child, session_id, shape, position, cut_off)

    def _is_edited(self, terrarium: Terrarium, run: Run) -> bool:
        return terrarium.is_edited(run.id, world=self.worlds or None)

    async def _meant(self, lookout: Lookout) -> tuple[str, list[Run]]:
        """The session to go on from, and the runs that still play in it; the one that was named first."""
        terrarium = lookout.terrarium
        known = {run.id: run for run in lookout.runs()}
        found = the_one("run or session", self.name, [*await lookout.session_ids(), *known])
        if found in known:
            session_id = (await lookout.session_to_carry(found))[0]
            is_over = known[found].is_finished
            return session_id, [] if is_over else [known[found], *playing_with(terrarium, known[found])]
        here = {graph.id for graph in terrarium.graphs() if graph.session_id == found}
        playing = [run for run in known.values() if not run.is_finished and here & set(run.graph_ids)]
        return found, [playing[0], *playing_with(terrarium, playing[0])] if playing else []


async def _told(
    terrarium: Terrarium, child: Run, session_id: str, shape: str, position: int, cut_off: set[str]
) -> Opened:
    """What there is to say of the runs that were brought back."""
    runs = (child, *[terrarium.run_of(run_id) for run_id in child.beside])
    said, facts = _that_they_are_several(session_id, runs), []
    for run in runs:
        events = await terrarium.run_events(run.id)
        who, is_edited = _who(events, run.id, position), await _is_edited(terrarium, runs, run.id)
        said += [_how(run, session_id, shape, is_edited, is_cut_off=run.branch_of in cut_off), *_listed(who)]
        about: Json = {
            "run_id": run.id,
            "session_id": run.session_id,
            "resumed_from": run.branch_of,
            "how": shape,
            "is_edited": is_edited,
            **who,
        }
        facts.append({"resumed": about})
    return Opened(child, position, tuple(said), tuple(facts), beside=runs[1:])


def _that_they_are_several(session_id: str, runs: tuple[Run, ...]) -> list[str]:
    if len(runs) == 1:
        return []
    titles = [one_line(run.title or run.scenario) for run in runs]
    return [f"{len(runs)} scenarios had met in {session_id}, and all go on: {', '.join(titles)}."]


async def _in_place(store: SqliteStore, terrarium: Terrarium, run: Run) -> Opened:
    opened = await gone_on_with(store, terrarium, run)
    said = _that_they_are_several(terrarium.graph(opened.run.graph_ids[0]).session_id, opened.runs)
    facts: list[Json] = []
    for one in opened.runs:
        handles = [
            creature.handle
            for graph_id in one.graph_ids
            for name in terrarium.graph(graph_id).creature_ids
            if (creature := terrarium.creature(name)).run_id == one.id
        ]
        about: Json = {
            "run_id": one.id,
            "session_id": one.session_id,
            "resumed_from": one.id,
            "how": "in-place",
            "is_edited": False,
            "with_a_past": handles,
            "new": [],
            "gone": [],
        }
        facts.append({"resumed": about})
        said.append(f"{one.id} goes on in place, where it was left: turn {one.turns}.")
    return replace(opened, said=tuple(said), facts=tuple(facts))


def _how(child: Run, session_id: str, shape: str, is_edited: bool, *, is_cut_off: bool) -> str:
    parent = child.branch_of or session_id
    if shape == "as-was":
        return f"{child.id} goes on from {parent}, in the very shape it had."
    if is_cut_off and not is_edited:
        return f"{parent} is stopped with it, and {child.id} goes on from it, with its world as it is."
    if is_cut_off:
        return f"The world of {parent} was edited: it is stopped, and {child.id} goes on from it."
    if is_edited:
        return f"{child.id} goes on from {parent}, with its world as it was edited since."
    return f"{child.id} goes on from {parent}, with its world as it is."


async def _is_edited(terrarium: Terrarium, runs: tuple[Run, ...], run_id: str) -> bool:
    """Whether a run that was brought back is played from another scenario: the first of the batch tells of all."""
    forked = await terrarium.event(f"{runs[0].session_id}.1")
    return run_id in (forked.payload.get("change") or {}).get("edited", {})


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
