"""One act: assemble a moment, await the agent, write its draft. Creatures think nowhere else.

`think` and `write` are the two halves. Which acts are thought and written when, and what becomes of one that is not, is
the conductor's business; the states between the two are in the table of `in_flight.py`.

Always holds: an act ends in exactly one event. The exception is an act that the budget or an unreachable model stops:
if there is no cost to record (`_is_worth_telling`), it writes no such event and stays due. Any exception that an
agent raises becomes `agent.failed`, and the other creatures continue. Every moment of an act sees the same past; the
tools' answers and the graph are current.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from math import inf
from typing import Any, Final

from msgspec.structs import replace

from glasshouse.errors import (
    BudgetExceeded,
    ModelFailed,
    ModelMisconfigured,
    ModelUnreachable,
    Refused,
    StoreError,
    UnusableReply,
)
from glasshouse.events import kinds
from glasshouse.events.event import Draft, Event, check_text
from glasshouse.events.model_use import NOTHING, Usage
from glasshouse.events.payloads import LoopSuspected, converted
from glasshouse.model_values import Form
from glasshouse.runtime.acts.act_calls import ActCalls
from glasshouse.runtime.acts.act_time import ActTime, ActTimer
from glasshouse.runtime.acts.asking import ModelAccess
from glasshouse.runtime.acts.in_flight import ActResult, ActsInFlight, InFlight, Stop
from glasshouse.runtime.acts.inside import ActUnderWay
from glasshouse.runtime.acts.long_memory import LongMemory
from glasshouse.runtime.acts.looking import ActContext
from glasshouse.runtime.acts.recorded_answers import NOT_ON_RECORD, RecordedAnswers
from glasshouse.runtime.acts.reservations import Reservation
from glasshouse.runtime.acts.tool_use import ToolAccess, ToolUse
from glasshouse.runtime.acts.warm_lines import BatchWorld, BatchWorlds
from glasshouse.runtime.capabilities import ModelCapabilities, capabilities_of
from glasshouse.runtime.ledger.ledger import Ledger
from glasshouse.runtime.ledger.writer import Queued
from glasshouse.runtime.minds.faults import (
    RecordedFailure,
    failure_chars_max,
    failure_of,
    fault_of,
    traceback_of,
)
from glasshouse.runtime.minds.minds import ENGINES_OWN, Agent
from glasshouse.runtime.ports import Route
from glasshouse.turns.contests.verdicts import check_verdict, masks_before
from glasshouse.turns.moment.character import Character, character_of, reflecting
from glasshouse.turns.moment.moment import Moment, own_moment
from glasshouse.turns.prompts.masking import forget_masked
from glasshouse.turns.replies.repetition import brings_nothing_new
from glasshouse.turns.runs.schedule import Due
from glasshouse.world.decisions.intents import EndAct
from glasshouse.world.state.state import CreatureState, GraphState, World

reflection_tokens_max: Final = 200
"""A reflection is a short reply: it reserves and may take at most so many tokens."""
characters_cache_max: Final = 4_096
"""How many are kept: manifests as the rules use them; more are computed again."""
_log = logging.getLogger("glasshouse.acts")

RouteOf = Callable[[CreatureState, str], Route]
"""Gives the model behind a creature's profile."""


class Acts:
    """Runs and writes acts. The conductor decides whose turn it is."""

    def __init__(
        self,
        ledger: Ledger,
        model_access: ModelAccess,
        route_of: RouteOf,
        agent_of: Callable[[str], Agent],
        tools: ToolAccess,
        answers: RecordedAnswers,
        batch_worlds: BatchWorlds,
        long_memory: LongMemory,
        act_seconds_max: float | None,
        *,
        is_strict: bool = False,
    ) -> None:
        self._ledger = ledger
        self._is_strict = is_strict
        self._model_access = model_access
        self._reservations = model_access.reservations
        self.in_flight = ActsInFlight(ledger, model_access.reservations)
        self._route_of = route_of
        self._agent_of = agent_of
        self._tools = tools
        self._answers = answers
        self._batch_worlds = batch_worlds
        self._long_memory = long_memory
        self.timer = ActTimer()
        """Ends acts whose time is over, and all of them if another process has taken the store over."""
        self._act_seconds_max = act_seconds_max
        """The bound of acts whose manifest names none. None, in a replay: no act is bounded."""
        self._characters_cache: dict[str, Character] = {}

    async def make_ready(self, due: Due) -> BatchWorld | None:
        """Load the past that an act may need: the world at the start of its batch, the record of its run's parent, and the
        lines of its graph. Returns that world, if the batch was interrupted."""
        ledger = self._ledger
        answers = self._answers
        warm_lines = self._tools.warm_lines
        then = None
        if due.is_together and due.creature in ledger.world.creatures:
            then = await self._batch_worlds.seen_by(due)
        # The creature may get into another graph meanwhile, or be removed.
        while (creature := ledger.world.creatures.get(due.creature)) is not None:
            graph = ledger.world.graphs[creature.graph_id]
            if creature.run_id is not None and not answers.is_ready(creature.run_id):
                await answers.make_ready(creature.run_id)
            elif not warm_lines.is_ready(graph):
                await warm_lines.make_ready(graph)
            else:
                break
        return then

    def think(
        self, record: InFlight, due: Due, cause: Event, upto: int | None
    ) -> Coroutine[Any, Any, ActResult | None]:
        """Let a creature think once; None if it was removed, or a program answered for it before its act began. With
        `upto`, it sees the past only up to that time.

        Whoever plays the act moves its record. Here it gets its context, and its result.
        """
        thinking = self._think(record, due, cause, upto)
        hooks = self._model_access.hooks
        return thinking if hooks is None else hooks.around_act(due, thinking)

    async def _think(self, record: InFlight, due: Due, cause: Event, upto: int | None) -> ActResult | None:
        record.result = None
        then = await self.make_ready(due)
        before = None
        # It sees the world at the start of its batch, unless a branch renamed the creature.
        batch_world = None if then is None or due.was is not None else then.folded.world
        world = batch_world or self._ledger.world
        living = self._ledger.world.creatures.get(due.creature)
        reflects = self._ledger.agenda.owes_reflection(due.creature, due.cause)
        if living is not None and not reflects and self.may_use_tools(world.creatures[due.creature]):
            before = await self._tools.act_so_far(due)
            # A merge may have put the creature into a graph whose lines are not in memory.
            await self._tools.warm_lines.make_ready_for(due.creature)
            # The creature may have been removed, or changed, while this waited.
            world = batch_world or self._ledger.world
            living = self._ledger.world.creatures.get(due.creature)
        if living is None or not self._ledger.agenda.owes(due.creature, due.cause) or record.is_baseless:
            return None  # Nobody owes the act any more, or what it was to see was refused: none begins.
        context = self._context(record, due, cause, world, upto)
        record.context = context
        record.has_looked = True
        record.kept = None
        calls = context.act_calls
        if before is not None:
            use = context.fix_the_past(before.as_of, then)
            if context.recalled_then is None:
                context.recalled_then = before.recalled
            context.using = ToolUse(
                self._tools,
                context.creature,
                cause,
                use,
                calls,
                context.side_writes,
                self.in_flight.sent,
                record.check_base,
                before=before,
                gate=record.gate,
                written=context.written,
                recall=context.recall,
            )
        moment = context.moment(then)
        if context.scope is not None:
            moment = await context.with_long_memory(moment)
        end, stopped_by = await self._end_of(context, moment)
        # The moment holds the context, too. Without this, everything of the act would wait for the garbage collector.
        context.looked = None
        if stopped_by is not None and not _is_worth_telling(stopped_by, context):
            record.result = ActResult(record.act, None, stopped_by, end.model, end)
            return record.result  # The act stays due: nothing of it is worth an event.
        # An act that ends without a model call counts as one call (ADR 0022).
        mine = calls.mine
        is_free = mine.done.calls > 0 or context.has_recorded_calls
        if not is_free or mine.open is not NOTHING:
            self._reservations.settle(mine, NOTHING if is_free else Usage(calls=1))
        record.result = ActResult(record.act, end, stopped_by)
        return record.result

    def let_go(self, graph: GraphState) -> None:
        """Drop what is kept for the next acts in a graph: its lines, and those that a judge sees with labels."""
        world = self._ledger.world
        purses = self._ledger.folded.runs.purses
        for creature in map(world.creatures.__getitem__, graph.creatures):
            purse = purses.get(creature.run_id or "")
            is_judge = world.facts_of(creature).role == "judge"
            masks = masks_before(world, purse, creature) if is_judge and purse is not None else None
            if masks is not None:
                forget_masked(masks)
        self._tools.warm_lines.let_go(graph)

    def may_use_tools(self, creature: CreatureState) -> bool:
        """Whether a creature may use tools in its act, or has an act with tool calls under way."""
        granted = self._ledger.world.manifests[creature.manifest_digest].tools
        return creature.is_privileged or bool(granted) or creature.id in self._ledger.agenda.under_way

    def _context(
        self, record: InFlight, due: Due, cause: Event, world: World, upto: int | None
    ) -> ActContext:
        """The context of an act that begins: its character, its route, and its calls, which continue those that are kept."""
        kept = record.kept
        creature = world.creatures[due.creature]
        character = self._character(creature)
        route = self._route_of(creature, character.model_profile)
        if self._ledger.agenda.owes_reflection(due.creature, due.cause):
            character = reflecting(character)
            route = route._replace(reply_tokens_max=min(route.reply_tokens_max, reflection_tokens_max))
        on_record = self._answers.act_on_record(creature, cause)
        if on_record is not NOT_ON_RECORD:
            upto = upto if on_record.upto is None else on_record.upto
            route = route._replace(
                context_tokens_max=on_record.context_tokens or route.context_tokens_max,
                reply_tokens_max=on_record.reply_tokens or route.reply_tokens_max,
                size=on_record.model_size or route.size,
            )
        can = capabilities_of(route.model)
        form = on_record.form or form_asked(character, route, can)
        if route.fallbacks:
            route = _with_fallbacks(route, form, character)
        if kept is None:
            started = self._ledger.agenda.under_way.get(due.creature)
            is_tick = due.is_tick and (started is None or started.cause != due.cause)
            graph_id = self._ledger.world.creatures[due.creature].graph_id
            mine = Reservation(creature.run_id or "", creature.id, graph_id, is_tick=is_tick)
            self._reservations.begin(mine)
        else:
            mine = kept.mine
        act_calls = ActCalls(mine)
        if kept is not None:
            act_calls.take_up(kept)
        return ActContext(
            self._ledger,
            creature,
            character,
            cause,
            world.graphs[creature.graph_id].session_id,
            upto,
            route,
            can,
            form,
            on_record.answers,
            self._model_access,
            act_calls,
            self._long_memory,
            written=on_record.written,
            recalled_then=on_record.recalled,
            told_in=on_record.told_in,
        )

    async def _end_of(self, context: ActContext, moment: Moment) -> tuple[EndAct, Stop | None]:
        """How an act ends, and what stopped it, if anything did."""
        calls = context.act_calls
        mine = calls.mine
        using = context.using
        try:
            agent = self._agent_of(context.creature.id)
            if not (agent.asks_before_anything or (_goes_on(agent, using) and context.has_recorded_calls)):
                await self._reservations.reserve(mine, Usage(calls=1))
            context.runs_code = runs_code = type(agent) not in ENGINES_OWN
            calls.one_at_a_time = asyncio.Lock() if runs_code else None
            under_way = ActUnderWay(self._ledger)
            mine.time = self._time_for(context, agent, under_way.task)
            with under_way, mine.time:
                if using is not None:
                    moment = await _first_moment(context, agent, using, moment)
                draft = await agent.act(own_moment(moment) if runs_code else moment)
            if using is not None:
                await using.end()
            return _end_with(draft, context, moment), None
        except (BudgetExceeded, ModelUnreachable, ModelMisconfigured) as stop:
            axis = stop.reason if isinstance(stop, BudgetExceeded) else None
            end = replace(context.end(), failure=str(stop), axis=axis, attempts=len(calls.calls))
            if context.character.reflects and axis == "max_calls_per_turn" and calls.calls:
                return end, None  # A full turn leaves a reflection out. It ends no run.
            return end, stop
        except Exception as wrong:
            is_of_store = using is not None and using.store_failure is wrong
            if is_of_store or (
                isinstance(wrong, StoreError) and (self.timer.fenced or self._ledger.lapse()) is not None
            ):
                raise  # The store failed, not the agent: this must stop the drive.
            return self._failure(context, wrong), None
        except asyncio.CancelledError as wrong:
            if _is_cancelled():
                raise
            return self._failure(context, wrong), None
        finally:
            if using is not None:
                using.has_ended = True

    def _failure(self, context: ActContext, wrong: BaseException) -> EndAct:
        """How a failed act ends. A strict terrarium raises the failure of an agent instead."""
        fault = fault_of(wrong)
        rule = None
        if isinstance(wrong, RecordedFailure):
            rule = wrong.rule
        elif not isinstance(wrong, UnusableReply | ModelFailed):
            if self._is_strict:
                raise wrong
            if fault is not None:
                handle = context.creature.handle
                _log.warning("%s failed in its act.\n%s", handle, traceback_of(wrong), extra={"fault": wrong})
            elif isinstance(
                wrong, Refused
            ):  # No code of the program raised it: the rules refused what came back.
                rule = _noted_rule(context, wrong)
        attempts = max(1, len(context.act_calls.calls))
        return replace(context.end(), failure=failure_of(wrong), fault=fault, rule=rule, attempts=attempts)

    def _time_for(self, context: ActContext, agent: Agent, task: asyncio.Task[Any] | None) -> ActTime:
        """The time that an act may take. A replay needs no bound: it repeats how recorded acts ended."""
        assert task is not None, "an act runs in a task"
        if self._act_seconds_max is None:
            return ActTime(self.timer, task, inf, inf)  # No act of a replay is bounded.
        seconds_max = context.character.act_seconds_max or self._act_seconds_max
        wall_seconds = self._reservations.wall_seconds_left(context.creature.run_id)
        return ActTime(self.timer, task, inf if agent.keeps_its_own_time else seconds_max, wall_seconds)

    async def write(self, record: InFlight, end: EndAct, before: Queued | None = None) -> Queued | None:
        """Stage the event that ends an act; None if there is nothing to write. Await `acknowledged` for durability.

        If the rules refuse the draft, the act ends in a failure that carries the refusal. `before` is what was written
        before in the graph, if it was not durable when the act began: if its commit has failed, this call fails too.
        """
        context = record.context
        assert context is not None, "an act that has an end has thought"
        if not self._ledger.writer.takes_more:
            await self._ledger.wait_for_room()
        if before is not None and before.acknowledged.done() and not before.acknowledged.cancelled():
            before.acknowledged.result()
        if record.is_baseless:
            record.check_base()
        queued = None
        try:
            queued = self._ledger.stage(end, context.side_writes())
        except Refused as refusal:
            if self._is_strict:
                raise
            failed = replace(
                end,
                draft=None,
                private=None,
                failure=str(refusal)[:failure_chars_max],
                rule=_noted_rule(context, refusal),
                attempts=max(1, end.attempts),
            )
            queued = self._ledger.stage(failed, context.side_writes())
        finally:
            if self._model_access.hooks is not None:
                self._model_access.hooks.act_written(record.act, queued.events[0] if queued else None)
        if queued is None:
            self.in_flight.discard(record)
        else:
            self.in_flight.staged(record, queued)
        return queued

    def _character(self, creature: CreatureState) -> Character:
        digest = creature.manifest_digest
        character = self._characters_cache.get(digest)
        if character is None:
            if len(self._characters_cache) >= characters_cache_max:
                self._characters_cache.clear()
            manifest = self._ledger.world.facts_of(creature).manifest
            character = self._characters_cache[digest] = character_of(manifest)
        return character


def form_asked(character: Character, route: Route, can: ModelCapabilities) -> Form:
    """How a creature's model is asked to reply: as its manifest says, else its binding, else what its server honours."""
    if character.reply != "auto":
        return character.reply  # The manifest says it.
    if route.form != "auto":
        return route.form  # The binding says it.
    return can.form


def _with_fallbacks(route: Route, form: Form, character: Character) -> Route:
    """The route of an act, each fallback with the form it is asked in. Prompts are as long as all of them can read."""
    fallbacks = tuple(
        [
            other._replace(form=form_asked(character, other, capabilities_of(other.model)))
            for other in route.fallbacks
        ]
    )
    context = min(other.context_tokens_max for other in (route, *fallbacks))
    return route._replace(form=form, context_tokens_max=context, fallbacks=fallbacks)


def _end_with(draft: Draft | None, context: ActContext, moment: Moment) -> EndAct:
    """How an act ends with this draft."""
    if draft is None:
        return context.end()  # It passes.
    if not isinstance(draft, Draft):
        raise Refused(f"act() gave back {draft!r}.", "Give back one Draft, or None to pass.", rule="draft")
    kind = draft.kind
    channel = draft.channel
    channels = context.channels
    if kind == kinds.AGENT_PASSED:
        # It passes, and says why.
        return replace(context.end(), passed=str(draft.payload.get("reason", "")), private=draft.private)
    if kind == kinds.LOOP_SUSPECTED:
        # It says nothing, because it would say again what was said, or what its prompt says.
        return replace(context.end(), loop=converted(draft.payload, LoopSuspected), private=draft.private)
    if context.written is not None and context.written.end is not None:
        # It was read and checked then, by other rules, and it stood on this channel.
        return context.end(draft, context.written.end.channel_id)
    if kind == kinds.JUDGE_VERDICT:
        check_verdict(draft, moment)
    if context.act_calls.calls and kind not in kinds.NO_LINES and not context.character.reflects:
        context.is_stale = brings_nothing_new(draft, moment)
    check_text(draft)
    if channel is None:
        return context.end(draft)  # Where it speaks is decided when the act is written.
    if channel not in channels and channel not in channels.values():
        open_to_it = ", ".join(channels) or "no channel"
        raise Refused(f"There is no channel {channel!r} here.", f"Speak on {open_to_it}.", rule="channel")
    return context.end(draft, channels.get(channel, channel))


def _noted_rule(context: ActContext, refusal: Refused) -> str | None:
    """The rule that refused the draft of an act, if the refusal names one. Logged, because nothing else tells a program
    that its line was not said."""
    creature = context.creature
    cause = context.cause
    words = "The draft of %s, which answers %s, was refused: %s"
    _log.warning(
        words, creature.handle, cause.id, refusal, extra={"creature": creature.id, "cause": cause.id}
    )
    return refusal.rule or None


def _is_cancelled() -> bool:
    """Whether this task was cancelled from outside. An agent may also raise `CancelledError` itself, which is a
    failure."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _is_worth_telling(stopped_by: Stop, context: ActContext) -> bool:
    """Whether a stopped act ends here. It ends if a model call was answered since its last tool call, or if the budget
    ran out after a tool call or after calls that cost something. Otherwise the act stays due."""
    if context.act_calls.is_answered:
        return True  # What the answer cost is told with the end.
    if not isinstance(stopped_by, BudgetExceeded):
        return False  # The server may be back when the run continues.
    has_written = context.using is not None and context.using.has_written
    return has_written or any(call.reached for call in context.act_calls.calls)


def _goes_on(agent: Agent, using: ToolUse | None) -> bool:
    """Whether an interrupted act continues from its recorded tool answers."""
    return using is not None and using.has_written and agent.goes_on_from_its_talk


async def _first_moment(context: ActContext, agent: Agent, using: ToolUse, moment: Moment) -> Moment:
    """The first moment that an agent gets; for an interrupted act that continues, it includes the recorded tool
    answers."""
    if not _goes_on(agent, using):
        return moment  # It begins, or begins again.
    context.asked = await using.go_on()
    return context.moment()
