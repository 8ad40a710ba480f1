"""`Archive`: reads, explains, exports and imports the histories of a house, and continues them in forks, branches and
resumed sessions.

Always holds: reading changes nothing. A fork, a branch or a resumed session is a child of the past that it shares: no
event of that past is copied or rewritten.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from glasshouse.errors import Refused, UnknownName, check_type, in_brief
from glasshouse.events.digest import digest_of
from glasshouse.events.event import Event, event_id
from glasshouse.events.kinds import CREATURE_STARTED, SESSION_FORKED
from glasshouse.events.payloads import CreatureStarted, RunStarted, SessionForked, payload_of
from glasshouse.events.recorded_fields import is_public_part
from glasshouse.events.redaction import Role, check_role, redacted
from glasshouse.runtime.acts.routes import Routes
from glasshouse.runtime.conducting.world_code import check_code_of_creatures, check_code_of_world
from glasshouse.runtime.grants import birth_granted, opening_granted
from glasshouse.runtime.house import House
from glasshouse.runtime.ledger import session_file
from glasshouse.runtime.minds.minds import Minds
from glasshouse.runtime.past.curtain import CurtainReader
from glasshouse.runtime.past.other_houses import OtherHouses
from glasshouse.runtime.past.past_world import Past, Pasts
from glasshouse.runtime.past.recipes import WorldsNow, check_is_not_live, recipes_of, scenarios_now
from glasshouse.runtime.past.regrow import Recipe, restate_of, resume_of
from glasshouse.runtime.past.stories import Stories
from glasshouse.runtime.past.what_if import WhatIf, births_in, changed, check_line
from glasshouse.runtime.past.who_knew import WhoKnewReader
from glasshouse.runtime.past.why import WhyReader
from glasshouse.runtime.ports import Toolbox
from glasshouse.runtime.results import branches_left_out, results_of
from glasshouse.runtime.run import Run
from glasshouse.runtime.store_port import Batch, SideWrites
from glasshouse.views import lineage as lineage_views
from glasshouse.views.comparison import Comparison, compared
from glasshouse.views.leaderboard import By, Standing, leaderboard
from glasshouse.views.shared_file import SharedFile
from glasshouse.world.decisions.intents import Fork, OpenRun
from glasshouse.world.state.ids import the_run
from glasshouse.world.state.values import Lineage, Session

if TYPE_CHECKING:
    from glasshouse.runtime.sharing.shared_run import Branch

branches_shared_max: Final = 24
"""How many branches a shared file names."""
label_chars_max: Final = 40
"""A longer label of a run is refused."""
labels_max: Final = 16
"""How many labels a run has."""


class Archive:
    """Reads histories, and begins new sessions from them."""

    def __init__(
        self, house: House, routes: Routes, tools: Toolbox, minds: Minds, run_of: Callable[[str], Run]
    ) -> None:
        self._house = house
        self._ledger = house.ledger
        self._routes = routes
        self._run_of = run_of
        self._tools = tools
        self._minds = minds
        self._pasts = Pasts(house.history)
        other_houses = OtherHouses(house.store, house.ledger)
        self.why_reader = WhyReader(house.history, other_houses)
        self.who_knew_reader = WhoKnewReader(house.history, other_houses)
        self.curtain_reader = CurtainReader(house.history, other_houses)
        self.stories = Stories(house.history)

    # Reading

    def session(self, session_id: str) -> Session:
        """One session, open or ended."""
        return lineage_views.session_of(self._ledger.world, session_id)

    def lineage(self, session_id: str) -> Lineage:
        """A session with its ancestors and descendants."""
        return lineage_views.lineage_of(self._ledger.world, session_id)

    async def history(self, session_id: str, after: str | None, upto: str | None) -> AsyncIterator[Event]:
        """The events that a session remembers, in order, each once. `after` is exclusive, `upto` is inclusive."""
        async for page in self._house.history.pages(session_id, after, upto):
            for event in page:
                yield event

    async def run_events(self, run_id: str) -> tuple[Event, ...]:
        """All events of a run and the changes of its graphs until its end, in the order of histories."""
        return tuple(await self._house.history.events_of_run(run_id))

    async def digest(self, run_id: str) -> str:
        """The digest of a run. Equal stories have equal digests, wherever and whenever they were played (ADR 0030)."""
        return digest_of(await self.run_events(run_id), skews=self._house.history.skews())

    async def compare(self, first: str, second: str, role: Role) -> Comparison:
        """Compare the stories of two runs or sessions: where they diverge, which lines differ, and what each cost."""
        stories = (first, await self._story(first)), (second, await self._story(second))
        check_role(role)
        return compared(*stories, self._house.history.skews(), role=role)

    async def _story(self, name: str) -> tuple[Event, ...]:
        """The events of a run, or those that a session remembers."""
        if self._is_run(name):
            return await self.run_events(name)
        return tuple([event async for event in self.history(name, None, None)])

    def _is_run(self, name: str) -> bool:
        """Whether a name is that of a run, not of a session. Refuses a name that is neither."""
        world = self._ledger.world
        imported = self.imported_runs()
        if name not in world.runs and name not in world.sessions and name not in imported:
            known = [*world.runs, *imported, *world.sessions]
            raise UnknownName(noun="run or session", name=name, known=known)
        return name not in world.sessions

    def imported_runs(self) -> tuple[str, ...]:
        """The ids of the runs that came in files. Nobody in them lives here."""
        return tuple(
            [name for name in self._house.history.imported_runs() if name not in self._ledger.world.runs]
        )

    async def label(self, run_id: str, labels: Iterable[str]) -> tuple[str, ...]:
        """Give a run these labels in place of those it had. No event is written: a label is no part of a story."""
        if not self._is_run(run_id):
            raise UnknownName(noun="run", name=run_id, known=self._ledger.world.runs)
        kept = tuple(dict.fromkeys([checked_label(label) for label in labels]))
        if len(kept) > labels_max:
            raise Refused(f"A run has at most {labels_max} labels.", "Remove some.")
        await self._ledger.settle(Batch(side=SideWrites(labels=((run_id, kept),))))
        return kept

    async def labels(self) -> Mapping[str, tuple[str, ...]]:
        """The labels of every run that has some."""
        return MappingProxyType(await self._house.store.labels())

    def leaderboard(
        self, by: By, world: str | None, run_ids: Collection[str] | None, *, branches: bool
    ) -> tuple[Standing, ...]:
        """Who won how often, over all finished contests, best first: by creature, team or model.

        Branches are left out unless `branches` is true: the past that they share with their parents would count
        twice. If `run_ids` is given, exactly those runs count, also branches.
        """
        results = results_of(self._ledger.folded)
        if run_ids is None:
            left_out = () if branches else branches_left_out(self._ledger.folded)
            run_ids = {result.run_id for result in results if result.run_id not in left_out}
        return leaderboard([result for result in results if result.run_id in run_ids], by, world=world)

    # Files

    async def export(self, run_or_session_id: str, path: str | Path, *, role: Role = "audience") -> Path:
        """Write a run with all sides of its splits, or a session, into one file: `.glass`, or `.jsonl` for other
        tools. The file holds the whole past of both. For a director it also holds what a replay needs, and the runs that
        a run met: those are replayed together."""
        history = self._house.history
        if self._is_run(run_or_session_id):
            session_id, ends = await history.sessions_of_run(run_or_session_id)
            run_ids, company = history.company_of(run_or_session_id)
            if role == "director" and len(run_ids) > 1:  # Runs that met can only be replayed together.
                ends |= {name: session.head for name, session in company.items()}
        else:
            session_id = run_or_session_id
            ends = {session_id: self._ledger.world.sessions[session_id].head}
        return await session_file.export(history, session_id, ends, Path(path), role)

    async def share(
        self, run_id: str, *, minds: bool, first: int, last: int | None, verified_digest: str | None
    ) -> SharedFile:
        """A run with all sides of its splits as one HTML file, for spectators or, with minds, for the audience."""
        # Imported here: most programs do not need it.
        from glasshouse.runtime.sharing.shared_run import SharedRun

        if not self._is_run(run_id):
            raise Refused("A session cannot be shared as a page.", "Name the run that was played in it.")
        shared = SharedRun(run_id, has_minds=minds, first=first, last=last)
        async for some in self.stories.events(self.stories.of_run(run_id)):
            for event in some:
                shared.take(event)
            await asyncio.sleep(0)  # A long run takes seconds, and the show goes on meanwhile.
        return shared.file(
            await self._branches_of(run_id, "audience" if minds else "spectator"), verified_digest
        )

    async def _branches_of(self, run_id: str, role: Role) -> list[Branch]:
        """The branches that were made from a run, as a role may read of them."""
        from glasshouse.runtime.sharing.shared_run import Branch, course_of

        branches = list[Branch]()
        for name, purse in self._ledger.folded.runs.purses.items():
            parent = purse.branch_of
            run = self._ledger.world.runs.get(name)
            if parent is None or parent.run_id != run_id or run is None:
                continue
            began = redacted(await self._house.history.event(event_id(run.session_id, 1)), role)
            change = payload_of(began, SessionForked).change if began.kind == SESSION_FORKED else None
            events = self._ledger.world.sessions[run.session_id].head
            branches.append(Branch(name, course_of(change), parent.at, events))
            if len(branches) == branches_shared_max:
                break
        return branches

    async def import_file(self, path: str | Path) -> Session:
        """Import a session from a file. It can be read, forked, branched and resumed, but it has no live creatures."""
        return self.session(await session_file.import_file(self._house.store, self._ledger, Path(path)))

    # Growing from the past

    async def fork(self, session_id: str, at: str | None = None) -> Session:
        """Begin a session that shares the past of another one up to an event, or up to its end."""
        event_id, writer, upto = await self._house.history.batch_to_fork(session_id, at)
        receipt = await self._ledger.change(Fork(writer, event_id, upto))
        return self.session(receipt.subject)

    async def branch(self, session_id: str, at: str | None = None, change: WhatIf | None = None) -> Run:
        """Begin a counterfactual run that shares the past of a session up to an event, or up to its end.

        The parent does not change. Calls that equal the parent's are answered from its record (ADR 0039).
        """
        what_if = change or WhatIf()
        history = self._house.history
        check_type(
            "branch(change=...)", what_if, WhatIf, "a WhatIf", 'Write WhatIf(disturb="A bell rings.").'
        )
        if at is not None and what_if.begins_before:
            check_line(await history.event(history.event_meant(session_id, at)), is_dropped=what_if.drop)
        past = await self._pasts.at(session_id, at, before=what_if.begins_before)
        return await self._restated(past, "branch", what_if)

    async def resume(
        self, session_id: str, shape: Literal["recipe", "as-was"] = "recipe", *, world: WorldsNow = None
    ) -> Run:
        """Continue a session that is closed, imported or over, in a child session.

        `recipe` opens the scenario as it is on disk now, edited or not; one that was edited before the start comes from
        its record (ADR 0137). Each creature keeps its own past. `as-was` restores the graphs that the session ended with.
        `world` says where the scenario is now, if it has moved. If several scenarios had met in the session, all of them
        continue: `beside` of the returned run names the others.
        """
        check_is_not_live(self._ledger.world, session_id)
        past = await self._pasts.at_the_end(session_id)
        if shape == "as-was":
            return await self._restated(past, "resume", WhatIf())
        tools = self._tools.names()
        started = await self._started_in(past)
        births = {
            run_id: await self._births_of(run_id) for run_id, start in started.items() if start.is_edited
        }
        recipes = recipes_of(past, session_id, world, tools, lambda: self._new_run_for(past), started, births)
        for old, recipe in recipes.items():
            if recipe.world is None:
                members = [creature for creature in past.creatures if creature.run_id == old]
                check_code_of_creatures(past.folded, members, self._minds)
            else:
                check_code_of_world(recipe.world, self._minds)
            opening = await self._granted_again(past, recipe)
            if recipe.world is not None:
                self._routes.keep_script(recipe.world)
            recipes[old] = recipe._replace(opening=self._routes.with_models(opening))
        intent = resume_of(past, recipes)
        await self._ledger.change(intent)
        return self._run_of(intent.runs[0].new)

    def check_code(self, run_ids: Iterable[str]) -> None:
        """Refuse to continue runs in place if code of their worlds may not run here, or cannot be loaded."""
        world = self._ledger.world
        members = [creature for run_id in run_ids for creature in world.creatures_of(run_id)]
        check_code_of_creatures(self._ledger.folded, members, self._minds)

    def check_code_on_disk(self, run_ids: Iterable[str], world: WorldsNow) -> None:
        """Refuse to resume runs from their worlds on disk if code of these may not run here, or cannot be loaded."""
        purses = self._ledger.folded.runs.purses
        opened = [purses[run_id] for run_id in run_ids if run_id in purses and purses[run_id].playbill.name]
        for scenario in scenarios_now(opened, world, self._tools.names()):
            if scenario is not None:
                check_code_of_world(scenario, self._minds)

    async def _granted_again(self, past: Past, recipe: Recipe) -> OpenRun:
        """The opening of a resumed run. Who had a tool of a server keeps it as it was granted; other tools are new."""
        creatures = [None if name is None else past.world.creatures[name] for name in recipe.pasts]
        grants = [() if creature is None else past.world.granted_to(creature) for creature in creatures]
        before = [{granted.tool.name: granted for granted in some} for some in grants]
        return await opening_granted(self._house.servers, recipe.opening, before)

    async def _restated(self, past: Past, how: Literal["branch", "resume"], what_if: WhatIf) -> Run:
        """Continue from a past with these changes: its graphs, its runs under new ids, and their spending."""
        _check_has_manifests(past)
        births = [
            await birth_granted(self._house.servers, birth, past.folded.runs)
            for birth in births_in(past, what_if)
        ]
        lines = changed(past, what_if, births)
        check_code_of_creatures(past.folded, past.creatures, self._minds)
        with_models_now = self._routes.with_models_now
        recorded = await self._started_in(past)
        started = {run_id: with_models_now(past.folded, start) for run_id, start in recorded.items()}
        intent = restate_of(past, how, what_if, lines, lambda: self._new_run_for(past), started)
        self._routes.check_prices_of(past.folded, intent)
        await self._ledger.change(intent)
        return self._run_of(intent.runs[0].new)

    async def _started_in(self, past: Past) -> dict[str, RunStarted]:
        """The recorded start of each run of a past."""
        event = self._house.history.event
        purses = past.folded.runs.purses
        run_ids = [run_id for run_id in purses if past.holds_run(run_id)]
        return {run_id: payload_of(await event(purses[run_id].told_in), RunStarted) for run_id in run_ids}

    async def script_change(self, run_id: str) -> str:
        """What is to be said if a run plays from another script than it began with; empty if it does not."""
        purses = self._ledger.folded.runs.purses
        purse = purses.get(the_run(self._ledger.world, run_id).id)
        if purse is None:
            return ""
        event = self._house.history.event
        now = payload_of(await event(purse.told_in), RunStarted)
        before = None if purse.branch_of is None else purses.get(purse.branch_of.run_id)
        starts = [now] if before is None else [now, payload_of(await event(before.told_in), RunStarted)]
        return next(filter(None, [self._routes.script_change(then, now) for then in starts]), "")

    async def _births_of(self, run_id: str) -> list[CreatureStarted]:
        """The creatures that began in a run, as its record has them."""
        events = await self.run_events(run_id)
        return [payload_of(event, CreatureStarted) for event in events if event.kind == CREATURE_STARTED]

    def _new_run_for(self, past: Past) -> str:
        """A new id for a run that continues a past: unused in this house and in that past."""
        while (new := self._house.new_run_id()) in self._ledger.world.runs or new in past.world.runs:
            pass
        return new


def checked_label(label: str) -> str:
    """A label without spaces round it. Refused if it is empty, long, or more than one line."""
    check_type("label_run()", label, str, "texts", 'Write label_run(run_id, ["keep"]).')
    words = label.strip()
    if not words or len(words) > label_chars_max or not words.isprintable():
        raise Refused(
            f"{in_brief(label)} is no label.", f"Write one line of at most {label_chars_max} characters."
        )
    return words


def _check_has_manifests(past: Past) -> None:
    """Refuse to continue creatures of which only the public part is known: they could neither think nor speak."""
    unknown = [c.handle for c in past.creatures if is_public_part(past.world.facts_of(c).manifest)]
    if unknown:
        raise Refused(
            f"This session came in a file for spectators, which does not say who {unknown[0]} is.",
            "Import a file that was exported for the audience or a director.",
        )
