"""`Archive`: the histories of a house: read, exported and imported, explained, and continued in forks, branches and
resumed sessions.

Always holds: reading changes nothing. A fork, a branch or a resumed session is a child of the past that it shares; no
event is copied or rewritten.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection
from pathlib import Path
from typing import Literal

from glasshouse.events.digest import digest_of
from glasshouse.events.event import Event
from glasshouse.events.payloads import BranchChange, Governor, RunStarted, payload_of
from glasshouse.events.redaction import Role
from glasshouse.runtime.acts.asking import Routes
from glasshouse.runtime.house import House
from glasshouse.runtime.ledger import session_file
from glasshouse.runtime.past.other_houses import OtherHouses
from glasshouse.runtime.past.past_world import Past, Pasts
from glasshouse.runtime.past.recipes import WorldsNow, check_is_not_live, is_edited, recipes_of
from glasshouse.runtime.past.regrow import restate_of, resume_of
from glasshouse.runtime.past.what_if import WhatIf, changed, check_line
from glasshouse.runtime.past.who_knew import WhoKnewReader
from glasshouse.runtime.past.why import WhyReader
from glasshouse.runtime.ports import Toolbox
from glasshouse.runtime.results import doubled_in, results_of
from glasshouse.runtime.run import Run
from glasshouse.views import lineage as lineage_views
from glasshouse.views.leaderboard import By, Standing, leaderboard
from glasshouse.world.decisions.intents import Fork, LineAfter
from glasshouse.world.state.ids import the_run
from glasshouse.world.state.values import Lineage, Session


class Archive:
    """Reading and regrowing."""

    def __init__(self, house: House, routes: Routes, tools: Toolbox, run_of: Callable[[str], Run]) -> None:
        self._house = house
        self._ledger = house.ledger
        self._routes = routes
        self._run_of = run_of
        self._tools = tools
        self._pasts = Pasts(house.store, house.ledger, house.history)
        other_houses = OtherHouses(house.store, house.ledger)
        self.why_reader = WhyReader(house.store, house.ledger, house.history, other_houses)
        self.who_knew_reader = WhoKnewReader(house.ledger, house.history, other_houses)

    # Reading

    def session(self, session_id: str) -> Session:
        """One session, open or ended."""
        return lineage_views.session_of(self._ledger.world, session_id)

    def lineage(self, session_id: str) -> Lineage:
        """A session with its ancestors and descendants."""
        return lineage_views.lineage_of(self._ledger.world, session_id)

    async def history(
        self, session_id: str, after: str | None = None, upto: str | None = None
    ) -> AsyncIterator[Event]:
        """What a session remembers, in order, each event once. `after` excludes, `upto` includes."""
        async for page in self._house.history.pages(session_id, after, upto):
            for event in page:
                yield event

    async def events(
        self, session_id: str, after: str | None = None, upto: str | None = None
    ) -> tuple[Event, ...]:
        """The same as `history`, all at once."""
        return tuple([event async for event in self.history(session_id, after, upto)])

    async def event(self, event_id: str) -> Event:
        """One event by its id."""
        return await self._house.history.event(event_id)

    async def run_events(self, run_id: str) -> tuple[Event, ...]:
        """Everything of a run, in the order of histories: what it said and what happened to its graphs until its end."""
        return tuple(await self._house.history.events_of_run(run_id))

    async def digest(self, run_id: str) -> str:
        """The digest of a run: equal wherever and whenever the story is the same."""
        return digest_of(await self.run_events(run_id), self.skews())

    def skews(self) -> dict[str, int]:
        """How far the times of sessions that grew from a branch run ahead of the story's; a digest needs them."""
        return {name: one.skew for name, one in self._ledger.world.sessions.items() if one.skew}

    async def prompt(self, digest: str) -> str | None:
        """A text that a model was given, by its digest, if it is still kept."""
        return await self._house.store.prompt(digest)

    def leaderboard(
        self,
        by: By = "creature",
        *,
        world: str | None = None,
        run_ids: Collection[str] | None = None,
        branches: bool = False,
    ) -> tuple[Standing, ...]:
        """Who has won how often, over every contest that is over, the best first: by creature, team or model.

        Branches are left out unless `branches` says otherwise: what they share with their parents would count twice. Runs
        that are named in `run_ids` count whatever they are.
        """
        left_out = () if branches else self.branches_left_out()
        counted = [
            result
            for result in results_of(self._ledger.folded)
            if (result.run_id not in left_out if run_ids is None else result.run_id in run_ids)
        ]
        return leaderboard(counted, by, world=world)

    def branches_left_out(self, *, world: str | None = None) -> tuple[str, ...]:
        """The runs that a leaderboard leaves out, because they would count the results of other runs again."""
        results = results_of(self._ledger.folded)
        left_out = doubled_in(self._ledger.folded, results)
        return tuple([one.run_id for one in results if one.run_id in left_out and world in (None, one.world)])

    # Files

    async def export(self, session_id: str, path: str | Path, *, role: Role = "audience") -> Path:
        """Write a session with all it remembers into one file: `.glass`, or `.jsonl` to read in other tools."""
        return await session_file.export(self._house.store, self._ledger, session_id, Path(path), role)

    async def import_file(self, path: str | Path) -> Session:
        """Take in a session from a file. It can be read and grown from; nobody in it lives."""
        return self.session(await session_file.import_file(self._house.store, self._ledger, Path(path)))

    # Growing from the past

    async def fork(self, session_id: str, at: str | None = None) -> Session:
        """Begin a session that shares the past of another up to an event (or to its end)."""
        event_id, writer, upto = await self._house.history.batch_to_fork(session_id, at)
        receipt = await self._ledger.change(Fork(writer, event_id, upto))
        return self.session(receipt.subject)

    async def branch(self, session_id: str, at: str | None = None, change: WhatIf | None = None) -> Run:
        """Begin a counterfactual that shares the past of a session up to an event. Its parent stays as it is.

        Without an event: from the end. Where nothing differs, it is answered from the parent's record.
        """
        what_if, history = change or WhatIf(), self._house.history
        if at is not None and what_if.begins_before:
            check_line(await history.event(history.event_meant(session_id, at)))
        past = await self._pasts.at(session_id, at, before=what_if.begins_before)
        lines = changed(past, what_if)
        return await self._restated(
            past, "branch", limits=what_if.limits, change=what_if.recorded(), lines=lines
        )

    async def resume(
        self,
        session_id: str,
        shape: Literal["recipe", "as-was"] = "recipe",
        *,
        world: WorldsNow = None,
    ) -> Run:
        """Play on from a session that is closed, imported or over, as a child of it.

        `recipe`: the scenario as it is on disk now, edited or not, each creature with the past of its own. `as-was`: the
        very shape that the session ended with. `world` is where the scenario is now, if it has moved. Where several
        scenarios had met in the session, all live again: `beside` of the run that is returned names the others.
        """
        check_is_not_live(self._ledger.world, session_id)
        past = await self._pasts.at_the_end(session_id)
        if shape == "as-was":
            return await self._restated(past, "resume")
        recipes = recipes_of(past, session_id, world, self._tools.names(), lambda: self._new_run_for(past))
        with_models = self._routes.with_models
        intent = resume_of(past, {old: with_models(opening) for old, opening in recipes.items()})
        await self._ledger.change(intent)
        return self._run_of(intent.runs[0].new)

    async def _restated(
        self,
        past: Past,
        how: Literal["branch", "resume"],
        *,
        limits: Governor | None = None,
        change: BranchChange | None = None,
        lines: tuple[LineAfter, ...] = (),
    ) -> Run:
        """Continue from a past: its graphs, its runs under new ids, and their spending."""
        started: dict[str, RunStarted] = {}
        for run_id, purse in past.folded.runs.purses.items():
            if past.holds_run(run_id):
                event = await self._house.history.event(purse.told_in)
                started[run_id] = self._routes.with_models_now(past.folded, payload_of(event, RunStarted))
        intent = restate_of(
            past, how, lambda: self._new_run_for(past), started, limits=limits, change=change, lines=lines
        )
        self._routes.check_prices_of(past.folded, intent)
        await self._ledger.change(intent)
        return self._run_of(intent.runs[0].new)

    def _new_run_for(self, past: Past) -> str:
        """A new id for a run that continues a past: unused in this house and in that past."""
        while (new := self._house.new_run_id()) in self._ledger.world.runs or new in past.world.runs:
            pass
        return new

    def is_edited(self, run_id: str, *, world: WorldsNow = None) -> bool:
        """Whether the scenario on disk is another than the one that a run was opened from."""
        purse = self._ledger.folded.runs.purses.get(the_run(self._ledger.world, run_id).id)
        return is_edited(run_id, purse, world, self._tools.names())
