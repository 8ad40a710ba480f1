"""`Stage`: opens worlds, drives their runs, and lets visitors speak.

Always holds: no creature acts unless somebody drives its graph. Everything that a run has done is in the ledger; agents
and referees are made again whenever the house is opened.

What other processes left in the inbox is read before each step of a drive, and while nobody drives (`runtime/inbox/`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from glasshouse.errors import Refused, UnknownName, WrongType, check_type, in_brief
from glasshouse.events import kinds
from glasshouse.events.event import Event
from glasshouse.events.payloads import FinishReason, Governor, RunContinued, RunPaused, check_governor
from glasshouse.runtime.acts.asking import ModelAccess
from glasshouse.runtime.acts.call_under_way import CallUnderWay, prompt_percent_of
from glasshouse.runtime.acts.inside import wait_to_be_outside
from glasshouse.runtime.acts.recorded_answers import RecordedAnswers
from glasshouse.runtime.acts.routes import Routes
from glasshouse.runtime.capabilities import Pacing
from glasshouse.runtime.conducting.conductor import BeforeAct, Conductor
from glasshouse.runtime.conducting.order import Conducted, DriveProgress, Free, Lockstep
from glasshouse.runtime.conducting.world_code import check_code_of_world
from glasshouse.runtime.folded import Folded
from glasshouse.runtime.grants import opening_granted
from glasshouse.runtime.house import House
from glasshouse.runtime.inbox.lines import InboxReader
from glasshouse.runtime.inbox.requests import Edit
from glasshouse.runtime.minds.minds import Minds, VisitorAgent
from glasshouse.runtime.ports import OnText, Toolbox
from glasshouse.runtime.run import DueTurn, Run, Thinking, run_of
from glasshouse.runtime.store_port import NO_INBOX_WRITES, InboxWrites
from glasshouse.turns.moment.prompt import completion_chars_max
from glasshouse.turns.replies.public_text import public_text_in
from glasshouse.world.decisions.intents import Inject, Member, MoveRun, OpenRun
from glasshouse.world.state.ids import the_creature, the_run

if TYPE_CHECKING:
    from glasshouse.runtime.past.recipes import AnyWorld


class Stage:
    """Opens worlds and drives them."""

    def __init__(
        self,
        house: House,
        minds: Minds,
        routes: Routes,
        conductor: Conductor,
        answers: RecordedAnswers,
        tools: Toolbox,
        pacing: Pacing,
        edit: Edit,
        model_access: ModelAccess,
    ) -> None:
        self._house = house
        self._ledger = house.ledger
        self._minds = minds
        self._routes = routes
        self._conductor = conductor
        self._answers = answers
        self._tools = tools
        self._pacing: Pacing = pacing
        self._model_access = model_access
        self._inbox = InboxReader(house.store, house.ledger, house.clock, self.disturb, edit)
        self._listening: asyncio.Task[None] | None = None

    def listen(self) -> None:
        """Start to answer requests of the inbox, and to say its lines while nobody drives."""
        listening = self._inbox.read_until_cancelled(lambda: self._conductor.drives > 0)
        self._listening = asyncio.create_task(listening, name="glasshouse inbox")

    async def open_world(
        self,
        world: AnyWorld,
        seed: str | None = None,
        rng_seed: int = 0,
        governor: Governor | None = None,
        *,
        run_id: str | None = None,
        models: Mapping[str, str] | None = None,
        is_apart: bool = False,
    ) -> Run:
        """Open a world as one batch: its run, its creatures and its channels. No creature acts until the run is driven.
        A call that is part of an act is refused.

        `models` binds handles or teams to models by name, for this run only. With `is_apart`, its creatures find no other run.
        """
        # Imported here, because a program without worlds in files need not load the code that reads them.
        from glasshouse.manifests.loading import LoadedWorld, check_tools, load_world
        from glasshouse.manifests.opening import opening_of

        await wait_to_be_outside(self._ledger)
        names = self._tools.names()
        check_type("open_world(rng_seed=...)", rng_seed, int, "a number", "Write rng_seed=7.")
        if seed is not None:
            advice = "Write a sentence that the story begins with; a number for chance is rng_seed=7."
            check_type("open_world(seed=...)", seed, str, "a text", advice)
        if governor is not None:
            check_governor(governor)
        if isinstance(world, str | Path):
            loaded = load_world(world, tools=names)
        else:
            advice = "Give its name, its path, or a LoadedWorld."
            check_type("open_world()", world, LoadedWorld, "a world", advice)
            check_tools(loaded := world, names)
        check_code_of_world(loaded, self._minds)
        opening = opening_of(
            loaded,
            run_id=run_id or self._house.new_run_id(),
            seed=seed,
            rng_seed=rng_seed,
            limits=governor,
            models=models,
            is_apart=is_apart,
        )
        opening = await opening_granted(self._house.servers, opening)
        self._routes.keep_script(loaded)
        await self._ledger.change(self._routes.with_models(self._with_agents(opening)))
        return self.run_of(opening.run_id)

    def _with_agents(self, opening: OpenRun) -> OpenRun:
        """The same opening, in which this terrarium's agents play the members that have their handles."""

        def played(member: Member) -> Member:
            agent = self._minds.agent_called(member.handle)
            return member if agent is None else replace(member, played_by_code=type(agent).__name__)

        troupes = [replace(troupe, members=tuple(map(played, troupe.members))) for troupe in opening.troupes]
        return replace(opening, troupes=tuple(troupes))

    def runs(self) -> tuple[Run, ...]:
        """Every run that has begun, the oldest first."""
        folded = self._ledger.folded
        begun = [name for name, run in folded.world.runs.items() if run.is_begun]
        return tuple([run_of(folded, name, self._answers.given[name]) for name in begun])

    def run_of(self, run_id: str) -> Run:
        """One run, at the time of the call."""
        return run_of(self._ledger.folded, run_id, self._answers.given[run_id])

    def thinking(self) -> tuple[Thinking, ...]:
        """Who waits for a model that takes its time, the longest first. The offline troupe takes none.

        From the first call on, the public text of replies is put together as it comes.
        """
        self._model_access.listener = self._listener
        creatures = self._ledger.world.creatures
        now = asyncio.get_running_loop().time()
        queues = {call.queue for call in self._model_access.under_way if call.is_waiting}
        numbers = {queue: queue.numbers() for queue in queues}
        return tuple(
            [
                Thinking(
                    call.creature_id,
                    creatures[call.creature_id].handle,
                    call.run_id or None,
                    call.model,
                    now - call.since,
                    call.is_waiting,
                    numbers.get(call.queue, {}).get((call.run_id, call.creature_id), 0),
                    call.text,
                    prompt_percent_of(call.progress),
                    call.progress.tokens,
                )
                for call in self._model_access.under_way
                if call.creature_id in creatures
            ]
        )

    def _listener(self, call: CallUnderWay) -> OnText:
        """Notes the public text of a reply as it comes. Of a creature that knows a secret nothing is shown: only the
        whole line can be searched for it."""
        folded = self._ledger.folded
        creature = folded.world.creatures.get(call.creature_id)
        is_hidden = creature is None or call.creature_id in folded.tables.dealt
        may_emit = frozenset() if creature is None else folded.world.facts_of(creature).may_emit
        # A reply without a kind may be a thought, if its creature may write thoughts and no lines.
        is_inner = kinds.AGENT_SPOKE not in may_emit and bool(may_emit & kinds.INNER)
        kind_if_none = kinds.AGENT_THOUGHT if is_inner else kinds.AGENT_SPOKE
        call.text = ""
        raw = ""

        def note(piece: str) -> None:
            nonlocal raw
            if not is_hidden and len(raw) < completion_chars_max:
                raw += piece
                call.text = public_text_in(raw, kind_if_none)

        return note

    def due(self, run_id: str) -> tuple[DueTurn, ...]:
        """The next turn of each graph of a run that has something to do, in lockstep order; empty if nothing is due."""
        graphs = self._ledger.world.graphs_of(run_id)
        agendas = self._conductor.agendas
        ahead = [(agendas.of(name).turn, graph) for name, graph in graphs.items()]
        due = [(turn, graph) for turn, graph in ahead if turn is not None]
        due.sort(key=lambda pair: (pair[0], pair[1].born))
        return tuple([DueTurn(max(turn, graph.turn), graph.id, turn <= graph.turn) for turn, graph in due])

    async def step_one(self, graph_id: str | None = None) -> Event | None:
        """Play one act, of the graph named or of the first in order. Returns its last event, or None if nothing is
        due."""
        if graph_id is not None and graph_id not in self._ledger.world.graphs:
            raise UnknownName(noun="open graph", name=graph_id, known=self._ledger.world.graphs)
        order = Lockstep(self._ledger, self._conductor.agendas, self._inbox.say_waiting_lines, (), graph_id)
        await wait_to_be_outside(self._ledger)  # A call that is part of an act is refused.
        return (await self._conductor.conduct(order, DriveProgress(self._folded, acts=1))).last

    async def run(
        self, *run_ids: str, turns: int | None = None, before_act: BeforeAct | None = None
    ) -> Conducted:
        """Play until nothing is due or the runs named are over; with `turns`, at most this many turns of each graph,
        empty ones too, and at least one.

        `before_act` is a gate that is awaited before each act. It may wait. If it returns False, the drive ends.
        """
        if not isinstance(turns, int | None):
            raise WrongType(f"turns={in_brief(turns)} is not a number of turns.", "Write turns=3.")
        for run_id in run_ids:
            the_run(self._ledger.world, run_id)
        kind = Free if self._pacing == "free" else Lockstep
        order = kind(self._ledger, self._conductor.agendas, self._inbox.say_waiting_lines, run_ids)
        await wait_to_be_outside(self._ledger)  # A call that is part of an act is refused.
        progress = DriveProgress(self._folded, turns=turns, run_ids=run_ids)
        return await self._conductor.conduct(order, progress, before_act)

    def _folded(self) -> Folded:
        return self._ledger.folded

    async def disturb(
        self, run_id: str, text: str, inbox_line: int | None = None, *, graph_id: str | None = None
    ) -> Event:
        """Say something as the visitor to everybody in the graph named, or in each graph where the run has a creature;
        the first of the events. If it is a line of the inbox, remove it there."""
        if not isinstance(text, str):
            raise WrongType(f"disturb() takes a text, not {in_brief(text)}.", "Write a sentence.")
        the_run(self._ledger.world, run_id)
        inbox = NO_INBOX_WRITES if inbox_line is None else InboxWrites(done=(inbox_line,))
        receipt = await self._ledger.change(Inject(graph_id, text, run_id), inbox=inbox)
        return receipt.events[0]

    def speak_as(self, creature_id: str, text: str) -> None:
        """Give the next line to a creature that a visitor plays."""
        agent = self._minds.of(the_creature(self._ledger.world, creature_id).id)
        if not isinstance(agent, VisitorAgent):
            raise Refused(f"{creature_id} is not played by a visitor.", "Write `played_by: visitor`.")
        agent.say(text)

    def send_visitors_away(self, run_id: str) -> tuple[str, ...]:
        """Let creatures that a visitor plays pass at once instead of waiting for a line. Returns their handles."""
        handles: list[str] = []
        for creature in self._ledger.world.creatures_of(run_id):
            agent = None if self._minds.waits(creature.id) else self._minds.of(creature.id)
            if isinstance(agent, VisitorAgent):
                agent.go_away()
                handles.append(creature.handle)
        return tuple(handles)

    async def pause(self, run_id: str, reason: str = "asked to") -> None:
        """Pause a run: none of its creatures begins an act until the run continues."""
        await self._ledger.change(MoveRun(run_id, RunPaused(reason)), by="api")

    async def continue_run(self, run_id: str, *, offline: bool = False, by: str = "") -> None:
        """Continue a paused run. With `offline`, the offline troupe plays the rest of it."""
        await self._ledger.change(MoveRun(run_id, RunContinued(offline, by)), by="api")

    async def finish(self, run_id: str, reason: FinishReason = "stopped") -> Event | None:
        """End a run once none of its creatures is thinking any more; the `run.finished` event."""
        the_run(self._ledger.world, run_id)
        await wait_to_be_outside(self._ledger)
        return await self._conductor.runs.finish(run_id, reason, by="api")

    async def stop_acts(self) -> None:
        """Cancel the acts that were begun ahead, and stop reading the inbox."""
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.wait([self._listening])
        await self._conductor.close()
